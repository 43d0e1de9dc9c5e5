//! Watching and driving a browser: whose the pointer and the keyboard are.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a failed step must stop the test")]

use crate::api::Tell;
use crate::browser::Dashboard;
use serde_json::{Value, json};

const SINCE: &str = "2026-12-01T00:00:00Z";

fn you() -> Value {
    json!({"name": "Ada", "since": SINCE, "you": true})
}

async fn watching() -> Dashboard {
    let dashboard = Dashboard::open("#/sandboxes/s1").await;
    dashboard.shows("Watching. Nobody holds control.").await;
    dashboard
}

async fn driving() -> Dashboard {
    let dashboard = watching().await;
    dashboard.press("Take over").await;
    dashboard.api.heard("take_over", |said| said["type"] == "take_over").await;
    dashboard.api.drives(you());
    dashboard.shows("You are driving.").await;
    dashboard.until("document.activeElement.localName === 'textarea'").await;
    dashboard
}

fn input(said: &Value, kind: &str) -> bool {
    said["type"] == "input" && said["input"]["kind"] == kind
}

fn key(said: &Value, key: &str, action: &str) -> bool {
    input(said, "key") && said["input"]["key"] == key && said["input"]["action"] == action
}

/// S-064, S-086: watching asks a view ticket, taking over a control ticket; a viewer's input stays here.
#[tokio::test]
async fn s064_s086_a_viewer_sees_who_drives_and_sends_nothing() {
    let dashboard = watching().await;
    let asked = dashboard.api.request("POST /v1/sandboxes/s1/browser/tickets").await;
    assert_eq!(asked.body, json!({"mode": "view"}));
    assert_eq!(dashboard.api.said()[0], json!({"type": "ticket", "ticket": "once"}));

    dashboard.api.drives(json!({"name": "Grace <b>H</b>", "since": SINCE, "you": false}));
    dashboard.shows("Held by Grace <b>H</b>").await;
    dashboard.click("canvas").await;
    dashboard.key("a").await;
    dashboard.press("Take over").await;
    dashboard.api.heard("take_over", |said| said["type"] == "take_over").await;
    let asked = dashboard.api.request("POST /v1/sandboxes/s1/browser/tickets").await;
    assert_eq!(asked.body, json!({"mode": "control"}));
    let inputs = dashboard.api.said().iter().filter(|said| said["type"] == "input").count();
    assert_eq!(inputs, 0);

    dashboard.api.tell(Tell::Text(
        json!({"type": "refused", "what": "take_over", "why": "Grace is driving."}),
    ));
    dashboard.shows("Grace is driving.").await;
}

/// S-082: a person who may not take over is told so in words.
#[tokio::test]
async fn s082_a_denied_takeover_is_told() {
    let dashboard = watching().await;
    let denied = json!({"error": {"code": "denied", "message": "You may watch this sandbox, not drive it."}});
    dashboard.api.answers("POST /v1/sandboxes/s1/browser/tickets", 403, denied);
    dashboard.press("Take over").await;
    dashboard.shows("You may watch this sandbox, not drive it.").await;
    assert!(dashboard.api.said().iter().all(|said| said["type"] != "take_over"));
}

/// S-065: clicks and keys reach the page while the view has the focus, at the place where they were made.
#[tokio::test]
async fn s065_pointer_and_keys_reach_the_page() {
    let dashboard = driving().await;
    let [left, top, width, height] = dashboard.place("canvas").await;
    let (x, y) = (left + width * 0.25, top + height * 0.5);
    dashboard.pointer("mouseMoved", x, y, 0).await;
    for clicks in [1, 2] {
        dashboard.pointer("mousePressed", x, y, clicks).await;
        dashboard.pointer("mouseReleased", x, y, clicks).await;
    }
    let double = |action: &'static str| {
        move |said: &Value| {
            input(said, "pointer")
                && said["input"]["action"] == action
                && said["input"]["clicks"] == 2
        }
    };
    let down = dashboard.api.heard("a double click", double("down")).await;
    dashboard.api.heard("its end", double("up")).await;
    let near =
        |name: &str, wanted: f64| (down["input"][name].as_f64().unwrap() - wanted).abs() < 0.01;
    assert!(near("x", 0.25) && near("y", 0.5), "{down}");
    assert_eq!(down["input"]["button"], "left");
    assert_eq!(dashboard.run("document.activeElement.localName").await, "textarea");

    let wheel = json!({"type": "mouseWheel", "x": x, "y": y, "deltaX": 0, "deltaY": 120});
    dashboard.call("Input.dispatchMouseEvent", wheel).await;
    let wheel = dashboard.api.heard("a wheel", |said| input(said, "wheel")).await;
    assert_eq!(wheel["input"]["dy"], 120.0);

    dashboard.key("a").await;
    let up = dashboard.api.heard("a key's end", |said| key(said, "a", "up")).await;
    assert_eq!(up["input"]["code"], "KeyA");
    dashboard.key("Tab").await;
    dashboard.api.heard("Tab", |said| key(said, "Tab", "down")).await;
    assert_eq!(
        dashboard.run("document.activeElement.localName").await,
        "textarea",
        "Tab is the page's"
    );
}

/// Text of input methods, on-screen keyboards and the clipboard goes as text, and once.
#[tokio::test]
async fn composed_and_pasted_text_arrives_once() {
    let dashboard = driving().await;
    let compose = json!({"text": "にほ", "selectionStart": 2, "selectionEnd": 2});
    dashboard.call("Input.imeSetComposition", compose).await;
    dashboard.call("Input.insertText", json!({"text": "日本"})).await;
    dashboard.api.heard("composed text", |said| said["input"]["text"] == "日本").await;
    let paste = "(() => { const data = new DataTransfer(); data.setData('text/plain', 'from the clipboard'); \
         document.activeElement.dispatchEvent(new ClipboardEvent('paste', {clipboardData: data, cancelable: true, bubbles: true})) })()";
    dashboard.run(paste).await;
    dashboard.api.heard("pasted text", |said| said["input"]["text"] == "from the clipboard").await;
    let texts: Vec<Value> = dashboard
        .api
        .said()
        .iter()
        .filter(|said| input(said, "text"))
        .map(|said| said["input"]["text"].clone())
        .collect();
    assert_eq!(texts, ["日本", "from the clipboard"]);
    assert_eq!(dashboard.run("document.querySelector('.keyboard').value").await, "");
}

/// S-066: Escape twice gives up the keyboard and not the control, so does a click outside.
#[tokio::test]
async fn s066_escape_twice_or_a_click_outside_gives_up_the_keyboard_only() {
    let dashboard = driving().await;
    dashboard.key("Escape").await;
    dashboard.api.heard("the first Escape", |said| key(said, "Escape", "up")).await;
    assert_eq!(dashboard.run("document.activeElement.localName").await, "textarea");
    dashboard.key("Escape").await;
    dashboard.until("document.activeElement.classList.contains('stage')").await;
    let escapes = dashboard.api.said().iter().filter(|said| key(said, "Escape", "down")).count();
    assert_eq!(escapes, 1, "the second is not the page's");
    dashboard.shows("You are driving.").await;
    dashboard.key("a").await;

    dashboard.click("canvas").await;
    dashboard.until("document.activeElement.localName === 'textarea'").await;
    // A key that is held when the keyboard is given up is let go of.
    let hold = json!({"type": "keyDown", "key": "Shift", "code": "ShiftLeft", "windowsVirtualKeyCode": 16});
    dashboard.call("Input.dispatchKeyEvent", hold).await;
    dashboard.api.heard("Shift", |said| key(said, "Shift", "down")).await;
    dashboard.click("h1").await;
    dashboard.until("document.activeElement.localName !== 'textarea'").await;
    dashboard.api.heard("Shift's end", |said| key(said, "Shift", "up")).await;
    dashboard.shows("You still hold control.").await;
    assert!(
        dashboard
            .api
            .said()
            .iter()
            .all(|said| said["type"] != "hand_back" && !key(said, "a", "down"))
    );
}

/// S-066, S-068: the agent's waiting is shown, and ends with handing back; stopping to watch hands back as well.
#[tokio::test]
async fn s068_waiting_is_shown_and_handing_back_is_said() {
    let dashboard = driving().await;
    dashboard
        .api
        .tell(Tell::Text(json!({"type": "waiting", "tool": "browser_click", "since": SINCE})));
    dashboard.shows("The agent waits to go on (browser_click). Hand back when you are done.").await;
    dashboard
        .until(
            "document.querySelector('[aria-live=assertive]').innerText.includes('waits for you')",
        )
        .await;
    dashboard.press("Hand back").await;
    dashboard.api.heard("hand_back", |said| said["type"] == "hand_back").await;
    dashboard.api.drives(Value::Null);
    dashboard.api.tell(Tell::Text(json!({"type": "waiting_over"})));
    dashboard.until("!document.querySelector('.banner')").await;
    dashboard.shows("Nobody holds control.").await;
    assert_eq!(dashboard.run("document.querySelector('.keyboard').hidden").await, true);

    dashboard.press("Take over").await;
    dashboard.api.drives(you());
    dashboard.shows("You are driving.").await;
    let before = dashboard.api.said().iter().filter(|said| said["type"] == "hand_back").count();
    dashboard.press("Stop watching").await;
    dashboard.shows("Not watching.").await;
    dashboard
        .api
        .heard("a second hand_back", |_| {
            dashboard.api.said().iter().filter(|said| said["type"] == "hand_back").count()
                == before + 1
        })
        .await;
}

/// S-067: after a broken connection the same person goes on where they are.
#[tokio::test]
async fn s067_who_drove_may_continue_after_a_break() {
    let dashboard = driving().await;
    // The control is kept for the grace, under the person's name.
    dashboard.api.drives(json!({"name": "Ada", "since": SINCE, "you": true}));
    dashboard.api.tell(Tell::Break);
    dashboard
        .api
        .heard("a second ticket", |_| {
            dashboard.api.said().iter().filter(|said| said["type"] == "ticket").count() == 2
        })
        .await;
    dashboard.api.drives(json!({"name": "Ada", "since": SINCE, "you": false}));
    dashboard.press("Continue driving here").await;
    dashboard
        .api
        .heard("take_over again", |_| {
            dashboard.api.said().iter().filter(|said| said["type"] == "take_over").count() == 2
        })
        .await;
    let asked = dashboard.api.request("POST /v1/sandboxes/s1/browser/tickets").await;
    assert_eq!(asked.body, json!({"mode": "control"}));
}
