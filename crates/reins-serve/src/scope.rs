//! What a caller may do.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::str::FromStr;
use thiserror::Error;

/// One thing that a token allows.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// See sandboxes, browsers, recordings, runs and usage.
    Read,
    /// Call tools and start runs.
    Act,
    /// Drive a browser by hand.
    TakeOver,
    /// Make and delete sandboxes, start and stop browsers, delete recordings, change settings.
    Manage,
    /// Read the metrics of the whole daemon.
    Metrics,
}

impl Scope {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Read, Self::Act, Self::TakeOver, Self::Manage, Self::Metrics];

    /// The word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Act => "act",
            Self::TakeOver => "take_over",
            Self::Manage => "manage",
            Self::Metrics => "metrics",
        }
    }
}

/// The word names no scope.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("'{0}' is no scope; use read, act, take_over, manage or metrics")]
pub struct ScopeError(String);

impl FromStr for Scope {
    type Err = ScopeError;

    fn from_str(text: &str) -> Result<Self, ScopeError> {
        let found = Self::ALL.into_iter().find(|scope| scope.word() == text);
        found.ok_or_else(|| ScopeError(text.to_owned()))
    }
}

/// Several scopes.
pub type Scopes = BTreeSet<Scope>;

/// Scopes as words separated by spaces.
pub(crate) fn words(scopes: &Scopes) -> String {
    scopes.iter().map(|scope| scope.word()).collect::<Vec<_>>().join(" ")
}

/// Reads words separated by spaces. Words of a newer Reins are left out: less is allowed, not more.
pub(crate) fn read(words: &str) -> Scopes {
    words.split_whitespace().filter_map(|word| word.parse().ok()).collect()
}
