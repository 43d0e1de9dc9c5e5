//! `snapshot`: what the page shows, as lines with refs.

use crate::call::Call;
use crate::error::ControlError;
use crate::reply::Reply;
use crate::tool::tool;
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// everything, also off screen
    #[serde(default)]
    full: bool,
}

tool!(
    "snapshot",
    "Read the page",
    "Read the current page: one line per element, with refs such as [ref=e12] to act on. \
     What is on screen comes first; the rest is counted.",
    Read,
    Core,
    Args,
    run
);

async fn run(call: &mut Call<'_>, args: Args) -> Result<Reply, ControlError> {
    call.snapshot(args.full).await
}
