//! Limits of the loop, each with its reason.

use std::time::Duration;

pub use reins_core::limits::CALLS_PER_TURN;

/// How long a tool may take to answer after the person stopped the run. Its truthful answer is worth
/// a short wait; afterwards the step counts as unknown.
pub const STOP_GRACE: Duration = Duration::from_secs(2);

/// The newest messages that keep their pictures (W-703): older ones show pages that are gone.
pub const PICTURES_KEPT: usize = 4;

/// Text of a result that is not page content (W-704).
pub const RESULT_CHARS: usize = 8_000;

/// Calls that the repetition detector looks back on (W-680).
pub const WINDOW: usize = 6;

/// Equal calls with equal results within the window that count as a repetition (W-680).
pub const REPEATS: usize = 3;

/// Reminders after which a repetition ends the run (W-680).
pub const REMINDERS: u32 = 8;

/// Healthy calls in a row after which reminders are forgotten (W-680).
pub const HEALTHY: u32 = 2;

/// Empty answers in a row after which the run has failed.
pub const EMPTY_ANSWERS: u32 = 2;

/// The longest list of steps, in tokens: twelve short lines.
pub const LIST_TOKENS: u32 = 300;

/// How sure a model has to be of a choice that lets something happen (W-481).
pub const PERMIT_CONFIDENCE: f64 = 0.85;

/// How sure a model has to be of any other choice (W-481).
pub const PLAIN_CONFIDENCE: f64 = 0.7;

/// Questions in one request to a decision model, which is small (W-492).
pub const DECISION_BATCH: usize = 16;

/// Questions in one request to the run's own model (W-492).
pub const ACTIVE_BATCH: usize = 64;

/// How long a model on this machine may take for one request of closed questions: a small processor
/// reads 50 tokens a second, and something else may be running.
pub const LOCAL_ANSWER: Duration = Duration::from_secs(60);

/// How long any other model may take for it. A person waits meanwhile, and no answer is harmless.
pub const REMOTE_ANSWER: Duration = Duration::from_secs(10);

/// The person's words as a closed question shows them (W-235).
pub const WORDS_BYTES: usize = 6_000;

/// The task before this one as a closed question shows it (W-235).
pub const EARLIER_BYTES: usize = 600;

/// What pages and results said, as a closed question shows it (W-235).
pub const SEEN_BYTES: usize = 12_000;
