//! `list_tabs`: the tabs of this session, with exact ids.

use crate::call::Call;
use crate::error::ControlError;
use crate::reply::Reply;
use crate::tool::tool;
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {}

tool!(
    "list_tabs",
    "List tabs",
    "List this session's tabs with their ids, titles and addresses.",
    Read,
    Core,
    Args,
    run
);

async fn run(call: &mut Call<'_>, _: Args) -> Result<Reply, ControlError> {
    call.list_tabs().await
}
