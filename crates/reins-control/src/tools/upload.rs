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
    /// default: what was clicked last
    #[serde(default)]
    r#ref: Option<RefArg>,
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
    let clicked = call.session.state().clicked;
    let Some(field) = args.r#ref.map(|r| r.0).or(clicked) else {
        return Err(ControlError::Arguments {
            tool: "upload",
            reason: "ref is missing, and nothing was clicked".into(),
            hint: "ref is the file field, or the button that asks for files".into(),
        });
    };
    let target = call.resolve(field).await?;
    call.act(Action::Upload { target, files }).await
}
