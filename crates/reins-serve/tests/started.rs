//! What a start hands over, what it answers, and what nobody else gets of it, in a real Chromium.
#![allow(clippy::unwrap_used, reason = "tests")]

mod support;

use futures_util::future::BoxFuture;
use reins_serve::{
    LocalBackend, Mode, Serve, ServeError, SessionBackend, StartOrder, Started, SystemClock,
};
use reins_testing::{Page, Site};
use serde_json::{Value, json};
use std::collections::HashSet;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use support::{Client, Daemon, arguments, browsers, code, daemon, descendants};

/// The local backend, which tells the test what it was given.
#[derive(Debug)]
struct Noting {
    local: LocalBackend,
    orders: Mutex<Vec<StartOrder>>,
    stopped: Mutex<usize>,
}

impl SessionBackend for Noting {
    fn modes(&self) -> Vec<Mode> {
        self.local.modes()
    }

    fn start(&self, order: StartOrder) -> BoxFuture<'_, Result<Started, ServeError>> {
        self.orders.lock().unwrap().push(order.clone());
        self.local.start(order)
    }

    fn stop<'a>(&'a self, started: &'a Started) -> BoxFuture<'a, ()> {
        *self.stopped.lock().unwrap() += 1;
        self.local.stop(started)
    }
}

async fn noting(dir: &Path) -> (Daemon, Arc<Noting>) {
    let local = LocalBackend { binary: None, no_sandbox: true };
    let backend = Arc::new(Noting { local, orders: Mutex::default(), stopped: Mutex::default() });
    let mut options = support::options(dir, support::config(""), Arc::new(SystemClock));
    options.backend = backend.clone();
    (support::adopt(Serve::start(options).await.unwrap(), dir), backend)
}

/// Every file below a directory that holds these bytes.
fn holding(dir: &Path, wanted: &[u8]) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(holding(&path, wanted));
        } else if let Ok(bytes) = std::fs::read(&path)
            && bytes.windows(wanted.len()).any(|part| part == wanted)
        {
            found.push(path);
        }
    }
    found
}

/// S-170, S-171, S-172: a backend starts and stops, and says its modes. A start hands it a fresh secret, of the app only the
/// origin, the capabilities and a stop 30 seconds before the expiry; what comes back can be watched and called.
///
/// S-144, S-025: the secret is in no answer, no event, no file of the daemon and no process's arguments or environment.
#[tokio::test(flavor = "multi_thread")]
async fn s144_s170_s171_s172_a_start_hands_over_a_secret_that_nobody_else_sees() {
    let site = Site::start([("/deep", Page::html("<h1>Deep</h1>"))]).await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("data");
    let (mut daemon, backend) = noting(&dir).await;
    let client = daemon.client("acme").await;
    let url = format!("{}?secret=1#part", site.url("/deep"));
    let ids = [client.sandbox(&url).await, client.sandbox(&url).await];
    let mut answers = Vec::new();
    for id in &ids {
        let path = format!("/v1/sandboxes/{id}/browser");
        let (status, started) = client.post(&path, json!({"capabilities": ["pdf"]})).await;
        assert_eq!(status, 201, "{started}");
        let live = started["browser"]["live_url"].as_str().unwrap();
        assert!(live.starts_with("ws://127.0.0.1:"), "S-172: {live}");
        let seen = client.tool(id, "snapshot", json!({})).await;
        assert!(seen["text"].as_str().unwrap().contains("Deep"), "S-172: {seen}");
        answers.push(started);
        answers.push(seen);
    }
    let orders = backend.orders.lock().unwrap().clone();
    assert_eq!(orders.len(), 2);
    let tokens: HashSet<String> = orders.iter().map(|order| order.token.expose().clone()).collect();
    assert_eq!(tokens.len(), 2, "S-143: one of its own for each start");
    let sandbox = client.get(&format!("/v1/sandboxes/{}", ids[0])).await.1;
    for order in &orders {
        assert!(order.token.expose().len() >= 32, "S-X01");
        assert_eq!(order.app.as_ref().unwrap().to_string(), site.url("").trim_end_matches('/'));
        assert_eq!(order.capabilities.iter().map(|c| json!(c)).collect::<Vec<_>>(), [json!("pdf")]);
    }
    let stop_at = humantime::format_rfc3339_millis(orders[0].stop_at + Duration::from_secs(30));
    assert_eq!(sandbox["expires_at"], json!(stop_at.to_string()), "S-171");

    for pid in descendants(std::process::id()) {
        let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        let shown = format!("{:?}{}", arguments(pid), String::from_utf8_lossy(&environment));
        assert!(tokens.iter().all(|token| !shown.contains(token)), "S-143: process {pid}");
    }
    for id in &ids {
        for way in ["", "/browser", "/browser/tabs", "/browser/refusals", "/runs", "/logs"] {
            answers.push(client.get(&format!("/v1/sandboxes/{id}{way}")).await.1);
        }
        answers.push(client.delete(&format!("/v1/sandboxes/{id}/browser")).await.1);
    }
    for path in ["/v1/sandboxes", "/v1/recordings", "/v1/usage", "/v1/runs", "/v1/me"] {
        answers.push(client.get(path).await.1);
    }
    let told = Value::from(answers).to_string();
    let metrics = client.request("GET".parse().unwrap(), "/metrics").send().await.unwrap();
    let told = told + &metrics.text().await.unwrap();
    assert!(tokens.iter().all(|token| !told.contains(token)), "S-144");
    assert_eq!(*backend.stopped.lock().unwrap(), 2, "S-170");
    daemon.stop().await;
    for token in &tokens {
        assert_eq!(holding(&dir, token.as_bytes()), Vec::<std::path::PathBuf>::new(), "S-144");
    }
}

/// S-144: should a page show the secret of its own start, it is taken out of what tools answer, and out of the recording.
#[tokio::test(flavor = "multi_thread")]
async fn s144_a_page_that_shows_the_secret_is_answered_and_recorded_without_it() {
    let site =
        Site::start([("/", Page::html("<h1>App</h1><a href=/shown>Next</a>"))]).await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("data");
    let (mut daemon, backend) = noting(&dir).await;
    let client = daemon.client("acme").await;
    let id = client.browser(&site.url("/")).await;
    let token = backend.orders.lock().unwrap()[0].token.expose().clone();
    site.set("/shown", Page::html(&format!("<title>{token}</title><h1>It is {token}.</h1>")));
    let mut answers = vec![client.tool(&id, "navigate", json!({"url": site.url("/shown")})).await];
    answers.push(client.tool(&id, "snapshot", json!({})).await);
    answers.push(client.tool(&id, "get_page_text", json!({})).await);
    for answer in &answers {
        let text = answer.to_string();
        assert!(text.contains("[redacted]") && !text.contains(&token), "{text}");
    }
    let (_, shown) = client.get(&format!("/v1/sandboxes/{id}/browser")).await;
    let recording = shown["browser"]["recording_id"].as_str().unwrap().to_owned();
    assert_eq!(client.delete(&format!("/v1/sandboxes/{id}/browser")).await.0, 200);
    let (_, events) = client.get(&format!("/v1/recordings/{recording}/events?limit=1000")).await;
    let text = events.to_string();
    assert!(text.contains("It is [redacted].") && !text.contains(&token), "S-144");
    daemon.stop().await;
}

/// S-005, S-031: of many starts at once in one sandbox, one gets a browser, and one browser runs.
///
/// S-006: another sandbox has its own.
#[tokio::test(flavor = "multi_thread")]
async fn s005_of_many_starts_at_once_one_gets_the_browser() {
    let site = Site::start([("/", Page::html("<h1>App</h1>"))]).await.unwrap();
    let mut daemon = daemon().await;
    let client = daemon.client("acme").await;
    let id = client.sandbox(&site.url("/")).await;
    let path = format!("/v1/sandboxes/{id}/browser");
    let starts = (0..6).map(|_| client.post(&path, json!({})));
    let answers = futures_util::future::join_all(starts).await;
    let started = answers.iter().filter(|answer| answer.0 == 201).count();
    assert_eq!(started, 1, "{answers:?}");
    for (status, body) in answers.iter().filter(|answer| answer.0 != 201) {
        assert_eq!((*status, code(body)), (422, "browser_running"), "S-031");
    }
    assert_eq!(browsers().len(), 1, "{:?}", browsers());
    client.browser(&site.url("/")).await;
    assert_eq!(browsers().len(), 2, "S-006");
    daemon.stop().await;
    support::until("the browsers' end", async || browsers().is_empty()).await;
}

/// S-026: the list names the modes that this machine has. S-040: headless is Chromium without a window. S-141: no
/// process of it listens anywhere, and it is driven over a pipe.
#[tokio::test(flavor = "multi_thread")]
async fn s026_s040_s141_modes_are_named_and_a_headless_browser_listens_nowhere() {
    let site = Site::start([("/", Page::html("<h1>App</h1>"))]).await.unwrap();
    let mut daemon = daemon().await;
    let client = daemon.client("acme").await;
    let (_, list) = client.get("/v1/sandboxes").await;
    let display = ["DISPLAY", "WAYLAND_DISPLAY"]
        .iter()
        .any(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty()));
    let modes = if display { json!(["headless", "headed"]) } else { json!(["headless"]) };
    assert_eq!(list["browser_modes"], modes, "S-026");

    let id = client.browser(&site.url("/")).await;
    client.tool(&id, "snapshot", json!({})).await;
    let (browser, others) = (browsers(), descendants(std::process::id()));
    let flags = arguments(browser[0]);
    assert!(flags.iter().any(|flag| flag.starts_with("--headless")), "S-040: {flags:?}");
    assert!(!flags.iter().any(|flag| flag.starts_with("--remote-debugging-port")), "{flags:?}");
    assert!(others.len() > 2, "a browser is several processes: {others:?}");
    let listening = listening();
    assert!(!listening.is_empty(), "the daemon itself listens");
    for pid in others {
        assert!(sockets(pid).is_disjoint(&listening), "S-141: {:?}", arguments(pid));
    }
    assert!(!sockets(std::process::id()).is_disjoint(&listening), "what is compared is right");
    daemon.stop().await;
}

/// Numbers of the TCP sockets here that listen.
fn listening() -> HashSet<String> {
    let tables = ["/proc/net/tcp", "/proc/net/tcp6"].map(std::fs::read_to_string);
    let lines: Vec<String> = tables
        .into_iter()
        .flatten()
        .flat_map(|t| t.lines().map(str::to_owned).collect::<Vec<_>>())
        .collect();
    // The fourth column is the state, 0A for one that listens, and the tenth the socket's number.
    let row = |line: &String| {
        let columns: Vec<&str> = line.split_whitespace().collect();
        (columns.get(3) == Some(&"0A")).then(|| columns[9].to_owned())
    };
    lines.iter().filter_map(row).collect()
}

/// Numbers of the sockets that a process holds.
fn sockets(pid: u32) -> HashSet<String> {
    let files = std::fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
    let number = |path: std::path::PathBuf| {
        let name = path.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.to_owned();
        Some(name)
    };
    files.filter_map(|file| number(std::fs::read_link(file.path()).ok()?)).collect()
}

/// S-089: the live view and everything else answer on loopback alone; S-090: what an embedding site has to allow is said
/// in the documentation.
#[tokio::test(flavor = "multi_thread")]
async fn s089_s090_the_live_view_is_reached_on_loopback_alone() {
    let mut daemon = daemon().await;
    let address = |host: &str| format!("{host}:{}", daemon.port);
    assert!(std::net::TcpStream::connect(address("127.0.0.1")).is_ok());
    let table = std::fs::read_to_string("/proc/net/tcp").unwrap();
    let port = format!(":{:04X}", daemon.port);
    let own: Vec<&str> = table
        .lines()
        .filter_map(|line| line.split_whitespace().nth(1))
        .filter(|local| local.ends_with(&port))
        .collect();
    assert!(!own.is_empty() && own.iter().all(|local| local.starts_with("0100007F:")), "{own:?}");
    let live = include_str!("../../../docs/live.md");
    for words in ["Content-Security-Policy", "connect-src", "local network"] {
        assert!(live.contains(words), "S-090: {words}");
    }
    daemon.stop().await;
}

/// S-109: what a recording cannot show is said in its documentation.
#[test]
fn s109_what_a_recording_cannot_show_is_said() {
    let text = include_str!("../../../docs/recording.md");
    let (_, after) = text.split_once("## What it cannot show").unwrap();
    let section = after.split("\n## ").next().unwrap();
    for words in [
        "address bar",
        "tabs",
        "`alert`",
        "`confirm`",
        "choosing files",
        "printing",
        "permissions",
        "downloads",
        "Canvas",
        "WebGL",
        "video",
        "sound",
        "Extensions",
    ] {
        assert!(section.contains(words), "{words}");
    }
}

/// S-051: a run or an agent reaches a sandbox's browser by being in that sandbox; to name another's server key is
/// refused as a word that nobody knows. S-056: no browser is shared between sandboxes: where one has none, there is none.
#[tokio::test(flavor = "multi_thread")]
async fn s051_s056_a_browser_is_reached_through_its_own_sandbox_alone() {
    let site = Site::start([("/", Page::html("<h1>App</h1>"))]).await.unwrap();
    let mut daemon = daemon().await;
    let client = daemon.client("acme").await;
    let with = client.browser(&site.url("/")).await;
    let without = client.sandbox(&site.url("/")).await;
    let (_, shown) = client.get(&format!("/v1/sandboxes/{with}/browser")).await;
    let key = shown["browser"]["server_key"].as_str().unwrap().to_owned();
    let elsewhere = format!("/v1/sandboxes/{without}");
    for (path, body) in [
        ("runs", json!({"task": "look", "servers": {(&key): {}}})),
        ("runs", json!({"task": "look", "browser": key})),
        ("tools/snapshot", json!({"server": key})),
        ("browser", json!({"server_key": key})),
    ] {
        let (status, answer) = client.post(&format!("{elsewhere}/{path}"), body.clone()).await;
        assert!(matches!(status, 400 | 409 | 422), "S-051: {path} {body}: {answer}");
    }
    for tool in reins_control::tools() {
        let path = format!("{elsewhere}/tools/{}", tool.name);
        let (status, answer) = client.post(&path, json!({})).await;
        assert_eq!((status, code(&answer)), (409, "no_browser"), "S-056: {}", tool.name);
    }
    let named = Client { ..client.clone() };
    for id in [key.as_str(), key.trim_start_matches("browser:")] {
        let (status, answer) =
            named.post(&format!("/v1/sandboxes/{id}/tools/snapshot"), json!({})).await;
        assert_eq!((status, code(&answer)), (404, "not_found"), "S-051: {id}");
    }
    assert_eq!(browsers().len(), 1, "and none was started");
    daemon.stop().await;
}
