//! Sending trusted input, and hearing what came of it.

use super::refusals::{cancelled, lost, stopped_after, unknown};
use super::step::Step;
use crate::keyboard::KeyPress;
use crate::page_call::{ask, call};
use crate::protocol::input::{DispatchKey, DispatchMouse, InsertText};
use crate::report::Stop;
use futures_util::future::join_all;
use reins_cdp::{CallError, Ignored, Pending, Session};
use reins_core::limits::SETTLE_CAP;
use reins_core::{FrameId, MouseButton, Outcome, UnknownCause};
use serde::de::IgnoredAny;
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout};

/// Input is answered when the page has handled it. Longer than settling, so that a slow handler is
/// told apart from a lost answer.
const INPUT_DEADLINE: Duration = Duration::from_secs(30);

/// How long handlers of a click that has arrived may run before the page is called busy.
const HANDLER: Duration = Duration::from_millis(1_500);

/// The guard speaks as soon as the last event was handled. If it does not, that event went
/// elsewhere: a key that moved the focus to another frame, a click that replaced the document.
const WORD: Duration = Duration::from_millis(100);

/// How long the rest of a cancelled gesture is waited for.
const REST: Duration = Duration::from_millis(500);

/// Input that was written, in order.
#[derive(Default)]
pub(crate) struct Sending {
    pending: Vec<Pending<Ignored>>,
}

/// Where and how the pointer acts.
#[derive(Clone, Copy)]
pub(crate) struct Pointer<'a> {
    pub(crate) session: &'a Session,
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) button: MouseButton,
    pub(crate) modifiers: u8,
}

impl Pointer<'_> {
    fn name(&self) -> (&'static str, u8) {
        match self.button {
            MouseButton::Left => ("left", 1),
            MouseButton::Right => ("right", 2),
            MouseButton::Middle => ("middle", 4),
        }
    }
}

impl Sending {
    pub(crate) fn moved(&mut self, at: Pointer<'_>, held: bool) {
        let (button, bit) = at.name();
        self.pending.push(at.session.post(
            DispatchMouse {
                r#type: "mouseMoved",
                x: at.x,
                y: at.y,
                modifiers: Some(at.modifiers),
                button: held.then_some(button),
                buttons: Some(if held { bit } else { 0 }),
                ..DispatchMouse::default()
            },
            INPUT_DEADLINE,
        ));
    }

    pub(crate) fn pressed(&mut self, at: Pointer<'_>, count: u8) {
        self.button("mousePressed", at, count);
    }

    pub(crate) fn released(&mut self, at: Pointer<'_>, count: u8) {
        self.button("mouseReleased", at, count);
    }

    fn button(&mut self, kind: &'static str, at: Pointer<'_>, count: u8) {
        let (button, bit) = at.name();
        self.pending.push(at.session.post(
            DispatchMouse {
                r#type: kind,
                x: at.x,
                y: at.y,
                modifiers: Some(at.modifiers),
                button: Some(button),
                buttons: Some(if kind == "mousePressed" { bit } else { 0 }),
                click_count: Some(count),
                ..DispatchMouse::default()
            },
            INPUT_DEADLINE,
        ));
    }

    pub(crate) fn wheel(&mut self, at: Pointer<'_>, x: f64, y: f64) {
        self.pending.push(at.session.post(
            DispatchMouse {
                r#type: "mouseWheel",
                x: at.x,
                y: at.y,
                delta_x: Some(x),
                delta_y: Some(y),
                ..DispatchMouse::default()
            },
            INPUT_DEADLINE,
        ));
    }

    pub(crate) fn key(&mut self, session: &Session, key: &KeyPress) {
        let text = key.text.as_deref();
        let commands = (!key.commands.is_empty()).then_some(key.commands);
        let event = |kind, text| DispatchKey {
            r#type: kind,
            modifiers: Some(key.modifiers),
            text,
            unmodified_text: text,
            code: (!key.code.is_empty()).then_some(key.code),
            key: Some(&key.key),
            windows_virtual_key_code: (key.virtual_key != 0).then_some(key.virtual_key),
            commands: None,
            ..DispatchKey::default()
        };
        let down = if text.is_some() { "keyDown" } else { "rawKeyDown" };
        let down = DispatchKey { commands, ..event(down, text) };
        self.pending.push(session.post(down, INPUT_DEADLINE));
        self.pending.push(session.post(event("keyUp", None), INPUT_DEADLINE));
    }

    pub(crate) fn text(&mut self, session: &Session, text: &str) {
        self.pending.push(session.post(InsertText { text }, INPUT_DEADLINE));
    }

    /// All answers; the first failure in the order of sending, and whether something before it was
    /// sent: then not even a `NotSent` says that nothing happened.
    pub(crate) async fn answered(self) -> Result<(), Failed> {
        for (nth, one) in join_all(self.pending).await.into_iter().enumerate() {
            one.map_err(|error| Failed { error, partly: nth > 0 })?;
        }
        Ok(())
    }
}

/// Why a gesture was not answered.
pub(crate) struct Failed {
    pub(crate) error: CallError,
    /// Whether an event before it was sent.
    partly: bool,
}

impl Failed {
    /// How the act ended.
    pub(crate) fn outcome(&self) -> Outcome {
        match &self.error {
            CallError::NotSent(_) if self.partly => {
                unknown(UnknownCause::ConnectionLost, "only a part of the gesture could be sent")
            }
            error => lost(error),
        }
    }
}

/// What came of a gesture.
pub(crate) enum Heard {
    /// All of it was handled, and nothing was cancelled.
    Through,
    /// The guard cancelled it.
    Stopped(FrameId, Stop),
    /// It is over for another reason; this is its end.
    Ended(Outcome),
}

/// Waits until a gesture that was sent is through, the guard's word on its last event included.
pub(crate) async fn hear(step: &Step<'_>, frame: &FrameId, sending: Sending) -> Heard {
    hear_all(step, frame, sending, true).await
}

/// As `hear`, for a part of a gesture.
pub(crate) async fn hear_part(step: &Step<'_>, frame: &FrameId, sending: Sending) -> Heard {
    hear_all(step, frame, sending, false).await
}

/// Waits until what was sent is through. A dialog that opens on the way, or a tab that
/// closes, is not waited for: its answers would not come.
async fn hear_all(step: &Step<'_>, frame: &FrameId, sending: Sending, awaits_word: bool) -> Heard {
    let until = (Instant::now() + SETTLE_CAP).min(step.deadline);
    let tab = &step.tab;
    // Once the page has the click, a handler that runs on and on is its own affair.
    let delivered = async {
        let hit = tab.until(until, |s| (s.report.hit || s.report.end).then_some(())).await;
        match hit {
            Some(()) => sleep(HANDLER).await,
            None => std::future::pending().await,
        }
    };
    let broken = tab.until(until, |state| {
        let over = state.report.stop.is_some() || state.dialog.is_some();
        (over || state.closed || state.crashed).then_some(())
    });
    let answered = sending.answered();
    tokio::pin!(broken, answered);
    let result = tokio::select! {
        biased;
        _ = &mut broken => Err(()),
        () = delivered => Err(()),
        result = &mut answered => Ok(result),
        () = step.cancel.cancelled() => {
            let token = tab.state().report.token;
            if let Some((world, _)) = tab.world(frame) {
                // First of all the guard must know: then whatever releases the button clicks nothing.
                let abandoned = ask(&world, &call("abandon", &token), false, REST);
                let _: Result<IgnoredAny, _> = abandoned.answer().await;
            }
            return Heard::Ended(stopped_after());
        }
    };
    if let Ok(Ok(())) = result {
        // The guard's words come another way than the answers, and a little later.
        let since = step.since;
        let told = tab.until(Instant::now() + WORD, |state| {
            let report = &state.report;
            let over = report.end || report.stop.is_some() || !awaits_word;
            let gone = state.dialog.is_some() || state.closed || state.crashed;
            (over || gone || state.replaced > since).then_some(())
        });
        told.await;
    } else if tab.state().report.stop.is_some() {
        // The rest of the cancelled gesture must not run into the next one.
        drop(timeout(REST, answered).await);
    }
    // Words of the guard that arrived with the answers count, so the state is asked last.
    let (stop, report, arrived, crashed, closed, dialog, replaced) = {
        let state = tab.state();
        (
            state.report.stop.clone(),
            state.report.down || state.report.hit,
            state.report.hit || state.report.end,
            state.crashed,
            state.closed,
            state.dialog.is_some(),
            state.replaced > step.since,
        )
    };
    if let Some((frame, stop)) = stop {
        return Heard::Stopped(frame, stop);
    }
    match result {
        Ok(Ok(())) if report || !awaits_word || closed || dialog || replaced => Heard::Through,
        // All of it was handled, but not where it was aimed: a frame that came up in between, or
        // nothing at all. Where, nobody can tell.
        Ok(Ok(())) => Heard::Ended(unknown(
            UnknownCause::ProtocolError,
            "the input was handled, but it did not arrive at the element",
        )),
        // A tab that closes proves nothing by itself: the page may have closed it when it had all of
        // the gesture, or it went away before. Only the guard in it knows.
        _ if closed && arrived => Heard::Through,
        Ok(Err(failed)) if closed => Heard::Ended(failed.outcome()),
        Err(()) if closed => Heard::Ended(unknown(
            UnknownCause::ConnectionLost,
            "the tab went away while the act was under way",
        )),
        _ if dialog => Heard::Through,
        _ if crashed => Heard::Ended(unknown(
            UnknownCause::RendererCrashed,
            "the page crashed while the act was under way",
        )),
        // The frame's own process went away because the gesture led it elsewhere.
        Ok(Err(failed)) if report && failed.error.is_gone() && !tab.connection.is_closed() => {
            Heard::Through
        }
        Ok(Err(failed)) => Heard::Ended(failed.outcome()),
        // The handlers still run: what matters has been delivered. The press alone is not a click.
        Err(_) if arrived || (report && !awaits_word) => Heard::Through,
        Err(_) => Heard::Ended(unknown(
            UnknownCause::Deadline,
            "the page has not handled the input yet; it may still do so",
        )),
    }
}

/// The guard's last word: page script that ran after the last event can still have changed where the
/// element leads, and then the navigation was cancelled.
pub(crate) fn final_word(step: &mut Step<'_>, outcome: Outcome) -> Outcome {
    if !matches!(outcome, Outcome::Completed) {
        return outcome;
    }
    let stop = step.tab.state().report.stop.clone();
    match stop {
        Some((frame, stop)) => stopped(step, &frame, stop),
        None => outcome,
    }
}

/// Ends a gesture that the guard cancelled.
pub(crate) fn stopped(step: &mut Step<'_>, frame: &FrameId, stop: Stop) -> Outcome {
    step.note_covering(frame, stop.by);
    cancelled(stop)
}
