//! `get_page_text`: the readable text of the page as Markdown.

use crate::call::Call;
use crate::error::ControlError;
use crate::reply::Reply;
use crate::tool::tool;
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// from 1
    #[serde(default)]
    part: Option<usize>,
}

tool!(
    "get_page_text",
    "Read the text",
    "Read the page's text as Markdown, for long reading.",
    Read,
    Core,
    Args,
    run
);

async fn run(call: &mut Call<'_>, args: Args) -> Result<Reply, ControlError> {
    call.page_text(args.part.unwrap_or(1)).await
}
