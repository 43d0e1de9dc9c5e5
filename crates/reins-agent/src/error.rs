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
    #[error("Not done: {} already. Look at the page for what came of it before anything is sent.", sent(*.step))]
    Reconcile { step: u32 },
    #[error(
        "Not done: {} already, with the same values. If the task is done with it, answer. Only if the user asked for it more than once, make the call again.", sent(*.step)
    )]
    AlreadySent { step: u32 },
    #[error("Not done: the user said that this must not be deleted. Leave it and go on.")]
    ToldNotToDelete,
    #[error("Not done: exactly this was deleted already in this task. Look at the page.")]
    DeletedAlready,
    #[error(
        "Not done: the user said that it must not be sent. Leave it as it is and say so at the end."
    )]
    ToldNotToSend,
    #[error(
        "Not done: the user wants what was sent earlier to be deleted first. Delete that, then make the call again."
    )]
    DeleteFirst,
    #[error(
        "Not done: the user's correction does not say whether what was sent earlier stays. Send nothing more, and say in your answer what was sent and what is open."
    )]
    UnclearWhetherToDelete,
}

/// Which step sent it; 0 is one before a restart.
fn sent(step: u32) -> String {
    match step {
        0 => "this was sent before the restart".to_owned(),
        step => format!("step {step} sent this"),
    }
}

impl CallError {
    /// A stable code.
    pub(crate) fn code(&self) -> &'static str {
        match self {
            CallError::NoSuchTool { .. } => "no_such_tool",
            CallError::Arguments(_) => "bad_arguments",
            CallError::Declined => "declined",
            CallError::LookFirst => "look_first",
            CallError::Reconcile { .. } => "look_at_what_was_sent",
            CallError::AlreadySent { .. } => "already_sent",
            CallError::ToldNotToDelete => "told_not_to_delete",
            CallError::DeletedAlready => "deleted_already",
            CallError::ToldNotToSend => "told_not_to_send",
            CallError::DeleteFirst => "delete_first",
            CallError::UnclearWhetherToDelete => "unclear_whether_to_delete",
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
