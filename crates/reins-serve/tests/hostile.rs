//! Every operation of the OpenAPI document, with what no honest client sends, and with what belongs to somebody else.
#![allow(clippy::unwrap_used, reason = "tests")]

mod support;

use reins_core::{SandboxId, TabId, TenantId};
use reins_record::{
    End, Event, Kind, Kinds, Marker, Options, Recorder, RecordingAbout, RecordingStatus,
};
use reins_serve::SystemClock;
use reins_store::{ServedRun, Store};
use reqwest::Method;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;
use support::{Client, Daemon, code, daemon_with, http};

/// One operation of the document.
#[derive(Debug)]
struct Operation {
    method: Method,
    path: String,
    takes_body: bool,
    query: Vec<String>,
    statuses: Vec<u16>,
}

async fn operations(client: &Client) -> Vec<Operation> {
    let (_, document) = client.get("/v1/openapi.json").await;
    let mut found = Vec::new();
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, about) in methods.as_object().unwrap() {
            let parameters = about["parameters"].as_array().cloned().unwrap_or_default();
            let query = parameters.iter().filter(|p| p["in"] == "query");
            found.push(Operation {
                method: method.to_uppercase().parse().unwrap(),
                path: path.clone(),
                takes_body: about.get("requestBody").is_some(),
                query: query.map(|p| p["name"].as_str().unwrap().to_owned()).collect(),
                statuses: about["responses"]
                    .as_object()
                    .unwrap()
                    .keys()
                    .map(|status| status.parse().unwrap())
                    .collect(),
            });
        }
    }
    assert!(found.len() > 60, "{} operations", found.len());
    found
}

/// What one tenant has, by the names that paths use.
struct Things {
    sandbox: String,
    recording: String,
    run: String,
}

impl Things {
    /// A sandbox, a recording and a run of a tenant.
    async fn of(daemon: &Daemon, client: &Client, tenant: &str) -> Self {
        let sandbox = client.sandbox("http://a.example").await;
        let recording = recording(&daemon.dir, tenant, &sandbox);
        let run = format!("run_{tenant}");
        let row = ServedRun {
            id: run.clone(),
            tenant: TenantId::new(tenant),
            sandbox: SandboxId::new(sandbox.clone()),
            task: "look at a.example".into(),
            status: "done".into(),
            started_at: SystemTime::now(),
            ended_at: Some(SystemTime::now()),
            detail: "{}".into(),
        };
        Store::open(daemon.dir.join(reins_serve::STORE)).unwrap().keep_run(row).await.unwrap();
        Self { sandbox, recording, run }
    }

    fn path(&self, path: &str) -> String {
        path.replace("{id}", &self.sandbox)
            .replace("{recording}", &self.recording)
            .replace("{seq}", "1")
            .replace("{card}", "c1")
            .replace("{run}", &self.run)
    }
}

/// A recording of a tenant, as a session leaves it.
fn recording(dir: &Path, tenant: &str, sandbox: &str) -> String {
    let id = format!("rec-{tenant}");
    let about = RecordingAbout {
        tenant: tenant.into(),
        sandbox_id: sandbox.into(),
        app_url: "http://a.example/".into(),
        started_at_ms: 1_000,
        kinds: Kinds { rrweb: true, frames: true, console: true },
    };
    let recorder =
        Recorder::open(&dir.join("recordings"), &id.parse().unwrap(), &about, Options::default())
            .unwrap();
    let kind = Kind::Marker(Marker::PageOpened { url: "http://a.example/secret-place".into() });
    recorder.accept(&Event { at_ms: 1_000, tab: TabId::new("t"), kind });
    recorder.finish(End {
        status: RecordingStatus::Complete,
        reason: "stopped".into(),
        ended_at_ms: 2_000,
    });
    id
}

async fn patient() -> Daemon {
    let text = "[requests]\nper_second = 100000\nburst = 100000\n";
    daemon_with(text, Arc::new(SystemClock)).await
}

/// Oversized, malformed and misplaced messages at every operation: each is answered with a status that its
/// documentation names, none by a failure of the daemon, and nothing is changed by any.
#[tokio::test(flavor = "multi_thread")]
async fn every_operation_answers_oversized_and_malformed_messages() {
    let mut daemon = patient().await;
    let client = daemon.client("acme").await;
    let things = Things::of(&daemon, &client, "acme").await;
    let before = client.get("/v1/settings").await;
    let mut asked = 0;
    for operation in operations(&client).await {
        // An event stream goes on; that of nobody's sandbox is asked for below.
        let endless = operation.path.ends_with("/events") && operation.path.contains("{id}");
        // What these do, they do to whoever asks, without any words of theirs.
        let ends = matches!(operation.path.as_str(), "/v1/logout") || operation.method == "DELETE";
        let path = things.path(&operation.path);
        let mut tries = Vec::new();
        let request = |path: &str| client.request(operation.method.clone(), path);
        if operation.takes_body {
            let json_text =
                |text: String| request(&path).header("content-type", "application/json").body(text);
            let large = json!({"name": "x".repeat(5 << 20)}).to_string();
            tries.push(("oversized", json_text(large), Some(413)));
            tries.push(("not JSON", request(&path).body("a=b"), Some(415)));
            for (what, text) in [
                ("cut off", "{\"a\":".to_owned()),
                ("deep", "[".repeat(100_000)),
                ("not UTF-8", "\"\u{fffd}".to_owned()),
                ("a number", "7".to_owned()),
                ("null", "null".to_owned()),
                ("an array", "[1]".to_owned()),
                ("an unknown word", "{\"nobody knows this\": 1}".to_owned()),
                ("twice", "{\"name\": \"a\", \"name\": \"b\", \"ref\": 1, \"ref\": 2}".to_owned()),
            ] {
                tries.push((what, json_text(text), None));
            }
            let bytes = request(&path).header("content-type", "application/json");
            tries.push(("raw bytes", bytes.body(vec![0xff_u8, 0, 0xc3, 0x28]), None));
        }
        if !endless && !ends && !operation.takes_body {
            tries.push(("a body that nobody asked for", request(&path).body("{]"), None));
            let long = format!("{path}?{}={}", "unknown", "x".repeat(20_000));
            tries.push(("a long query", request(&long), None));
            for name in &operation.query {
                for value in ["", "%00", "-1", "99999999999999999999999", "%ff%fe", "'%20OR%201=1"]
                {
                    tries.push(("a query", request(&format!("{path}?{name}={value}")), None));
                }
            }
        }
        if operation.path.contains('{') {
            for odd in
                ["..%2f..%2fetc%2fpasswd", "%00", "%ff", "%20", &"x".repeat(5_000), "-1", "'"]
            {
                let odd_path = operation
                    .path
                    .split('/')
                    .map(|part| if part.starts_with('{') { odd } else { part })
                    .collect::<Vec<_>>()
                    .join("/");
                tries.push(("an odd id", request(&odd_path), None));
            }
        }
        for (what, request, wanted) in tries {
            let answered = request
                .send()
                .await
                .unwrap_or_else(|error| panic!("{what} at {} {path}: {error}", operation.method));
            let status = answered.status().as_u16();
            let at = format!("{what} at {} {path}: {status}", operation.method);
            assert!(status < 500, "{at}: {}", answered.text().await.unwrap());
            assert!(operation.statuses.contains(&status), "{at} is not documented: {operation:?}");
            if let Some(wanted) = wanted {
                assert_eq!(status, wanted, "{at}");
            }
            if status >= 400 {
                let body: Value = answered.json().await.unwrap();
                assert!(!code(&body).is_empty(), "{at}: {body}");
            }
            asked += 1;
        }
    }
    assert!(asked > 600, "{asked} messages");
    let (_, list) = client.get("/v1/sandboxes").await;
    assert_eq!(list["sandboxes"].as_array().unwrap().len(), 1, "{list}");
    assert_eq!(client.get("/v1/settings").await, before);
    daemon.stop().await;
}

/// What reaches no operation at all is refused as well, and the daemon goes on.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_http_is_refused_and_the_daemon_goes_on() {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let mut daemon = patient().await;
    let client = daemon.client("acme").await;
    let header = format!("GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nX-A: ", daemon.port);
    for bytes in [
        b"\0\0\0\0\r\n\r\n".to_vec(),
        b"GET\r\n\r\n".to_vec(),
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec(),
        b"POST /v1/login HTTP/1.1\r\nContent-Length: -1\r\n\r\n".to_vec(),
        b"POST /v1/login HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\nzz\r\n"
            .to_vec(),
        [header.as_bytes(), &vec![b'a'; 2 << 20], b"\r\n\r\n"].concat(),
    ] {
        let mut raw = tokio::net::TcpStream::connect(("127.0.0.1", daemon.port)).await.unwrap();
        // It may hang up before everything was sent.
        let _ = raw.write_all(&bytes).await;
        let _ = raw.shutdown().await;
        let mut answer = Vec::new();
        let _ = raw.read_to_end(&mut answer).await;
        let text = String::from_utf8_lossy(&answer);
        assert!(answer.is_empty() || text.starts_with("HTTP/1.1 4"), "{text}");
        assert_eq!(client.get("/healthz").await.0, 200);
    }
    daemon.stop().await;
}

/// S-122: whatever of one tenant a path can name, no operation gives another a part of it, and no list shows it.
#[tokio::test(flavor = "multi_thread")]
async fn s122_no_operation_gives_a_tenant_anything_of_another() {
    let mut daemon = patient().await;
    let (mine, theirs) = (daemon.client("acme").await, daemon.client("other").await);
    let things = Things::of(&daemon, &mine, "acme").await;
    for own in ["/v1/runs/{run}", "/v1/recordings/{recording}/events", "/v1/sandboxes/{id}"] {
        assert_eq!(mine.get(&things.path(own)).await.0, 200, "{own} is there");
    }
    let mut crossed = 0;
    for operation in operations(&mine).await {
        let path = things.path(&operation.path);
        if path == operation.path {
            continue;
        }
        let body = operation.takes_body.then(|| json!({}));
        for query in ["", "?q=place", "?sandbox=", "?tenant=acme"] {
            let path = format!("{path}{query}");
            let (status, answer) = theirs.send(operation.method.clone(), &path, body.clone()).await;
            let at = format!("{} {path}", operation.method);
            assert_eq!((status, code(&answer)), (404, "not_found"), "{at}: {answer}");
            crossed += 1;
        }
    }
    assert!(crossed > 200, "{crossed} requests");
    for path in [
        "/v1/sandboxes".to_owned(),
        "/v1/recordings".to_owned(),
        format!("/v1/recordings?sandbox={}", things.sandbox),
        "/v1/recordings?q=a.example".to_owned(),
        "/v1/runs".to_owned(),
        format!("/v1/runs?sandbox={}", things.sandbox),
        "/v1/usage".to_owned(),
        "/v1/settings".to_owned(),
        "/v1/me".to_owned(),
    ] {
        let (status, answer) = theirs.get(&path).await;
        let text = answer.to_string();
        assert_eq!(status, 200, "{path}: {text}");
        for own in [&things.sandbox, &things.recording, "a.example", "acme"] {
            assert!(!text.contains(own), "{path} shows {own}: {text}");
        }
    }
    let (status, _) = mine.get(&format!("/v1/sandboxes/{}", things.sandbox)).await;
    assert_eq!(status, 200, "and it is all still there");
    let (status, _) = mine.get(&format!("/v1/recordings/{}", things.recording)).await;
    assert_eq!(status, 200);
    let nobody = http().get(format!("{}/v1/recordings/{}", mine.base, things.recording));
    assert_eq!(support::answer(nobody).await.0, 401);
    daemon.stop().await;
}
