//! Navigations of our own: exactly one command each, told apart by what came of them.

use super::refusals::{lost, refused, stopped_after, stopped_before, unknown};
use super::settle::{self, Loading};
use super::step::Step;
use crate::effects::Navigation;
use crate::protocol::page::{
    Evaluate, GetHistory, History, Navigate, NavigateToEntry, Navigated, Reload, TerminateExecution,
};
use reins_cdp::wire::Command;
use reins_cdp::{CallError, LostCause};
use reins_core::{DocumentId, HistoryStep, Outcome, UnknownCause, web_url};
use std::time::Duration;
use tokio::time::Instant;

/// A server that takes longer has not answered; the navigation goes on meanwhile.
pub(crate) const ANSWER: Duration = Duration::from_secs(10);

/// The permission to leave a page that asks to stay ends by itself (W-622).
const MAY_LEAVE: Duration = Duration::from_secs(10);

/// A page that is left and does not react for this long has its running script ended.
const STUCK: Duration = Duration::from_millis(500);

/// Loads an address.
pub(crate) async fn to(step: &mut Step<'_>, url: &str) -> Outcome {
    if let Err(error) = web_url(url) {
        return refused("bad_url", error.to_string(), "Give an absolute http or https address.");
    }
    unstick(step).await;
    allow_leaving(step);
    let before = step.document();
    let navigate = Navigate { url, ..Navigate::default() };
    let mut asked = step.tab.session.post(navigate, ANSWER);
    let answer = tokio::select! {
        biased;
        answer = &mut asked => Some(answer),
        () = step.cancel.cancelled() => {
            return match asked.withdraw() {
                Err(CallError::NotSent(_)) => stopped_before(),
                _ => stopped_after(),
            };
        }
        () = interrupted(step) => None,
    };
    forbid_leaving(step);
    match answer {
        Some(Ok(answer)) => answered(step, url, answer, before).await,
        Some(Err(CallError::Lost(lost_call))) if lost_call.cause == LostCause::Deadline => {
            still_pending(step, url)
        }
        Some(Err(error)) if crash_before(step, &error) => arrive(step).await,
        Some(Err(error)) => lost(&error),
        // A dialog or a crash: the state says which.
        None if step.tab.state().crashed => unknown(
            UnknownCause::RendererCrashed,
            "the page crashed while the navigation was under way",
        ),
        None if step.tab.state().closed => unknown(
            UnknownCause::ConnectionLost,
            "the tab went away while the navigation was under way",
        ),
        None => Outcome::Completed,
    }
}

async fn answered(
    step: &mut Step<'_>,
    url: &str,
    answer: Navigated,
    before: Option<DocumentId>,
) -> Outcome {
    if answer.is_download == Some(true) {
        step.navigation = Some(Navigation::Download);
        settle::downloads(step).await;
        return Outcome::Completed;
    }
    if let Some(message) = answer.error_text.filter(|text| !text.is_empty()) {
        // Stopped at the network by containment: nothing reached the server.
        let refused_here = {
            let state = step.tab.state();
            state.refused.iter().any(|(at, _)| *at > step.since)
        };
        if refused_here && message.contains("BLOCKED_BY_CLIENT") {
            return refused(
                "outside_app",
                "the address is outside the app this browser is pinned to",
                "Stay within the app.",
            );
        }
        if refused_here && message.contains("ERR_ABORTED") {
            // The server was asked; where it led to was not. The page stays as it was.
            let message = "it led to another site, which was refused".to_owned();
            step.navigation = Some(Navigation::Failed { url: url.to_owned(), message });
            return Outcome::Completed;
        }
        step.navigation = Some(Navigation::Failed { url: url.to_owned(), message });
        settle::loaded(step, Loading::Any).await;
        return Outcome::Completed;
    }
    match answer.loader_id.map(DocumentId::new) {
        // The same document under another fragment.
        None => {
            settle::frames(step).await;
            step.navigation =
                Some(Navigation::SameDocument { url: step.tab.state().url().to_owned() });
        }
        Some(document) if Some(&document) == before.as_ref() => {}
        Some(document) => settle::loaded(step, Loading::Document(document)).await,
    }
    Outcome::Completed
}

/// The browser took the navigation and the server has not answered. Chromium says so by its event.
fn still_pending(step: &mut Step<'_>, url: &str) -> Outcome {
    step.settled = false;
    let began = step.tab.state().pending.as_ref().is_some_and(|p| p.since > step.since);
    if !began {
        return unknown(UnknownCause::Deadline, "the browser has not answered the navigation");
    }
    step.navigation = Some(Navigation::Pending { url: url.to_owned() });
    step.notes.push(format!(
        "the server has not answered within {} s; the navigation goes on",
        ANSWER.as_secs()
    ));
    Outcome::Completed
}

/// Loads the document again.
pub(crate) async fn reload(step: &mut Step<'_>) -> Outcome {
    unstick(step).await;
    allow_leaving(step);
    let outcome = match asked(step, Reload {}).await {
        Ok(Ok(_)) => arrive(step).await,
        Ok(Err(error)) if crash_before(step, &error) => arrive(step).await,
        Ok(Err(error)) => lost(&error),
        Err(stopped) => stopped,
    };
    forbid_leaving(step);
    outcome
}

/// Goes one step through the history. Marked as ours, since it resembles a person's.
pub(crate) async fn history(step: &mut Step<'_>, way: HistoryStep) -> Outcome {
    let history = match step.tab.session.run(GetHistory {}, ANSWER).await {
        Ok(history) => history,
        Err(error) => {
            return super::refusals::cannot(&crate::page_call::wire_error(
                "Page.getNavigationHistory",
                error,
            ));
        }
    };
    let Some(entry) = entry(&history, way) else {
        let which = if way == HistoryStep::Back { "back" } else { "forward" };
        return refused("no_history", format!("there is no page to go {which} to"), "Stay here.");
    };
    unstick(step).await;
    allow_leaving(step);
    let go = NavigateToEntry { entry_id: history.entries[entry].id };
    let outcome = match asked(step, go).await {
        Ok(Ok(_)) => arrive(step).await,
        Ok(Err(error)) => lost(&error),
        Err(stopped) => stopped,
    };
    forbid_leaving(step);
    outcome
}

/// Sends a command and waits for its answer, or for the stop: a stop never waits for a browser.
async fn asked<C: Command>(
    step: &Step<'_>,
    command: C,
) -> Result<Result<C::Answer, CallError>, Outcome> {
    let mut asked = step.tab.session.post(command, ANSWER);
    tokio::select! {
        biased;
        answer = &mut asked => Ok(answer),
        () = step.cancel.cancelled() => Err(match asked.withdraw() {
            Err(CallError::NotSent(_)) => stopped_before(),
            _ => stopped_after(),
        }),
    }
}

/// The index of the entry that a step leads to.
pub(crate) fn entry(history: &History, way: HistoryStep) -> Option<usize> {
    let index = match way {
        HistoryStep::Back => history.current_index.checked_sub(1)?,
        HistoryStep::Forward => history.current_index + 1,
    };
    (index < history.entries.len()).then_some(index)
}

/// The answer was lost to the crash that this navigation recovers from: Chromium tells of a crash
/// twice, and the second word can come after the navigation has begun. Its events tell the rest.
fn crash_before(step: &Step<'_>, error: &CallError) -> bool {
    let lost = matches!(error, CallError::Lost(lost) if lost.cause == LostCause::Crashed);
    lost && step.recovers && !step.tab.state().crashed
}

/// Waits for the navigation that a command without an answer of its own has begun.
async fn arrive(step: &mut Step<'_>) -> Outcome {
    let since = step.since;
    let until = Instant::now() + ANSWER;
    let arrived = step.tab.until(until, |state| {
        let there = state.replaced > since || state.moved > since;
        // What it led to was refused, and the page stays as it was.
        let refused = state.refused.iter().any(|(at, _)| *at > since)
            && state.pending.is_none()
            && state.main_frame().is_some_and(|frame| frame.loading.is_none());
        (there || refused || state.dialog.is_some() || state.closed).then_some(refused && !there)
    });
    let arrived = tokio::select! {
        arrived = arrived => arrived,
        () = step.cancel.cancelled() => return stopped_after(),
    };
    if arrived == Some(true) {
        let url = step.tab.state().url().to_owned();
        let message = "it led elsewhere than was approved, which was refused".to_owned();
        step.navigation = Some(Navigation::Failed { url, message });
        return Outcome::Completed;
    }
    if arrived.is_some() && step.tab.state().closed {
        return unknown(
            UnknownCause::ConnectionLost,
            "the tab went away while the navigation was under way",
        );
    }
    if arrived.is_none() {
        let url = step.tab.state().url().to_owned();
        return still_pending(step, &url);
    }
    settle::loaded(step, Loading::Any).await;
    Outcome::Completed
}

/// Ends when a dialog or a crash keeps the command from being answered.
async fn interrupted(step: &Step<'_>) {
    let since = step.since;
    step.tab
        .until(step.deadline, |state| {
            // A tab that had crashed before is being brought back by this very navigation.
            let crashed = state.crashed && state.replaced > since;
            (state.dialog.is_some() || state.closed || crashed).then_some(())
        })
        .await;
}

/// Ends the script of a page that is stuck in it, since the page is left now: its successor from the
/// same site would have to wait for it. Must come before the navigation: while one is under way,
/// Chromium holds back everything else for the page.
async fn unstick(step: &Step<'_>) {
    if step.tab.state().crashed {
        return;
    }
    let alive = Evaluate { expression: "1", return_by_value: true, ..Evaluate::default() };
    if step.tab.session.run(alive, STUCK).await.is_err() {
        tracing::debug!(tab = %step.tab.id, "the script of a page that is left is ended");
        drop(step.tab.session.run(TerminateExecution {}, STUCK).await);
    }
}

fn allow_leaving(step: &mut Step<'_>) {
    let tab = step.tab.clone();
    let mut state = tab.state();
    step.recovers = state.crashed;
    state.may_leave = Some(std::time::Instant::now() + MAY_LEAVE);
    // A new document brings a crashed tab back; from here on a crash is a new one.
    state.crashed = false;
}

/// The permission ends with the navigation.
fn forbid_leaving(step: &mut Step<'_>) {
    let mut state = step.tab.state();
    state.may_leave = None;
    let left = state.left.take().is_some_and(|at| at > step.since);
    drop(state);
    if left {
        step.notes.push("the page asked to stay; it was left, as this navigation is ours".into());
    }
}
