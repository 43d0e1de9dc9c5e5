//! `network_requests`: what the page loaded and sent, and one request in full.

use crate::call::Call;
use crate::error::ControlError;
use crate::inspect::Filter;
use crate::reply::Reply;
use crate::tool::tool;
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// this one in full: headers and body
    #[serde(default)]
    number: Option<u32>,
    /// only these: document, fetch, script, stylesheet, image, font, media, websocket, other
    #[serde(default)]
    r#type: Option<String>,
    /// only failed, refused and error answers
    #[serde(default)]
    failed: bool,
    /// only addresses that contain it
    #[serde(default)]
    text: Option<String>,
    /// false leaves out images, fonts, scripts and styles that loaded
    #[serde(default)]
    assets: Option<bool>,
}

tool!(
    "network_requests",
    "Network requests",
    "List the page's requests since it began, those that were refused included, newest last; or one in full by its number.",
    Read,
    Inspect,
    Args,
    run
);

async fn run(call: &mut Call<'_>, args: Args) -> Result<Reply, ControlError> {
    let Args { number, r#type, failed, text, assets } = args;
    let no_assets = assets == Some(false);
    match number {
        None => call.network(&Filter { kind: r#type, failed, text, no_assets }).await,
        Some(number) if r#type.is_none() && !failed && text.is_none() && !no_assets => {
            call.network_request(number).await
        }
        Some(_) => Err(ControlError::Arguments {
            tool: "network_requests",
            reason: "number is given with a filter".into(),
            hint: "Give number alone, or type, failed, text and assets".into(),
        }),
    }
}
