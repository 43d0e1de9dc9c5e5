//! A store that can't be written refuses, and nothing is sent unrecorded.

use reins_core::{Action, SessionId, StepId, TabId, TurnId};
use reins_store::{ReceiptDraft, Store, StoreError};
use std::time::SystemTime;

fn draft(step: u32) -> ReceiptDraft {
    let act = Action::Navigate { tab: TabId::new("T"), url: "https://shop.example/".to_owned() };
    ReceiptDraft::new(SessionId::new("S"), TurnId(1), StepId(step), &act, SystemTime::now())
}

#[test]
fn a_folder_that_is_a_file_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("file");
    std::fs::write(&file, "").expect("a file");
    let error = Store::open(file.join("reins.db")).expect_err("no folder");
    assert_eq!(error.code(), "store_unwritable");
    assert!(error.to_string().contains("file"), "{error}");
}

#[test]
fn a_file_that_is_no_database_is_left_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("reins.db");
    let text = "my diary, not a database. ".repeat(100);
    std::fs::write(&path, &text).expect("a file");
    let error = Store::open(&path).expect_err("no database");
    assert_eq!(error.code(), "store_damaged");
    assert_eq!(std::fs::read_to_string(&path).expect("the file"), text);
}

#[test]
fn a_newer_format_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("reins.db");
    rusqlite::Connection::open(&path)
        .and_then(|newer| newer.pragma_update(None, "user_version", 99))
        .expect("a newer file");
    let error = Store::open(&path).expect_err("too new");
    assert!(matches!(error, StoreError::TooNew { found: 99, .. }), "{error}");
}

/// Another process that keeps the file locked makes the act fail, not wait forever.
#[tokio::test]
async fn a_file_that_stays_locked_is_busy() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("reins.db");
    let store = Store::open(&path).expect("a store");
    let other = rusqlite::Connection::open(&path).expect("a connection");
    other.execute_batch("BEGIN IMMEDIATE").expect("a lock");
    let error = store.begin(draft(1)).await.expect_err("it is locked");
    assert_eq!(error.code(), "store_busy");
    other.execute_batch("ROLLBACK").expect("no lock");
    store.begin(draft(2)).await.expect("it is free again").finish(&reins_core::Outcome::Completed);
    let kept = store.receipts(9).await.expect("receipts");
    assert_eq!(kept.iter().map(|receipt| receipt.step.0).collect::<Vec<_>>(), [2]);
}
