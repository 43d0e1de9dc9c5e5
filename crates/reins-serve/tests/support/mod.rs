//! A daemon on loopback, spoken to as everybody does.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    dead_code,
    unreachable_pub,
    missing_docs,
    reason = "tests, each of which uses a part"
)]

use reins_serve::{
    Clock, Config, LocalBackend, Scope, Serve, ServeOptions, SystemClock, TokenBook,
};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, SystemTime};

/// The machine's clock, set forward or back.
#[derive(Debug, Default)]
pub struct Watch(AtomicI64);

impl Watch {
    pub fn jump(&self, seconds: i64) {
        self.0.fetch_add(seconds, Ordering::SeqCst);
    }
}

impl Clock for Watch {
    fn now(&self) -> SystemTime {
        let by = self.0.load(Ordering::SeqCst);
        let span = Duration::from_secs(by.unsigned_abs());
        if by < 0 { SystemTime::now() - span } else { SystemTime::now() + span }
    }
}

pub struct Daemon {
    pub serve: Option<Serve>,
    pub port: u16,
    pub dir: PathBuf,
    _temporary: Option<tempfile::TempDir>,
}

pub fn options(dir: &Path, config: Config, clock: Arc<dyn Clock>) -> ServeOptions {
    let mut config = config;
    config.server.port = 0;
    ServeOptions {
        config,
        data_dir: dir.to_owned(),
        socket: None,
        port: true,
        version: "0.0.0".into(),
        backend: Arc::new(LocalBackend { binary: None, no_sandbox: true }),
        mcp: None,
        runner: None,
        clock,
    }
}

/// Reads a configuration as the program does.
pub fn config(text: &str) -> Config {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("serve.toml");
    std::fs::write(&path, text).unwrap();
    Config::read(&path).unwrap()
}

pub async fn daemon() -> Daemon {
    daemon_with("", Arc::new(SystemClock)).await
}

pub async fn daemon_with(text: &str, clock: Arc<dyn Clock>) -> Daemon {
    let temporary = tempfile::tempdir().unwrap();
    let dir = temporary.path().join("data");
    let mut daemon = daemon_in(&dir, text, clock).await;
    daemon._temporary = Some(temporary);
    daemon
}

pub async fn daemon_in(dir: &Path, text: &str, clock: Arc<dyn Clock>) -> Daemon {
    let serve = Serve::start(options(dir, config(text), clock)).await.unwrap();
    adopt(serve, dir)
}

pub fn adopt(serve: Serve, dir: &Path) -> Daemon {
    let port = serve.port().unwrap();
    Daemon { serve: Some(serve), port, dir: dir.to_owned(), _temporary: None }
}

impl Daemon {
    pub async fn token(&self, tenant: &str, name: &str, scopes: &[Scope]) -> String {
        let book = TokenBook::open(&self.dir).unwrap();
        let scopes = scopes.iter().copied().collect();
        let made = book.add(tenant, name, &scopes, SystemTime::now()).await.unwrap();
        made.token.expose().clone()
    }

    pub async fn client(&self, tenant: &str) -> Client {
        let token = self.token(tenant, "test", &Scope::ALL).await;
        Client::new(self.port, &token)
    }

    pub async fn stop(&mut self) {
        if let Some(serve) = self.serve.take() {
            serve.stop().await;
        }
    }
}

#[derive(Clone)]
pub struct Client {
    pub http: reqwest::Client,
    pub base: String,
    pub token: String,
}

impl Client {
    pub fn new(port: u16, token: &str) -> Self {
        Self { http: http(), base: format!("http://127.0.0.1:{port}"), token: token.to_owned() }
    }

    pub fn request(&self, method: Method, path: &str) -> reqwest::RequestBuilder {
        self.http.request(method, format!("{}{path}", self.base)).bearer_auth(&self.token)
    }

    pub async fn send(&self, method: Method, path: &str, body: Option<Value>) -> (u16, Value) {
        let mut request = self.request(method, path);
        if let Some(body) = body {
            request = request.json(&body);
        }
        answer(request).await
    }

    pub async fn get(&self, path: &str) -> (u16, Value) {
        self.send(Method::GET, path, None).await
    }

    pub async fn post(&self, path: &str, body: Value) -> (u16, Value) {
        self.send(Method::POST, path, Some(body)).await
    }

    pub async fn delete(&self, path: &str) -> (u16, Value) {
        self.send(Method::DELETE, path, None).await
    }

    /// A sandbox for an app, by its id.
    pub async fn sandbox(&self, app_url: &str) -> String {
        let (status, made) = self.post("/v1/sandboxes", json!({"app_url": app_url})).await;
        assert_eq!(status, 201, "{made}");
        made["id"].as_str().unwrap().to_owned()
    }

    /// A sandbox with a running browser, by its id.
    pub async fn browser(&self, app_url: &str) -> String {
        let id = self.sandbox(app_url).await;
        let (status, started) = self.post(&format!("/v1/sandboxes/{id}/browser"), json!({})).await;
        assert_eq!(status, 201, "{started}");
        id
    }

    pub async fn tool(&self, id: &str, tool: &str, arguments: Value) -> Value {
        let (status, body) =
            self.post(&format!("/v1/sandboxes/{id}/tools/{tool}"), arguments).await;
        assert_eq!(status, 200, "{tool}: {body}");
        body
    }
}

pub fn http() -> reqwest::Client {
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder().no_proxy().build().unwrap()
}

pub async fn answer(request: reqwest::RequestBuilder) -> (u16, Value) {
    let answer = request.send().await.unwrap();
    let status = answer.status();
    let text = answer.text().await.unwrap();
    if status == StatusCode::NO_CONTENT {
        assert_eq!(text, "");
        return (204, Value::Null);
    }
    let body = serde_json::from_str(&text).unwrap_or_else(|_| panic!("{status}: {text}"));
    (status.as_u16(), body)
}

pub fn code(body: &Value) -> &str {
    body["error"]["code"].as_str().unwrap_or("")
}

/// Waits for something that no event tells, and says what it was if it never comes.
pub async fn until<F: Future<Output = bool>>(what: &str, mut holds: impl FnMut() -> F) {
    for _ in 0..600 {
        if holds().await {
            return;
        }
        // Another process does it, and tells nobody.
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("{what} never happened");
}

/// All processes that descend from one.
pub fn descendants(of: u32) -> Vec<u32> {
    let mut found = Vec::new();
    let mut todo = vec![of];
    while let Some(parent) = todo.pop() {
        // Each thread has the children that it started.
        let Ok(threads) = std::fs::read_dir(format!("/proc/{parent}/task")) else { continue };
        for thread in threads.flatten() {
            let listed = std::fs::read_to_string(thread.path().join("children"));
            for child in listed.unwrap_or_default().split_whitespace() {
                let child = child.parse().unwrap();
                found.push(child);
                todo.push(child);
            }
        }
    }
    found
}

/// The arguments of a process; none once it ended.
pub fn arguments(pid: u32) -> Vec<String> {
    let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    line.split(|byte| *byte == 0)
        .filter(|part| !part.is_empty())
        .map(|part| String::from_utf8_lossy(part).into_owned())
        .collect()
}

/// The browsers' main processes below this test.
pub fn browsers() -> Vec<u32> {
    let mut found = descendants(std::process::id());
    found.retain(|pid| {
        let arguments = arguments(*pid);
        let of = |flag: &str| arguments.iter().any(|argument| argument.starts_with(flag));
        of("--remote-debugging-pipe") && !of("--type=")
    });
    found
}
