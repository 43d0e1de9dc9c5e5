//! Verbs in a shell: the program itself, its daemon, and what it leaves behind.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a failed step must stop the test")]

mod support;

use reins_testing::{Page, Site};
use std::path::Path;
use std::time::{Duration, Instant};
use support::{find_ref, run};

/// One verb in its own process: exit code and output.
async fn verb(data: &Path, line: &[&str]) -> (i32, String) {
    let (data, line) =
        (data.to_owned(), line.iter().map(|&word| word.to_owned()).collect::<Vec<_>>());
    let ran = tokio::task::spawn_blocking(move || {
        let line: Vec<&str> = line.iter().map(String::as_str).collect();
        run(&data, &line, &[("RUST_BACKTRACE", "0")], "")
    });
    ran.await.unwrap()
}

/// Ends every session, so that no daemon outlives its test.
struct Ends(tempfile::TempDir);

impl Drop for Ends {
    fn drop(&mut self) {
        run(self.0.path(), &["close", "--all"], &[], "");
    }
}

fn data() -> Ends {
    Ends(tempfile::tempdir().unwrap())
}

async fn site() -> Site {
    Site::start([
        (
            "/",
            Page::html(
                "<title>Desk</title><h1>Desk</h1><form action=/send method=post><label>Note <input name=n></label><button>Send</button></form>\
                 <button onclick='for(;;);'>Hang</button>",
            ),
        ),
        ("/send", Page::html("<title>Sent</title><h1>Sent</h1>")),
    ])
    .await
    .unwrap()
}

fn app(site: &Site) -> String {
    format!("--app=http://127.0.0.1:{}", site.port())
}

/// Issue 5, item 8: a session stays open between verbs, answers are those of the tools, and `close` ends
/// the browser; the daemon leaves nothing but its folder.
#[tokio::test(flavor = "multi_thread")]
async fn a_session_lives_from_open_to_close() {
    let (site, ends) = (site().await, data());
    let data = ends.0.path();
    let (code, page) = verb(data, &["open", "/", &app(&site), "--session=one"]).await;
    assert!(code == 0 && page.contains("# Desk"), "{page}");
    let note = find_ref(&page, "textbox", "Note");
    let (code, typed) =
        verb(data, &["type", &note, "--submit", "--session=one", "--", "-5 degrees"]).await;
    assert!(code == 0 && typed.contains("# Sent"), "{typed}");
    assert!(site.seen().iter().any(|seen| seen.path == "/send" && seen.body.contains("-5")));
    let (code, stale) = verb(data, &["click", &note, "--session=one"]).await;
    assert!(code == 1 && stale.contains("error (stale_ref)"), "{stale}");
    let (code, told) = verb(data, &["find", "sent", "--json", "--session=one"]).await;
    let told: serde_json::Value = serde_json::from_str(&told).unwrap();
    assert_eq!((code, &told["structured"]["matches"]), (0, &serde_json::json!(1)));
    let picture = data.join("picture.jpg");
    let out = format!("--out={}", picture.display());
    let (code, shot) = verb(data, &["screenshot", &out, "--session=one"]).await;
    assert!(code == 0 && shot.contains("picture.jpg"), "{shot}");
    assert_eq!(std::fs::read(&picture).unwrap()[..2], [0xff, 0xd8]);
    let (_, list) = verb(data, &["sessions"]).await;
    assert!(list.contains("one (pinned to http://127.0.0.1"), "{list}");
    let (code, closed) = verb(data, &["close", "--session=one"]).await;
    assert_eq!((code, closed.as_str()), (0, "closed session one\n"));
    let (_, list) = verb(data, &["sessions"]).await;
    assert!(list.contains("no session is open"), "{list}");
}

/// A stuck page keeps neither another session, nor the list, nor `close` from answering.
#[tokio::test(flavor = "multi_thread")]
async fn a_stuck_page_is_in_nobodys_way() {
    let (site, ends) = (site().await, data());
    let data = ends.0.path();
    let (_, page) = verb(data, &["open", "/", &app(&site), "--session=stuck"]).await;
    let hang = find_ref(&page, "button", "Hang");
    let clicking = tokio::spawn({
        let (data, hang) = (data.to_owned(), hang.clone());
        async move { verb(&data, &["click", &hang, "--session=stuck"]).await }
    });
    let (code, other) = verb(data, &["open", "/", &app(&site), "--session=free"]).await;
    assert!(code == 0 && other.contains("# Desk"), "{other}");
    let (_, list) = verb(data, &["sessions"]).await;
    assert!(list.contains("stuck (") && list.contains("free ("), "{list}");
    let began = Instant::now();
    let (code, closed) = verb(data, &["close", "--session=stuck"]).await;
    assert!(code == 0 && closed.contains("closed session stuck"), "{closed}");
    // Far below what a page may take; the machine that runs the tests may be slow.
    assert!(began.elapsed() < Duration::from_secs(25), "{:?}", began.elapsed());
    clicking.await.unwrap();
    let (code, other) = verb(data, &["snapshot", "--session=free"]).await;
    assert!(code == 0 && other.contains("# Desk"), "{other}");
}

/// Where nobody can be asked, a step that needs the person says how they can allow it; other flags than
/// those of the session are refused instead of losing its page.
#[tokio::test(flavor = "multi_thread")]
async fn what_needs_the_person_is_refused_with_the_way_to_allow_it() {
    let (site, ends) = (site().await, data());
    let data = ends.0.path();
    let (code, refused) = verb(data, &["open", &site.url("/")]).await;
    assert!(code == 1 && refused.contains("needs_confirmation"), "{refused}");
    assert!(refused.contains("reins rules add always") && refused.contains("--app"), "{refused}");
    assert!(site.seen().is_empty());
    let (code, other) = verb(data, &["open", "/", &app(&site)]).await;
    assert!(code == 1 && other.contains("error (other_flags)"), "{other}");
    verb(data, &["close"]).await;
    let (code, page) = verb(data, &["open", "/", &app(&site)]).await;
    assert!(code == 0 && page.contains("# Desk"), "{page}");
}

/// The daemon's folder and socket are the owner's alone, and a killed daemon is in nobody's way.
#[tokio::test(flavor = "multi_thread")]
async fn the_socket_is_the_owners_and_a_killed_daemon_is_replaced() {
    use std::os::unix::fs::PermissionsExt;
    let (site, ends) = (site().await, data());
    let data = ends.0.path();
    verb(data, &["open", "/", &app(&site)]).await;
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&data.join("verbs")), 0o700);
    assert_eq!(mode(&data.join("verbs/socket")), 0o600);
    let daemon = daemon_of(data).expect("a daemon runs");
    nix::sys::signal::kill(nix::unistd::Pid::from_raw(daemon), nix::sys::signal::Signal::SIGKILL)
        .unwrap();
    // It is another process's end, and nobody tells of it: until then its socket still takes connections.
    while daemon_of(data) == Some(daemon) {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let (code, page) = verb(data, &["open", "/", &app(&site)]).await;
    assert!(code == 0 && page.contains("# Desk"), "{page}");
    assert_ne!(daemon_of(data), Some(daemon));
}

/// The process that keeps the sessions of a data directory.
fn daemon_of(data: &Path) -> Option<i32> {
    let data = data.to_string_lossy().into_owned();
    std::fs::read_dir("/proc").unwrap().flatten().find_map(|entry| {
        let pid: i32 = entry.file_name().to_string_lossy().parse().ok()?;
        let line = std::fs::read(entry.path().join("cmdline")).ok()?;
        let line = String::from_utf8_lossy(&line).into_owned();
        let state = std::fs::read_to_string(entry.path().join("stat")).ok()?;
        let gone = state.rsplit_once(')').is_some_and(|(_, rest)| rest.trim().starts_with('Z'));
        (line.contains("verbs-daemon") && line.contains(&data) && !gone).then_some(pid)
    })
}

/// `reins skill` prints the file that agents read.
#[tokio::test]
async fn the_skill_is_printed() {
    let ends = data();
    let (code, skill) = verb(ends.0.path(), &["skill"]).await;
    assert!(code == 0 && skill.starts_with("---\nname: reins"), "{skill}");
    for word in skill.split('`').filter_map(|piece| piece.strip_prefix("reins ")) {
        let verb_name = word.split_whitespace().next().unwrap();
        if verb_name.chars().all(|c| c.is_ascii_lowercase() || c == '-') {
            let (code, _) = verb(ends.0.path(), &[verb_name, "--help"]).await;
            assert_eq!(code, 0, "reins {verb_name}");
        }
    }
}
