//! A page as it was read privately: all frames in one outline, not yet shown to any model.

use crate::capture::{FrameCapture, View};
use crate::line::{Element, Line};
use crate::outline::{Inputs, outline};
use reins_core::{DocumentId, FrameId, NodeKey, NodeNumber, TabId};
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

/// What is to be said of a frame that could not be captured like the others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrameNote {
    /// The frame element in the parent's document; None when it is about the whole page.
    pub owner: Option<NodeKey>,
    /// What happened.
    pub trouble: FrameTrouble,
}

/// Why a frame's content is missing or doubtful.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameTrouble {
    /// Its script is busy and did not answer in time.
    Busy,
    /// It has not begun to show a document.
    NotLoaded,
    /// It was still loading while it was read.
    Loading,
    /// Its document was replaced while it was read.
    Replaced,
    /// Its renderer crashed.
    Crashed,
    /// The browser gives no access to it.
    NotReadable,
}

impl FrameTrouble {
    /// The words shown to a model.
    pub fn words(self) -> &'static str {
        match self {
            FrameTrouble::Busy => "busy: its script did not answer in time, try again later",
            FrameTrouble::NotLoaded => "nothing loaded yet",
            FrameTrouble::Loading => "still loading",
            FrameTrouble::Replaced => "replaced while it was read, take another snapshot",
            FrameTrouble::Crashed => "crashed, reload the page",
            FrameTrouble::NotReadable => "cannot be read",
        }
    }
}

/// A page read for ourselves: it validates, it is never shown as it is.
#[derive(Clone, Debug)]
pub struct PrivateSnapshot {
    /// The tab.
    pub tab: TabId,
    /// The main document's address.
    pub url: String,
    /// The main document's title. Page text.
    pub title: String,
    pub(crate) frames: Vec<FrameCapture>,
    pub(crate) notes: Vec<FrameNote>,
    pub(crate) lines: Vec<Line>,
    pub(crate) elements: Vec<Element>,
    hash: u64,
}

/// Puts the captures of a tab's frames together.
///
/// The frames may come in any order. A frame whose frame element was not captured is left out and
/// counted as such, like everything else beyond the budget.
pub fn assemble(
    tab: TabId,
    url: String,
    title: String,
    mut frames: Vec<FrameCapture>,
    notes: Vec<FrameNote>,
) -> PrivateSnapshot {
    if let Some(main) = frames.iter().position(|frame| frame.meta.owner.is_none()) {
        frames.swap(0, main);
    }
    let places: HashMap<(FrameId, DocumentId), usize> = frames
        .iter()
        .enumerate()
        .map(|(at, frame)| ((frame.meta.frame.clone(), frame.meta.document.clone()), at))
        .collect();
    let place = |key: &NodeKey| {
        let at = places.get(&(key.frame.clone(), key.document.clone()))?;
        Some((*at, key.node))
    };
    let mut inside: HashMap<(usize, NodeNumber), usize> = HashMap::new();
    for (at, frame) in frames.iter().enumerate().skip(1) {
        if let Some(owner) = frame.meta.owner.as_ref().and_then(place) {
            inside.insert(owner, at);
        }
    }
    let mut said = HashMap::new();
    for note in &notes {
        if let Some(owner) = note.owner.as_ref().and_then(place) {
            said.insert(owner, note.trouble.words().to_owned());
        }
    }
    let made = outline(&Inputs { frames: &frames, inside: &inside, notes: &said });
    let mut hasher = DefaultHasher::new();
    url.hash(&mut hasher);
    for line in &made.lines {
        line.render(&|_| None).hash(&mut hasher);
    }
    let hash = hasher.finish();
    PrivateSnapshot {
        tab,
        url,
        title,
        frames,
        notes,
        lines: made.lines,
        elements: made.elements,
        hash,
    }
}

impl PrivateSnapshot {
    /// Changes when what the page says changes. No proof of anything.
    pub fn hash(&self) -> u64 {
        self.hash
    }

    /// The main frame's viewport.
    pub fn view(&self) -> View {
        self.frames.first().map(|frame| frame.view).unwrap_or_default()
    }

    /// The frames it was put together from; the main frame is the first.
    pub fn frames(&self) -> &[FrameCapture] {
        &self.frames
    }

    pub(crate) fn key(&self, element: &Element) -> Option<NodeKey> {
        let meta = &self.frames.get(element.frame)?.meta;
        Some(NodeKey {
            tab: self.tab.clone(),
            frame: meta.frame.clone(),
            document: meta.document.clone(),
            node: element.node,
        })
    }

    /// Elements that the documents have and the captures did not go through.
    pub(crate) fn unread(&self) -> u32 {
        self.frames
            .iter()
            .filter(|frame| frame.short)
            .map(|frame| frame.total.saturating_sub(frame.visited))
            .fold(0, u32::saturating_add)
    }
}
