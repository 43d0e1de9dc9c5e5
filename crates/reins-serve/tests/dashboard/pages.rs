//! What the pages show and ask for.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a failed step must stop the test")]

use crate::api::{Api, rfc3339};
use crate::browser::Dashboard;
use serde_json::{Value, json};

/// S-027: a window is offered where there is one, and only there.
#[tokio::test]
async fn s027_the_panel_starts_and_stops_and_offers_a_window_where_there_is_one() {
    let dashboard = Dashboard::open("#/sandboxes/s4").await;
    dashboard.shows("The browser crashed (signal 11).").await;
    dashboard.press("Options").await;
    dashboard.click("input[value=vision]").await;
    dashboard.click("input[value=frames]").await;
    dashboard.press("Start in a window on this machine").await;
    let start = dashboard.api.request("POST /v1/sandboxes/s4/browser").await;
    let record = json!({"rrweb": true, "frames": true, "console": true});
    assert_eq!(start.body, json!({"mode": "headed", "capabilities": ["vision"], "record": record}));

    let refused = json!({"error": {"code": "quota", "message": "The browser minutes of this month are used up."}});
    dashboard.api.answers("POST /v1/sandboxes/s4/browser", 402, refused);
    dashboard.press("Start a browser").await;
    dashboard.shows("The browser minutes of this month are used up.").await;

    dashboard.go("#/sandboxes/s1").await;
    dashboard.press("Stop the browser").await;
    dashboard.api.request("DELETE /v1/sandboxes/s1/browser").await;

    dashboard.api.answers(
        "GET /v1/sandboxes",
        200,
        json!({"sandboxes": [], "browser_modes": ["headless"]}),
    );
    dashboard.go("#/sandboxes/s4").await;
    dashboard.shows("Start a browser").await;
    assert!(!dashboard.text().await.contains("in a window"));
}

#[tokio::test]
async fn a_sandbox_is_made_from_the_form() {
    let dashboard = Dashboard::open("#/sandboxes").await;
    dashboard.press("New sandbox").await;
    dashboard.until("document.activeElement.id === 'app_url'").await;
    dashboard.call("Input.insertText", json!({"text": "http://localhost:3000"})).await;
    dashboard.press("Start the app as well").await;
    dashboard.click("#command").await;
    dashboard.call("Input.insertText", json!({"text": "npm run dev"})).await;
    dashboard.api.answers("POST /v1/sandboxes", 201, json!({"id": "s1"}));
    dashboard.key("Enter").await;
    let made = dashboard.api.request("POST /v1/sandboxes").await;
    assert_eq!(
        made.body,
        json!({"guarded": false, "app_url": "http://localhost:3000", "expires_in_s": 14_400, "command": "npm run dev"})
    );
    dashboard.until("location.hash === '#/sandboxes/s1'").await;
}

/// A card's answer goes to its own id; a click on its way when it appears allows nothing.
#[tokio::test]
async fn a_card_is_answered_by_its_id() {
    let dashboard = Dashboard::open("#/sandboxes/s1").await;
    dashboard.api.happens(
        "card",
        json!({"id": "c1", "title": "Send?", "lines": ["Once."], "offers_always": true}),
    );
    dashboard.until("document.querySelector('.card')").await;
    dashboard.run("[...document.querySelectorAll('.card button')].find(b => b.innerText === 'Allow once').click()").await;
    dashboard.until("[...document.querySelectorAll('.card button')].every(b => b.getAttribute('aria-disabled') !== 'true')").await;
    assert!(
        dashboard.api.seen().iter().all(|seen| !seen.what.contains("/cards/")),
        "too early to be meant"
    );
    dashboard.press("Allow once").await;
    let answer = dashboard.api.request("POST /v1/sandboxes/s1/cards/c1").await;
    assert_eq!(answer.body, json!({"answer": "allow"}));
    dashboard.until("!document.querySelector('.card')").await;

    for (id, button, word) in
        [("c2", "Don’t allow", "deny"), ("c3", "Always on this site", "always")]
    {
        dashboard.api.happens(
            "card",
            json!({"id": id, "title": "Send?", "lines": [], "offers_always": true}),
        );
        dashboard.until("document.querySelector('.card') && [...document.querySelectorAll('.card button')].every(b => b.getAttribute('aria-disabled') !== 'true')").await;
        dashboard.press(button).await;
        let answer = dashboard.api.request(&format!("POST /v1/sandboxes/s1/cards/{id}")).await;
        assert_eq!(answer.body, json!({"answer": word}));
        dashboard.until("!document.querySelector('.card')").await;
    }

    // Answered elsewhere, it goes away here.
    dashboard
        .api
        .happens("card", json!({"id": "c4", "title": "Send?", "lines": [], "offers_always": true}));
    dashboard.until("document.querySelector('.card')").await;
    dashboard.api.happens("card_answered", json!({"id": "c4"}));
    dashboard.until("!document.querySelector('.card')").await;
}

fn step(id: u64, label: &str, outcome: &str) -> Value {
    let started = rfc3339(1_800_000_000 + id);
    json!({"id": id, "run_id": "run9", "tool": "browser_click", "label": label, "outcome": outcome, "started_at": started, "ms": 100})
}

fn run(ended: Option<String>, steps: Vec<Value>) -> Value {
    json!({"id": "run9", "sandbox_id": "s1", "task": "Count", "status": if ended.is_some() { "failed" } else { "working" },
        "started_at": rfc3339(1_800_000_000), "ended_at": ended, "steps": steps})
}

/// one quiet row while it works, a count afterwards; equal neighbours collapse, failures never.
#[tokio::test]
async fn r204_r207_steps_are_one_quiet_row_that_opens() {
    let api = Api::start().await;
    let mut steps = vec![
        step(1, "Click “Next”", "completed"),
        step(2, "Click “Next”", "completed"),
        step(3, "Click “Buy”", "running"),
    ];
    api.answers("GET /v1/runs/run9", 200, run(None, steps.clone()));
    let dashboard = Dashboard::with(api, "#/runs/run9").await;
    dashboard.shows("working\nClick “Buy”").await;
    assert!(!dashboard.text().await.contains("Next"), "earlier steps are behind their row");
    dashboard.press("2 earlier steps").await;
    dashboard.shows("Click “Next”\n× 2").await;
    let above = "(() => { const l = [...document.querySelectorAll('.steps .label')].map(e => e.innerText); return l.join('|') })()";
    assert_eq!(dashboard.run(above).await, "Click “Next”|Click “Buy”", "earlier steps open above");

    // A row that grows stays open.
    steps.insert(2, step(2, "Click “Next”", "completed"));
    steps[2]["id"] = json!(20);
    dashboard.api.answers("GET /v1/runs/run9", 200, run(None, steps.clone()));
    dashboard.shows("× 3").await;

    steps.push(step(30, "Click “Pay”", "error"));
    steps.push(step(31, "Click “Pay”", "error"));
    steps.push(step(32, "Click “Pay”", "unknown"));
    let mut ended = run(Some(rfc3339(1_800_000_065)), steps);
    ended["error"] = json!("wrong_key");
    ended["answer"] = json!("The model answered 401: its key is wrong.");
    dashboard.api.answers("GET /v1/runs/run9", 200, ended);
    dashboard.shows("failed in 1 min 5 s").await;
    dashboard.shows("7 steps, 3 not done as asked").await;
    dashboard.until("document.querySelectorAll('.steps li').length === 5").await;
    let text = dashboard.text().await;
    assert!(
        text.contains("not done\nClick “Buy”"),
        "a step that never finished is not told as done: {text}"
    );
    assert!(text.contains("may have happened\nClick “Pay”"), "{text}");
    assert_eq!(
        dashboard.run("document.querySelector('.final').innerText").await,
        "The model answered 401: its key is wrong. Look at the settings"
    );
}

#[tokio::test]
async fn a_run_is_started_and_stopped() {
    let dashboard = Dashboard::open("").await;
    dashboard.api.answers("GET /v1/runs", 200, json!({"runs": []}));
    dashboard.go("#/sandboxes/s1").await;
    dashboard.until("document.querySelector('#task')").await;
    dashboard.click("#task").await;
    dashboard.call("Input.insertText", json!({"text": "Buy the kettle"})).await;
    dashboard.press("Start a run").await;
    let started = dashboard.api.request("POST /v1/sandboxes/s1/runs").await;
    assert_eq!(started.body, json!({"task": "Buy the kettle"}));
    dashboard.go("#/runs/run1").await;
    dashboard.press("Stop").await;
    dashboard.api.request("POST /v1/runs/run1/stop").await;
}

#[tokio::test]
async fn recordings_are_searched_and_paged() {
    let dashboard = Dashboard::open("#/recordings").await;
    dashboard.press("Older recordings").await;
    dashboard.api.until_query("GET /v1/recordings", "before=r2").await;
    dashboard.click("#q").await;
    dashboard.call("Input.insertText", json!({"text": "blue kettle"})).await;
    dashboard.key("Enter").await;
    dashboard.api.until_query("GET /v1/recordings", "q=blue+kettle").await;
    dashboard.until("location.hash === '#/recordings?q=blue+kettle'").await;
}

#[tokio::test]
async fn a_recording_shows_what_was_done_beside_it() {
    let dashboard = Dashboard::open("#/recordings/r2").await;
    dashboard.shows("Click “Start”").await;
    dashboard.shows("ended: browser crashed").await;
    dashboard.press("0:20 action Click “Delete” (refused) blocked").await;
    dashboard.until("document.querySelector('.position').innerText === '0:20 / 1:00'").await;
    dashboard
        .until("document.querySelector('.timeline [aria-current]').innerText.includes('Delete')")
        .await;
    dashboard.click("#text").await;
    dashboard.call("Input.insertText", json!({"text": "heading"})).await;
    dashboard.key("Enter").await;
    dashboard.shows("1 place").await;
    let frame = dashboard.run("document.querySelector('iframe').getAttribute('sandbox')").await;
    assert_eq!(frame, "allow-scripts allow-same-origin");
}

#[tokio::test]
async fn settings_are_kept_and_show_no_key() {
    let dashboard = Dashboard::open("#/settings").await;
    dashboard.click("input[name=level]").await;
    let kept = dashboard.api.request("PUT /v1/settings").await;
    assert_eq!(kept.body, json!({"level": "auto"}));
    dashboard.click("#pattern").await;
    dashboard.call("Input.insertText", json!({"text": "https://shop.example"})).await;
    dashboard.press("Add").await;
    dashboard
        .api
        .heard_body("PUT /v1/settings", |body| {
            body["site_rules"].as_array().is_some_and(|rules| rules.len() == 3)
        })
        .await;
    dashboard.shows("key kept").await;
}
