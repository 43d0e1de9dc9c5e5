//! Dragging one element onto another, by moves that pages and the browser's own drag both follow.

use super::input::{Heard, Pointer, Sending, final_word, hear_part, stopped};
use super::pointer::{Aim, Sealed, aim};
use super::refusals::{refused, stopped_after};
use super::settle::{self, After};
use super::step::Step;
use super::through::{Place, Point, in_tab, place, withdraw};
use reins_core::{FrameId, MouseButton, Outcome, TargetRecord};

/// How far the pointer moves first: browsers and pages begin a drag after a few pixels.
const START: f64 = 6.0;

/// Drags `from` onto `to`.
pub(crate) async fn drag(step: &mut Step<'_>, from: &TargetRecord, to: &TargetRecord) -> Outcome {
    let token = step.tab.new_token();
    let outcome = match ends(step, from, to, token).await {
        Ok((start, end)) => {
            let held = hold(step, &from.node.frame, &start, &end).await;
            if matches!(held, Outcome::Completed) {
                settle::after(step, After::Quiet(&from.node.frame)).await;
            }
            final_word(step, held)
        }
        Err(outcome) => outcome,
    };
    withdraw(step, token);
    outcome
}

/// Where the drag starts and ends, announced at both.
async fn ends(
    step: &mut Step<'_>,
    from: &TargetRecord,
    to: &TargetRecord,
    token: u64,
) -> Result<(Place, Place), Outcome> {
    let same = from.node.frame == to.node.frame;
    let start = Aim {
        token,
        n: from.node.node.0,
        seal: &from.seal,
        gesture: "drag",
        times: 1,
        leads: None,
        disabled_too: false,
        drop: same.then_some(Sealed { n: to.node.node.0, seal: &to.seal }),
    };
    let end = Aim {
        token,
        n: to.node.node.0,
        seal: &to.seal,
        gesture: "drop",
        times: 1,
        leads: None,
        disabled_too: true,
        drop: Some(Sealed { n: to.node.node.0, seal: &to.seal }),
    };
    let frame = &from.node.frame;
    if same {
        let (at, drop) = aim(step, from, &start, false).await?;
        let drop = drop.ok_or_else(unreachable_end)?;
        let start = place(step, frame, at, token).await?;
        return Ok((start, place(step, frame, drop, token).await?));
    }
    // The end first: announcing the start hushes all other frames, so the end is announced again.
    let (drop, _) = aim(step, to, &end, false).await?;
    let last = place(step, &to.node.frame, drop, token).await?;
    let (at, _) = aim(step, from, &start, false).await?;
    let first = place(step, frame, at, token).await?;
    announce_end(step, to, &end).await?;
    Ok((in_root(step, frame, first, at).await, in_root(step, &to.node.frame, last, drop).await))
}

fn unreachable_end() -> Outcome {
    refused("not_visible", "the place to drag to cannot be reached", "Scroll to it first.")
}

/// Announces the end in its frame once more, without telling the others.
async fn announce_end(step: &Step<'_>, to: &TargetRecord, end: &Aim<'_>) -> Result<(), Outcome> {
    let world = step.world_of(&to.node).map_err(super::refusals::not_asked)?;
    let aimed: super::pointer::Aimed =
        step.ask(&world, "aim", end, true).await.map_err(super::refusals::not_asked)?;
    match aimed {
        super::pointer::Aimed::No(no) => Err(no.outcome()),
        super::pointer::Aimed::At { .. } => Ok(()),
    }
}

/// Both ends must be dispatched through one process; the tab's own sees all frames.
async fn in_root(step: &Step<'_>, frame: &FrameId, place: Place, at: Point) -> Place {
    match in_tab(&step.tab, frame, at.x, at.y).await {
        Ok((x, y)) => Place { session: step.tab.session.clone(), x, y },
        Err(_) => place,
    }
}

async fn hold(step: &mut Step<'_>, frame: &FrameId, start: &Place, end: &Place) -> Outcome {
    let at = |x: f64, y: f64| Pointer {
        session: &start.session,
        x,
        y,
        button: MouseButton::Left,
        modifiers: 0,
    };
    let (dx, dy) = (end.x - start.x, end.y - start.y);
    let far = dx.hypot(dy).max(1.0);
    let (sx, sy) = (start.x + dx / far * START, start.y + dy / far * START);
    let path = [
        (sx, sy),
        (start.x + dx * 0.5, start.y + dy * 0.5),
        (end.x - dx / far * 2.0, end.y - dy / far * 2.0),
        (end.x, end.y),
    ];
    let mut press = Sending::default();
    press.moved(at(start.x, start.y), false);
    press.pressed(at(start.x, start.y), 1);
    match hear_part(step, frame, press).await {
        Heard::Through => {}
        Heard::Ended(outcome) => return outcome,
        Heard::Stopped(frame, stop) => {
            let mut release = Sending::default();
            release.released(at(start.x, start.y), 1);
            drop(release.answered().await);
            return stopped(step, &frame, stop);
        }
    }
    // Each move is waited for: the browser's own drag takes over between two of them.
    for (x, y) in path {
        let mut moved = Sending::default();
        moved.moved(at(x, y), true);
        match hear_part(step, frame, moved).await {
            Heard::Through => {}
            Heard::Ended(outcome) => {
                // The button is let go; the guard knows the gesture was given up.
                let mut release = Sending::default();
                release.released(at(x, y), 1);
                drop(release.answered().await);
                return outcome;
            }
            Heard::Stopped(frame, stop) => {
                let mut release = Sending::default();
                release.released(at(x, y), 1);
                drop(release.answered().await);
                return stopped(step, &frame, stop);
            }
        }
    }
    if step.cancel.is_cancelled() {
        return stopped_after();
    }
    let mut release = Sending::default();
    release.released(at(end.x, end.y), 1);
    match hear_part(step, frame, release).await {
        Heard::Through => Outcome::Completed,
        Heard::Ended(outcome) => outcome,
        Heard::Stopped(frame, stop) => stopped(step, &frame, stop),
    }
}
