//! What can go wrong on the street before or beside an act. Each has a stable code, says what
//! happened and what to do next.

use reins_core::{Refusal, SessionId, TabId};
use thiserror::Error;

/// A typed failure of a tool call. An act's own end is an [`reins_core::Outcome`], not this.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ControlError {
    /// No tool has this name.
    #[error("there is no tool named '{0}'. Call tools/list for the names")]
    UnknownTool(String),
    /// The arguments do not fit the tool's schema.
    #[error("wrong arguments for {tool}: {reason}. {hint}")]
    Arguments {
        /// The tool.
        tool: &'static str,
        /// What does not fit.
        reason: String,
        /// The accepted arguments in one line.
        hint: String,
    },
    /// The owner holds no active turn.
    #[error("no turn is active, so nothing may act. Send a request first")]
    NoTurn,
    /// Another owner started a task in this session.
    #[error("another task took over this session. Send a new request to take it back")]
    TurnLost,
    /// The turn was stopped.
    #[error("the turn was stopped by the person. Nothing more is done until they ask again")]
    Stopped,
    /// The person's own input paused the turn.
    #[error(
        "the person is using this tab, so the turn is paused. Wait for them; don't repeat the step unless asked"
    )]
    Paused,
    /// The step cap is reached.
    #[error(
        "this turn has used its {0} tool calls. Say what was done and what is left; the person can send another message"
    )]
    StepCap(u32),
    /// The tab id names no open tab of this session.
    #[error("tab {0} is not open in this session. list_tabs shows the open ones")]
    NoSuchTab(TabId),
    /// The session has no tab yet.
    #[error("session '{0}' has no open page yet. Call navigate with an address first")]
    NoPage(SessionId),
    /// Nothing was done; the refusal says why.
    #[error("{}. {}", .0.message.trim_end_matches('.'), .0.next)]
    Refused(Refusal),
    /// The browser could not do it.
    #[error("{message}. {next}")]
    Browser {
        /// The browser room's own stable code.
        code: &'static str,
        /// What happened.
        message: String,
        /// What to do next.
        next: String,
    },
    /// The page's own data could not be read.
    #[error("the page could not be read: {0}. Call snapshot again, or reload the page")]
    Page(String),
    /// The durable record could not be written, so nothing was sent.
    #[error(
        "the act was not sent, because it could not be recorded first: {0}. Free disk space or set another --data-dir"
    )]
    Record(String),
    /// The site rules could not be read or kept.
    #[error(
        "the site rules could not be read or kept: {0}. Free disk space or set another --data-dir"
    )]
    Rules(String),
    /// The kept secrets could not be used.
    #[error("{0}")]
    Secrets(String),
    /// The text names no site.
    #[error("{0}")]
    Site(String),
    /// A file path is outside the allowed directories or does not exist.
    #[error("{0}")]
    Path(String),
    /// The page does not show what it should (S-033).
    #[error("not verified: {0}. Look with snapshot at what is there")]
    NotVerified(String),
    /// A paged result is gone.
    #[error("there is no stored result '{0}'. It may have been dropped; call the tool again")]
    NoSuchResult(String),
    /// The call was cancelled by the client before anything was sent.
    #[error("the call was cancelled before anything was sent")]
    Cancelled,
}

impl ControlError {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::UnknownTool(_) => "unknown_tool",
            Self::Arguments { .. } => "wrong_argument",
            Self::NoTurn => "no_turn",
            Self::TurnLost => "turn_lost",
            Self::Stopped => "stopped",
            Self::Paused => "paused",
            Self::StepCap(_) => "step_cap",
            Self::NoSuchTab(_) => "closed_tab",
            Self::NoPage(_) => "no_page",
            Self::Refused(refusal) => refusal.code,
            Self::Browser { code, .. } => code,
            Self::Page(_) => "unreadable_page",
            Self::Record(_) => "not_recorded",
            Self::Rules(_) => "rules_not_kept",
            Self::Secrets(_) => "secrets",
            Self::Site(_) => "bad_site",
            Self::Path(_) => "path_not_allowed",
            Self::NotVerified(_) => "not_verified",
            Self::NoSuchResult(_) => "no_such_result",
            Self::Cancelled => "cancelled",
        }
    }
}

impl From<Refusal> for ControlError {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}
