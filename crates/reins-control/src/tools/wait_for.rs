//! `wait_for`: until a text, an address, a download or a moment comes.

use crate::call::Call;
use crate::error::ControlError;
use crate::reply::Reply;
use crate::tool::tool;
use reins_browser::WaitFor;
use schemars::JsonSchema;
use serde::Deserialize;
use std::time::Duration;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// until it shows
    #[serde(default)]
    text: Option<String>,
    /// until it is gone
    #[serde(default)]
    gone: Option<String>,
    /// until the address contains it
    #[serde(default)]
    url: Option<String>,
    /// until a download ends
    #[serde(default)]
    download: bool,
    /// just wait, or the limit (default 10)
    #[serde(default)]
    seconds: Option<f64>,
}

/// Longer waits would pass the deadline of a call.
const LONGEST_WAIT: f64 = 25.0;

/// How long to wait for something if nothing is said.
const DEFAULT_WAIT: f64 = 10.0;

tool!(
    "wait_for",
    "Wait",
    "Wait until a text shows or is gone, an address is reached or a download ends.",
    Read,
    Core,
    Args,
    run
);

async fn run(call: &mut Call<'_>, args: Args) -> Result<Reply, ControlError> {
    let limit = args.seconds.unwrap_or(DEFAULT_WAIT);
    if !limit.is_finite() || !(0.0..=LONGEST_WAIT).contains(&limit) {
        return Err(ControlError::Arguments {
            tool: "wait_for",
            reason: format!("seconds is {limit}"),
            hint: format!("seconds is 0 to {LONGEST_WAIT}; call again to wait longer"),
        });
    }
    let limit = Duration::from_secs_f64(limit);
    let wanted = match (args.text, args.gone, args.url, args.download, args.seconds) {
        (Some(text), None, None, false, _) => WaitFor::Text(text),
        (None, Some(text), None, false, _) => WaitFor::TextGone(text),
        (None, None, Some(url), false, _) => WaitFor::Url(url),
        (None, None, None, true, _) => WaitFor::Download,
        (None, None, None, false, Some(_)) => WaitFor::Time,
        _ => {
            return Err(ControlError::Arguments {
                tool: "wait_for",
                reason: "it waits for exactly one thing".into(),
                hint: "Give one of text, gone, url, download, or only seconds".into(),
            });
        }
    };
    call.wait(wanted, limit).await
}
