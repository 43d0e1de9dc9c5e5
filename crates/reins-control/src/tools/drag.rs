//! `drag`: one element onto another.

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
    from: RefArg,
    to: RefArg,
}

tool!("drag", "Drag", "Drag one element onto another.", Act, Core, Args, run);

async fn run(call: &mut Call<'_>, args: Args) -> Result<Reply, ControlError> {
    let from = Box::new(call.resolve(args.from.0).await?);
    let to = Box::new(call.resolve(args.to.0).await?);
    call.act(Action::Drag { from, to }).await
}
