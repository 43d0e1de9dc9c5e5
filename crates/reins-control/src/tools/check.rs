//! `check`: a checkbox, radio or switch into a state.

use crate::args::RefArg;
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
    /// false unchecks
    checked: bool,
}

tool!("check", "Check", "Check or uncheck a checkbox, radio or switch.", Act, Core, Args, run);

async fn run(call: &mut Call<'_>, args: Args) -> Result<Reply, ControlError> {
    let target = call.resolve(args.r#ref.0).await?;
    call.act(Action::Check { target, checked: args.checked }).await
}
