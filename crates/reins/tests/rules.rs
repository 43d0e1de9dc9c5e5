//! `reins rules`: kept by hand, and heard by a door that is already open.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a failed step must stop the test")]

mod support;

use reins_testing::{Page, Site};
use serde_json::json;
use std::path::Path;
use support::{Client, find_ref};

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

/// where the pages of a site may send to is kept beside its rule, by exact origin; the sites that it names
/// are whole sites.
#[test]
fn r221_where_a_site_sends_to_is_kept() {
    let data = tempfile::tempdir().unwrap();
    let data = data.path();
    for (args, line) in [
        (
            &["--to", "static.cdn.example", "--to", "pay.example"][..],
            "sends  https://shop.example: also to cdn.example, pay.example\n",
        ),
        (
            &["--only", "--to", "cdn.example"],
            "sends  https://shop.example: only to its own site, those you name and cdn.example\n",
        ),
        (&["--only"], "sends  https://shop.example: only to its own site and those you name\n"),
        (&["--anywhere"], "sends  https://shop.example: anywhere\n"),
    ] {
        let said = rules(data, &[&["sends", "shop.example"], args].concat());
        assert_eq!(said, (0, line.to_owned()));
        assert_eq!(rules(data, &["list"]).1, line);
    }
    rules(data, &["add", "always", "shop.example"]);
    assert_eq!(
        rules(data, &["list"]).1,
        "always https://shop.example\nsends  https://shop.example: anywhere\n"
    );
    for wrong in [&["sends", "shop.example"][..], &["sends", "x.example", "--only", "--anywhere"]] {
        assert_eq!(rules(data, wrong).0, 2);
    }
    let (code, said) = rules(data, &["sends", "shop.example", "--to", "javascript:alert(1)"]);
    assert!(code == 1 && said.contains("names no site"), "{said}");
    assert_eq!(rules(data, &["remove", "shop.example"]).0, 0);
    assert!(rules(data, &["list"]).1.starts_with("no rules"));
}

/// a click's page reaches another site where a rule, set while the door is open, says so.
#[tokio::test(flavor = "multi_thread")]
async fn r221_a_rule_about_sending_holds_at_the_next_step() {
    let page = "<button type=button onclick=\"new Image().src='http://localhost:'+location.port+'/far'\">Load</button>";
    let site = Site::start([("/", Page::html(page)), ("/far", Page::raw("image/png", ""))]);
    let (site, data) = (site.await.unwrap(), tempfile::tempdir().unwrap());
    let origin = format!("http://127.0.0.1:{}", site.port());
    let mut client = Client::start(data.path(), &[&format!("--site={origin}")], json!({})).await;
    let page = client.call("navigate", json!({"url": site.url("/")})).await;
    let button = find_ref(&page.text, "button", "Load");
    let refused = client.call("click", json!({"ref": button})).await;
    assert!(refused.text.contains("neither it nor you had named"), "{}", refused.text);
    assert_eq!(site.requests("/far"), 0);
    assert_eq!(rules(data.path(), &["sends", &origin, "--to", "http://localhost"]).0, 0);
    let page = client.call("navigate", json!({"url": site.url("/")})).await;
    let button = find_ref(&page.text, "button", "Load");
    let sent = client.call("click", json!({"ref": button})).await;
    assert!(!sent.text.contains("neither it nor you"), "{}", sent.text);
    let limit = std::time::Duration::from_secs(20);
    assert!(site.wait_for(limit, |seen| seen.path == "/far").await, "{}", sent.text);
    client.close().await;
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
