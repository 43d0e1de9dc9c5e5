//! A browser of `reins serve`, used over MCP by a client that starts programs.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a failed step must stop the test")]

mod support;

use reins_testing::{Page, Site};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;
use support::{Client, find_ref};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;
use tokio::process::{Child, Command};

const SOON: Duration = Duration::from_secs(30);

/// A daemon on its owner's socket alone.
struct Daemon {
    child: Child,
    socket: PathBuf,
}

impl Daemon {
    async fn start(dir: &Path) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_reins"));
        command.args(["serve", "--no-port", "--data"]).arg(dir);
        if support::is_root() {
            command.arg("--no-sandbox");
        }
        let mut child = command.stdout(Stdio::piped()).kill_on_drop(true).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        loop {
            let line = lines.next_line().await.unwrap().expect("the daemon ended");
            if let Some(path) = line.strip_prefix("socket: ") {
                return Self { child, socket: path.into() };
            }
        }
    }

    async fn ask(&self, method: &str, path: &str, body: Value) -> Value {
        let mut stream = UnixStream::connect(&self.socket).await.unwrap();
        let body = body.to_string();
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: reins\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        let (_, body) = answer.split_once("\r\n\r\n").unwrap();
        let start = body.find('{').unwrap_or(body.len());
        let end = body.rfind('}').map_or(body.len(), |end| end + 1);
        serde_json::from_str(&body[start..end]).unwrap_or_else(|_| panic!("{answer}"))
    }

    async fn stop(mut self) {
        let pid = nix::unistd::Pid::from_raw(self.child.id().unwrap() as i32);
        nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGTERM).unwrap();
        assert!(self.child.wait().await.unwrap().success());
    }
}

/// S-002, S-034, S-050, S-052, S-054: an agent drives the sandbox's browser under Playwright's names, with the groups it was
/// started with and no others; when the browser stops, it is told.
#[tokio::test(flavor = "multi_thread")]
async fn s034_s050_an_agent_drives_the_sandboxs_browser_over_mcp() {
    let site = Site::start([(
        "/",
        Page::html("<title>Desk</title><h1>Desk</h1><button onclick=\"hit('made');this.textContent='Done'\">Make</button>"),
    )])
    .await
    .unwrap();
    let data = tempfile::tempdir().unwrap();
    let daemon = Daemon::start(&data.path().join("serve")).await;
    let made = daemon.ask("POST", "/v1/sandboxes", json!({"app_url": site.url("/")})).await;
    let id = made["id"].as_str().unwrap_or_else(|| panic!("{made}")).to_owned();
    let path = format!("/v1/sandboxes/{id}/browser");
    daemon.ask("POST", &path, json!({"capabilities": ["testing"]})).await;
    let server = daemon.socket.to_string_lossy().into_owned();
    let flags = ["--session", &id, "--server", &server];
    let mut client = Client::named("test", data.path(), &flags, json!({"elicitation": {}})).await;
    let listed = client.request("tools/list", json!({})).await;
    let names: Vec<&str> = listed["result"]["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    for core in [
        "navigate",
        "snapshot",
        "click",
        "type",
        "fill_form",
        "select_option",
        "hover",
        "drag",
        "file_upload",
        "handle_dialog",
        "tabs",
        "wait_for",
        "take_screenshot",
        "console_messages",
        "network_requests",
    ] {
        let offered = names.iter().filter(|name| **name == format!("browser_{core}")).count();
        assert_eq!(offered, 1, "S-002, S-034, S-052: {core} in {names:?}");
    }
    assert!(names.contains(&"browser_verify_text_visible"), "S-033");
    assert!(!names.contains(&"browser_pdf_save") && !names.contains(&"browser_mouse_wheel"));
    let page = client.call("browser_navigate", json!({"url": "/"})).await;
    assert!(page.text.contains("# Desk"), "{}", page.text);
    let make = find_ref(&page.text, "button", "Make");
    let clicked = client.call("browser_click", json!({"element": "Make", "target": make})).await;
    assert!(clicked.text.contains("Done"), "{}", clicked.text);
    assert!(site.wait_hit("made", SOON).await);
    daemon.ask("DELETE", &path, json!({})).await;
    let gone = client.call("browser_snapshot", json!({})).await;
    assert!(gone.raw["error"]["message"].is_string() || gone.failed, "{:?}", gone.raw);
    client.close().await;
    daemon.stop().await;
}

/// What the daemon refuses is an answer to the client, with what to do.
#[tokio::test(flavor = "multi_thread")]
async fn a_sandbox_that_is_not_there_is_told_to_the_client() {
    let data = tempfile::tempdir().unwrap();
    let nowhere = data.path().join("nothing.sock").to_string_lossy().into_owned();
    let mut client =
        Client::start(data.path(), &["--session", "none", "--server", &nowhere], json!({})).await;
    let listed = client.request("tools/list", json!({})).await;
    let message = listed["error"]["message"].as_str().unwrap();
    assert!(message.contains("reins serve"), "{message}");
    client.close().await;
}
