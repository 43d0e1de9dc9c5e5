//! Sandboxes with an app that the daemon boots, and the document of all operations.
#![allow(clippy::unwrap_used, reason = "tests")]

mod support;

use reqwest::Method;
use serde_json::{Value, json};
use support::{answer, code, daemon};

/// The owner's own client: over the socket, without a token.
fn owner(daemon: &support::Daemon) -> reqwest::Client {
    let socket = daemon.serve.as_ref().unwrap().socket().to_owned();
    reqwest::Client::builder().unix_socket(socket).no_proxy().build().unwrap()
}

async fn ask(client: &reqwest::Client, method: Method, path: &str, body: Value) -> (u16, Value) {
    let mut request = client.request(method.clone(), format!("http://reins{path}"));
    if method != Method::GET {
        request = request.json(&body);
    }
    answer(request).await
}

/// An app that is booted is ready when it answers, gets no secret of ours, and ends with its sandbox.
#[tokio::test(flavor = "multi_thread")]
async fn an_app_is_booted_checked_logged_and_ended_with_its_sandbox() {
    let mut daemon = daemon().await;
    let client = owner(&daemon);
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = free.local_addr().unwrap().port();
    drop(free);
    let folder = tempfile::tempdir().unwrap();
    let url = format!("http://127.0.0.1:{port}/");
    let command =
        format!("env; echo $$ > pid; exec python3 -m http.server {port} --bind 127.0.0.1");
    let wish = json!({"app_url": url, "command": command, "cwd": folder.path()});
    let (status, made) = ask(&client, Method::POST, "/v1/sandboxes", wish).await;
    assert_eq!((status, &made["status"]), (201, &json!("booting")), "{made}");
    let path = format!("/v1/sandboxes/{}", made["id"].as_str().unwrap());
    support::until("the boot", async || {
        ask(&client, Method::GET, &path, json!({})).await.1["status"] == "ready"
    })
    .await;
    let (_, logs) = ask(&client, Method::GET, &format!("{path}/logs"), json!({})).await;
    let text = logs["lines"].to_string();
    assert!(text.contains("PATH="), "{text}");
    for secret in ["REINS", "CARGO", "NEXTEST", "TOKEN", "KEY"] {
        assert!(!text.contains(secret), "S-143: {secret} in {text}");
    }
    let pid: i32 =
        std::fs::read_to_string(folder.path().join("pid")).unwrap().trim().parse().unwrap();
    let lives = || std::path::Path::new(&format!("/proc/{pid}")).exists();
    assert!(lives());
    assert_eq!(ask(&client, Method::DELETE, &path, json!({})).await.0, 204);
    support::until("the app's end", async || !lives()).await;
    assert_eq!(ask(&client, Method::GET, &path, json!({})).await.0, 404);
    daemon.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_app_that_does_not_boot_says_why_and_gets_no_browser() {
    let mut daemon = daemon().await;
    let client = owner(&daemon);
    let wish = json!({"app_url": "http://127.0.0.1:9", "command": "echo no such luck >&2; exit 7"});
    let (_, made) = ask(&client, Method::POST, "/v1/sandboxes", wish).await;
    let path = format!("/v1/sandboxes/{}", made["id"].as_str().unwrap());
    support::until("the failure", async || {
        ask(&client, Method::GET, &path, json!({})).await.1["status"] == "failed"
    })
    .await;
    let (_, failed) = ask(&client, Method::GET, &path, json!({})).await;
    assert!(failed["error"].as_str().unwrap().contains('7'), "{failed}");
    let (_, logs) = ask(&client, Method::GET, &format!("{path}/logs"), json!({})).await;
    assert_eq!(logs["lines"][0]["text"], "no such luck", "{logs}");
    assert_eq!(logs["lines"][0]["stream"], "stderr");
    let (status, body) = ask(&client, Method::POST, &format!("{path}/browser"), json!({})).await;
    assert_eq!((status, code(&body)), (422, "sandbox_not_ready"), "S-030");
    let wish =
        json!({"app_url": "http://a.example", "command": "true", "ready_url": "http://b.example"});
    let (status, body) = ask(&client, Method::POST, "/v1/sandboxes", wish).await;
    assert_eq!((status, code(&body)), (422, "foreign_ready_url"));
    daemon.stop().await;
}

/// The document is the list of operations; what changes in it is a change for every client. Bless it with REINS_BLESS=1.
#[tokio::test(flavor = "multi_thread")]
async fn the_openapi_document_is_the_one_that_clients_were_made_from() {
    let mut daemon = daemon().await;
    let client = daemon.client("acme").await;
    let (_, document) = client.get("/v1/openapi.json").await;
    let text = format!("{}\n", serde_json::to_string_pretty(&document).unwrap());
    let golden = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("openapi.json");
    if std::env::var_os("REINS_BLESS").is_some() {
        std::fs::write(&golden, &text).unwrap();
    }
    let kept = std::fs::read_to_string(&golden).unwrap_or_default();
    assert!(kept == text, "crates/reins-serve/openapi.json is not what the operations say");
    assert_eq!(document["openapi"], "3.1.0");
    assert!(document["paths"]["/v1/sandboxes/{id}/tools/click"]["post"]["requestBody"].is_object());
    daemon.stop().await;
}

/// Steps and browsers are told to whoever watches, also to one who was away.
#[tokio::test(flavor = "multi_thread")]
async fn events_are_told_as_they_happen_and_again_after_a_number() {
    use futures_util::StreamExt;
    let site = reins_testing::Site::start([("/", reins_testing::Page::html("<h1>App</h1>"))])
        .await
        .unwrap();
    let mut daemon = daemon().await;
    let client = daemon.client("acme").await;
    let id = client.sandbox(&site.url("/")).await;
    let path = format!("/v1/sandboxes/{id}/events");
    let live = client.request(Method::GET, &path).send().await.unwrap();
    assert_eq!(live.headers()["content-type"], "text/event-stream");
    let mut stream = live.bytes_stream();
    let (status, _) = client.post(&format!("/v1/sandboxes/{id}/browser"), json!({})).await;
    assert_eq!(status, 201);
    client.tool(&id, "snapshot", json!({})).await;
    let mut seen = String::new();
    while !(seen.contains("\"tool\":\"snapshot\"") && seen.contains("\"outcome\":\"completed\"")) {
        let piece = tokio::time::timeout(std::time::Duration::from_secs(60), stream.next()).await;
        seen.push_str(&String::from_utf8_lossy(&piece.unwrap().unwrap().unwrap()));
    }
    assert!(seen.contains("event: browser") && seen.contains("\"status\":\"starting\""), "{seen}");
    assert!(seen.contains("\"tool\":\"navigate\""), "{seen}");

    let again =
        client.request(Method::GET, &path).header("last-event-id", "1").send().await.unwrap();
    let mut stream = again.bytes_stream();
    let piece = tokio::time::timeout(std::time::Duration::from_secs(60), stream.next()).await;
    let text = String::from_utf8_lossy(&piece.unwrap().unwrap().unwrap()).into_owned();
    assert!(text.starts_with("id: 2\n"), "{text}");
    daemon.stop().await;
}

/// Settings are the tenant's own, wrong ones are refused whole, and only who manages changes them.
#[tokio::test(flavor = "multi_thread")]
async fn settings_are_kept_by_tenant_and_wrong_ones_change_nothing() {
    let mut daemon = daemon().await;
    let client = daemon.client("acme").await;
    let (status, first) = client.get("/v1/settings").await;
    assert_eq!((status, &first["level"], &first["site_rules"]), (200, &json!("auto"), &json!([])));
    let rules = json!([{"pattern": "shop.example", "rule": "always"}, {"pattern": "http://127.0.0.1:9", "rule": "never"}]);
    let put = async |body| client.send(reqwest::Method::PUT, "/v1/settings", Some(body)).await;
    let (status, kept) = put(json!({"level": "careful", "site_rules": rules})).await;
    assert_eq!((status, &kept["level"]), (200, &json!("careful")), "{kept}");
    for (wrong, named) in [
        (json!({"level": "never"}), "unknown_level"),
        (json!({"site_rules": [{"pattern": "a b", "rule": "always"}]}), "no_rule"),
        (json!({"site_rules": [{"pattern": "shop.example", "rule": "perhaps"}]}), "no_rule"),
    ] {
        let (status, body) = put(wrong).await;
        assert_eq!((status, support::code(&body)), (422, named), "{body}");
    }
    let (_, after) = client.get("/v1/settings").await;
    assert_eq!(after, kept);
    let pattern = |n: usize| after["site_rules"][n]["pattern"].clone();
    assert_eq!([pattern(0), pattern(1)], ["http://127.0.0.1:9", "https://shop.example"]);
    let other = daemon.client("other").await;
    assert_eq!(other.get("/v1/settings").await.1, first);
    let reader = daemon.token("acme", "reader", &[reins_serve::Scope::Read]).await;
    let reader = support::Client::new(daemon.port, &reader);
    let (status, _) =
        reader.send(reqwest::Method::PUT, "/v1/settings", Some(json!({"level": "ask"}))).await;
    assert_eq!(status, 403);
    daemon.stop().await;
}
