//! A browser of the daemon with its recording and its live view, in a real Chromium.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a failed step must stop the test")]

mod support;

use futures_util::{SinkExt, StreamExt};
use reins_testing::{Page, Site};
use reqwest::Method;
use serde_json::{Value, json};
use std::time::Duration;
use support::{Client, code, daemon};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream};

const LONG: Duration = Duration::from_secs(60);

const APP: &str = "<title>Shop</title><h1>Welcome to the shop</h1>\
    <label>Name <input id=name></label><button onclick=\"hit('pressed')\">Press</button>";

/// A viewer that has shown its ticket.
struct Viewer(WebSocketStream<MaybeTlsStream<TcpStream>>);

impl Viewer {
    async fn open(client: &Client, id: &str, mode: &str) -> Self {
        let path = format!("/v1/sandboxes/{id}/browser/tickets");
        let (status, ticket) = client.post(&path, json!({"mode": mode})).await;
        assert_eq!(status, 201, "{ticket}");
        let mut request = ticket["url"].as_str().unwrap().into_client_request().unwrap();
        request.headers_mut().insert("origin", client.base.parse().unwrap());
        let (socket, _) = tokio_tungstenite::connect_async(request).await.unwrap();
        let mut viewer = Self(socket);
        viewer.say(&json!({"type": "ticket", "ticket": ticket["ticket"]})).await;
        viewer.hear("welcome").await;
        viewer
    }

    async fn say(&mut self, message: &Value) {
        self.0.send(Message::text(message.to_string())).await.unwrap();
    }

    /// The next message of a type.
    async fn hear(&mut self, kind: &str) -> Value {
        loop {
            let message = timeout(LONG, self.0.next()).await.expect(kind).unwrap().unwrap();
            let Message::Text(text) = message else { continue };
            let heard: Value = serde_json::from_str(&text).unwrap();
            if heard["type"] == kind {
                return heard;
            }
        }
    }

    /// The next picture.
    async fn picture(&mut self) -> Vec<u8> {
        loop {
            let message = timeout(LONG, self.0.next()).await.expect("a picture").unwrap().unwrap();
            if let Message::Binary(picture) = message {
                return picture.to_vec();
            }
        }
    }
}

fn reference(page: &Value, what: &str) -> String {
    let text = page["text"].as_str().unwrap();
    let line = text.lines().find(|line| line.contains(what)).expect(text);
    line.split_once("[ref=").unwrap().1.split_once(']').unwrap().0.to_owned()
}

/// S-003, S-004, S-055, S-060, S-068…S-071, S-100…S-105: what happens in a served browser is watched, taken over and
/// recorded, and read again.
#[tokio::test(flavor = "multi_thread")]
async fn s003_s004_a_served_browser_is_watched_taken_over_and_recorded() {
    let site = Site::start([("/", Page::html(APP))]).await.unwrap();
    let mut daemon = daemon().await;
    let client = daemon.client("acme").await;
    let id = client.browser(&site.url("/")).await;
    let path = format!("/v1/sandboxes/{id}/browser");
    let (_, shown) = client.get(&path).await;
    let recording = shown["browser"]["recording_id"].as_str().expect("S-100").to_owned();
    assert!(shown["browser"]["live_url"].as_str().expect("S-024").starts_with("ws://127.0.0.1:"));

    let page = client.tool(&id, "snapshot", json!({})).await;
    let name = reference(&page, "Name");
    client.tool(&id, "type", json!({"ref": name, "text": "Countess of Lovelace"})).await;

    let mut viewer = Viewer::open(&client, &id, "control").await;
    assert!(viewer.picture().await.starts_with(&[0xff, 0xd8]), "S-060: a JPEG");
    let (press, tool) = (reference(&page, "Press"), format!("/v1/sandboxes/{id}/tools/click"));
    let read = client.tool(&id, "snapshot", json!({})).await;
    assert!(read["text"].as_str().unwrap().contains("Welcome"), "S-070: reading goes ahead");
    let (status, held) = client.post(&tool, json!({"ref": press})).await;
    assert_eq!((status, code(&held)), (200, "held_by_person"), "S-069: {held}");
    assert_eq!(held["error"]["held_by"], "test", "S-071: {held}");
    assert!(held["error"]["waited_ms"].as_u64().unwrap() >= 19_000, "S-068: {held}");
    assert_eq!(site.hits("pressed"), 0, "S-069: nothing was done");
    viewer.say(&json!({"type": "hand_back"})).await;
    let clicked = client.tool(&id, "click", json!({"ref": press})).await;
    assert_eq!(clicked["outcome"], "completed", "{clicked}");
    assert!(site.wait_hit("pressed", LONG).await);

    let (status, _) = client.delete(&format!("/v1/recordings/{recording}")).await;
    assert_eq!(status, 409, "what is being written stays");
    let (status, stopped) = client.delete(&path).await;
    assert_eq!(status, 200, "{stopped}");
    recorded(&client, &recording, &id).await;

    let stranger = daemon.client("other").await;
    for way in ["", "/events", "/frames/1", "/search?q=shop", "/export"] {
        let (status, _) = stranger.get(&format!("/v1/recordings/{recording}{way}")).await;
        assert_eq!(status, 404, "{way}");
    }
    assert_eq!(stranger.delete(&format!("/v1/recordings/{recording}")).await.0, 404);
    assert_eq!(stranger.get("/v1/recordings").await.1, json!({"recordings": []}));
    assert_eq!(client.delete(&format!("/v1/recordings/{recording}")).await.0, 204);
    assert_eq!(client.get(&format!("/v1/recordings/{recording}")).await.0, 404);
    daemon.stop().await;
}

async fn recorded(client: &Client, recording: &str, sandbox: &str) {
    let path = format!("/v1/recordings/{recording}");
    let (_, about) = client.get(&path).await;
    assert_eq!((&about["status"], &about["sandbox_id"]), (&json!("complete"), &json!(sandbox)));
    let (_, listed) = client.get(&format!("/v1/recordings?sandbox={sandbox}")).await;
    assert_eq!(listed["recordings"][0]["id"], recording);
    let (_, page) = client.get(&format!("{path}/events?limit=5000")).await;
    let events = page["events"].as_array().unwrap();
    let of = |kind: &str| events.iter().filter(|e| e["kind"] == kind).collect::<Vec<_>>();
    assert!(!of("rrweb").is_empty(), "S-101");
    let told: Vec<_> = of("takeover").iter().map(|e| e["data"]["what"].clone()).collect();
    assert_eq!(told, ["takeover_started", "takeover_ended"], "S-105");
    assert!(of("marker").iter().any(|e| e["data"]["what"] == "page_navigated"), "S-104");
    let typed = of("action").into_iter().find(|e| e["data"]["tool"] == "type").expect("S-055");
    let shown = typed["data"]["arguments"]["text"].as_str().unwrap();
    assert!(!shown.is_empty() && shown.chars().all(|c| c == '*'), "{typed}");
    let whole = page.to_string();
    assert!(!whole.contains("Lovelace"), "S-102: typed values are masked");
    let (_, found) = client.get(&format!("{path}/search?q=welcome%20to")).await;
    assert!(found["hits"][0]["text"].as_str().unwrap().contains("Welcome to the shop"), "{found}");
    let export = client.request(Method::GET, &format!("{path}/export")).send().await.unwrap();
    assert_eq!(export.status(), 200);
    assert!(export.headers()["content-disposition"].to_str().unwrap().starts_with("attachment"));
    assert!(export.text().await.unwrap().contains("<!doctype html>"));
}

/// What was not asked for is not recorded, and the browser runs all the same.
#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_recorded_where_every_kind_is_switched_off() {
    let site = Site::start([("/", Page::html(APP))]).await.unwrap();
    let mut daemon = daemon().await;
    let client = daemon.client("acme").await;
    let id = client.sandbox(&site.url("/")).await;
    let off = json!({"record": {"rrweb": false, "frames": false, "console": false}});
    let (status, started) = client.post(&format!("/v1/sandboxes/{id}/browser"), off).await;
    assert_eq!(status, 201, "{started}");
    assert!(started["browser"].get("recording_id").is_none(), "{started}");
    client.tool(&id, "snapshot", json!({})).await;
    assert_eq!(client.get("/v1/recordings").await.1, json!({"recordings": []}));
    daemon.stop().await;
}
