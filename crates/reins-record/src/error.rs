//! What can go wrong with a recording.

use crate::about::RecordingId;
use std::io;
use std::path::PathBuf;
use thiserror::Error;

/// Why a recording cannot be written, read or removed.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RecordError {
    /// There is none of that name.
    #[error("there is no recording {0}; list the recordings and choose one of them")]
    Unknown(RecordingId),
    /// There is one of that name already.
    #[error("a recording {0} is there already; a new session needs a new id")]
    Exists(RecordingId),
    /// It is being written.
    #[error("recording {0} is still being written; stop its session first")]
    Live(RecordingId),
    /// What is asked for is no picture.
    #[error("there is no picture number {0} in this recording")]
    NoPicture(u64),
    /// The work was broken off.
    #[error("the work on this recording was broken off: {0}; try again")]
    BrokenOff(String),
    /// A file or directory.
    #[error("{what} {}: {source}", .path.display())]
    File {
        /// What was tried.
        what: &'static str,
        /// With which file.
        path: PathBuf,
        /// What the system says.
        #[source]
        source: io::Error,
    },
    /// A file does not hold what it should.
    #[error("{} is damaged: {what}; delete the recording", .path.display())]
    Damaged {
        /// Which file.
        path: PathBuf,
        /// What was found.
        what: String,
    },
}

impl RecordError {
    /// The stable code used in results.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Unknown(_) => "no_recording",
            Self::Exists(_) => "recording_exists",
            Self::Live(_) => "recording_live",
            Self::NoPicture(_) => "no_picture",
            Self::BrokenOff(_) => "recording_broken_off",
            Self::File { .. } => "recording_file",
            Self::Damaged { .. } => "recording_damaged",
        }
    }

    /// The work on a recording was broken off: the program ends, or a bug.
    pub fn broken_off(why: &dyn std::fmt::Display) -> Self {
        Self::BrokenOff(why.to_string())
    }

    pub(crate) fn file(
        what: &'static str,
        path: impl Into<PathBuf>,
    ) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::File { what, path, source }
    }
}
