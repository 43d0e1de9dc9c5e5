//! Clicks and hovering: aim, announce, dispatch, and judge what came of it.

use super::input::{Heard, Pointer, Sending, final_word, hear, hear_part, stopped};
use super::refusals::{No, not_asked};
use super::settle::{self, After};
use super::step::Step;
use super::through::{Place, Point, hush, place, withdraw};
use crate::keyboard::modifier_bits;
use crate::report::{Stop, Why};
use futures_util::future::join;
use reins_core::{FormMethod, Modifiers, MouseButton, Outcome, Submission, TargetRecord};
use serde::{Deserialize, Serialize};

/// An element that moves away before the press is aimed at again. More misses in a row mean that it
/// cannot be hit.
const TRIES: u32 = 6;

/// Aiming, as the page script takes it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Aim<'a> {
    pub(crate) token: u64,
    pub(crate) n: u32,
    pub(crate) seal: &'a str,
    pub(crate) gesture: &'static str,
    pub(crate) times: u8,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) leads: Option<Leads<'a>>,
    pub(crate) disabled_too: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) drop: Option<Sealed<'a>>,
}

/// An element and its seal.
#[derive(Serialize)]
pub(crate) struct Sealed<'a> {
    pub(crate) n: u32,
    pub(crate) seal: &'a str,
}

/// Where the approved element leads.
#[derive(Serialize)]
pub(crate) struct Leads<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    link: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    form: Option<&'a str>,
    get: bool,
}

impl<'a> Leads<'a> {
    /// Where a click leads.
    pub(crate) fn by_click(target: &'a TargetRecord) -> Self {
        Self::new(target.link.as_ref().map(|l| l.url.as_str()), target.submission.as_ref())
    }

    /// Where Enter leads.
    pub(crate) fn by_enter(target: &'a TargetRecord) -> Self {
        let form = target.enter.as_ref().or(target.submission.as_ref());
        Self::new(target.link.as_ref().map(|l| l.url.as_str()), form)
    }

    fn new(link: Option<&'a str>, form: Option<&'a Submission>) -> Self {
        Self {
            link,
            form: form.map(|f| f.action.as_str()),
            get: form.is_some_and(|f| f.method == FormMethod::Get),
        }
    }
}

#[derive(Deserialize)]
#[serde(untagged)]
pub(crate) enum Aimed {
    No(No),
    At {
        x: f64,
        y: f64,
        #[serde(default)]
        drop: Option<Point>,
    },
}

/// Finds the element and announces the gesture in its frame and, as not for them, in all others.
pub(crate) async fn aim(
    step: &mut Step<'_>,
    target: &TargetRecord,
    aim: &Aim<'_>,
    moving: bool,
) -> Result<(Point, Option<Point>), Outcome> {
    let world = step.world_of(&target.node).map_err(not_asked)?;
    let function = if moving { "aimAhead" } else { "aim" };
    let (aimed, ()) = join(
        step.ask(&world, function, aim, true),
        hush(step, &target.node.frame, aim.token, "pointer"),
    )
    .await;
    match aimed.map_err(not_asked)? {
        Aimed::No(no) => {
            step.note_covering(&target.node.frame, no.by);
            Err(no.outcome())
        }
        Aimed::At { x, y, drop } => Ok((Point { x, y }, drop)),
    }
}

/// Clicks an element.
pub(crate) async fn click(
    step: &mut Step<'_>,
    target: &TargetRecord,
    button: MouseButton,
    count: u8,
    modifiers: Modifiers,
) -> Outcome {
    let (outcome, token) = gesture(step, target, button, count, modifiers).await;
    if matches!(outcome, Outcome::Completed) {
        settle::after(step, After::Gesture(&target.node.frame)).await;
    }
    let stop = step.tab.state().report.stop.clone();
    let outcome = match stop {
        // That was all of a right click that matters.
        Some((_, stop)) if came_up_under(button, &stop) => outcome,
        _ => final_word(step, outcome),
    };
    withdraw(step, token);
    outcome
}

/// Whether a menu, or the like, came up under a right click: the press opens it, and the release then
/// falls on it. The guard has kept the release from it, since nobody approved anything there.
fn came_up_under(button: MouseButton, stop: &Stop) -> bool {
    button == MouseButton::Right && stop.why == Why::Slipped && stop.partly
}

/// Clicks without waiting for what the page does then. The announcement is still there afterwards.
pub(crate) async fn gesture(
    step: &mut Step<'_>,
    target: &TargetRecord,
    button: MouseButton,
    count: u8,
    modifiers: Modifiers,
) -> (Outcome, u64) {
    let count = count.clamp(1, 3);
    for attempt in 0.. {
        let token = step.tab.new_token();
        let aimed = Aim {
            token,
            n: target.node.node.0,
            seal: &target.seal,
            gesture: "pointer",
            times: count,
            leads: Some(Leads::by_click(target)),
            disabled_too: false,
            drop: None,
        };
        let at = match aim(step, target, &aimed, attempt > 0).await {
            Ok((point, _)) => place(step, &target.node.frame, point, token).await,
            Err(outcome) => Err(outcome),
        };
        let Place { session, x, y } = match at {
            Ok(place) => place,
            Err(outcome) => return (outcome, token),
        };
        if step.cancel.is_cancelled() {
            return (super::refusals::stopped_before(), token);
        }
        let modifiers = modifier_bits(modifiers);
        let at = Pointer { session: &session, x, y, button, modifiers };
        let mut sending = Sending::default();
        sending.moved(at, false);
        for nth in 1..=count {
            sending.pressed(at, nth);
            sending.released(at, nth);
        }
        match hear(step, &target.node.frame, sending).await {
            Heard::Through => return (Outcome::Completed, token),
            Heard::Ended(outcome) => return (outcome, token),
            Heard::Stopped(_, stop) if came_up_under(button, &stop) => {
                return (Outcome::Completed, token);
            }
            Heard::Stopped(frame, stop) => {
                let again = matches!(stop.why, Why::Missed | Why::Elsewhere)
                    && !stop.partly
                    && attempt + 1 < TRIES;
                if !again {
                    return (stopped(step, &frame, stop), token);
                }
                // The page saw nothing of it; the next aim finds out whether it moved or is covered.
            }
        }
    }
    // The loop ends by returning: the last try is not repeated.
    (super::refusals::covered(), 0)
}

/// Moves the pointer onto an element and leaves it there.
pub(crate) async fn hover(step: &mut Step<'_>, target: &TargetRecord) -> Outcome {
    let token = step.tab.new_token();
    let aimed = Aim {
        token,
        n: target.node.node.0,
        seal: &target.seal,
        gesture: "pointer",
        times: 1,
        leads: None,
        disabled_too: true,
        drop: None,
    };
    let at = match aim(step, target, &aimed, false).await {
        Ok((point, _)) => place(step, &target.node.frame, point, token).await,
        Err(outcome) => Err(outcome),
    };
    let outcome = match at {
        Err(outcome) => outcome,
        Ok(Place { session, x, y }) => {
            let at = Pointer { session: &session, x, y, button: MouseButton::Left, modifiers: 0 };
            let mut sending = Sending::default();
            sending.moved(at, false);
            match hear_part(step, &target.node.frame, sending).await {
                Heard::Through => Outcome::Completed,
                Heard::Ended(outcome) => outcome,
                Heard::Stopped(frame, stop) => stopped(step, &frame, stop),
            }
        }
    };
    if matches!(outcome, Outcome::Completed) {
        settle::after(step, After::Quiet(&target.node.frame)).await;
    }
    withdraw(step, token);
    outcome
}
