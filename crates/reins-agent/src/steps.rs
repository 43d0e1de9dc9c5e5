//! Carries out the model's calls, in order, and keeps the books about them.

use crate::agent::{RunEnd, Watcher, failed};
use crate::ahead::StepsAhead;
use crate::arguments;
use crate::conversation::Conversation;
use crate::error::CallError;
use crate::event::AgentEvent;
use crate::limits::STOP_GRACE;
use crate::prompt;
use crate::repetition::{Repetition, Verdict};
use crate::toolbox::{AgentTool, Opening, PageView, StepLabel, ToolReply, Toolbox};
use reins_core::{
    Outcome, Refusal, StepFinish, StepId, TurnEvent, TurnId, TurnSummary, Unknown, UnknownCause,
    limits,
};
use reins_models::ToolCall;
use serde_json::Value;
use std::collections::HashSet;
use std::time::Instant;
use tokio_util::sync::CancellationToken;

/// The steps of one run.
pub(crate) struct Steps {
    turn: TurnId,
    allowed: u32,
    next: u32,
    summary: TurnSummary,
    acts_tried: u32,
    acts_worked: u32,
    repetition: Repetition,
    /// Acts that the person did not want, as tool and arguments.
    declined: HashSet<String>,
    /// The act of which nobody knows whether it happened, until the model looks.
    unknown: Option<String>,
    /// The last step, if it did not work: what and why.
    problem: Option<(String, String)>,
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
}

/// What the calls of an opening brought.
#[derive(Debug, Default)]
pub(crate) struct Opened {
    pub(crate) texts: Vec<String>,
    pub(crate) page: Option<PageView>,
}

/// A call that was understood.
struct Ready<'a> {
    tool: &'a AgentTool,
    arguments: Value,
    /// Equal for equal calls.
    key: String,
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
            repetition: Repetition::default(),
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
    ) -> Opened {
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
                Ok(ready) => self.carry_out_one(batch, &ready).await,
                Err(error) => ToolReply::error(error.to_string()),
            };
            if !reply.text.is_empty() {
                opened.texts.push(reply.text);
            }
            opened.page = reply.page.or(opened.page);
        }
        opened
    }

    /// Makes the calls of one answer; the rest of them is skipped after one that failed or that led
    /// elsewhere. Gives the run's end if it ends here.
    pub(crate) async fn carry_out<T: Toolbox>(
        &mut self,
        batch: &Batch<'_, T>,
        calls: &[ToolCall],
        conversation: &mut Conversation,
    ) -> Option<RunEnd> {
        let mut skip: Option<&str> = None;
        let mut end = None;
        for call in calls {
            if batch.cancel.is_cancelled() && end.is_none() {
                end = Some(RunEnd::Stopped);
                skip = Some("the user stopped the run");
            }
            if self.summary.steps >= self.allowed && skip.is_none() {
                end = Some(RunEnd::StepLimit);
                skip = Some("the limit of steps is reached");
            }
            if let Some(reason) = skip {
                let reply = ToolReply::error(format!("Not done: {reason}."));
                conversation.result(call, reply, &[], None);
                continue;
            }
            self.summary.steps += 1;
            let prepared = ready(call, batch.tools).and_then(|ready| self.permit(ready));
            let (reply, key, acts) = match prepared {
                Ok(ready) => (self.carry_out_one(batch, &ready).await, ready.key, ready.tool.acts),
                Err(error) => {
                    let reply = self.not_carried_out(batch, call, &error).await;
                    (reply, format!("{} {}", call.name, call.arguments), false)
                }
            };
            skip = reason_to_skip(&reply);
            let mut remarks: Vec<&str> = remarks(&reply).collect();
            let next = if acts && reply.is_ok() { self.ahead.advance() } else { None };
            let seen = reply.page.as_ref().map_or("", |page| &page.state);
            let verdict = self.repetition.push(&key, &format!("{}\n{seen}", reply.text));
            self.repeats = verdict != Verdict::Healthy;
            match verdict {
                Verdict::Healthy => {}
                Verdict::Remind => remarks.push(prompt::REPEATED),
                Verdict::Stop => {
                    remarks.push(prompt::REPEATED);
                    let message = "the model kept repeating steps that changed nothing";
                    end = Some(failed("going_in_circles", message, None));
                    skip = Some("the run ends here");
                }
            }
            conversation.result(call, reply, &remarks, next);
        }
        end
    }

    /// Two rules of the loop itself: what nobody knows is looked at before it is tried again, and
    /// what the person declined stays declined.
    fn permit<'a>(&self, ready: Ready<'a>) -> Result<Ready<'a>, CallError> {
        if self.declined.contains(&ready.key) {
            return Err(CallError::Declined);
        }
        if self.unknown.as_ref() == Some(&ready.key) {
            return Err(CallError::LookFirst);
        }
        Ok(ready)
    }

    async fn carry_out_one<T: Toolbox>(
        &mut self,
        batch: &Batch<'_, T>,
        ready: &Ready<'_>,
    ) -> ToolReply {
        let step = self.number();
        let label = batch.toolbox.label(&ready.tool.name, &ready.arguments);
        self.started(batch.watcher, step, &ready.tool.name, label).await;
        let begun = Instant::now();
        let reply = call(batch, ready).await;
        self.count(&reply, ready);
        self.finished(batch.watcher, step, &reply, begun).await;
        reply
    }

    /// A call that never reached a tool is a step all the same, and a failed one.
    async fn not_carried_out<T: Toolbox>(
        &mut self,
        batch: &Batch<'_, T>,
        call: &ToolCall,
        error: &CallError,
    ) -> ToolReply {
        let step = self.number();
        // The arguments may hold anything, also a password, and no tool that could tell read them.
        self.started(batch.watcher, step, &call.name, StepLabel::default()).await;
        self.summary.failures += 1;
        let text = error.to_string();
        self.problem = Some((call.name.clone(), text.clone()));
        let refusal = Refusal::new(error.code(), text.clone(), "");
        let reply = ToolReply { outcome: Outcome::Refused(refusal), ..ToolReply::error(text) };
        self.finished(batch.watcher, step, &reply, Instant::now()).await;
        reply
    }

    fn number(&mut self) -> StepId {
        let step = StepId(self.next);
        self.next += 1;
        step
    }

    async fn started(&self, watcher: Watcher<'_>, step: StepId, tool: &str, label: StepLabel) {
        let StepLabel { arguments, element } = label;
        let tool = tool.to_owned();
        let event = TurnEvent::StepStarted { turn: self.turn, step, tool, arguments, element };
        watcher.tell(AgentEvent::Turn(event)).await;
    }

    async fn finished(
        &self,
        watcher: Watcher<'_>,
        step: StepId,
        reply: &ToolReply,
        begun: Instant,
    ) {
        let outcome = match &reply.outcome {
            // Past tense is only for what worked.
            Outcome::Completed if reply.failed => {
                Outcome::Refused(Refusal::new("failed", reply.text.clone(), ""))
            }
            outcome => outcome.clone(),
        };
        let mut result = reply.text.clone();
        if let Some(page) = &reply.page {
            result.push('\n');
            result.push_str(&page.text);
        }
        let end = (0..=limits::EVENT_RESULT_BYTES.min(result.len()))
            .rev()
            .find(|end| result.is_char_boundary(*end));
        result.truncate(end.unwrap_or(0));
        let finish = StepFinish {
            turn: self.turn,
            step,
            outcome,
            result,
            took: begun.elapsed(),
            verdict: reply.verdict.clone(),
            approved: reply.approved,
        };
        watcher.tell(AgentEvent::Turn(TurnEvent::StepFinished(finish))).await;
    }

    fn count(&mut self, reply: &ToolReply, ready: &Ready<'_>) {
        let ok = reply.is_ok();
        if !ok {
            self.summary.failures += 1;
        }
        if reply.approved.is_some() {
            self.summary.confirmations += 1;
        }
        if ready.tool.acts {
            self.acts_tried += 1;
            self.acts_worked += u32::from(ok);
            if reply.approved == Some(false) {
                self.declined.insert(ready.key.clone());
            }
        }
        // A look at the page settles what was unknown; so does another act that worked.
        self.unknown = match reply.outcome {
            Outcome::Unknown(_) => Some(ready.key.clone()),
            _ if ok => None,
            _ => self.unknown.take(),
        };
        self.problem = (!ok).then(|| {
            let result = match &reply.outcome {
                Outcome::Unknown(_) if reply.text.is_empty() => {
                    "unknown whether it happened".to_owned()
                }
                _ => crate::conversation::clip(&reply.text, 200),
            };
            (ready.tool.name.clone(), result)
        });
    }
}

/// Calls a tool. If the person stops meanwhile, the tool gets a moment to say what became of it.
async fn call<T: Toolbox>(batch: &Batch<'_, T>, ready: &Ready<'_>) -> ToolReply {
    let call = batch.toolbox.call(&ready.tool.name, ready.arguments.clone(), batch.cancel);
    let mut call = std::pin::pin!(call);
    tokio::select! {
        biased;
        reply = &mut call => return reply,
        () = batch.cancel.cancelled() => {}
    }
    if let Ok(reply) = tokio::time::timeout(STOP_GRACE, call).await {
        return reply;
    }
    let message = "the run was stopped while the step was under way";
    if !ready.tool.acts {
        return ToolReply::error(message);
    }
    let unknown = Unknown { cause: UnknownCause::Stopped, message: message.to_owned() };
    ToolReply { outcome: Outcome::Unknown(unknown), ..ToolReply::text(message) }
}

/// Finds the tool and reads the arguments.
fn ready<'a>(call: &ToolCall, tools: &'a [AgentTool]) -> Result<Ready<'a>, CallError> {
    let Some(tool) = find(&call.name, tools) else {
        let names: Vec<_> = tools.iter().map(|tool| tool.name.as_str()).collect();
        return Err(CallError::NoSuchTool { name: call.name.clone(), tools: names.join(", ") });
    };
    let arguments = arguments::read(&tool.name, &call.arguments, &tool.schema)?;
    let key = format!("{} {arguments}", tool.name);
    Ok(Ready { tool, arguments, key })
}

/// By its name; models also write `functions.click` or `browser_click`.
fn find<'a>(name: &str, tools: &'a [AgentTool]) -> Option<&'a AgentTool> {
    let exact = tools.iter().find(|tool| tool.name == name);
    exact.or_else(|| {
        let name = name.trim().to_ascii_lowercase().replace('-', "_");
        let name = name.rsplit(['.', ':', '/']).next().unwrap_or_default();
        let name = name.strip_prefix("browser_").unwrap_or(name);
        tools.iter().find(|tool| tool.name == name)
    })
}

fn reason_to_skip(reply: &ToolReply) -> Option<&'static str> {
    match reply.outcome {
        _ if reply.approved == Some(false) => Some("the user said no to the step before it"),
        Outcome::Unknown(_) => Some("nobody knows whether the step before it happened"),
        Outcome::Refused(_) => Some("the step before it did not work"),
        Outcome::Completed if reply.failed => Some("the step before it did not work"),
        Outcome::Completed if reply.moved => {
            Some("the step before it led to a new page, so look at that first")
        }
        Outcome::Completed => None,
    }
}

fn remarks(reply: &ToolReply) -> impl Iterator<Item = &'static str> + use<> {
    let unknown = matches!(reply.outcome, Outcome::Unknown(_)).then_some(prompt::UNKNOWN);
    let declined = (reply.approved == Some(false)).then_some(prompt::DECLINED);
    let unchanged = (reply.is_ok() && reply.changed == Some(false)).then_some(prompt::UNCHANGED);
    [unknown, declined, unchanged].into_iter().flatten()
}
