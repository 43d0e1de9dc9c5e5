//! `select_option`: options of a select or listbox, by label or value.

use crate::args::{OneOrMany, RefArg};
use crate::call::Call;
use crate::error::ControlError;
use crate::reply::Reply;
use crate::tool::tool;
use reins_core::{Action, TargetRecord};
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
    let options = args.options.into_vec();
    if let [only] = options.as_slice()
        && is_itself_the_option(&target, only)
    {
        return call.act(Action::Check { target, checked: true }).await;
    }
    call.act(Action::Select { target, options }).await
}

/// Whether the ref names the very radio button or box that the option is: models choose those too.
fn is_itself_the_option(target: &TargetRecord, option: &str) -> bool {
    matches!(target.role.as_str(), "radio" | "checkbox" | "switch" | "menuitemradio")
        && target.name.trim().to_lowercase() == option.trim().to_lowercase()
}
