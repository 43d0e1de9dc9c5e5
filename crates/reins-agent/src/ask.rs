//! Asking the model: one request at a time, until it answers, the person says something, or it cannot.

use crate::agent::{Agent, Run};
use crate::attached;
use crate::event::{AgentEvent, Shortening};
use crate::journal::JournalEvent;
use crate::limits::{KEPT_IN_NEED, KEPT_VERBATIM, LIST_TOKENS, NOTE_TOKENS, SO_FAR_TOKENS};
use crate::prompt;
use crate::report::RunEnd;
use crate::toolbox::{AgentTool, Toolbox};
use crate::window::Weight;
use futures_util::StreamExt;
use reins_models::{
    Caching, ChatRequest, Cost, Message, ModelError, ModelEvent, Notice, Part, Purpose, Reply,
    ReplyBuilder, ToolSpec, Usage,
};

/// Randomness that makes a small model try something else.
const STRAYING: f32 = 0.8;

/// Steps that are told when the model gives no word on what is done.
const LAST_STEPS: usize = 8;

/// Why the model gave no answer.
pub(crate) enum NoReply {
    Stopped,
    /// The person said something meanwhile; that comes first (W-077).
    Corrected,
    Failed(ModelError),
}

/// What a run's requests used and cost.
#[derive(Debug)]
pub(crate) struct Bill {
    pub(crate) requests: u32,
    pub(crate) usage: Usage,
    pub(crate) cost: Option<Cost>,
}

impl Default for Bill {
    fn default() -> Self {
        Self { requests: 0, usage: Usage::default(), cost: Some(Cost(0)) }
    }
}

impl Bill {
    pub(crate) fn add(&mut self, usage: Usage, cost: Option<Cost>) {
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

impl<T: Toolbox> Agent<T> {
    /// The model's next answer; `None` if the person said something first. A conversation that the
    /// server refuses as too long is trimmed as far as it goes (W-702).
    pub(crate) async fn ask(&mut self, run: &mut Run<'_>) -> Result<Option<Reply>, RunEnd> {
        loop {
            let weight = self.weight();
            let request = self.request(run.steps.repeats());
            match self.ask_once(run, request, true).await {
                Ok(reply) => {
                    if let Some(usage) = reply.usage {
                        self.window.learn(weight, usage.input);
                    }
                    return Ok(Some(reply));
                }
                Err(NoReply::Corrected) => return Ok(None),
                Err(NoReply::Stopped) => return Err(RunEnd::Stopped),
                Err(NoReply::Failed(error @ ModelError::ContextTooLong { .. })) => {
                    self.window.refused(weight);
                    if !self.trim(run).await? {
                        run.model_failed = true;
                        return Err(self.failure(&error));
                    }
                }
                Err(NoReply::Failed(error)) => {
                    run.model_failed = true;
                    return Err(self.failure(&error));
                }
            }
        }
    }

    fn failure(&self, error: &ModelError) -> RunEnd {
        let answer = match error {
            ModelError::AllowanceUsedUp { .. } | ModelError::NoPrice { .. } => {
                Some(self.conversation.last_steps(LAST_STEPS)).filter(|steps| !steps.is_empty())
            }
            _ => None,
        };
        RunEnd::Failed { code: error.code(), message: error.to_string(), answer }
    }

    /// The model's list of steps (W-230); `None` if the person said something first. It is not shown as
    /// an answer.
    pub(crate) async fn ask_for_steps(
        &mut self,
        run: &mut Run<'_>,
        task: &str,
    ) -> Result<Option<String>, RunEnd> {
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
            max_tokens: Some(LIST_TOKENS),
            caching: Caching::Conversation,
            reasoning: self.options.reasoning,
            purpose: Purpose::StepList,
            ..ChatRequest::default()
        };
        match self.ask_once(run, request, false).await {
            Ok(reply) => Ok(Some(reply.text)),
            Err(NoReply::Corrected) => Ok(None),
            Err(NoReply::Stopped) => Err(RunEnd::Stopped),
            Err(NoReply::Failed(error)) => Err(self.failure(&error)),
        }
    }

    /// The model's word on a question of the loop, after the conversation as it is: the beginning is the
    /// same, so a provider's cache has it. `None` if it gives none.
    async fn ask_aside(
        &mut self,
        run: &mut Run<'_>,
        question: &str,
        tokens: u32,
        purpose: Purpose,
    ) -> Result<Option<String>, RunEnd> {
        let mut request = self.request(false);
        request.messages.push(Message::user(question));
        request.max_tokens = Some(tokens);
        request.purpose = purpose;
        match self.ask_once(run, request, false).await {
            Ok(reply) => Ok(Some(reply.text).filter(|text| !text.trim().is_empty())),
            Err(NoReply::Stopped) => Err(RunEnd::Stopped),
            Err(NoReply::Corrected) => Ok(None),
            Err(NoReply::Failed(error)) => {
                tracing::info!(%error, "no answer to a question of the loop");
                Ok(None)
            }
        }
    }

    /// What is done and what is not, when the calls are used up (W-271).
    pub(crate) async fn so_far(&mut self, run: &mut Run<'_>) -> String {
        match self.ask_aside(run, prompt::SO_FAR, SO_FAR_TOKENS, Purpose::SoFar).await {
            Ok(Some(text)) => text.trim().to_owned(),
            _ => format!("The last steps:\n{}", self.conversation.last_steps(LAST_STEPS)),
        }
    }

    /// Before each request: the conversation is shortened if it is due (W-700).
    pub(crate) async fn keep_within_window(&mut self, run: &mut Run<'_>) -> Result<(), RunEnd> {
        if self.conversation.prune_pictures() {
            run.watcher.tell(AgentEvent::Shortened(Shortening::Pictures)).await;
        }
        let full = self.window.is_full(self.weight());
        if self.conversation.drop_old_pages(full) {
            run.watcher.tell(AgentEvent::Shortened(Shortening::OldPages)).await;
        }
        if !self.window.is_full(self.weight()) {
            return Ok(());
        }
        let before = self.weight();
        let mut note = None;
        // Small models leave notes that mislead them.
        if !self.model.is_local() && self.conversation.has_older(KEPT_IN_NEED) {
            note = self.ask_aside(run, prompt::TAKE_NOTES, NOTE_TOKENS, Purpose::Notes).await?;
        }
        let mut kept = KEPT_VERBATIM;
        loop {
            self.sum_up(run, kept, note.as_deref()).await?;
            if self.window.is_roomy(self.weight()) || kept <= KEPT_IN_NEED {
                break;
            }
            kept = (kept * 2 / 3).max(KEPT_IN_NEED);
        }
        if self.window.is_full(self.weight()) {
            self.conversation.keep_newest_page_only();
        }
        if self.window.is_full(self.weight()) {
            self.conversation.cut(self.window.cut());
        }
        if self.weight() != before {
            run.watcher.tell(AgentEvent::Shortened(Shortening::Summary)).await;
        }
        Ok(())
    }

    async fn sum_up(
        &mut self,
        run: &Run<'_>,
        kept: usize,
        note: Option<&str>,
    ) -> Result<bool, RunEnd> {
        let pinned = self.toolbox.pinned();
        let note = [note, pinned.as_deref()].into_iter().flatten().collect::<Vec<_>>().join("\n");
        let note = Some(note.as_str()).filter(|note| !note.is_empty());
        let summary = self.conversation.summary(kept, note);
        if !self.conversation.compact(kept, &summary) {
            return Ok(false);
        }
        run.recorder.write(|| JournalEvent::Compaction { summary, kept }).await?;
        Ok(true)
    }

    /// Trims a conversation that the server refused; false if it already was as short as can be.
    async fn trim(&mut self, run: &Run<'_>) -> Result<bool, RunEnd> {
        let before = self.conversation.size() + self.conversation.pictures();
        self.sum_up(run, KEPT_IN_NEED, None).await?;
        self.conversation.keep_newest_page_only();
        if self.window.is_full(self.weight()) {
            self.conversation.cut(self.window.cut());
        }
        if self.conversation.size() + self.conversation.pictures() >= before {
            return Ok(false);
        }
        let remark = "the conversation was too long for the model; older parts are left out";
        run.watcher.tell(AgentEvent::Notice(remark.to_owned())).await;
        run.watcher.tell(AgentEvent::Shortened(Shortening::Emergency)).await;
        Ok(true)
    }

    pub(crate) fn weight(&self) -> Weight {
        Weight {
            messages: self.conversation.len(),
            bytes: self.conversation.size(),
            fixed: self.fixed,
            pictures: self.conversation.pictures(),
        }
    }

    /// A small model is at its best without randomness, but without it never leaves a circle.
    fn temperature(&self, straying: bool) -> Option<f32> {
        let local = if straying { STRAYING } else { 0.0 };
        self.options.temperature.or(self.model.is_local().then_some(local))
    }

    /// One request. What comes is shown while it comes if it is meant for the person.
    pub(crate) async fn ask_once(
        &mut self,
        run: &mut Run<'_>,
        request: ChatRequest,
        shown: bool,
    ) -> Result<Reply, NoReply> {
        self.requests += 1;
        run.bill.requests += 1;
        let inbox = self.inbox.clone();
        let mut stream = self.model.stream(request);
        let mut builder = ReplyBuilder::default();
        let mut told = false;
        loop {
            let item = tokio::select! {
                biased;
                () = run.cancel.cancelled() => return Err(NoReply::Stopped),
                () = inbox.corrected() => {
                    if told {
                        run.watcher.tell(AgentEvent::TextVoid).await;
                    }
                    return Err(NoReply::Corrected);
                }
                item = stream.next() => item,
            };
            let event = match item {
                None => break,
                Some(Err(error)) => return Err(NoReply::Failed(error)),
                Some(Ok(event)) => event,
            };
            builder.push(&event);
            match event {
                ModelEvent::Text(text) if shown => {
                    told = true;
                    run.watcher.tell(AgentEvent::Text(text)).await;
                }
                ModelEvent::Reasoning(text) if shown => {
                    run.watcher.tell(AgentEvent::Reasoning(text)).await;
                }
                ModelEvent::Text(_) | ModelEvent::Reasoning(_) => {}
                ModelEvent::Notice(notice) => {
                    if shown && notice == Notice::Restarted {
                        run.watcher.tell(AgentEvent::TextVoid).await;
                    }
                    run.watcher.tell(AgentEvent::Notice(notice.sentence())).await;
                }
                ModelEvent::Usage(last) => {
                    run.bill.add(last, self.model.cost(&last));
                    let (total, cost) = (run.bill.usage, run.bill.cost);
                    run.watcher.tell(AgentEvent::Usage { last, total, cost }).await;
                }
                ModelEvent::Call { .. }
                | ModelEvent::Keep { .. }
                | ModelEvent::Odds(_)
                | ModelEvent::Stop(_) => {}
            }
        }
        let mut reply = builder.finish(&format!("call_{}", self.requests));
        // Some servers count calls from 0 in each answer, and ours may stem from before a restart.
        for (at, call) in reply.calls.iter_mut().enumerate() {
            let mut tried = 0;
            while self.conversation.knows(&call.id) {
                call.id = format!("call_{}_{at}_{tried}", self.requests);
                tried += 1;
            }
        }
        Ok(reply)
    }

    fn request(&self, straying: bool) -> ChatRequest {
        ChatRequest {
            system: self.system.clone(),
            messages: attached::before(&self.options.attached, self.conversation.messages()),
            tools: self.specs.clone(),
            temperature: self.temperature(straying),
            max_tokens: self.options.max_tokens,
            caching: Caching::Conversation,
            reasoning: self.options.reasoning,
            ..ChatRequest::default()
        }
    }
}

/// The instructions, with the person's own after ours. The same for the whole conversation.
pub(crate) fn system(more: Option<&str>) -> String {
    let mut system = prompt::SYSTEM.to_owned();
    if let Some(more) = more {
        system.push_str("\n\n");
        system.push_str(more);
    }
    system
}

/// The tools as a request has them. The same for the whole conversation.
pub(crate) fn specs(tools: &[AgentTool]) -> Vec<ToolSpec> {
    let spec = |tool: &AgentTool| ToolSpec {
        name: tool.name.clone(),
        description: tool.description.clone(),
        schema: tool.schema.clone(),
    };
    tools.iter().map(spec).collect()
}

/// What instructions and tools weigh in bytes.
pub(crate) fn fixed(system: &str, specs: &[ToolSpec]) -> usize {
    let tool =
        |spec: &ToolSpec| spec.name.len() + spec.description.len() + spec.schema.to_string().len();
    system.len() + specs.iter().map(tool).sum::<usize>()
}
