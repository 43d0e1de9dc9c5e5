//! What is known after a process was killed, at every stage of an act.
//!
//! The killed process is this test binary itself: it runs the test `an_act_goes_through_its_stages`
//! with a database and a stage to stop at.

#![expect(clippy::expect_used, reason = "a test fails by panicking")]

use reins_core::{Action, Outcome, SessionId, StepId, TabId, TurnId};
use reins_store::{Receipt, ReceiptDraft, Store};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::SystemTime;

/// The database of the process that will be killed.
const DATABASE: &str = "REINS_TEST_STORE";

/// Where it stops and waits to be killed.
const STAGE: &str = "REINS_TEST_STAGE";

/// What it writes before each number, so that it is told from the test harness's own lines.
const MARK: &str = "\u{1}reins ";

fn draft(step: u32) -> ReceiptDraft {
    let act = Action::Navigate { tab: TabId::new("T"), url: "https://shop.example/".to_owned() };
    ReceiptDraft::new(SessionId::new("S"), TurnId(1), StepId(step), &act, SystemTime::now())
}

/// Says something to the process that waits for it.
fn say(word: &str, number: u32) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{MARK}{word} {number}").and_then(|()| out.flush()).expect("someone listens");
}

/// Waits for the end that the other process brings.
fn wait_to_be_killed() {
    let _ = std::io::stdin().read_to_end(&mut Vec::new());
}

/// One act from its receipt to its end. As a child it stops at the stage it was told.
#[tokio::test]
async fn an_act_goes_through_its_stages() {
    let own = tempfile::tempdir().expect("a folder");
    let path = std::env::var_os(DATABASE).map_or(own.path().join("reins.db"), Into::into);
    let stage = std::env::var(STAGE).unwrap_or_default();
    let stop_at = |here: &str| {
        if here == stage {
            say("at", 0);
            wait_to_be_killed();
        }
    };
    let store = Store::open(&path).expect("a store");
    stop_at("opened");
    if stage == "endless" {
        for step in 1.. {
            let open = store.begin(draft(step)).await.expect("a receipt");
            say("begun", step);
            open.finish(&Outcome::Completed);
            if step % 3 == 0 {
                store.flush().await.expect("a flush");
                say("finished", step);
            }
        }
    }
    let open = store.begin(draft(1)).await.expect("a receipt");
    stop_at("begun");
    open.finish(&Outcome::Completed);
    store.flush().await.expect("a flush");
    stop_at("finished");
    let end = store.receipts(1).await.expect("receipts").remove(0).end.expect("an end");
    assert_eq!(end.outcome, "completed");
}

fn child(database: &Path, stage: &str) -> (Child, impl Iterator<Item = (String, u32)> + use<>) {
    let mut child = Command::new(std::env::current_exe().expect("this program"))
        .args(["an_act_goes_through_its_stages", "--exact", "--nocapture", "--test-threads=1"])
        .env(DATABASE, database)
        .env(STAGE, stage)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("a child");
    let out = BufReader::new(child.stdout.take().expect("its output"));
    let said = out.lines().map_while(Result::ok).filter_map(|line| {
        let (_, said) = line.split_once(MARK)?;
        let (word, number) = said.split_once(' ')?;
        Some((word.to_owned(), number.parse().ok()?))
    });
    (child, said)
}

fn kill(mut child: Child) {
    child.kill().expect("a kill");
    child.wait().expect("its end");
}

fn steps(receipts: &[Receipt]) -> Vec<u32> {
    receipts.iter().map(|receipt| receipt.step.0).collect()
}

/// killed before the receipt, between receipt and end, and after the end.
#[tokio::test]
async fn a056_what_was_under_way_is_reported_as_unknown_once() {
    for (stage, expected) in [("opened", &[][..]), ("begun", &[1]), ("finished", &[])] {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("reins.db");
        let (process, mut said) = child(&path, stage);
        assert_eq!(said.next(), Some(("at".to_owned(), 0)), "{stage}");

        let store = Store::open(&path).expect("a store");
        let early = store.interrupted().await.expect("receipts");
        assert!(early.is_empty(), "{stage}: the other process is alive");

        kill(process);
        let found = store.interrupted().await.expect("receipts");
        assert_eq!(steps(&found), expected, "{stage}");
        for receipt in &found {
            let end = receipt.end.as_ref().expect("an end");
            assert_eq!(
                (end.outcome.as_str(), end.code.as_deref()),
                ("unknown", Some("interrupted"))
            );
            assert_eq!(receipt.tool, "navigate");
        }
        assert!(store.interrupted().await.expect("receipts").is_empty(), "{stage}: told once");
        store.acknowledge(&found).await.expect("acknowledged");
        drop(store);
        let later = Store::open(&path).expect("a store");
        assert!(later.interrupted().await.expect("receipts").is_empty(), "{stage}: told once");
    }
}

/// A report that its process did not live to tell is told by the next one, and only by one.
#[tokio::test]
async fn a056_a_report_that_was_not_told_is_not_lost() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("reins.db");
    let (process, mut said) = child(&path, "begun");
    said.next().expect("it began");
    kill(process);
    let first = Store::open(&path).expect("a store");
    let second = Store::open(&path).expect("a store");
    assert_eq!(steps(&first.interrupted().await.expect("receipts")), [1]);
    assert!(second.interrupted().await.expect("receipts").is_empty(), "the first one tells");
    // The first one ends without having told anyone. Its last writes are done when it is gone.
    first.flush().await.expect("a flush");
    drop(first);
    let mut again = second.interrupted().await.expect("receipts");
    while again.is_empty() {
        again = second.interrupted().await.expect("receipts");
    }
    assert_eq!(steps(&again), [1]);
}

/// Two live processes do not take each other's open receipts for interrupted.
#[tokio::test]
async fn processes_that_live_do_not_disturb_each_other() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("reins.db");
    let (one, mut said) = child(&path, "begun");
    said.next().expect("it began");
    let (other, mut said) = child(&path, "begun");
    said.next().expect("it began");
    let store = Store::open(&path).expect("a store");
    let mine = store.begin(draft(9)).await.expect("a receipt");
    assert!(store.interrupted().await.expect("receipts").is_empty());
    kill(one);
    assert_eq!(store.interrupted().await.expect("receipts").len(), 1);
    kill(other);
    assert_eq!(store.interrupted().await.expect("receipts").len(), 1);
    mine.finish(&Outcome::Completed);
}

/// Processes that write at the same time lose nothing to each other.
#[tokio::test]
async fn two_processes_write_at_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("reins.db");
    let running = [child(&path, "endless"), child(&path, "endless")];
    let threads = running.map(|(process, said)| {
        std::thread::spawn(move || {
            let heard: Vec<(String, u32)> = said.take(60).collect();
            kill(process);
            heard.into_iter().filter(|(word, _)| word == "begun").map(|(_, step)| step).max()
        })
    });
    let begun = threads.map(|thread| thread.join().expect("a thread").expect("a step"));
    let store = Store::open(&path).expect("a store");
    let interrupted = store.interrupted().await.expect("receipts");
    let kept = store.receipts(u32::MAX).await.expect("receipts");
    assert!(kept.len() >= (begun[0] + begun[1]) as usize, "{} of {begun:?}", kept.len());
    assert!(kept.iter().all(|receipt| receipt.end.is_some()));
    for step in begun {
        assert!(kept.iter().filter(|receipt| receipt.step.0 == step).count() >= 1);
    }
    store.acknowledge(&interrupted).await.expect("acknowledged");
}

/// Killed at any moment: what `begin` promised is there, what was flushed has its end, and only
/// what was under way is unknown.
#[tokio::test]
async fn a056_killed_at_any_moment_nothing_that_was_promised_is_lost() {
    for lines in [1, 2, 3, 4, 7, 20, 41, 100] {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("reins.db");
        let (process, said) = child(&path, "endless");
        let heard: Vec<(String, u32)> = said.take(lines).collect();
        kill(process);
        let last = |word: &str| {
            heard.iter().filter(|(said, _)| said == word).map(|(_, step)| *step).max().unwrap_or(0)
        };
        let store = Store::open(&path).expect("a store");
        let unknown = steps(&store.interrupted().await.expect("receipts"));
        let kept = store.receipts(u32::MAX).await.expect("receipts");
        let mut recorded = steps(&kept);
        recorded.reverse();
        let count = u32::try_from(recorded.len()).expect("a count");
        assert!(recorded.iter().copied().eq(1..=count), "{lines}: {recorded:?}");
        assert!(count >= last("begun"), "{lines}: {count} of {}", last("begun"));
        assert!(unknown.iter().all(|step| *step > last("finished")), "{lines}: {unknown:?}");
        assert!(kept.iter().all(|receipt| receipt.end.is_some()));
    }
}
