//! What a turn tells whoever watches it (R-196…R-202). Every string in it is plain text.

use crate::ids::{StepId, TurnId};
use crate::outcome::Outcome;
use std::time::Duration;

/// Where a turn stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are the reference's own (R-198)")]
pub enum RunState {
    Working,
    Waiting,
    Paused,
    Stopped,
    Done,
    Error,
}

/// One thing that happened in a turn.
#[derive(Clone, Debug, PartialEq)]
pub enum TurnEvent {
    /// The turn changed its state.
    State {
        /// Which turn.
        turn: TurnId,
        /// The new state.
        state: RunState,
    },
    /// A tool call began.
    StepStarted {
        /// Which turn.
        turn: TurnId,
        /// Which step.
        step: StepId,
        /// The tool.
        tool: String,
        /// The arguments as sent, secrets redacted.
        arguments: String,
        /// Role and name of the element, if there is one.
        element: Option<String>,
    },
    /// A tool call ended.
    StepFinished(StepFinish),
    /// A question waits for the person.
    Asked {
        /// Which turn.
        turn: TurnId,
        /// What is asked, one line.
        title: String,
        /// Consequence and place, one line. Never typed text.
        detail: String,
        /// The kind of risk, such as `submit` or `purchase`.
        risk: String,
        /// The sites it is about.
        sites: Vec<String>,
        /// What the safety check said when it held the step.
        note: Option<String>,
    },
    /// The person's own input paused the turn.
    Paused {
        /// Which turn.
        turn: TurnId,
        /// What was seen.
        reason: String,
    },
    /// The turn goes on.
    Resumed {
        /// Which turn.
        turn: TurnId,
    },
    /// The turn is over.
    Summary(TurnSummary),
}

/// The end of one step.
#[derive(Clone, Debug, PartialEq)]
pub struct StepFinish {
    /// Which turn.
    pub turn: TurnId,
    /// Which step.
    pub step: StepId,
    /// How it ended; past tense is only for `Completed`.
    pub outcome: Outcome,
    /// Up to 2,000 bytes of result or error.
    pub result: String,
    /// How long it took.
    pub took: Duration,
    /// A short verdict of the guard, such as `allowed: named site`.
    pub verdict: String,
    /// Whether the person was asked and agreed.
    pub approved: Option<bool>,
}

/// Counts of a turn. If every action failed the turn is an error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub struct TurnSummary {
    pub steps: u32,
    pub confirmations: u32,
    pub failures: u32,
}
