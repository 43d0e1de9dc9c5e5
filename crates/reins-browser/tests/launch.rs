//! Starting and ending browsers of our own, in the installed Chromium.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a failed step must stop the test")]

mod support;

use reins_browser::{Browser, BrowserError, BrowserEvent, LaunchOptions, OpenedBy, Profile};
use reins_core::Outcome;
use reins_testing::{Page, Site};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const LONG: Duration = Duration::from_secs(30);

fn options() -> LaunchOptions {
    LaunchOptions {
        headless: true,
        no_sandbox: nix::unistd::geteuid().is_root(),
        ..LaunchOptions::default()
    }
}

/// A program that stands in for a browser.
fn program(dir: &Path, script: &str) -> PathBuf {
    let path = dir.join("chromium");
    std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path
}

async fn refused(options: LaunchOptions) -> BrowserError {
    Browser::launch(options).await.expect_err("it cannot start")
}

#[tokio::test]
async fn a_browser_starts_with_one_empty_tab_of_ours_and_a_new_identity() {
    let (one, two) = tokio::join!(Browser::launch(options()), Browser::launch(options()));
    let (one, two) = (one.unwrap(), two.unwrap());
    let tabs = one.tabs();
    assert_eq!(tabs.len(), 1, "{tabs:?}");
    assert_eq!((tabs[0].url.as_str(), &tabs[0].opened_by), ("about:blank", &OpenedBy::Agent));
    assert_ne!(one.id(), two.id());
    one.close().await;
    assert!(one.is_gone() && !two.is_gone());
    two.close().await;
}

#[tokio::test]
async fn a_browser_that_ends_by_itself_is_reported_gone() {
    let dir = tempfile::tempdir().unwrap();
    let profile = dir.path().join("profile");
    let browser = Browser::launch(LaunchOptions {
        profile: Profile::Persistent(profile.clone()),
        ..options()
    })
    .await
    .unwrap();
    let mut events = browser.events();
    let mark = std::fs::read_link(profile.join("SingletonLock")).unwrap();
    let pid = mark.to_str().unwrap().rsplit_once('-').unwrap().1.parse().unwrap();
    nix::sys::signal::kill(nix::unistd::Pid::from_raw(pid), nix::sys::signal::SIGKILL).unwrap();
    loop {
        match events.next().await {
            Some(BrowserEvent::Gone { .. }) | None => break,
            Some(_) => {}
        }
    }
    assert!(browser.is_gone());
    browser.close().await;
}

#[tokio::test]
async fn a_persistent_profile_stays_and_is_used_by_one_browser_at_a_time() {
    let dir = tempfile::tempdir().unwrap();
    let profile = dir.path().join("a profile");
    let options = LaunchOptions { profile: Profile::Persistent(profile.clone()), ..options() };
    let first = Browser::launch(options.clone()).await.unwrap();
    let error = refused(options.clone()).await;
    assert_eq!(error.code(), "profile_in_use");
    let text = error.to_string();
    assert!(text.contains("a profile is in use by process "), "{text}");
    assert!(text.contains("close that browser, or give --profile another directory"), "{text}");
    first.close().await;
    assert!(profile.join("Local State").exists());
    let second = Browser::launch(options).await.unwrap();
    second.close().await;
}

#[tokio::test]
async fn a_program_that_is_missing_or_fails_is_refused_with_a_code_and_a_remedy() {
    let dir = tempfile::tempdir().unwrap();
    let missing = LaunchOptions { binary: Some(dir.path().join("none")), ..options() };
    let error = refused(missing).await;
    assert_eq!(error.code(), "browser_not_a_program");
    assert!(error.to_string().contains("--browser FILE"), "{error}");

    let broken = program(dir.path(), "echo 'libnss3.so: cannot open shared object' >&2; exit 127");
    let error = refused(LaunchOptions { binary: Some(broken), ..options() }).await;
    assert_eq!(error.code(), "browser_ended");
    assert!(error.to_string().contains("libnss3.so"), "{error}");
    assert!(error.to_string().contains("127"), "{error}");

    let unusable = program(dir.path(), "echo 'FATAL: No usable sandbox! See docs' >&2; exit 1");
    let error = refused(LaunchOptions { binary: Some(unusable), ..options() }).await;
    assert_eq!(error.code(), "no_sandbox");
    assert!(error.to_string().contains("REINS_NO_SANDBOX=1"), "{error}");
}

#[tokio::test]
async fn a_program_that_never_answers_is_ended_at_the_deadline() {
    let dir = tempfile::tempdir().unwrap();
    let pid_file = dir.path().join("pid");
    let script = format!("echo $$ > '{}'; echo busy >&2; exec sleep 600", pid_file.display());
    let silent = program(dir.path(), &script);
    let deadline = Duration::from_millis(700);
    let error = refused(LaunchOptions { binary: Some(silent), deadline, ..options() }).await;
    assert_eq!(error.code(), "browser_start_deadline");
    assert!(error.to_string().contains("busy"), "{error}");
    let pid = std::fs::read_to_string(pid_file).unwrap().trim().parse().unwrap();
    let gone = nix::sys::signal::kill(nix::unistd::Pid::from_raw(pid), None);
    assert_eq!(gone, Err(nix::errno::Errno::ESRCH));
}

#[tokio::test]
async fn an_old_browser_is_refused_by_its_version() {
    let dir = tempfile::tempdir().unwrap();
    let answer = r#"{"id":1,"result":{"product":"Chrome/99.0.1.2"}}"#;
    let old = program(dir.path(), &format!("printf '%s\\0' '{answer}' >&4; cat <&3 >/dev/null"));
    let error = refused(LaunchOptions { binary: Some(old), ..options() }).await;
    assert_eq!(error.code(), "browser_too_old");
    assert!(error.to_string().contains("99.0.1.2"), "{error}");
}

/// Chromium refuses this by itself too, but only after a start and in its own words.
#[tokio::test]
async fn root_without_no_sandbox_is_refused_before_the_start() {
    if !nix::unistd::geteuid().is_root() {
        return;
    }
    let error = refused(LaunchOptions { no_sandbox: false, ..options() }).await;
    assert_eq!(error.code(), "sandbox_as_root");
    let text = error.to_string();
    assert!(text.contains("--no-sandbox") && text.contains("REINS_NO_SANDBOX=1"), "{text}");
}

/// Closing never waits for a page: not for its script, and not for the dialog it shows.
#[tokio::test]
async fn close_does_not_queue_behind_a_stuck_page() {
    let site = Site::start([
        ("/stuck", Page::html("<script>hit('stuck').then(() => { for (;;); })</script>")),
        ("/asks", Page::html("<script>hit('asks').then(() => alert('well?'))</script>")),
        ("/never", Page::html("<p>half").never_ending()),
    ])
    .await
    .unwrap();
    let dir = tempfile::tempdir().unwrap();
    for profile in [Profile::Temporary, Profile::Persistent(dir.path().join("profile"))] {
        let browser = Browser::launch(LaunchOptions { profile, ..options() }).await.unwrap();
        for path in ["/never", "/asks", "/stuck"] {
            let tab = browser.blank_tab().await.unwrap();
            let tab = browser.tab_info(&tab).unwrap();
            let url = site.url(path);
            let opened = support::open(&browser, &tab, &url);
            // Opening waits for the page to settle, which these do not.
            drop(tokio::time::timeout(Duration::from_secs(1), opened).await);
        }
        assert!(site.wait_hit("stuck", LONG).await && site.wait_hit("asks", LONG).await);
        let start = Instant::now();
        browser.close().await;
        println!("closed three stuck pages after {:?}", start.elapsed());
        assert!(browser.is_gone());
    }
}

/// What a page asks to be fetched ahead would pass interception unseen, so it is not fetched.
#[tokio::test]
async fn pages_are_not_fetched_ahead() {
    let rules = r#"<script type="speculationrules">{
        "prerender":[{"source":"list","urls":["/rendered"],"eagerness":"immediate"}],
        "prefetch":[{"source":"list","urls":["/fetched"],"eagerness":"immediate"}]}</script>"#;
    let site =
        Site::start([("/", Page::html(rules)), ("/next", Page::html("next"))]).await.unwrap();
    let dir = tempfile::tempdir().unwrap();
    for profile in [Profile::Temporary, Profile::Persistent(dir.path().join("profile"))] {
        let browser = Browser::launch(LaunchOptions { profile, ..options() }).await.unwrap();
        let tab = browser.first_tab(LONG).await.unwrap();
        for path in ["/", "/next", "/", "/next"] {
            let acted = support::open(&browser, &tab, &site.url(path)).await;
            assert_eq!(acted.outcome, Outcome::Completed);
        }
        let paths: Vec<_> = site.seen().into_iter().map(|seen| seen.path).collect();
        assert!(!paths.iter().any(|p| p == "/rendered" || p == "/fetched"), "{paths:?}");
        assert!(site.requests("/next") > 0, "{paths:?}");
        browser.close().await;
    }
}

/// A page sees the size that was asked for, a screen that holds it, and a mouse.
#[tokio::test]
async fn a_page_without_a_window_looks_as_on_a_desktop() {
    let tell = "<script>const m=q=>matchMedia(q).matches;
        hit([innerWidth,innerHeight,screen.width>=innerWidth,m('(hover:hover)'),m('(pointer:fine)'),
        document.visibilityState,!!document.createElement('canvas').getContext('webgl')].join('_'))
        </script>";
    let site = Site::start([("/", Page::html(tell))]).await.unwrap();
    let browser =
        Browser::launch(LaunchOptions { window: (1000, 700), ..options() }).await.unwrap();
    let first = browser.first_tab(LONG).await.unwrap();
    let second = browser.blank_tab().await.unwrap();
    for tab in [first, browser.tab_info(&second).unwrap()] {
        let acted = support::open(&browser, &tab, &site.url("/")).await;
        assert_eq!(acted.outcome, Outcome::Completed);
    }
    let hit = "1000_700_true_true_true_visible_true";
    assert!(site.wait_hit(hit, LONG).await, "{:?}", site.seen());
    assert_eq!(site.hits(hit), 2, "{:?}", site.seen());
    browser.close().await;
}
