//! `reins mcp` with a window, on a display of its own that nobody looks at.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a failed step must stop the test")]

mod support;

use reins_testing::{Page, Site};
use serde_json::json;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use support::{Client, find_ref};

const SOON: Duration = Duration::from_secs(10);

/// An X server without a screen.
struct Display {
    server: Child,
    name: String,
}

impl Display {
    fn start() -> Self {
        let mut server = Command::new("Xvfb")
            .args(["-displayfd", "1", "-screen", "0", "1280x900x24", "-nolisten", "tcp"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("Xvfb: install the package xvfb");
        let mut number = String::new();
        BufReader::new(server.stdout.take().unwrap()).read_line(&mut number).unwrap();
        Self { server, name: format!(":{}", number.trim()) }
    }
}

impl Drop for Display {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// A page that tells its server of everything a change of tab or focus would bring.
fn desk(name: &str) -> Page {
    Page::html(&format!(
        "<title>{name}</title><h1>{name}</h1><button onclick=\"say('pressed')\">Press {name}</button>\
         <label>Note {name} <input oninput=\"say('typed-' + this.value)\"></label><script>\
         function say(what) {{ fetch('/said/{name}/' + what) }}\
         addEventListener('visibilitychange', () => say('visibility'));\
         addEventListener('blur', () => say('blur'));</script>"
    ))
}

/// Two tabs are worked in by turns: input is trusted and arrives in each, and neither is ever raised,
/// hidden or robbed of the focus by it (W-620, A-030).
#[tokio::test(flavor = "multi_thread")]
async fn w620_tabs_of_a_window_are_worked_in_without_being_raised() {
    let said = ["one", "two"].iter().flat_map(|tab| {
        ["pressed", "typed-hello", "visibility", "blur"].map(|what| format!("/said/{tab}/{what}"))
    });
    let said: Vec<String> = said.collect();
    let pages = said.iter().map(|path| (path.as_str(), Page::html("")));
    let pages = pages.chain([("/one", desk("one")), ("/two", desk("two"))]);
    let (site, data) = (Site::start(pages).await.unwrap(), tempfile::tempdir().unwrap());
    let display = Display::start();
    let app = format!("--app=http://127.0.0.1:{}", site.port());
    let mut client = Client::in_window(data.path(), &display.name, &[&app]).await;

    let one = client.call("navigate", json!({"url": site.url("/one")})).await;
    let two = client.call("open_tab", json!({"url": site.url("/two")})).await;
    let tab = one.facts["tab"].as_str().unwrap().to_owned();
    assert_ne!(two.facts["tab"].as_str().unwrap(), tab, "{}", two.text);
    for _ in 0..2 {
        for (name, page) in [("two", &two), ("one", &one)] {
            let tab = &page.facts["tab"];
            let press = find_ref(&page.text, "button", &format!("Press {name}"));
            let done = client.call("click", json!({"ref": press, "tab": tab})).await;
            assert!(done.text.starts_with("completed"), "{}", done.text);
            let note = find_ref(&page.text, "textbox", &format!("Note {name}"));
            let args = json!({"ref": note, "text": "hello", "tab": tab});
            let done = client.call("type", args).await;
            assert!(done.text.starts_with("completed"), "{}", done.text);
            let picture = client.call("screenshot", json!({"tab": tab})).await;
            assert!(!picture.failed, "{}", picture.text);
        }
    }
    for name in ["one", "two"] {
        let typed = format!("/said/{name}/typed-hello");
        assert!(site.wait_for(SOON, |seen| seen.path == typed).await, "{typed}");
        assert_eq!(site.requests(&format!("/said/{name}/pressed")), 2);
        for event in ["visibility", "blur"] {
            assert_eq!(site.requests(&format!("/said/{name}/{event}")), 0, "{name} {event}");
        }
    }
    client.close().await;
}
