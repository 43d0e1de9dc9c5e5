//! What axe finds on each page, in both colour schemes and at the width of a phone: nothing.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a failed step must stop the test")]

use crate::api::Api;
use crate::browser::Dashboard;
use serde_json::{Value, json};

/// The pages as a person finds them, and what is opened on them.
const PLACES: &[(&str, &str, &str)] = &[
    ("#/sandboxes", "Sandboxes", ""),
    ("#/sandboxes", "Sandboxes", "New sandbox"),
    ("#/sandboxes/s1", "Send this order?", ""),
    ("#/sandboxes/s4", "crashed", "Options"),
    ("#/sandboxes/gone", "no such sandbox", ""),
    ("#/runs", "Buy the blue kettle", ""),
    ("#/runs/run1", "earlier steps", "3 earlier steps"),
    ("#/runs/run2", "not done as asked", "5 steps, 1 not done as asked"),
    ("#/recordings", "cut short", ""),
    ("#/recordings/r2", "Click “Start”", "Delete the recording"),
    ("#/usage", "412 browser minutes", ""),
    ("#/settings", "careful", ""),
    ("#/nowhere", "Nothing here", ""),
];

fn card() -> Value {
    json!({"id": "c1", "title": "Send this order?", "lines": ["Click “Place order” at http://127.0.0.1:3000."],
        "offers_always": true, "expires_at": "2099-01-01T00:00:00Z"})
}

async fn faults(dashboard: &Dashboard) -> Vec<String> {
    let known = dashboard.run("typeof axe === 'object'").await;
    if known != true {
        let path =
            concat!(env!("CARGO_MANIFEST_DIR"), "/../../web/node_modules/axe-core/axe.min.js");
        let axe = std::fs::read_to_string(path).expect("axe-core: run make web");
        dashboard.run(&format!("{axe}; true")).await;
    }
    let run = "axe.run(document, {iframes: false, resultTypes: ['violations']}).then(found => found.violations.flatMap(v => \
         v.nodes.map(n => `${v.id}: ${n.target} ${n.failureSummary}`)))";
    serde_json::from_value(dashboard.run(run).await).unwrap()
}

async fn examine(scheme: &str, width: u32) {
    let api = Api::start().await;
    api.happens("card", card());
    let dashboard = Dashboard::with(api, "").await;
    dashboard.scheme(scheme).await;
    dashboard.size(width, 800).await;
    let mut found = Vec::new();
    for (place, text, open) in PLACES {
        dashboard.go(place).await;
        dashboard.shows(text).await;
        if !open.is_empty() {
            dashboard.press(open).await;
        }
        // A question over the page is read with the page behind it left out.
        let wide = dashboard.run("document.documentElement.scrollWidth > innerWidth").await;
        if wide == true {
            found.push(format!("{place}: wider than the window"));
        }
        found.extend(faults(&dashboard).await.into_iter().map(|fault| format!("{place}: {fault}")));
        if dashboard.run("!!document.querySelector('dialog[open]')").await == true {
            dashboard.press("Cancel").await;
        }
    }
    assert!(found.is_empty(), "{scheme}, {width} px:\n{}", found.join("\n"));
}

#[tokio::test]
async fn axe_finds_nothing_in_the_light() {
    examine("light", 1280).await;
}

#[tokio::test]
async fn axe_finds_nothing_in_the_dark() {
    examine("dark", 1280).await;
}

#[tokio::test]
async fn axe_finds_nothing_on_a_phone_in_the_light() {
    examine("light", 320).await;
}

#[tokio::test]
async fn axe_finds_nothing_on_a_phone_in_the_dark() {
    examine("dark", 360).await;
}

#[tokio::test]
async fn axe_finds_nothing_at_the_door_and_while_driving() {
    let dashboard = Dashboard::unsigned(Api::start().await, "/").await;
    dashboard.shows("Sign in to Reins").await;
    assert_eq!(faults(&dashboard).await, Vec::<String>::new());
    drop(dashboard);

    let dashboard = Dashboard::open("#/sandboxes/s1").await;
    dashboard.press("Take over").await;
    dashboard.api.drives(json!({"name": "Ada", "since": "2026-12-01T00:00:00Z", "you": true}));
    dashboard.shows("You are driving.").await;
    dashboard.api.tell(crate::api::Tell::Text(
        json!({"type": "waiting", "tool": "browser_click", "since": "2026-12-01T00:00:00Z"}),
    ));
    dashboard.shows("The agent waits").await;
    assert_eq!(faults(&dashboard).await, Vec::<String>::new());
}
