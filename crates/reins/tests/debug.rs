//! The debug switch: every tool by hand, and nothing of it without the switch.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a failed step must stop the test")]

mod support;

use reins_testing::{Page, Site};
use std::io::Write;
use std::process::{Command, Stdio};

fn debug(on: bool, args: &[&str], lines: &str) -> (i32, String) {
    let data = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_reins"));
    command.args(["debug", "--headless"]).args(args).env("REINS_DATA_DIR", data.path());
    command.env_remove("REINS_DEBUG");
    if on {
        command.env("REINS_DEBUG", "1");
    }
    if support::is_root() {
        command.env("REINS_NO_SANDBOX", "1");
    }
    let (stdin, out) = (Stdio::piped(), Stdio::piped());
    let mut child = command.stdin(stdin).stdout(out).stderr(Stdio::piped()).spawn().unwrap();
    // Without the switch it has ended already.
    let _ = child.stdin.take().unwrap().write_all(lines.as_bytes());
    let ran = child.wait_with_output().unwrap();
    let text = [ran.stdout, ran.stderr].concat();
    (ran.status.code().unwrap(), String::from_utf8(text).unwrap())
}

/// attach, snapshot, click, type, select and navigate without a model, and a card to try.
#[tokio::test(flavor = "multi_thread")]
async fn r214_tools_by_hand() {
    let page = "<label>Name <input id=n></label><select aria-label=Size><option>S<option>L</select>\
        <button type=button onclick=\"hit('pressed-'+n.value)\">Press</button><a href=/next>Next</a>";
    let site = Site::start([("/", Page::html(page)), ("/next", Page::html("<h1>NEXT</h1>"))]);
    let site = site.await.unwrap();
    let lines = format!(
        "navigate {}\ntype e1 text=ada\nselect_option e2 options=L\nclick e3\nnavigate {}\ncard\nfly\nquit\n",
        site.url("/"),
        site.url("/next"),
    );
    let app = format!("--app={}", site.url("").trim_end_matches('/'));
    let (code, said) =
        tokio::task::spawn_blocking(move || debug(true, &[&app], &lines)).await.unwrap();
    assert_eq!(code, 0, "{said}");
    assert_eq!(site.hits("pressed-ada"), 1, "{said}");
    for wanted in ["selected L in", "# NEXT", "NoOne", "no tool 'fly'"] {
        assert!(said.contains(wanted), "{wanted}: {said}");
    }
}

#[test]
fn r214_without_the_switch_none_of_it_exists() {
    let (code, said) = debug(false, &[], "");
    assert!(code == 2 && said.contains("unrecognized subcommand 'debug'"), "{code}: {said}");
    let help = Command::new(env!("CARGO_BIN_EXE_reins")).arg("--help").output().unwrap();
    assert!(!String::from_utf8(help.stdout).unwrap().contains("debug"));
}
