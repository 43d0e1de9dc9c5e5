//! `screenshot`: a picture of the viewport, the page or one element.

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
    /// one element only
    #[serde(default)]
    r#ref: Option<RefArg>,
    #[serde(default)]
    full_page: bool,
}

tool!(
    "screenshot",
    "Take a picture",
    "Take a picture of what is on screen, of the whole page or of one element. Prefer snapshot.",
    Read,
    Core,
    Args,
    run
);

async fn run(call: &mut Call<'_>, args: Args) -> Result<Reply, ControlError> {
    call.screenshot(args.r#ref.map(|r| r.0), args.full_page).await
}
