//! Quota, permission and usage: the configuration's own, and a team's service over a signed webhook.
#![allow(clippy::unwrap_used, reason = "tests")]

mod support;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use reins_serve::SystemClock;
use reins_testing::{Page, Site};
use ring::hmac;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use support::{Daemon, code, daemon_in, daemon_with};
use tokio::net::TcpListener;

const KEY: &str = "a-key-of-at-least-thirty-two-characters";

/// A team's service: checks signatures, answers as told, remembers what it took.
#[derive(Clone, Default)]
struct Service {
    heard: Arc<Mutex<Vec<Value>>>,
    /// Answers by kind; what is missing fails.
    answers: Arc<Mutex<Value>>,
}

impl Service {
    async fn start(&self) -> u16 {
        let routes = Router::new().route("/hook", post(hear)).with_state(self.clone());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        tokio::spawn(async move { axum::serve(listener, routes).await.unwrap() });
        port
    }

    fn say(&self, answers: Value) {
        *self.answers.lock().unwrap() = answers;
    }

    fn heard(&self, kind: &str) -> Vec<Value> {
        let heard = self.heard.lock().unwrap();
        heard.iter().filter(|body| body["kind"] == kind).cloned().collect()
    }
}

async fn hear(
    State(service): State<Service>,
    headers: HeaderMap,
    body: Bytes,
) -> (StatusCode, String) {
    let at = headers["x-reins-timestamp"].to_str().unwrap();
    let key = hmac::Key::new(hmac::HMAC_SHA256, KEY.as_bytes());
    let signed = [at.as_bytes(), b".", &body].concat();
    let expected = reins_serve::hex(hmac::sign(&key, &signed).as_ref());
    assert_eq!(headers["x-reins-signature"].to_str().unwrap(), format!("v1={expected}"));
    let body: Value = serde_json::from_slice(&body).unwrap();
    assert_eq!((&body["version"], body["at"].as_str()), (&json!(1), Some(at)), "S-123");
    let answer = service.answers.lock().unwrap()[body["kind"].as_str().unwrap()].clone();
    service.heard.lock().unwrap().push(body);
    match answer {
        Value::Null => (StatusCode::INTERNAL_SERVER_ERROR, String::new()),
        answer => (StatusCode::OK, answer.to_string()),
    }
}

fn hooked(port: u16, folder: &std::path::Path) -> String {
    let secret = folder.join("key");
    std::fs::write(&secret, KEY).unwrap();
    format!(
        "[webhook]\nurl = 'http://127.0.0.1:{port}/hook'\nsecret_file = '{}'\ntimeout_ms = 2000\n",
        secret.display()
    )
}

/// S-032, S-120, S-122: quota and permission are asked about the tenant; a no is 402 and 403 with the checker's payload.
#[tokio::test(flavor = "multi_thread")]
async fn s120_a_denied_start_answers_402_with_the_checkers_payload() {
    let (service, folder) = (Service::default(), tempfile::tempdir().unwrap());
    let port = service.start().await;
    let mut daemon = daemon_with(&hooked(port, folder.path()), Arc::new(SystemClock)).await;
    let client = daemon.client("acme").await;
    let id = client.sandbox("http://127.0.0.1:9").await;
    let path = format!("/v1/sandboxes/{id}/browser");
    let payload = json!({"plan": "free", "left": 0});
    service.say(json!({
        "permission": {"allow": true},
        "quota": {"allow": false, "message": "buy more", "payload": payload},
    }));
    let (status, body) = client.post(&path, json!({})).await;
    assert_eq!((status, code(&body)), (402, "quota"));
    assert_eq!(body["error"]["payload"], payload);
    assert!(body["error"]["message"].as_str().unwrap().contains("buy more"));
    assert_eq!(service.heard("quota")[0]["tenant"], "acme");
    assert_eq!(service.heard("permission")[0]["subject"]["permission"], "start_browser");

    service.say(json!({"permission": {"allow": false}, "quota": {"allow": true}}));
    let (status, body) = client.post(&path, json!({})).await;
    assert_eq!((status, code(&body)), (403, "not_permitted"));

    // Nobody answers: tried again, then refused.
    service.say(json!({}));
    let before = service.heard("permission").len();
    let (status, body) = client.post(&path, json!({})).await;
    assert_eq!((status, code(&body)), (403, "not_permitted"));
    assert_eq!(service.heard("permission").len() - before, 3, "three tries");
    assert_eq!(client.get(&path).await.1, json!({"browser": null}), "nothing was started");
    daemon.stop().await;
}

/// S-121: the usage hook gets the minutes once, also when it could not take them at first and the daemon was started
/// again meanwhile.
#[tokio::test(flavor = "multi_thread")]
async fn s121_usage_is_told_until_it_is_taken_also_after_a_restart() {
    let site = Site::start([("/", Page::html("<h1>App</h1>"))]).await.unwrap();
    let (service, folder) = (Service::default(), tempfile::tempdir().unwrap());
    let port = service.start().await;
    let settings = hooked(port, folder.path());
    let dir = folder.path().join("data");
    let allow = json!({"permission": {"allow": true}, "quota": {"allow": true}});
    service.say(allow.clone());
    let mut daemon: Daemon = daemon_in(&dir, &settings, Arc::new(SystemClock)).await;
    let client = daemon.client("acme").await;
    let id = client.browser(&site.url("/")).await;
    assert_eq!(client.delete(&format!("/v1/sandboxes/{id}/browser")).await.0, 200);
    support::until("a first try", async || !service.heard("usage").is_empty()).await;
    daemon.stop().await;

    let mut told = allow;
    told["usage"] = json!({});
    service.say(told);
    let tries = service.heard("usage").len();
    let mut daemon = daemon_in(&dir, &settings, Arc::new(SystemClock)).await;
    support::until("another try", async || service.heard("usage").len() > tries).await;
    let heard = service.heard("usage");
    let last = heard.last().unwrap();
    assert_eq!((&last["subject"]["quantity"], &last["tenant"]), (&json!(1), &json!("acme")));
    assert_eq!(last["id"], heard[0]["id"], "the same id each time");
    daemon.stop().await;
    let mut daemon = daemon_in(&dir, &settings, Arc::new(SystemClock)).await;
    daemon.stop().await;
    assert_eq!(service.heard("usage").len(), heard.len(), "and never again once it was taken");
}

/// S-120: the configuration's own quota.
#[tokio::test(flavor = "multi_thread")]
async fn s120_a_tenant_without_minutes_gets_no_browser_and_others_do() {
    let settings = "[quota.tenants]\npoor = 0\n";
    let mut daemon = daemon_with(settings, Arc::new(SystemClock)).await;
    let poor = daemon.client("poor").await;
    let id = poor.sandbox("http://127.0.0.1:9").await;
    let (status, body) = poor.post(&format!("/v1/sandboxes/{id}/browser"), json!({})).await;
    assert_eq!((status, code(&body)), (402, "quota"));
    assert_eq!(body["error"]["payload"], json!({"kind": "browser_minutes", "limit": 0, "used": 0}));
    let (_, usage) = poor.get("/v1/usage").await;
    assert_eq!(usage["quota"], json!({"browser_minutes": 0, "used": 0}));
    daemon.stop().await;
}

/// S-032: with execution off nothing is started or driven.
#[tokio::test(flavor = "multi_thread")]
async fn s032_execution_can_be_switched_off() {
    let mut daemon = daemon_with("[browsers]\nexecution = false\n", Arc::new(SystemClock)).await;
    let client = daemon.client("acme").await;
    let id = client.sandbox("http://127.0.0.1:9").await;
    for path in ["browser", "tools/snapshot", "runs"] {
        let (status, body) =
            client.post(&format!("/v1/sandboxes/{id}/{path}"), json!({"task": "x"})).await;
        let told = if path == "browser" { (400, "bad_request") } else { (403, "execution_off") };
        assert_eq!((status, code(&body)), told, "{path}");
    }
    let (status, body) = client.post(&format!("/v1/sandboxes/{id}/browser"), json!({})).await;
    assert_eq!((status, code(&body)), (403, "execution_off"));
    daemon.stop().await;
}
