//! The dashboard in front of the real daemon, which starts a real browser.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a failed step must stop the test")]

use crate::browser::Page;
use crate::support::daemon;
use reins_testing::{Page as AppPage, Site};
use serde_json::json;

/// S-020, S-021, S-027: a sandbox is made, its browser opens the app and stops, all by the pages and the daemon's own link.
#[tokio::test]
async fn s027_a_browser_is_started_and_stopped_from_the_pages_of_the_real_daemon() {
    let app = Site::start([("/", AppPage::html("<title>App</title><h1>App</h1>"))]).await.unwrap();
    let mut daemon = daemon().await;
    let link = daemon.serve.as_ref().unwrap().link().unwrap().expect("a port");
    let page = Page::open(link.expose()).await;
    page.shows("No sandbox yet.").await;

    page.press("New sandbox").await;
    page.until("document.activeElement.id === 'app_url'").await;
    page.call("Input.insertText", json!({"text": app.url("/")})).await;
    page.press("Create").await;
    page.until("location.hash.startsWith('#/sandboxes/')").await;
    page.press("Start a browser").await;
    page.shows("Stop the browser").await;
    page.until(
        "[...document.querySelectorAll('.chip')].some(chip => chip.innerText === 'running')",
    )
    .await;
    page.press("Stop the browser").await;
    page.until(
        "[...document.querySelectorAll('.chip')].some(chip => chip.innerText === 'stopped')",
    )
    .await;
    page.shows("Start a browser").await;

    page.go("#/usage").await;
    page.shows("1 browser minute").await;
    page.press("Sign out").await;
    page.shows("Sign in to Reins").await;
    let origin = page.run("location.origin").await;
    let origin = origin.as_str().unwrap();
    let live = origin.replacen("http", "ws", 1) + "/live/";
    let own = |url: &String| url.starts_with(origin) || url.starts_with(&live);
    let elsewhere: Vec<_> =
        page.asked().into_iter().filter(|url| !own(url) && !url.starts_with("data:")).collect();
    assert!(elsewhere.is_empty(), "{elsewhere:?}");
    daemon.stop().await;
}
