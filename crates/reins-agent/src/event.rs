//! What a run tells whoever watches it.

use reins_core::TurnEvent;
use reins_models::{Cost, Usage};

/// One thing that happened in a run.
#[derive(Clone, Debug, PartialEq)]
pub enum AgentEvent {
    /// A step, a state, the summary.
    Turn(TurnEvent),
    /// More text of the model's answer. Plain text.
    Text(String),
    /// What was shown of the current answer is void and comes again.
    TextVoid,
    /// The model thinking aloud.
    Reasoning(String),
    /// A remark for the person, one sentence.
    Notice(String),
    /// What the run has cost so far.
    Usage {
        /// The last request.
        last: Usage,
        /// All requests.
        total: Usage,
        /// All of them, if every price is known.
        cost: Option<Cost>,
    },
}
