//! Why a call of the model was not carried out, and what a caller of the agent may be told.

use crate::arguments::ArgumentError;
use thiserror::Error;

/// A call that never reached a tool. The message is for the model.
#[derive(Debug, Error, PartialEq, Eq)]
pub(crate) enum CallError {
    #[error("There is no tool \"{name}\". Tools: {tools}.")]
    NoSuchTool { name: String, tools: String },
    #[error("Not done: {0}")]
    Arguments(#[from] ArgumentError),
    #[error("Not done: the user already said no to exactly this step.")]
    Declined,
    #[error(
        "Not done: nobody knows yet whether the same step just happened. Look at the page first."
    )]
    LookFirst,
}

impl CallError {
    /// A stable code.
    pub(crate) fn code(&self) -> &'static str {
        match self {
            CallError::NoSuchTool { .. } => "no_such_tool",
            CallError::Arguments(_) => "bad_arguments",
            CallError::Declined => "declined",
            CallError::LookFirst => "look_first",
        }
    }
}

/// Why a run cannot be recorded or corrected.
#[derive(Debug, Error)]
pub enum AgentError {
    /// The journal could not be written.
    #[error(
        "what happens could not be recorded, so nothing more is done. Free some disk space, or check who may write to the data directory"
    )]
    NotRecorded(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// A correction named a run that is not the one going on (W-073).
    #[error("that run is over. Send it as a message of its own")]
    NotRunning,
    /// There is no such message in the queue.
    #[error("that message is not waiting any more. List what waits and choose again")]
    NotWaiting,
    /// More messages wait than anybody reads.
    #[error("{0} messages wait already. Delete one, or let the run take some in")]
    TooManyWaiting(usize),
}

impl AgentError {
    /// A stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NotRecorded(_) => "not_recorded",
            Self::NotRunning => "not_running",
            Self::NotWaiting => "not_waiting",
            Self::TooManyWaiting(_) => "too_many_waiting",
        }
    }
}
