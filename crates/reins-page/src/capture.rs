//! What the page script hands over for one frame.

use crate::error::PageError;
use crate::hidden::Reach;
use crate::tree::Tree;
use crate::wire::Records;
use reins_core::{DocumentId, DocumentOrigin, FrameId, NodeKey, NodeNumber};
use serde::Deserialize;
use serde::de::DeserializeSeed;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// The version of the wire format that this crate reads.
const VERSION: u64 = 1;

/// Which frame and document a capture is of: what the browser side knows and the page cannot say.
#[derive(Clone, Debug)]
pub struct FrameMeta {
    /// The frame.
    pub frame: FrameId,
    /// The document in it.
    pub document: DocumentId,
    /// The document's address as the browser reports it.
    pub url: String,
    /// Where the document comes from.
    pub origin: DocumentOrigin,
    /// The frame element in the parent's document; None for the main frame.
    pub owner: Option<NodeKey>,
}

/// How much a capture collects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaptureOptions {
    /// Bytes of text the snapshot may have; ignored with `full`.
    pub budget: usize,
    /// Everything, however long the page is.
    pub full: bool,
    /// Nodes published before: the capture says which of them are gone.
    pub known: Vec<NodeNumber>,
}

impl CaptureOptions {
    /// A capture for a snapshot of so many estimated tokens.
    pub fn bounded(tokens: usize) -> Self {
        // Snapshot lines have between three and four bytes in a token.
        Self { budget: tokens.saturating_mul(4), full: false, known: Vec::new() }
    }

    /// A capture of everything.
    pub fn full() -> Self {
        Self { budget: 0, full: true, known: Vec::new() }
    }

    /// The argument of the page script's `capture`.
    pub fn to_json(&self) -> String {
        let known: Vec<u32> = self.known.iter().map(|number| number.0).collect();
        serde_json::json!({ "budget": self.budget, "full": self.full, "known": known }).to_string()
    }
}

/// The viewport and the page in it, in CSS pixels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub struct View {
    pub width: i32,
    pub height: i32,
    pub scroll_x: i32,
    pub scroll_y: i32,
    pub page_width: i32,
    pub page_height: i32,
}

/// One frame's captured facts.
#[derive(Clone, Debug)]
pub struct FrameCapture {
    /// Which frame and document.
    pub meta: FrameMeta,
    /// The document's title. Page text.
    pub title: String,
    /// `loading`, `interactive` or `complete`.
    pub ready: String,
    /// Viewport and page.
    pub view: View,
    /// Elements that are in the document, as far as counted.
    pub total: u32,
    /// Elements that the capture went through.
    pub visited: u32,
    /// Whether something was left out for want of room.
    pub short: bool,
    pub(crate) tree: Tree,
    pub(crate) reach: Reach,
    pub(crate) focus: NodeNumber,
    pub(crate) gone: Vec<NodeNumber>,
    closed: Vec<NodeNumber>,
    internals: Vec<NodeNumber>,
    searchable: Option<u32>,
    listeners: bool,
}

impl FrameCapture {
    /// Elements that certainly host a shadow root which the script cannot see: their own children
    /// are not rendered. How to fetch these roots is told in [`crate::needs`].
    pub fn closed_hosts(&self) -> &[NodeNumber] {
        &self.closed
    }

    /// How many nodes the browser's search for `<` finds in this document if the script sees all of
    /// it; None for documents too big to count. See [`crate::needs`].
    pub fn searchable(&self) -> Option<u32> {
        self.searchable
    }

    /// Custom elements whose internals may give them a role or a label (see [`crate::needs`]).
    pub fn internals_wanted(&self) -> &[NodeNumber] {
        &self.internals
    }

    /// Whether the browser is to be asked which elements listen for clicks (see [`crate::needs`]).
    pub fn listeners_wanted(&self) -> bool {
        self.listeners
    }

    /// The element that has the focus, if any.
    pub fn focus(&self) -> Option<NodeNumber> {
        (self.focus.0 != 0).then_some(self.focus)
    }
}

#[derive(Deserialize)]
struct Wire<'a> {
    v: u64,
    #[serde(borrow, default)]
    title: Cow<'a, str>,
    #[serde(borrow, default)]
    ready: Cow<'a, str>,
    #[serde(default)]
    view: Vec<f64>,
    #[serde(default)]
    focus: u32,
    #[serde(default)]
    total: u32,
    #[serde(default)]
    visited: u32,
    #[serde(default)]
    short: bool,
    #[serde(default)]
    hosts: Vec<u32>,
    #[serde(default)]
    internals: Vec<u32>,
    #[serde(default)]
    nodes: i64,
    #[serde(default)]
    listeners: bool,
    #[serde(default)]
    gone: Vec<u32>,
    #[serde(default)]
    tags: Vec<String>,
    #[serde(borrow)]
    s: &'a RawValue,
}

/// Reads a record list.
pub(crate) fn parse_records(tags: Vec<String>, records: &RawValue) -> Result<Tree, PageError> {
    let mut json = serde_json::Deserializer::from_str(records.get());
    Records { tags }.deserialize(&mut json).map_err(PageError::Damaged)
}

/// Reads what the page script's `capture` returned.
///
/// # Errors
/// When the text is no capture of this version. Nothing a page can do leads there except breaking
/// its own renderer; arbitrary text never panics.
pub fn parse_capture(meta: FrameMeta, json: &str) -> Result<FrameCapture, PageError> {
    let wire: Wire<'_> = serde_json::from_str(json).map_err(PageError::Damaged)?;
    if wire.v != VERSION {
        return Err(PageError::Version(wire.v));
    }
    let tree = parse_records(wire.tags, wire.s)?;
    let side = |at: usize| pixels(wire.view.get(at).copied().unwrap_or(0.0));
    let view = View {
        width: side(0),
        height: side(1),
        scroll_x: side(2),
        scroll_y: side(3),
        page_width: side(4),
        page_height: side(5),
    };
    let leftmost = if side(6) == 1 { view.width.saturating_sub(view.page_width).min(0) } else { 0 };
    let numbers = |list: Vec<u32>| list.into_iter().map(NodeNumber).collect();
    Ok(FrameCapture {
        meta,
        title: wire.title.into_owned(),
        ready: wire.ready.into_owned(),
        view,
        total: wire.total,
        visited: wire.visited,
        short: wire.short,
        tree,
        reach: Reach { scroll_x: view.scroll_x, leftmost },
        focus: NodeNumber(wire.focus),
        gone: numbers(wire.gone),
        closed: numbers(wire.hosts),
        internals: numbers(wire.internals),
        searchable: u32::try_from(wire.nodes).ok(),
        listeners: wire.listeners,
    })
}

#[expect(clippy::cast_possible_truncation, reason = "float casts saturate, which is meant")]
fn pixels(value: f64) -> i32 {
    value.round() as i32
}
