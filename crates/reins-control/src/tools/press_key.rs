//! `press_key`: any key or chord.

use crate::args::RefArg;
use crate::call::Call;
use crate::error::ControlError;
use crate::reply::Reply;
use crate::tool::tool;
use reins_core::{Action, KeyChord};
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// as Enter, Escape, Control+A
    key: String,
    /// element to focus first
    #[serde(default)]
    r#ref: Option<RefArg>,
}

tool!("press_key", "Press a key", "Press a key or chord.", Act, Core, Args, run);

async fn run(call: &mut Call<'_>, args: Args) -> Result<Reply, ControlError> {
    let chord: KeyChord =
        args.key.parse().map_err(|error: reins_core::KeyError| ControlError::Arguments {
            tool: "press_key",
            reason: error.to_string(),
            hint: String::new(),
        })?;
    let tab = call.tab()?;
    let target = match args.r#ref {
        Some(r) => Some(call.resolve(r.0).await?),
        None => call.focused(&tab).await?,
    };
    call.act(Action::Press { tab, target, chord }).await
}
