//! Documents that are printed from the one list stay as printed.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a failed step must stop the test")]

use std::process::Command;

#[test]
fn the_tool_reference_is_what_the_program_prints() {
    let printed = Command::new(env!("CARGO_BIN_EXE_reins")).arg("docs").output().unwrap();
    let kept = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/tools.md"));
    assert_eq!(
        String::from_utf8(printed.stdout).unwrap(),
        kept.unwrap(),
        "run: reins docs > docs/tools.md"
    );
}
