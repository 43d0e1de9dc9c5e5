//! `type`: text into a field.

use crate::args::RefArg;
use crate::call::Call;
use crate::error::ControlError;
use crate::reply::Reply;
use crate::tool::tool;
use reins_core::{Action, Secret, TypeMode};
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    r#ref: RefArg,
    /// replaces what is there; empty clears
    text: String,
    #[serde(default)]
    append: bool,
    /// press Enter after
    #[serde(default)]
    submit: bool,
    /// key by key
    #[serde(default)]
    keys: bool,
}

tool!("type", "Type", "Type text into a field.", Act, Core, Args, run);

async fn run(call: &mut Call<'_>, args: Args) -> Result<Reply, ControlError> {
    let target = call.resolve(args.r#ref.0).await?;
    let mode = if args.append { TypeMode::Append } else { TypeMode::Replace };
    call.act(Action::Type {
        target,
        text: Secret::new(args.text),
        mode,
        keys: args.keys,
        enter: args.submit,
    })
    .await
}
