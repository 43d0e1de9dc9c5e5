//! `reins secrets`: values go in and are never shown.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a failed step must stop the test")]

mod support;

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

fn secrets(data: &Path, args: &[&str], value: &str) -> (i32, String) {
    support::run(data, &[&["secrets"], args].concat(), &[], value)
}

#[test]
fn secrets_are_kept_by_name_and_never_shown() {
    let home = tempfile::tempdir().unwrap();
    let data = &home.path().join("reins");
    let (code, said) =
        secrets(data, &["set", "bank", "--origin", "bank.example"], "correct horse\n");
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("https://bank.example") && !said.contains("horse"), "{said}");
    // What Reins makes for its data is the owner's alone.
    assert_eq!(std::fs::metadata(data).unwrap().permissions().mode() & 0o777, 0o700);
    let set = ["set", "pin", "--origin", "http://localhost:8080", "--kind", "code"];
    assert_eq!(secrets(data, &set, "0000").0, 0);
    let (_, said) = secrets(data, &["list"], "");
    let lines: Vec<Vec<&str>> = said.lines().map(|l| l.split_whitespace().collect()).collect();
    assert_eq!(
        lines,
        [["bank", "password", "https://bank.example"], ["pin", "code", "http://localhost:8080"]]
    );
    assert_eq!(secrets(data, &["remove", "bank"], "").0, 0);
    let (code, said) = secrets(data, &["remove", "bank"], "");
    assert!(code == 1 && said.contains("no secret bank"), "{said}");
}

#[test]
fn bad_secrets_are_refused_with_the_reason() {
    let data = tempfile::tempdir().unwrap();
    let data = data.path();
    for (args, value, reason) in [
        (&["set", "bank", "--origin", "bank.example"][..], "\n", "the value is empty"),
        (&["set", "bank", "--origin", "not a site"], "x", "names no site"),
        (&["set", "two words", "--origin", "bank.example"], "x", "cannot name a secret"),
        (&["set", "bank", "--origin", "a.example", "--kind", "pet"], "x", "no kind of secret"),
        (&["set", "bank"], "x", "--origin"),
    ] {
        let (code, said) = secrets(data, args, value);
        assert!(code != 0 && said.contains(reason), "{args:?}: {said}");
    }
    assert!(secrets(data, &["list"], "").1.starts_with("no secrets"));
}
