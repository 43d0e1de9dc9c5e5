//! `switch_tab`: which tab the next calls mean. Never raises a window.

use crate::call::Call;
use crate::error::ControlError;
use crate::reply::Reply;
use crate::tool::tool;
use schemars::JsonSchema;
use serde::Deserialize;

/// The tab comes with the arguments that every tool takes.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {}

tool!(
    "switch_tab",
    "Switch tab",
    "Make the given tab the current one and read it.",
    View,
    Core,
    Args,
    run
);

async fn run(call: &mut Call<'_>, _: Args) -> Result<Reply, ControlError> {
    call.switch_tab().await
}
