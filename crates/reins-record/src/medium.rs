//! Where a recording is written to: the disk, or something in a test that fails as disks do.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

/// A file that is written to.
pub trait Sink: Write + Send {
    /// Returns once everything written is on the disk.
    ///
    /// # Errors
    /// It is not.
    fn sync(&mut self) -> io::Result<()>;
}

/// Makes files.
pub trait Medium: Send {
    /// A new file.
    ///
    /// # Errors
    /// It cannot be made.
    fn create(&mut self, path: &Path) -> io::Result<Box<dyn Sink>>;
}

/// The disk.
#[derive(Clone, Copy, Debug, Default)]
pub struct Files;

impl Sink for File {
    fn sync(&mut self) -> io::Result<()> {
        self.sync_data()
    }
}

impl Medium for Files {
    fn create(&mut self, path: &Path) -> io::Result<Box<dyn Sink>> {
        let file = OpenOptions::new().write(true).create_new(true).open(path)?;
        // The name of a file is on the disk with its directory.
        if let Some(dir) = path.parent() {
            File::open(dir)?.sync_all()?;
        }
        Ok(Box::new(file))
    }
}
