//! `reins mcp --app` as a coding agent uses it, told by what reached which server.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a failed step must stop the test")]

mod support;

use reins_testing::{Page, Site};
use serde_json::json;
use std::time::Duration;
use support::{Client, find_ref};
use tokio::net::TcpListener;

const SOON: Duration = Duration::from_secs(30);

/// S-146, S-148, S-152: the app works, and neither its page nor a click of the agent reaches another server here.
#[tokio::test(flavor = "multi_thread")]
async fn s146_s152_a_pinned_browser_reaches_its_app_and_nothing_else_here() {
    let other = Site::start([]).await.unwrap();
    let body = format!(
        "<title>App</title><a href='{0}link'>Elsewhere</a><a href=/hop>Hop</a><img src='{0}image'>\
         <script>fetch('{0}fetch',{{mode:'no-cors'}}).catch(()=>0).finally(()=>fetch('/own').then(()=>hit('done')))</script>",
        other.url("/")
    );
    let hop = Page::redirect(302, &other.url("/hop"));
    let own = Page::raw("text/plain", "own");
    let app = Site::start([("/", Page::html(&body)), ("/own", own), ("/hop", hop)]).await.unwrap();
    let data = tempfile::tempdir().unwrap();
    let pinned = format!("--app=http://127.0.0.1:{}", app.port());
    let mut client = Client::start(data.path(), &[&pinned], json!({})).await;
    let page = client.call("navigate", json!({"url": app.url("/")})).await;
    assert!(app.wait_hit("done", SOON).await, "{}", page.text);
    let elsewhere = find_ref(&page.text, "link", "Elsewhere");
    let told = client.call("click", json!({"ref": elsewhere})).await;
    assert!(told.text.contains("outside"), "{}", told.text);
    let page = client.call("navigate", json!({"url": app.url("/")})).await;
    let hop = find_ref(&page.text, "link", "Hop");
    let told = client.call("click", json!({"ref": hop})).await;
    assert!(told.text.contains("outside"), "{}", told.text);
    let told = client.call("navigate", json!({"url": other.url("/named")})).await;
    assert!(told.text.contains("outside"), "{}", told.text);
    client.close().await;
    assert_eq!(other.seen(), []);
    assert_eq!(app.requests("/own"), 2);
}

/// S-151: what is denied is not reached, though it is one of the app's own origins.
#[tokio::test(flavor = "multi_thread")]
async fn s151_a_denied_host_is_not_reached() {
    assert_eq!(fetched_with("--app-only").await, 1);
    assert_eq!(fetched_with("--deny=localhost").await, 0);
    assert_eq!(fetched_with("--deny=127.0.0.0/9").await, 0);
}

/// How often a page of an app reaches the app's second origin.
async fn fetched_with(flag: &str) -> usize {
    let other = Site::start([]).await.unwrap();
    let body = format!(
        "<title>App</title><script>fetch('http://localhost:{}/fetch',{{mode:'no-cors'}}).catch(()=>0)\
         .finally(()=>hit('done'))</script>",
        other.port()
    );
    let app = Site::start([("/", Page::html(&body))]).await.unwrap();
    let origins = [("127.0.0.1", app.port()), ("localhost", other.port())];
    let origins = origins.map(|(host, port)| format!("--app=http://{host}:{port}"));
    let data = tempfile::tempdir().unwrap();
    let flags = [origins[0].as_str(), &origins[1], flag];
    let mut client = Client::start(data.path(), &flags, json!({})).await;
    let page = client.call("navigate", json!({"url": app.url("/")})).await;
    let opened = app.requests("/") > 0;
    assert!(!opened || app.wait_hit("done", SOON).await, "{}", page.text);
    client.close().await;
    other.requests("/fetch")
}

/// Where nothing answers at the app's address, the page says so in words.
#[tokio::test(flavor = "multi_thread")]
async fn an_app_that_is_not_started_is_told_as_such() {
    let gone = TcpListener::bind(("127.0.0.1", 0)).await.unwrap().local_addr().unwrap();
    let data = tempfile::tempdir().unwrap();
    let pinned = format!("--app=http://{gone}");
    let mut client = Client::start(data.path(), &[&pinned], json!({})).await;
    let page = client.call("navigate", json!({"url": format!("http://{gone}/")})).await;
    assert!(page.text.contains(&format!("{gone} does not answer")), "{}", page.text);
    client.close().await;
}
