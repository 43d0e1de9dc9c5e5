//! `open_tab`: a new tab in the background; it becomes the session's current one.

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
    #[serde(default)]
    url: Option<String>,
}

tool!("open_tab", "Open a tab", "Open a new tab and make it current.", Act, Core, Args, run);

async fn run(call: &mut Call<'_>, args: Args) -> Result<Reply, ControlError> {
    let url = args.url.map(|url| call.absolute(&url)).transpose()?;
    call.act(Action::OpenTab { url }).await
}
