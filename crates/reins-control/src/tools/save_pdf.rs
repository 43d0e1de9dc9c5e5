//! `save_pdf`: the page as a PDF, kept as a resource.

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
    "save_pdf",
    "Print to PDF",
    "Print the page to a PDF; the answer names the file.",
    Read,
    Core,
    Args,
    run
);

async fn run(call: &mut Call<'_>, _: Args) -> Result<Reply, ControlError> {
    call.pdf().await
}
