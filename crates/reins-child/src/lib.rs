//! Child processes of ours: whole groups are ended, a guardian does it when we were killed, and the last
//! words of each are kept for the message that says why it ended.
//!
//! Knows nothing but processes: what is started, and why, is its callers' own.

mod group;
mod guardian;
mod tail;

pub use group::{kill_group, kill_marked, terminate};
pub use guardian::Guardian;
pub use tail::Tail;
