//! The dedicated browser: somebody else starts it, we attach to it and let go of it.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a failed step must stop the test")]

use reins_browser::{Browser, BrowserError, Containment, OpenedBy};
use reins_cdp::testing::{Chromium, chrome};
use reins_cdp::{Connection, Ignored, Session};
use reins_core::TabId;
use reins_testing::{Page, Site};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

const LONG: Duration = Duration::from_secs(30);

/// The person's side: a profile, a browser on it, and hands to use it with.
struct Person {
    dir: TempDir,
    chromium: Chromium,
    hands: Session,
}

impl Person {
    async fn start() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let (chromium, hands) = open(&dir.path().join("browser")).await;
        Self { dir, chromium, hands }
    }

    fn profile(&self) -> PathBuf {
        self.dir.path().join("browser")
    }

    async fn restart(self) -> Self {
        let profile = self.profile();
        self.chromium.kill().await.unwrap();
        let (chromium, hands) = open(&profile).await;
        Self { dir: self.dir, chromium, hands }
    }

    async fn new_tab(&self, url: &str) -> TabId {
        let made: Value =
            self.hands.call("Target.createTarget", json!({"url": url}), LONG).await.unwrap();
        TabId::new(made["targetId"].as_str().unwrap())
    }

    async fn close_tab(&self, tab: &TabId) {
        let params = json!({"targetId": tab.as_str()});
        self.hands.call::<Ignored>("Target.closeTarget", params, LONG).await.unwrap();
    }

    async fn targets(&self) -> Vec<Value> {
        let all: Value = self.hands.call("Target.getTargets", (), LONG).await.unwrap();
        all["targetInfos"].as_array().unwrap().clone()
    }
}

async fn open(profile: &Path) -> (Chromium, Session) {
    let program = chrome().expect("a Chromium: set CHROME to its path");
    let chromium = Chromium::start_on(&program, profile).await.unwrap();
    let hands = Connection::websocket(&chromium.url(), LONG).await.unwrap().root();
    (chromium, hands)
}

async fn attach(profile: &Path) -> Result<Browser, BrowserError> {
    Browser::attach(profile, Containment::default()).await
}

/// Waits until the browser knows exactly `count` tabs.
async fn tabs(browser: &Browser, count: usize) -> Vec<TabId> {
    let mut events = browser.events();
    loop {
        let tabs: Vec<_> = browser.tabs().into_iter().map(|tab| tab.id).collect();
        if tabs.len() == count {
            return tabs;
        }
        events.next().await.unwrap();
    }
}

/// A015: not running is refused, naming the profile and the command.
#[tokio::test]
async fn a015_a_browser_that_does_not_run_is_refused_with_the_command_that_starts_it() {
    let dir = tempfile::tempdir().unwrap();
    let profile = dir.path().join("browser");
    let error = attach(&profile).await.unwrap_err();
    assert_eq!(error.code(), "dedicated_not_running");
    let text = error.to_string();
    let start = format!("--user-data-dir={} --remote-debugging-port=0", profile.display());
    assert!(text.contains(&start), "{text}");
    // The profile is ready for it: nothing is fetched ahead of a click.
    let preferences = std::fs::read_to_string(profile.join("Default/Preferences")).unwrap();
    assert_eq!(preferences, r#"{"net":{"network_prediction_options":2}}"#);
}

/// A010: the person's own browser is off limits, whether it runs or not.
#[tokio::test]
async fn a010_a_personal_profile_is_refused() {
    let home = std::env::home_dir().unwrap();
    for dir in [".config/google-chrome", ".config/chromium/Default"] {
        let error = attach(&home.join(dir)).await.unwrap_err();
        assert_eq!(error.code(), "personal_profile");
    }
}

/// A014, A020, A022, A025: tabs come with Chrome's own ids, and identical ones stay distinct.
#[tokio::test]
async fn a020_tabs_are_named_by_chromes_own_ids() {
    let person = Person::start().await;
    let twins = [person.new_tab("about:blank").await, person.new_tab("about:blank").await];
    let browser = attach(&person.profile()).await.unwrap();
    let path = person.chromium.url();
    assert!(path.ends_with(browser.id().as_str()), "A021: {path} and {}", browser.id());
    let ids = tabs(&browser, 3).await;
    for twin in &twins {
        assert_eq!(ids.iter().filter(|id| *id == twin).count(), 1);
        assert_eq!(browser.tab_info(twin).unwrap().opened_by, OpenedBy::Person);
    }
}

/// A021, A024: after a restart nothing of the old run is used, and nothing is sent.
#[tokio::test]
async fn a024_a_replaced_browser_is_refused_before_anything_is_sent() {
    let person = Person::start().await;
    let browser = attach(&person.profile()).await.unwrap();
    let tab = tabs(&browser, 1).await.remove(0);
    browser.tab_info(&tab).unwrap();
    let person = person.restart().await;
    let error = browser.tab_info(&tab).unwrap_err();
    assert_eq!(error.code(), "browser_replaced");
    assert_eq!(browser.blank_tab().await.unwrap_err().code(), "browser_replaced");
    let again = attach(&person.profile()).await.unwrap();
    assert_ne!(again.id(), browser.id());
    tabs(&again, 1).await;
    assert_eq!(again.tab_info(&tab).unwrap_err().code(), "no_tab");
}

/// A024: the port file is read at each use, so one that changed under us is noticed even while the
/// connection still stands.
#[tokio::test]
async fn a024_the_port_file_is_asked_at_every_use() {
    let person = Person::start().await;
    let browser = attach(&person.profile()).await.unwrap();
    let tab = tabs(&browser, 1).await.remove(0);
    let file = person.profile().join("DevToolsActivePort");
    let before = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, "1\n/devtools/browser/another\n").unwrap();
    assert_eq!(browser.tab_info(&tab).unwrap_err().code(), "browser_replaced");
    std::fs::remove_file(&file).unwrap();
    assert_eq!(browser.tab_info(&tab).unwrap_err().code(), "dedicated_not_running");
    std::fs::write(&file, before).unwrap();
    browser.tab_info(&tab).unwrap();
}

/// A024: a closed tab is refused.
#[tokio::test]
async fn a024_a_closed_tab_is_refused() {
    let person = Person::start().await;
    let tab = person.new_tab("about:blank").await;
    let browser = attach(&person.profile()).await.unwrap();
    tabs(&browser, 2).await;
    person.close_tab(&tab).await;
    tabs(&browser, 1).await;
    assert_eq!(browser.tab_info(&tab).unwrap_err().code(), "no_tab");
}

/// A015: a file that a crashed browser left names a port that nobody, or somebody else, serves.
#[tokio::test]
async fn a015_a_stale_port_file_is_no_browser() {
    let person = Person::start().await;
    let profile = person.profile();
    person.chromium.kill().await.unwrap();
    assert!(profile.join("DevToolsActivePort").exists(), "a killed browser leaves its file");
    assert_eq!(attach(&profile).await.unwrap_err().code(), "dedicated_not_running");

    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    std::fs::write(profile.join("DevToolsActivePort"), format!("{port}\n/devtools/browser/gone"))
        .unwrap();
    let stranger = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut request = vec![0; 4096];
        let n = stream.read(&mut request).await.unwrap();
        stream.write_all(b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n").await.unwrap();
        String::from_utf8_lossy(&request[..n]).into_owned()
    });
    assert_eq!(attach(&profile).await.unwrap_err().code(), "dedicated_not_running");
    assert!(stranger.await.unwrap().starts_with("GET /devtools/browser/gone "));
}

/// Another browser that got the port does not know the path, so it is never taken for ours.
#[tokio::test]
async fn a010_a_foreign_debugging_session_on_the_port_is_not_used() {
    let foreign = Person::start().await;
    let port = foreign.chromium.url();
    let port = port.trim_start_matches("ws://127.0.0.1:").split('/').next().unwrap().to_owned();
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(
        dir.path().join("DevToolsActivePort"),
        format!("{port}\n/devtools/browser/11111111-2222-3333-4444-555555555555"),
    )
    .unwrap();
    assert_eq!(attach(dir.path()).await.unwrap_err().code(), "dedicated_not_running");
}

/// Closing lets go: the person's browser and its tabs stay.
#[tokio::test]
async fn closing_leaves_the_dedicated_browser_open() {
    let person = Person::start().await;
    let browser = attach(&person.profile()).await.unwrap();
    tabs(&browser, 1).await;
    browser.close().await;
    assert!(browser.is_gone());
    let pages = person.targets().await;
    assert_eq!(pages.iter().filter(|t| t["type"] == "page").count(), 1);
    let again = attach(&person.profile()).await.unwrap();
    assert_eq!(again.id(), browser.id());
}

/// A023: a page that is rendered ahead of a click is no tab.
#[tokio::test]
async fn a023_prerendered_pages_are_not_tabs() {
    let rules = r#"<script type="speculationrules">{"prerender":[{"source":"list",
        "urls":["/ahead"],"eagerness":"immediate"}]}</script>"#;
    let site = Site::start([
        ("/", Page::html(&format!("<title>now</title>{rules}"))),
        ("/ahead", Page::html("<title>ahead</title><script>hit('ahead')</script>")),
    ])
    .await
    .unwrap();
    let person = Person::start().await;
    let browser = attach(&person.profile()).await.unwrap();
    tabs(&browser, 1).await;
    let tab = person.new_tab(&site.url("/")).await;
    assert!(site.wait_for(LONG, |seen| seen.path == "/ahead").await, "it renders nothing ahead");
    let mut ids = tabs(&browser, 2).await;
    ids.retain(|id| *id != tab);
    let others: Vec<_> = ids.iter().map(|id| browser.tab_info(id).unwrap().url).collect();
    assert_eq!(others, ["about:blank"]);
}
