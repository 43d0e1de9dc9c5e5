//! `hover`: the pointer on an element.

use crate::args::RefArg;
use crate::call::Call;
use crate::error::ControlError;
use crate::reply::Reply;
use crate::tool::tool;
use reins_core::{Action, Gesture};
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    r#ref: RefArg,
}

tool!("hover", "Hover", "Move the pointer over an element.", View, Core, Args, run);

async fn run(call: &mut Call<'_>, args: Args) -> Result<Reply, ControlError> {
    let target = call.resolve(args.r#ref.0).await?;
    call.act(Action::Pointer { target, gesture: Gesture::Hover }).await
}
