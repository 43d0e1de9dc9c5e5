//! Key presses, judged inside the event at the element that has the focus.

use super::input::{Heard, Sending, final_word, hear, stopped};
use super::pointer::Leads;
use super::refusals::{No, not_asked, stopped_before};
use super::settle::{self, After};
use super::step::Step;
use super::through::{hush, withdraw};
use crate::frame::World;
use crate::keyboard::{KeyPress, press};
use futures_util::future::join;
use reins_core::{FrameId, KeyChord, NodeKey, Outcome, TargetRecord};
use serde::{Deserialize, Serialize};

#[derive(Serialize)]
struct KeyAim<'a> {
    token: u64,
    n: u32,
    seal: &'a str,
    times: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    leads: Option<Leads<'a>>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Aimed {
    No(No),
    #[expect(dead_code, reason = "only its presence counts")]
    Ready {
        ok: bool,
    },
}

/// Presses a chord at the element, or at the page where nothing has the focus.
pub(crate) async fn chord(
    step: &mut Step<'_>,
    target: Option<&TargetRecord>,
    chord: &KeyChord,
) -> Outcome {
    let frame = match target {
        Some(target) => target.node.frame.clone(),
        None => focused_frame(step).await,
    };
    let (outcome, token) = send(step, &frame, target, &[press(chord)]).await;
    if matches!(outcome, Outcome::Completed) {
        settle::after(step, After::Gesture(&frame)).await;
    }
    let outcome = final_word(step, outcome);
    withdraw(step, token);
    outcome
}

/// Announces keys at an element and sends them.
pub(crate) async fn send(
    step: &mut Step<'_>,
    frame: &FrameId,
    target: Option<&TargetRecord>,
    keys: &[KeyPress],
) -> (Outcome, u64) {
    let token = step.tab.new_token();
    let world = match target.map(|target| step.world_of(&target.node)) {
        Some(Ok(world)) => world,
        Some(Err(error)) => return (not_asked(error), token),
        None => match step.tab.world(frame) {
            Some((world, _)) => world,
            None => return (not_asked(crate::page_call::AskError::Replaced), token),
        },
    };
    let aim = KeyAim {
        token,
        n: target.map_or(0, |t| t.node.node.0),
        seal: target.map_or("", |t| t.seal.as_str()),
        times: keys.len(),
        leads: target.map(Leads::by_enter),
    };
    let (aimed, ()) =
        join(step.ask(&world, "aimKeys", &aim, false), hush(step, frame, token, "keys")).await;
    match aimed {
        Ok(Aimed::Ready { .. }) => {}
        Ok(Aimed::No(no)) => return (no.outcome(), token),
        Err(error) => return (not_asked(error), token),
    }
    if step.cancel.is_cancelled() {
        return (stopped_before(), token);
    }
    (dispatch(step, frame, &world, keys).await, token)
}

/// Sends keys that are announced already.
pub(crate) async fn dispatch(
    step: &mut Step<'_>,
    frame: &FrameId,
    world: &World,
    keys: &[KeyPress],
) -> Outcome {
    let mut sending = Sending::default();
    for key in keys {
        sending.key(&world.session, key);
    }
    match hear(step, frame, sending).await {
        Heard::Through => Outcome::Completed,
        Heard::Ended(outcome) => outcome,
        Heard::Stopped(frame, stop) => stopped(step, &frame, stop),
    }
}

/// The innermost frame that has the focus.
pub(crate) async fn focused_frame(step: &Step<'_>) -> FrameId {
    match crate::focus::focused(&step.tab).await {
        Ok(Some(NodeKey { frame, .. })) => frame,
        _ => step.tab.state().main.clone(),
    }
}
