//! What can go wrong when a browser is read or asked, with a stable code for each case.

use crate::start_error::StartError;
use reins_cdp::CallError;
use reins_core::TabId;
use std::borrow::Cow;
use std::time::Duration;
use thiserror::Error;

/// Why a question to the browser has no answer. An act never ends like this: it ends as an
/// [`Outcome`](reins_core::Outcome).
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum BrowserError {
    /// The browser process or the connection to it is gone.
    #[error("the browser is gone ({reason}); a new one is started by the next navigate")]
    Gone {
        /// What was seen.
        reason: String,
    },
    /// The tab was closed, or never existed in this run of the browser.
    #[error("tab {0} is closed; list the tabs and choose one that is open")]
    NoTab(TabId),
    /// The renderer of the tab crashed. Navigating brings it back.
    #[error("the page in this tab crashed; navigate or reload to recover it")]
    Crashed,
    /// The document or the node a ref names is no longer there.
    #[error("the element is gone ({what}); take a new snapshot and use its refs")]
    StaleRef {
        /// What is gone: the document, the frame, or the element.
        what: Cow<'static, str>,
    },
    /// A dialog is open and stops the page's script.
    #[error("a dialog is open ({message:?}); answer it first")]
    DialogOpen {
        /// The dialog's text, as the page wrote it. Data, never an instruction.
        message: String,
    },
    /// A step of the agent is under way in the tab, so the person's input is not mixed into it.
    #[error("the agent is in the middle of a step in this tab; try again in a moment")]
    AgentActs,
    /// The page's main thread did not answer in time.
    #[error("the page is busy: its script did not answer within {} ms; try again later, or navigate elsewhere", .0.as_millis())]
    Busy(Duration),
    /// The page refused or could not do what was asked.
    #[error("{what}")]
    Page {
        /// What happened and what to do next.
        what: String,
    },
    /// A condition that was waited for did not come true in time.
    #[error("waited {} ms for {what} and did not see it", .after.as_millis())]
    NotSeen {
        /// What was waited for.
        what: String,
        /// How long.
        after: Duration,
    },
    /// Nothing is kept of what pages log and load.
    #[error(
        "what pages log and load is not kept here; the person can start Reins with --tools core,inspect"
    )]
    NotKept,
    /// The browser is recorded already.
    #[error("this browser is recorded already; end that recording first")]
    Recorded,
    /// A picture or a document does not fit the bounds even at the lowest quality.
    #[error(
        "the picture is larger than {limit} bytes even at the lowest quality; take a picture of one element instead"
    )]
    PictureTooLarge {
        /// The bound in bytes.
        limit: usize,
    },
    /// What the page script answered could not be read.
    #[error("the page's facts could not be read; take a new snapshot")]
    Facts(#[source] reins_page::PageError),
    /// The browser could not be started or attached to.
    #[error("{}; {}", .0, .0.remedy())]
    Start(#[from] StartError),
    /// The wire to the browser.
    #[error("the browser did not answer {what}: {source}")]
    Wire {
        /// Which question.
        what: &'static str,
        /// What the wire says.
        #[source]
        source: CallError,
    },
    /// A sign-in to be set is none, or not of this app.
    #[error(
        "the saved sign-in cannot be used: {what}; save it again from a browser that is signed in"
    )]
    SignIn {
        /// What is wrong with it. Holds no value of it.
        what: String,
    },
    /// A file could not be written or moved.
    #[error("{what}: {source}")]
    File {
        /// What was tried.
        what: String,
        /// What the system says.
        #[source]
        source: std::io::Error,
    },
}

impl BrowserError {
    /// The stable code used in results.
    pub fn code(&self) -> &'static str {
        match self {
            BrowserError::Gone { .. } => "browser_gone",
            BrowserError::NoTab(_) => "no_tab",
            BrowserError::Crashed => "page_crashed",
            BrowserError::StaleRef { .. } => "stale_ref",
            BrowserError::DialogOpen { .. } => "dialog_open",
            BrowserError::AgentActs => "agent_acts",
            BrowserError::Busy(_) => "page_busy",
            BrowserError::Page { .. } => "page",
            BrowserError::NotSeen { .. } => "not_seen",
            BrowserError::NotKept => "not_kept",
            BrowserError::Recorded => "recorded",
            BrowserError::PictureTooLarge { .. } => "picture_too_large",
            BrowserError::Facts(_) => "page_facts",
            BrowserError::Start(error) => error.code(),
            BrowserError::Wire { .. } => "wire",
            BrowserError::SignIn { .. } => "sign_in",
            BrowserError::File { .. } => "file",
        }
    }
}
