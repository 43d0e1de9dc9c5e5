//! `emulate`: the tab as another device, another person or a slow network would have it.

use crate::call::Call;
use crate::error::ControlError;
use crate::reply::Reply;
use crate::tool::tool;
use reins_browser::{ColorScheme, Emulation, NetworkPreset, ScreenSize};
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// CSS pixels; with height
    #[serde(default)]
    width: Option<u32>,
    #[serde(default)]
    height: Option<u32>,
    /// device pixels to a CSS pixel
    #[serde(default)]
    scale: Option<f64>,
    /// a mobile browser's layout and touch
    #[serde(default)]
    mobile: Option<bool>,
    #[serde(default)]
    touch: Option<bool>,
    /// light or dark
    #[serde(default)]
    color_scheme: Option<Scheme>,
    #[serde(default)]
    reduced_motion: Option<bool>,
    #[serde(default)]
    user_agent: Option<String>,
    /// such as de-DE
    #[serde(default)]
    locale: Option<String>,
    /// such as Europe/Berlin
    #[serde(default)]
    timezone: Option<String>,
    /// online, offline, slow-3g, fast-3g or 4g
    #[serde(default)]
    network: Option<Network>,
    /// how many times slower
    #[serde(default)]
    cpu: Option<f64>,
    /// undo everything before the rest is set
    #[serde(default)]
    reset: bool,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Scheme {
    Light,
    Dark,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
enum Network {
    #[serde(rename = "online")]
    Online,
    #[serde(rename = "offline")]
    Offline,
    #[serde(rename = "slow-3g")]
    Slow3g,
    #[serde(rename = "fast-3g")]
    Fast3g,
    #[serde(rename = "4g")]
    Fast4g,
}

tool!(
    "emulate",
    "Emulate a device",
    "Show this tab as another device, locale or network would, until reset or closed. What is not given stays.",
    View,
    Inspect,
    Args,
    run
);

/// The sides of a screen that Chromium lays out without trouble.
const SIDE: std::ops::RangeInclusive<u32> = 50..=10_000;

/// Device pixels to a CSS pixel of devices that exist.
const SCALE: std::ops::RangeInclusive<f64> = 0.5..=5.0;

/// Beyond this our own reading of the page would miss its deadlines.
const CPU: std::ops::RangeInclusive<f64> = 1.0..=20.0;

/// No browser calls itself by a longer name.
const NAME_BYTES: usize = 512;

async fn run(call: &mut Call<'_>, args: Args) -> Result<Reply, ControlError> {
    let reset = args.reset;
    let change = change(args)?;
    if !reset && change == Emulation::default() {
        return Err(wrong("nothing is given", "Give what to change, or reset"));
    }
    call.emulate(change, reset).await
}

fn change(args: Args) -> Result<Emulation, ControlError> {
    let size = match (args.width, args.height) {
        (Some(width), Some(height)) if SIDE.contains(&width) && SIDE.contains(&height) => {
            Some(ScreenSize { width, height })
        }
        (None, None) => None,
        (Some(_), Some(_)) => {
            return Err(wrong("the size is out of range", "width and height are 50 to 10000"));
        }
        _ => return Err(wrong("one side is missing", "Give width and height together")),
    };
    if args.scale.is_some_and(|scale| !SCALE.contains(&scale)) {
        return Err(wrong("scale is out of range", "scale is 0.5 to 5"));
    }
    if args.cpu.is_some_and(|cpu| !CPU.contains(&cpu)) {
        return Err(wrong("cpu is out of range", "cpu is 1 (as fast as it is) to 20"));
    }
    for name in [&args.user_agent, &args.locale, &args.timezone].into_iter().flatten() {
        // It goes into a header.
        if name.len() > NAME_BYTES || name.chars().any(|c| !(' '..='~').contains(&c)) {
            return Err(wrong(
                "user_agent, locale or timezone is no plain short text",
                "They are printable ASCII of at most 512 bytes",
            ));
        }
    }
    Ok(Emulation {
        size,
        scale: args.scale,
        mobile: args.mobile,
        touch: args.touch.or(args.mobile),
        color_scheme: args.color_scheme.map(|scheme| match scheme {
            Scheme::Light => ColorScheme::Light,
            Scheme::Dark => ColorScheme::Dark,
        }),
        reduced_motion: args.reduced_motion,
        user_agent: args.user_agent,
        locale: args.locale,
        timezone: args.timezone,
        network: args.network.map(|network| match network {
            Network::Online => NetworkPreset::Online,
            Network::Offline => NetworkPreset::Offline,
            Network::Slow3g => NetworkPreset::Slow3g,
            Network::Fast3g => NetworkPreset::Fast3g,
            Network::Fast4g => NetworkPreset::Fast4g,
        }),
        cpu: args.cpu,
    })
}

fn wrong(reason: &str, hint: &str) -> ControlError {
    ControlError::Arguments { tool: "emulate", reason: reason.into(), hint: hint.into() }
}
