//! `type`: text into a field.

use crate::args::RefArg;
use crate::call::Call;
use crate::error::ControlError;
use crate::reply::Reply;
use crate::tool::tool;
use reins_core::{Action, Secret, SecretName, SecretNameError, TypeMode};
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    r#ref: RefArg,
    /// replaces what is there; empty clears
    #[serde(default)]
    text: Option<String>,
    /// instead of text: a kept secret's name
    #[serde(default)]
    secret: Option<String>,
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
    let (text, kept) = match (args.text, args.secret) {
        (Some(text), None) => (Secret::new(text), None),
        (None, Some(name)) => {
            let name: SecretName = name.parse().map_err(|error: SecretNameError| {
                wrong(error.to_string(), "secret is a name, never the secret itself")
            })?;
            (call.kept_secret(&name, &target).await?, Some(name))
        }
        (Some(_), Some(_)) => {
            return Err(wrong("text and secret are both given".into(), "give one of them"));
        }
        (None, None) => return Err(wrong("text is missing".into(), "text is what to type")),
    };
    let mode = if args.append { TypeMode::Append } else { TypeMode::Replace };
    call.act(Action::Type { target, text, kept, mode, keys: args.keys, enter: args.submit }).await
}

fn wrong(reason: String, hint: &str) -> ControlError {
    ControlError::Arguments { tool: "type", reason, hint: hint.to_owned() }
}
