//! `upload`: files from the allowed directories into a file field.

use crate::args::{OneOrMany, RefArg};
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
    r#ref: RefArg,
    paths: OneOrMany,
}

tool!(
    "upload",
    "Upload files",
    "Give files to a file field; only from directories the person allowed.",
    Act,
    Core,
    Args,
    run
);

async fn run(call: &mut Call<'_>, args: Args) -> Result<Reply, ControlError> {
    let files = call.confine(&args.paths.into_vec())?;
    let target = call.resolve(args.r#ref.0).await?;
    call.act(Action::Upload { target, files }).await
}
