//! `reins rules`: kept by hand, and heard by a door that is already open.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a failed step must stop the test")]

mod support;

use reins_testing::{Page, Site};
use serde_json::json;
use std::path::Path;
use support::Client;

fn rules(data: &Path, args: &[&str]) -> (i32, String) {
    support::run(data, &[&["rules"], args].concat(), &[], "")
}

/// a bare host means https, an origin is exact, and what names no site is refused.
#[test]
fn r160_rules_are_kept_by_exact_origin() {
    let data = tempfile::tempdir().unwrap();
    let data = data.path();
    assert_eq!(
        rules(data, &["list"]).1,
        "no rules; add one with `reins rules add always|never SITE`\n"
    );
    let (code, said) = rules(data, &["add", "always", "shop.example"]);
    assert_eq!((code, said.starts_with("always https://shop.example: ")), (0, true), "{said}");
    rules(data, &["add", "never", "http://shop.example:8080"]);
    rules(data, &["add", "never", "shop.example"]);
    assert_eq!(
        rules(data, &["list"]).1,
        "never  http://shop.example:8080\nnever  https://shop.example\n"
    );
    assert_eq!(rules(data, &["remove", "https://shop.example"]).0, 0);
    let (code, said) = rules(data, &["remove", "https://shop.example"]);
    assert!(code == 1 && said.contains("there is no rule"), "{said}");
    assert_eq!(rules(data, &["list"]).1, "never  http://shop.example:8080\n");
    let (code, said) = rules(data, &["add", "always", "javascript:alert(1)"]);
    assert!(code == 1 && said.contains("names no site"), "{said}");
}

/// a rule set by hand holds at once, also for a door that is open.
#[tokio::test(flavor = "multi_thread")]
async fn r160_a_running_door_hears_a_rule_set_by_hand() {
    let site =
        Site::start([("/", Page::html("<h1>Desk</h1>")), ("/next", Page::html("<h1>Next</h1>"))]);
    let (site, data) = (site.await.unwrap(), tempfile::tempdir().unwrap());
    let origin = format!("http://127.0.0.1:{}", site.port());
    let mut client = Client::start(data.path(), &[&format!("--site={origin}")], json!({})).await;
    let page = client.call("navigate", json!({"url": site.url("/")})).await;
    assert!(page.text.contains("Desk"), "{}", page.text);
    assert_eq!(rules(data.path(), &["add", "never", &origin]).0, 0);
    let refused = client.call("navigate", json!({"url": site.url("/next")})).await;
    assert!(refused.failed, "{}", refused.text);
    assert_eq!(site.requests("/next"), 0);
    assert_eq!(rules(data.path(), &["remove", &origin]).0, 0);
    let page = client.call("navigate", json!({"url": site.url("/next")})).await;
    assert!(page.text.contains("Next"), "{}", page.text);
    client.close().await;
}
