//! All recordings of one directory.

use crate::about::{Recording, RecordingId};
use crate::error::RecordError;
use crate::event::{Jpeg, KindName, Seq, StoredEvent};
use crate::export;
use crate::index::Index;
use crate::limits::{PAGE_BYTES, PAGE_EVENTS};
use crate::reader::Reader;
use crate::search::{Hit, search};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use std::collections::HashSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// How long recordings are kept, and how much of the disk they may take. What is `None` is not limited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Retention {
    /// Since their end.
    pub max_age: Option<Duration>,
    /// All together; the oldest go first.
    pub max_bytes: Option<u64>,
}

/// A part of a recording.
#[derive(Clone, Debug, Default)]
pub struct EventPage {
    /// In order.
    pub events: Vec<StoredEvent>,
    /// What to ask for next; `None` at the end of what is written.
    pub next: Option<Seq>,
}

/// The recordings of a directory. Nothing is kept open, and of those that have ended only what a list shows is remembered.
#[derive(Clone, Debug)]
pub struct Library {
    dir: PathBuf,
    index: Arc<Mutex<Index>>,
}

impl Library {
    /// The recordings of a directory that may not be there yet.
    pub fn open(dir: impl Into<PathBuf>) -> Self {
        let dir = dir.into();
        let index = Arc::new(Mutex::new(Index::of(&dir)));
        Self { dir, index }
    }

    /// The directory, for [`crate::Recorder::open`].
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// All recordings, the newest first. What is damaged is left out, and said in the log.
    ///
    /// # Errors
    /// The directory cannot be read.
    pub fn list(&self) -> Result<Vec<Recording>, RecordError> {
        let entries = match std::fs::read_dir(&self.dir) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.map_err(RecordError::file("cannot read", &self.dir))?,
        };
        let ids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
        let ids: HashSet<RecordingId> = ids.collect();
        // Every section leaves whole values, so a poisoned lock is still good.
        let mut index = self.index.lock().unwrap_or_else(PoisonError::into_inner);
        let mut found = index.list(&ids, |id| self.get(id));
        drop(index);
        found.sort_by(|a, b| (b.about.started_at_ms, &b.id).cmp(&(a.about.started_at_ms, &a.id)));
        Ok(found)
    }

    /// One recording.
    ///
    /// # Errors
    /// There is none, or it cannot be read.
    pub fn get(&self, id: &RecordingId) -> Result<Recording, RecordError> {
        Reader::open(&self.dir, id)?.recording()
    }

    /// Events after one, at most `limit` and about 8 MiB of them. Also while the recording is written.
    ///
    /// # Errors
    /// There is no such recording, or it cannot be read.
    pub fn events(
        &self,
        id: &RecordingId,
        after: Seq,
        limit: usize,
    ) -> Result<EventPage, RecordError> {
        let limit = limit.clamp(1, PAGE_EVENTS);
        let mut page = EventPage::default();
        let mut bytes = 0;
        Reader::open(&self.dir, id)?.each(after, |event| {
            if page.events.len() >= limit || bytes >= PAGE_BYTES {
                page.next = page.events.last().map(|last| last.seq);
                return false;
            }
            bytes += event.data.get().len();
            page.events.push(event);
            true
        })?;
        Ok(page)
    }

    /// One picture, as JPEG.
    ///
    /// # Errors
    /// There is no such recording or picture.
    pub fn jpeg(&self, id: &RecordingId, seq: Seq) -> Result<Vec<u8>, RecordError> {
        let page = self.events(id, Seq(seq.0.saturating_sub(1)), 1)?;
        let found = page.events.first().filter(|e| e.seq == seq && e.kind == KindName::Frame);
        found
            .and_then(|event| {
                let jpeg: Jpeg<'_> = serde_json::from_str(event.data.get()).ok()?;
                STANDARD.decode(&*jpeg.jpeg).ok()
            })
            .ok_or(RecordError::NoPicture(seq.0))
    }

    /// Where words were on the screen, in a console or in what an agent did.
    ///
    /// # Errors
    /// There is no such recording, or it cannot be read.
    pub fn search(&self, id: &RecordingId, words: &str) -> Result<Vec<Hit>, RecordError> {
        search(&Reader::open(&self.dir, id)?, words)
    }

    /// Writes a recording as one HTML file that shows it without loading or running anything else.
    ///
    /// # Errors
    /// There is no such recording, it cannot be read, or `to` cannot be written.
    pub fn export(&self, id: &RecordingId, to: &mut dyn Write) -> Result<(), RecordError> {
        export::export(&Reader::open(&self.dir, id)?, to)
    }

    /// Removes a recording.
    ///
    /// # Errors
    /// There is none, it is being written, or it cannot be removed.
    pub fn delete(&self, id: &RecordingId) -> Result<(), RecordError> {
        let reader = Reader::open(&self.dir, id)?;
        if reader.is_live() {
            return Err(RecordError::Live(id.clone()));
        }
        let dir = reader.dir();
        std::fs::remove_dir_all(dir).map_err(RecordError::file("cannot remove", dir))
    }

    /// Removes what is older or more than is to be kept, and says what. What is being written stays.
    ///
    /// # Errors
    /// The directory cannot be read, or a recording cannot be removed.
    pub fn retain(&self, keep: &Retention, now_ms: u64) -> Result<Vec<RecordingId>, RecordError> {
        let mut gone = Vec::new();
        let mut bytes: u64 = 0;
        for recording in self.list()? {
            bytes += recording.bytes;
            let age = now_ms.saturating_sub(recording.ended_at_ms.unwrap_or(now_ms));
            let old = keep.max_age.is_some_and(|most| u128::from(age) > most.as_millis());
            let much = keep.max_bytes.is_some_and(|most| bytes > most);
            if !(old || much) || Reader::open(&self.dir, &recording.id)?.is_live() {
                continue;
            }
            self.delete(&recording.id)?;
            bytes -= recording.bytes;
            gone.push(recording.id);
        }
        Ok(gone)
    }
}
