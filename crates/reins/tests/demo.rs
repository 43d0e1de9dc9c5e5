//! `reins demo`: the whole street on the bundled shop.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a failed step must stop the test")]

mod support;

fn demo(args: &[&str]) -> (i32, String) {
    let data = tempfile::tempdir().unwrap();
    support::run(data.path(), &[&["demo", "--headless"], args].concat(), &[], "")
}

/// Regression: on a machine without a display the first command of the README ended with an error.
#[test]
fn the_demo_needs_no_display() {
    let data = tempfile::tempdir().unwrap();
    let none = [("DISPLAY", ""), ("WAYLAND_DISPLAY", "")];
    let (code, said) = support::run(data.path(), &["demo", "--yes"], &none, "");
    assert!(said.contains("There is no display here"), "{said}");
    assert!(said.contains("1 newsletter sign-up(s), 1 order(s)"), "{said}");
    assert_eq!(code, 0, "{said}");
}

#[test]
fn the_demo_reaches_its_end() {
    let (code, said) = demo(&["--yes"]);
    assert!(said.contains("1 newsletter sign-up(s), 1 order(s)"), "{said}");
    assert_eq!(code, 0, "{said}");
    // one card for each step of the risky list, words for buying included, and no other.
    let cards: Vec<&str> = said.lines().filter(|line| line.ends_with("Yes (--yes).")).collect();
    let asked = |words: &str| cards.iter().filter(|card| card.contains(words)).count();
    let wanted = ["Subscribe", "Go to checkout", "Pay"];
    assert_eq!(wanted.map(asked), [1, 1, 1], "{said}");
    assert_eq!(cards.len(), wanted.len(), "{said}");
}

/// no answer is no yes. Without a terminal it says how to go on.
#[test]
fn r165_the_demo_does_nothing_risky_when_nobody_can_be_asked() {
    let (code, said) = demo(&[]);
    assert!(said.contains("0 newsletter sign-up(s), 0 order(s)"), "{said}");
    assert!(said.contains("reins demo --yes"), "{said}");
    assert_eq!(code, 1, "{said}");
}
