use crate::{id, open, rrweb};
use reins_record::{Library, Options, RecordingStatus, Seq};
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

const DIR: &str = "REINS_RECORD_KILLED";

/// What the killed process does. Does nothing where the test below did not start it.
#[test]
fn writes_until_it_is_killed() {
    let Some(dir) = std::env::var_os(DIR) else { return };
    let recorder = open(dir.as_ref(), "one", Options::default());
    let mut out = std::io::stdout();
    for n in 1.. {
        recorder.accept(&rrweb(1_000 + n, &format!("text {n} {}", "x".repeat(2_000))));
        if n % 200 == 0 {
            writeln!(out, "acknowledged={}", recorder.acknowledged().0).unwrap();
        }
    }
}

/// Killed while it writes, everything that was acknowledged is there, and the recording says that its end
/// is missing.
#[test]
fn killed_while_writing_everything_acknowledged_is_read() {
    for kill_at in [1, 3_000, 12_000] {
        let dir = tempfile::tempdir().unwrap();
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "killed::writes_until_it_is_killed", "--nocapture"])
            .env(DIR, dir.path())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let said = lines
            .map_while(Result::ok)
            .filter_map(|line| line.split_once("acknowledged=")?.1.trim().parse::<u64>().ok())
            .find(|said| *said >= kill_at)
            .unwrap();
        let library = Library::open(dir.path());
        assert_eq!(library.list().unwrap()[0].status, RecordingStatus::Recording);
        child.kill().unwrap();
        child.wait().unwrap();

        let listed = library.list().unwrap();
        assert_eq!(listed[0].status, RecordingStatus::CutShort, "what was live is looked at again");
        assert_eq!(listed, Library::open(dir.path()).list().unwrap());
        let recording = library.get(&id("one")).unwrap();
        assert_eq!(recording.status, RecordingStatus::CutShort);
        assert!(recording.end_reason.unwrap().contains("ended before"));
        let mut after = Seq(0);
        loop {
            let page = library.events(&id("one"), after, 1_000).unwrap();
            for event in &page.events {
                assert_eq!(event.seq.0, after.0 + 1);
                assert!(event.data.get().contains(&format!("text {} ", event.seq.0)));
                after = event.seq;
            }
            if page.next.is_none() {
                break;
            }
        }
        assert!(after.0 >= said, "{} of {said}", after.0);
        assert!(recording.events >= said);
    }
}
