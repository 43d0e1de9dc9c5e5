//! `reins serve` as a process: killed and started again.
#![allow(clippy::unwrap_used, reason = "tests")]

#[path = "support/daemon.rs"]
mod daemon;

use daemon::{ask, descendants, until};
use reins_testing::{Page, Site};
use serde_json::json;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

fn reins(dir: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_reins"));
    command
        .args(arguments)
        .env("REINS_NO_SANDBOX", "1")
        .env("XDG_DATA_HOME", dir.join("home"))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

fn serve_dir(dir: &Path) -> String {
    dir.join("serve").to_str().unwrap().to_owned()
}

struct Daemon {
    child: Child,
    out: BufReader<ChildStdout>,
    base: String,
}

impl Daemon {
    fn start(dir: &Path) -> Self {
        let data = serve_dir(dir);
        let mut child = reins(dir, &["serve", "--port", "0", "--data", &data]).spawn().unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        out.read_line(&mut line).unwrap();
        let link = line.trim().strip_prefix("dashboard: ").unwrap_or_else(|| panic!("{line}"));
        let base = link.split("/#code=").next().unwrap().to_owned();
        Self { child, out, base }
    }

    fn signal(&self, name: &str) {
        let status =
            Command::new("kill").args([name, &self.child.id().to_string()]).status().unwrap();
        assert!(status.success());
    }
}

impl Drop for Daemon {
    /// A test that fails leaves no daemon behind.
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn token(dir: &Path) -> String {
    let data = serve_dir(dir);
    let arguments = [
        "serve",
        "token",
        "add",
        "ci",
        "--tenant",
        "acme",
        "--scopes",
        "read,act,manage",
        "--data",
        &data,
    ];
    let made = reins(dir, &arguments).output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    String::from_utf8(made.stdout).unwrap().trim().to_owned()
}

/// A daemon that is killed takes its browsers with it; the next one says so, counts their minutes, and goes on.
#[tokio::test(flavor = "multi_thread")]
async fn s121_a_killed_daemon_leaves_no_browser_and_its_minutes_are_counted() {
    let site = Site::start([("/", Page::html("<h1>App</h1>"))]).await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut daemon = Daemon::start(folder.path());
    let token = token(folder.path());
    let (status, made) = ask(
        "POST",
        format!("{}/v1/sandboxes", daemon.base),
        &token,
        json!({"app_url": site.url("/")}),
    )
    .await;
    assert_eq!(status, 201, "{made}");
    let path = format!("/v1/sandboxes/{}/browser", made["id"].as_str().unwrap());
    let (status, started) = ask("POST", format!("{}{path}", daemon.base), &token, json!({})).await;
    assert_eq!(status, 201, "{started}");
    let browsers = descendants(daemon.child.id());
    assert!(browsers.len() >= 2, "{browsers:?}");

    daemon.signal("-KILL");
    daemon.child.wait().unwrap();
    until("the browser's end", async || {
        browsers.iter().all(|pid| {
            let state = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            state.is_empty() || state.contains(") Z ")
        })
    })
    .await;

    let mut daemon = Daemon::start(folder.path());
    let (_, shown) = ask("GET", format!("{}{path}", daemon.base), &token, json!({})).await;
    let browser = &shown["browser"];
    assert_eq!(
        (&browser["status"], &browser["reason"]),
        (&json!("failed"), &json!("daemon_ended"))
    );
    assert!(browser.get("server_key").is_none(), "{shown}");
    let (_, usage) = ask("GET", format!("{}/v1/usage", daemon.base), &token, json!({})).await;
    assert_eq!(usage["sessions"].as_array().unwrap().len(), 1, "{usage}");
    let (status, again) = ask("POST", format!("{}{path}", daemon.base), &token, json!({})).await;
    assert_eq!(status, 201, "and the sandbox can have another: {again}");

    daemon.signal("-TERM");
    assert!(daemon.child.wait().unwrap().success());
    let mut rest = String::new();
    std::io::Read::read_to_string(&mut daemon.out, &mut rest).unwrap();
    assert!(rest.starts_with("socket: ") && !rest.contains(&token), "{rest}");
}
