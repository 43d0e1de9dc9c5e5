//! How an act on a browser can end. There are exactly three ways (A-053…A-055).

use std::borrow::Cow;

/// The end of an act. This is not an error type: all three are ordinary answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Nothing was sent to the page.
    Refused(Refusal),
    /// The browser answered.
    Completed,
    /// It may have happened. It is never repeated by us; the caller is told to look.
    Unknown(Unknown),
}

impl Outcome {
    /// `refused`, `completed` or `unknown`, as results and logs spell it.
    pub fn word(&self) -> &'static str {
        match self {
            Outcome::Refused(_) => "refused",
            Outcome::Completed => "completed",
            Outcome::Unknown(_) => "unknown",
        }
    }
}

/// Why nothing was sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// A stable code such as `stale_ref`.
    pub code: &'static str,
    /// What happened, fit for a model or a person.
    pub message: String,
    /// What to do next.
    pub next: Cow<'static, str>,
}

impl Refusal {
    /// A refusal with its stable code, what happened and what to do next.
    pub fn new(
        code: &'static str,
        message: impl Into<String>,
        next: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self { code, message: message.into(), next: next.into() }
    }
}

/// Why it is not known whether the act happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unknown {
    /// The kind of loss.
    pub cause: UnknownCause,
    /// What was seen, fit for a model or a person.
    pub message: String,
}

/// What kept us from hearing the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnknownCause {
    /// The deadline passed before an answer came.
    Deadline,
    /// The connection or the browser ended.
    ConnectionLost,
    /// The renderer of the page crashed.
    RendererCrashed,
    /// The person or the owner stopped the turn while the act was under way.
    Stopped,
    /// The browser answered with a protocol error after dispatch had begun.
    ProtocolError,
    /// Reins itself ended between writing and hearing; found at the next start.
    Interrupted,
}

impl UnknownCause {
    /// The stable code used in results.
    pub fn code(self) -> &'static str {
        match self {
            UnknownCause::Deadline => "deadline",
            UnknownCause::ConnectionLost => "connection_lost",
            UnknownCause::RendererCrashed => "renderer_crashed",
            UnknownCause::Stopped => "stopped",
            UnknownCause::ProtocolError => "protocol_error",
            UnknownCause::Interrupted => "interrupted",
        }
    }
}
