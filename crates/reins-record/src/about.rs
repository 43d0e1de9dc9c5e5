//! What a recording says of itself.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use thiserror::Error;

/// Names a recording, and its directory.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RecordingId(String);

/// A name that could lead out of the library's directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("a recording's id has 1 to 64 letters, digits, `-` and `_`")]
pub struct RecordingIdError;

impl RecordingId {
    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for RecordingId {
    type Err = RecordingIdError;

    fn from_str(id: &str) -> Result<Self, RecordingIdError> {
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        let fits = (1..=64).contains(&id.len()) && id.chars().all(plain);
        fits.then(|| Self(id.to_owned())).ok_or(RecordingIdError)
    }
}

impl TryFrom<String> for RecordingId {
    type Error = RecordingIdError;

    fn try_from(id: String) -> Result<Self, RecordingIdError> {
        id.parse()
    }
}

impl From<RecordingId> for String {
    fn from(id: RecordingId) -> Self {
        id.0
    }
}

impl fmt::Display for RecordingId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What is recorded of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kinds {
    /// What documents show.
    pub rrweb: bool,
    /// Pictures, for what documents cannot tell.
    pub frames: bool,
    /// Errors and warnings of consoles.
    pub console: bool,
}

/// What is known of a recording when it begins.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordingAbout {
    /// Whose it is.
    pub tenant: String,
    /// The sandbox whose browser it shows.
    pub sandbox_id: String,
    /// The address of the app.
    pub app_url: String,
    /// Milliseconds since 1970.
    pub started_at_ms: u64,
    /// What it holds.
    pub kinds: Kinds,
}

/// How a recording ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct End {
    /// [`RecordingStatus::Complete`] or [`RecordingStatus::CutShort`].
    pub status: RecordingStatus,
    /// Why, in words for a person.
    pub reason: String,
    /// Milliseconds since 1970.
    pub ended_at_ms: u64,
}

/// How a recording stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RecordingStatus {
    /// It is being written.
    Recording,
    /// It ended with its session: nothing is missing at its end.
    Complete,
    /// Its session went on without it, or nobody knows: the end is missing.
    CutShort,
}

/// One recording of a library.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recording {
    /// Its name.
    pub id: RecordingId,
    /// What was known at its beginning.
    #[serde(flatten)]
    pub about: RecordingAbout,
    /// How it stands.
    pub status: RecordingStatus,
    /// Why it ended.
    pub end_reason: Option<String>,
    /// Milliseconds since 1970; that of the last event where nobody wrote down its end.
    pub ended_at_ms: Option<u64>,
    /// Events on the disk.
    pub events: u64,
    /// Bytes on the disk.
    pub bytes: u64,
    /// From its beginning to its last event.
    pub duration_ms: u64,
}
