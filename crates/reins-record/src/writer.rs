//! Writing: events are accepted without waiting and written by a thread of their own.

use crate::about::{End, RecordingAbout, RecordingId, RecordingStatus};
use crate::error::RecordError;
use crate::event::{Event, Kind, Marker, Seq};
use crate::limits::{
    BATCH_AGE, BATCH_BYTES, BATCH_EVENTS, EVENT_BYTES, RECORDING_BYTES, SEGMENT_BYTES,
    WAITING_BATCHES,
};
use crate::medium::{Files, Medium, Sink};
use crate::reader::{ABOUT, END, LOCK};
use crate::segment::{NAME, Packer, segment_path};
use reins_core::{Secret, TabId};
use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Instant;

/// Room that is kept for how a recording ended: on a full disk there would be none.
const END_BYTES: usize = 1 << 10;

/// What a secret is replaced by.
const REDACTED: &str = "[redacted]";

/// Is told that a recording ended before its session.
pub type OnCut = Box<dyn FnOnce(&CutShort) + Send>;

/// How a recording is written.
pub struct Options {
    /// Values that must not be in it, such as the session's token.
    pub secrets: Vec<Secret<String>>,
    /// Bytes on the disk at which it ends.
    pub max_bytes: u64,
    /// Where it is written.
    pub medium: Box<dyn Medium>,
    /// Told once if it ends before its session, from the thread that writes.
    pub on_cut: Option<OnCut>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            secrets: Vec::new(),
            max_bytes: RECORDING_BYTES,
            medium: Box::new(Files),
            on_cut: None,
        }
    }
}

impl std::fmt::Debug for Options {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Options")
            .field("secrets", &self.secrets)
            .field("max_bytes", &self.max_bytes)
            .finish_non_exhaustive()
    }
}

/// A recording that ended before its session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CutShort {
    /// Why, and what to do.
    pub reason: String,
    /// The last event that is on the disk.
    pub acknowledged: Seq,
}

/// Whether an event is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Accepted {
    /// It has this place, and is on the disk once it is acknowledged.
    Kept(Seq),
    /// The recording has ended.
    Ended,
}

/// Writes one recording. Dropping it ends it, as complete.
#[derive(Debug)]
pub struct Recorder {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    /// There is something to write, or to stop for.
    work: Condvar,
    /// Something was written, or nothing more will be.
    done: Condvar,
}

#[derive(Debug, Default)]
struct State {
    waiting: VecDeque<Waiting>,
    bytes: usize,
    next: u64,
    acknowledged: u64,
    cut: Option<CutShort>,
    end: Option<End>,
    finished: bool,
    /// Someone waits for what waits.
    hurry: bool,
    secrets: Vec<Secret<String>>,
}

#[derive(Debug)]
struct Waiting {
    seq: Seq,
    at_ms: u64,
    line: String,
    since: Instant,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        // Every section leaves whole values, so a poisoned lock is still good.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Recorder {
    /// Begins a recording in a new directory of a library.
    ///
    /// # Errors
    /// There is one of that id, or the directory cannot be written.
    pub fn open(
        library: &Path,
        id: &RecordingId,
        about: &RecordingAbout,
        options: Options,
    ) -> Result<Self, RecordError> {
        let dir = library.join(id.as_str());
        std::fs::create_dir_all(library).map_err(RecordError::file("cannot make", library))?;
        std::fs::create_dir(&dir).map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => RecordError::Exists(id.clone()),
            _ => RecordError::file("cannot make", &dir)(error),
        })?;
        let (lock, end) = begin(&dir, about).inspect_err(|_| {
            // Half a recording would be listed; what cannot be removed is listed as cut short.
            drop(std::fs::remove_dir_all(&dir));
        })?;
        let Options { secrets, max_bytes, medium, on_cut } = options;
        // As they would stand in a line.
        let written = |secret: &Secret<String>| {
            let json = serde_json::to_string(secret.expose()).unwrap_or_default();
            Secret::new(json.trim_matches('"').to_owned())
        };
        let secrets = secrets.iter().map(written).collect();
        let state = State { next: 1, secrets, ..State::default() };
        let shared = Arc::new(Shared {
            state: Mutex::new(state),
            work: Condvar::new(),
            done: Condvar::new(),
        });
        let tape = Tape { dir: dir.clone(), medium, open: None, bytes: 0, max_bytes };
        let writer = Writer { shared: shared.clone(), tape, end, on_cut, _lock: lock };
        let thread = std::thread::Builder::new()
            .name("recording".into())
            .spawn(move || writer.run())
            .map_err(RecordError::file("cannot start writing", &dir))?;
        Ok(Self { shared, thread: Some(thread) })
    }

    /// Takes an event, without waiting for the disk.
    pub fn accept(&self, event: &Event) -> Accepted {
        let mut state = self.shared.state();
        if state.cut.is_some() || state.end.is_some() {
            return Accepted::Ended;
        }
        let seq = Seq(state.next);
        let mut line = match event.line(seq) {
            Ok(line) if line.len() <= EVENT_BYTES + (1 << 10) => line,
            // What is too large leaves a mark in its place.
            line => {
                let size = line.map_or(0, |line| line.len());
                let text = format!("an event of {size} bytes was left out");
                let kind = Kind::Marker(Marker::Gap { text });
                let gap = Event { at_ms: event.at_ms, tab: event.tab.clone(), kind };
                gap.line(seq).unwrap_or_default()
            }
        };
        for secret in state.secrets.iter().map(Secret::expose).filter(|secret| !secret.is_empty()) {
            if line.contains(secret.as_str()) {
                line = line.replace(secret.as_str(), REDACTED);
            }
        }
        state.next += 1;
        state.bytes += line.len() + 1;
        state.waiting.push_back(Waiting { seq, at_ms: event.at_ms, line, since: Instant::now() });
        let full = state.waiting.len() > WAITING_BATCHES * BATCH_EVENTS
            || state.bytes > WAITING_BATCHES * BATCH_BYTES;
        if full {
            let acknowledged = Seq(state.acknowledged);
            let reason =
                "the disk is too slow to keep up with the session; use a faster one".into();
            state.cut = Some(CutShort { reason, acknowledged });
        }
        let begins = state.waiting.len() == 1;
        let batch = state.waiting.len() >= BATCH_EVENTS || state.bytes >= BATCH_BYTES;
        drop(state);
        if begins || batch || full {
            self.shared.work.notify_one();
        }
        if full { Accepted::Ended } else { Accepted::Kept(seq) }
    }

    /// The last event that is on the disk. All before it are as well.
    pub fn acknowledged(&self) -> Seq {
        Seq(self.shared.state().acknowledged)
    }

    /// Why the recording ended before its session, if it did.
    pub fn cut_short(&self) -> Option<CutShort> {
        self.shared.state().cut.clone()
    }

    /// Waits until everything accepted so far is on the disk. False: it will not be. Blocks the thread.
    pub fn settle(&self) -> bool {
        let mut state = self.shared.state();
        let wanted = state.next - 1;
        while state.acknowledged < wanted && !state.finished {
            state.hurry = true;
            self.shared.work.notify_one();
            state = self.shared.done.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.acknowledged >= wanted
    }

    /// Writes what waits and how the recording ended, and returns how it did: cut short if it was
    /// before. Blocks the thread until it is on the disk.
    pub fn finish(mut self, end: End) -> End {
        self.end(end)
    }

    fn end(&mut self, end: End) -> End {
        self.shared.state().end.get_or_insert(end.clone());
        self.shared.work.notify_one();
        if let Some(thread) = self.thread.take() {
            // A panic of the thread leaves a recording without an end, which reads as cut short.
            let _ = thread.join();
        }
        match &self.shared.state().cut {
            Some(cut) => {
                End { status: RecordingStatus::CutShort, reason: cut.reason.clone(), ..end }
            }
            None => end,
        }
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        if self.thread.is_some() {
            let reason = "the recorder was let go".to_owned();
            self.end(End { status: RecordingStatus::Complete, reason, ended_at_ms: now_ms() });
        }
    }
}

fn now_ms() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    u64::try_from(since.unwrap_or_default().as_millis()).unwrap_or(u64::MAX)
}

/// Writes what a recording is about, keeps room for its end, and marks it as being written.
fn begin(dir: &Path, about: &RecordingAbout) -> Result<(File, File), RecordError> {
    let path = dir.join(LOCK);
    let lock = File::create_new(&path).map_err(RecordError::file("cannot make", &path))?;
    lock.lock().map_err(RecordError::file("cannot lock", &path))?;
    let path = dir.join(END);
    let room = || {
        let mut end = File::create_new(&path)?;
        end.write_all(&[b' '; END_BYTES])?;
        end.sync_all()?;
        Ok(end)
    };
    let end = room().map_err(RecordError::file("cannot write", &path))?;
    // The file with this name makes the directory a recording, so it comes last and whole.
    let path = dir.join(ABOUT);
    let whole = || {
        let mut file = tempfile::NamedTempFile::new_in(dir)?;
        serde_json::to_writer(&mut file, about)?;
        file.as_file().sync_all()?;
        file.persist(&path)?;
        File::open(dir)?.sync_all()
    };
    whole().map_err(RecordError::file("cannot write", &path))?;
    Ok((lock, end))
}

/// The thread that writes.
struct Writer {
    shared: Arc<Shared>,
    tape: Tape,
    end: File,
    on_cut: Option<OnCut>,
    /// Held as long as the recording is written.
    _lock: File,
}

impl Writer {
    fn run(mut self) {
        while let Some(batch) = self.next() {
            let Err(error) = self.tape.append(&batch) else {
                let last = batch.last().map_or(0, |last| last.seq.0);
                self.shared.state().acknowledged = last;
                self.shared.done.notify_all();
                continue;
            };
            let reason = match error {
                Trouble::Full => "the recording reached the size that it may have".to_owned(),
                Trouble::Disk(error) => {
                    format!("the disk did not take it ({error}); make room, or use another one")
                }
            };
            let mut state = self.shared.state();
            let acknowledged = Seq(state.acknowledged);
            state.cut.get_or_insert(CutShort { reason, acknowledged });
        }
        self.finish();
    }

    /// What is written next. `None`: nothing more.
    fn next(&self) -> Option<Vec<Waiting>> {
        let mut state = self.shared.state();
        loop {
            if state.cut.is_some() {
                state.waiting.clear();
                state.bytes = 0;
                return None;
            }
            let due = match state.waiting.front() {
                None if state.end.is_some() => return None,
                None => None,
                Some(first) => Some(BATCH_AGE.saturating_sub(first.since.elapsed())),
            };
            let full = state.waiting.len() >= BATCH_EVENTS || state.bytes >= BATCH_BYTES;
            match due {
                Some(left) if full || left.is_zero() || state.hurry || state.end.is_some() => break,
                Some(left) => {
                    let woken = self.shared.work.wait_timeout(state, left);
                    state = woken.unwrap_or_else(PoisonError::into_inner).0;
                }
                None => {
                    let woken = self.shared.work.wait(state);
                    state = woken.unwrap_or_else(PoisonError::into_inner);
                }
            }
        }
        let mut batch = Vec::new();
        let mut bytes = 0;
        while let Some(next) = state.waiting.front() {
            if !batch.is_empty() && (batch.len() >= BATCH_EVENTS || bytes >= BATCH_BYTES) {
                break;
            }
            bytes += next.line.len() + 1;
            batch.extend(state.waiting.pop_front());
        }
        state.bytes -= bytes;
        state.hurry &= !state.waiting.is_empty();
        Some(batch)
    }

    fn finish(&mut self) {
        let (cut, mut end) = {
            let state = self.shared.state();
            let unknown = End {
                status: RecordingStatus::Complete,
                reason: String::new(),
                ended_at_ms: now_ms(),
            };
            (state.cut.clone(), state.end.clone().unwrap_or(unknown))
        };
        if let Some(cut) = &cut {
            end.status = RecordingStatus::CutShort;
            end.reason.clone_from(&cut.reason);
            // In what is there, too, so that it is seen where a replay stops.
            self.tape.mark(cut, end.ended_at_ms);
        }
        if let Err(error) = self.write_end(&end) {
            tracing::warn!(%error, "how a recording ended was not written; it reads as cut short");
        }
        self.shared.state().finished = true;
        self.shared.done.notify_all();
        if let (Some(cut), Some(tell)) = (cut, self.on_cut.take()) {
            tell(&cut);
        }
    }

    /// Into the room that was kept for it.
    fn write_end(&mut self, end: &End) -> io::Result<()> {
        let mut end = end.clone();
        end.reason = end.reason.chars().take(END_BYTES / 8).collect();
        self.end.seek(SeekFrom::Start(0))?;
        self.end.write_all(&serde_json::to_vec(&end)?)?;
        self.end.sync_all()
    }
}

enum Trouble {
    Full,
    Disk(io::Error),
}

impl From<io::Error> for Trouble {
    fn from(error: io::Error) -> Self {
        Self::Disk(error)
    }
}

/// The segments as they are written.
struct Tape {
    dir: PathBuf,
    medium: Box<dyn Medium>,
    open: Option<Open>,
    bytes: u64,
    max_bytes: u64,
}

struct Open {
    file: Box<dyn Sink>,
    packer: Packer,
    bytes: u64,
}

impl Tape {
    fn append(&mut self, batch: &[Waiting]) -> Result<(), Trouble> {
        let (Some(first), Some(last)) = (batch.first(), batch.last()) else { return Ok(()) };
        if self.bytes >= self.max_bytes {
            return Err(Trouble::Full);
        }
        if self.open.as_ref().is_some_and(|open| open.bytes >= SEGMENT_BYTES) {
            self.open = None;
        }
        if self.open.is_none() {
            let mut file = self.medium.create(&segment_path(&self.dir, first.seq))?;
            file.write_all(NAME)?;
            self.open = Some(Open { file, packer: Packer::new()?, bytes: 0 });
        }
        let Some(open) = &mut self.open else { return Ok(()) };
        let mut lines =
            Vec::with_capacity(batch.iter().map(|waiting| waiting.line.len() + 1).sum());
        for waiting in batch {
            lines.extend_from_slice(waiting.line.as_bytes());
            lines.push(b'\n');
        }
        let count = u32::try_from(batch.len()).unwrap_or(u32::MAX);
        let packed = open.packer.pack(first.seq, count, last.at_ms, &lines)?;
        open.file.write_all(&packed)?;
        open.file.sync()?;
        open.bytes += packed.len() as u64;
        self.bytes += packed.len() as u64;
        Ok(())
    }

    /// A mark in a segment of its own, since the last one may end in the middle of a batch. On a full
    /// disk there may be no room for it; the end is written in any case.
    fn mark(&mut self, cut: &CutShort, at_ms: u64) {
        self.open = None;
        self.max_bytes = u64::MAX;
        let seq = Seq(cut.acknowledged.0 + 1);
        let path = segment_path(&self.dir, seq);
        // The segment that failed at its first batch has this name.
        drop(std::fs::remove_file(&path));
        let kind = Kind::Marker(Marker::CutShort { text: cut.reason.clone() });
        let Ok(line) = (Event { at_ms, tab: TabId::new(""), kind }).line(seq) else { return };
        let mark = Waiting { seq, at_ms, line, since: Instant::now() };
        if self.append(&[mark]).is_err() {
            drop(std::fs::remove_file(&path));
        }
    }
}
