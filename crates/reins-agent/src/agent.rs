//! A run: ask the model, carry out its calls, until it answers.

use crate::conversation::Conversation;
use crate::event::AgentEvent;
use crate::limits;
use crate::prompt;
use crate::steps::{Batch, Steps};
use crate::toolbox::{AgentTool, Opening, Toolbox};
use futures_util::StreamExt;
use reins_core::{RunState, TurnEvent, TurnId, TurnSummary};
use reins_models::{
    Caching, ChatRequest, Cost, Message, Model, ModelError, ModelEvent, Notice, Part, Reasoning,
    Reply, ReplyBuilder, StopReason, ToolCall, ToolSpec, Usage,
};
use std::sync::Arc;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// Randomness that makes a small model try something else.
const STRAYING: f32 = 0.8;

/// How a run is carried out.
#[derive(Clone, Debug)]
pub struct AgentOptions {
    /// The turn that the steps belong to.
    pub turn: TurnId,
    /// Calls in one run.
    pub calls: u32,
    /// Randomness of the model; `None` is none for models on this machine and leaves it to the
    /// server otherwise.
    pub temperature: Option<f32>,
    /// The longest answer in tokens; `None` leaves it to the server.
    pub max_tokens: Option<u32>,
    /// How much the model thinks.
    pub reasoning: Reasoning,
    /// Further instructions of the person, after our own.
    pub instructions: Option<String>,
    /// Whether the model lists the steps before it begins, and is then told them one at a time
    /// (the compact form of W-230). `None` asks models on this machine only: large ones need no such
    /// help, and it costs a request.
    pub steps_first: Option<bool>,
}

impl Default for AgentOptions {
    fn default() -> Self {
        Self {
            turn: TurnId(0),
            calls: limits::CALLS_PER_TURN,
            temperature: None,
            max_tokens: None,
            reasoning: Reasoning::Own,
            instructions: None,
            steps_first: None,
        }
    }
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunEnd {
    /// The model answered, and at least one act worked if any was tried.
    Done {
        /// What it said.
        answer: String,
    },
    /// The person stopped it.
    Stopped,
    /// It used up its calls. Another message goes on from here.
    StepLimit,
    /// It could not go on, or nothing that it tried worked.
    Failed {
        /// A stable code: one of the model's errors, `no_step_worked`, `going_in_circles`,
        /// `no_answer` or `withheld`.
        code: &'static str,
        /// What happened and what to do next.
        message: String,
        /// What the model said, if it did. It may claim more than happened.
        answer: Option<String>,
    },
}

/// A run's end with its counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunReport {
    /// How it ended.
    pub end: RunEnd,
    /// Steps, confirmations and failures.
    pub summary: TurnSummary,
    /// Requests to the model.
    pub requests: u32,
    /// What they used.
    pub usage: Usage,
    /// What they cost, if every price is known.
    pub cost: Option<Cost>,
}

/// An agent with its conversation. Further runs continue it.
pub struct Agent<T> {
    model: Arc<dyn Model>,
    toolbox: T,
    tools: Vec<AgentTool>,
    options: AgentOptions,
    conversation: Conversation,
    requests: u32,
}

/// Sends events; nobody listening is no error.
#[derive(Clone, Copy)]
pub(crate) struct Watcher<'a>(&'a mpsc::Sender<AgentEvent>);

impl Watcher<'_> {
    pub(crate) async fn tell(&self, event: AgentEvent) {
        // The receiver may be gone; the run goes on all the same.
        let _ = self.0.send(event).await;
    }
}

/// Why the model gave no answer.
enum NoReply {
    Stopped,
    Failed(ModelError),
}

impl From<NoReply> for RunEnd {
    fn from(no_reply: NoReply) -> Self {
        match no_reply {
            NoReply::Stopped => Self::Stopped,
            NoReply::Failed(error) => {
                Self::Failed { code: error.code(), message: error.to_string(), answer: None }
            }
        }
    }
}

impl<T: Toolbox> Agent<T> {
    /// An agent with an empty conversation.
    pub fn new(model: Arc<dyn Model>, toolbox: T, options: AgentOptions) -> Self {
        let tools = toolbox.tools();
        Self { model, toolbox, tools, options, conversation: Conversation::default(), requests: 0 }
    }

    /// Carries out a task. `events` should be drained while it runs; `cancel` stops it.
    pub async fn run(
        &mut self,
        task: &str,
        opening: &Opening,
        events: &mpsc::Sender<AgentEvent>,
        cancel: &CancellationToken,
    ) -> RunReport {
        let watcher = Watcher(events);
        let turn = self.options.turn;
        let state = |state| AgentEvent::Turn(TurnEvent::State { turn, state });
        watcher.tell(state(RunState::Working)).await;
        let mut bill = Bill { cost: Some(Cost(0)), ..Bill::default() };
        let mut steps = Steps::new(turn, self.options.calls);
        let end = self.loop_until_end(task, opening, &mut steps, &mut bill, watcher, cancel).await;
        let summary = steps.summary();
        watcher.tell(AgentEvent::Turn(TurnEvent::Summary(summary))).await;
        let last = match &end {
            RunEnd::Done { .. } => RunState::Done,
            RunEnd::Stopped | RunEnd::StepLimit => RunState::Stopped,
            RunEnd::Failed { .. } => RunState::Error,
        };
        watcher.tell(state(last)).await;
        RunReport { end, summary, requests: bill.requests, usage: bill.usage, cost: bill.cost }
    }

    async fn loop_until_end(
        &mut self,
        task: &str,
        opening: &Opening,
        steps: &mut Steps,
        bill: &mut Bill,
        watcher: Watcher<'_>,
        cancel: &CancellationToken,
    ) -> RunEnd {
        let mut next = None;
        if self.lists_steps() {
            match self.ask_for_steps(task, bill, watcher, cancel).await {
                Ok(list) => {
                    next = steps.plan(&list);
                    if let Some(told) = steps.planned() {
                        watcher.tell(AgentEvent::Notice(told)).await;
                    }
                }
                Err(no_reply) => return no_reply.into(),
            }
        }
        let batch = Batch { toolbox: &self.toolbox, tools: &self.tools, watcher, cancel };
        let opened = steps.open(&batch, opening).await;
        if cancel.is_cancelled() {
            return RunEnd::Stopped;
        }
        let mut first = format!("Task: {task}");
        for line in &opened.texts {
            first.push_str("\n\n");
            first.push_str(line);
        }
        self.conversation.task(first, opened.page, next);
        let (mut empty, mut doubted) = (0, false);
        loop {
            let reply = match self.ask(steps.repeats(), bill, watcher, cancel).await {
                Ok(reply) => reply,
                Err(no_reply) => return no_reply.into(),
            };
            if reply.stop == Some(StopReason::Filtered) {
                return failed("withheld", "the provider withheld the model's answer", None);
            }
            let (text, calls) = (reply.text, reply.calls);
            if let Some(answer) = as_answer(&calls, &text, &self.tools) {
                self.conversation.assistant(answer.clone(), Vec::new(), Vec::new());
                return steps.judge(answer);
            }
            self.conversation.assistant(text.clone(), calls.clone(), reply.kept);
            if calls.is_empty() {
                let cut_off = reply.stop == Some(StopReason::Length);
                if text.trim().is_empty() || (cut_off && empty < limits::EMPTY_ANSWERS) {
                    empty += 1;
                    if empty > limits::EMPTY_ANSWERS {
                        return failed("no_answer", "the model gave no answer", None);
                    }
                    let remark = if cut_off { prompt::CUT_OFF } else { prompt::EMPTY };
                    self.conversation.remark(remark);
                    continue;
                }
                if let (false, Some((step, result))) = (doubted, steps.last_problem()) {
                    doubted = true;
                    self.conversation.remark(prompt::not_done(step, result));
                    watcher.tell(AgentEvent::TextVoid).await;
                    continue;
                }
                return steps.judge(text);
            }
            empty = 0;
            let batch = Batch { toolbox: &self.toolbox, tools: &self.tools, watcher, cancel };
            if let Some(end) = steps.carry_out(&batch, &calls, &mut self.conversation).await {
                return end;
            }
            if self.model.is_local() {
                self.conversation.forget_failures();
            }
        }
    }

    /// Whether the model is asked for its steps first (W-230).
    fn lists_steps(&self) -> bool {
        self.options.steps_first.unwrap_or_else(|| self.model.is_local())
    }

    /// One answer of the model. A conversation that is too long is shortened once.
    async fn ask(
        &mut self,
        straying: bool,
        bill: &mut Bill,
        watcher: Watcher<'_>,
        cancel: &CancellationToken,
    ) -> Result<Reply, NoReply> {
        loop {
            match self.ask_once(self.request(straying), true, bill, watcher, cancel).await {
                Err(NoReply::Failed(error @ ModelError::ContextTooLong { .. })) => {
                    if !self.conversation.shrink() {
                        return Err(NoReply::Failed(error));
                    }
                    let remark =
                        "the conversation was too long for the model; older parts are left out";
                    watcher.tell(AgentEvent::Notice(remark.to_owned())).await;
                }
                other => return other,
            }
        }
    }

    /// The model's list of steps. It is not shown as an answer.
    async fn ask_for_steps(
        &mut self,
        task: &str,
        bill: &mut Bill,
        watcher: Watcher<'_>,
        cancel: &CancellationToken,
    ) -> Result<String, NoReply> {
        let user = |text: &str| Message::User(vec![Part::Text(text.to_owned())]);
        let example = |(task, steps): &(&str, &str)| {
            let text = (*steps).to_owned();
            [user(task), Message::Assistant { text, calls: Vec::new(), kept: Vec::new() }]
        };
        let request = ChatRequest {
            system: prompt::LIST_STEPS.to_owned(),
            messages: prompt::LISTED.iter().flat_map(example).chain([user(task)]).collect(),
            tools: Vec::new(),
            temperature: self.temperature(false),
            max_tokens: Some(limits::LIST_TOKENS),
            caching: Caching::Conversation,
            reasoning: self.options.reasoning,
            ..ChatRequest::default()
        };
        Ok(self.ask_once(request, false, bill, watcher, cancel).await?.text)
    }

    /// A small model is at its best without randomness, but without it never leaves a circle.
    fn temperature(&self, straying: bool) -> Option<f32> {
        let local = if straying { STRAYING } else { 0.0 };
        self.options.temperature.or(self.model.is_local().then_some(local))
    }

    /// One request. What comes is shown while it comes if it is meant for the person.
    async fn ask_once(
        &mut self,
        request: ChatRequest,
        shown: bool,
        bill: &mut Bill,
        watcher: Watcher<'_>,
        cancel: &CancellationToken,
    ) -> Result<Reply, NoReply> {
        self.requests += 1;
        bill.requests += 1;
        let mut stream = self.model.stream(request);
        let mut builder = ReplyBuilder::default();
        loop {
            let item = tokio::select! {
                biased;
                () = cancel.cancelled() => return Err(NoReply::Stopped),
                item = stream.next() => item,
            };
            let event = match item {
                None => break,
                Some(Err(error)) => return Err(NoReply::Failed(error)),
                Some(Ok(event)) => event,
            };
            builder.push(&event);
            match event {
                ModelEvent::Text(text) if shown => watcher.tell(AgentEvent::Text(text)).await,
                ModelEvent::Reasoning(text) if shown => {
                    watcher.tell(AgentEvent::Reasoning(text)).await;
                }
                ModelEvent::Text(_) | ModelEvent::Reasoning(_) => {}
                ModelEvent::Notice(notice) => {
                    if shown && notice == Notice::Restarted {
                        watcher.tell(AgentEvent::TextVoid).await;
                    }
                    watcher.tell(AgentEvent::Notice(notice.sentence())).await;
                }
                ModelEvent::Usage(last) => {
                    bill.add(last, self.model.cost(&last));
                    let (total, cost) = (bill.usage, bill.cost);
                    watcher.tell(AgentEvent::Usage { last, total, cost }).await;
                }
                ModelEvent::Call { .. }
                | ModelEvent::Keep { .. }
                | ModelEvent::Odds(_)
                | ModelEvent::Stop(_) => {}
            }
        }
        let mut reply = builder.finish(&format!("call_{}", self.requests));
        // Some servers count calls from 0 in each answer.
        for (at, call) in reply.calls.iter_mut().enumerate() {
            if self.conversation.knows(&call.id) {
                call.id = format!("call_{}_{at}", self.requests);
            }
        }
        Ok(reply)
    }

    fn request(&self, straying: bool) -> ChatRequest {
        let mut system = prompt::SYSTEM.to_owned();
        if let Some(more) = &self.options.instructions {
            system.push_str("\n\n");
            system.push_str(more);
        }
        let tool = |tool: &AgentTool| ToolSpec {
            name: tool.name.clone(),
            description: tool.description.clone(),
            schema: tool.schema.clone(),
        };
        ChatRequest {
            system,
            messages: self.conversation.messages(),
            tools: self.tools.iter().map(tool).collect(),
            temperature: self.temperature(straying),
            max_tokens: self.options.max_tokens,
            caching: Caching::Conversation,
            reasoning: self.options.reasoning,
            ..ChatRequest::default()
        }
    }
}

/// What a run's requests used and cost.
#[derive(Debug, Default)]
struct Bill {
    requests: u32,
    usage: Usage,
    cost: Option<Cost>,
}

impl Bill {
    fn add(&mut self, usage: Usage, cost: Option<Cost>) {
        self.usage += usage;
        self.cost = match (self.cost, cost) {
            (Some(mut all), Some(cost)) => {
                all += cost;
                Some(all)
            }
            _ => None,
        };
    }
}

pub(crate) fn failed(code: &'static str, message: &str, answer: Option<String>) -> RunEnd {
    RunEnd::Failed { code, message: message.to_owned(), answer }
}

/// Some models end by calling a tool that they made up for it.
fn as_answer(calls: &[ToolCall], text: &str, tools: &[AgentTool]) -> Option<String> {
    const ENDS: [&str; 8] = [
        "done",
        "finish",
        "answer",
        "final_answer",
        "complete",
        "end",
        "terminate",
        "task_complete",
    ];
    let [call] = calls else {
        return None;
    };
    if !ENDS.contains(&call.name.as_str()) || tools.iter().any(|tool| tool.name == call.name) {
        return None;
    }
    let arguments: serde_json::Value = serde_json::from_str(&call.arguments).unwrap_or_default();
    let said = ["answer", "text", "summary", "message", "result", "reason"]
        .iter()
        .find_map(|key| arguments[*key].as_str());
    let answer = said.unwrap_or(text).trim();
    Some(if answer.is_empty() { "Done.".to_owned() } else { answer.to_owned() })
}
