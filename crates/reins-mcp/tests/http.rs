//! The HTTP endpoint of one session, asked as clients and as others would.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a failed step must stop the test")]

use bytes::Bytes;
use futures_util::future::BoxFuture;
use http::{Method, Request, Response, StatusCode, header};
use http_body_util::{BodyExt, Full};
use reins_control::{Reply, Tool};
use reins_mcp::{
    HeldBy, HttpAccess, HttpBody, HttpDoor, HttpLimits, HttpOptions, Names, NotMade, SessionCalls,
    ToolChoice,
};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

const HOST: &str = "127.0.0.1:7080";
const TOKEN: &str = "rst_0123456789abcdef0123456789abcdef";

/// A session whose calls are noted. `hover` is held by a person, `scroll` finds the browser stopping, and
/// `drag` ends only when it is cancelled.
#[derive(Default)]
struct Scripted {
    made: Mutex<Vec<(&'static str, Value)>>,
    begun: Notify,
    cancelled: Notify,
}

impl SessionCalls for Scripted {
    fn call<'a>(
        &'a self,
        tool: &'static Tool,
        arguments: Value,
        cancel: CancellationToken,
    ) -> BoxFuture<'a, Result<Reply, NotMade>> {
        Box::pin(async move {
            self.made.lock().unwrap().push((tool.name, arguments));
            self.begun.notify_one();
            match tool.name {
                "hover" => Err(NotMade::Held(HeldBy {
                    held_by: "Ada\nignore this".into(),
                    since: "2026-01-02T03:04:05Z".into(),
                    waited_ms: 20_000,
                })),
                "scroll" => Err(NotMade::Stopping),
                "drag" => {
                    let told = Told(&self.cancelled);
                    cancel.cancelled().await;
                    drop(told);
                    Ok(Reply::text("cancelled"))
                }
                _ => Ok(Reply::text(format!("did {}", tool.name))),
            }
        })
    }
}

/// Tells that a call was cancelled, also when it is dropped before it could notice.
struct Told<'a>(&'a Notify);

impl Drop for Told<'_> {
    fn drop(&mut self) {
        self.0.notify_one();
    }
}

fn door(names: Names, limits: HttpLimits) -> (HttpDoor, Arc<Scripted>) {
    let calls = Arc::new(Scripted::default());
    let door = HttpDoor::new(HttpOptions {
        calls: calls.clone(),
        tools: ToolChoice::parse("core").unwrap(),
        names,
        access: HttpAccess::Own {
            bearer: Arc::new(|token| token.expose() == TOKEN),
            hosts: vec![HOST.into()],
        },
        version: "1".into(),
        limits,
    });
    (door, calls)
}

fn request(method: Method, _: &Value) -> http::request::Builder {
    Request::builder()
        .method(method)
        .uri("/v1/sandboxes/one/mcp")
        .header(header::HOST, HOST)
        .header(header::AUTHORIZATION, format!("Bearer {TOKEN}"))
        .header(header::ACCEPT, "application/json, text/event-stream")
        .header(header::CONTENT_TYPE, "application/json")
}

fn body(message: &Value) -> Full<Bytes> {
    Full::new(Bytes::from(message.to_string()))
}

fn initialize() -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {"elicitation": {}, "sampling": {}, "roots": {"listChanged": true}},
        "clientInfo": {"name": "test", "version": "1"},
    }})
}

async fn text(response: Response<HttpBody>) -> String {
    let bytes = response.into_body().collect().await.unwrap().to_bytes();
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// The JSON messages of an answer, however they were sent.
fn messages(text: &str) -> Vec<Value> {
    let data = text.lines().filter_map(|line| line.strip_prefix("data:"));
    let found: Vec<Value> =
        data.filter_map(|data| serde_json::from_str(data.trim()).ok()).collect();
    if found.is_empty() { serde_json::from_str(text).into_iter().collect() } else { found }
}

/// A client that has shaken hands.
struct Client {
    door: HttpDoor,
    session: String,
}

impl Client {
    async fn connect(door: &HttpDoor) -> Self {
        let message = initialize();
        let asked = request(Method::POST, &message).body(body(&message)).unwrap();
        let response = door.handle(asked).await;
        assert_eq!(response.status(), StatusCode::OK);
        let session = response.headers()["mcp-session-id"].to_str().unwrap().to_owned();
        text(response).await;
        let client = Self { door: door.clone(), session };
        let told = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        assert_eq!(client.send(&told).await.status(), StatusCode::ACCEPTED);
        client
    }

    async fn send(&self, message: &Value) -> Response<HttpBody> {
        let asked = request(Method::POST, message)
            .header("mcp-session-id", &self.session)
            .header("mcp-protocol-version", "2025-06-18");
        self.door.handle(asked.body(body(message)).unwrap()).await
    }

    /// All that came back: a well-behaved server sends the answer and nothing else.
    async fn call(&self, name: &str, arguments: Value) -> Value {
        let message = json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call",
            "params": {"name": name, "arguments": arguments}});
        let mut came = messages(&text(self.send(&message).await).await);
        assert_eq!(came.len(), 1, "{came:?}");
        came.remove(0)["result"].take()
    }

    async fn end(&self) -> StatusCode {
        let asked = request(Method::DELETE, &Value::Null).header("mcp-session-id", &self.session);
        self.door.handle(asked.body(body(&Value::Null)).unwrap()).await.status()
    }
}

/// What a request is, the headers that it changes, and the answer.
type Case = (&'static str, &'static [(&'static str, &'static str)], StatusCode);

/// S-142, S-145: nobody gets in without the token, by another Host, or from a page, and nothing of a
/// refused request is looked at.
#[tokio::test]
async fn s142_s145_only_the_token_on_the_own_host_and_no_page_gets_in() {
    let (door, calls) = door(Names::Reins, HttpLimits::default());
    let message = initialize();
    let cases: &[Case] = &[
        ("no token", &[("authorization", "")], StatusCode::UNAUTHORIZED),
        ("another token", &[("authorization", "Bearer rst_other")], StatusCode::UNAUTHORIZED),
        ("another scheme", &[("authorization", "Basic cnN0Xw==")], StatusCode::UNAUTHORIZED),
        ("another host", &[("host", "evil.example")], StatusCode::MISDIRECTED_REQUEST),
        ("another port", &[("host", "127.0.0.1:7081")], StatusCode::MISDIRECTED_REQUEST),
        ("a page", &[("origin", "http://127.0.0.1:7080")], StatusCode::FORBIDDEN),
        ("a sandboxed page", &[("origin", "null")], StatusCode::FORBIDDEN),
        (
            "a page without a token",
            &[("origin", "null"), ("authorization", "")],
            StatusCode::FORBIDDEN,
        ),
    ];
    for (who, changes, status) in cases {
        for method in [Method::POST, Method::GET, Method::DELETE, Method::OPTIONS] {
            let mut asked = request(method, &message).body(body(&message)).unwrap();
            for (name, value) in *changes {
                asked.headers_mut().insert(
                    header::HeaderName::from_bytes(name.as_bytes()).unwrap(),
                    value.parse().unwrap(),
                );
            }
            let response = door.handle(asked).await;
            assert_eq!(response.status(), *status, "{who}");
            let said: Value = serde_json::from_str(&text(response).await).unwrap();
            assert!(said["error"]["code"].is_string() && said["error"]["message"].is_string());
        }
    }
    let mut twice = request(Method::POST, &message).body(body(&message)).unwrap();
    twice.headers_mut().append(header::HOST, "evil.example".parse().unwrap());
    assert_eq!(door.handle(twice).await.status(), StatusCode::MISDIRECTED_REQUEST);
    assert_eq!(door.sessions().await, 0);
    assert!(calls.made.lock().unwrap().is_empty());
    let client = Client::connect(&door).await;
    assert_eq!(client.call("click", json!({"ref": "e1"})).await["content"][0]["text"], "did click");
}

/// S-X10: a ninth client is told so, and the place of one that left is free.
#[tokio::test]
async fn s_x10_at_most_eight_protocol_sessions() {
    let (door, _) = door(Names::Reins, HttpLimits::default());
    let mut clients = Vec::new();
    for _ in 0..8 {
        clients.push(Client::connect(&door).await);
    }
    let message = initialize();
    let ninth = || door.handle(request(Method::POST, &message).body(body(&message)).unwrap());
    assert_eq!(ninth().await.status(), StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(clients[3].end().await, StatusCode::ACCEPTED);
    assert_eq!(ninth().await.status(), StatusCode::OK);
    assert_eq!(ninth().await.status(), StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(clients[0].call("snapshot", json!({})).await["content"][0]["text"], "did snapshot");
}

/// S-X10: a protocol session that is silent for long ends, and its client has to begin again.
#[tokio::test]
async fn s_x10_a_silent_session_ends() {
    assert_eq!(HttpLimits::default().idle, Duration::from_secs(30 * 60));
    let limits = HttpLimits { idle: Duration::from_millis(100), ..HttpLimits::default() };
    let (door, _) = door(Names::Reins, limits);
    let client = Client::connect(&door).await;
    let gone = async {
        // The clock is what is tested, so there is nothing else to wait for.
        while door.sessions().await > 0 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), gone).await.unwrap();
    let message = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"});
    assert_eq!(client.send(&message).await.status(), StatusCode::NOT_FOUND);
}

/// S-X10: a body beyond 4 MiB is refused, whatever its headers say of its size.
#[tokio::test]
async fn s_x10_a_larger_body_is_refused() {
    let (door, calls) = door(Names::Reins, HttpLimits::default());
    let client = Client::connect(&door).await;
    for (bytes, status) in
        [(4 * 1024 * 1024, StatusCode::PAYLOAD_TOO_LARGE), (3 * 1024 * 1024, StatusCode::OK)]
    {
        let message = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call",
            "params": {"name": "find_in_page", "arguments": {"text": "x".repeat(bytes)}}});
        let response = client.send(&message).await;
        assert_eq!(response.status(), status);
        text(response).await;
    }
    assert_eq!(calls.made.lock().unwrap().len(), 1);
}

/// S-X10: a call that takes too long is given up, told as such, and cancelled.
#[tokio::test]
async fn s_x10_a_slow_call_is_given_up() {
    assert_eq!(HttpLimits::default().request, Duration::from_secs(120));
    let limits = HttpLimits { request: Duration::from_millis(300), ..HttpLimits::default() };
    let (door, calls) = door(Names::Reins, limits);
    let client = Client::connect(&door).await;
    let result = client.call("drag", json!({"from": "e1", "to": "e2"})).await;
    assert_eq!(result["structuredContent"]["error"], "too_slow");
    assert_eq!(result["isError"], true);
    calls.cancelled.notified().await;
}

/// S-X10: what stands beside the arguments reaches no tool, and a client that says it can be asked is
/// not asked.
#[tokio::test]
async fn s_x10_meta_is_stripped_and_capabilities_are_empty() {
    let (door, calls) = door(Names::Reins, HttpLimits::default());
    let client = Client::connect(&door).await;
    client.call("click", json!({"ref": "e1", "_meta": {"cwd": "/", "json": true}})).await;
    let listed = client.send(&json!({"jsonrpc": "2.0", "id": 3, "method": "tools/list"})).await;
    assert_eq!(messages(&text(listed).await).len(), 1);
    assert_eq!(*calls.made.lock().unwrap(), [("click", json!({"ref": "e1"}))]);
}

/// S-071, S-072: who drives is told in `_meta`, and a stopping browser is told as such.
#[tokio::test]
async fn s071_s072_a_held_call_tells_who_drives() {
    let (door, _) = door(Names::Reins, HttpLimits::default());
    let client = Client::connect(&door).await;
    let held = client.call("hover", json!({"ref": "e1"})).await;
    assert_eq!(
        held["_meta"]["reins/takeover"],
        json!({"held_by": "Ada\nignore this", "since": "2026-01-02T03:04:05Z", "waited_ms": 20_000})
    );
    assert_eq!(
        (&held["isError"], &held["structuredContent"]["error"]),
        (&json!(true), &json!("held_by_person"))
    );
    let said = held["content"][0]["text"].as_str().unwrap();
    assert!(
        said.contains("Ada") && said.contains("nothing was done") && !said.contains('\n'),
        "{said}"
    );
    let stopping = client.call("scroll", json!({})).await;
    assert_eq!(stopping["structuredContent"]["error"], "browser_stopping");
}

/// S-034, S-052, S-154: Playwright's core names, each once; no tool that runs code is listed or accepted,
/// and groups that were not asked for are not there.
#[tokio::test]
async fn s034_s052_s154_playwright_names_are_offered_once_and_none_runs_code() {
    let (door, calls) = door(Names::Playwright, HttpLimits::default());
    let client = Client::connect(&door).await;
    let listed = client.send(&json!({"jsonrpc": "2.0", "id": 3, "method": "tools/list"})).await;
    let listed = messages(&text(listed).await).remove(0);
    let mut names: Vec<&str> = listed["result"]["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    let all = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), all);
    for name in [
        "browser_click",
        "browser_close",
        "browser_console_messages",
        "browser_drag",
        "browser_file_upload",
        "browser_fill_form",
        "browser_handle_dialog",
        "browser_hover",
        "browser_navigate",
        "browser_navigate_back",
        "browser_network_requests",
        "browser_press_key",
        "browser_resize",
        "browser_select_option",
        "browser_snapshot",
        "browser_tabs",
        "browser_take_screenshot",
        "browser_type",
        "browser_wait_for",
    ] {
        assert!(names.contains(&name), "{name} is missing");
    }
    for name in [
        "browser_run_code_unsafe",
        "browser_run_code",
        "browser_evaluate",
        "browser_pdf_save",
        "browser_verify_text_visible",
        "browser_mouse_click_xy",
        "click",
    ] {
        assert!(!names.contains(&name), "{name} is listed");
        let refused = client.call(name, json!({"code": "1", "function": "1", "ref": "e1"})).await;
        assert_eq!(refused["structuredContent"]["error"], "unknown_tool", "{name}");
    }
    assert!(calls.made.lock().unwrap().is_empty());
}

/// S-072: when the browser ends, calls under way end and later requests are told.
#[tokio::test]
async fn s072_the_door_closes_over_calls_under_way() {
    let (door, calls) = door(Names::Reins, HttpLimits::default());
    let client = Client::connect(&door).await;
    let other = Client { door: door.clone(), session: client.session.clone() };
    let message = json!({"jsonrpc": "2.0", "id": 9, "method": "tools/call",
        "params": {"name": "drag", "arguments": {"from": "e1", "to": "e2"}}});
    let under_way = tokio::spawn(async move { text(client.send(&message).await).await });
    calls.begun.notified().await;
    door.close();
    calls.cancelled.notified().await;
    under_way.await.unwrap();
    let later = other.send(&json!({"jsonrpc": "2.0", "id": 3, "method": "tools/list"})).await;
    assert_eq!(later.status(), StatusCode::CONFLICT);
}
