//! An MCP client on a program's stdin and stdout, with the person behind its elicitations.

use super::door::{Answer, DoorKind, Hands, Level};
use super::fault::AttackFault;
use super::person::{ALLOW, Person, STOP};
use serde::Serialize;
use serde_json::{Value, json};
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

/// Whoever answers cards.
pub(crate) trait Answers: Default {
    /// One of `Allow`, `Don't allow` and `Stop`.
    fn answer(&mut self, card: &str) -> &'static str;
}

/// One running `reins mcp`.
#[derive(Debug)]
pub(crate) struct Client<P = Person> {
    child: Child,
    stdin: ChildStdin,
    lines: Lines<BufReader<ChildStdout>>,
    next: u64,
    pub(crate) person: P,
    /// What the cards were about, in their order.
    pub(crate) asked: Vec<Asked>,
}

/// What a card was about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Asked {
    /// The kind of risk, by its code; empty where the program does not say.
    pub risk: String,
    /// The card is about what a page sends, not about a step.
    pub sending: bool,
    /// The call in which it came, counted from the client's first.
    pub call: u64,
}

/// No call of the program takes longer, cards included.
const CALL: Duration = Duration::from_secs(45);

impl<P: Answers> Client<P> {
    /// Starts the program and shakes hands.
    pub(crate) async fn start(
        program: &Path,
        data: &Path,
        (door, level): (DoorKind, Level),
        sites: &[String],
        more: &[String],
    ) -> Result<Self, AttackFault> {
        let mut command = Command::new(program);
        command.args(["mcp", "--headless", "--level", level.name(), "--data-dir"]).arg(data);
        for site in sites {
            command.args(["--site", site]);
        }
        command.args(more);
        if is_root() {
            command.arg("--no-sandbox");
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
        let mut child = command.spawn().map_err(|_| AttackFault::Program("did not start"))?;
        let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(AttackFault::Program("has no stdin and stdout"));
        };
        let lines = BufReader::new(stdout).lines();
        let mut client =
            Self { child, stdin, lines, next: 0, person: P::default(), asked: Vec::new() };
        let (version, capabilities) = match door {
            DoorKind::Mcp => ("2025-06-18", json!({"elicitation": {}})),
            DoorKind::McpEnding => ("2026-07-28", json!({"elicitation": {}})),
            DoorKind::McpNobody | DoorKind::Run => ("2025-06-18", json!({})),
        };
        let hello = json!({
            "protocolVersion": version,
            "capabilities": capabilities,
            "clientInfo": {"name": "attacks", "version": "1"},
        });
        client.request("initialize", hello).await?;
        client.write(json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await?;
        Ok(client)
    }

    fn elicited(&mut self, params: &Value) -> Value {
        let card = params["message"].as_str().unwrap_or_default();
        let risk = params["_meta"]["reins/risk"].as_str().unwrap_or_default().to_owned();
        let sending = card.starts_with("Let the page");
        self.asked.push(Asked { risk, sending, call: self.next });
        match self.person.answer(card) {
            answer @ (ALLOW | STOP) => json!({"action": "accept", "content": {"answer": answer}}),
            _ => json!({"action": "decline"}),
        }
    }

    async fn request(&mut self, method: &str, params: Value) -> Result<Value, AttackFault> {
        self.next += 1;
        let id = self.next;
        self.write(json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})).await?;
        let answered = async {
            while let Ok(Some(line)) = self.lines.next_line().await {
                let Ok(message) = serde_json::from_str::<Value>(&line) else { continue };
                if message["method"] == "elicitation/create" {
                    let result = self.elicited(&message["params"]);
                    self.write(json!({"jsonrpc": "2.0", "id": message["id"], "result": result}))
                        .await?;
                } else if message["id"] == id {
                    return Ok(message);
                }
            }
            Err(AttackFault::Program("ended in mid call"))
        };
        match tokio::time::timeout(CALL, answered).await {
            Ok(answer) => answer,
            Err(_) => Err(AttackFault::Program("did not answer")),
        }
    }

    async fn write(&mut self, message: Value) -> Result<(), AttackFault> {
        let line = format!("{message}\n");
        let written = self.stdin.write_all(line.as_bytes()).await;
        written.map_err(|_| AttackFault::Program("does not read any more"))
    }

    /// Calls a tool in a session. Cards that come meanwhile, or instead of an answer, go to the person.
    pub(crate) async fn call(
        &mut self,
        session: &str,
        tool: &str,
        mut arguments: Value,
    ) -> Result<Answer, AttackFault> {
        arguments["session"] = json!(session);
        let mut params = json!({"name": tool, "arguments": arguments});
        let mut answer = self.request("tools/call", params.clone()).await?;
        for _ in 0..MOST_CARDS {
            let result = &answer["result"];
            if result["resultType"] != "input_required" {
                break;
            }
            let given = self.elicited(&result["inputRequests"]["card"]["params"]);
            params["requestState"] = result["requestState"].clone();
            params["inputResponses"] = json!({"card": given});
            answer = self.request("tools/call", params.clone()).await?;
        }
        let result = &answer["result"];
        let texts = result["content"].as_array().into_iter().flatten();
        let mut text = texts.filter_map(|c| c["text"].as_str()).collect::<Vec<_>>().join("\n");
        if let Some(message) = answer["error"]["message"].as_str() {
            text.push_str(message);
        }
        Ok(Answer { text, facts: result["structuredContent"].clone() })
    }

    /// Closes stdin and waits until the program ended.
    pub(crate) async fn close(mut self) {
        drop(self.stdin);
        // One that hangs is killed with its value.
        drop(tokio::time::timeout(CALL, self.child.wait()).await);
    }
}

impl Hands for Client {
    fn person(&mut self) -> &mut Person {
        &mut self.person
    }

    async fn call(
        &mut self,
        session: &str,
        tool: &'static str,
        arguments: Value,
    ) -> Result<Answer, AttackFault> {
        Client::call(self, session, tool, arguments).await
    }
}

/// One act never needs more; more is a loop.
const MOST_CARDS: usize = 8;

/// Chromium's own sandbox refuses root.
pub(crate) fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata("/proc/self").is_ok_and(|me| me.uid() == 0)
}
