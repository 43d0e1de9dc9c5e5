//! The dashboard by keyboard alone: the order of stops, and where the focus goes.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a failed step must stop the test")]

use crate::browser::Dashboard;
use serde_json::json;

#[tokio::test]
async fn stops_come_in_reading_order_and_the_first_skips_the_header() {
    let dashboard = Dashboard::open("").await;
    dashboard.shows("Shop, branch checkout").await;
    let mut stops = Vec::new();
    for _ in 0..10 {
        dashboard.key("Tab").await;
        stops.push(dashboard.focused().await);
    }
    let order = [
        "Skip to the page",
        "Reins",
        "Sandboxes",
        "Runs",
        "Recordings",
        "Usage",
        "Settings",
        "Sign out",
        "New sandbox",
        "Shop, branch checkout",
    ];
    assert_eq!(stops, order);

    dashboard.run("document.querySelector('.skip').focus()").await;
    dashboard.key("Enter").await;
    assert_eq!(dashboard.run("document.activeElement.localName").await, "main");
    dashboard.key("Tab").await;
    assert_eq!(dashboard.focused().await, "New sandbox");
}

#[tokio::test]
async fn a_new_page_takes_the_focus_to_its_heading_and_is_announced() {
    let dashboard = Dashboard::open("#/settings").await;
    dashboard
        .run("[...document.querySelectorAll('nav a')].find(a => a.innerText === 'Usage').focus()")
        .await;
    dashboard.key("Enter").await;
    dashboard.until("document.activeElement.localName === 'h1' && document.activeElement.innerText === 'Usage'").await;
    dashboard.until("document.querySelector('[aria-live=polite]').innerText === 'Usage'").await;
    assert_eq!(dashboard.run("document.title").await, "Usage · Reins");
    assert_eq!(
        dashboard.run("document.querySelector('nav [aria-current=page]').innerText").await,
        "Usage"
    );
}

#[tokio::test]
async fn a_question_starts_at_cancel_and_gives_the_focus_back() {
    let dashboard = Dashboard::open("#/recordings/r2").await;
    dashboard.shows("Delete the recording").await;
    dashboard.run("[...document.querySelectorAll('button')].find(b => b.innerText === 'Delete the recording').focus()").await;
    dashboard.key("Enter").await;
    dashboard.until("document.querySelector('dialog[open]')").await;
    assert_eq!(dashboard.focused().await, "Cancel");
    dashboard.key("Escape").await;
    dashboard.until("!document.querySelector('dialog')").await;
    assert_eq!(dashboard.focused().await, "Delete the recording");
    assert!(dashboard.api.seen().iter().all(|seen| !seen.what.starts_with("DELETE")));

    dashboard.key("Enter").await;
    dashboard.until("document.querySelector('dialog[open]')").await;
    dashboard.key("Tab").await;
    assert_eq!(dashboard.focused().await, "Delete");
    dashboard.key("Enter").await;
    let asked = dashboard.api.request("DELETE /v1/recordings/r2").await;
    assert_eq!(asked.csrf.as_deref(), Some(crate::api::CSRF));
}

/// a card has no button that a key press on its way could allow, and Escape in it stops the agent.
#[tokio::test]
async fn r208_a_card_takes_no_focus_and_escape_in_it_stops() {
    let dashboard = Dashboard::open("#/sandboxes/s1").await;
    let before = dashboard.focused().await;
    dashboard.api.happens("card", json!({"id": "c9", "title": "Delete the account?", "lines": ["<b>At</b> http://127.0.0.1:3000"], "offers_always": false}));
    dashboard.shows("Delete the account?").await;
    assert_eq!(dashboard.focused().await, before);
    dashboard.until("document.querySelector('[aria-live=assertive]').innerText.includes('Delete the account?')").await;
    dashboard.shows("<b>At</b> http://127.0.0.1:3000").await;
    assert!(!dashboard.text().await.contains("Always on this site"));

    dashboard.run("document.querySelector('.card button').focus()").await;
    assert_eq!(dashboard.focused().await, "Don’t allow");
    dashboard.key("Escape").await;
    let answer = dashboard.api.request("POST /v1/sandboxes/s1/cards/c9").await;
    assert_eq!(answer.body, json!({"answer": "stop"}));
    dashboard.until("!document.querySelector('.card')").await;
}
