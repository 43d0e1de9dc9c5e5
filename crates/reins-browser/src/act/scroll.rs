//! Scrolling, by script where something scrolls, by the wheel where the page does it itself.

use super::input::{Heard, Pointer, Sending, hear_part, stopped};
use super::refusals::{No, not_asked};
use super::settle::{self, After};
use super::step::Step;
use super::through::{Point, hush, place, withdraw};
use reins_core::{MouseButton, Outcome, ScrollBy, TargetRecord};
use serde::{Deserialize, Serialize};

#[derive(Serialize, Default)]
struct Scroll {
    n: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    by: Option<By>,
    #[serde(skip_serializing_if = "Option::is_none")]
    screens: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    to: Option<&'static str>,
}

#[derive(Serialize)]
struct By {
    x: i32,
    y: i32,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Scrolled {
    No(No),
    Is { moved: bool, stuck: bool, top: f64, height: f64, seen: f64, x: f64, y: f64 },
}

/// A screen, where only a wheel can tell the page.
const WHEEL_SCREEN: f64 = 600.0;

/// Scrolls an element's box or the page.
pub(crate) async fn scroll(
    step: &mut Step<'_>,
    target: Option<&TargetRecord>,
    by: ScrollBy,
) -> Outcome {
    let frame = target.map_or_else(|| step.tab.state().main.clone(), |t| t.node.frame.clone());
    let world = match target.map(|t| step.world_of(&t.node)) {
        Some(Ok(world)) => world,
        Some(Err(error)) => return not_asked(error),
        None => match step.tab.world(&frame) {
            Some((world, _)) => world,
            None => return not_asked(crate::page_call::AskError::Replaced),
        },
    };
    let mut what = Scroll { n: target.map_or(0, |t| t.node.node.0), ..Scroll::default() };
    match by {
        ScrollBy::Pixels { x, y } => what.by = Some(By { x, y }),
        ScrollBy::Screens(screens) => what.screens = Some(screens),
        ScrollBy::IntoView => what.to = Some("view"),
        ScrollBy::Top => what.to = Some("top"),
        ScrollBy::Bottom => what.to = Some("bottom"),
    }
    let at = match step.ask(&world, "scroll", &what, false).await {
        Err(error) => return not_asked(error),
        Ok(Scrolled::No(no)) => return no.outcome(),
        Ok(Scrolled::Is { stuck: true, x, y, .. }) => Point { x, y },
        Ok(Scrolled::Is { moved, top, height, seen, .. }) => {
            step.changed |= moved;
            if !moved && !matches!(by, ScrollBy::IntoView) {
                step.notes.push("it cannot be scrolled further that way".into());
            } else if height > seen {
                step.notes.push(format!(
                    "scrolled to {:.0} of {:.0} pixels",
                    top,
                    (height - seen).max(0.0)
                ));
            }
            settle::after(step, After::Quiet(&frame)).await;
            return Outcome::Completed;
        }
    };
    wheel(step, &frame, at, by).await
}

/// Maps, boards and the like scroll nothing; they listen to the wheel.
async fn wheel(
    step: &mut Step<'_>,
    frame: &reins_core::FrameId,
    at: Point,
    by: ScrollBy,
) -> Outcome {
    let (x, y) = match by {
        ScrollBy::Pixels { x, y } => (f64::from(x), f64::from(y)),
        ScrollBy::Screens(screens) => (0.0, f64::from(screens) * WHEEL_SCREEN),
        ScrollBy::IntoView | ScrollBy::Top | ScrollBy::Bottom => {
            step.notes.push("nothing there can be scrolled".into());
            return Outcome::Completed;
        }
    };
    let token = step.tab.new_token();
    let everywhere = reins_core::FrameId::new("");
    hush(step, &everywhere, token, "pointer").await;
    let outcome = match place(step, frame, at, token).await {
        Err(outcome) => outcome,
        Ok(place) => {
            let at = Pointer {
                session: &place.session,
                x: place.x,
                y: place.y,
                button: MouseButton::Left,
                modifiers: 0,
            };
            let mut sending = Sending::default();
            sending.wheel(at, x, y);
            match hear_part(step, frame, sending).await {
                Heard::Through => Outcome::Completed,
                Heard::Ended(outcome) => outcome,
                Heard::Stopped(frame, stop) => stopped(step, &frame, stop),
            }
        }
    };
    if matches!(outcome, Outcome::Completed) {
        settle::after(step, After::Quiet(frame)).await;
    }
    withdraw(step, token);
    outcome
}
