//! Why a call of the model was not carried out.

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
