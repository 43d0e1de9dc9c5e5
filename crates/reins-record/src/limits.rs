//! What a recording may take.

use std::time::Duration;

/// Events of one batch (S-X13).
pub const BATCH_EVENTS: usize = 1_000;

/// Bytes of one batch before they are compressed (S-X13).
pub const BATCH_BYTES: usize = 1 << 20;

/// An event is on its way to the disk after this long: what a crash may take with it.
pub const BATCH_AGE: Duration = Duration::from_millis(500);

/// Batches that may wait for the disk (S-X13). A disk that lets more of them wait will not catch up.
pub const WAITING_BATCHES: usize = 50;

/// One event. The recorder in the page sends no more than 8 MiB in one message (S-X13).
pub const EVENT_BYTES: usize = 8 << 20;

/// A new segment begins after this many bytes on the disk, so that reading on from an event unpacks
/// little.
pub const SEGMENT_BYTES: u64 = 4 << 20;

/// One batch, unpacked. More is no batch of ours.
pub const LARGEST_BATCH: usize = BATCH_BYTES + 2 * EVENT_BYTES;

/// A recording that is larger is ended: a week of a busy page is less.
pub const RECORDING_BYTES: u64 = 2 << 30;

/// Events of one answer, and about how many bytes of them.
pub const PAGE_EVENTS: usize = 1_000;
/// See [`PAGE_EVENTS`].
pub const PAGE_BYTES: usize = 8 << 20;

/// Places that one search names.
pub const HITS: usize = 200;

/// Characters beside the words that were found.
pub const AROUND: usize = 60;

/// A picture that is like the one before it is not kept; one that is not, no more often than this.
pub const FRAME_GAP: Duration = Duration::from_secs(2);
