//! `reins run --agent` and `reins agents`: the program itself, with agents that are scripts and a real
//! Chromium.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a failed step must stop the test")]

mod support;

use reins_testing::{Page, Site};
use serde_json::Value;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const AGENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../reins-acp/tests/agent.py");
const TERMINAL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/terminal.py");

async fn site() -> Site {
    Site::start([
        (
            "/",
            Page::html(
                "<title>Desk</title><h1>Desk</h1><form action=/send method=post><label>Note <input name=n></label><button>Send</button></form>",
            ),
        ),
        ("/send", Page::html("<title>Sent</title><h1>Sent</h1>")),
    ])
    .await
    .unwrap()
}

/// A folder for the data, the cache and what the agent leaves.
struct Desk(tempfile::TempDir);

impl Desk {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn command(&self, mode: &str) -> String {
        format!("/usr/bin/env python3 '{AGENT}' {mode} '{}'", self.path().display())
    }

    /// Runs the program; with `typed` on a terminal. Its exit code and what it showed.
    fn reins(&self, typed: Option<&[&str]>, args: &[&str]) -> (i32, String) {
        let mut command = match typed {
            Some(typed) => {
                let mut command = Command::new("python3");
                command.arg(TERMINAL).args(typed).arg("--").arg(env!("CARGO_BIN_EXE_reins"));
                command
            }
            None => Command::new(env!("CARGO_BIN_EXE_reins")),
        };
        command.args(args).env("REINS_DATA_DIR", self.path().join("data"));
        command.env("XDG_CACHE_HOME", self.path().join("cache")).env("SHELL", self.shell());
        command.env("SECRET_API_KEY", "k").stdin(Stdio::null());
        if support::is_root() {
            command.env("REINS_NO_SANDBOX", "1");
        }
        let ran = command.output().unwrap();
        let text = [ran.stdout, ran.stderr].concat();
        (ran.status.code().unwrap(), String::from_utf8_lossy(&text).into_owned())
    }

    /// A login shell whose PATH begins with our folder.
    fn shell(&self) -> PathBuf {
        let (file, bin) = (self.path().join("shell"), self.path().join("bin"));
        let script = format!(
            "#!/bin/sh\nexport PATH='{}':/usr/bin:/bin\nshift\neval \"$1\"\n",
            bin.display()
        );
        program(&file, &script);
        file
    }

    fn run(&self, typed: Option<&[&str]>, mode: &str, site: &Site, more: &[&str]) -> (i32, String) {
        let (command, url) = (self.command(mode), site.url("/"));
        let args =
            ["run", "send the note", "--headless", "--url", &url, "--agent-command", &command];
        self.reins(typed, &[&args, more].concat())
    }

    fn left(&self, name: &str) -> Value {
        let text = std::fs::read_to_string(self.path().join(name)).unwrap();
        serde_json::from_str(&text).unwrap_or(Value::String(text))
    }
}

fn program(file: &Path, script: &str) {
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(file, script).unwrap();
    std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o755)).unwrap();
}

fn alive(pid: &Value) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| {
        stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim().starts_with('Z'))
    })
}

/// R-109, R-111, R-115: an agent reads the page, types and sends with our tools through the shim,
/// and the card for the submit is answered on the terminal while it waits.
#[tokio::test(flavor = "multi_thread")]
async fn r109_an_agent_works_through_our_tools_and_cards_are_answered_at_the_terminal() {
    let (site, desk) = (site().await, Desk::new());
    let (code, shown) = desk.run(Some(&["type allow", "allow\\r"]), "shop", &site, &[]);
    assert_eq!((code, site.requests("/send")), (0, 1), "{shown}");
    assert!(shown.contains("fake 1.0 is at work") && shown.contains("Sent."), "{shown}");
    assert!(shown.contains("3 steps"), "{shown}");
    let prompt = desk.left("prompt").to_string();
    assert!(prompt.contains("send the note") && prompt.contains("Desk"), "{prompt}");
    let tools = desk.left("tools").to_string();
    assert!(tools.contains("\"click\"") && !tools.contains("upload"), "{tools}");
    assert!(!desk.left("schemas").to_string().contains("session"));
    assert!(!desk.left("environment").to_string().contains("SECRET_API_KEY"));
    assert!(!alive(&desk.left("place")["pid"]));
}

/// R-108: a tool that may be called is still judged: a no on the card keeps the form from being sent.
#[tokio::test(flavor = "multi_thread")]
async fn r108_a_no_on_the_card_holds_for_agents_too() {
    let (site, desk) = (site().await, Desk::new());
    let (code, shown) = desk.run(Some(&["type allow", "skip\\r"]), "shop", &site, &[]);
    assert_eq!((code, site.requests("/send")), (0, 0), "{shown}");
    assert!(shown.contains("Not sent: refused"), "{shown}");
}

/// R-088: Stop on a card ends the turn and the agent.
#[tokio::test(flavor = "multi_thread")]
async fn r088_stop_on_a_card_ends_the_agent() {
    let (site, desk) = (site().await, Desk::new());
    let (code, shown) = desk.run(Some(&["type allow", "\\x1b"]), "shop", &site, &[]);
    assert_eq!((code, site.requests("/send")), (130, 0), "{shown}");
    assert!(shown.contains("You stopped it"), "{shown}");
    assert!(!alive(&desk.left("place")["pid"]));
}

/// Ctrl-C ends the turn and everything that the agent started.
#[tokio::test(flavor = "multi_thread")]
async fn r074_ctrl_c_ends_the_agent_and_its_children() {
    let (site, desk) = (site().await, Desk::new());
    let (code, shown) = desk.run(Some(&["is at work", "\\x03"]), "forks", &site, &[]);
    assert_eq!(code, 130, "{shown}");
    for name in ["child", "stray"] {
        // It may have been stopped before it forked.
        if desk.path().join(name).exists() {
            assert!(!alive(&desk.left(name)), "{name} lives on");
        }
    }
    assert!(!alive(&desk.left("place")["pid"]));
}

/// Scripts get events; where nobody can be asked, the agent is told so.
#[tokio::test(flavor = "multi_thread")]
async fn json_events_say_what_the_agent_did() {
    let (site, desk) = (site().await, Desk::new());
    let (code, shown) = desk.run(None, "shop", &site, &["--json"]);
    assert_eq!((code, site.requests("/send")), (0, 0), "{shown}");
    let events: Vec<Value> =
        shown.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let kinds: Vec<_> = events.iter().map(|event| event["event"].as_str().unwrap()).collect();
    assert!(kinds.contains(&"agent") && kinds.contains(&"step"), "{shown}");
    let end = events.last().unwrap();
    assert_eq!(end["event"], "end");
    assert!(end["answer"].as_str().unwrap().starts_with("Not sent"), "{shown}");
}

/// R-091: a failure is no answer, and its code is in the message.
#[tokio::test(flavor = "multi_thread")]
async fn r091_a_failure_has_its_own_exit_code() {
    let (site, desk) = (site().await, Desk::new());
    let (code, shown) = desk.run(None, "bare-error", &site, &[]);
    assert_eq!(code, 1, "{shown}");
    assert!(
        shown.contains("not done (agent_failed): the agent reports: no credit left"),
        "{shown}"
    );
    let (code, shown) = desk.run(None, "refuses", &site, &[]);
    assert_eq!(code, 3, "{shown}");
}

/// R-068, R-071, R-072, R-226: what is installed, what is kept, and that listing starts nothing.
#[test]
fn r071_agents_are_listed_checked_and_set() {
    let desk = Desk::new();
    let (code, listed) = desk.reins(None, &["agents", "list"]);
    assert_eq!(code, 0, "{listed}");
    assert!(
        listed.contains("-- opencode") && listed.contains("npm install -g opencode-ai"),
        "{listed}"
    );
    let script = format!(
        "#!/bin/sh\nexec /usr/bin/env python3 '{AGENT}' models '{}'\n",
        desk.path().display()
    );
    program(&desk.path().join("bin/gemini"), &script);
    let (_, listed) = desk.reins(None, &["agents", "list"]);
    assert!(listed.contains("ok gemini"), "{listed}");
    assert!(!desk.path().join("initialize").exists(), "listing started an agent");
    let (code, well) = desk.reins(None, &["agents", "doctor"]);
    assert_eq!(code, 0, "{well}");
    assert!(well.contains("ok gemini    fake 1.0") && well.contains("* big[high]"), "{well}");
    assert!(!desk.path().join("prompt").exists(), "a check sent a prompt");
    let (code, set) = desk.reins(None, &["agents", "set", "gemini", "--model", "small[low]"]);
    assert!(code == 0 && set.contains("model small[low]"), "{set}");
    assert!(desk.reins(None, &["agents", "list"]).1.contains("model: small[low]"));
    let (code, said) =
        desk.reins(None, &["agents", "set", "gemini", "--model", "", "--path", "/nonexistent"]);
    assert!(code == 0 && said.contains("path /nonexistent, model its own choice"), "{said}");
    let (code, said) = desk.reins(None, &["agents", "doctor", "gemini"]);
    assert!(code == 1 && said.contains("there is no file that may be run"), "{said}");
    let (code, said) = desk.reins(None, &["agents", "doctor", "gpt"]);
    assert!(code == 1 && said.contains("no agent that Reins knows"), "{said}");
}

/// R-111: the shim is for agents of a run alone.
#[test]
fn r111_the_shim_cannot_be_used_by_hand() {
    let desk = Desk::new();
    let (code, said) = desk.reins(None, &["mcp-shim"]);
    assert!(code == 1 && said.contains("started by the agent of a run"), "{said}");
    assert!(!desk.reins(None, &["help"]).1.contains("mcp-shim"));
}
