//! An MCP client on the program's own stdin and stdout, as coding agents start it.

#![allow(unreachable_pub, dead_code, reason = "each test binary uses a part")]

use serde_json::{Value, json};
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::Stdio;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

/// Runs a command of the program to its end. Its exit code, and what it printed: stdout, then stderr.
pub fn run(data: &Path, args: &[&str], env: &[(&str, &str)], input: &str) -> (i32, String) {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_reins"));
    command.args(args).env("REINS_DATA_DIR", data).env_remove("REINS_DEBUG");
    command.envs(env.iter().copied());
    if is_root() {
        command.env("REINS_NO_SANDBOX", "1");
    }
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // A command that reads nothing may have ended already.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let ran = child.wait_with_output().unwrap();
    let text = [ran.stdout, ran.stderr].concat();
    (ran.status.code().unwrap(), String::from_utf8(text).unwrap())
}

/// One running `reins mcp`.
pub struct Client {
    child: Child,
    stdin: ChildStdin,
    lines: Lines<BufReader<ChildStdout>>,
    next: u64,
    /// Answers to elicitations, in order; out of answers it declines.
    pub answers: Vec<Value>,
    /// The messages of elicitations seen.
    pub asked: Vec<String>,
}

/// What a tool call answered.
#[derive(Debug)]
pub struct Answer {
    pub text: String,
    pub failed: bool,
    pub facts: Value,
    pub raw: Value,
}

impl Client {
    /// Starts the program and shakes hands.
    pub async fn start(data: &Path, arguments: &[&str], capabilities: Value) -> Self {
        Self::named("test", data, arguments, capabilities).await
    }

    /// The same as a client of this name.
    pub async fn named(name: &str, data: &Path, arguments: &[&str], capabilities: Value) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_reins"));
        command.arg("mcp").arg("--headless").arg("--data-dir").arg(data).args(arguments);
        Self::begin(command, name, capabilities).await
    }

    /// As `start`, with a window on this X display.
    pub async fn in_window(data: &Path, display: &str, arguments: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_reins"));
        command.arg("mcp").arg("--data-dir").arg(data).args(arguments);
        command.env("DISPLAY", display).env_remove("WAYLAND_DISPLAY");
        Self::begin(command, "test", json!({})).await
    }

    async fn begin(mut command: Command, name: &str, capabilities: Value) -> Self {
        if is_root() {
            command.arg("--no-sandbox");
        }
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let stdin = child.stdin.take().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut client =
            Self { child, stdin, lines, next: 0, answers: Vec::new(), asked: Vec::new() };
        client
            .request(
                "initialize",
                json!({
                    "protocolVersion": "2025-06-18",
                    "capabilities": capabilities,
                    "clientInfo": {"name": name, "version": "1"},
                }),
            )
            .await;
        client.notify("notifications/initialized", json!({})).await;
        client
    }

    /// One request; answers elicitations that come meanwhile.
    pub async fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, params).await;
        self.answer_to(id).await.expect("the server ended")
    }

    /// Writes a request and returns its id.
    pub async fn send(&mut self, method: &str, params: Value) -> u64 {
        self.next += 1;
        let id = self.next;
        self.write(json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})).await;
        id
    }

    pub async fn notify(&mut self, method: &str, params: Value) {
        self.write(json!({"jsonrpc": "2.0", "method": method, "params": params})).await;
    }

    /// The answer to a request, or `None` if the server ended first.
    pub async fn answer_to(&mut self, id: u64) -> Option<Value> {
        while let Some(line) = self.lines.next_line().await.unwrap() {
            let message: Value = serde_json::from_str(&line).unwrap();
            if message["method"] == "elicitation/create" {
                self.asked.push(message["params"]["message"].as_str().unwrap().to_owned());
                let answer = if self.answers.is_empty() {
                    json!({"action": "decline"})
                } else {
                    self.answers.remove(0)
                };
                self.write(json!({"jsonrpc": "2.0", "id": message["id"], "result": answer})).await;
            } else if message["id"] == id {
                return Some(message);
            }
        }
        None
    }

    /// Calls a tool.
    pub async fn call(&mut self, name: &str, arguments: Value) -> Answer {
        let raw = self.request("tools/call", json!({"name": name, "arguments": arguments})).await;
        let result = &raw["result"];
        let texts = result["content"].as_array().into_iter().flatten();
        Answer {
            text: texts.filter_map(|c| c["text"].as_str()).collect::<Vec<_>>().join("\n"),
            failed: result["isError"] == true,
            facts: result["structuredContent"].clone(),
            raw,
        }
    }

    pub fn pid(&self) -> u32 {
        self.child.id().unwrap()
    }

    /// `kill -9`.
    pub async fn kill(mut self) {
        self.child.kill().await.unwrap();
    }

    /// Closes stdin and waits until the program ended by itself.
    pub async fn close(mut self) {
        drop(self.stdin);
        assert!(self.child.wait().await.unwrap().success());
    }

    async fn write(&mut self, message: Value) {
        let mut line = message.to_string();
        line.push('\n');
        self.stdin.write_all(line.as_bytes()).await.unwrap();
    }
}

/// The ref of the element with this role and name.
pub fn find_ref(text: &str, role: &str, name: &str) -> String {
    let wanted = format!("{role} \"{name}\"");
    let at = text.find(&wanted).unwrap_or_else(|| panic!("no {wanted} in:\n{text}"));
    let rest = &text[at..];
    let start = rest.find("[ref=").unwrap() + "[ref=".len();
    rest[start..].split(']').next().unwrap().to_owned()
}

/// Chromium's own sandbox refuses root.
pub fn is_root() -> bool {
    std::fs::metadata("/proc/self").is_ok_and(|me| me.uid() == 0)
}
