//! Reading one recording, also while it is written and after a crash.

use crate::about::{End, Recording, RecordingAbout, RecordingId, RecordingStatus};
use crate::error::RecordError;
use crate::event::{Seq, StoredEvent};
use crate::segment::{Batches, count, segments};
use std::fs::File;
use std::path::{Path, PathBuf};

pub(crate) const ABOUT: &str = "about.json";
pub(crate) const END: &str = "end.json";
pub(crate) const LOCK: &str = "lock";

/// One recording on the disk.
#[derive(Debug)]
pub(crate) struct Reader {
    id: RecordingId,
    dir: PathBuf,
    about: RecordingAbout,
}

impl Reader {
    pub(crate) fn open(library: &Path, id: &RecordingId) -> Result<Self, RecordError> {
        let dir = library.join(id.as_str());
        let path = dir.join(ABOUT);
        let text = match std::fs::read(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Err(RecordError::Unknown(id.clone()));
            }
            text => text.map_err(RecordError::file("cannot read", &path))?,
        };
        let about = serde_json::from_slice(&text)
            .map_err(|error| RecordError::Damaged { path, what: error.to_string() })?;
        Ok(Self { id: id.clone(), dir, about })
    }

    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }

    /// Whether someone writes it.
    pub(crate) fn is_live(&self) -> bool {
        let Ok(lock) = File::open(self.dir.join(LOCK)) else { return false };
        // Shared, so that two who look do not take each other for the one who writes.
        match lock.try_lock_shared() {
            Ok(()) => false,
            Err(std::fs::TryLockError::WouldBlock) => true,
            Err(std::fs::TryLockError::Error(_)) => false,
        }
    }

    fn end(&self) -> Option<End> {
        let text = std::fs::read_to_string(self.dir.join(END)).ok()?;
        serde_json::from_str(text.trim_end()).ok()
    }

    /// How it stands.
    pub(crate) fn recording(&self) -> Result<Recording, RecordError> {
        let live = self.is_live();
        let end = self.end();
        let (mut events, mut bytes, mut last) = (0, 0, 0);
        for (_, path) in segments(&self.dir)? {
            bytes += std::fs::metadata(&path).map_or(0, |about| about.len());
            let (count, at_ms) = count(&path)?;
            events += count;
            last = last.max(at_ms);
        }
        let started = self.about.started_at_ms;
        let (status, end_reason, ended_at_ms) = match end {
            Some(end) => (end.status, Some(end.reason), Some(end.ended_at_ms)),
            None if live => (RecordingStatus::Recording, None, None),
            None => {
                let reason = "the process that recorded ended before the session did".to_owned();
                (RecordingStatus::CutShort, Some(reason), Some(last.max(started)))
            }
        };
        Ok(Recording {
            id: self.id.clone(),
            about: self.about.clone(),
            status,
            end_reason,
            ended_at_ms,
            events,
            bytes,
            duration_ms: last.saturating_sub(started),
        })
    }

    /// Hands out the events after one, in order, until `take` says that it is enough.
    pub(crate) fn each(
        &self,
        after: Seq,
        mut take: impl FnMut(StoredEvent) -> bool,
    ) -> Result<(), RecordError> {
        let segments = segments(&self.dir)?;
        // The last segment that begins at the wanted event or before it.
        let wanted = Seq(after.0 + 1);
        let begin = segments.iter().rposition(|(first, _)| *first <= wanted).unwrap_or(0);
        for (_, path) in &segments[begin.min(segments.len())..] {
            let mut batches = Batches::open(path)?;
            while let Some(batch) = batches.next() {
                for event in batch {
                    if event.seq > after && !take(event) {
                        return Ok(());
                    }
                }
            }
        }
        Ok(())
    }
}
