//! Plain data that every other room of Reins shares.
//!
//! Nothing here does I/O, knows an async runtime, a wire format or the DevTools protocol.
//! The types carry the promises of the design: an id is never a bare string, an act ends as
//! one of three [`Outcome`]s, and a secret cannot be printed.

mod action;
mod credential;
mod event;
mod held;
mod ids;
mod key;
pub mod limits;
mod origin;
mod outcome;
mod pattern;
mod record;
mod rule;
mod secret;

pub use action::{Action, Gesture, HistoryStep, Modifiers, MouseButton, ScrollBy, TypeMode};
pub use credential::{SecretKind, SecretKindError, SecretName, SecretNameError};
pub use event::{RunState, StepFinish, TurnEvent, TurnSummary};
pub use held::{HeldKind, HeldRequest};
pub use ids::{
    BrowserId, ConversationId, DocumentId, FrameId, HeldId, NodeKey, NodeNumber, OwnerId,
    ReceiptId, Ref, SandboxId, SessionId, StepId, TabId, TenantId, TokenId, TurnId,
};
pub use key::{Key, KeyChord, KeyError};
pub use origin::{DocumentOrigin, Origin, OriginError, Site, has_known_suffix, web_url};
pub use outcome::{Outcome, Refusal, Unknown, UnknownCause};
pub use pattern::OriginPattern;
pub use record::{FormMethod, Link, Sensitivity, Submission, TargetRecord};
pub use rule::{Rule, RuleWordError, Sends};
pub use secret::Secret;
