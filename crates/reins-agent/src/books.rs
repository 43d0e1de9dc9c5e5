//! The books about steps: what the person, the journal and the loop itself are told of each.

use crate::call::Ready;
use crate::event::{AgentEvent, Watcher};
use crate::journal::{JournalEvent, StepEnded};
use crate::steps::{Made, Steps};
use crate::submissions::Filling;
use crate::toolbox::{StepLabel, ToolReply};
use reins_core::{Outcome, Refusal, StepFinish, StepId, TurnEvent, limits};
use reins_models::ToolCall;
use std::time::{Duration, Instant};

impl Steps {
    pub(crate) async fn started(
        &self,
        watcher: Watcher<'_>,
        step: StepId,
        tool: &str,
        label: StepLabel,
    ) {
        let StepLabel { arguments, element } = label;
        let tool = tool.to_owned();
        let event = TurnEvent::StepStarted { turn: self.turn, step, tool, arguments, element };
        watcher.tell(AgentEvent::Turn(event)).await;
    }

    pub(crate) async fn finished(
        &self,
        watcher: Watcher<'_>,
        step: StepId,
        reply: &ToolReply,
        took: Duration,
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
            took,
            verdict: reply.verdict.clone(),
            approved: reply.approved,
        };
        watcher.tell(AgentEvent::Turn(TurnEvent::StepFinished(finish))).await;
    }

    pub(crate) fn count(
        &mut self,
        step: StepId,
        reply: &ToolReply,
        ready: &Ready<'_>,
        element: Option<String>,
    ) {
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
        self.keep_receipt(step, reply, ready, element);
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

    /// What was sent for good, what was filled in for it, and whether somebody looked since.
    fn keep_receipt(
        &mut self,
        step: StepId,
        reply: &ToolReply,
        ready: &Ready<'_>,
        element: Option<String>,
    ) {
        let filling = Filling::of(element.as_deref(), &ready.arguments);
        if let Some(commitment) = &ready.commitment {
            let (now, ended) = (Instant::now(), (&reply.outcome, reply.changed));
            self.submissions.sent(step.0, commitment.clone(), filling.as_ref(), ended, now);
        } else if let (true, true, Some(filling)) = (ready.tool.acts, reply.is_ok(), filling) {
            self.submissions.filled(filling);
        }
        if reply.is_ok() && (reply.page.is_some() || !ready.tool.acts) {
            self.submissions.looked();
        }
    }
}

pub(crate) fn begun(
    call: &ToolCall,
    step: StepId,
    ready: &Ready<'_>,
    label: &StepLabel,
) -> JournalEvent {
    JournalEvent::StepBegun {
        step: step.0,
        call: call.id.clone(),
        tool: ready.tool.name.clone(),
        arguments: label.arguments.clone(),
        element: label.element.clone(),
        acts: ready.tool.acts,
        commitment: ready.commitment.clone(),
    }
}

pub(crate) fn ended(
    call: &ToolCall,
    made: &Made,
    text: &str,
    below: Option<String>,
) -> JournalEvent {
    let reply = &made.reply;
    JournalEvent::StepEnded(Box::new(StepEnded {
        step: made.step.0,
        call: call.id.clone(),
        tool: call.name.clone(),
        outcome: reply.outcome.word().to_owned(),
        worked: reply.is_ok(),
        changed: reply.changed,
        approved: reply.approved,
        below,
        text: text.to_owned(),
        page: reply.page.as_ref().map(|page| page.text.clone()),
        took_ms: u64::try_from(made.took.as_millis()).unwrap_or(u64::MAX),
    }))
}
