//! The street through the dedicated browser, which somebody else started and uses.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a failed step must stop the test")]

mod support;

use reins_cdp::Connection;
use reins_cdp::testing::{Chromium, chrome};
use reins_control::{BrowserSource, CardAnswer};
use reins_testing::{Page, Site};
use serde_json::{Value, json};
use std::time::Duration;
use support::{Desk, Person, find_ref};

const LONG: Duration = Duration::from_secs(30);

/// over the loopback endpoint of a browser that runs already, the
/// agent opens a page of its own, reads it with its frames, gets a picture and acts by ref. A-025: the
/// person's tab is not taken for the agent's, though it shows the same; it stays when we let go.
#[tokio::test(flavor = "multi_thread")]
async fn a001_a003_the_dedicated_browser_is_listed_navigated_read_and_used() {
    let site = Site::start([
        (
            "/",
            Page::html(
                "<title>Notes</title><h1>Notes</h1><iframe src=/part></iframe>\
                 <button onclick=\"hit('added')\">Add</button>",
            ),
        ),
        ("/part", Page::html("<p>inside the frame</p>")),
    ])
    .await
    .unwrap();
    let profile = tempfile::tempdir().unwrap();
    let chromium = Chromium::start_on(&chrome().unwrap(), profile.path()).await.unwrap();
    let hands = Connection::websocket(&chromium.url(), LONG).await.unwrap().root();
    let own: Value = hands
        .call("Target.createTarget", json!({"url": site.url("/"), "newWindow": true}), LONG)
        .await
        .unwrap();
    let own = own["targetId"].as_str().unwrap().to_owned();

    let desk = Desk::new(Person::saying([CardAnswer::Allow]), |options| {
        options.source = BrowserSource::Dedicated(profile.path().to_owned());
    })
    .await;
    desk.says(&format!("open {}", site.url("/")));
    let opened = desk.ok("open_tab", json!({"url": site.url("/")})).await;
    assert!(opened.contains("# Notes") && opened.contains("inside the frame"), "{opened}");
    let listed = desk.ok("list_tabs", json!({})).await;
    let theirs = listed.lines().find(|line| line.contains(&own[..8])).unwrap_or_default();
    assert!(theirs.contains("person") || theirs.is_empty(), "A-025: {listed}");
    let picture = desk.call("screenshot", json!({})).await.unwrap();
    assert_eq!(picture.pictures.len(), 1, "{}", picture.whole_text());
    let add = find_ref(&opened, "button", "Add");
    desk.ok("click", json!({"ref": add})).await;
    assert!(site.wait_hit("added", LONG).await);
    assert_eq!(site.hits("added"), 1, "A-X02: done once");

    desk.control.close().await;
    let left: Value = hands.call("Target.getTargets", (), LONG).await.unwrap();
    let pages = left["targetInfos"].as_array().unwrap();
    assert!(
        pages.iter().any(|target| target["targetId"] == own.as_str()),
        "the person's tab stays"
    );
}
