//! Which processes that share the file are alive.
//!
//! Each process holds an exclusive lock on a file of its own. The kernel lets go of it when the
//! process ends, however it ends, so a lock that can be taken belongs to a dead process. Process
//! numbers would be reused, and mean nothing across containers.

use crate::database::private_folder;
use crate::error::StoreError;
use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// A lock file without an owner in the database is left over from a process that died while it
/// started. Younger ones may belong to a process that is just starting.
const LEFT_OVER_AFTER: Duration = Duration::from_secs(3_600);

/// This process as an owner of receipts. Its lock ends with it.
#[derive(Debug)]
pub(crate) struct Owner {
    id: String,
    path: PathBuf,
    _lock: File,
}

impl Owner {
    /// Takes a new name and its lock.
    pub(crate) fn new(database: &Path) -> Result<Self, StoreError> {
        let folder = folder(database);
        private_folder(&folder).map_err(|source| StoreError::unwritable(&folder, source))?;
        let mut random = [0_u8; 16];
        getrandom::fill(&mut random).map_err(|source| StoreError::NoRandomness { source })?;
        let id: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
        let path = folder.join(&id);
        let lock = OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(&path)
            .and_then(|file| file.lock().map(|()| file))
            .map_err(|source| StoreError::unwritable(&path, source))?;
        Ok(Self { id, path, _lock: lock })
    }

    /// The name.
    pub(crate) fn id(&self) -> &str {
        &self.id
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        // A name that is gone counts as dead, so what it left open is reported next time.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Whether the process of an owner runs. Two processes that ask about the same dead owner at the
/// same moment may both hear that one of them found it alive, never that it is dead while it runs.
pub(crate) fn is_alive(database: &Path, id: &str) -> Result<bool, StoreError> {
    let path = folder(database).join(id);
    let file = match OpenOptions::new().write(true).open(&path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(source) => return Err(StoreError::unwritable(path, source)),
    };
    match file.try_lock() {
        Ok(()) => Ok(false),
        Err(TryLockError::WouldBlock) => Ok(true),
        Err(TryLockError::Error(source)) => Err(StoreError::unwritable(path, source)),
    }
}

/// Removes the lock files of owners that are dead, and old ones that belong to nobody.
pub(crate) fn sweep(database: &Path, known: &[String], dead: &[String], now: SystemTime) {
    let Ok(entries) = std::fs::read_dir(folder(database)) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let Some(name) = name.to_str() else { continue };
        let listed = |names: &[String]| names.iter().any(|known| known == name);
        let old = entry
            .metadata()
            .and_then(|data| data.modified())
            .is_ok_and(|at| now.duration_since(at).is_ok_and(|age| age > LEFT_OVER_AFTER));
        let left_over = old && !listed(known) && matches!(is_alive(database, name), Ok(false));
        if listed(dead) || left_over {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

fn folder(database: &Path) -> PathBuf {
    let mut name = database.as_os_str().to_owned();
    name.push(".owners");
    PathBuf::from(name)
}
