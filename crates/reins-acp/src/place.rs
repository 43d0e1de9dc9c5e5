//! The agent's scratch directory: empty before each run, the agent's only working directory.

use crate::error::AcpError;
use std::io;
use std::path::{Path, PathBuf};

/// Makes the directory of an agent empty, for its owner alone, and puts a recipe's files there.
pub(crate) fn fresh(scratch: &Path, files: &[(String, String)]) -> Result<(), AcpError> {
    make(scratch, files).map_err(|source| AcpError::Scratch { dir: scratch.to_owned(), source })
}

fn make(scratch: &Path, files: &[(String, String)]) -> io::Result<()> {
    match std::fs::symlink_metadata(scratch) {
        // A link would lead the removal elsewhere.
        Ok(about) if about.is_symlink() || about.is_file() => std::fs::remove_file(scratch)?,
        Ok(_) => std::fs::remove_dir_all(scratch)?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    private_folder(scratch)?;
    for (name, content) in files {
        let file = scratch.join(name);
        if let Some(folder) = file.parent() {
            private_folder(folder)?;
        }
        std::fs::write(file, content)?;
    }
    Ok(())
}

/// Makes a folder, and those above it, that only the owner can enter.
pub(crate) fn private_folder(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

/// A scratch directory that goes with its run.
#[derive(Debug)]
pub(crate) struct Scratch(pub(crate) PathBuf);

impl Drop for Scratch {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_dir_all(&self.0)
            && error.kind() != io::ErrorKind::NotFound
        {
            tracing::warn!(%error, dir = %self.0.display(), "the agent's scratch directory was left behind");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// whatever was there before is gone; what a link points to is not.
    #[test]
    fn r075_the_scratch_directory_starts_empty() {
        let base = tempfile::tempdir().unwrap();
        let (scratch, mine) = (base.path().join("agents/x"), base.path().join("mine"));
        std::fs::create_dir(&mine).unwrap();
        std::fs::write(mine.join("file"), "keep").unwrap();
        fresh(&scratch, &[]).unwrap();
        std::fs::write(scratch.join("old"), "").unwrap();
        fresh(&scratch, &[(".tool/settings.json".into(), "{}".into())]).unwrap();
        let names: Vec<_> =
            std::fs::read_dir(&scratch).unwrap().flatten().map(|e| e.file_name()).collect();
        assert_eq!(names, [".tool"]);
        std::fs::remove_dir_all(&scratch).unwrap();
        std::os::unix::fs::symlink(&mine, &scratch).unwrap();
        fresh(&scratch, &[]).unwrap();
        assert!(mine.join("file").exists() && !scratch.is_symlink());
        drop(Scratch(scratch.clone()));
        assert!(!scratch.exists() && mine.join("file").exists());
    }
}
