//! Carries out the model's calls, in order, and keeps the books about them.

use crate::ahead::StepsAhead;
use crate::books::{begun, ended};
use crate::call::{Ready, call, ready, reason_to_skip, remarks};
use crate::circles::Circles;
use crate::conversation::Conversation;
use crate::error::CallError;
use crate::event::Watcher;
use crate::ids::Revision;
use crate::inbox::Inbox;
use crate::journal::JournalEvent;
use crate::recorder::Recorder;
use crate::repetition::Verdict;
use crate::report::{RunEnd, failed};
use crate::submissions::{Filling, Submission, Submissions};
use crate::toolbox::{AgentTool, Opening, PageView, StepLabel, ToolReply, Toolbox};
use reins_core::{Outcome, Refusal, StepId, TurnId, TurnSummary};
use reins_models::ToolCall;
use std::collections::HashSet;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

/// The steps of one run.
pub(crate) struct Steps {
    pub(crate) turn: TurnId,
    allowed: u32,
    next: u32,
    pub(crate) summary: TurnSummary,
    pub(crate) acts_tried: u32,
    pub(crate) acts_worked: u32,
    circles: Circles,
    pub(crate) submissions: Submissions,
    /// Acts that the person did not want, as tool and arguments.
    pub(crate) declined: HashSet<String>,
    /// The act of which nobody knows whether it happened, until the model looks.
    pub(crate) unknown: Option<String>,
    /// The last step, if it did not work: what and why.
    pub(crate) problem: Option<(String, String)>,
    /// Whether the last call only repeated earlier ones.
    repeats: bool,
    /// What the model means to do next, if it wrote that down.
    ahead: StepsAhead,
}

/// What carries out a batch of calls.
pub(crate) struct Batch<'a, T> {
    pub(crate) toolbox: &'a T,
    pub(crate) tools: &'a [AgentTool],
    pub(crate) watcher: Watcher<'a>,
    pub(crate) cancel: &'a CancellationToken,
    pub(crate) recorder: &'a Recorder,
    pub(crate) inbox: &'a Inbox,
}

/// What the calls of an opening brought.
#[derive(Debug, Default)]
pub(crate) struct Opened {
    pub(crate) texts: Vec<String>,
    pub(crate) page: Option<PageView>,
}

/// A call that was made.
pub(crate) struct Made {
    pub(crate) step: StepId,
    pub(crate) took: Duration,
    pub(crate) reply: ToolReply,
}

impl Steps {
    pub(crate) fn new(turn: TurnId, allowed: u32) -> Self {
        Self {
            turn,
            allowed,
            next: 1,
            summary: TurnSummary::default(),
            acts_tried: 0,
            acts_worked: 0,
            circles: Circles::default(),
            submissions: Submissions::default(),
            declined: HashSet::new(),
            unknown: None,
            problem: None,
            repeats: false,
            ahead: StepsAhead::default(),
        }
    }

    /// The list of steps in a line, for the person.
    pub(crate) fn planned(&self) -> Option<String> {
        self.ahead.in_a_line()
    }

    /// Takes over the steps of a run that was cut off.
    pub(crate) fn take_over(&mut self, steps: u32, submissions: Submissions) {
        self.next = steps + 1;
        self.summary.steps = steps;
        self.submissions = submissions;
    }

    /// The person corrected the task: what they declined they may want now (and are asked about again),
    /// a list of steps for the old task is void, and what looked like a circle may be none.
    pub(crate) fn correct(&mut self, revision: Revision) {
        self.submissions.correct(revision);
        self.declined.clear();
        self.ahead = StepsAhead::default();
        self.circles = Circles::default();
        self.repeats = false;
    }

    /// What was sent for good.
    pub(crate) fn receipts(&self) -> Vec<Submission> {
        self.submissions.receipts()
    }

    /// Whether the model goes in a circle.
    pub(crate) fn repeats(&self) -> bool {
        self.repeats
    }

    /// Takes the model's list of steps. Gives what it is told then; `None` if there is no list in it.
    pub(crate) fn plan(&mut self, text: &str) -> Option<String> {
        self.ahead = StepsAhead::read(text)?;
        self.ahead.begin()
    }

    pub(crate) fn summary(&self) -> TurnSummary {
        self.summary
    }

    /// The last step and its result, if it did not work and nothing was looked at since.
    pub(crate) fn last_problem(&self) -> Option<(&str, &str)> {
        self.problem.as_ref().map(|(step, result)| (step.as_str(), result.as_str()))
    }

    /// The end of a run in which the model answered. If nothing it tried worked, the answer does not
    /// count as success, whatever it claims.
    pub(crate) fn judge(&self, answer: String) -> RunEnd {
        if self.acts_tried > 0 && self.acts_worked == 0 {
            return failed("no_step_worked", "no step that was tried worked", Some(answer));
        }
        RunEnd::Done { answer }
    }

    /// Makes the calls of an opening. They do not count against the limit.
    pub(crate) async fn open<T: Toolbox>(
        &mut self,
        batch: &Batch<'_, T>,
        opening: &Opening,
    ) -> Result<Opened, RunEnd> {
        let mut opened = Opened::default();
        for (name, arguments) in &opening.calls {
            if batch.cancel.is_cancelled() {
                break;
            }
            let call = ToolCall {
                id: String::new(),
                name: name.clone(),
                arguments: arguments.to_string(),
                kept: Vec::new(),
            };
            let reply = match ready(&call, batch.tools) {
                Ok(ready) => {
                    let made = self.carry_out_one(batch, &call, &ready).await?;
                    batch.recorder.write(|| ended(&call, &made, &made.reply.text, None)).await?;
                    made.reply
                }
                Err(error) => ToolReply::error(error.to_string()),
            };
            if !reply.text.is_empty() {
                opened.texts.push(reply.text);
            }
            opened.page = reply.page.or(opened.page);
        }
        Ok(opened)
    }

    /// Makes the calls of one answer; the rest of them is skipped after one that failed or that led
    /// elsewhere, and once the person said something. Every call gets a result.
    pub(crate) async fn carry_out<T: Toolbox>(
        &mut self,
        batch: &Batch<'_, T>,
        calls: &[ToolCall],
        conversation: &mut Conversation,
    ) -> Result<(), RunEnd> {
        let mut skip: Option<&str> = None;
        let mut end = None;
        for call in calls {
            if batch.cancel.is_cancelled() && end.is_none() {
                end = Some(RunEnd::Stopped);
                skip = Some("the user stopped the run");
            }
            if skip.is_none() && batch.inbox.is_corrected() {
                skip = Some("the user has just said something, which comes next");
            }
            let allowed = self.allowed.saturating_add(batch.inbox.more_calls());
            if self.summary.steps >= allowed && skip.is_none() {
                end = Some(RunEnd::StepLimit { so_far: String::new() });
                skip = Some("the limit of steps is reached");
            }
            if let Some(reason) = skip {
                self.leave_out(batch, call, reason, conversation).await.or_else(|failure| {
                    // The first end counts; a journal that fails twice adds nothing.
                    end.get_or_insert(failure);
                    Ok::<(), RunEnd>(())
                })?;
                continue;
            }
            self.summary.steps += 1;
            match self.carry_out_call(batch, call, conversation).await {
                Ok((reason, ended)) => (skip, end) = (reason, ended),
                Err(failure) => {
                    let reason = "it could not be recorded";
                    conversation.result(call, ToolReply::error(reason), &[], None);
                    (skip, end) = (Some(reason), Some(failure));
                }
            }
        }
        end.map_or(Ok(()), Err)
    }

    async fn leave_out<T: Toolbox>(
        &self,
        batch: &Batch<'_, T>,
        call: &ToolCall,
        reason: &str,
        conversation: &mut Conversation,
    ) -> Result<(), RunEnd> {
        let text = format!("Not done: {reason}.");
        conversation.result(call, ToolReply::error(text.clone()), &[], None);
        let call = call.id.clone();
        batch.recorder.write(|| JournalEvent::StepSkipped { call, text }).await
    }

    /// Makes one call. Gives why the rest is skipped, and the run's end if it ends of it.
    async fn carry_out_call<T: Toolbox>(
        &mut self,
        batch: &Batch<'_, T>,
        call: &ToolCall,
        conversation: &mut Conversation,
    ) -> Result<(Option<&'static str>, Option<RunEnd>), RunEnd> {
        let prepared = match ready(call, batch.tools) {
            Ok(mut ready) => {
                let asked = batch.toolbox.commitment(&ready.tool.name, &ready.arguments);
                ready.commitment = asked.await;
                let label = batch.toolbox.label(&ready.tool.name, &ready.arguments);
                self.permit(&ready, label.element.as_deref()).map(|()| ready)
            }
            Err(error) => Err(error),
        };
        let (made, key, arguments, acts) = match prepared {
            Ok(ready) => {
                let made = self.carry_out_one(batch, call, &ready).await?;
                (made, ready.key, Some(ready.arguments), ready.tool.acts)
            }
            Err(error) => {
                let made = self.not_carried_out(batch, call, &error).await?;
                (made, format!("{} {}", call.name, call.arguments), None, false)
            }
        };
        let mut skip = reason_to_skip(&made.reply);
        let mut end = None;
        let mut remarks: Vec<&str> = remarks(&made.reply).collect();
        let next = if acts && made.reply.is_ok() { self.ahead.advance() } else { None };
        let circle = self.circles.push(&key, arguments.as_ref(), &made.reply);
        self.repeats = circle.verdict != Verdict::Healthy;
        if self.repeats {
            remarks.push(circle.remark);
        }
        if circle.verdict == Verdict::Stop {
            end = Some(failed("going_in_circles", circle.message, None));
            skip = Some("the run ends here");
        }
        let reply = made.reply.clone();
        conversation.result(call, reply, &remarks, next.clone());
        batch.recorder.write(|| ended(call, &made, conversation.newest(), next)).await?;
        Ok((skip, end))
    }

    /// Three rules of the loop itself: what nobody knows is looked at before it is tried again, what
    /// the person declined stays declined, and nothing is sent twice.
    fn permit(&mut self, ready: &Ready<'_>, element: Option<&str>) -> Result<(), CallError> {
        if self.declined.contains(&ready.key) {
            return Err(CallError::Declined);
        }
        if self.unknown.as_ref() == Some(&ready.key) {
            return Err(CallError::LookFirst);
        }
        match &ready.commitment {
            Some(commitment) => {
                let own = Filling::of(element, &ready.arguments);
                self.submissions.check(commitment, own.as_ref(), Instant::now())
            }
            None => Ok(()),
        }
    }

    /// An act is in the journal before the tool hears of it (W-123).
    async fn carry_out_one<T: Toolbox>(
        &mut self,
        batch: &Batch<'_, T>,
        call_made: &ToolCall,
        ready: &Ready<'_>,
    ) -> Result<Made, RunEnd> {
        let step = self.number();
        let label = batch.toolbox.label(&ready.tool.name, &ready.arguments);
        let element = label.element.clone();
        batch.recorder.write(|| begun(call_made, step, ready, &label)).await?;
        self.started(batch.watcher, step, &ready.tool.name, label).await;
        let started = Instant::now();
        let reply = call(batch, ready).await;
        let took = started.elapsed();
        self.count(step, &reply, ready, element);
        self.finished(batch.watcher, step, &reply, took).await;
        Ok(Made { step, took, reply })
    }

    /// A call that never reached a tool is a step all the same, and a failed one.
    async fn not_carried_out<T: Toolbox>(
        &mut self,
        batch: &Batch<'_, T>,
        call: &ToolCall,
        error: &CallError,
    ) -> Result<Made, RunEnd> {
        let step = self.number();
        // The arguments may hold anything, also a password, and no tool that could tell read them.
        self.started(batch.watcher, step, &call.name, StepLabel::default()).await;
        self.summary.failures += 1;
        let text = error.to_string();
        self.problem = Some((call.name.clone(), text.clone()));
        let refusal = Refusal::new(error.code(), text.clone(), "");
        let reply = ToolReply { outcome: Outcome::Refused(refusal), ..ToolReply::error(text) };
        self.finished(batch.watcher, step, &reply, Duration::ZERO).await;
        Ok(Made { step, took: Duration::ZERO, reply })
    }

    fn number(&mut self) -> StepId {
        let step = StepId(self.next);
        self.next += 1;
        step
    }
}
