//! `navigate`: load an address (A-050…A-055).

use crate::call::Call;
use crate::error::ControlError;
use crate::reply::Reply;
use crate::tool::tool;
use reins_core::Action;
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// http(s) address
    url: String,
}

tool!(
    "navigate",
    "Open an address",
    "Open an address in the current tab and read the page it shows.",
    Act,
    Core,
    Args,
    run
);

async fn run(call: &mut Call<'_>, args: Args) -> Result<Reply, ControlError> {
    let url = call.absolute(&args.url)?;
    let tab = call.tab_or_new().await?;
    call.act(Action::Navigate { tab, url }).await
}
