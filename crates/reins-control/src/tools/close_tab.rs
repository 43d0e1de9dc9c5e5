//! `close_tab`: closes a tab that the agent opened.

use crate::call::Call;
use crate::error::ControlError;
use crate::reply::Reply;
use crate::tool::tool;
use reins_core::Action;
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {}

tool!(
    "close_tab",
    "Close tab",
    "Close the current or given tab, if the agent opened it.",
    Act,
    Core,
    Args,
    run
);

async fn run(call: &mut Call<'_>, _: Args) -> Result<Reply, ControlError> {
    let tab = call.tab()?;
    call.act(Action::CloseTab { tab }).await
}
