//! What a browser reports by itself.

use crate::tab_info::{Dialog, Download};
use reins_core::TabId;

/// Something that happened in a browser.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BrowserEvent {
    /// A tab opened.
    TabOpened {
        /// Which one.
        tab: TabId,
        /// The tab whose page opened it, where that is known.
        opener: Option<TabId>,
    },
    /// A tab closed.
    TabClosed {
        /// Which one.
        tab: TabId,
    },
    /// The renderer of a tab crashed.
    TabCrashed {
        /// Which one.
        tab: TabId,
    },
    /// A dialog opened.
    DialogOpened {
        /// Where.
        tab: TabId,
        /// What it asks.
        dialog: Dialog,
    },
    /// A dialog was answered, by whomever.
    DialogClosed {
        /// Where.
        tab: TabId,
    },
    /// A download began, went on or ended.
    Download {
        /// The tab whose page began it, where that is known.
        tab: Option<TabId>,
        /// How it stands.
        download: Download,
    },
    /// Trusted input that nobody announced: the person acts in this tab.
    PersonInput {
        /// Where.
        tab: TabId,
        /// The kind of event seen, such as `mousedown`.
        kind: String,
    },
    /// A page asked for files. No file chooser opens; the page waits for them.
    FilesWanted {
        /// Where.
        tab: TabId,
        /// Whether it takes more than one.
        several: bool,
    },
    /// The browser is gone. Nothing more will come.
    Gone {
        /// What was seen.
        reason: String,
    },
}
