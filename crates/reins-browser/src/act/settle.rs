//! Settling: an act has an end, told by what the browser and the page report.
//!
//! Waited for are a navigation that the act began, until its document has loaded; document and
//! data requests that began with it; frames in which nothing new appears. Never a fixed time, and
//! never longer than the cap.

use super::step::Step;
use crate::page_call::{AskError, ask, call};
use crate::tab_info::DownloadState;
use crate::tab_state::{RequestKind, TabState};
use reins_core::limits::SETTLE_CAP;
use reins_core::{DocumentId, FrameId};
use serde::Deserialize;
use std::time::Duration;
use tokio::time::Instant;

/// What is to be waited for after an act.
#[derive(Clone, Copy)]
pub(crate) enum After<'a> {
    /// The guard in this frame says when the gesture's handlers have run and the page is quiet.
    Gesture(&'a FrameId),
    /// No gesture was announced: this frame is asked.
    Quiet(&'a FrameId),
}

impl<'a> After<'a> {
    fn frame(self) -> &'a FrameId {
        match self {
            After::Gesture(frame) | After::Quiet(frame) => frame,
        }
    }
}

/// Which document a navigation leads to.
pub(crate) enum Loading {
    /// This one.
    Document(DocumentId),
    /// Whichever comes.
    Any,
}

/// The guard speaks within two frames of the last event. If it does not, that event went elsewhere.
const NO_WORD: Duration = Duration::from_millis(250);

/// A page that does not answer for this long is busy, and says nothing more for now.
const BUSY: Duration = Duration::from_millis(1_000);

/// Data requests that run longer are streams or polls: what they bring is not waited for.
const DATA: Duration = Duration::from_millis(2_500);

/// Frames inside that load because of an act.
const FRAMES: Duration = Duration::from_millis(1_500);

/// A document that is parsed and only waits for images and the like is taken as it is.
const PARSED: Duration = Duration::from_millis(1_000);

/// A document of which parts still arrive is shown after this.
const ARRIVING: Duration = Duration::from_millis(2_500);

/// Data that a loading page asked for and does not have yet.
const FIRST_DATA: Duration = Duration::from_millis(1_500);

/// A message in the background of which the page's process told, on its way through the browser to us.
const BEACON: Duration = Duration::from_millis(500);

/// Code that a loaded page still fetches: a part of the application that is about to show itself, or nothing that
/// anybody sees.
const LAZY_CODE: Duration = Duration::from_millis(500);

/// An application that keeps growing is shown as it is after this.
const GROWING: Duration = Duration::from_millis(2_500);

const WAITED_FOR: &[RequestKind] = &[RequestKind::Document, RequestKind::Data];

/// Waits until the tab has settled after a gesture or a change.
pub(crate) async fn after(step: &mut Step<'_>, what: After<'_>) {
    let cap = (Instant::now() + SETTLE_CAP).min(step.deadline);
    let since = step.since;
    if let After::Gesture(frame) = what {
        if !gesture(step, frame, cap).await {
            return;
        }
    } else if let After::Quiet(frame) = what
        && !quiet(step, frame).await
    {
        return;
    }
    // Each round may begin something new: data that leads to a navigation, a navigation with data.
    let mut waited = false;
    for _ in 0..ROUNDS {
        let (leads_on, running, brought) = {
            let state = step.tab.state();
            (navigating(&state, since), state.running(since, WAITED_FOR), state.brought)
        };
        if over(step) {
            return;
        }
        if leads_on && main_navigates(&step.tab.state(), since) {
            loaded_within(step, &Loading::Any, cap).await;
            if step.tab.state().replaced > since {
                break;
            }
        } else if leads_on {
            // Frames inside: what they show counts, but some pages load frames all the time.
            let until = cap.min(Instant::now() + FRAMES);
            if !wait(step, until, |state| !navigating(state, since)).await {
                break;
            }
        } else if running > 0 || (brought > since && !waited) {
            // Data that came before anyone looked counts too: what the page makes of it is still to come.
            waited = true;
            let until = cap.min(Instant::now() + DATA);
            let ended = wait(step, until, |state| {
                state.running(since, WAITED_FOR) == 0 || navigating(state, since)
            })
            .await;
            if !ended {
                step.settled = step.settled && over(step);
                break;
            }
            if !navigating(&step.tab.state(), since) && !quiet(step, what.frame()).await {
                return;
            }
        } else {
            break;
        }
    }
    // The person can only be asked about what is here.
    let until = cap.min(Instant::now() + BEACON);
    wait(step, until, |state| !state.beacon_on_its_way(since)).await;
    let open = match what {
        After::Gesture(_) => step.tab.state().report.quiet.as_ref().is_some_and(|q| q.open),
        After::Quiet(_) => true,
    };
    if open && !over(step) && !navigating(&step.tab.state(), since) {
        rest(step, what, cap).await;
    }
    if let After::Gesture(frame) = what
        && waited
    {
        note_changes(step, frame).await;
    }
    opened(step, cap).await;
    downloads(step).await;
}

/// Waits until the tab has settled after requests that had waited went on or failed. They may lead the
/// tab elsewhere.
pub(crate) async fn continued(step: &mut Step<'_>) {
    let cap = (Instant::now() + SETTLE_CAP).min(step.deadline);
    let (main, leads_on) = {
        let state = step.tab.state();
        (state.main.clone(), main_navigates(&state, step.since))
    };
    if leads_on {
        loaded_within(step, &Loading::Any, cap).await;
        downloads(step).await;
    } else {
        after(step, After::Quiet(&main)).await;
    }
}

/// Waits for what the page itself says is unfinished: parts marked busy, lists being filled.
async fn rest(step: &mut Step<'_>, what: After<'_>, cap: Instant) {
    let token = match what {
        After::Gesture(_) => step.tab.state().report.token,
        After::Quiet(_) => 0,
    };
    let Some((world, _)) = step.tab.world(what.frame()) else { return };
    let since = step.since;
    let left = cap.saturating_duration_since(Instant::now());
    let call = format!("__reins.rest({token},{})", left.as_millis());
    let asked = ask(&world, &call, true, left + BUSY).answer::<bool>();
    let answer = tokio::select! {
        answer = asked => answer,
        () = step.cancel.cancelled() => return,
        // The page will not answer any more, or need not.
        _ = step.tab.until(cap + BUSY, |s| {
            (stuck(s) || s.replaced > since).then_some(())
        }) => return,
    };
    match answer {
        Ok(true) | Err(AskError::Replaced) => {}
        Ok(false) => unfinished(step, "a part of the page still says that it is busy"),
        Err(_) => busy(step),
    }
}

/// What changed after the first quiet frame counts too.
async fn note_changes(step: &mut Step<'_>, frame: &FrameId) {
    if step.changed || over(step) {
        return;
    }
    let token = step.tab.state().report.token;
    if let Some((world, _)) = step.tab.world(frame) {
        let changed = ask(&world, &call("changed", &token), false, BUSY).answer::<bool>();
        step.changed |= changed.await.unwrap_or(false);
    }
}

/// Waits until tabs that opened with the act show what they were opened for.
async fn opened(step: &mut Step<'_>, cap: Instant) {
    let since = step.since;
    let ids: Vec<_> = {
        let state = step.tab.state();
        state.opened.iter().filter(|(at, _)| *at > since).map(|(_, id)| id.clone()).collect()
    };
    for id in ids {
        let Ok(tab) = step.browser.inner.tab(&id) else { continue };
        let shown = tab.until(cap, |state| {
            let there = !state.expects && state.loaded;
            (there || state.dialog.is_some() || state.closed || state.crashed).then_some(())
        });
        tokio::select! {
            shown = shown => step.settled &= shown.is_some(),
            () = step.cancel.cancelled() => return,
        }
    }
}

/// More rounds than any page needs; the cap ends it anyway.
const ROUNDS: usize = 8;

/// Waits for the guard's word that the gesture is through. False when the rest need not be waited for.
async fn gesture(step: &mut Step<'_>, frame: &FrameId, cap: Instant) -> bool {
    let since = step.since;
    let said = |state: &mut TabState| {
        state.report.quiet.is_some()
            || state.replaced > since
            || leaving(state, since)
            || stuck(state)
    };
    let first = cap.min(Instant::now() + NO_WORD);
    if !wait(step, first, said).await {
        let token = step.tab.state().report.token;
        if let Some((world, _)) = step.tab.world(frame) {
            drop(ask(&world, &call("closeNow", &token), false, BUSY));
        }
        let second = cap.min(Instant::now() + BUSY);
        if !wait(step, second, said).await {
            busy(step);
            return false;
        }
    }
    let quiet = step.tab.state().report.quiet.clone();
    if let Some(quiet) = quiet {
        step.note_quiet(&quiet);
        if quiet.busy {
            step.settled = false;
        }
        if let (Some(expected), Some(length)) = (step.expected_length.take(), quiet.length)
            && expected != length
        {
            step.notes.push(format!(
                "the field holds {length} characters now, not the {expected} expected: the page changed what was typed"
            ));
        }
    }
    !over(step)
}

/// Whether a frame of the tab is on its way to another document because of the act.
fn navigating(state: &TabState, since: u64) -> bool {
    leaving(state, since)
        || state
            .frames
            .values()
            .any(|f| f.loading.is_some_and(|at| at > since) && !state.held.leads(&f.id))
        || (state.replaced > since && !state.loaded)
}

/// Whether the main frame is among them.
fn main_navigates(state: &TabState, since: u64) -> bool {
    leaving(state, since)
        || state.main_frame().is_some_and(|f| f.loading.is_some_and(|at| at > since))
        || (state.replaced > since && !state.loaded)
}

/// Whether the main document is about to be replaced: its page will say nothing more.
fn leaving(state: &TabState, since: u64) -> bool {
    let main = state.main_frame();
    state.pending.as_ref().is_some_and(|p| p.since > since)
        || main.is_some_and(|f| f.scheduled.is_some_and(|at| at > since) && f.loading.is_some())
}

/// Asks a frame for one frame without anything new. False when there is nothing more to wait for.
async fn quiet(step: &mut Step<'_>, frame: &FrameId) -> bool {
    let Some((world, _)) = step.tab.world(frame) else { return !over(step) };
    let asked = ask(&world, "__reins.quiet(500)", true, BUSY).answer::<bool>();
    tokio::pin!(asked);
    let since = step.since;
    let answer = tokio::select! {
        answer = &mut asked => answer,
        () = step.cancel.cancelled() => return false,
        // The page will not answer any more, or need not.
        _ = step.tab.until(step.deadline, |s| {
            (stuck(s) || s.replaced > since).then_some(())
        }) => return !over(step),
    };
    match answer {
        Ok(true) | Err(AskError::Replaced) => true,
        Ok(false) => {
            step.settled = false;
            true
        }
        Err(_) => {
            busy(step);
            false
        }
    }
}

fn busy(step: &mut Step<'_>) {
    if over(step) {
        return;
    }
    step.settled = false;
    step.notes.push("the page is busy: its script does not answer at the moment".into());
}

/// Whether nothing of the page can be waited for any more.
fn over(step: &Step<'_>) -> bool {
    let state = step.tab.state();
    stuck(&state) || step.cancel.is_cancelled()
}

/// Nor while the page's next document waits for the person: meanwhile Chromium holds back all commands for
/// the page.
fn stuck(state: &TabState) -> bool {
    state.dialog.is_some() || state.closed || state.crashed || state.held.leads(&state.main)
}

/// Waits until `is` holds, or the tab can't be waited for, or the turn is stopped. Whether it held.
async fn wait(step: &Step<'_>, until: Instant, mut is: impl FnMut(&mut TabState) -> bool) -> bool {
    let waited = step.tab.until(until, |state| {
        if is(state) {
            return Some(true);
        }
        stuck(state).then_some(false)
    });
    tokio::select! {
        held = waited => held.unwrap_or(false),
        () = step.cancel.cancelled() => false,
    }
}

/// Waits until the main frame's document has loaded and shows what it is going to show.
pub(crate) async fn loaded(step: &mut Step<'_>, what: Loading) {
    let cap = (Instant::now() + SETTLE_CAP).min(step.deadline);
    loaded_within(step, &what, cap).await;
    downloads(step).await;
}

async fn loaded_within(step: &mut Step<'_>, what: &Loading, cap: Instant) {
    let since = step.since;
    let there = |state: &TabState| match what {
        Loading::Document(document) => {
            state.main_frame().is_some_and(|f| f.document.as_ref() == Some(document))
        }
        Loading::Any => !leaving(state, since),
    };
    if !wait(step, cap, |state| there(state)).await {
        step.settled = over(step);
        return;
    }
    // Frames inside count as loading of the whole.
    let done = |state: &TabState| there(state) && state.loaded && !navigating(state, since);
    let arriving = cap.min(Instant::now() + ARRIVING);
    let parsed = wait(step, arriving, |state| done(state) || (there(state) && state.parsed)).await;
    if over(step) {
        return;
    }
    if !parsed {
        unfinished(step, "the document is still arriving");
        return;
    }
    let mut complete = false;
    if !done(&step.tab.state()) {
        // Parsed: what is missing is fetched by elements of the page.
        let needed = [RequestKind::Document, RequestKind::Data, RequestKind::Code];
        let until = cap.min(Instant::now() + PARSED);
        if !wait(step, until, |state| done(state)).await && !over(step) {
            complete = wait(step, cap, |state| done(state) || state.running(0, &needed) == 0).await;
        }
    }
    if over(step) {
        return;
    }
    if !done(&step.tab.state()) {
        let missing = step.tab.state().requests.len();
        unfinished(step, &format!("{missing} parts of the page are still loading"));
        if !complete {
            return;
        }
    }
    calm(step, cap).await;
}

fn unfinished(step: &mut Step<'_>, what: &str) {
    step.settled = false;
    step.notes.push(what.to_owned());
}

#[derive(Deserialize)]
struct Calm {
    calm: bool,
}

/// Waits for an application to show itself: its first data, and what grows from it.
async fn calm(step: &mut Step<'_>, cap: Instant) {
    let data = &[RequestKind::Data];
    let until = cap.min(Instant::now() + FIRST_DATA);
    wait(step, until, |state| state.running(0, data) == 0).await;
    let until = cap.min(Instant::now() + LAZY_CODE);
    wait(step, until, |state| state.running(0, &[RequestKind::Code]) == 0).await;
    if over(step) {
        return;
    }
    let (main, fetched) = {
        let state = step.tab.state();
        (state.main.clone(), state.fetched > 0)
    };
    let Some((world, _)) = step.tab.world(&main) else { return };
    let left = cap.saturating_duration_since(Instant::now()).min(GROWING);
    let call = format!("__reins.calm({fetched},{})", left.as_millis());
    let asked = ask(&world, &call, true, left + BUSY).answer::<Calm>();
    let answer = tokio::select! {
        answer = asked => answer,
        () = step.cancel.cancelled() => return,
        _ = step.tab.until(cap, |s| {
            stuck(s).then_some(())
        }) => {
            if !over(step) {
                busy(step);
            }
            return;
        }
    };
    match answer {
        Ok(Calm { calm: true }) | Err(AskError::Replaced) => {}
        Ok(Calm { calm: false }) => unfinished(step, "the page is still growing"),
        Err(_) => busy(step),
    }
}

/// Waits for frames that load because of the act.
pub(crate) async fn frames(step: &mut Step<'_>) {
    let cap = (Instant::now() + SETTLE_CAP).min(step.deadline);
    let since = step.since;
    wait(step, cap, |state| !navigating(state, since)).await;
}

/// Waits for downloads that began with the act; a long one is told as running.
pub(crate) async fn downloads(step: &mut Step<'_>) {
    let since = step.since;
    let running = |state: &TabState| {
        state.downloads.iter().any(|(at, _, d)| *at > since && d.state == DownloadState::Running)
    };
    if !running(&step.tab.state()) {
        return;
    }
    let cap = (Instant::now() + SETTLE_CAP).min(step.deadline);
    if !wait(step, cap, |state| !running(state)).await {
        step.settled = over(step);
    }
}
