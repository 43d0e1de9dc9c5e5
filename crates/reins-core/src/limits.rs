//! Limits that several rooms share, each with its reason.

use std::time::Duration;

/// Tool calls in one turn. The person can send another message.
pub const CALLS_PER_TURN: u32 = 25;

/// Settling after an act never takes longer.
pub const SETTLE_CAP: Duration = Duration::from_secs(4);

/// Deadline of one call on the browser.
pub const CALL_DEADLINE: Duration = Duration::from_secs(30);

/// The safety check is worth waiting for no longer: then the person is asked.
pub const CRITIC_DEADLINE: Duration = Duration::from_secs(4);

/// A published snapshot's budget in estimated tokens.
pub const SNAPSHOT_TOKENS: usize = 8_192;

/// The hard cap on the text of any one result, in bytes. The rest is paged.
pub const RESULT_BYTES: usize = 32 * 1024;

/// A name, value or address in a snapshot is clipped to this many bytes.
pub const NAME_BYTES: usize = 400;

/// Result text kept in a step's finish event.
pub const EVENT_RESULT_BYTES: usize = 2_000;
