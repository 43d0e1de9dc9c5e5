//! `read_more`: the rest of a result that was too long to give at once.

use crate::call::Call;
use crate::error::ControlError;
use crate::reply::Reply;
use crate::tool::tool;
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// as named by the cut result
    uri: String,
    #[serde(default)]
    offset: usize,
}

tool!("read_more", "Read on", "Read on in a result that was cut.", Read, Core, Args, run);

async fn run(call: &mut Call<'_>, args: Args) -> Result<Reply, ControlError> {
    call.read_more(&args.uri, args.offset)
}
