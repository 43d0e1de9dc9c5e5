//! The tools as a run has them: those of the box, as far as its mode offers them (W-020), and a few of its
//! own. Everything that comes back is noted, so that the answer can be judged by it.

use crate::around::Shown;
use crate::error::CallError;
use crate::evidence::Evidence;
use crate::memory::{Memory, NOTE, PROGRESS};
use crate::mode::{Before, HandOver, Mode, REQUEST_ACTION_MODE, Route, request_tool};
use crate::not_done::NotDone;
use crate::objection::{Deeds, Intent, Step, reference};
use crate::person::{Clarification, NoPerson, Person};
use crate::questions::{ControlEffect, Questions};
use crate::submissions::{Commitment, Submission};
use crate::text::plain_line;
use crate::toolbox::{AgentTool, StepLabel, ToolReply, Toolbox};
use reins_core::{Outcome, Refusal};
use serde_json::{Value, json};
use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio_util::sync::CancellationToken;

/// The tool by which a model asks the person.
const CLARIFY: &str = "clarify";

/// A question, and an answer, of a model and a person.
const ASKED_CHARS: usize = 400;

/// Answers to choose from.
const CHOICES: usize = 6;

/// A box of tools with a mode, a memory and someone to ask.
pub(crate) struct Desk<T> {
    inner: T,
    acting: HashSet<String>,
    questions: Option<Arc<Questions>>,
    person: Arc<dyn Person>,
    /// Whether what captions, messages and words mean is asked.
    asks: bool,
    state: Mutex<State>,
}

#[derive(Default)]
pub(crate) struct State {
    mode: Mode,
    /// The model may ask for an action mode.
    hand_over: Option<HandOver>,
    granted: Option<Route>,
    /// The model may ask the person.
    clarifies: bool,
    memory: Memory,
    /// The person's words on this task.
    pub(crate) words: String,
    before: Option<Before>,
    evidence: Evidence,
    /// Pages as the model saw them last.
    pub(crate) shown: Shown,
    /// What was done in this task.
    pub(crate) deeds: Deeds,
    /// What the call that comes next would send.
    foreseen: Option<Commitment>,
    /// The address of the page.
    place: String,
}

/// What a run may do and keep in mind.
pub(crate) struct Outfit {
    pub(crate) mode: Mode,
    pub(crate) hand_over: bool,
    pub(crate) clarifies: bool,
    pub(crate) memory: Memory,
}

impl<T: Toolbox> Desk<T> {
    pub(crate) fn new(inner: T) -> Self {
        let acting = inner.tools().into_iter().filter(|tool| tool.acts).map(|tool| tool.name);
        let (acting, person) = (acting.collect(), Arc::new(NoPerson));
        Self { inner, acting, questions: None, person, asks: false, state: Mutex::default() }
    }

    /// Who is asked: models, and the person. `asks` says whether models are also asked what captions,
    /// messages and words mean.
    pub(crate) fn connect(
        &mut self,
        questions: Arc<Questions>,
        person: Arc<dyn Person>,
        asks: bool,
    ) {
        (self.questions, self.person, self.asks) = (Some(questions), person, asks);
    }

    /// Who is asked what captions, messages and words mean.
    pub(crate) fn questions(&self) -> Option<Arc<Questions>> {
        self.questions.clone().filter(|_| self.asks)
    }

    /// Something of what a run knows.
    pub(crate) fn with<R>(&self, read: impl FnOnce(&State) -> R) -> R {
        read(&self.lock())
    }

    /// A new task begins: nothing of it was done yet.
    pub(crate) fn begin(&self, words: &str, before: Option<&Before>) {
        let mut state = self.lock();
        let mut evidence = std::mem::take(&mut state.evidence).next_turn();
        evidence.see(words);
        let (words, before) = (words.to_owned(), before.cloned());
        let (shown, place) = (std::mem::take(&mut state.shown), std::mem::take(&mut state.place));
        *state = State { words, before, evidence, shown, place, ..State::default() };
    }

    /// A text of an earlier process counts as seen.
    pub(crate) fn recall(&self, text: &str) {
        self.lock().evidence.see(text);
    }

    /// From here on the run has this mode and memory.
    pub(crate) fn equip(&self, outfit: Outfit) {
        let mut state = self.lock();
        state.mode = outfit.mode;
        state.hand_over = outfit.hand_over.then(HandOver::default);
        state.clarifies = outfit.clarifies;
        state.memory = outfit.memory;
    }

    /// The mode as it is.
    pub(crate) fn mode(&self) -> Mode {
        self.lock().mode
    }

    /// The action mode that the model asked for and may have.
    pub(crate) fn take_granted(&self) -> Option<Route> {
        self.lock().granted.take()
    }

    /// Whether there is one.
    pub(crate) fn is_granted(&self) -> bool {
        self.lock().granted.is_some()
    }

    /// Whether the model may still ask for one; a tool that was refused twice is gone (W-051).
    pub(crate) fn has_hand_over(&self) -> bool {
        self.lock().hand_over.is_some_and(|hand_over| hand_over.is_open())
    }

    /// Notes and list, which stay however much of the conversation is cut.
    pub(crate) fn pinned(&self) -> Option<String> {
        self.lock().memory.pinned()
    }

    /// Something of what was seen.
    pub(crate) fn seen<R>(&self, read: impl FnOnce(&Evidence, &Memory) -> R) -> R {
        let state = self.lock();
        read(&state.evidence, &state.memory)
    }

    /// Nobody could read a caption in time.
    pub(crate) fn unread(&self, caption: &str) {
        self.lock().deeds.leave_unread(caption);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes what came of a call.
    fn note(&self, name: &str, label: &StepLabel, acts: bool, reply: &ToolReply, deed: Deed) {
        let mut state = self.lock();
        let Deed { step, commitment, around } = deed;
        let commits = commitment.is_some() && Submission::may_have_arrived(reply);
        if commits {
            // What the same answer shows came of it.
            state.evidence.sent();
        }
        state.evidence.push(name, label, acts, reply);
        if let Some(page) = &reply.page {
            state.shown.look(page);
        }
        if let Some(place) = &reply.place {
            state.place.clone_from(place);
        }
        if acts && reply.is_ok() {
            state.memory.acted();
        }
        if acts {
            let worked = reply.is_ok() && reply.changed != Some(false);
            let sent = commitment.filter(|_| commits);
            state.deeds.did(step.filter(|_| worked), sent, around.filter(|_| worked));
        }
    }

    async fn hand_over(
        &self,
        arguments: &Value,
        cancel: &CancellationToken,
    ) -> Result<String, NotDone> {
        let (mut hand_over, words, before) = {
            let state = self.lock();
            let hand_over = state.hand_over.ok_or_else(not_here)?;
            (hand_over, state.words.clone(), state.before.clone())
        };
        let questions = self.questions.as_deref().ok_or_else(not_here)?;
        let judged = hand_over.judge(arguments, &words, before.as_ref(), questions, cancel).await;
        let mut state = self.lock();
        state.hand_over = Some(hand_over);
        // What the person said meanwhile counts more than the request (W-046).
        if state.words != words {
            return Err("Not done: the user said something meanwhile. Read that first.".into());
        }
        let route = judged?;
        state.granted = Some(route);
        Ok(format!("The run goes on in mode {}.", route.mode.as_str()))
    }

    async fn clarify(
        &self,
        arguments: &Value,
        cancel: &CancellationToken,
    ) -> Result<String, NotDone> {
        if !self.lock().clarifies {
            return Err(not_here());
        }
        let line = |value: &Value| plain_line(value.as_str().unwrap_or_default(), ASKED_CHARS);
        let choices = arguments["choices"].as_array().into_iter().flatten().map(line);
        let asked = Clarification {
            question: line(&arguments["question"]),
            choices: choices.filter(|choice| !choice.is_empty()).take(CHOICES).collect(),
        };
        let answer = tokio::select! {
            biased;
            () = cancel.cancelled() => None,
            answer = self.person.clarify(&asked) => answer,
        };
        match answer {
            Some(answer) => {
                self.lock().evidence.see(&answer);
                // An answer gives what the task did not say; it allows nothing (W-484).
                Ok(format!("The user answered: {}", plain_line(&answer, ASKED_CHARS)))
            }
            None => {
                Err("Nobody answered. Take the safe way: leave out what the answer is needed for, \
                         and say so at the end."
                    .into())
            }
        }
    }
}

/// What an act is beside its call.
struct Deed {
    step: Option<Step>,
    commitment: Option<Commitment>,
    around: Option<crate::around::Around>,
}

fn refused(error: &CallError) -> ToolReply {
    let text = error.to_string();
    let outcome = Outcome::Refused(Refusal::new(error.code(), text.clone(), ""));
    ToolReply { outcome, ..ToolReply::error(text) }
}

fn not_here() -> NotDone {
    "Not done: this run has no such tool.".into()
}

fn said(result: Result<String, NotDone>) -> ToolReply {
    match result {
        Ok(text) => ToolReply::text(text),
        Err(NotDone(text)) => {
            let outcome = Outcome::Refused(Refusal::new("failed", text.clone(), ""));
            ToolReply { outcome, ..ToolReply::error(text) }
        }
    }
}

fn clarify_tool() -> AgentTool {
    AgentTool {
        name: CLARIFY.to_owned(),
        description:
            "Ask the user for a value that the task needs and neither their words nor the \
                      pages give. Not for permission."
                .to_owned(),
        schema: json!({
            "type": "object",
            "properties": {
                "question": {"type": "string"},
                "choices": {"type": "array", "items": {"type": "string"}},
            },
            "required": ["question"],
        }),
        acts: false,
    }
}

impl<T: Toolbox> Toolbox for Desk<T> {
    fn tools(&self) -> Vec<AgentTool> {
        let state = self.lock();
        let mut tools = self.inner.tools();
        tools.retain(|tool| state.mode.offers(tool));
        if state.hand_over.is_some_and(|hand_over| hand_over.is_open()) {
            tools.push(request_tool());
        }
        if state.clarifies {
            tools.push(clarify_tool());
        }
        tools.extend(state.memory.tools());
        tools
    }

    async fn call(&self, name: &str, arguments: Value, cancel: &CancellationToken) -> ToolReply {
        match name {
            REQUEST_ACTION_MODE => {
                // A refusal is a result like any other (W-051).
                let (Ok(text) | Err(NotDone(text))) = self.hand_over(&arguments, cancel).await;
                return ToolReply::text(text);
            }
            CLARIFY => return said(self.clarify(&arguments, cancel).await),
            NOTE => return said(self.lock().memory.note(&arguments)),
            PROGRESS => return said(self.lock().memory.progress(&arguments)),
            _ => {}
        }
        let acts = self.acting.contains(name);
        if acts && self.lock().mode == Mode::Ask {
            let text = "Not done: this run only reads.";
            let outcome = Outcome::Refused(Refusal::new("only_reads", text, ""));
            return ToolReply { outcome, ..ToolReply::error(text) };
        }
        let label = self.inner.label(name, &arguments);
        let commitment = self.lock().foreseen.take();
        let mut step = None;
        if acts {
            let intent = Intent {
                reference: reference(&arguments),
                element: label.element.as_deref(),
                commitment: commitment.as_ref(),
                deletes: self.inner.deletes(name, &arguments),
            };
            match self.objection(&intent, cancel).await {
                Ok(deletion) => step = deletion,
                Err(error) => {
                    let reply = refused(&error);
                    self.lock().evidence.push(name, &label, acts, &reply);
                    return reply;
                }
            }
        }
        let around = reference(&arguments).and_then(|it| self.lock().shown.around(it));
        let reply = self.inner.call(name, arguments, cancel).await;
        self.note(name, &label, acts, &reply, Deed { step, commitment, around });
        reply
    }

    async fn commitment(&self, name: &str, arguments: &Value) -> Option<Commitment> {
        let mut found = self.inner.commitment(name, arguments).await;
        // A control that a script watches has no form that could tell (W-498).
        if found.is_none() && self.acting.contains(name) {
            let element = self.inner.label(name, arguments).element.unwrap_or_default();
            let effect = self.effect(&element, &CancellationToken::new()).await;
            if matches!(effect, Some(ControlEffect::Publishes | ControlEffect::Commits)) {
                let target = format!("on {}", self.lock().place);
                found = Some(Commitment { target, control: element });
            }
        }
        self.lock().foreseen.clone_from(&found);
        found
    }

    fn deletes(&self, name: &str, arguments: &Value) -> bool {
        self.inner.deletes(name, arguments)
    }

    fn heard(&self, words: &str) {
        let mut state = self.lock();
        state.words.push_str("\n\n");
        state.words.push_str(words);
        state.evidence.see(words);
        state.deeds.heard(words);
        drop(state);
        self.inner.heard(words);
    }

    fn label(&self, name: &str, arguments: &Value) -> StepLabel {
        match name {
            REQUEST_ACTION_MODE | CLARIFY | NOTE | PROGRESS => {
                StepLabel { arguments: arguments.to_string(), element: None }
            }
            _ => self.inner.label(name, arguments),
        }
    }
}
