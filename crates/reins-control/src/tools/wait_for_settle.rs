//! `wait_for_settle`: until the page is quiet, 4 s at most.

use crate::call::Call;
use crate::error::ControlError;
use crate::reply::Reply;
use crate::tool::tool;
use reins_browser::WaitFor;
use reins_core::limits::SETTLE_CAP;
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {}

tool!(
    "wait_for_settle",
    "Wait for quiet",
    "Wait until the page is quiet, 4 s at most.",
    Read,
    Core,
    Args,
    run
);

async fn run(call: &mut Call<'_>, _: Args) -> Result<Reply, ControlError> {
    call.wait(WaitFor::Settled, SETTLE_CAP).await
}
