//! `verify_value`: an assertion for tests of a page (S-033).

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
    /// true or false for a checkbox
    value: String,
}

tool!(
    "verify_value",
    "Verify a value",
    "Check what a control holds; an error if it is something else.",
    Read,
    Testing,
    Args,
    run
);

async fn run(call: &mut Call<'_>, args: Args) -> Result<Reply, ControlError> {
    call.verify_value(args.r#ref.0, &args.value).await
}
