//! What a run tells whoever watches it.

use crate::ids::{CorrectionId, Revision};
use crate::inbox::Waiting;
use crate::mode::Route;
use reins_core::TurnEvent;
use reins_models::{Cost, Usage};
use tokio::sync::mpsc;

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
    /// What kind of task the run may be, and how that came about (W-053).
    Mode(Route),
    /// The plan that the run goes by: agreed to, or not asked about (W-247).
    Plan(String),
    /// What the run has cost so far.
    Usage {
        /// The last request.
        last: Usage,
        /// All requests.
        total: Usage,
        /// All of them, if every price is known.
        cost: Option<Cost>,
    },
    /// The person's correction is part of the task from here on (W-073).
    Corrected {
        /// Which.
        correction: CorrectionId,
        /// How often the task was corrected now.
        revision: Revision,
        /// Their words.
        text: String,
    },
    /// The next request sends less of the conversation, so it begins differently than the last (W-701).
    Shortened(Shortening),
    /// The run is over and these messages of the person wait (W-076, W-078).
    Waiting(Vec<Waiting>),
}

/// How a conversation was shortened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shortening {
    /// Pages that newer looks replaced are left out.
    OldPages,
    /// Only the newest messages keep their pictures (W-703).
    Pictures,
    /// Older messages became a summary (W-701).
    Summary,
    /// The server refused the conversation; little more than the last messages is left (W-702).
    Emergency,
}

/// Sends events; nobody listening is no error.
#[derive(Clone, Copy)]
pub(crate) struct Watcher<'a>(pub(crate) &'a mpsc::Sender<AgentEvent>);

impl Watcher<'_> {
    pub(crate) async fn tell(&self, event: AgentEvent) {
        // The receiver may be gone; the run goes on all the same.
        let _ = self.0.send(event).await;
    }
}
