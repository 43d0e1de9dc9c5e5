//! `scroll`: the page or an element.

use crate::args::RefArg;
use crate::call::Call;
use crate::error::ControlError;
use crate::reply::Reply;
use crate::tool::tool;
use reins_core::{Action, ScrollBy};
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// default: down one screen, or ref into view
    #[serde(default)]
    to: Option<Direction>,
    /// what scrolls, or something in it
    #[serde(default)]
    r#ref: Option<RefArg>,
    /// CSS pixels instead of a screen
    #[serde(default)]
    pixels: Option<i32>,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Direction {
    Up,
    Down,
    Left,
    Right,
    Top,
    Bottom,
    View,
}

tool!("scroll", "Scroll", "Scroll the page or an element.", View, Core, Args, run);

async fn run(call: &mut Call<'_>, args: Args) -> Result<Reply, ControlError> {
    let tab = call.tab()?;
    let default = if args.r#ref.is_some() { Direction::View } else { Direction::Down };
    let by = match (args.to.unwrap_or(default), args.pixels) {
        (Direction::Top, _) => ScrollBy::Top,
        (Direction::Bottom, _) => ScrollBy::Bottom,
        (Direction::View, _) => ScrollBy::IntoView,
        (Direction::Down, None) => ScrollBy::Screens(1),
        (Direction::Up, None) => ScrollBy::Screens(-1),
        (Direction::Down, Some(y)) => ScrollBy::Pixels { x: 0, y },
        (Direction::Up, Some(y)) => ScrollBy::Pixels { x: 0, y: y.saturating_neg() },
        (Direction::Right, x) => ScrollBy::Pixels { x: x.unwrap_or(SIDEWAYS), y: 0 },
        (Direction::Left, x) => {
            ScrollBy::Pixels { x: x.unwrap_or(SIDEWAYS).saturating_neg(), y: 0 }
        }
    };
    let target = match args.r#ref {
        Some(r) => Some(call.resolve(r.0).await?),
        None => None,
    };
    call.act(Action::Scroll { tab, target, by }).await
}

/// Sideways there is no screen to count by; half of a usual window moves on without skipping.
const SIDEWAYS: i32 = 600;
