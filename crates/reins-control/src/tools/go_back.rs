//! `go_back`: through the tab's history.

use crate::call::Call;
use crate::error::ControlError;
use crate::reply::Reply;
use crate::tool::tool;
use reins_core::HistoryStep;
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {}

tool!("go_back", "Go back", "Go back in the tab's history.", Act, Core, Args, run);

async fn run(call: &mut Call<'_>, _: Args) -> Result<Reply, ControlError> {
    call.history(HistoryStep::Back).await
}
