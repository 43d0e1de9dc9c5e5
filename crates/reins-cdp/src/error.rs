//! How a call can fail. `NotSent` and `Lost` are different types, because what the caller may
//! do next differs: the first may be tried again, the second must be looked at.

use std::time::Duration;

/// Why a connection ended.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CloseReason {
    /// The browser closed its end: it quit, crashed or was killed.
    #[error("the browser closed the connection")]
    Ended,
    /// Reading or writing failed.
    #[error("the connection to the browser failed: {0}")]
    Failed(String),
    /// We closed it.
    #[error("the connection to the browser was closed")]
    Closed,
}

impl CloseReason {
    /// A stable code.
    pub fn code(&self) -> &'static str {
        match self {
            CloseReason::Ended => "browser_gone",
            CloseReason::Failed(_) => "connection_failed",
            CloseReason::Closed => "connection_closed",
        }
    }
}

/// Why a connection could not be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// The handshake was refused or failed.
    #[error("the browser at {url} did not accept the connection; check that it is running")]
    Handshake {
        /// The address that was tried.
        url: String,
        /// What the transport said.
        #[source]
        source: Box<tokio_tungstenite::tungstenite::Error>,
    },
    /// The deadline passed first.
    #[error("the browser at {url} did not answer within {deadline:?}; check that it is running")]
    Deadline {
        /// The address that was tried.
        url: String,
        /// How long we waited.
        deadline: Duration,
    },
}

impl ConnectError {
    /// A stable code.
    pub fn code(&self) -> &'static str {
        match self {
            ConnectError::Handshake { .. } => "connect_refused",
            ConnectError::Deadline { .. } => "connect_deadline",
        }
    }
}

/// The command provably never reached the page: it may be sent again.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{method} was not sent: {cause}")]
pub struct NotSent {
    /// The protocol method.
    pub method: &'static str,
    /// Why.
    pub cause: NotSentCause,
}

/// Why a command was not sent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotSentCause {
    /// The deadline passed while the command still waited to be written.
    #[error("the deadline passed while it waited to be written")]
    Deadline,
    /// The connection was closed already, or closed while the command waited.
    #[error("{0}")]
    Closed(CloseReason),
    /// The session is not attached: its tab, frame or worker is gone.
    #[error("its target is gone")]
    SessionGone,
    /// The caller withdrew it while it waited.
    #[error("it was withdrawn")]
    Withdrawn,
    /// Too much waits to be written: the browser does not read.
    #[error("the browser does not read its commands")]
    QueueFull,
    /// The parameters could not be written as JSON.
    #[error("its parameters could not be encoded: {0}")]
    Encode(String),
}

/// The command was written and its answer was not heard: it may have happened.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{method} was sent, but its answer was lost: {cause}")]
pub struct Lost {
    /// The protocol method.
    pub method: &'static str,
    /// Why.
    pub cause: LostCause,
}

/// Why an answer was lost.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LostCause {
    /// The deadline passed.
    #[error("the deadline passed")]
    Deadline,
    /// The connection ended.
    #[error("{0}")]
    Closed(CloseReason),
    /// The session was detached: its tab, frame or worker went away.
    #[error("its target went away")]
    SessionGone,
    /// The renderer of the target crashed.
    #[error("the page crashed")]
    Crashed,
    /// The caller stopped waiting.
    #[error("the wait was stopped")]
    Withdrawn,
}

/// How a call failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    /// Nothing reached the page.
    #[error(transparent)]
    NotSent(#[from] NotSent),
    /// It was written; whether it happened is unknown.
    #[error(transparent)]
    Lost(#[from] Lost),
    /// The browser answered with an error.
    #[error("the browser refused {method}: {message} ({code})")]
    Answered {
        /// The protocol method.
        method: &'static str,
        /// The protocol's error code.
        code: i64,
        /// The browser's words.
        message: String,
    },
    /// The browser answered, but not in the expected form.
    #[error("the browser's answer to {method} could not be read: {detail}")]
    Malformed {
        /// The protocol method.
        method: &'static str,
        /// What did not fit. Holds no page content.
        detail: String,
    },
}

impl CallError {
    /// A stable code.
    pub fn code(&self) -> &'static str {
        match self {
            CallError::NotSent(e) => match e.cause {
                NotSentCause::Deadline => "not_sent_deadline",
                NotSentCause::Closed(_) => "not_sent_closed",
                NotSentCause::SessionGone => "not_sent_target_gone",
                NotSentCause::Withdrawn => "not_sent_withdrawn",
                NotSentCause::QueueFull => "not_sent_queue_full",
                NotSentCause::Encode(_) => "not_sent_encode",
            },
            CallError::Lost(e) => match e.cause {
                LostCause::Deadline => "lost_deadline",
                LostCause::Closed(_) => "lost_closed",
                LostCause::SessionGone => "lost_target_gone",
                LostCause::Crashed => "lost_crashed",
                LostCause::Withdrawn => "lost_withdrawn",
            },
            CallError::Answered { .. } => "protocol_error",
            CallError::Malformed { .. } => "malformed_answer",
        }
    }

    /// The protocol method that failed.
    pub fn method(&self) -> &'static str {
        match self {
            CallError::NotSent(e) => e.method,
            CallError::Lost(e) => e.method,
            CallError::Answered { method, .. } | CallError::Malformed { method, .. } => method,
        }
    }

    /// Whether the target or the whole browser is gone, so that trying again there is useless.
    pub fn is_gone(&self) -> bool {
        match self {
            CallError::NotSent(e) => {
                matches!(e.cause, NotSentCause::Closed(_) | NotSentCause::SessionGone)
            }
            CallError::Lost(e) => matches!(e.cause, LostCause::Closed(_) | LostCause::SessionGone),
            _ => false,
        }
    }
}
