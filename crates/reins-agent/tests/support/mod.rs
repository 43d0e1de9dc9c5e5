//! A scripted model server over real HTTP, and a box of tools in memory.

#![allow(unreachable_pub, dead_code, reason = "each test binary uses a part")]

pub mod journals;
pub mod scripted;

use reins_agent::{
    Agent, AgentEvent, AgentOptions, AgentTool, Commitment, Opening, PageView, RunEnd, RunReport,
    StepLabel, ToolReply, Toolbox,
};
use reins_core::{Outcome, Refusal, RunState, TurnEvent, Unknown, UnknownCause};
use reins_models::testing::{Answer, ModelServer};
use reins_models::{CUSTOM, Endpoint, Http, ModelClient, Timing};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::{Notify, mpsc};
use tokio_util::sync::CancellationToken;
/// What the box does at a call.
pub enum Act {
    Reply(ToolReply),
    /// Says nothing until it is dropped.
    Hang,
    /// Waits for the stop, then tells what became of it.
    UntilStopped(ToolReply),
    /// Waits until the test says so.
    UntilReleased(ToolReply),
}

/// Tools in memory: `click` and `type` act, `snapshot` reads.
#[derive(Clone, Default)]
pub struct Tools {
    pub script: Arc<Mutex<VecDeque<Act>>>,
    pub called: Arc<Mutex<Vec<String>>>,
    pub begun: Arc<Notify>,
    pub release: Arc<Notify>,
}

impl Tools {
    pub fn new(script: Vec<Act>) -> Self {
        Self { script: Arc::new(Mutex::new(script.into())), ..Self::default() }
    }

    pub fn replies(script: Vec<ToolReply>) -> Self {
        Self::new(script.into_iter().map(Act::Reply).collect())
    }

    pub fn called(&self) -> Vec<String> {
        self.called.lock().expect("calls").clone()
    }
}

impl Toolbox for Tools {
    fn tools(&self) -> Vec<AgentTool> {
        let reference = json!({"type": "object", "properties": {"ref": {"type": "string"}}, "required": ["ref"]});
        let typing = json!({"type": "object", "properties": {"ref": {"type": "string"}, "text": {"type": "string"}}, "required": ["ref", "text"]});
        [
            ("click", reference, true),
            ("type", typing, true),
            ("snapshot", json!({"type": "object"}), false),
        ]
        .map(|(name, schema, acts)| AgentTool {
            name: name.to_owned(),
            description: format!("Does {name}."),
            schema,
            acts,
        })
        .into()
    }

    fn label(&self, name: &str, arguments: &Value) -> StepLabel {
        let mut arguments = arguments.clone();
        if name == "type" {
            arguments["text"] = json!("[redacted]");
        }
        StepLabel { arguments: arguments.to_string(), element: Some("button \"Go\"".to_owned()) }
    }

    async fn call(&self, name: &str, arguments: Value, cancel: &CancellationToken) -> ToolReply {
        self.called.lock().expect("calls").push(format!("{name} {arguments}"));
        self.begun.notify_one();
        let act = self.script.lock().expect("script").pop_front();
        match act {
            Some(Act::Reply(reply)) => reply,
            Some(Act::Hang) => std::future::pending().await,
            Some(Act::UntilStopped(reply)) => {
                cancel.cancelled().await;
                reply
            }
            Some(Act::UntilReleased(reply)) => {
                self.release.notified().await;
                reply
            }
            None => ToolReply::text(format!("did {name} {arguments}")),
        }
    }
}

/// Tools whose `click` on `order` sends an order.
#[derive(Clone)]
pub struct Shop(pub Tools);

impl Toolbox for Shop {
    fn tools(&self) -> Vec<AgentTool> {
        self.0.tools()
    }

    async fn commitment(&self, name: &str, arguments: &Value) -> Option<Commitment> {
        (name == "click" && arguments["ref"] == "order").then(|| Commitment {
            target: "post https://shop.example/order".to_owned(),
            control: "button \"Order\"".to_owned(),
        })
    }

    async fn call(&self, name: &str, arguments: Value, cancel: &CancellationToken) -> ToolReply {
        self.0.call(name, arguments, cancel).await
    }
}

pub struct Ran {
    pub report: RunReport,
    pub events: Vec<AgentEvent>,
    pub server: ModelServer,
    pub tools: Tools,
}

impl Ran {
    /// The messages of the n-th request, as `role: text`.
    pub fn asked(&self, request: usize) -> Vec<String> {
        let body = &self.server.seen()[request].body;
        let messages = body["messages"].as_array().expect("messages");
        let text = |message: &Value| match &message["content"] {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        messages
            .iter()
            .map(|message| format!("{}: {}", message["role"].as_str().unwrap_or(""), text(message)))
            .collect()
    }

    /// The finished steps as `outcome word: result`.
    pub fn finished(&self) -> Vec<String> {
        let finished = self.events.iter().filter_map(|event| match event {
            AgentEvent::Turn(TurnEvent::StepFinished(finish)) => {
                Some(format!("{}: {}", finish.outcome.word(), finish.result))
            }
            _ => None,
        });
        finished.collect()
    }

    pub fn last_state(&self) -> RunState {
        let mut states = self.events.iter().filter_map(|event| match event {
            AgentEvent::Turn(TurnEvent::State { state, .. }) => Some(*state),
            _ => None,
        });
        states.next_back().expect("a state")
    }

    pub fn shown(&self) -> String {
        let text = |event: &AgentEvent| match event {
            AgentEvent::Text(text) => Some(text.clone()),
            _ => None,
        };
        self.events.iter().filter_map(text).collect()
    }

    pub fn answer(&self) -> &str {
        match &self.report.end {
            RunEnd::Done { answer } => answer,
            other => panic!("not done: {other:?}"),
        }
    }

    pub fn failure(&self) -> &'static str {
        match &self.report.end {
            RunEnd::Failed { code, .. } => code,
            other => panic!("not failed: {other:?}"),
        }
    }
}

pub async fn run(script: Vec<Answer>, tools: Tools) -> Ran {
    run_with(script, tools, Opening::default(), CancellationToken::new(), async |_, _| {}).await
}

/// Runs with something else going on beside it.
pub async fn run_with(
    script: Vec<Answer>,
    tools: Tools,
    opening: Opening,
    cancel: CancellationToken,
    beside: impl AsyncFnOnce(&ModelServer, &Tools),
) -> Ran {
    let options = AgentOptions { steps_first: Some(false), ..AgentOptions::default() };
    run_as(options, script, tools, opening, cancel, beside).await
}

/// Runs in another way than most.
pub async fn run_as(
    options: AgentOptions,
    script: Vec<Answer>,
    tools: Tools,
    opening: Opening,
    cancel: CancellationToken,
    beside: impl AsyncFnOnce(&ModelServer, &Tools),
) -> Ran {
    let server = ModelServer::start(script).await.expect("server");
    let endpoint = Endpoint::at(&CUSTOM, &server.base(), None).expect("endpoint");
    let timing = Timing { backoff: Duration::from_millis(1), ..Timing::default() };
    let model =
        ModelClient::new(&Http::new(None).expect("http"), endpoint, "m").with_timing(timing);
    let mut agent = Agent::new(Arc::new(model), tools.clone(), options);
    let (sender, mut receiver) = mpsc::channel(4);
    let collect = tokio::spawn(async move {
        let mut events = Vec::new();
        while let Some(event) = receiver.recv().await {
            events.push(event);
        }
        events
    });
    let (report, ()) =
        tokio::join!(agent.run("buy it", &opening, &sender, &cancel), beside(&server, &tools));
    drop(sender);
    Ran { report, events: collect.await.expect("events"), server, tools }
}

pub fn click(reference: &str) -> Answer {
    Answer::calls(&[("click", json!({"ref": reference}))])
}

pub fn declined() -> ToolReply {
    let refusal = Refusal::new("declined", "the user said no", "");
    ToolReply {
        outcome: Outcome::Refused(refusal),
        approved: Some(false),
        ..ToolReply::text("The user said no.")
    }
}

pub fn unknown() -> ToolReply {
    let cause = UnknownCause::Deadline;
    let unknown = Unknown { cause, message: "no answer in time".to_owned() };
    ToolReply { outcome: Outcome::Unknown(unknown), ..ToolReply::text("no answer in time") }
}

pub fn page(text: &str) -> Option<PageView> {
    Some(PageView {
        tab: "t".to_owned(),
        whole: true,
        text: format!("<page>{text}</page>"),
        state: text.to_owned(),
    })
}

/// A server with a model of the Chat format at it.
pub struct Served {
    pub server: ModelServer,
}

impl Served {
    pub fn model(&self) -> Arc<ModelClient> {
        let endpoint = Endpoint::at(&CUSTOM, &self.server.base(), None).expect("endpoint");
        Arc::new(ModelClient::new(&Http::new(None).expect("http"), endpoint, "m"))
    }

    /// The messages of the n-th request, as `role: text`.
    pub fn messages(&self, request: usize) -> Vec<String> {
        let body = &self.server.seen()[request].body;
        let text = |message: &Value| {
            format!("{}: {}", message["role"].as_str().unwrap_or(""), message["content"])
                .replace(": \"", ": ")
        };
        body["messages"].as_array().expect("messages").iter().map(text).collect()
    }
}

/// Two calls in one answer, then an answer.
pub async fn two_calls_then(answer: &str) -> Served {
    let calls = Answer::calls(&[("click", json!({"ref": "e1"})), ("click", json!({"ref": "e2"}))]);
    let server = ModelServer::start(vec![calls, Answer::text(answer)]).await.expect("server");
    Served { server }
}

/// An answer that never ends, then one that does.
pub async fn hanging_then(answer: &str) -> Served {
    let hanging = Answer::text("Red").cut_after(1, reins_models::testing::Piece::Hang);
    let server = ModelServer::start(vec![hanging, Answer::text(answer)]).await.expect("server");
    Served { server }
}
