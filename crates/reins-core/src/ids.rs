//! Exact ids. Each kind is its own type, so that a tab can never be passed for a frame.

use std::fmt;
use std::str::FromStr;

macro_rules! text_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(String);

        impl $name {
            /// Wraps the id as it was given.
            pub fn new(id: impl Into<String>) -> Self {
                Self(id.into())
            }

            /// The id as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}({})", stringify!($name), self.0)
            }
        }
    };
}

text_id!(
    /// One run of one browser. New after each restart (A-021).
    BrowserId
);
text_id!(
    /// Chromium's own id of a tab, its page target (A-022).
    TabId
);
text_id!(
    /// Chromium's id of a frame. It survives navigations of that frame.
    FrameId
);
text_id!(
    /// One document of one frame: Chromium's loader id. New with each navigation that replaces
    /// the document; `document.open()` and same-document navigations keep it.
    DocumentId
);
text_id!(
    /// A browser session with its policy: what parallel agents use to stay apart.
    SessionId
);
text_id!(
    /// Who may hold a turn: one page, one MCP connection, one terminal run.
    OwnerId
);
text_id!(
    /// One conversation of the agent that can be taken up again.
    ConversationId
);

text_id!(
    /// An app under test of `reins serve`, with at most one browser (S-005).
    SandboxId
);
text_id!(
    /// Whose rows these are: nothing of one tenant is seen by another.
    TenantId
);
text_id!(
    /// A bearer token by what may be said of it.
    TokenId
);

macro_rules! number_id {
    ($(#[$doc:meta])* $name:ident, $int:ty, $prefix:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
        pub struct $name(pub $int);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }

        impl FromStr for $name {
            type Err = std::num::ParseIntError;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                text.strip_prefix($prefix).unwrap_or(text).parse().map(Self)
            }
        }
    };
}

number_id!(
    /// The number that the page script gave a node within its document. Never reused there.
    NodeNumber, u32, "n"
);
number_id!(
    /// What a model sees of a node: `e12`. Names one node of one document of one tab, is never
    /// reused and never retargets (R-128, R-129).
    Ref, u32, "e"
);
number_id!(
    /// One request of one owner.
    TurnId, u64, "t"
);
number_id!(
    /// One tool call within a turn, counted from 1.
    StepId, u32, "s"
);
number_id!(
    /// One request of a page that waits for the person. Never used again, in no tab.
    HeldId, u64, "h"
);
number_id!(
    /// The durable record of an act that was about to be sent.
    ReceiptId, i64, "r"
);

/// A node of the browser: tab, frame, document and number, all exact.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct NodeKey {
    /// The tab that holds the frame.
    pub tab: TabId,
    /// The frame that holds the document.
    pub frame: FrameId,
    /// The document the node was read in.
    pub document: DocumentId,
    /// The node's number in that document.
    pub node: NodeNumber,
}
