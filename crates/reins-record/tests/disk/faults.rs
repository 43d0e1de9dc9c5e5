use crate::{complete, id, open, rrweb};
use proptest::prelude::*;
use reins_record::{
    Accepted, Files, KindName, Library, Medium, Options, RecordingStatus, Seq, Sink,
};
use std::io::{self, Write};
use std::path::Path;
use std::sync::mpsc;

/// A disk with room for so many bytes.
struct Small {
    files: Files,
    left: std::sync::Arc<std::sync::atomic::AtomicI64>,
}

struct SmallFile {
    file: Box<dyn Sink>,
    left: std::sync::Arc<std::sync::atomic::AtomicI64>,
}

impl Medium for Small {
    fn create(&mut self, path: &Path) -> io::Result<Box<dyn Sink>> {
        let file = self.files.create(path)?;
        Ok(Box::new(SmallFile { file, left: self.left.clone() }))
    }
}

impl Write for SmallFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let left = self.left.load(std::sync::atomic::Ordering::SeqCst);
        if left <= 0 {
            return Err(io::Error::from(io::ErrorKind::StorageFull));
        }
        // As disks do, it takes a part of what is written last.
        let part = bytes.len().min(usize::try_from(left).unwrap());
        let taken = self.file.write(&bytes[..part])?;
        self.left.fetch_sub(taken as i64, std::sync::atomic::Ordering::SeqCst);
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Sink for SmallFile {
    fn sync(&mut self) -> io::Result<()> {
        self.file.sync()
    }
}

/// A full disk ends the recording with a mark, tells it, and takes nothing that was acknowledged.
#[test]
fn a_full_disk_cuts_the_recording_short_and_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let (told, telling) = mpsc::channel();
    let left = std::sync::Arc::new(std::sync::atomic::AtomicI64::new(700));
    let options = Options {
        medium: Box::new(Small { files: Files, left }),
        on_cut: Some(Box::new(move |cut| told.send(cut.clone()).unwrap())),
        ..Options::default()
    };
    let recorder = open(dir.path(), "one", options);
    let mut kept = 0;
    for n in 0.. {
        if recorder.accept(&rrweb(1_000 + n, &format!("text {n}"))) == Accepted::Ended {
            break;
        }
        kept = n + 1;
        recorder.settle();
    }
    let cut = telling.recv().unwrap();
    assert!(cut.reason.contains("disk"), "{}", cut.reason);
    assert!(cut.acknowledged.0 >= 1 && cut.acknowledged.0 <= kept);
    assert_eq!(recorder.cut_short(), Some(cut.clone()));
    let end = recorder.finish(complete(9_000));
    assert_eq!(end.status, RecordingStatus::CutShort);
    let library = Library::open(dir.path());
    let recording = library.get(&id("one")).unwrap();
    assert_eq!(recording.status, RecordingStatus::CutShort);
    assert_eq!(recording.end_reason, Some(cut.reason));
    let events = library.events(&id("one"), Seq(0), 1_000).unwrap().events;
    let seqs: Vec<u64> = events.iter().map(|event| event.seq.0).collect();
    assert_eq!(seqs, (1..=cut.acknowledged.0).collect::<Vec<_>>());
}

/// An event that is larger than may be kept leaves a mark in its place, and the recording goes on.
#[test]
fn an_event_that_is_too_large_leaves_a_gap_and_the_recording_goes_on() {
    let dir = tempfile::tempdir().unwrap();
    let recorder = open(dir.path(), "one", Options::default());
    recorder.accept(&rrweb(1_000, "before"));
    assert_eq!(recorder.accept(&rrweb(1_001, &"x".repeat(9 << 20))), Accepted::Kept(Seq(2)));
    recorder.accept(&rrweb(1_002, "after"));
    assert_eq!(recorder.finish(complete(9_000)).status, RecordingStatus::Complete);
    let library = Library::open(dir.path());
    let events = library.events(&id("one"), Seq(0), 1_000).unwrap().events;
    let kinds: Vec<KindName> = events.iter().map(|event| event.kind).collect();
    assert_eq!(kinds, [KindName::Rrweb, KindName::Marker, KindName::Rrweb]);
    let gap: serde_json::Value = serde_json::from_str(events[1].data.get()).unwrap();
    assert_eq!(gap["what"], "gap", "{gap}");
    assert!(gap["text"].as_str().unwrap().contains("left out"), "{gap}");
    assert!(library.get(&id("one")).unwrap().bytes < 100_000, "it is not on the disk");
}

/// Where there is room for it again, the mark stands in the events as well.
#[test]
fn a_recording_that_is_too_large_ends_with_a_mark() {
    let dir = tempfile::tempdir().unwrap();
    let recorder = open(dir.path(), "one", Options { max_bytes: 400, ..Options::default() });
    let mut n = 0;
    while recorder.accept(&rrweb(1_000 + n, &format!("text {n}"))) != Accepted::Ended {
        recorder.settle();
        n += 1;
    }
    recorder.finish(complete(9_000));
    let library = Library::open(dir.path());
    let events = library.events(&id("one"), Seq(0), 1_000).unwrap().events;
    let last = events.last().unwrap();
    assert_eq!(last.kind, KindName::Marker);
    assert!(last.data.get().contains("cut_short"), "{}", last.data.get());
    assert_eq!(library.get(&id("one")).unwrap().status, RecordingStatus::CutShort);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Cut off or damaged anywhere, a recording is read up to the batch before that place.
    #[test]
    fn a_torn_or_damaged_tail_takes_only_what_follows(cut in 0.0..1.0_f64, flip in any::<bool>()) {
        let dir = tempfile::tempdir().unwrap();
        let recorder = open(dir.path(), "one", Options::default());
        let segment = dir.path().join("one").join("000000000001.seg");
        let mut ends = Vec::new();
        for n in 1..=6_u64 {
            recorder.accept(&rrweb(1_000 + n, &format!("text {n}")));
            prop_assert!(recorder.settle());
            ends.push(std::fs::metadata(&segment).unwrap().len());
        }
        recorder.finish(complete(9_000));
        let mut bytes = std::fs::read(&segment).unwrap();
        let at = ((bytes.len() - 1) as f64 * cut) as usize;
        if flip {
            bytes[at] ^= 0x55;
        } else {
            bytes.truncate(at);
        }
        std::fs::write(&segment, &bytes).unwrap();
        let whole = ends.iter().filter(|end| **end <= at as u64).count();
        let read = Library::open(dir.path()).events(&id("one"), Seq(0), 100).unwrap().events;
        let seqs: Vec<u64> = read.iter().map(|event| event.seq.0).collect();
        prop_assert_eq!(seqs, (1..=whole as u64).collect::<Vec<_>>());
    }
}
