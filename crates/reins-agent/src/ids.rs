//! Ids of the agent's own things, each its own type.

use serde::{Deserialize, Serialize};
use std::fmt;

macro_rules! number_id {
    ($(#[$doc:meta])* $name:ident, $int:ty) => {
        $(#[$doc])*
        #[derive(
            Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
        )]
        #[serde(transparent)]
        pub struct $name(pub $int);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

number_id!(
    /// The place of an entry in its conversation's journal, from 1.
    Sequence, u64
);
number_id!(
    /// One run of a conversation, from 1: one task of the person with its corrections.
    RunId, u64
);
number_id!(
    /// One correction of a running task, never used again in its conversation.
    CorrectionId, u64
);
number_id!(
    /// One message that waits for its run, never used again in its conversation.
    MessageId, u64
);
number_id!(
    /// How often a task was corrected (W-090).
    Revision, u32
);
