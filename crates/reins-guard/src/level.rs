//! How much is asked beyond the risky list.

use std::fmt;
use std::str::FromStr;
use thiserror::Error;

/// The permission level, read once per turn. No level skips the risky list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, PartialOrd, Ord)]
pub enum Level {
    /// The table alone decides: no plan card, no critic.
    #[default]
    Auto,
    /// A plan card for the first step, then the critic for low-risk steps on named sites.
    Careful,
    /// Whatever can change something gets its own card.
    Ask,
}

impl Level {
    /// Every level, from the fewest cards to the most.
    pub const ALL: [Level; 3] = [Level::Auto, Level::Careful, Level::Ask];

    /// The level as settings and flags spell it.
    pub fn as_str(self) -> &'static str {
        match self {
            Level::Ask => "ask",
            Level::Careful => "careful",
            Level::Auto => "auto",
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The text names no level.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("'{0}' is not a permission level; use ask, careful or auto")]
pub struct LevelError(String);

impl LevelError {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        "unknown_level"
    }
}

impl FromStr for Level {
    type Err = LevelError;

    fn from_str(text: &str) -> Result<Self, LevelError> {
        Level::ALL
            .into_iter()
            .find(|level| level.as_str() == text)
            .ok_or_else(|| LevelError(text.to_owned()))
    }
}
