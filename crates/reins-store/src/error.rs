//! Why the store could not do what was asked.

use std::io;
use std::path::PathBuf;
use thiserror::Error;

/// A failure of the store. An act whose receipt failed is refused, never sent unrecorded.
#[derive(Debug, Error)]
pub enum StoreError {
    /// The disk or the quota is full.
    #[error(
        "the disk that holds {} is full, so the step could not be recorded and was not sent; free some space and try again",
        path.display()
    )]
    Full {
        /// The database file.
        path: PathBuf,
        /// What SQLite said.
        source: rusqlite::Error,
    },
    /// The file or its folder can't be written.
    #[error(
        "{} can't be written, so nothing could be recorded; check that the folder exists and belongs to you",
        path.display()
    )]
    Unwritable {
        /// The database file, or the folder or file beside it.
        path: PathBuf,
        /// What the system or SQLite said.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// Another process held the file for too long.
    #[error("another Reins process kept {} busy; try again", path.display())]
    Busy {
        /// The database file.
        path: PathBuf,
        /// What SQLite said.
        source: rusqlite::Error,
    },
    /// The file is damaged or no database.
    #[error(
        "{} is damaged or no database of Reins; move it away, and a new one is made at the next start",
        path.display()
    )]
    Damaged {
        /// The database file.
        path: PathBuf,
        /// What SQLite said.
        source: rusqlite::Error,
    },
    /// The file was written by a newer Reins.
    #[error(
        "{} was written by a newer Reins (format {found}, this one knows {known}); update Reins",
        path.display()
    )]
    TooNew {
        /// The database file.
        path: PathBuf,
        /// The file's format.
        found: i64,
        /// The newest format that this program knows.
        known: i64,
    },
    /// The writer thread has ended.
    #[error("the store is closed; start Reins again")]
    Closed,
    /// The system gave no random numbers for an owner's name.
    #[error("the system gave no random numbers; start Reins again")]
    NoRandomness {
        /// What the system said.
        source: getrandom::Error,
    },
    /// The key that seals secrets cannot be used.
    #[error("the key that seals your secrets, {}, can't be used: {source}", path.display())]
    Key {
        /// The key's file.
        path: PathBuf,
        /// What is wrong with it.
        source: io::Error,
    },
    /// The keyring that holds the key, or should, cannot be used.
    #[error(
        "the keyring of the system can't be used: {reason}; start Reins in your desktop session, or keep the key in a file (`reins secrets key file` in that session)"
    )]
    Keyring {
        /// Why, in words: errors of keyrings may carry the secret itself.
        reason: String,
    },
    /// A secret or a provider's key does not open.
    #[error(
        "{what} does not open: it was sealed with another key, or its row was changed; set it again"
    )]
    Sealed {
        /// Which one.
        what: String,
    },
    /// No run has this name or id, or several ids begin like this.
    #[error("no single run is called '{word}'; `reins runs list` shows them")]
    NoSuchConversation {
        /// What was asked for.
        word: String,
    },
    /// A living process works on the run, or took it over.
    #[error(
        "another Reins process works on the run {id}; wait until it ends, or stop it with Ctrl-C there"
    )]
    ConversationBusy {
        /// Which run.
        id: String,
    },
    /// Another run has the name.
    #[error("another run is called '{name}' already; take another name")]
    NameTaken {
        /// The name.
        name: String,
    },
    /// Anything else that SQLite reported.
    #[error("{} could not be used: {source}", path.display())]
    Database {
        /// The database file.
        path: PathBuf,
        /// What SQLite said.
        source: rusqlite::Error,
    },
}

impl StoreError {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        match self {
            StoreError::Full { .. } => "store_full",
            StoreError::Unwritable { .. } => "store_unwritable",
            StoreError::Busy { .. } => "store_busy",
            StoreError::Damaged { .. } => "store_damaged",
            StoreError::TooNew { .. } => "store_too_new",
            StoreError::Closed => "store_closed",
            StoreError::NoRandomness { .. } => "store_no_randomness",
            StoreError::Key { .. } => "secret_key",
            StoreError::Keyring { .. } => "secret_keyring",
            StoreError::Sealed { .. } => "secret_sealed",
            StoreError::NoSuchConversation { .. } => "no_such_run",
            StoreError::ConversationBusy { .. } => "run_busy",
            StoreError::NameTaken { .. } => "run_name_taken",
            StoreError::Database { .. } => "store_database",
        }
    }

    pub(crate) fn unwritable(path: impl Into<PathBuf>, source: io::Error) -> Self {
        let path = path.into();
        if source.kind() == io::ErrorKind::StorageFull {
            let source = rusqlite::Error::SqliteFailure(
                rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_FULL),
                Some(source.to_string()),
            );
            return StoreError::Full { path, source };
        }
        StoreError::Unwritable { path, source: Box::new(source) }
    }

    /// Sorts a failure of SQLite.
    pub(crate) fn database(path: impl Into<PathBuf>, source: rusqlite::Error) -> Self {
        use rusqlite::ErrorCode;
        let path = path.into();
        match source.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => StoreError::Full { path, source },
            Some(
                ErrorCode::ReadOnly
                | ErrorCode::CannotOpen
                | ErrorCode::PermissionDenied
                | ErrorCode::SystemIoFailure,
            ) => StoreError::Unwritable { path, source: Box::new(source) },
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
                StoreError::Busy { path, source }
            }
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
                StoreError::Damaged { path, source }
            }
            _ => StoreError::Database { path, source },
        }
    }
}
