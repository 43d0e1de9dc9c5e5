//! `verify_list`: an assertion for tests of a page (S-033).

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
    items: Vec<String>,
    /// the list
    #[serde(default)]
    r#ref: Option<RefArg>,
}

tool!(
    "verify_list",
    "Verify a list",
    "Check that all items are on the page, or in one list; an error if not.",
    Read,
    Testing,
    Args,
    run
);

async fn run(call: &mut Call<'_>, args: Args) -> Result<Reply, ControlError> {
    call.verify_list(args.r#ref.map(|r| r.0), &args.items).await
}
