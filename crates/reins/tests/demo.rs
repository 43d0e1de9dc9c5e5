//! `reins demo`: the whole street on the bundled shop.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a failed step must stop the test")]

mod support;

use std::process::{Command, Stdio};

fn demo(args: &[&str]) -> (i32, String) {
    let data = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_reins"));
    command.args(["demo", "--headless"]).args(args).env("REINS_DATA_DIR", data.path());
    if support::is_root() {
        command.env("REINS_NO_SANDBOX", "1");
    }
    let ran = command.stdin(Stdio::null()).output().unwrap();
    let text = [ran.stdout, ran.stderr].concat();
    (ran.status.code().unwrap(), String::from_utf8(text).unwrap())
}

#[test]
fn the_demo_reaches_its_end() {
    let (code, said) = demo(&["--yes"]);
    assert!(said.contains("1 newsletter sign-up(s), 1 order(s)"), "{said}");
    assert_eq!(code, 0, "{said}");
}

/// no answer is no yes. Without a terminal it says how to go on.
#[test]
fn r165_the_demo_does_nothing_risky_when_nobody_can_be_asked() {
    let (code, said) = demo(&[]);
    assert!(said.contains("0 newsletter sign-up(s), 0 order(s)"), "{said}");
    assert!(said.contains("reins demo --yes"), "{said}");
    assert_eq!(code, 1, "{said}");
}
