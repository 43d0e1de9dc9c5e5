//! `reins run` as a door: the program's own loop, with a model server on loopback whose answers the script
//! chooses. With `--json` there is nobody to ask, so every card is a no.

use super::door::{Answer, Hands, Level, Session};
use super::fault::AttackFault;
use super::moves::Op;
use super::person::Person;
use super::site::Stage;
use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::process::{Child, Command};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

/// One running `reins run`, and the model that it asks.
#[derive(Debug)]
pub(crate) struct Run {
    child: Child,
    asked: mpsc::Receiver<Asked>,
    /// The question that waits for the model's next word.
    open: Option<Asked>,
    server: JoinHandle<()>,
    person: Person,
}

/// What the model was shown since its last word, and where its next one goes.
#[derive(Debug)]
struct Asked {
    shown: String,
    answer: oneshot::Sender<Word>,
}

/// The model's next word.
#[derive(Debug)]
enum Word {
    Call(&'static str, Value),
    Done,
}

/// Between two words of the model a call passes, with its waits.
const CALL: Duration = Duration::from_secs(60);

/// More calls than any case has.
const STEPS: &str = "80";

impl Run {
    /// Starts the program with the person's words. It may open the addresses that these hold.
    pub(crate) async fn start(
        program: &Path,
        data: &Path,
        level: Level,
        stage: &Stage,
        more: &[String],
    ) -> Result<Self, AttackFault> {
        let listener = TcpListener::bind("127.0.0.1:0").await.map_err(AttackFault::Port)?;
        let port = listener.local_addr().map_err(AttackFault::Port)?.port();
        let (sender, asked) = mpsc::channel(1);
        let router = Router::new().fallback(model).with_state(sender);
        // It ends with the value; a server that fails shows as a run that never asks.
        let server = tokio::spawn(async move { drop(axum::serve(listener, router).await) });
        let mut words = stage.played.task.clone();
        for op in &stage.played.steps {
            if let Op::Open { url } | Op::Tab { url } = op {
                words.push_str(&format!(" {url}"));
            }
        }
        let mut command = Command::new(program);
        command.args(["run", &words, "--json", "--headless", "--level", level.name()]);
        command.args(["--model", "script", "--steps", STEPS, "--data-dir"]).arg(data);
        command.args(["--base-url", &format!("http://127.0.0.1:{port}/v1")]);
        for site in &stage.sites {
            command.args(["--site", site]);
        }
        command.args(more);
        if super::mcp::is_root() {
            command.arg("--no-sandbox");
        }
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true);
        let child = command.spawn().map_err(|_| AttackFault::Program("did not start"))?;
        let person = Person::default();
        let mut run = Self { child, asked, open: None, server, person };
        run.open = Some(run.question().await?);
        Ok(run)
    }

    /// The next question to the model.
    async fn question(&mut self) -> Result<Asked, AttackFault> {
        let ended = AttackFault::Program("ended in mid call");
        let asked = async {
            tokio::select! {
                biased;
                asked = self.asked.recv() => asked.ok_or(ended),
                _ = self.child.wait() => Err(AttackFault::Program("ended in mid call")),
            }
        };
        match tokio::time::timeout(CALL, asked).await {
            Ok(asked) => asked,
            Err(_) => Err(AttackFault::Program("did not answer")),
        }
    }

    /// The model has done its task, however often it is asked; the program ends by itself.
    pub(crate) async fn close(mut self) {
        let ended = async {
            let mut open = self.open.take();
            loop {
                if let Some(asked) = open.take() {
                    // A question that nobody waits for any more needs no answer.
                    drop(asked.answer.send(Word::Done));
                }
                tokio::select! {
                    asked = self.asked.recv() => open = asked,
                    _ = self.child.wait() => break,
                }
            }
        };
        // One that hangs is killed with its value.
        drop(tokio::time::timeout(CALL, ended).await);
        self.server.abort();
    }
}

impl Hands for Run {
    fn person(&mut self) -> &mut Person {
        &mut self.person
    }

    async fn call(
        &mut self,
        _: &str,
        tool: &'static str,
        arguments: Value,
    ) -> Result<Answer, AttackFault> {
        let asked = match self.open.take() {
            Some(asked) => asked,
            None => self.question().await?,
        };
        drop(asked.answer.send(Word::Call(tool, arguments)));
        let next = self.question().await?;
        let text = next.shown.clone();
        self.open = Some(next);
        Ok(Answer { text, facts: Value::Null })
    }
}

impl Session {
    /// Refusals show only in words here.
    pub(crate) fn note_words(&mut self) {
        if self.shown.iter().any(|text| text.contains(NOBODY)) {
            self.notes.push("run: needs_confirmation".to_owned());
        }
    }
}

/// What the program says of a card that nobody could answer.
const NOBODY: &str = "refused (needs_confirmation)";

/// The model server. What has no tools is the safety check, which says yes to everything here.
async fn model(State(sender): State<mpsc::Sender<Asked>>, body: Bytes) -> Response {
    let Ok(request) = serde_json::from_slice::<Value>(&body) else {
        return ([(header::CONTENT_TYPE, "application/json")], r#"{"data":[{"id":"script"}]}"#)
            .into_response();
    };
    if request["tools"].as_array().is_none_or(Vec::is_empty) {
        return stream(&json!({"content": "allow"}), "stop");
    }
    let (answer, word) = oneshot::channel();
    let asked = Asked { shown: shown(&request), answer };
    let sent = sender.send(asked).await;
    match (sent, word.await) {
        (Ok(()), Ok(Word::Call(tool, arguments))) => {
            let function = json!({"name": tool, "arguments": arguments.to_string()});
            let call = json!({"index": 0, "id": "call", "type": "function", "function": function});
            stream(&json!({"tool_calls": [call]}), "tool_calls")
        }
        _ => stream(&json!({"content": "Done."}), "stop"),
    }
}

/// What the request holds after the model's own last word.
fn shown(request: &Value) -> String {
    let mut texts = Vec::new();
    for message in request["messages"].as_array().into_iter().flatten().rev() {
        if message["role"] == "assistant" {
            break;
        }
        match &message["content"] {
            Value::String(text) => texts.push(text.clone()),
            Value::Array(parts) => {
                texts.extend(
                    parts.iter().filter_map(|part| part["text"].as_str()).map(str::to_owned),
                );
            }
            _ => {}
        }
    }
    texts.reverse();
    texts.join("\n")
}

fn stream(delta: &Value, finish: &str) -> Response {
    let events = [
        json!({"choices": [{"index": 0, "delta": delta, "finish_reason": null}]}),
        json!({"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]}),
    ];
    let mut body: String = events.iter().map(|event| format!("data: {event}\n\n")).collect();
    body.push_str("data: [DONE]\n\n");
    ([(header::CONTENT_TYPE, "text/event-stream")], body).into_response()
}
