//! A run: ask the model, carry out its calls, until it answers.
//!
//! The loop has four places where something else may have a say: before the first request, at the safe
//! point before each request, before a step (`Steps::permit`), and at the answer.

use crate::ask::{self, Bill};
use crate::attached;
use crate::authority::TaskAuthority;
use crate::conversation::Conversation;
use crate::desk::Desk;
use crate::event::{AgentEvent, Watcher};
use crate::ids::RunId;
use crate::inbox::Inbox;
use crate::journal::{Journal, JournalEvent};
use crate::limits;
use crate::mind::{Mind, MindOptions};
use crate::mode::Route;
use crate::prompt;
use crate::recorder::Recorder;
use crate::report::{RunEnd, RunReport, as_answer, failed};
use crate::resume::CutOff;
use crate::steps::Steps;
use crate::toolbox::{AgentTool, Opening, Toolbox};
use crate::window::Window;
use reins_core::{RunState, TurnEvent, TurnId};
use reins_models::{Model, Part, Reasoning, Reply, StopReason, ToolSpec};
use std::sync::Arc;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// How a run is carried out.
#[derive(Clone, Debug)]
pub struct AgentOptions {
    /// The turn that the steps belong to.
    pub turn: TurnId,
    /// Calls in one run. The person can allow more while it goes on.
    pub calls: u32,
    /// Randomness of the model; `None` is none for models on this machine and leaves it to the
    /// server otherwise.
    pub temperature: Option<f32>,
    /// The longest answer in tokens; `None` leaves it to the server.
    pub max_tokens: Option<u32>,
    /// How much the model thinks.
    pub reasoning: Reasoning,
    /// What the person gave with the task: texts and pictures that stay in the conversation.
    pub attached: Vec<Part>,
    /// Further instructions of the person, after our own.
    pub instructions: Option<String>,
    /// Whether the model lists the steps before it begins, and is then told them one at a time
    /// (the compact form of W-230). `None` asks models on this machine only: large ones need no such
    /// help, and it costs a request.
    pub steps_first: Option<bool>,
    /// The model's window in tokens (W-700). `None` is a usual one: [`limits::WINDOW_LOCAL`] or
    /// [`limits::WINDOW_CLOUD`].
    pub window: Option<u64>,
}

impl Default for AgentOptions {
    fn default() -> Self {
        Self {
            turn: TurnId(0),
            calls: limits::CALLS_PER_TURN,
            temperature: None,
            max_tokens: None,
            reasoning: Reasoning::Own,
            attached: Vec::new(),
            instructions: None,
            steps_first: None,
            window: None,
        }
    }
}

/// An agent with its conversation. Further runs continue it.
pub struct Agent<T> {
    pub(crate) model: Arc<dyn Model>,
    pub(crate) toolbox: Desk<T>,
    pub(crate) mind: Mind,
    pub(crate) tools: Vec<AgentTool>,
    pub(crate) options: AgentOptions,
    pub(crate) conversation: Conversation,
    pub(crate) requests: u32,
    /// Instructions and tools as each request has them, and their weight.
    pub(crate) system: String,
    pub(crate) specs: Vec<ToolSpec>,
    pub(crate) fixed: usize,
    pub(crate) window: Window,
    pub(crate) recorder: Recorder,
    pub(crate) inbox: Inbox,
    pub(crate) last_run: RunId,
    /// A run of an earlier process that did not end.
    pub(crate) cut_off: Option<CutOff>,
}

/// One run while it goes on.
pub(crate) struct Run<'a> {
    pub(crate) task: TaskAuthority,
    pub(crate) steps: Steps,
    pub(crate) bill: Bill,
    pub(crate) watcher: Watcher<'a>,
    pub(crate) cancel: &'a CancellationToken,
    pub(crate) recorder: Recorder,
    /// Empty answers in a row.
    empty: u32,
    /// Whether an end right after a failed step was doubted.
    doubted: bool,
    /// Whether an answer that says more than was seen was sent back.
    pub(crate) sent_back: bool,
    /// Whether it ends because the model failed.
    pub(crate) model_failed: bool,
}

impl<T: Toolbox> Agent<T> {
    /// An agent with an empty conversation.
    pub fn new(model: Arc<dyn Model>, toolbox: T, options: AgentOptions) -> Self {
        let toolbox = Desk::new(toolbox);
        let tools = toolbox.tools();
        let (system, specs) = (ask::system(options.instructions.as_deref()), ask::specs(&tools));
        let local = model.is_local();
        let usual = if local { limits::WINDOW_LOCAL } else { limits::WINDOW_CLOUD };
        Self {
            window: Window::new(options.window.unwrap_or(usual)),
            // A small model does better if old pages go at once; elsewhere a steady beginning is cheap.
            conversation: if local { Conversation::default() } else { Conversation::steady() },
            fixed: ask::fixed(&system, &specs) + attached::weight(&options.attached),
            recorder: Recorder::default(),
            inbox: Inbox::new(Recorder::default()),
            last_run: RunId(0),
            requests: 0,
            cut_off: None,
            mind: Mind::new(MindOptions::default(), model.clone()),
            model,
            toolbox,
            tools,
            options,
            system,
            specs,
        }
    }

    /// The same with a journal, which everything is written into from here on.
    #[must_use]
    pub fn with_journal(mut self, journal: Arc<dyn Journal>) -> Self {
        self.recorder = Recorder::new(journal);
        self.inbox = Inbox::new(self.recorder.clone());
        self
    }

    /// The same with a mind: modes, plans and judged answers.
    #[must_use]
    pub fn with_mind(mut self, options: MindOptions) -> Self {
        self.mind = Mind::new(options, self.model.clone());
        let (questions, person) = (self.mind.questions(), self.mind.person());
        self.toolbox.connect(questions, person, self.mind.reads());
        self
    }

    /// Where the person puts what they say while a run goes on.
    pub fn inbox(&self) -> Inbox {
        self.inbox.clone()
    }

    /// The turn that further runs belong to.
    pub fn set_turn(&mut self, turn: TurnId) {
        self.options.turn = turn;
    }

    /// Carries out a task. `events` should be drained while it runs; `cancel` stops it.
    pub async fn run(
        &mut self,
        task: &str,
        opening: &Opening,
        events: &mpsc::Sender<AgentEvent>,
        cancel: &CancellationToken,
    ) -> RunReport {
        self.last_run = RunId(self.last_run.0 + 1);
        let authority = TaskAuthority::new(self.last_run, task);
        let mut run = self.begin(authority, events, cancel).await;
        let end = self.start_out(&mut run, opening).await;
        self.end(run, end).await
    }

    /// Gets a run going.
    pub(crate) async fn begin<'a>(
        &self,
        task: TaskAuthority,
        events: &'a mpsc::Sender<AgentEvent>,
        cancel: &'a CancellationToken,
    ) -> Run<'a> {
        let (watcher, turn) = (Watcher(events), self.options.turn);
        self.inbox.begin(task.run);
        let state = RunState::Working;
        watcher.tell(AgentEvent::Turn(TurnEvent::State { turn, state })).await;
        Run {
            steps: Steps::new(turn, self.options.calls),
            bill: Bill::default(),
            recorder: self.recorder.clone(),
            empty: 0,
            doubted: false,
            sent_back: false,
            model_failed: false,
            task,
            watcher,
            cancel,
        }
    }

    /// Before the first request: the person's words, the steps that a small model lists (W-230), the
    /// page that is open.
    async fn start_out(&mut self, run: &mut Run<'_>, opening: &Opening) -> Result<RunEnd, RunEnd> {
        if let Err(error) = self.give_up().await {
            return Err(failed(error.code(), &error.to_string(), None));
        }
        let (id, task) = (run.task.run, run.task.request().to_owned());
        run.recorder.write(|| JournalEvent::Person { run: id, text: task.clone() }).await?;
        self.toolbox.begin(&task, self.mind.before());
        let began = self.conversation.entries.len();
        let (mut handed, mut restarts): (Option<Route>, u32) = (None, 0);
        loop {
            self.prepare(run, &task, opening, handed).await?;
            // What the person said on the way stands, too (W-047).
            for text in run.task.corrections() {
                self.conversation.correction(prompt::corrected(text));
            }
            let end = self.until_end(run).await;
            // An action mode was granted: what was read on the way to it counts no more, and the
            // request begins again (W-049).
            match self.toolbox.take_granted() {
                Some(route) => handed = Some(self.granted(run, route, &mut restarts).await?),
                None => {
                    self.mind.remember(self.toolbox.mode(), &task);
                    return end;
                }
            }
            self.conversation.entries.truncate(began);
        }
    }

    /// Whether the model is asked for its steps first (W-230).
    pub(crate) fn lists_steps(&self) -> bool {
        self.options.steps_first.unwrap_or_else(|| self.model.is_local())
    }

    pub(crate) async fn until_end(&mut self, run: &mut Run<'_>) -> Result<RunEnd, RunEnd> {
        loop {
            self.safe_point(run).await?;
            let Some(reply) = self.ask(run).await? else {
                continue;
            };
            if reply.stop == Some(StopReason::Filtered) {
                return Err(failed("withheld", "the provider withheld the model's answer", None));
            }
            if let Some(answer) = as_answer(&reply.calls, &reply.text, &self.tools) {
                self.answered(run, &Reply { text: answer.clone(), ..Reply::default() }).await?;
                if self.inbox.is_corrected() {
                    continue;
                }
                match self.judged(run, answer).await? {
                    Some(end) => return Ok(end),
                    None => continue,
                }
            }
            self.answered(run, &reply).await?;
            if reply.calls.is_empty() {
                if let Some(end) = self.at_the_answer(run, reply).await? {
                    return Ok(end);
                }
                continue;
            }
            run.empty = 0;
            let batch = batch!(self, run);
            run.steps.carry_out(&batch, &reply.calls, &mut self.conversation).await?;
            self.withdraw_hand_over();
            if self.toolbox.is_granted() {
                // It begins again; see `from_the_start`.
                return Err(RunEnd::Stopped);
            }
            if self.model.is_local() {
                self.conversation.forget_failures();
            }
        }
    }

    /// Between a result and the next request, where nothing is under way: what the person said enters
    /// the task (W-082, W-091), and the conversation is shortened if it is due (W-700).
    async fn safe_point(&mut self, run: &mut Run<'_>) -> Result<(), RunEnd> {
        // After a stop nothing is taken in any more: it waits for the person (W-078).
        if run.cancel.is_cancelled() {
            return Err(RunEnd::Stopped);
        }
        self.take_corrections(run).await?;
        self.keep_within_window(run).await
    }

    /// Takes what the person said since into the task.
    pub(crate) async fn take_corrections(&mut self, run: &mut Run<'_>) -> Result<(), RunEnd> {
        while let Some(correction) = self.inbox.take() {
            let (id, text) = (correction.id, correction.text);
            let revision = run.task.correct(text.clone());
            let applied = JournalEvent::CorrectionApplied { correction: id, revision };
            run.recorder.write(|| applied).await?;
            self.conversation.correction(prompt::corrected(&text));
            self.toolbox.heard(&text);
            run.steps.correct(revision);
            run.doubted = false;
            run.watcher.tell(AgentEvent::Corrected { correction: id, revision, text }).await;
        }
        Ok(())
    }

    /// An answer of the model enters the conversation.
    async fn answered(&mut self, run: &Run<'_>, reply: &Reply) -> Result<(), RunEnd> {
        let Reply { text, calls, kept, .. } = reply;
        self.conversation.assistant(text.clone(), calls.clone(), kept.clone());
        let event =
            || JournalEvent::Reply { text: text.clone(), calls: calls.clone(), kept: kept.clone() };
        run.recorder.write(event).await
    }

    /// The model answered without a call: whether the run ends with that.
    async fn at_the_answer(
        &mut self,
        run: &mut Run<'_>,
        reply: Reply,
    ) -> Result<Option<RunEnd>, RunEnd> {
        // What the person said meanwhile may well be about what was left out (W-092).
        if self.inbox.is_corrected() {
            return Ok(None);
        }
        let cut_off = reply.stop == Some(StopReason::Length);
        if reply.text.trim().is_empty() || (cut_off && run.empty < limits::EMPTY_ANSWERS) {
            run.empty += 1;
            if run.empty > limits::EMPTY_ANSWERS {
                return Err(failed("no_answer", "the model gave no answer", None));
            }
            let remark = if cut_off { prompt::CUT_OFF } else { prompt::EMPTY };
            self.remark(run, remark.to_owned()).await?;
            return Ok(None);
        }
        if let (false, Some((step, result))) = (run.doubted, run.steps.last_problem()) {
            let remark = prompt::not_done(step, result);
            run.doubted = true;
            self.remark(run, remark).await?;
            run.watcher.tell(AgentEvent::TextVoid).await;
            return Ok(None);
        }
        self.judged(run, reply.text).await
    }

    pub(crate) async fn remark(&mut self, run: &Run<'_>, text: String) -> Result<(), RunEnd> {
        self.conversation.remark(text.clone());
        run.recorder.write(|| JournalEvent::Remark { text }).await
    }

    /// The run is over: what is left of it is told.
    pub(crate) async fn end(&mut self, mut run: Run<'_>, end: Result<RunEnd, RunEnd>) -> RunReport {
        let mut end = end.unwrap_or_else(|end| end);
        if let RunEnd::StepLimit { so_far } = &mut end {
            *so_far = self.so_far(&mut run).await;
        }
        self.look_after(&mut run, &mut end).await;
        let (watcher, turn, id) = (run.watcher, self.options.turn, run.task.run);
        if let Err(error) = self.inbox.end(end == RunEnd::Stopped).await {
            tracing::error!(%error, "what waits could not be recorded");
        }
        let ended =
            || JournalEvent::End { run: id, how: end.word().into(), text: end.text().into() };
        if let Err(failure) = run.recorder.write(ended).await {
            end = failure;
        }
        let waiting = self.inbox.waiting();
        if !waiting.is_empty() {
            watcher.tell(AgentEvent::Waiting(waiting)).await;
        }
        let summary = run.steps.summary();
        watcher.tell(AgentEvent::Turn(TurnEvent::Summary(summary))).await;
        let state = match &end {
            RunEnd::Done { .. } => RunState::Done,
            RunEnd::Stopped | RunEnd::StepLimit { .. } => RunState::Stopped,
            RunEnd::Failed { .. } => RunState::Error,
        };
        watcher.tell(AgentEvent::Turn(TurnEvent::State { turn, state })).await;
        let (submissions, bill) = (run.steps.receipts(), run.bill);
        let (requests, usage, cost) = (bill.requests, bill.usage, bill.cost);
        RunReport { run: id, end, summary, requests, usage, cost, submissions }
    }
}
