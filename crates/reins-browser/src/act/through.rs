//! From an element's own frame out to the tab: is the point free in every frame around it, and
//! where is it for the process that dispatches.

use super::refusals::{No, not_asked};
use super::step::{ASKING, Step};
use crate::owners;
use crate::page_call::{ask, call, object};
use crate::protocol::page::GetContentQuads;
use reins_cdp::Session;
use reins_core::{FrameId, NodeNumber, Outcome};
use serde::{Deserialize, Serialize};

/// A point of a viewport, in CSS pixels.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(crate) struct Point {
    pub(crate) x: f64,
    pub(crate) y: f64,
}

/// A point as the process that holds the frame sees it.
pub(crate) struct Place {
    pub(crate) session: Session,
    pub(crate) x: f64,
    pub(crate) y: f64,
}

#[derive(Serialize)]
struct FrameAim {
    token: u64,
    n: u32,
    x: f64,
    y: f64,
    family: &'static str,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Through {
    No(No),
    At { x: f64, y: f64, straight: bool },
}

/// Follows a point of `frame` up to the tab.
pub(crate) async fn place(
    step: &mut Step<'_>,
    frame: &FrameId,
    at: Point,
    token: u64,
) -> Result<Place, Outcome> {
    let session = match step.tab.state().frames.get(frame) {
        Some(shown) => shown.session.clone(),
        None => return Err(not_asked(crate::page_call::AskError::Replaced)),
    };
    let mut place = Place { session, x: at.x, y: at.y };
    let ancestors = step.tab.state().ancestors(frame);
    let mut inner = frame.clone();
    let mut point = at;
    // Chromium maps points into other processes itself, so only our own process's frames count.
    let mut own = true;
    for outer in ancestors {
        let Some(number) = owners::find(&step.tab, &inner, ASKING).await else {
            return Err(not_asked(crate::page_call::AskError::Replaced));
        };
        let Some((world, _)) = step.tab.world(&outer) else {
            return Err(not_asked(crate::page_call::AskError::Replaced));
        };
        own = own && world.session.id() == place.session.id();
        let aim = FrameAim { token, n: number.0, x: point.x, y: point.y, family: "pointer" };
        let through = step.ask(&world, "aimFrame", &aim, true).await.map_err(not_asked)?;
        match through {
            Through::No(no) => {
                step.note_covering(&outer, no.by);
                return Err(no.outcome());
            }
            Through::At { x, y, straight: true } => {
                point = Point { x, y };
                if own {
                    (place.x, place.y) = (x, y);
                }
            }
            Through::At { straight: false, .. } => {
                // A rotated frame: only the browser's own geometry knows where its points are.
                if own {
                    let turned = turned(step, &world, number, point).await;
                    let turned =
                        turned.ok_or_else(|| not_asked(crate::page_call::AskError::Replaced))?;
                    (place.x, place.y) = (turned.x, turned.y);
                }
                // Further out the point inside the rotated frame says nothing.
                break;
            }
        }
        inner = outer;
    }
    Ok(place)
}

/// A point of a child document in the viewport of the process, by the frame's quadrilateral.
async fn turned(
    step: &Step<'_>,
    world: &crate::frame::World,
    number: NodeNumber,
    at: Point,
) -> Option<Point> {
    let rim: Rim = step.ask(world, "rim", &number.0, false).await.ok()?;
    let object_id = object(world, &call("element", &number.0), ASKING).await.ok()??;
    let quads = world.session.run(GetContentQuads { object_id: &object_id }, ASKING).await;
    crate::page_call::release(&world.session, &object_id);
    let quads = quads.ok()?.quads;
    // Chromium gives the border box here, whatever the command is called.
    let [x0, y0, x1, y1, _, _, x3, y3] = quads.first()?.as_slice().try_into().ok()?;
    let u = (rim.left + at.x) / rim.width.max(1.0);
    let v = (rim.top + at.y) / rim.height.max(1.0);
    Some(Point { x: x0 + u * (x1 - x0) + v * (x3 - x0), y: y0 + u * (y1 - y0) + v * (y3 - y0) })
}

#[derive(Deserialize)]
struct Rim {
    left: f64,
    top: f64,
    width: f64,
    height: f64,
}

/// Where a point of a frame's viewport is in the tab's own.
pub(crate) async fn in_tab(
    tab: &crate::tab::Tab,
    frame: &FrameId,
    x: f64,
    y: f64,
) -> Result<(f64, f64), crate::error::BrowserError> {
    let gone = || crate::error::BrowserError::StaleRef { what: "its frame is gone".into() };
    let (mut x, mut y) = (x, y);
    let mut inner = frame.clone();
    let ancestors = tab.state().ancestors(frame);
    for outer in ancestors {
        let number = owners::find(tab, &inner, ASKING).await.ok_or_else(gone)?;
        let (world, _) = tab.world(&outer).ok_or_else(gone)?;
        let call = format!("__reins.mapped({},{x},{y})", number.0);
        let at: Point = ask(&world, &call, false, ASKING).answer().await?;
        (x, y) = (at.x, at.y);
        inner = outer;
    }
    Ok((x, y))
}

/// Tells every other frame of the tab that a gesture goes on which is not for it. Ends when all that
/// can answer have answered: from then on no frame lets a stray event through.
pub(crate) async fn hush(step: &Step<'_>, frame: &FrameId, token: u64, family: &str) {
    let others: Vec<_> = {
        let state = step.tab.state();
        state.worlds.iter().filter(|(id, _)| *id != frame).map(|(_, w)| w.clone()).collect()
    };
    let call = format!("__reins.elsewhere({token},{family:?})");
    let asked: Vec<_> = others.iter().map(|world| ask(world, &call, false, HUSH)).collect();
    for one in asked {
        // A frame that is busy or gone handles no input either.
        let _: Result<bool, _> = one.answer().await;
    }
}

/// A frame that takes longer is busy; it is not waited for.
const HUSH: std::time::Duration = std::time::Duration::from_millis(150);

/// Takes the announcement back everywhere: input is the person's own again.
pub(crate) fn withdraw(step: &Step<'_>, token: u64) {
    let worlds: Vec<_> = step.tab.state().worlds.values().cloned().collect();
    let call = call("withdraw", &token);
    for world in worlds {
        drop(ask(&world, &call, false, ASKING));
    }
}
