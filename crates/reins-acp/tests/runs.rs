//! Whole runs with agents that are programs of their own, honest and hostile.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a failed step must stop the test")]

use futures_util::future::BoxFuture;
use reins_acp::{
    AcpError, Agents, CUSTOM, Event, Launch, Limits, Overrides, Probe, Prompt, Said, Tools, recipe,
};
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tokio::io::AsyncWriteExt;
use tokio::net::UnixStream;
use tokio::sync::mpsc;

const AGENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/agent.py");

/// Plenty for anything that is supposed to happen.
const SOON: Duration = Duration::from_secs(30);

/// One tool, whose connections are just answered with a word.
#[derive(Default)]
struct Echo {
    dropped: Arc<AtomicBool>,
}

impl Drop for Echo {
    fn drop(&mut self) {
        self.dropped.store(true, Ordering::SeqCst);
    }
}

impl Tools for Echo {
    fn names(&self) -> Vec<String> {
        vec!["echo".into(), "click".into()]
    }

    fn serve(self: Arc<Self>, mut stream: UnixStream) -> BoxFuture<'static, ()> {
        Box::pin(async move {
            stream.write_all(b"served").await.unwrap();
        })
    }

    fn calls(&self) -> (u64, u64) {
        (0, 0)
    }
}

/// A place for one run of a fake agent.
struct Stage {
    base: tempfile::TempDir,
    launch: Launch,
    agents: Agents,
    tools: bool,
    dropped: Arc<AtomicBool>,
    model: Option<String>,
    limits: Limits,
}

impl Stage {
    async fn new(mode: &str) -> Self {
        let base = tempfile::tempdir().unwrap();
        let command = format!("{} '{AGENT}' {mode} '{}'", python(), base.path().display());
        let overrides = Overrides { path: None, command: Some(command) };
        let launch = Launch::find(&CUSTOM, &overrides, &path()).await.unwrap();
        Self::with(base, launch)
    }

    /// The same agent behind a known name: an `npx` of ours starts it.
    async fn named(name: &str, mode: &str) -> Self {
        let base = tempfile::tempdir().unwrap();
        let bin = base.path().join("bin");
        std::fs::create_dir(&bin).unwrap();
        let script = format!(
            "#!/bin/sh\nexec '{}' '{AGENT}' {mode} '{}'\n",
            python(),
            base.path().display()
        );
        for program in ["npx", name] {
            let file = bin.join(program);
            std::fs::write(&file, &script).unwrap();
            std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        let mut path = bin.into_os_string();
        path.push(":");
        path.push(std::env::var_os("PATH").unwrap());
        let probe = Probe::with_path(path);
        let launch = Launch::find(recipe(name).unwrap(), &Overrides::default(), &probe).await;
        Self::with(base, launch.unwrap())
    }

    fn with(base: tempfile::TempDir, launch: Launch) -> Self {
        let (agents, dropped) = (Agents::new(), Arc::default());
        Self { base, launch, agents, tools: true, dropped, model: None, limits: Limits::default() }
    }

    fn prompt(&self) -> Prompt {
        let tools = Echo { dropped: Arc::clone(&self.dropped) };
        let tools = Some(Arc::new(tools) as Arc<dyn Tools>).filter(|_| self.tools);
        Prompt {
            tools,
            shim: "/nonexistent/reins".into(),
            cache: self.base.path().join("cache"),
            sockets: self.base.path().join("sockets"),
            model: self.model.clone(),
            version: "1",
            limits: self.limits,
        }
    }

    async fn run(&self) -> (Result<String, AcpError>, Vec<Event>) {
        let (sender, mut receiver) = mpsc::channel(256);
        let run = self.agents.begin();
        let text = async { Some("do it".to_owned()) };
        let answer = run.prompt(&self.launch, self.prompt(), text, sender);
        let events = async {
            let mut events = Vec::new();
            while let Some(event) = receiver.recv().await {
                events.push(event);
            }
            events
        };
        let both = async { tokio::join!(answer, events) };
        tokio::time::timeout(SOON, both).await.expect("the run hangs")
    }

    fn left(&self, name: &str) -> Value {
        let text = std::fs::read_to_string(self.base.path().join(name)).unwrap();
        serde_json::from_str(&text).unwrap_or(Value::String(text))
    }

    /// R-087, R-088: nothing of a run is left.
    async fn nothing_is_left(&self) {
        for folder in ["sockets", "cache/custom", "cache/codex", "cache/claude"] {
            let left = std::fs::read_dir(self.base.path().join(folder)).into_iter().flatten();
            assert_eq!(left.count(), 0, "{folder} is not empty");
        }
        let until = Instant::now() + SOON;
        while self.tools && !self.dropped.load(Ordering::SeqCst) {
            assert!(Instant::now() < until, "the tools outlived their run");
            // The task that listens ends by itself once it is told; nothing says when it has.
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        assert_eq!(self.agents.current(), None);
    }
}

fn path() -> Probe {
    Probe::with_path(std::env::var_os("PATH").unwrap())
}

fn python() -> String {
    let found = std::env::split_paths(&std::env::var_os("PATH").unwrap())
        .map(|folder| folder.join("python3"))
        .find(|file| file.is_file());
    found.expect("python3 is needed").display().to_string()
}

fn alive(pid: &Value) -> bool {
    let pid = pid.as_u64().unwrap();
    std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| {
        stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim().starts_with('Z'))
    })
}

/// R-070, R-074, R-075, R-076, R-084, R-087: what an agent gets, and that nothing of it stays.
#[tokio::test(flavor = "multi_thread")]
async fn r087_a_run_gives_what_it_should_and_leaves_nothing() {
    let stage = Stage::new("happy").await;
    let (answer, events) = stage.run().await;
    assert_eq!(answer.unwrap(), "1 servers.");
    assert_eq!(stage.left("prompt"), "do it");
    let offered = &stage.left("initialize")["clientCapabilities"];
    assert_eq!(
        *offered,
        json!({"fs": {"readTextFile": false, "writeTextFile": false}, "terminal": false})
    );
    let place = stage.left("place");
    assert_eq!(place["files"], json!([]), "the scratch directory is empty");
    assert!(place["cwd"].as_str().unwrap().contains("cache/custom/"), "{place}");
    assert_eq!((&place["pgid"], &place["sid"]), (&place["pid"], &place["pid"]));
    assert!(!alive(&place["pid"]));
    let environment = stage.left("environment");
    let names: Vec<_> = environment.as_object().unwrap().keys().collect();
    // Cargo sets many of these for this test.
    assert!(!names.iter().any(|name| name.contains("CARGO") || name.contains("KEY")), "{names:?}");
    let run = events[0].run;
    assert!(events.iter().all(|event| event.run == run));
    assert_eq!(events[0].said, Said::Agent("fake 1.0".into()));
    stage.nothing_is_left().await;
}

/// R-116: without tools an agent sees no servers.
#[tokio::test(flavor = "multi_thread")]
async fn r116_without_tools_there_are_no_servers() {
    let mut stage = Stage::new("happy").await;
    stage.tools = false;
    assert_eq!(stage.run().await.0.unwrap(), "0 servers.");
    assert_eq!(stage.left("session")["mcpServers"], json!([]));
}

/// R-090: what is no word, thought or tool call is no answer.
#[tokio::test(flavor = "multi_thread")]
async fn r090_an_agent_that_says_nothing_is_ended() {
    let mut stage = Stage::new("silent").await;
    stage.limits.first_answer = Duration::from_secs(1);
    let (answer, _) = stage.run().await;
    let error = answer.unwrap_err();
    assert_eq!(error.code(), "agent_silent");
    assert!(error.to_string().contains("did not answer within 1 seconds"), "{error}");
    assert!(!alive(&stage.left("place")["pid"]));
    stage.nothing_is_left().await;
}

/// R-091…R-094: failures in the agent's own words, and never as a reply.
#[tokio::test(flavor = "multi_thread")]
async fn r091_failures_are_told_in_the_agents_own_words() {
    for (mode, code, words) in [
        ("dies", "agent_gone", "out of [31mmemory"),
        ("bare-error", "agent_failed", "reports: no credit left"),
        ("sign-in", "agent_sign_in", "Authentication required. Sign in with it first"),
        ("late-sign-in", "agent_sign_in", "Login expired"),
        ("refuses", "agent_unfinished", "(refusal): I cannot help with that."),
        ("version", "agent_protocol", "it speaks version 2"),
    ] {
        let stage = Stage::new(mode).await;
        let error = stage.run().await.0.unwrap_err();
        assert_eq!(error.code(), code, "{mode}: {error}");
        assert!(error.to_string().contains(words), "{mode}: {error}");
        stage.nothing_is_left().await;
    }
}

/// R-094, R-095: Codex's system error is an error in its words; its notices before are not.
#[tokio::test(flavor = "multi_thread")]
async fn r094_a_system_error_of_codex_is_no_reply() {
    let stage = Stage::named("codex", "system-error").await;
    let (answer, events) = stage.run().await;
    assert_eq!(answer.unwrap_err().to_string(), "Codex reports: You have hit your usage limit.");
    assert!(!events.iter().any(|e| matches!(&e.said, Said::Text(t) if t.contains("Update"))));
    stage.nothing_is_left().await;
}

/// Garbage, unknown updates, answers to nothing and another session's words change nothing.
#[tokio::test(flavor = "multi_thread")]
async fn r098_garbage_and_messages_of_another_session_are_passed_over() {
    let (answer, events) = Stage::new("garbage").await.run().await;
    assert_eq!(answer.unwrap(), "Done.");
    assert!(!events.iter().any(|e| matches!(&e.said, Said::Text(t) if t.contains("another"))));
}

/// R-084: files, terminals and anything else are unknown methods.
#[tokio::test(flavor = "multi_thread")]
async fn r084_an_agent_is_offered_neither_files_nor_terminals() {
    let answer = Stage::new("asks-for-files").await.run().await.0.unwrap();
    assert_eq!(answer, "[-32601, -32601, -32601, -32601, -32601]");
}

/// R-100…R-105: whatever a request looks like, only the runtime's own field gets a yes, and only
/// for once.
#[tokio::test(flavor = "multi_thread")]
async fn r100_spoofed_requests_are_rejected_by_every_recipe() {
    let no = json!({"outcome": "selected", "optionId": "no"});
    for stage in [
        Stage::named("claude", "spoofs").await,
        Stage::named("codex", "spoofs").await,
        Stage::named("gemini", "spoofs").await,
        Stage::named("opencode", "spoofs").await,
        Stage::named("qwen", "spoofs").await,
        Stage::new("spoofs").await,
    ] {
        let (answer, events) = stage.run().await;
        let answer = answer.unwrap();
        let outcomes: Vec<Value> = serde_json::from_str(&answer).unwrap();
        let (other_session, spoofed) = outcomes.split_last().unwrap();
        assert_eq!(*other_session, json!({"outcome": "cancelled"}));
        assert_eq!(spoofed.len(), 7);
        assert!(spoofed.iter().all(|outcome| *outcome == no), "{answer}");
        let refused = events.iter().filter(|e| matches!(e.said, Said::Refused(_))).count();
        assert_eq!(refused, 7);
    }
}

/// R-103, R-104, R-108: what is proven to be ours is allowed, once.
#[tokio::test(flavor = "multi_thread")]
async fn r108_our_own_tools_are_allowed_once() {
    for name in ["claude", "codex"] {
        let (answer, _) = Stage::named(name, name).await.run().await;
        assert_eq!(answer.unwrap(), r#"{"optionId": "once", "outcome": "selected"}"#, "{name}");
    }
    // The same proof from an agent for which it is none.
    for (name, mode) in [("gemini", "claude"), ("claude", "codex"), ("codex", "claude")] {
        let (answer, _) = Stage::named(name, mode).await.run().await;
        assert_eq!(answer.unwrap(), r#"{"optionId": "no", "outcome": "selected"}"#, "{name}");
    }
    // R-102: and without a server of ours nothing is ours.
    let mut stage = Stage::named("claude", "claude").await;
    stage.tools = false;
    assert_eq!(stage.run().await.0.unwrap(), r#"{"optionId": "no", "outcome": "selected"}"#);
}

/// R-100: where there is no way to say no, the turn is cancelled, and its words are no reply.
#[tokio::test(flavor = "multi_thread")]
async fn r100_without_a_way_to_refuse_the_turn_is_cancelled() {
    let stage = Stage::new("no-way-out").await;
    let (answer, _) = stage.run().await;
    assert_eq!(answer.unwrap_err().code(), "agent_no_refusal");
    assert_eq!(stage.left("outcome"), json!({"outcome": "cancelled"}));
    assert_eq!(stage.left("next"), "session/cancel");
}

/// R-074, R-098, R-099: a stop ends the agent and everything it started, also what left its process
/// group; a stop for another run ends nothing.
#[tokio::test(flavor = "multi_thread")]
async fn r074_a_stop_ends_everything_the_agent_started() {
    let stage = Stage::new("forks").await;
    let before = stage.agents.begin().id();
    let (sender, mut receiver) = mpsc::channel(256);
    let run = stage.agents.begin();
    let id = run.id();
    let text = async { Some("do it".to_owned()) };
    let answer = run.prompt(&stage.launch, stage.prompt(), text, sender);
    let stop = async {
        while let Some(event) = receiver.recv().await {
            if event.said == Said::Text("Forked.".into()) {
                assert!(!stage.agents.stop(before), "an outdated id has no effect");
                assert!(stage.agents.stop(id));
            }
        }
    };
    let both = async { tokio::join!(answer, stop) };
    let (answer, ()) = tokio::time::timeout(SOON, both).await.expect("the run hangs");
    assert_eq!(answer.unwrap_err().code(), "agent_stopped");
    for name in ["child", "stray"] {
        let pid = stage.left(name);
        gone(&pid).await;
    }
    stage.nothing_is_left().await;
}

/// Killed processes whose parent is gone are reaped by somebody else, a moment later.
async fn gone(pid: &Value) {
    let until = Instant::now() + SOON;
    while alive(pid) {
        assert!(Instant::now() < until, "{pid} lives on");
        // There is no event for the end of a process that is not our child.
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// R-087: a run that is dropped in the middle ends its agent as well.
#[tokio::test(flavor = "multi_thread")]
async fn r087_a_dropped_run_ends_its_agent() {
    let stage = Stage::new("forks").await;
    let (sender, mut receiver) = mpsc::channel(256);
    let text = async { Some("do it".to_owned()) };
    let run = stage.agents.begin().prompt(&stage.launch, stage.prompt(), text, sender);
    let forked = async {
        while let Some(event) = receiver.recv().await {
            if event.said == Said::Text("Forked.".into()) {
                return;
            }
        }
    };
    tokio::select! {
        _ = run => panic!("it ended by itself"),
        () = forked => {}
    }
    for name in ["child", "stray"] {
        gone(&stage.left(name)).await;
    }
    gone(&stage.left("place")["pid"]).await;
    stage.nothing_is_left().await;
}

/// R-098: a newer run ends one that is just starting, which then sends nothing, not even its prompt.
#[tokio::test(flavor = "multi_thread")]
async fn r098_a_newer_run_keeps_an_older_one_from_sending_its_prompt() {
    let stage = Stage::new("happy").await;
    let (sender, mut receiver) = mpsc::channel(256);
    let run = stage.agents.begin();
    let first = run.id();
    let agents = stage.agents.clone();
    let text = async {
        // The page has been read; meanwhile another run begins.
        let newer = agents.begin();
        assert_ne!(newer.id(), first);
        std::mem::forget(newer);
        Some("the text of the page".to_owned())
    };
    let answer = run.prompt(&stage.launch, stage.prompt(), text, sender).await;
    assert_eq!(answer.unwrap_err().code(), "agent_stopped");
    assert!(!stage.base.path().join("prompt").exists(), "the prompt was sent");
    assert_eq!(receiver.recv().await, None, "an old run is silent");
    // A run whose person stopped it before its text was there sends nothing either.
    let (sender, _receiver) = mpsc::channel(256);
    let run = stage.agents.begin();
    let answer = run.prompt(&stage.launch, stage.prompt(), async { None }, sender).await;
    assert_eq!(answer.unwrap_err().code(), "agent_stopped");
    assert!(!stage.base.path().join("prompt").exists());
}

/// What comes after the answer reaches nobody.
#[tokio::test(flavor = "multi_thread")]
async fn r088_messages_after_the_end_of_the_prompt_reach_nobody() {
    let stage = Stage::new("late").await;
    let (answer, events) = stage.run().await;
    assert_eq!(answer.unwrap(), "Done.");
    let late = |event: &&Event| matches!(&event.said, Said::Refused(_));
    assert_eq!(events.iter().filter(late).count(), 0);
    stage.nothing_is_left().await;
}

/// R-111: the secret is in the environment of the shim's entry, and in no argument.
#[tokio::test(flavor = "multi_thread")]
async fn r111_the_secret_is_in_no_argument() {
    let stage = Stage::new("connects").await;
    stage.run().await.0.unwrap();
    let entry = stage.left("entry");
    assert_eq!(entry["args"], json!(["mcp-shim"]));
    let variable = |name: &str| {
        let all = entry["env"].as_array().unwrap();
        all.iter().find(|v| v["name"] == name).unwrap()["value"].as_str().unwrap().to_owned()
    };
    assert_eq!(variable("REINS_RUN_SECRET").len(), 64);
    assert!(!Path::new(&variable("REINS_RUN_SOCKET")).exists(), "the socket went with its run");
    assert_eq!(entry["name"], reins_acp::SERVER);
    // The agent itself is not given the secret before its session.
    assert!(!stage.left("environment").to_string().contains("SECRET"));
}

/// R-082, R-226: models are shown and set; a refusal counts only for what was asked for.
#[tokio::test(flavor = "multi_thread")]
async fn r226_models_are_shown_and_set() {
    let mut stage = Stage::new("models").await;
    let (answer, events) = stage.run().await;
    answer.unwrap();
    assert!(!stage.base.path().join("model").exists(), "its own choice is left to it");
    let Said::Models(offer) = &events[1].said else { panic!("{events:?}") };
    assert_eq!((offer.models.len(), offer.current.as_deref()), (3, Some("big[high]")));

    stage.model = Some("small[low]".into());
    let (answer, events) = stage.run().await;
    answer.unwrap();
    assert_eq!(stage.left("model")["modelId"], "small[low]");
    assert!(events.iter().any(|event| event.said == Said::Model("small[low]".into())));

    stage.model = Some("huge".into());
    let error = stage.run().await.0.unwrap_err();
    assert_eq!(error.code(), "agent_model");
    assert!(error.to_string().contains("small[low], small[high], big[high]"), "{error}");

    // R-082: the switch to one that is offered, and its refusal, do not end the run.
    let stage = Stage::new("lost-model").await;
    stage.run().await.0.unwrap();
    assert_eq!(stage.left("model")["modelId"], "small[high]");

    // With a provider of the person's own the list is another provider's, and their choice stands.
    let stage = Stage::new("gateway").await;
    stage.run().await.0.unwrap();
    assert!(!stage.base.path().join("model").exists());

    let mut stage = Stage::new("refuses-model").await;
    stage.model = Some("small[low]".into());
    let error = stage.run().await.0.unwrap_err();
    assert!(
        error.code() == "agent_failed" && error.to_string().contains("not on your plan"),
        "{error}"
    );
}

/// A check starts the agent, sends no prompt and leaves nothing.
#[tokio::test(flavor = "multi_thread")]
async fn a_check_sends_no_prompt() {
    let mut stage = Stage::new("models").await;
    stage.tools = false;
    let run = stage.agents.begin();
    let checked = run.check(&stage.launch, stage.prompt()).await.unwrap();
    assert_eq!((checked.agent.as_str(), checked.offer.models.len()), ("fake 1.0", 3));
    assert!(!stage.base.path().join("prompt").exists());
    stage.nothing_is_left().await;
    let missing: PathBuf = "/nonexistent/agent".into();
    let overrides = Overrides { path: Some(missing), command: None };
    let error = Launch::find(recipe("qwen").unwrap(), &overrides, &path()).await.unwrap_err();
    assert_eq!(error.code(), "agent_path");
}
