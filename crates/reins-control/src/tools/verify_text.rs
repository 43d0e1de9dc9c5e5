//! `verify_text`: an assertion for tests of a page (S-033).

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
    "verify_text",
    "Verify a text",
    "Check that a text is on the page, also off screen; an error if not.",
    Read,
    Testing,
    Args,
    run
);

async fn run(call: &mut Call<'_>, args: Args) -> Result<Reply, ControlError> {
    call.verify_text(&args.text).await
}
