//! What a model's answer brings, in no provider's dialect.

use crate::message::Kept;
use crate::price::Cost;
use std::time::Duration;

/// One piece of an answer.
#[derive(Clone, Debug, PartialEq)]
pub enum ModelEvent {
    /// Text for the person.
    Text(String),
    /// The model thinking aloud. Not part of the answer.
    Reasoning(String),
    /// A piece of a tool call. Pieces belong together by `index`, in whatever order they come.
    Call {
        /// Which call of this answer.
        index: usize,
        /// Its id, in the first piece.
        id: Option<String>,
        /// The tool's name, in the first piece.
        name: Option<String>,
        /// The next characters of the arguments.
        arguments: String,
    },
    /// Something that the provider wants back with the conversation.
    Keep {
        /// The call of this answer that it belongs to; `None` if it belongs to the answer.
        index: Option<usize>,
        /// What.
        kept: Kept,
    },
    /// How likely the next pieces of the text were, if that was asked for and the server tells.
    Odds(Vec<Odds>),
    /// What the answer cost. Comes at most once, before `Stop`.
    Usage(Usage),
    /// The answer is complete. Always the last event; a stream that ends without it is an error.
    Stop(StopReason),
    /// Something to tell the person about how the answer comes about.
    Notice(Notice),
}

/// How likely a piece of the text was to the model.
#[derive(Clone, Debug, PartialEq)]
pub struct Odds {
    /// The piece, usually a token. Joined they are the text.
    pub text: String,
    /// The natural logarithm of its probability, at most 0.
    pub log: f64,
    /// What else was likely there, with its logarithm.
    pub others: Vec<(String, f64)>,
}

/// Something to tell the person about how the answer comes about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// The model or server refuses tools; the request was sent again without them, and tools are
    /// offered as text from now on.
    ToolsRejected {
        /// What the server said.
        said: String,
    },
    /// The model takes no pictures; the request was sent again without them (W-662).
    PicturesRejected {
        /// What the server said.
        said: String,
    },
    /// The request is sent again after a wait.
    Waiting {
        /// How long.
        wait: Duration,
        /// Why.
        reason: String,
    },
    /// The stream broke. Whatever this answer brought so far is void; it comes again as a whole.
    Restarted,
    /// What the person lets the run cost is used up: this answer is the last (W-328).
    AllowanceReached {
        /// How much that was.
        allowed: Cost,
    },
}

impl Notice {
    /// One sentence for the person.
    pub fn sentence(&self) -> String {
        match self {
            Notice::ToolsRejected { said } => {
                format!("this model takes no tools, so they are offered to it as text ({said})")
            }
            Notice::PicturesRejected { said } => {
                format!("this model takes no pictures, so it goes on without them ({said})")
            }
            Notice::Waiting { wait, reason } => {
                format!("{reason}; trying again in {:.1} s", wait.as_secs_f32())
            }
            Notice::AllowanceReached { allowed } => {
                format!("the allowance of {allowed} is used up; the model is not asked again")
            }
            Notice::Restarted => "the answer broke off and is fetched again".to_owned(),
        }
    }
}

/// Why an answer ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// The model was finished.
    End,
    /// It wants its calls carried out.
    Calls,
    /// It ran into the limit of tokens.
    Length,
    /// The provider withheld the answer.
    Filtered,
    /// A reason that only this provider gives.
    Other(String),
}

/// Tokens, as reported by the provider.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Everything that was read, cached or not.
    pub input: u64,
    /// Of that, read from the provider's cache.
    pub cached: u64,
    /// Of that, written to the provider's cache.
    pub cache_written: u64,
    /// Everything that was written, thinking included.
    pub output: u64,
}

impl std::ops::AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.input += other.input;
        self.cached += other.cached;
        self.cache_written += other.cache_written;
        self.output += other.output;
    }
}
