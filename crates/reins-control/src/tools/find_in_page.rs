//! `find_in_page`: lines that contain a text, anywhere on the page.

use crate::call::Call;
use crate::error::ControlError;
use crate::reply::Reply;
use crate::tool::tool;
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    text: String,
}

tool!(
    "find_in_page",
    "Find text",
    "Find a text anywhere on the page, on or off screen; returns the lines around it with refs, \
     also for plain text and table cells.",
    Read,
    Core,
    Args,
    run
);

async fn run(call: &mut Call<'_>, args: Args) -> Result<Reply, ControlError> {
    call.find(&args.text).await
}
