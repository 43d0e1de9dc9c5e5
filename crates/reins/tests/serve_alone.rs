//! One browser alone, as `reins serve --session-from` runs it in a container: a process with settings, one line and an end.
#![allow(clippy::unwrap_used, reason = "tests")]

#[path = "support/daemon.rs"]
mod daemon;

use daemon::{ask, descendants, until};
use reins_testing::{Page, Site};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant, SystemTime};

const TOKEN: &str = "a-token-of-at-least-32-characters-0123";

/// What the recipe of the image runs, with another port.
fn entry_point() -> Vec<String> {
    let recipe = include_str!("../../../packaging/container/Dockerfile");
    assert!(recipe.contains("\nSTOPSIGNAL SIGTERM\n"), "it is stopped by what is tested here");
    let line = recipe.lines().find_map(|line| line.strip_prefix("ENTRYPOINT ")).unwrap();
    let mut words: Vec<String> = serde_json::from_str(line).unwrap();
    assert_eq!(words.remove(0), "reins");
    let listen = words.iter().position(|word| word == "--listen").unwrap() + 1;
    assert!(words[listen].starts_with("0.0.0.0:"), "others reach it: {words:?}");
    words[listen] = "127.0.0.1:0".into();
    words
}

/// A process whose temporary files are below a directory.
fn reins(dir: &Path, arguments: &[String]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_reins"));
    command
        .args(arguments)
        .env("REINS_NO_SANDBOX", "1")
        .env("XDG_DATA_HOME", dir.join("home"))
        .env("TMPDIR", dir)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

fn left(dir: &Path) -> Vec<std::path::PathBuf> {
    std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect()
}

fn in_seconds(seconds: u64) -> String {
    humantime::format_rfc3339(SystemTime::now() + Duration::from_secs(seconds)).to_string()
}

/// One that is ready.
struct Alone {
    child: Child,
    out: BufReader<ChildStdout>,
    ready: Value,
}

impl Alone {
    /// Runs the recipe's entry point with these settings on stdin.
    fn start(dir: &Path, settings: &Value) -> Self {
        Self::run(reins(dir, &entry_point()), settings)
    }

    fn run(mut command: Command, settings: &Value) -> Self {
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(settings.to_string().as_bytes()).unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        out.read_line(&mut line).unwrap();
        let ready = serde_json::from_str(&line).unwrap_or_else(|_| panic!("{line}"));
        assert!(!line.contains(TOKEN), "S-025");
        Self { child, out, ready }
    }

    fn url(&self, rest: &str) -> String {
        let (api, id) = (&self.ready["api_url"], &self.ready["sandbox_id"]);
        format!("{}/v1/sandboxes/{}{rest}", api.as_str().unwrap(), id.as_str().unwrap())
    }

    fn terminate(&self) {
        let pid = nix::unistd::Pid::from_raw(i32::try_from(self.child.id()).unwrap());
        nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGTERM).unwrap();
    }

    /// Waits for its end: well, and without another line.
    fn ends(mut self) {
        assert!(self.child.wait().unwrap().success());
        let mut rest = String::new();
        self.out.read_to_string(&mut rest).unwrap();
        assert_eq!(rest, "", "S-X14: one line");
    }
}

impl Drop for Alone {
    /// A test that fails leaves nothing that runs.
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// S-173, S-X14, S-143, S-172: one browser alone reads its settings on stdin, says on one line where it is, answers its token
/// alone, and ends within its drain at SIGTERM. Nothing is left of it.
#[tokio::test(flavor = "multi_thread")]
async fn s172_s173_a_container_reads_its_settings_on_stdin_and_prints_one_ready_line() {
    let site = Site::start([("/", Page::html("<h1>App of the container</h1>"))]).await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let settings = json!({
        "token": TOKEN, "app_url": site.url("/"), "stop_at": "2099-01-01T00:00:00Z", "capabilities": ["testing"],
    });
    let alone = Alone::start(folder.path(), &settings);
    for file in ["cmdline", "environ"] {
        let text = std::fs::read(format!("/proc/{}/{file}", alone.child.id())).unwrap();
        assert!(!String::from_utf8_lossy(&text).contains(TOKEN), "S-143: {file}");
    }
    assert_eq!(alone.ready["mcp_url"], json!(alone.url("/mcp")), "S-172");
    assert!(alone.ready["live_url"].as_str().unwrap().starts_with("ws://127.0.0.1:"), "S-172");
    let snapshot = alone.url("/tools/snapshot");
    let wrong = "another-token-of-the-same-length-as-it";
    let (status, _) = ask("POST", snapshot.clone(), wrong, json!({})).await;
    assert_eq!(status, 401, "S-142");
    let (status, seen) = ask("POST", snapshot, TOKEN, json!({})).await;
    assert_eq!(status, 200, "{seen}");
    assert!(seen["text"].as_str().unwrap().contains("App of the container"), "{seen}");
    for (method, rest) in [("DELETE", ""), ("POST", "/browser"), ("DELETE", "/browser")] {
        let (status, _) = ask(method, alone.url(rest), TOKEN, json!({})).await;
        assert_eq!(status, 403, "its token manages nothing: {method} {rest}");
    }
    let browsers = descendants(alone.child.id());
    alone.terminate();
    alone.ends();
    gone(&browsers).await;
    assert_eq!(left(folder.path()), Vec::<std::path::PathBuf>::new());
}

async fn gone(browsers: &[u32]) {
    assert!(!browsers.is_empty());
    until("the browser's end", async || {
        browsers.iter().all(|pid| {
            let state = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            state.is_empty() || state.contains(") Z ")
        })
    })
    .await;
}

/// S-X14, S-072: a signal in the middle of a call that would go on ends the call and the process within the drain.
#[tokio::test(flavor = "multi_thread")]
async fn s_x14_a_signal_in_the_middle_of_a_call_ends_it_within_the_drain() {
    let slow = Page::html("late").never_answering();
    let site = Site::start([("/", Page::html("<h1>App</h1>")), ("/slow", slow)]).await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let settings =
        json!({"token": TOKEN, "app_url": site.url("/"), "stop_at": "2099-01-01T00:00:00Z"});
    let alone = Alone::start(folder.path(), &settings);
    let browsers = descendants(alone.child.id());
    let call = ask("POST", alone.url("/tools/navigate"), TOKEN, json!({"url": site.url("/slow")}));
    let call = tokio::spawn(call);
    assert!(site.wait_for(Duration::from_secs(30), |seen| seen.path == "/slow").await);
    let told = Instant::now();
    alone.terminate();
    alone.ends();
    assert!(told.elapsed() < Duration::from_secs(12), "{:?}", told.elapsed());
    gone(&browsers).await;
    // It was answered, or its connection ended with the process.
    if let Ok((status, body)) = call.await {
        assert_eq!(status, 200, "{body}");
        assert_ne!(body["outcome"], "completed", "{body}");
    }
    assert_eq!(left(folder.path()), Vec::<std::path::PathBuf>::new());
}

/// S-171, S-124: settings from a file do the same, and at `stop_at` everything ends by itself, well.
#[tokio::test(flavor = "multi_thread")]
async fn s124_s171_with_settings_from_a_file_it_ends_by_itself_when_its_time_is_over() {
    let site = Site::start([("/", Page::html("<h1>App</h1>"))]).await.unwrap();
    let (folder, settings) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let file = settings.path().join("settings.json");
    let order = json!({"token": TOKEN, "app_url": site.url("/"), "stop_at": in_seconds(12)});
    std::fs::write(&file, order.to_string()).unwrap();
    let mut words = entry_point();
    let from = words.iter().position(|word| word == "--session-from").unwrap() + 1;
    words[from] = file.to_str().unwrap().to_owned();
    let began = Instant::now();
    let alone = Alone::run(reins(folder.path(), &words), &json!("what stdin says is not read"));
    let browsers = descendants(alone.child.id());
    let (status, seen) = ask("POST", alone.url("/tools/snapshot"), TOKEN, json!({})).await;
    assert_eq!(status, 200, "{seen}");
    alone.ends();
    assert!(began.elapsed() < Duration::from_secs(25), "{:?}", began.elapsed());
    gone(&browsers).await;
    assert_eq!(left(folder.path()), Vec::<std::path::PathBuf>::new());
}

/// S-X01: settings that cannot be used are told with what is wrong and without the token; nothing is said on stdout,
/// and nothing is left.
#[test]
fn s_x01_settings_that_do_not_fit_are_refused_without_repeating_the_token() {
    let good = json!({
        "token": TOKEN, "app_url": "http://a.example", "stop_at": "2099-01-01T00:00:00Z",
    });
    let with = |name: &str, value: Value| {
        let mut settings = good.clone();
        settings[name] = value;
        settings.to_string()
    };
    let cut = good.to_string();
    for (settings, word) in [
        (String::new(), "fit"),
        ("not JSON secret-and-short".to_owned(), "fit"),
        (cut[..cut.len() - 1].to_owned(), "fit"),
        (with("token", json!("secret-and-short")), "32"),
        (with("token", json!(7)), "fit"),
        (with("app_url", json!("file:///etc/passwd")), "http"),
        (with("app_url", json!("a.example")), "a.example"),
        (with("stop_at", json!("tomorrow")), "stop_at"),
        (with("stop_at", json!("2001-01-01T00:00:00Z")), "expire"),
        (with("capabilities", json!(["flying"])), "flying"),
        (with("mode", json!("headed")), "fit"),
        (format!("{good}{}", " ".repeat(70_000) + "x"), ""),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let mut child = reins(folder.path(), &entry_point()).spawn().unwrap();
        // It may have read enough before everything is written.
        let _ = child.stdin.take().unwrap().write_all(settings.as_bytes());
        if word.is_empty() {
            // More than settings are long is not read, so these are good ones.
            let mut line = String::new();
            BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
            assert!(line.starts_with('{'), "{line}");
            let pid = nix::unistd::Pid::from_raw(i32::try_from(child.id()).unwrap());
            nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGTERM).unwrap();
            assert!(child.wait().unwrap().success());
            continue;
        }
        let ended = child.wait_with_output().unwrap();
        let told = String::from_utf8(ended.stderr).unwrap();
        assert!(!ended.status.success() && told.contains(word), "{settings}: {told}");
        assert!(!told.contains(TOKEN) && !told.contains("secret-and-short"), "{told}");
        assert_eq!(ended.stdout, b"", "{settings}");
        assert_eq!(left(folder.path()), Vec::<std::path::PathBuf>::new(), "{settings}");
    }
    let folder = tempfile::tempdir().unwrap();
    let words = ["serve", "--session-from", "/nowhere/settings.json"].map(str::to_owned);
    let ended = reins(folder.path(), &words).output().unwrap();
    let told = String::from_utf8(ended.stderr).unwrap();
    assert!(!ended.status.success() && told.contains("/nowhere/settings.json"), "{told}");
}
