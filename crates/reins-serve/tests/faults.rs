//! What goes wrong around a served browser, in a real Chromium: it crashes, its tickets are stolen, its app has no address.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a failed step must stop the test")]

mod support;

use futures_util::{SinkExt, StreamExt};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use reins_testing::{Page, Site};
use serde_json::{Value, json};
use std::time::Duration;
use support::{Client, browsers, code, daemon};
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;

const LONG: Duration = Duration::from_secs(60);

/// A browser that crashes is told with its session, its recording is whole up to there, its minutes are counted, its
/// calls and its run's calls fail with a reason, and the sandbox can have another one. Other sandboxes notice nothing.
#[tokio::test(flavor = "multi_thread")]
async fn a_browser_that_crashes_is_told_recorded_and_counted() {
    let site = Site::start([(
        "/",
        Page::html("<h1>Before the crash</h1><button onclick=\"hit('pressed')\">Press</button>"),
    )])
    .await
    .unwrap();
    let mut daemon = daemon().await;
    let client = daemon.client("acme").await;
    let id = client.browser(&site.url("/")).await;
    let path = format!("/v1/sandboxes/{id}/browser");
    client.tool(&id, "snapshot", json!({})).await;
    let (_, shown) = client.get(&path).await;
    let recording = shown["browser"]["recording_id"].as_str().unwrap().to_owned();
    let recorded = format!("/v1/recordings/{recording}");
    support::until("a picture of the page", async || {
        client.get(&format!("{recorded}/search?q=before%20the")).await.1["hits"][0].is_object()
    })
    .await;
    let first = browsers();
    let other = client.browser(&site.url("/")).await;

    let [crashed] = first[..] else { panic!("one browser: {first:?}") };
    kill(Pid::from_raw(i32::try_from(crashed).unwrap()), Signal::SIGKILL).unwrap();
    support::until("the crash to be told", async || {
        client.get(&path).await.1["browser"]["status"] == json!("failed")
    })
    .await;
    let (_, shown) = client.get(&path).await;
    let browser = &shown["browser"];
    assert_eq!(browser["reason"], "browser_ended", "{browser}");
    assert!(browser["error"].as_str().unwrap().contains("Start it again"), "{browser}");
    assert!(browser.get("server_key").is_none() && browser.get("live_url").is_none(), "S-024");
    let (status, refused) =
        client.post(&format!("/v1/sandboxes/{id}/tools/snapshot"), json!({})).await;
    assert_eq!((status, code(&refused)), (409, "no_browser"));
    let ticket = client.post(&format!("{path}/tickets"), json!({})).await;
    assert_eq!((ticket.0, code(&ticket.1)), (409, "no_browser"), "S-083");

    let (_, about) = client.get(&recorded).await;
    assert_ne!(about["status"], "recording", "{about}");
    assert_eq!(about["end_reason"], "browser_ended", "{about}");
    let (_, found) = client.get(&format!("{recorded}/search?q=before%20the")).await;
    assert!(found["hits"][0]["text"].as_str().unwrap().contains("Before the crash"), "{found}");
    let (_, usage) = client.get("/v1/usage").await;
    let crash = &usage["sessions"][0];
    assert_eq!(
        (&crash["status"], &crash["minutes"]),
        (&json!("failed"), &json!(1)),
        "S-121: {usage}"
    );

    let seen = client.tool(&other, "snapshot", json!({})).await;
    assert!(seen["text"].as_str().unwrap().contains("Before the crash"), "{seen}");
    let (status, again) = client.post(&path, json!({})).await;
    assert_eq!(status, 201, "{again}");
    assert_ne!(again["browser"]["recording_id"], json!(recording));
    daemon.stop().await;
    let left = std::fs::read_dir(daemon.dir.join("sessions")).unwrap().count();
    assert_eq!(left, 0, "S-140");
    assert!(browsers().is_empty());
}

/// What a connection to a live view with this first message hears: a welcome, or the code that it is closed with.
async fn knock(client: &Client, url: &str, ticket: &str) -> Result<(), u16> {
    let mut request = url.into_client_request().unwrap();
    request.headers_mut().insert("origin", client.base.parse().unwrap());
    let (mut socket, _) = tokio_tungstenite::connect_async(request).await.unwrap();
    let first = json!({"type": "ticket", "ticket": ticket});
    socket.send(Message::text(first.to_string())).await.unwrap();
    loop {
        match timeout(LONG, socket.next()).await.expect("an answer") {
            Some(Ok(Message::Text(text))) => {
                let heard: Value = serde_json::from_str(&text).unwrap();
                assert_eq!(heard["type"], "welcome", "{heard}");
                return Ok(());
            }
            Some(Ok(Message::Close(frame))) => return Err(frame.expect("a code").code.into()),
            Some(Ok(_)) => {}
            other => panic!("no answer: {other:?}"),
        }
    }
}

/// S-080, S-083…S-085, S-087: through the whole daemon, a ticket opens one view of one browser once, within its time; one
/// that is changed, used, old, of another browser or of a browser that was started again opens nothing.
#[tokio::test(flavor = "multi_thread")]
async fn s080_s083_s085_wrong_old_and_used_tickets_open_nothing() {
    let site = Site::start([("/", Page::html("<h1>App</h1>"))]).await.unwrap();
    let clock = std::sync::Arc::new(support::Watch::default());
    let mut daemon = support::daemon_with("", clock.clone()).await;
    let (client, stranger) = (daemon.client("acme").await, daemon.client("other").await);
    let id = client.sandbox(&site.url("/")).await;
    let path = format!("/v1/sandboxes/{id}/browser");
    let tickets = format!("{path}/tickets");
    let (status, none) = client.post(&tickets, json!({})).await;
    assert_eq!((status, code(&none)), (409, "no_browser"), "S-083");
    assert_eq!(client.post(&path, json!({})).await.0, 201);
    let other = client.browser(&site.url("/")).await;
    let (_, elsewhere) =
        client.post(&format!("/v1/sandboxes/{other}/browser/tickets"), json!({})).await;
    assert_eq!(stranger.post(&tickets, json!({})).await.0, 404);

    let (status, made) = client.post(&tickets, json!({})).await;
    assert_eq!((status, &made["mode"]), (201, &json!("view")), "S-081: {made}");
    let (url, ticket) = (made["url"].as_str().unwrap(), made["ticket"].as_str().unwrap());
    assert!(!url.contains(ticket) && !url.contains('?'), "S-087: {url}");
    let (claims, signature) = ticket.split_once('.').unwrap();
    let flipped = if signature.starts_with('A') { "B" } else { "A" };
    let forged = format!("{claims}.{flipped}{}", &signature[1..]);
    for (what, wrong) in [
        ("empty", String::new()),
        ("a word", "ticket".to_owned()),
        ("long", "x".repeat(3_000)),
        ("without its signature", claims.to_owned()),
        ("with another signature", forged),
        ("of another browser", elsewhere["ticket"].as_str().unwrap().to_owned()),
        ("a token", client.token.clone()),
    ] {
        assert_eq!(knock(&client, url, &wrong).await, Err(4401), "{what}");
    }
    assert_eq!(knock(&client, url, ticket).await, Ok(()), "S-084");
    assert_eq!(knock(&client, url, ticket).await, Err(4401), "S-084: once");

    let (_, made) = client.post(&tickets, json!({"mode": "control"})).await;
    clock.jump(60);
    assert_eq!(knock(&client, url, made["ticket"].as_str().unwrap()).await, Err(4401), "too old");
    clock.jump(-120);
    let (_, early) = client.post(&tickets, json!({})).await;
    clock.jump(60);
    assert_eq!(
        knock(&client, url, early["ticket"].as_str().unwrap()).await,
        Err(4401),
        "from before a jump"
    );

    let (_, kept) = client.post(&tickets, json!({})).await;
    assert_eq!(client.delete(&path).await.0, 200);
    assert_eq!(client.post(&path, json!({})).await.0, 201);
    let (_, now) = client.post(&tickets, json!({})).await;
    let (old, new) = (kept["ticket"].as_str().unwrap(), now["url"].as_str().unwrap());
    assert_eq!(knock(&client, new, old).await, Err(4401), "S-085: of the browser before");
    assert_eq!(knock(&client, new, now["ticket"].as_str().unwrap()).await, Ok(()));
    daemon.stop().await;
}

/// An app whose name is nowhere gets its browser all the same: the page says so, within its deadline, and stopping it waits
/// for nothing.
#[tokio::test(flavor = "multi_thread")]
async fn an_app_without_an_address_is_told_and_holds_nothing_up() {
    let mut daemon = daemon().await;
    let client = daemon.client("acme").await;
    let id = client.browser("http://shop.invalid/").await;
    let path = format!("/v1/sandboxes/{id}/browser");
    let went = client.tool(&id, "navigate", json!({"url": "http://shop.invalid/"})).await;
    let text = went.to_string();
    assert!(text.contains("shop.invalid"), "{text}");
    assert_ne!(went["changed"], json!(true), "{text}");
    let (_, refused) = client.get(&format!("{path}/refusals")).await;
    assert!(refused["refusals"].is_array(), "{refused}");
    let (status, stopped) = client.delete(&path).await;
    assert_eq!((status, &stopped["browser"]["reason"]), (200, &json!("stopped")), "{stopped}");
    daemon.stop().await;
}

const ROLE: &str = "REINS_SERVE_TEST_ROLE";
const NAMED: &str = "an_app_under_a_plain_name_opens_without_tls";

/// An app under a name, without TLS and at the usual port, is opened as it is: what the browser would rather open instead is
/// outside the app and must not stand in its way. In a network and with names of its own, as port 80 is others'.
#[test]
fn an_app_under_a_plain_name_opens_without_tls() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    if std::env::var_os(ROLE).is_some() {
        runtime.block_on(named());
        return;
    }
    let inside = |what: &[&str]| {
        let mut command = std::process::Command::new("unshare");
        if !nix::unistd::geteuid().is_root() {
            command.args(["--user", "--map-root-user"]);
        }
        command.args(["--net", "--mount", "--kill-child", "sh", "-c"]).args(what);
        command
    };
    let hosts = tempfile::tempdir().unwrap();
    let file = hosts.path().join("hosts");
    std::fs::write(&file, "127.0.0.1 localhost shop.corp.example\n").unwrap();
    let prepare =
        format!("ip link set lo up && mount --bind {} /etc/hosts", file.to_str().unwrap());
    if !inside(&[&prepare]).status().is_ok_and(|status| status.success()) {
        // Not every machine lets a test make namespaces.
        return;
    }
    let program = std::env::current_exe().unwrap();
    let script = format!("{prepare} && exec \"$0\" {NAMED} --exact --nocapture");
    let status =
        inside(&[&script, program.to_str().unwrap()]).env(ROLE, "inside").status().unwrap();
    assert!(status.success(), "{status}");
}

async fn named() {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let listener = tokio::net::TcpListener::bind("127.0.0.1:80").await.unwrap();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                let mut asked = [0; 4_096];
                let _ = stream.read(&mut asked).await;
                let page = "<h1>Plain shop</h1>";
                let answer = format!(
                    "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{page}",
                    page.len()
                );
                let _ = stream.write_all(answer.as_bytes()).await;
            });
        }
    });
    let mut daemon = daemon().await;
    let client = daemon.client("acme").await;
    let id = client.browser("http://shop.corp.example/").await;
    for url in ["http://shop.corp.example/", "/other"] {
        let went = client.tool(&id, "navigate", json!({"url": url})).await;
        assert!(went.to_string().contains("Plain shop"), "{url}: {went}");
    }
    daemon.stop().await;
}
