//! Conversations and their journals.

#![expect(clippy::expect_used, reason = "a test fails by panicking")]

use reins_core::{ConversationId, Secret};
use reins_store::{ConversationDraft, ConversationName, Durability, Phase, Store};
use std::path::Path;
use std::time::SystemTime;

fn draft(name: Option<&str>, task: &str) -> ConversationDraft {
    ConversationDraft {
        name: name.map(|name| name.parse().expect("a name")),
        task: task.to_owned(),
        version: "1.2.3".to_owned(),
        settings: r#"{"url":"https://shop.example/"}"#.to_owned(),
        at: SystemTime::now(),
    }
}

fn open(folder: &Path) -> Store {
    Store::open(folder.join("reins.db")).expect("a store")
}

async fn write(store: &Store, run: &ConversationId, payload: &str) -> u64 {
    let (run, payload) = (run.clone(), payload.to_owned());
    store.append(run, "remark", payload, Durability::System).await.expect("an entry")
}

/// W-081: entries keep their order and number, across processes, and can be read from any point.
/// W-720: what a conversation was is rebuilt from its journal.
#[tokio::test]
async fn w081_entries_are_numbered_and_replayed_from_any_point() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = open(folder.path());
    let (one, two) = (
        store.begin_conversation(draft(None, "first")).await.expect("a run"),
        store.begin_conversation(draft(Some("work"), "second")).await.expect("a run"),
    );
    for n in 1..=3 {
        assert_eq!(write(&store, &one, &format!("{{\"n\":{n}}}")).await, n);
    }
    assert_eq!(write(&store, &two, "{}").await, 1);
    store.end_conversation(one.clone(), Phase::Done).await.expect("an end");
    drop(store);

    let watcher = open(folder.path());
    let late = watcher.journal(one.clone(), 1, 10).await.expect("entries");
    assert_eq!(late.iter().map(|entry| entry.seq).collect::<Vec<_>>(), [2, 3]);
    assert_eq!((late[0].kind.as_str(), late[0].payload.as_str()), ("remark", "{\"n\":2}"));
    let run = watcher.find_conversation(one.to_string()).await.expect("the run");
    assert_eq!((run.phase, run.entries), (Phase::Done, 3));
    assert_eq!(run.version.as_deref(), Some("1.2.3"), "W-462");
    assert_eq!(watcher.find_conversation("work".to_owned()).await.expect("the run").id, two);
    let by_beginning = one.as_str()[..5].to_owned();
    assert_eq!(watcher.find_conversation(by_beginning).await.expect("the run").id, one);
    for word in ["", "nothing", "%"] {
        let error = watcher.find_conversation(word.to_owned()).await.expect_err("no run");
        assert_eq!(error.code(), "no_such_run");
    }
    assert_eq!(watcher.conversations(10).await.expect("runs").len(), 2);
}

/// A run belongs to one process at a time: another waits for its end, and takes it from a dead one.
/// The former owner then writes nothing more.
#[tokio::test]
async fn a_run_is_worked_on_by_one_process() {
    let folder = tempfile::tempdir().expect("a folder");
    let (first, second) = (open(folder.path()), open(folder.path()));
    let run = first.begin_conversation(draft(None, "task")).await.expect("a run");
    let busy = second.claim_conversation(run.clone(), None).await.expect_err("it is worked on");
    assert_eq!(busy.code(), "run_busy");
    let busy = second.delete_conversation(run.clone()).await.expect_err("it is worked on");
    assert_eq!(busy.code(), "run_busy");
    first.end_conversation(run.clone(), Phase::Stopped).await.expect("an end");
    let taken = second.claim_conversation(run.clone(), None).await.expect("taken over");
    assert_eq!(taken.phase, Phase::Working);
    let late = first.append(run.clone(), "x", "{}".to_owned(), Durability::Disk).await;
    assert_eq!(late.expect_err("it was taken over").code(), "run_busy");
    let late = first.end_conversation(run.clone(), Phase::Done).await;
    assert_eq!(late.expect_err("it was taken over").code(), "run_busy");
    assert_eq!(write(&second, &run, "{}").await, 1);
    // It ends without saying so: whoever looks sees a run that was interrupted, and may go on.
    second.flush().await.expect("a flush");
    drop(second);
    let mut phase = Phase::Working;
    while phase == Phase::Working {
        phase = first.find_conversation(run.to_string()).await.expect("the run").phase;
    }
    assert_eq!(phase, Phase::Interrupted);
    first.claim_conversation(run.clone(), None).await.expect("taken over");
    assert_eq!(write(&first, &run, "{}").await, 2);
}

/// Everything in the folder, as bytes.
fn on_disk(folder: &Path) -> Vec<u8> {
    let files = std::fs::read_dir(folder).expect("a folder").flatten();
    files.filter_map(|file| std::fs::read(file.path()).ok()).flatten().collect()
}

fn holds(folder: &Path, text: &str) -> bool {
    on_disk(folder).windows(text.len()).any(|window| window == text.as_bytes())
}

/// R-131: what turns out to be a secret goes from everything that is kept, and from the file.
#[tokio::test]
async fn r131_a_secret_is_taken_out_of_a_run_and_of_the_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = open(folder.path());
    let run =
        store.begin_conversation(draft(None, "sign in with hunter2-xy")).await.expect("a run");
    write(&store, &run, r#"{"task":"sign in with hunter2-xy","n":1}"#).await;
    write(&store, &run, r#"{"other":"stays"}"#).await;
    store.flush().await.expect("a flush");
    assert!(holds(folder.path(), "hunter2-xy"));
    let secret = vec![(Secret::new("hunter2-xy".to_owned()), "[redacted]".to_owned())];
    store.redact_conversation(run.clone(), secret.clone(), secret).await.expect("redacted");
    let kept = store.find_conversation(run.to_string()).await.expect("the run");
    assert_eq!(kept.task, "sign in with [redacted]");
    let entries = store.journal(run, 0, 10).await.expect("entries");
    assert_eq!(entries[0].payload, r#"{"task":"sign in with [redacted]","n":1}"#);
    assert_eq!(entries[1].payload, r#"{"other":"stays"}"#);
    assert!(!holds(folder.path(), "hunter2-xy"));
}

/// What the person deletes is gone from the file as well.
#[tokio::test]
async fn a_deleted_run_leaves_nothing_behind() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = open(folder.path());
    let gone =
        store.begin_conversation(draft(Some("old"), "buy a lighthouse")).await.expect("a run");
    let stays = store.begin_conversation(draft(None, "other")).await.expect("a run");
    write(&store, &gone, r#"{"text":"a lighthouse for Ada"}"#).await;
    store.end_conversation(gone.clone(), Phase::Done).await.expect("an end");
    store.delete_conversation(gone.clone()).await.expect("deleted");
    assert!(!holds(folder.path(), "lighthouse"));
    assert!(store.journal(gone.clone(), 0, 9).await.expect("entries").is_empty());
    assert_eq!(store.delete_conversation(gone).await.expect_err("gone").code(), "no_such_run");
    assert_eq!(store.conversations(9).await.expect("runs")[0].id, stays);
    // Its name is free again, and taken only once.
    store.begin_conversation(draft(Some("old"), "again")).await.expect("a run");
    let taken = store.begin_conversation(draft(Some("old"), "again")).await.expect_err("taken");
    assert_eq!(taken.code(), "run_name_taken");
    for word in ["", "a b", "a/b", &"x".repeat(41)] {
        word.parse::<ConversationName>().expect_err("no name");
    }
}
