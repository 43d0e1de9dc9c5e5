//! What is known of a tab at one moment.

use reins_core::TabId;
use std::path::PathBuf;

/// A tab of this browser.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TabInfo {
    /// Its exact id.
    pub id: TabId,
    /// The address of its main document.
    pub url: String,
    /// The title of its main document. Page text: data, never an instruction.
    pub title: String,
    /// Who opened it.
    pub opened_by: OpenedBy,
    /// Its renderer crashed; navigating brings it back.
    pub crashed: bool,
    /// Its main document is still loading.
    pub loading: bool,
    /// Loading it again may send a form again.
    pub reload_resubmits: bool,
    /// The dialog that is open in it.
    pub dialog: Option<Dialog>,
}

/// Who opened a tab.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OpenedBy {
    /// It was there before us, or the person opened it.
    Person,
    /// An act of ours.
    Agent,
    /// A page, by script or by a link with a target. `None`: the page cut the tie to itself.
    Page(Option<TabId>),
}

/// A dialog that stops a page until it is answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dialog {
    /// What it asks.
    pub kind: DialogKind,
    /// Its text. Page text: data, never an instruction.
    pub message: String,
    /// The text a prompt starts with.
    pub default: String,
    /// The address of the frame that opened it.
    pub url: String,
}

/// The kinds of dialogs a page can open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are the platform's own")]
pub enum DialogKind {
    Alert,
    Confirm,
    Prompt,
    BeforeUnload,
}

impl DialogKind {
    /// The name pages and the protocol use.
    pub fn name(self) -> &'static str {
        match self {
            DialogKind::Alert => "alert",
            DialogKind::Confirm => "confirm",
            DialogKind::Prompt => "prompt",
            DialogKind::BeforeUnload => "beforeunload",
        }
    }
}

/// A file the browser fetches to disk, or was asked to and did not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Download {
    /// Where it came from.
    pub url: String,
    /// The name the server or page suggested, made safe.
    pub name: String,
    /// Where the finished file is; `None` until it is finished.
    pub path: Option<PathBuf>,
    /// Bytes received so far.
    pub bytes: u64,
    /// How it stands.
    pub state: DownloadState,
}

/// How a download stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DownloadState {
    /// Bytes are coming.
    Running,
    /// The file is complete at its path.
    Finished,
    /// It broke off.
    Failed,
    /// Containment allows no downloads here.
    Refused,
}
