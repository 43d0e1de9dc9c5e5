//! The page that shows recordings, in a file of its own or as a frame of the dashboard.
//!
//! What a page wrote is shown in a frame without script, in a document whose policy lets one script run,
//! ours by its hash, and nothing load.

/// The script, from `web/src/replay/`.
const SCRIPT: &str = include_str!("../../../web/dist/replay.js");

/// Its hash.
const HASH: &str = include_str!("../../../web/dist/replay.sha256");

/// How it looks.
const STYLE: &str = include_str!("../../../web/dist/replay.css");

/// Nothing loads, nothing is sent, no form goes anywhere; pictures are those in the recording itself.
macro_rules! policy {
    () => {
        concat!(
            "default-src 'none'; base-uri 'none'; form-action 'none'; img-src data:; font-src data:; ",
            "media-src data:; style-src 'unsafe-inline'; script-src 'sha256-",
            include_str!("../../../web/dist/replay.sha256"),
            "'"
        )
    };
}

/// The policy of [`player_page`], to be sent as its `Content-Security-Policy` as well, with whatever says who may
/// show it in a frame.
pub const PLAYER_POLICY: &str = policy!();

/// Everything before the recording.
pub(crate) fn head(title: &str, body: &str) -> String {
    debug_assert_eq!(HASH.len(), 44, "the policy names a hash");
    format!(
        "<!doctype html>\n<html lang=en><meta charset=utf-8>\
         <meta http-equiv=Content-Security-Policy content=\"{PLAYER_POLICY}\">\
         <meta http-equiv=x-dns-prefetch-control content=off><meta name=referrer content=no-referrer>\
         <meta name=viewport content=\"width=device-width\"><title>{}</title><style>{STYLE}</style>{body}",
        escaped(title)
    )
}

/// The script, which comes after all it needs.
pub(crate) fn script() -> String {
    format!("<script>{SCRIPT}</script></html>\n")
}

/// A page that is shown in a frame and is told what to show: its parent posts `{type: "events", events}`,
/// `{type: "seek", at_ms}`, `{type: "play", speed}`, `{type: "pause"}` and `{type: "tab", tab}`; it posts
/// `{type: "ready"}`, `{type: "tabs", tabs, tab}`, `{type: "time", at_ms, tab}` and `{type: "end"}`.
///
/// Parent and frame must be of one origin: a frame that is sandboxed into an origin of its own cannot reach
/// into the script-less frame that shows the page.
pub fn player_page() -> String {
    let body = "<body class=frame><div id=stage></div>";
    format!("{}{}", head("Recording", body), script())
}

pub(crate) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
