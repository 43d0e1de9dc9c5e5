//! `handle_dialog`: answer an alert, confirm, prompt or beforeunload dialog.

use crate::call::Call;
use crate::error::ControlError;
use crate::reply::Reply;
use crate::tool::tool;
use reins_core::{Action, Secret};
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    accept: bool,
    /// for a prompt
    #[serde(default)]
    text: Option<String>,
}

tool!(
    "handle_dialog",
    "Answer a dialog",
    "Accept or dismiss the open alert, confirm or prompt.",
    Act,
    Core,
    Args,
    run
);

async fn run(call: &mut Call<'_>, args: Args) -> Result<Reply, ControlError> {
    let tab = call.tab()?;
    let text = args.text.map(Secret::new);
    call.act(Action::AnswerDialog { tab, accept: args.accept, text }).await
}
