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
