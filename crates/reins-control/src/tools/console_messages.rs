//! `console_messages`: what the page's documents and workers logged.

use crate::call::Call;
use crate::error::ControlError;
use crate::reply::Reply;
use crate::tool::tool;
use reins_browser::ConsoleLevel;
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// error, warning, info (default) or debug: this one and worse
    #[serde(default)]
    level: Option<Level>,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Level {
    Error,
    Warning,
    Info,
    Debug,
}

tool!(
    "console_messages",
    "Console messages",
    "List what the page logged since it began, uncaught errors included, in all frames and workers, newest last.",
    Read,
    Inspect,
    Args,
    run
);

async fn run(call: &mut Call<'_>, args: Args) -> Result<Reply, ControlError> {
    let level = match args.level.unwrap_or(Level::Info) {
        Level::Error => ConsoleLevel::Error,
        Level::Warning => ConsoleLevel::Warning,
        Level::Info => ConsoleLevel::Info,
        Level::Debug => ConsoleLevel::Debug,
    };
    call.console(level).await
}
