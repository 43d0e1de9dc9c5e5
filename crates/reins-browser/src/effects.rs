//! What an act ended as, and what it visibly did.

use crate::tab_info::{Dialog, Download, TabInfo};
use reins_core::{HeldRequest, NodeKey, Outcome, TabId};

/// The end of an act.
#[derive(Clone, Debug)]
pub struct Acted {
    /// Refused, completed or unknown.
    pub outcome: Outcome,
    /// What was seen to happen meanwhile.
    pub effects: Effects,
}

/// What was seen between the act and the moment the page was quiet again.
#[derive(Clone, Debug, Default)]
pub struct Effects {
    /// How a navigation begun by the act stands.
    pub navigation: Option<Navigation>,
    /// Tabs that opened meanwhile, with their opener.
    pub opened: Vec<TabInfo>,
    /// The tab this act itself opened.
    pub opened_tab: Option<TabId>,
    /// The act closed its own tab.
    pub tab_closed: bool,
    /// The dialog that opened and waits for an answer.
    pub dialog: Option<Dialog>,
    /// Downloads that began meanwhile, as they stood at the end.
    pub downloads: Vec<Download>,
    /// The element that lies over the one that was meant.
    pub covering: Option<NodeKey>,
    /// What containment or the page's state did not allow, one line each.
    pub refused: Vec<String>,
    /// Requests that wait until the person agrees, at most a handful. Nothing of them was sent.
    pub held: Vec<HeldRequest>,
    /// What else the caller should know, one line each (left a page that asked to stay, …).
    pub notes: Vec<String>,
    /// The page changed (its DOM, its address, or a field's value) since the act.
    pub changed: bool,
    /// The page was quiet when this was returned; else the cap was reached.
    pub settled: bool,
}

/// How a navigation stands. `Started` never implies that loading is complete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Navigation {
    /// A new document.
    Document {
        /// Its address now, after redirects.
        url: String,
        /// Its load event was seen.
        loaded: bool,
    },
    /// The same document under another address (fragment, history API).
    SameDocument {
        /// The address now.
        url: String,
    },
    /// It became a download; the document is kept.
    Download,
    /// It began and no document has arrived yet: the server has not answered.
    Pending {
        /// The address asked for.
        url: String,
    },
    /// The browser could not load it.
    Failed {
        /// The address asked for.
        url: String,
        /// The browser's message, such as `net::ERR_NAME_NOT_RESOLVED`.
        message: String,
    },
}
