//! The wire against the installed Chromium.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a failed step must stop the test")]

use reins_cdp::testing::{Chromium, check, chrome, is_known, named_in};
use reins_cdp::{CallError, Connection, Ignored, LostCause, NotSentCause, Session};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::Duration;

const LONG: Duration = Duration::from_secs(60);

async fn start() -> (Chromium, Connection) {
    let program = chrome().expect("a Chromium: set CHROME to its path");
    let chromium = Chromium::start(&program).await.unwrap();
    let connection = Connection::websocket(&chromium.url(), LONG).await.unwrap();
    (chromium, connection)
}

/// The first page, attached.
async fn first_page(connection: &Connection) -> (String, Session) {
    let root = connection.root();
    let targets: Value = root.call("Target.getTargets", (), LONG).await.unwrap();
    let pages = targets["targetInfos"].as_array().unwrap();
    let page = pages.iter().find(|t| t["type"] == "page").unwrap();
    let target = page["targetId"].as_str().unwrap().to_owned();
    let params = json!({"targetId": target, "flatten": true});
    let attached: Value = root.call("Target.attachToTarget", params, LONG).await.unwrap();
    (target, connection.session(attached["sessionId"].as_str().unwrap()))
}

fn sources(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") {
            found.push(path);
        }
    }
}

/// Every command, event and type that any crate names exists in this Chromium.
#[tokio::test]
async fn the_installed_chromium_knows_every_name_in_the_sources() {
    let (chromium, _connection) = start().await;
    let description = chromium.description().await.unwrap();
    assert_eq!(check(reins_cdp::NAMES, &description), Vec::<String>::new());

    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut found = Vec::new();
    for entry in std::fs::read_dir(crates).unwrap() {
        let src = entry.unwrap().path().join("src");
        if src.is_dir() {
            sources(&src, &mut found);
        }
    }
    let mut unknown = Vec::new();
    let mut names = 0;
    for path in found {
        let source = std::fs::read_to_string(&path).unwrap();
        for name in named_in(&source, &description) {
            names += 1;
            if !is_known(name, &description) {
                unknown.push(format!("{name} in {}", path.display()));
            }
        }
    }
    assert!(names > 5, "the sources name commands, so the scan found nothing");
    assert_eq!(unknown, Vec::<String>::new());
}

#[tokio::test]
async fn the_check_of_names_finds_what_a_new_chromium_no_longer_has() {
    reins_cdp::protocol! {
        /// Names that are wrong, each in another way.
        NAMES;
        /// No such field.
        command "Page.navigate" Navigate<'a> { address: &'a str } -> Navigated { loader: String };
        /// No such command.
        command "Page.fly" Fly {};
        /// No such field.
        event "Page.frameNavigated" FrameNavigated { frame_set: Value };
        /// All right.
        type "Page.Frame" Frame { loader_id: String };
    }
    let (chromium, _connection) = start().await;
    let description = chromium.description().await.unwrap();
    assert_eq!(
        check(NAMES, &description),
        [
            "Page.navigate has no address in its parameters",
            "Page.navigate has no loader in its returns",
            "Command Page.fly does not exist",
            "Page.frameNavigated has no frameSet in its parameters",
        ]
    );
    let source = r#"call("Page.flyy"); "Page.navigate" "Not.aDomain" "Page." "page.it""#;
    assert_eq!(named_in(source, &description), ["Page.flyy", "Page.navigate"]);
}

#[tokio::test]
async fn a039_a_result_of_100_mb_comes_over_the_websocket() {
    let (_chromium, connection) = start().await;
    let (_, page) = first_page(&connection).await;
    let params = json!({"expression": "'x'.repeat(100 * 1024 * 1024)", "returnByValue": true});
    let big = page.send::<Value>("Runtime.evaluate", params, LONG);
    let result = big.await.unwrap();
    assert_eq!(result["result"]["value"].as_str().unwrap().len(), 100 * 1024 * 1024);
    let version: Value = connection.root().call("Browser.getVersion", (), LONG).await.unwrap();
    assert!(version["product"].as_str().unwrap().contains('/'));
}

#[tokio::test]
async fn text_that_is_no_unicode_can_be_read() {
    let (_chromium, connection) = start().await;
    let (_, page) = first_page(&connection).await;
    let expression = r"'a\ud83d<\ude00 \ud83d\ude00 \\ud83d \u0000'";
    let params = json!({"expression": expression, "returnByValue": true});
    let value: Value = page.call("Runtime.evaluate", params, LONG).await.unwrap();
    assert_eq!(value["result"]["value"], "a\u{fffd}<\u{fffd} 😀 \\ud83d \0");
}

#[tokio::test]
async fn a_stuck_page_a_crash_and_a_closed_tab_end_what_waits_for_them() {
    let (_chromium, connection) = start().await;
    let (target, page) = first_page(&connection).await;

    let spin = json!({"expression": "for(;;);"});
    let short = Duration::from_millis(300);
    let stuck = page.call::<Ignored>("Runtime.evaluate", spin, short).await;
    let CallError::Lost(lost) = stuck.unwrap_err() else { panic!("it was written") };
    assert_eq!(lost.cause, LostCause::Deadline);

    let waiting = page.send::<Ignored>("Runtime.evaluate", json!({"expression": "1"}), LONG);
    drop(page.send::<Ignored>("Page.crash", (), LONG));
    let CallError::Lost(lost) = waiting.await.unwrap_err() else { panic!("it was written") };
    assert_eq!(lost.cause, LostCause::Crashed);
    assert!(page.is_attached());

    let close = json!({"targetId": target});
    connection.root().call::<Ignored>("Target.closeTarget", close, LONG).await.unwrap();
    let mut events = page.events(&[]);
    while events.next().await.is_some() {}
    let gone = page.call::<Ignored>("Page.reload", (), LONG).await;
    let CallError::NotSent(gone) = gone.unwrap_err() else { panic!("nothing to send it to") };
    assert_eq!(gone.cause, NotSentCause::SessionGone);
}

#[tokio::test]
async fn a_port_that_nobody_serves_is_refused_by_name() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let url = format!("ws://127.0.0.1:{port}/devtools/browser/x");
    let error = Connection::websocket(&url, LONG).await.unwrap_err();
    assert_eq!(error.code(), "connect_refused");
    assert!(error.to_string().contains(&url), "{error}");
}

/// A port that accepts and then says nothing must not hold anybody up.
#[tokio::test]
async fn a_port_that_never_answers_ends_at_the_deadline() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("ws://{}/devtools/browser/x", listener.local_addr().unwrap());
    let error = Connection::websocket(&url, Duration::from_millis(50)).await.unwrap_err();
    assert_eq!(error.code(), "connect_deadline");
}
