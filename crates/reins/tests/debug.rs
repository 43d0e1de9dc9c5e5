//! The debug switch: every tool by hand, and nothing of it without the switch.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a failed step must stop the test")]

mod support;

use reins_testing::{Page, Site};

fn debug(on: bool, args: &[&str], lines: &str) -> (i32, String) {
    let data = tempfile::tempdir().unwrap();
    let env: &[(&str, &str)] = if on { &[("REINS_DEBUG", "1")] } else { &[] };
    support::run(data.path(), &[&["debug", "--headless"], args].concat(), env, lines)
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
    let data = tempfile::tempdir().unwrap();
    assert!(!support::run(data.path(), &["--help"], &[], "").1.contains("debug"));
}
