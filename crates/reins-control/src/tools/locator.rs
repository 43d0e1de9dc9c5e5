//! `locator`: an element in the words of a test (S-033).

use crate::args::RefArg;
use crate::call::Call;
use crate::error::ControlError;
use crate::reply::Reply;
use crate::tool::tool;
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    r#ref: RefArg,
}

tool!(
    "locator",
    "Name an element for a test",
    "Say how a Playwright test names this element.",
    Read,
    Testing,
    Args,
    run
);

async fn run(call: &mut Call<'_>, args: Args) -> Result<Reply, ControlError> {
    call.locator(args.r#ref.0).await
}
