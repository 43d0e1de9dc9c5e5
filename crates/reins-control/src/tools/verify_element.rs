//! `verify_element`: an assertion for tests of a page (S-033).

use crate::call::Call;
use crate::error::ControlError;
use crate::reply::Reply;
use crate::tool::tool;
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// as in a snapshot: button, link, heading
    role: String,
    /// its name or a part of it
    name: String,
}

tool!(
    "verify_element",
    "Verify an element",
    "Check that an element of this role and name is on the page; an error if not.",
    Read,
    Testing,
    Args,
    run
);

async fn run(call: &mut Call<'_>, args: Args) -> Result<Reply, ControlError> {
    call.verify_element(&args.role, &args.name).await
}
