//! `select_option`: options of a select or listbox, by label or value.

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
    /// labels or values
    options: OneOrMany,
}

tool!("select_option", "Select", "Choose options of a select.", Act, Core, Args, run);

async fn run(call: &mut Call<'_>, args: Args) -> Result<Reply, ControlError> {
    let target = call.resolve(args.r#ref.0).await?;
    call.act(Action::Select { target, options: args.options.into_vec() }).await
}
