//! What is recorded.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use reins_core::{FrameId, TabId};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::borrow::Cow;

/// The place of an event in its recording, from 1 on and without gaps.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
pub struct Seq(pub u64);

/// Something to be kept.
#[derive(Clone, Debug)]
pub struct Event {
    /// Milliseconds since 1970.
    pub at_ms: u64,
    /// In which tab.
    pub tab: TabId,
    /// What.
    pub kind: Kind,
}

/// What happened.
#[derive(Clone, Debug)]
pub enum Kind {
    /// An rrweb event of one frame, masked (S-101, S-102).
    Rrweb {
        /// The frame; the main frame has the id of its tab.
        frame: FrameId,
        /// The document, whose own numbers its nodes have.
        document: String,
        /// The event as JSON.
        data: Box<RawValue>,
    },
    /// Which element of another document a document is shown in; for events before and after it.
    Placed {
        /// The document.
        document: String,
        /// The document around it.
        within: String,
        /// The element, as the events of the document around it number it.
        node: i64,
    },
    /// An error or a warning of a console (S-103).
    Console {
        /// An error; a warning otherwise.
        error: bool,
        /// What it says.
        text: String,
    },
    /// A mark in time (S-104).
    Marker(Marker),
    /// What an agent did.
    Action(Action),
    /// A person took over or handed back (S-105).
    Takeover(Takeover),
    /// A picture.
    Frame {
        /// As JPEG.
        jpeg: Vec<u8>,
    },
}

/// A mark in time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum Marker {
    /// A tab opened.
    PageOpened {
        /// Without query and fragment.
        url: String,
    },
    /// A tab shows something else.
    PageNavigated {
        /// Without query and fragment.
        url: String,
    },
    /// A tab closed.
    PageClosed {
        /// Without query and fragment.
        url: String,
    },
    /// Something is missing here.
    Gap {
        /// What.
        text: String,
    },
    /// The recording ends here although its session goes on.
    CutShort {
        /// Why.
        text: String,
    },
}

/// One call of a tool. Its arguments are masked by [`crate::masked_arguments`].
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Action {
    /// Which call of the session.
    pub id: String,
    /// The tool.
    pub tool: String,
    /// What it does, in words.
    pub label: String,
    /// `running`, `completed`, `refused`, `unknown` or `error`.
    pub outcome: String,
    /// Its arguments.
    pub arguments: serde_json::Value,
    /// How long it took.
    pub ms: Option<u64>,
    /// What went wrong.
    pub error: Option<String>,
}

/// A takeover.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum Takeover {
    /// A person drives from now on.
    TakeoverStarted {
        /// Who.
        who: String,
    },
    /// Nobody but the agent drives any more.
    TakeoverEnded {
        /// Who drove.
        who: String,
        /// Why it ended: `handed_back`, `disconnected`, …
        why: String,
    },
}

/// Which kind an event is of, as it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KindName {
    /// See [`Kind::Rrweb`]: `{frame, document, event}`.
    Rrweb,
    /// See [`Kind::Placed`]: `{document, within, node}`.
    Placed,
    /// See [`Kind::Console`]: `{level, text}`.
    Console,
    /// See [`Kind::Marker`]: `{what, url}` or `{what, text}`.
    Marker,
    /// See [`Kind::Action`].
    Action,
    /// See [`Kind::Takeover`]: `{what, source: "human", who, why}`.
    Takeover,
    /// See [`Kind::Frame`]: `{jpeg}` in base64.
    Frame,
}

/// An event as it is kept and handed out.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct StoredEvent {
    /// Its place.
    pub seq: Seq,
    /// Milliseconds since 1970.
    pub at_ms: u64,
    /// In which tab.
    pub tab: String,
    /// What `data` is.
    pub kind: KindName,
    /// What happened.
    pub data: Box<RawValue>,
}

#[derive(Serialize)]
struct Rrweb<'a> {
    frame: &'a str,
    document: &'a str,
    event: &'a RawValue,
}

#[derive(Serialize)]
struct Placed<'a> {
    document: &'a str,
    within: &'a str,
    node: i64,
}

#[derive(Serialize)]
struct Console<'a> {
    level: &'static str,
    text: &'a str,
}

#[derive(Serialize)]
struct Person<'a> {
    #[serde(flatten)]
    takeover: &'a Takeover,
    source: &'static str,
}

#[derive(Serialize, Deserialize)]
pub(crate) struct Jpeg<'a> {
    #[serde(borrow)]
    pub(crate) jpeg: Cow<'a, str>,
}

impl Event {
    /// One line, as it is written.
    pub(crate) fn line(&self, seq: Seq) -> serde_json::Result<String> {
        let raw = serde_json::value::to_raw_value::<serde_json::Value>;
        let (kind, data) = match &self.kind {
            Kind::Rrweb { frame, document, data } => {
                let data = Rrweb { frame: frame.as_str(), document, event: data };
                (KindName::Rrweb, serde_json::value::to_raw_value(&data)?)
            }
            Kind::Placed { document, within, node } => {
                let data = Placed { document, within, node: *node };
                (KindName::Placed, serde_json::value::to_raw_value(&data)?)
            }
            Kind::Console { error, text } => {
                let data = Console { level: if *error { "error" } else { "warning" }, text };
                (KindName::Console, serde_json::value::to_raw_value(&data)?)
            }
            Kind::Marker(marker) => (KindName::Marker, raw(&serde_json::to_value(marker)?)?),
            Kind::Action(action) => (KindName::Action, raw(&serde_json::to_value(action)?)?),
            Kind::Takeover(takeover) => {
                let data = Person { takeover, source: "human" };
                (KindName::Takeover, raw(&serde_json::to_value(data)?)?)
            }
            Kind::Frame { jpeg } => {
                let data = Jpeg { jpeg: STANDARD.encode(jpeg).into() };
                (KindName::Frame, serde_json::value::to_raw_value(&data)?)
            }
        };
        let tab = self.tab.as_str().to_owned();
        serde_json::to_string(&StoredEvent { seq, at_ms: self.at_ms, tab, kind, data })
    }
}
