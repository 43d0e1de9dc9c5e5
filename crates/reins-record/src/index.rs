//! What is known of recordings that have ended, so that listing them does not open each of them again.
//!
//! A file beside the recordings holds one line for each. It only ever repeats what the recordings say: only ended ones are in it,
//! which change no more, and what is missing, torn or cannot be read is taken from the recordings again.

use crate::about::{Recording, RecordingId, RecordingStatus};
use crate::error::RecordError;
use std::collections::{HashMap, HashSet};
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Its name holds what no id does, so that it is taken for no recording.
pub(crate) const INDEX: &str = "index.jsonl";

/// Lines of recordings that are gone may stay until there are as many as of those that are there, and this many more.
const STALE_LINES: usize = 64;

/// The ended recordings of a library.
#[derive(Debug)]
pub(crate) struct Index {
    path: PathBuf,
    known: HashMap<RecordingId, Recording>,
    /// Lines of the file, once it was read.
    lines: Option<usize>,
}

impl Index {
    pub(crate) fn of(library: &Path) -> Self {
        Self { path: library.join(INDEX), known: HashMap::new(), lines: None }
    }

    /// The recordings with these ids: those that are known, and of the others what `read` finds.
    pub(crate) fn list(
        &mut self,
        ids: &HashSet<RecordingId>,
        mut read: impl FnMut(&RecordingId) -> Result<Recording, RecordError>,
    ) -> Vec<Recording> {
        self.load();
        self.known.retain(|id, _| ids.contains(id));
        let mut found: Vec<Recording> = self.known.values().cloned().collect();
        let mut fresh = Vec::new();
        for id in ids.iter().filter(|id| !self.known.contains_key(*id)) {
            match read(id) {
                Ok(recording) => {
                    if recording.status != RecordingStatus::Recording {
                        fresh.push(recording.clone());
                    }
                    found.push(recording);
                }
                Err(error) => tracing::debug!(%error, "a recording was left out"),
            }
        }
        self.keep(fresh);
        found
    }

    fn load(&mut self) {
        if self.lines.is_some() {
            return;
        }
        let text = std::fs::read(&self.path).unwrap_or_default();
        let lines = text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        let mut count = 0;
        for line in lines {
            count += 1;
            // A torn line is read from its recording again.
            if let Ok(recording) = serde_json::from_slice::<Recording>(line)
                && recording.status != RecordingStatus::Recording
            {
                self.known.insert(recording.id.clone(), recording);
            }
        }
        self.lines = Some(count);
    }

    fn keep(&mut self, fresh: Vec<Recording>) {
        if fresh.is_empty() {
            return;
        }
        let stale = self.lines.unwrap_or(0).saturating_sub(self.known.len());
        let anew = stale > self.known.len() + STALE_LINES;
        let added = fresh.len();
        self.known.extend(fresh.iter().map(|recording| (recording.id.clone(), recording.clone())));
        let written = if anew {
            self.write_anew().map(|()| self.known.len())
        } else {
            self.append(&fresh).map(|()| self.lines.unwrap_or(0) + added)
        };
        match written {
            Ok(lines) => self.lines = Some(lines),
            // Nothing is lost: it is found in the recordings after the next start.
            Err(error) => tracing::debug!(%error, "the index of recordings was not written"),
        }
    }

    fn append(&self, fresh: &[Recording]) -> io::Result<()> {
        let mut file = OpenOptions::new().create(true).append(true).open(&self.path)?;
        // A line that was torn before ends here.
        file.write_all(&[b"\n".as_slice(), &lines(fresh.iter())?].concat())
    }

    fn write_anew(&self) -> io::Result<()> {
        let dir = self.path.parent().unwrap_or(Path::new("."));
        let mut file = tempfile::NamedTempFile::new_in(dir)?;
        file.write_all(&lines(self.known.values())?)?;
        file.persist(&self.path)?;
        Ok(())
    }
}

fn lines<'a>(recordings: impl Iterator<Item = &'a Recording>) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    for recording in recordings {
        serde_json::to_writer(&mut text, recording)?;
        text.push(b'\n');
    }
    Ok(text)
}
