//! Browsers of sandboxes, in a real Chromium.
#![allow(clippy::unwrap_used, reason = "tests")]

mod support;

use reins_testing::{Page, Site};
use serde_json::json;
use std::sync::Arc;
use support::{Watch, code, daemon, daemon_with};

/// S-001, S-006, S-020…S-025: an app gets a browser of its own, which shows it, is shown, is driven and stopped.
#[tokio::test(flavor = "multi_thread")]
async fn s020_a_browser_is_started_shown_driven_and_stopped() {
    let site = Site::start([(
        "/",
        Page::html(
            "<title>Shop</title><h1>Welcome</h1><button onclick=\"hit('pressed')\">Press</button>",
        ),
    )])
    .await
    .unwrap();
    let mut daemon = daemon().await;
    let client = daemon.client("acme").await;
    let id = client.sandbox(&site.url("/")).await;
    let path = format!("/v1/sandboxes/{id}/browser");
    assert_eq!(client.get(&path).await, (200, json!({"browser": null})));
    let (status, body) =
        client.post(&format!("/v1/sandboxes/{id}/tools/snapshot"), json!({})).await;
    assert_eq!((status, code(&body)), (409, "no_browser"));

    let (status, started) = client.post(&path, json!({"capabilities": ["testing"]})).await;
    assert_eq!(status, 201, "{started}");
    let browser = &started["browser"];
    assert_eq!((&browser["mode"], &browser["status"]), (&json!("headless"), &json!("running")));
    assert!(browser["server_key"].as_str().unwrap().starts_with("browser:bs_"), "S-024");
    let text = started.to_string();
    assert!(!text.contains("mcp") && !text.contains("token") && !text.contains("rbt_"), "S-025");

    let (status, second) = client.post(&path, json!({})).await;
    assert_eq!((status, code(&second)), (422, "browser_running"), "S-031");

    let seen = client.tool(&id, "snapshot", json!({})).await;
    let text = seen["text"].as_str().unwrap();
    assert!(text.contains("Welcome") && text.contains("Press"), "{text}");
    let button = text.lines().find(|line| line.contains("Press")).unwrap();
    let reference = button.split_once("[ref=").unwrap().1.split_once(']').unwrap().0;
    let clicked = client.tool(&id, "click", json!({"ref": reference})).await;
    assert_eq!(clicked["outcome"], "completed", "{clicked}");
    assert!(site.wait_hit("pressed", std::time::Duration::from_secs(20)).await);

    let (_, tabs) = client.get(&format!("{path}/tabs")).await;
    assert_eq!(
        (&tabs["tabs"][0]["url"], &tabs["tabs"][0]["current"]),
        (&json!(site.url("/")), &json!(true))
    );

    let (status, stopped) = client.delete(&path).await;
    assert_eq!((status, &stopped["browser"]["status"]), (200, &json!("stopped")), "{stopped}");
    assert!(stopped["browser"].get("server_key").is_none());
    let (_, shown) = client.get(&path).await;
    assert_eq!(shown, stopped);
    let (_, usage) = client.get("/v1/usage").await;
    assert_eq!(usage["browser_minutes"], 1, "S-121: rounded up: {usage}");
    assert!(std::fs::read_dir(daemon.dir.join("sessions")).unwrap().next().is_none(), "S-140");
    daemon.stop().await;
}

/// S-031, S-042, S-043: what cannot be started is refused with a reason, and nothing else is started instead.
#[tokio::test(flavor = "multi_thread")]
async fn s031_wrong_words_are_refused() {
    let mut daemon = daemon().await;
    let client = daemon.client("acme").await;
    let id = client.sandbox("http://127.0.0.1:9").await;
    let path = format!("/v1/sandboxes/{id}/browser");
    for (body, expected) in [
        (json!({"mode": "invisible"}), "unknown_mode"),
        (json!({"capabilities": ["flying"]}), "unknown_capability"),
        (json!({"level": "never"}), "unknown_level"),
    ] {
        let (status, answer) = client.post(&path, body).await;
        assert_eq!((status, code(&answer)), (422, expected));
    }
    let (_, list) = client.get("/v1/sandboxes").await;
    if list["browser_modes"] == json!(["headless"]) {
        let (status, answer) = client.post(&path, json!({"mode": "headed"})).await;
        assert_eq!((status, code(&answer)), (422, "no_display"));
        assert!(answer["error"]["message"].as_str().unwrap().contains("DISPLAY"));
    }
    assert_eq!(client.get(&path).await, (200, json!({"browser": null})), "nothing was started");
    daemon.stop().await;
}

/// S-125, S-108, S-124: no browser within 30 s of the expiry; one that runs ends 30 s before it, also when the
/// wall clock jumps, and what it ran is counted on a clock that does not.
#[tokio::test(flavor = "multi_thread")]
async fn s124_a_browser_never_outlives_its_sandbox() {
    let site = Site::start([("/", Page::html("<h1>App</h1>"))]).await.unwrap();
    let clock = Arc::new(Watch::default());
    let mut daemon = daemon_with("", clock.clone()).await;
    let client = daemon.client("acme").await;
    let make = json!({"app_url": site.url("/"), "expires_in_s": 29});
    let (_, short) = client.post("/v1/sandboxes", make).await;
    let path = format!("/v1/sandboxes/{}/browser", short["id"].as_str().unwrap());
    let (status, body) = client.post(&path, json!({})).await;
    assert_eq!((status, code(&body)), (422, "expires_soon"), "S-125");

    // By its own deadline, on a clock that nobody can set: set back by an hour, it ends all the same.
    let make = json!({"app_url": site.url("/"), "expires_in_s": 36});
    let (_, short) = client.post("/v1/sandboxes", make).await;
    let id = short["id"].as_str().unwrap();
    let path = format!("/v1/sandboxes/{id}/browser");
    let (status, started) = client.post(&path, json!({})).await;
    if status == 201 {
        clock.jump(-3600);
        support::until("the deadline", async || {
            client.get(&path).await.1["browser"]["reason"] == json!("deadline")
        })
        .await;
        clock.jump(3600);
    } else {
        // So slow a start that the 30 seconds had begun.
        assert_eq!(code(&started), "expires_soon");
    }

    // By the reaper, when the wall clock is set forward.
    let id = client.browser(&site.url("/")).await;
    let path = format!("/v1/sandboxes/{id}/browser");
    clock.jump(8 * 60 * 60);
    support::until("the reaper", async || {
        client.get(&path).await.1["browser"]["reason"] == json!("sandbox_expired")
    })
    .await;
    let (_, sandbox) = client.get(&format!("/v1/sandboxes/{id}")).await;
    assert_eq!(sandbox["status"], "expired");
    let (status, body) = client.post(&path, json!({})).await;
    assert_eq!((status, code(&body)), (422, "sandbox_not_ready"), "S-030");
    clock.jump(-8 * 60 * 60);
    let (_, usage) = client.get("/v1/usage").await;
    let minutes = usage["browser_minutes"].as_u64().unwrap();
    assert!(minutes <= 4, "hours that nobody ran are not counted: {usage}");
    daemon.stop().await;
}
