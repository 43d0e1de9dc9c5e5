//! `reload`: load the current document again.

use crate::call::Call;
use crate::error::ControlError;
use crate::reply::Reply;
use crate::tool::tool;
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {}

tool!("reload", "Reload", "Reload the page.", Act, Core, Args, run);

async fn run(call: &mut Call<'_>, _: Args) -> Result<Reply, ControlError> {
    call.reload().await
}
