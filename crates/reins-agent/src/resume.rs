//! Going on with a conversation from its journal, in another process (W-081…W-083, W-094).

use crate::agent::Agent;
use crate::authority::TaskAuthority;
use crate::conversation::Conversation;
use crate::error::AgentError;
use crate::event::AgentEvent;
use crate::ids::RunId;
use crate::journal::{JournalEntry, JournalEvent};
use crate::prompt;
use crate::report::{RunEnd, RunReport};
use crate::submissions::{Commitment, Submissions};
use crate::toolbox::{Opening, ToolReply, Toolbox};
use reins_core::{Outcome, Unknown, UnknownCause};
use reins_models::ToolCall;
use std::collections::BTreeMap;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// What a journal says about where a conversation stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Resumption {
    /// The run that did not end, if there is one: [`Agent::go_on`] goes on with it.
    pub cut_off: Option<RunId>,
    /// Its task, in the person's words.
    pub task: String,
    /// Acts of which nobody knows whether they happened, as the person may see them.
    pub unfinished: Vec<String>,
}

/// A run of an earlier process that did not end.
#[derive(Debug, Default)]
pub(crate) struct CutOff {
    task: TaskAuthority,
    steps: u32,
    submissions: Submissions,
    unfinished: Vec<String>,
}

/// A step of the journal without its end so far.
struct Begun {
    shown: String,
    acts: bool,
    commitment: Option<Commitment>,
}

/// Reads entries in order.
#[derive(Default)]
struct Replay {
    open: Option<CutOff>,
    /// Calls of the last reply that have no result so far.
    calls: Vec<ToolCall>,
    begun: BTreeMap<String, Begun>,
    last_run: RunId,
    requests: u32,
}

impl<T: Toolbox> Agent<T> {
    /// Takes a conversation over from its journal. Call it once, on an agent that has not run yet, with
    /// that same journal set by [`Agent::with_journal`]. Corrections that no run took in are restored ahead of newer
    /// ones; those of runs that are over wait, paused.
    ///
    /// # Errors
    ///
    /// [`AgentError::NotRecorded`] if the journal cannot be written.
    pub async fn resume(&mut self, entries: &[JournalEntry]) -> Result<Resumption, AgentError> {
        let mut replay = Replay::default();
        for entry in entries {
            self.replay(&mut replay, &entry.event);
        }
        self.requests = replay.requests;
        self.last_run = replay.last_run;
        let unfinished = close_calls(&mut replay, &mut self.conversation);
        let mut resumption = Resumption::default();
        if let Some(mut open) = replay.open {
            open.unfinished = unfinished.clone();
            resumption.cut_off = Some(open.task.run);
            resumption.task = open.task.words();
            resumption.unfinished = unfinished;
            self.cut_off = Some(open);
        }
        self.inbox.keep_only(resumption.cut_off).await?;
        Ok(resumption)
    }

    /// Goes on with the run that was cut off; `None` if there is none. The page is looked at anew by
    /// `opening`, corrections come first, and nothing that may have been sent is sent again unseen.
    pub async fn go_on(
        &mut self,
        opening: &Opening,
        events: &mpsc::Sender<AgentEvent>,
        cancel: &CancellationToken,
    ) -> Option<RunReport> {
        let CutOff { task, steps, submissions, unfinished } = self.cut_off.take()?;
        let revision = task.revision();
        let mut run = self.begin(task, events, cancel).await;
        run.steps.take_over(steps, submissions);
        run.steps.submissions.correct(revision);
        let end = self.carry_on(&mut run, opening, &unfinished).await;
        Some(self.end(run, end).await)
    }

    /// Gives the run that was cut off up: it ends as stopped, and its corrections wait, paused (W-083).
    ///
    /// # Errors
    ///
    /// [`AgentError::NotRecorded`] if the journal cannot be written.
    pub async fn give_up(&mut self) -> Result<(), AgentError> {
        if let Some(CutOff { task, .. }) = self.cut_off.take() {
            self.inbox.keep_only(None).await?;
            let how = RunEnd::Stopped.word().to_owned();
            let text = String::new();
            self.recorder.append(JournalEvent::End { run: task.run, how, text }).await?;
        }
        Ok(())
    }

    async fn carry_on(
        &mut self,
        run: &mut crate::agent::Run<'_>,
        opening: &Opening,
        unfinished: &[String],
    ) -> Result<RunEnd, RunEnd> {
        let id = run.task.run;
        run.recorder.write(|| JournalEvent::Resumed { run: id }).await?;
        self.take_up(&run.task.words());
        let opened = run.steps.open(&batch!(self, run), opening).await?;
        if run.cancel.is_cancelled() {
            return Err(RunEnd::Stopped);
        }
        self.equip_again(run).await;
        let remark = prompt::resumed(unfinished);
        run.recorder.write(|| JournalEvent::Remark { text: remark.clone() }).await?;
        let mut text = remark;
        for line in &opened.texts {
            text.push_str("\n\n");
            text.push_str(line);
        }
        self.conversation.remark_with(text, opened.page);
        self.until_end(run).await
    }

    fn replay(&mut self, replay: &mut Replay, event: &JournalEvent) {
        let local = self.model.is_local();
        let conversation = &mut self.conversation;
        // Before it is taken out of what waits, its words are read.
        if let JournalEvent::CorrectionApplied { correction, .. } = event
            && let Some(text) = self.inbox.pending_text(*correction)
        {
            conversation.correction(prompt::corrected(&text));
            if let Some(open) = &mut replay.open {
                let revision = open.task.correct(text);
                open.submissions.correct(revision);
            }
        }
        self.inbox.restore(event);
        match event {
            JournalEvent::Person { run, text } => {
                close_calls(replay, conversation);
                replay.last_run = replay.last_run.max(*run);
                let task = TaskAuthority::new(*run, text.clone());
                replay.open = Some(CutOff { task, ..CutOff::default() });
                conversation.task(format!("Task: {text}"), None, None);
            }
            JournalEvent::Plan { text } => conversation.plan(text.clone()),
            JournalEvent::Reply { text, calls, kept } => {
                close_calls(replay, conversation);
                if local && conversation.ends_with_result() {
                    conversation.forget_failures();
                }
                replay.requests += 1;
                replay.calls.clone_from(calls);
                conversation.assistant(text.clone(), calls.clone(), kept.clone());
            }
            JournalEvent::Remark { text } => conversation.remark(text.clone()),
            JournalEvent::StepBegun { step, call, tool, arguments, element, acts, commitment } => {
                let element = element.as_ref().map(|it| format!(" {it}")).unwrap_or_default();
                let shown = format!("{tool}{element} {arguments}");
                let (acts, commitment) = (*acts, commitment.clone());
                replay.begun.insert(call.clone(), Begun { shown, acts, commitment });
                if let (Some(open), false) = (&mut replay.open, call.is_empty()) {
                    open.steps = open.steps.max(*step);
                }
            }
            JournalEvent::StepEnded(ended) => {
                let begun = replay.begun.remove(&ended.call);
                let commitment = begun.and_then(|begun| begun.commitment);
                if let (Some(commitment), Some(open)) = (commitment, &mut replay.open)
                    && ended.outcome != "refused"
                    && ended.changed != Some(false)
                {
                    open.submissions.restore(commitment, ended.outcome == "completed");
                }
                if let Some(call) = taken(replay, &ended.call) {
                    let outcome = match ended.outcome.as_str() {
                        "unknown" => interrupted(&ended.text),
                        _ => Outcome::Completed,
                    };
                    let failed = !ended.worked && ended.outcome != "unknown";
                    let (text, changed) = (ended.text.clone(), ended.changed);
                    let reply = ToolReply { outcome, failed, changed, ..ToolReply::text(text) };
                    conversation.result(&call, reply, &[], ended.below.clone());
                }
            }
            JournalEvent::StepSkipped { call, text } => {
                if let Some(call) = taken(replay, call) {
                    conversation.result(&call, ToolReply::error(text.clone()), &[], None);
                }
            }
            JournalEvent::Compaction { summary, kept } => {
                conversation.compact(*kept, summary);
            }
            JournalEvent::End { .. } => {
                close_calls(replay, conversation);
                replay.open = None;
            }
            JournalEvent::Resumed { .. } => {
                close_calls(replay, conversation);
            }
            JournalEvent::CorrectionQueued { .. }
            | JournalEvent::CorrectionApplied { .. }
            | JournalEvent::CorrectionReturned { .. }
            | JournalEvent::MessageQueued { .. }
            | JournalEvent::MessageChanged { .. }
            | JournalEvent::MessageGone { .. } => {}
        }
    }
}

fn taken(replay: &mut Replay, id: &str) -> Option<ToolCall> {
    let at = replay.calls.iter().position(|call| call.id == id)?;
    Some(replay.calls.remove(at))
}

fn interrupted(message: &str) -> Outcome {
    let cause = UnknownCause::Interrupted;
    Outcome::Unknown(Unknown { cause, message: message.to_owned() })
}

/// Every call gets a result: servers refuse one without. Gives the acts of which nobody knows.
fn close_calls(replay: &mut Replay, conversation: &mut Conversation) -> Vec<String> {
    let mut unfinished = Vec::new();
    for call in std::mem::take(&mut replay.calls) {
        let begun = replay.begun.remove(&call.id);
        let reply = match begun.as_ref().is_some_and(|begun| begun.acts) {
            true => ToolReply {
                outcome: interrupted(prompt::CUT_BY_RESTART),
                ..ToolReply::text(prompt::CUT_BY_RESTART)
            },
            false => ToolReply::error(prompt::NOT_BEGUN),
        };
        conversation.result(&call, reply, &[], None);
        unfinished.extend(begun.and_then(|begun| replay.lost(begun)));
    }
    // Calls of an opening belong to no reply.
    for (_, begun) in std::mem::take(&mut replay.begun) {
        unfinished.extend(replay.lost(begun));
    }
    unfinished
}

impl Replay {
    /// A step without an end: if it acts, nobody knows whether it happened.
    fn lost(&mut self, begun: Begun) -> Option<String> {
        if let (Some(commitment), Some(open)) = (begun.commitment, &mut self.open) {
            open.submissions.restore(commitment, false);
        }
        begun.acts.then_some(begun.shown)
    }
}
