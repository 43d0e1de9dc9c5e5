//! `reins serve` as a process on a machine that fails it: a disk without room, and no name service.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "tests, which say why they try nothing"
)]

#[path = "support/daemon.rs"]
mod daemon;

use daemon::until;
use reins_testing::{Page, Site};
use reqwest::Method;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Whether this machine lets a test make a namespace of this kind.
fn possible(kind: &str) -> bool {
    let tried = Command::new("unshare")
        .args(namespaces(kind))
        .args(["sh", "-c", "mount -t tmpfs none /mnt && ip link set lo up"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    let can = tried.is_ok_and(|status| status.success());
    if !can {
        println!("no namespaces can be made here, so this is not tried");
    }
    can
}

fn namespaces(kind: &str) -> Vec<&str> {
    let mut flags = vec!["--mount", kind];
    if !nix::unistd::geteuid().is_root() {
        flags.extend(["--user", "--map-root-user"]);
    }
    flags
}

/// A daemon in namespaces of its own, spoken to through its owner's socket.
struct Daemon {
    child: Child,
    client: reqwest::Client,
}

impl Daemon {
    /// `prepare` is run in the namespace first, by a shell whose `$1` is the data directory.
    fn start(kind: &str, prepare: &str, data: &Path, socket: &Path) -> Self {
        let script =
            format!("{prepare} && exec \"$2\" serve --port 0 --data \"$1\" --socket \"$3\"");
        let mut child = Command::new("unshare")
            .args(namespaces(kind))
            .args(["sh", "-c", &script, "sh"])
            .args([data, Path::new(env!("CARGO_BIN_EXE_reins")), socket])
            .env("REINS_NO_SANDBOX", "1")
            .env("XDG_DATA_HOME", data)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let told = lines.find(|line| line.as_ref().unwrap().starts_with("socket: "));
        assert!(told.is_some(), "the daemon ended");
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::Client::builder()
            .unix_socket(socket.to_owned())
            .no_proxy()
            .timeout(Duration::from_secs(120))
            .build()
            .unwrap();
        Self { child, client }
    }

    async fn ask(&self, method: Method, path: &str, body: Value) -> (u16, Value) {
        let request = self.client.request(method, format!("http://reins{path}")).json(&body);
        let answer = request.send().await.unwrap();
        (answer.status().as_u16(), answer.json().await.unwrap_or_default())
    }

    async fn get(&self, path: &str) -> Value {
        self.ask(Method::GET, path, json!({})).await.1
    }

    async fn browser(&self, app: &str) -> String {
        let (status, made) = self.ask(Method::POST, "/v1/sandboxes", json!({"app_url": app})).await;
        assert_eq!(status, 201, "{made}");
        let id = made["id"].as_str().unwrap().to_owned();
        let path = format!("/v1/sandboxes/{id}/browser");
        let (status, started) = self.ask(Method::POST, &path, json!({})).await;
        assert_eq!(status, 201, "{started}");
        id
    }

    async fn tool(&self, id: &str, tool: &str, arguments: Value) -> (u16, Value) {
        self.ask(Method::POST, &format!("/v1/sandboxes/{id}/tools/{tool}"), arguments).await
    }

    /// A path as the daemon sees it.
    fn inside(&self, path: &Path) -> PathBuf {
        let root = PathBuf::from(format!("/proc/{}/root", self.child.id()));
        root.join(path.strip_prefix("/").unwrap())
    }

    fn ends_well(mut self) {
        let pid = nix::unistd::Pid::from_raw(i32::try_from(self.child.id()).unwrap());
        nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGTERM).unwrap();
        assert!(self.child.wait().unwrap().success());
    }
}

impl Drop for Daemon {
    /// A test that fails leaves no daemon behind.
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Writes until there is no room.
fn fill(path: &Path) {
    let mut file = std::fs::File::create(path).unwrap();
    for size in [1 << 16, 1 << 10, 1] {
        let block = vec![0; size];
        while file.write_all(&block).is_ok() {}
    }
}

/// A daemon's own directory, which others may not enter.
fn own(dir: &Path) -> PathBuf {
    let data = dir.join("serve");
    std::fs::DirBuilder::new().mode(0o700).create(&data).unwrap();
    data
}

const APP: &str = "<h1>Room to write</h1><button onclick=\"hit('pressed');\
    for (let i = 0; i < 200; i++) document.body.append(crypto.randomUUID() + ' ')\">More</button>";

/// A browser whose recording has begun, on a small disk.
struct Written {
    id: String,
    path: String,
    recording: String,
    more: String,
}

impl Written {
    async fn start(daemon: &Daemon, app: &str) -> Self {
        let id = daemon.browser(app).await;
        let path = format!("/v1/sandboxes/{id}/browser");
        let (_, page) = daemon.tool(&id, "snapshot", json!({})).await;
        let text = page["text"].as_str().unwrap();
        let line = text.lines().find(|line| line.contains("More")).unwrap();
        let more = line.split_once("[ref=").unwrap().1.split_once(']').unwrap().0.to_owned();
        let shown = daemon.get(&path).await;
        let name = shown["browser"]["recording_id"].as_str().unwrap();
        let written = Self { id, path, recording: format!("/v1/recordings/{name}"), more };
        until("a picture of the page", async || written.is_found(daemon).await).await;
        written
    }

    async fn is_found(&self, daemon: &Daemon) -> bool {
        let found = daemon.get(&format!("{}/search?q=room", self.recording)).await;
        found["hits"][0]["text"].as_str().is_some_and(|text| text.contains("Room to write"))
    }

    async fn press(&self, daemon: &Daemon) -> Value {
        let (status, pressed) = daemon.tool(&self.id, "click", json!({"ref": self.more})).await;
        assert_eq!(status, 200, "{pressed}");
        pressed
    }

    /// The recording ended with its mark; the browser goes on and is read; what was recorded stays readable.
    async fn is_cut_short_alone(&self, daemon: &Daemon) {
        until("the recording's end", async || {
            self.press(daemon).await;
            daemon.get(&self.recording).await["status"] == "cut_short"
        })
        .await;
        let about = daemon.get(&self.recording).await;
        let reason = about["end_reason"].as_str().unwrap();
        assert!(reason.contains("disk") && reason.contains("make room"), "{about}");
        assert!(self.is_found(daemon).await);
        assert_eq!(daemon.get(&self.path).await["browser"]["status"], "running");
        let (status, seen) = daemon.tool(&self.id, "snapshot", json!({})).await;
        assert!(status == 200 && seen["text"].as_str().unwrap().contains("Room"), "{seen}");
    }

    async fn stop(&self, daemon: &Daemon) {
        let (status, stopped) = daemon.ask(Method::DELETE, &self.path, json!({})).await;
        assert_eq!((status, &stopped["browser"]["status"]), (200, &json!("stopped")), "{stopped}");
        assert_eq!(daemon.get(&self.path).await["browser"]["status"], "stopped");
    }
}

/// S-003: where recordings have no room, the recording ends with a mark that says so, what it had stays readable, and the session
/// goes on: it is read, driven and stopped. A browser that could not be recorded is not started. With room again, the
/// next one is recorded from its start.
#[tokio::test(flavor = "multi_thread")]
async fn s003_a_full_disk_ends_the_recording_with_a_mark_and_never_the_session() {
    if !possible("--mount") {
        return;
    }
    let site = Site::start([("/", Page::html(APP))]).await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let data = own(folder.path());
    let mount =
        "mkdir -m 700 \"$1/recordings\" && mount -t tmpfs -o size=4m none \"$1/recordings\"";
    let daemon = Daemon::start("--mount", mount, &data, &folder.path().join("s.sock"));
    let written = Written::start(&daemon, &site.url("/")).await;
    let filler = daemon.inside(&data.join("recordings/filler"));
    fill(&filler);
    written.is_cut_short_alone(&daemon).await;
    let before = site.hits("pressed");
    let pressed = written.press(&daemon).await;
    assert_eq!(pressed["outcome"], "completed", "{pressed}");
    assert!(site.hits("pressed") > before, "it is driven");

    let (_, made) =
        daemon.ask(Method::POST, "/v1/sandboxes", json!({"app_url": site.url("/")})).await;
    let path = format!("/v1/sandboxes/{}/browser", made["id"].as_str().unwrap());
    let (status, refused) = daemon.ask(Method::POST, &path, json!({})).await;
    assert_eq!((status, &refused["error"]["code"]), (422, &json!("not_recorded")), "{refused}");
    written.stop(&daemon).await;
    std::fs::remove_file(&filler).unwrap();
    let again = Written::start(&daemon, &site.url("/")).await;
    again.stop(&daemon).await;
    assert_eq!(daemon.get(&again.recording).await["status"], "complete");
    daemon.ends_well();
}

/// Where nothing of the daemon's has room, acts are refused before they are sent, since none is sent without its receipt; the
/// browser is read and stopped all the same, no answer is a crash, and with room again everything goes on.
#[tokio::test(flavor = "multi_thread")]
async fn with_no_room_for_receipts_nothing_is_sent_and_the_session_is_read_and_stopped() {
    if !possible("--mount") {
        return;
    }
    let site = Site::start([("/", Page::html(APP))]).await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let data = own(folder.path());
    let mount = "mount -t tmpfs -o size=16m,mode=700 none \"$1\"";
    let daemon = Daemon::start("--mount", mount, &data, &folder.path().join("s.sock"));
    let written = Written::start(&daemon, &site.url("/")).await;
    let filler = daemon.inside(&data.join("filler"));
    fill(&filler);
    written.is_cut_short_alone(&daemon).await;
    let before = site.hits("pressed");
    let pressed = written.press(&daemon).await;
    assert_eq!(pressed["error"]["code"], "not_recorded", "{pressed}");
    assert_eq!(site.hits("pressed"), before, "nothing was sent");
    let wish = json!({"app_url": site.url("/")});
    let (status, refused) = daemon.ask(Method::POST, "/v1/sandboxes", wish).await;
    assert_eq!((status, &refused["error"]["code"]), (500, &json!("store_full")), "{refused}");
    written.stop(&daemon).await;
    std::fs::remove_file(&filler).unwrap();
    let again = Written::start(&daemon, &site.url("/")).await;
    assert_eq!(again.press(&daemon).await["outcome"], "completed");
    assert_eq!(daemon.get(&written.path).await["browser"]["status"], "stopped");
    daemon.ends_well();
}

/// With no name service at all, browsers start and stop as ever; a page of a named app says what is wrong within its deadline, one at
/// an address is not touched by it, and calls are answered.
#[tokio::test(flavor = "multi_thread")]
async fn without_a_name_service_pages_say_so_and_nothing_waits_for_it() {
    if !possible("--net") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let data = own(folder.path());
    let lost = folder.path().join("resolv.conf");
    std::fs::write(&lost, "nameserver 10.255.255.1\noptions timeout:30 attempts:3\n").unwrap();
    let prepare = format!(
        "ip link set lo up && mount --bind {} $(readlink -f /etc/resolv.conf)",
        lost.to_str().unwrap()
    );
    let daemon = Daemon::start("--net", &prepare, &data, &folder.path().join("s.sock"));
    let began = Instant::now();
    let named = daemon.browser("http://shop.example.com/").await;
    let plain = daemon.browser("http://127.0.0.1:9/").await;
    assert!(began.elapsed() < Duration::from_secs(30), "{:?}", began.elapsed());
    let (status, went) =
        daemon.tool(&named, "navigate", json!({"url": "http://shop.example.com/"})).await;
    assert_eq!(status, 200, "{went}");
    assert!(began.elapsed() < Duration::from_secs(90), "{:?}", began.elapsed());
    let text = went.to_string();
    assert!(text.contains("shop.example.com has no address"), "{text}");
    let (status, other) = daemon.tool(&plain, "snapshot", json!({})).await;
    assert_eq!(status, 200, "{other}");
    for id in [named, plain] {
        let path = format!("/v1/sandboxes/{id}/browser");
        let asked = Instant::now();
        let (status, stopped) = daemon.ask(Method::DELETE, &path, json!({})).await;
        assert_eq!((status, &stopped["browser"]["status"]), (200, &json!("stopped")), "{stopped}");
        assert!(asked.elapsed() < Duration::from_secs(15), "{:?}", asked.elapsed());
    }
    daemon.ends_well();
}
