//! The doctor and a start make the same checks and say the same words.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a failed step must stop the test")]

use reins_browser::doctor::{DoctorReport, State, doctor};
use reins_browser::{Browser, LaunchOptions, Profile};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

fn options() -> LaunchOptions {
    LaunchOptions {
        headless: true,
        no_sandbox: nix::unistd::geteuid().is_root(),
        ..LaunchOptions::default()
    }
}

fn line<'a>(report: &'a DoctorReport, name: &str) -> &'a reins_browser::doctor::Check {
    report.checks.iter().find(|check| check.name == name).expect("the check is made")
}

/// S013: runtime, browser and version, one line each.
#[tokio::test]
async fn s013_a_healthy_system_gets_one_good_line_for_each_check() {
    let report = doctor(&options(), None).await;
    assert!(report.is_ready(), "{report}");
    for name in ["reins", "browser", "version", "sandbox", "profile", "start"] {
        assert_eq!(line(&report, name).state, State::Good, "{report}");
    }
    assert_eq!(report.to_string().lines().count(), report.checks.len());
}

/// S014: a start that fails says what the doctor says.
#[tokio::test]
async fn s014_a_failed_start_has_the_doctors_words() {
    let dir = tempfile::tempdir().unwrap();
    let old = dir.path().join("chromium");
    std::fs::write(&old, "#!/bin/sh\necho 'Chromium 99.0.1.2'\n").unwrap();
    std::fs::set_permissions(&old, std::fs::Permissions::from_mode(0o755)).unwrap();
    let personal = std::env::home_dir().unwrap().join(".config/chromium");
    let mut cases = vec![
        ("browser", LaunchOptions { binary: Some("/nowhere/chromium".into()), ..options() }),
        ("profile", LaunchOptions { profile: Profile::Persistent(personal), ..options() }),
    ];
    if nix::unistd::geteuid().is_root() {
        cases.push(("sandbox", LaunchOptions { no_sandbox: false, ..options() }));
    }
    for (name, options) in cases {
        let report = doctor(&options, None).await;
        let check = line(&report, name);
        assert_eq!(check.state, State::Missing, "{report}");
        let error = Browser::launch(options).await.unwrap_err().to_string();
        assert_eq!(error, format!("{}; {}", check.detail, check.remedy.as_ref().unwrap()));
        assert!(report.checks.iter().all(|check| check.name != "start"));
    }
    let report = doctor(&LaunchOptions { binary: Some(old), ..options() }, None).await;
    let check = line(&report, "version");
    assert_eq!(check.detail, "Chromium 99.0.1.2 is too old");
}

#[tokio::test]
async fn a_dedicated_browser_that_does_not_run_is_a_note_with_its_command() {
    let report = doctor(&options(), Some(Path::new("/nowhere/browser"))).await;
    let check = line(&report, "dedicated");
    assert_eq!(check.state, State::Limited);
    assert!(check.remedy.as_ref().unwrap().contains("--user-data-dir=/nowhere/browser"));
    assert!(report.is_ready());
}
