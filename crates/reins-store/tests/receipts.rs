//! Receipts and site rules as control uses them.

#![expect(clippy::expect_used, reason = "a test fails by panicking")]

use reins_core::{
    Action, DocumentId, DocumentOrigin, FrameId, NodeKey, NodeNumber, Origin, Outcome, Refusal,
    Rule, Secret, Sensitivity, SessionId, StepId, TabId, TargetRecord, TurnId, TypeMode, Unknown,
    UnknownCause,
};
use reins_store::{ReceiptDraft, Store};
use std::path::Path;
use std::time::{Duration, SystemTime};

/// What must never reach the file.
const SECRET: &str = "hunter2-swordfish";

fn field(name: &str) -> TargetRecord {
    let origin = DocumentOrigin::Web(Origin::parse("https://shop.example").expect("an origin"));
    TargetRecord {
        node: NodeKey {
            tab: TabId::new("T"),
            frame: FrameId::new("T"),
            document: DocumentId::new("D"),
            node: NodeNumber(1),
        },
        origin: origin.clone(),
        top: origin,
        tag: "input".to_owned(),
        input_type: Some("password".to_owned()),
        role: "textbox".to_owned(),
        name: name.to_owned(),
        link: None,
        submission: None,
        enter: None,
        sensitivity: Sensitivity::Password,
        editable: true,
        disabled: false,
        seal: SECRET.to_owned(),
    }
}

fn typing(name: &str) -> Action {
    Action::Type {
        target: field(name),
        text: Secret::new(SECRET.to_owned()),
        kept: None,
        mode: TypeMode::Replace,
        keys: false,
        enter: false,
    }
}

fn draft(step: u32, action: &Action) -> ReceiptDraft {
    draft_at(step, action, SystemTime::now())
}

fn draft_at(step: u32, action: &Action, at: SystemTime) -> ReceiptDraft {
    ReceiptDraft::new(SessionId::new("S"), TurnId(7), StepId(step), action, at)
}

/// Every byte of the database and of its side files.
fn bytes_on_disk(path: &Path) -> Vec<u8> {
    let folder = path.parent().expect("a folder");
    std::fs::read_dir(folder)
        .expect("the folder")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.is_file())
        .flat_map(|path| std::fs::read(path).expect("a file"))
        .collect()
}

fn holds(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

/// A-052…A-055: an act is recorded before it is sent, and its end is one of three.
#[tokio::test]
async fn a052_a_receipt_tells_what_was_sent_and_how_it_ended() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = Store::open(folder.path().join("reins.db")).expect("a store");
    let ends = [
        Outcome::Completed,
        Outcome::Refused(Refusal::new("stale_ref", "it changed", "look again")),
        Outcome::Unknown(Unknown { cause: UnknownCause::Deadline, message: "late".to_owned() }),
    ];
    for (step, end) in (1..).zip(&ends) {
        let open = store.begin(draft(step, &typing("Password"))).await.expect("a receipt");
        let kept = store.receipts(1).await.expect("receipts").remove(0);
        assert_eq!((kept.id, kept.end), (open.id(), None), "it is there before it ends");
        open.finish(end);
    }
    let kept = store.receipts(10).await.expect("receipts");
    let told: Vec<_> = kept
        .iter()
        .map(|receipt| {
            let end = receipt.end.as_ref().expect("an end");
            (receipt.step.0, end.outcome.as_str(), end.code.as_deref())
        })
        .collect();
    assert_eq!(
        told,
        [
            (3, "unknown", Some("deadline")),
            (2, "refused", Some("stale_ref")),
            (1, "completed", None),
        ]
    );
    assert_eq!(kept[0].tool, "type");
    assert_eq!(kept[0].element.as_deref(), Some("textbox \"Password\""));
    assert_eq!(kept[0].origin.as_deref(), Some("https://shop.example"));
    assert_eq!(kept[0].turn, TurnId(7));
}

/// Nothing of what was typed, of a seal, or of an address beyond its origin reaches the file.
#[tokio::test]
async fn a_secret_never_reaches_the_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("reins.db");
    let store = Store::open(&path).expect("a store");
    let address = format!("https://user:{SECRET}@shop.example/{SECRET}?token={SECRET}#{SECRET}");
    let acts = [
        typing("Password"),
        Action::Navigate { tab: TabId::new("T"), url: address.clone() },
        Action::OpenTab { url: Some(address.clone()) },
        Action::Reload { tab: TabId::new("T"), url: address },
        Action::Select { target: field("Card"), options: vec![SECRET.to_owned()] },
        Action::Upload { target: field("File"), files: vec![format!("/{SECRET}").into()] },
        Action::AnswerDialog {
            tab: TabId::new("T"),
            accept: true,
            text: Some(Secret::new(SECRET.to_owned())),
        },
    ];
    for (step, act) in (1..).zip(&acts) {
        let open = store.begin(draft(step, act)).await.expect("a receipt");
        open.finish(&Outcome::Refused(Refusal::new("stale_ref", SECRET, SECRET)));
    }
    store.flush().await.expect("a flush");
    let bytes = bytes_on_disk(&path);
    assert!(holds(&bytes, "Password") && holds(&bytes, "https://shop.example"));
    assert!(!holds(&bytes, SECRET));
}

/// A caller that goes away before it hears of its receipt has sent nothing.
#[tokio::test]
async fn a_dropped_begin_leaves_nothing_open() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = Store::open(folder.path().join("reins.db")).expect("a store");
    for step in 1..=50 {
        let act = typing("Name");
        let begin = store.begin(draft(step, &act));
        // Polled once, so that it is in the queue, and then dropped.
        let gone = tokio::time::timeout(Duration::ZERO, begin).await;
        drop(gone);
    }
    store.flush().await.expect("a flush");
    store.flush().await.expect("a second one, behind the ends that the first made");
    for receipt in store.receipts(100).await.expect("receipts") {
        let end = receipt.end.expect("an end");
        assert!(
            matches!(
                (end.outcome.as_str(), end.code.as_deref()),
                ("refused", Some("not_sent")) | ("unknown", Some("interrupted"))
            ),
            "{end:?}"
        );
    }
}

/// Whoever drops an open receipt may have sent the act.
#[tokio::test]
async fn a055_a_dropped_receipt_is_unknown() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = Store::open(folder.path().join("reins.db")).expect("a store");
    drop(store.begin(draft(1, &typing("Name"))).await.expect("a receipt"));
    store.flush().await.expect("a flush");
    let end = store.receipts(1).await.expect("receipts").remove(0).end.expect("an end");
    assert_eq!((end.outcome.as_str(), end.code.as_deref()), ("unknown", Some("interrupted")));
}

/// Receipts of many tasks at once are all kept, each with its own end.
#[tokio::test]
async fn parallel_sessions_share_the_writer() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = Store::open(folder.path().join("reins.db")).expect("a store");
    let mut tasks = tokio::task::JoinSet::new();
    for step in 0..200 {
        let store = store.clone();
        tasks.spawn(async move {
            let open = store.begin(draft(step, &typing("Name"))).await.expect("a receipt");
            let id = open.id();
            open.finish(&Outcome::Completed);
            (id, step)
        });
    }
    let mut begun: Vec<_> = tasks.join_all().await;
    begun.sort_unstable();
    let mut kept: Vec<_> = store
        .receipts(1_000)
        .await
        .expect("receipts")
        .into_iter()
        .inspect(|receipt| assert!(receipt.end.is_some()))
        .map(|receipt| (receipt.id, receipt.step.0))
        .collect();
    kept.sort_unstable();
    assert_eq!(begun, kept);
}

/// Receipts are bounded by age. One whose end is unknown to everyone stays.
#[tokio::test]
async fn old_receipts_go_and_open_ones_stay() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("reins.db");
    let now = SystemTime::now();
    let day = Duration::from_secs(24 * 3_600);
    {
        let store = Store::open(&path).expect("a store");
        for (step, age) in [(1, 40), (2, 31), (3, 29), (4, 0)] {
            let old = draft_at(step, &typing("Name"), now - day * age);
            store.begin(old).await.expect("a receipt").finish(&Outcome::Completed);
        }
        let open = store.begin(draft_at(5, &typing("Name"), now - day * 50)).await;
        std::mem::forget(open.expect("a receipt"));
        store.flush().await.expect("a flush");
    }
    let store = Store::open(&path).expect("a store");
    let kept: Vec<_> =
        store.receipts(10).await.expect("receipts").iter().map(|receipt| receipt.step.0).collect();
    assert_eq!(kept, [5, 4, 3]);
}

/// R-158…R-160: one rule for each exact origin, kept over restarts.
#[tokio::test]
async fn r160_site_rules_are_kept() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("reins.db");
    let origin = |text: &str| Origin::parse(text).expect("an origin");
    let now = SystemTime::now();
    {
        let store = Store::open(&path).expect("a store");
        for (site, rule) in [
            ("https://shop.example", Rule::Always),
            ("http://127.0.0.1:8080", Rule::Always),
            ("https://bank.example", Rule::Always),
            ("https://bank.example", Rule::Never),
        ] {
            store.set_rule(origin(site), rule, now).await.expect("a rule");
        }
        assert!(store.remove_rule(origin("http://127.0.0.1:8080")).await.expect("removed"));
        assert!(!store.remove_rule(origin("http://127.0.0.1:8081")).await.expect("not there"));
    }
    let store = Store::open(&path).expect("a store");
    let rules: Vec<_> = store
        .rules()
        .await
        .expect("rules")
        .into_iter()
        .map(|stored| (stored.origin.to_string(), stored.rule))
        .collect();
    assert_eq!(
        rules,
        [
            ("https://bank.example".to_owned(), Rule::Never),
            ("https://shop.example".to_owned(), Rule::Always),
        ]
    );
}

/// Only the owner can read where the person has been.
#[cfg(unix)]
#[tokio::test]
async fn the_file_is_private() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("new").join("reins.db");
    let store = Store::open(&path).expect("a store");
    store.begin(draft(1, &typing("Name"))).await.expect("a receipt").finish(&Outcome::Completed);
    store.flush().await.expect("a flush");
    let mode = |path: &Path| std::fs::metadata(path).expect("a file").permissions().mode() & 0o777;
    assert_eq!(mode(path.parent().expect("a folder")), 0o700);
    for name in ["reins.db", "reins.db-wal", "reins.db-shm"] {
        assert_eq!(mode(&path.with_file_name(name)), 0o600, "{name}");
    }
}
