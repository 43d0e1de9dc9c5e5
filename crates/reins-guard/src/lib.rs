//! Decides whether a step may be taken: allow, ask the person, let the critic look, or block.
//!
//! Everything here is pure. [`evaluate`] takes an [`Action`](reins_core::Action) whose targets
//! were just read and the [`Facts`] of the moment, and gives a [`Decision`]. The browser takes
//! nothing but an [`ApprovedAction`], and only this crate can make one: from a decision that
//! allows, from a person's answer to a [`PendingCard`], or from the critic's verdict.
//!
//! In a guarded session no level, rule or flag skips the risky list (R-149…R-153), and blocks
//! (R-143…R-148) beat everything in every session.

mod approve;
mod assess;
mod block;
mod card;
mod critic;
mod decide;
mod facts;
mod held;
mod host;
mod keys;
mod level;
mod lexicon;
mod obligations;
mod plain;
mod reason;
mod refuse;
mod rules;
mod title;
mod words;

pub use approve::{ApprovedAction, Basis, still_allowed};
pub use card::{Answer, Card, CardKind, Consent, Grants, PendingCard};
pub use critic::{
    ControlType, CriticQuestion, CriticRole, CriticTool, CriticVerdict, PendingCheck, VerdictError,
};
pub use decide::{Decision, evaluate};
pub use facts::{
    CriticState, DialogFacts, DialogKind, Downloads, Facts, Holding, Moment, Policy, Published,
    TabFacts, TurnFacts,
};
pub use held::{AgreedSending, PendingSending};
pub use host::{HostNote, KnownHosts, same_site};
pub use level::{Level, LevelError};
pub use obligations::{
    ExpectedRequest, FrameTarget, Navigation, Obligations, Popups, RequestVerdict, Sending,
};
pub use plain::{clip_middle, plain_text};
pub use refuse::{RefusalCode, unknown_tool};
pub use rules::{SiteError, SiteRules};
pub use words::caption_risk;

pub use assess::RiskKind;
pub use reins_core::{OriginPattern, Rule};
