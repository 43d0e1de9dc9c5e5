//! What `reins run --json` tells of a turn: cards, and that the person uses the agent's tab.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a failed step must stop the test")]

mod support;

use reins_cdp::Connection;
use reins_cdp::testing::{Chromium, chrome};
use reins_models::testing::{Answer, ModelServer};
use reins_testing::{Page, Site};
use serde_json::{Value, json};
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::process::Command;

const LONG: Duration = Duration::from_secs(60);

/// the person clicks in the agent's tab while the model works. The next call is not made,
/// `paused` says why; the person's word lets it go on, and the model never hears of a failed step.
#[tokio::test(flavor = "multi_thread")]
async fn r191_r192_a_run_waits_while_the_person_uses_its_tab() {
    // The answer to the click comes after what tells Reins of it.
    let page = "<h1 id=h>LOADING</h1><script>addEventListener('click',()=>setTimeout(()=>h.textContent='READY'))</script>";
    let site = Site::start([("/", Page::html(page))]).await.unwrap();
    let data = tempfile::tempdir().unwrap();
    let profile = data.path().join("browser");
    std::fs::create_dir_all(&profile).unwrap();
    let chromium = Chromium::start_on(&chrome().unwrap(), &profile).await.unwrap();
    let hands = Connection::websocket(&chromium.url(), LONG).await.unwrap().root();
    let script = vec![
        Answer::text("None."),
        Answer::calls(&[("wait_for", json!({"text": "READY", "seconds": 25}))]),
        Answer::calls(&[("snapshot", json!({}))]),
        Answer::text("It says READY."),
    ];
    let server = ModelServer::start(script).await.unwrap();

    let url = site.url("/");
    let task = format!("what does {url} say?");
    let mut command = Command::new(env!("CARGO_BIN_EXE_reins"));
    command.args(["run", &task, "--url", &url, "--dedicated", "--json", "--input"]);
    command.args(["--mode", "act", "--base-url", &server.base(), "--model", "m", "--data-dir"]);
    command.arg(data.path()).stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
    let mut run = command.spawn().unwrap();
    let mut lines = BufReader::new(run.stdout.take().unwrap()).lines();
    let mut heard: Vec<Value> = Vec::new();
    let mut next = async |wanted: &dyn Fn(&Value) -> bool| {
        while let Some(line) = tokio::time::timeout(LONG, lines.next_line()).await.unwrap().unwrap()
        {
            heard.push(serde_json::from_str(&line).unwrap());
            if wanted(heard.last().unwrap()) {
                return;
            }
        }
        panic!("not heard: {heard:#?}");
    };

    next(&|event| event["event"] == "step_started" && event["tool"] == "wait_for").await;
    person_clicks(&hands, &url).await;
    next(&|event| event["event"] == "paused").await;
    next(&|event| event["event"] == "state" && event["state"] == "paused").await;
    assert_eq!(server.seen().len(), 3, "the model is not asked what to make of it");
    let mut input = run.stdin.take().unwrap();
    input.write_all(b"{\"resume\": true}\n").await.unwrap();
    next(&|event| event["event"] == "resumed").await;
    next(&|event| event["event"] == "end").await;
    let end = heard.last().unwrap();
    assert_eq!((&end["exit"], &end["failed"]), (&json!(0), &json!(0)), "{heard:#?}");
    assert_eq!(end["answer"], "It says READY.");
    let told = server.seen().last().unwrap().body.to_string();
    assert!(told.contains("READY") && !told.contains("is using this tab"), "{told}");
    assert!(run.wait().await.unwrap().success());
}

/// Trusted input that Reins did not announce, in the tab that shows this address.
async fn person_clicks(hands: &reins_cdp::Session, url: &str) {
    let targets: Value = hands.call("Target.getTargets", (), LONG).await.unwrap();
    let tab = targets["targetInfos"].as_array().unwrap().iter().find(|tab| tab["url"] == url);
    let tab = tab.expect("the agent's tab")["targetId"].clone();
    let attach = json!({"targetId": tab, "flatten": true});
    let attached: Value = hands.call("Target.attachToTarget", attach, LONG).await.unwrap();
    let tab = hands.connection().session(attached["sessionId"].as_str().unwrap());
    for kind in ["mousePressed", "mouseReleased"] {
        let event = json!({"type": kind, "x": 40, "y": 40, "button": "left", "clickCount": 1});
        let _: Value = tab.call("Input.dispatchMouseEvent", event, LONG).await.unwrap();
    }
}

/// a card is told with its kind of risk, where, and what would be sent; nobody can answer it there.
#[tokio::test(flavor = "multi_thread")]
async fn r200_a_card_is_told_with_its_kind_of_risk() {
    let form = "<form action=/sent method=post><button>Save</button></form>";
    let site = Site::start([("/", Page::html(form)), ("/sent", Page::html("sent"))]).await.unwrap();
    let data = tempfile::tempdir().unwrap();
    let script = vec![
        Answer::text("None."),
        Answer::calls(&[("click", json!({"ref": "e1"}))]),
        Answer::text("It was not allowed."),
    ];
    let server = ModelServer::start(script).await.unwrap();
    let url = site.url("/");
    let (base, task) = (server.base(), format!("save at {url}"));
    let data = data.path().to_owned();
    let ran = tokio::task::spawn_blocking(move || {
        let args = ["run", &task, "--url", &url, "--headless", "--json", "--mode", "act"];
        let args = [&args[..], &["--base-url", &base, "--model", "m"]].concat();
        support::run(&data, &args, &[], "")
    });
    let (_, said) = ran.await.unwrap();
    let events: Vec<Value> =
        said.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let asked = events.iter().find(|event| event["event"] == "asked");
    let asked = asked.unwrap_or_else(|| panic!("{said}"));
    assert_eq!(asked["risk"], "submit", "{asked}");
    assert!(asked["title"].as_str().unwrap().contains("Save"), "{asked}");
    assert!(asked["sites"].to_string().contains("127.0.0.1"), "{asked}");
    assert_eq!(site.requests("/sent"), 0);
}
