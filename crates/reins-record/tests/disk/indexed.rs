use crate::{complete, id, open, rrweb};
use reins_record::{Library, Options, Recording, RecordingStatus};
use std::path::Path;

fn write(dir: &Path, name: &str) {
    let recorder = open(dir, name, Options::default());
    recorder.accept(&rrweb(1_100, "x"));
    recorder.finish(complete(2_000));
}

fn names(listed: &[Recording]) -> Vec<&str> {
    listed.iter().map(|recording| recording.id.as_str()).collect()
}

/// Recordings that have ended are opened once: what was listed before is listed again though it can no longer be opened,
/// also by the next process.
#[test]
fn ended_recordings_are_opened_once() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["a", "b", "c"] {
        write(dir.path(), name);
    }
    let library = Library::open(dir.path());
    let first = library.list().unwrap();
    assert_eq!(names(&first), ["c", "b", "a"]);
    std::fs::write(dir.path().join("b/about.json"), "damaged").unwrap();
    std::fs::remove_file(dir.path().join("c/000000000001.seg")).unwrap();
    assert_eq!(library.list().unwrap(), first);
    assert_eq!(Library::open(dir.path()).list().unwrap(), first);
    assert!(library.get(&id("b")).is_err(), "one alone is always read from itself");
}

/// Without an index, or with one that is torn or holds nonsense, the list is what the recordings say.
#[test]
fn an_index_that_is_gone_torn_or_wrong_is_made_anew() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["a", "b", "c"] {
        write(dir.path(), name);
    }
    let listed = Library::open(dir.path()).list().unwrap();
    let index = dir.path().join("index.jsonl");
    let good = std::fs::read(&index).unwrap();
    assert!(good.len() > 300);
    let live = br#"{"id":"a","tenant":"t","sandbox_id":"s","app_url":"","started_at_ms":0,"kinds":{"rrweb":true,"frames":true,"console":true},"status":"recording","end_reason":null,"ended_at_ms":null,"events":0,"bytes":0,"duration_ms":0}"#;
    for bad in [
        Vec::new(),
        b"nonsense\n{}\n".to_vec(),
        vec![0xff; 5_000],
        live.to_vec(),
        good[..good.len() - 40].to_vec(),
        good[..good.len() / 3].to_vec(),
    ] {
        std::fs::write(&index, &bad).unwrap();
        assert_eq!(Library::open(dir.path()).list().unwrap(), listed);
        assert_eq!(Library::open(dir.path()).list().unwrap(), listed, "and as it was left then");
    }
    std::fs::remove_file(&index).unwrap();
    assert_eq!(Library::open(dir.path()).list().unwrap(), listed);
}

/// What is deleted is not listed, what is new is, and what is being written is looked at each time; the index does not grow with
/// what is gone.
#[test]
fn the_list_follows_what_comes_ends_and_goes() {
    let dir = tempfile::tempdir().unwrap();
    let library = Library::open(dir.path());
    write(dir.path(), "a");
    let live = open(dir.path(), "b", Options::default());
    let status = |library: &Library| library.list().unwrap()[0].status;
    assert_eq!(status(&library), RecordingStatus::Recording);
    live.accept(&rrweb(1_100, "x"));
    assert!(live.settle());
    assert_eq!(library.list().unwrap()[0].events, 1, "as it stands now");
    live.finish(complete(3_000));
    assert_eq!(status(&library), RecordingStatus::Complete);
    library.delete(&id("a")).unwrap();
    assert_eq!(names(&library.list().unwrap()), ["b"]);
    assert_eq!(names(&Library::open(dir.path()).list().unwrap()), ["b"]);
    for n in 0..200 {
        let name = format!("n{n}");
        write(dir.path(), &name);
        assert_eq!(library.list().unwrap().len(), 2);
        library.delete(&id(&name)).unwrap();
    }
    let lines = std::fs::read_to_string(dir.path().join("index.jsonl")).unwrap();
    assert!(lines.lines().count() < 160, "{}", lines.lines().count());
    assert_eq!(names(&library.list().unwrap()), ["b"]);
}
