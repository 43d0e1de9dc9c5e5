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
/// Messages that may wait for their run: more than anybody writes in one sitting.
pub const WAITING: usize = 64;

/// The same form with the same values within this time is most likely sent by mistake (W-X02).
pub const DUPLICATE_WINDOW: Duration = Duration::from_secs(45);

/// Clicks closer than this are about the same spot (W-681).
pub const SPOT_PIXELS: f64 = 5.0;

/// Clicks about one spot at which the model is told, and at which the run ends (W-681).
pub const SPOT_REMIND: u32 = 5;
/// See [`SPOT_REMIND`].
pub const SPOT_STOP: u32 = 8;

/// Ways between pages that are looked back on: room for a round of eight pages and back.
pub const TRIPS: usize = 16;

/// Equal ways among those at which the model is told, and at which the run ends (W-682).
pub const ROUNDS_REMIND: usize = 3;
/// See [`ROUNDS_REMIND`].
pub const ROUNDS_STOP: usize = 6;

/// The window of a model on this machine, in tokens, if nobody says otherwise (W-700).
pub const WINDOW_LOCAL: u64 = 16_384;

/// The window of any other model, in tokens, if nobody says otherwise (W-700).
pub const WINDOW_CLOUD: u64 = 128_000;

/// The share of the window at which the conversation is shortened, in percent (W-700): the rest is for
/// the next page and the answer.
pub const WINDOW_FULL: u64 = 75;

/// The share of the window that a shortened conversation may take, in percent. The gap to
/// [`WINDOW_FULL`] is what is won: without one every step would shorten it again.
pub const WINDOW_SHORTENED: u64 = 50;

/// Messages after which a conversation is shortened whatever it weighs (W-700).
pub const MESSAGES: usize = 50;

/// Bytes of text after which a conversation is shortened (W-700).
pub const CONVERSATION_BYTES: usize = 80_000;

/// The newest messages that stay as they are when the older ones are summed up (W-701).
pub const KEPT_VERBATIM: usize = 30;

/// The newest messages that stay when a server refuses the conversation as too long (W-702).
pub const KEPT_IN_NEED: usize = 6;

/// Lines of a summary: what was done longer ago is told by a number.
pub const SUMMARY_LINES: usize = 40;

/// Earlier tasks in a summary: what a conversation was about.
pub const SUMMARY_TASKS: usize = 12;

/// Characters of one line of a summary: a step and its result in a few words.
pub const SUMMARY_LINE_CHARS: usize = 120;

/// The longest note that a model leaves itself before older messages go, in tokens.
pub const NOTE_TOKENS: u32 = 500;

/// The longest word on what is done and what is not, in tokens: a short paragraph (W-271).
pub const SO_FAR_TOKENS: u32 = 300;

/// What one picture weighs in tokens: about what providers charge for a screenshot.
pub const PICTURE_TOKENS: u64 = 1_600;

/// Old pages are left out once they weigh this many times what comes after them: what follows is read
/// anew by a provider's cache at full price, what is left out saves a tenth of it with each request
/// from then on, and a run has some fifteen more requests.
pub const OLD_PAGES_PAY: f64 = 0.75;

/// Lighter old pages are not worth a new prefix, in bytes.
pub const OLD_PAGES_BYTES: usize = 4_000;

/// How long a caption or a message of a page is read before a step goes on without it (W-497, W-501).
pub const READING: Duration = Duration::from_secs(4);
