//! What a verb and the daemon say to each other: one JSON object a line, one connection a request.

use super::Setup;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The first line of a connection.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct Request {
    /// The version of the program that asks; only calls need it to be the daemon's own.
    pub(super) version: String,
    pub(super) ask: Ask,
}

#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Ask {
    /// One tool call.
    Call(Box<Call>),
    /// Which sessions there are.
    Sessions,
    /// End a session, or all of them.
    Close { session: Option<String> },
}

#[derive(Debug, Deserialize, Serialize)]
pub(super) struct Call {
    pub(super) session: String,
    pub(super) tool: String,
    pub(super) arguments: Map<String, Value>,
    pub(super) setup: Setup,
    /// Whether a person can be asked at the other end.
    pub(super) can_ask: bool,
}

/// Lines that the daemon sends.
#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Line {
    /// A card to put to the person; the call goes on with [`Answer`].
    Card { text: String, always: bool },
    /// The end of a call.
    Done(Done),
    /// What could not be done.
    Failed { code: String, message: String },
    /// The sessions there are.
    Sessions(Vec<About>),
    /// How many sessions were ended.
    Closed(usize),
}

/// An answered card.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Answer {
    Allow,
    Always,
    Skip,
    Stop,
}

/// What a tool answered.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct Done {
    pub(super) text: String,
    pub(super) failed: bool,
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub(super) structured: Map<String, Value>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) images: Vec<Image>,
}

#[derive(Debug, Deserialize, Serialize)]
pub(super) struct Image {
    pub(super) mime: String,
    pub(super) base64: String,
}

/// One session in a list.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct About {
    pub(super) session: String,
    /// The policy: `guarded`, or the app that it is pinned to.
    pub(super) policy: String,
    /// Whether a call is under way.
    pub(super) busy: bool,
    /// Seconds since the last call.
    pub(super) idle_s: u64,
}
