//! What the person says while a run goes on: corrections for the run itself, messages for after it, and
//! more calls (W-072…W-083).

use crate::error::AgentError;
use crate::ids::{CorrectionId, MessageId, RunId};
use crate::journal::JournalEvent;
use crate::limits::WAITING;
use crate::recorder::Recorder;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

/// The person's side of a running conversation. Cheap to clone; all clones are one.
///
/// Nothing given to it is lost: it is in the journal before the call that gave it returns, and stays
/// here until the run took it in, or until the person edits, sends or deletes it (W-081).
#[derive(Clone)]
pub struct Inbox {
    shared: Arc<Shared>,
    recorder: Recorder,
}

struct Shared {
    state: Mutex<State>,
    changed: Notify,
}

/// A correction that no run has taken in yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Correction {
    pub(crate) id: CorrectionId,
    pub(crate) run: RunId,
    pub(crate) text: String,
}

/// A message that waits for its run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// Its id.
    pub message: MessageId,
    /// The person's words.
    pub text: String,
    /// Whether nothing happens with it until the person says so (W-078).
    pub paused: bool,
}

#[derive(Debug, Default)]
struct State {
    running: Option<RunId>,
    pending: VecDeque<Correction>,
    queue: VecDeque<Waiting>,
    last_correction: u64,
    last_message: u64,
    more_calls: u32,
}

impl std::fmt::Debug for Inbox {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Inbox").field(&*self.state()).finish()
    }
}

impl Inbox {
    pub(crate) fn new(recorder: Recorder) -> Self {
        let shared = Shared { state: Mutex::default(), changed: Notify::new() };
        Self { shared: Arc::new(shared), recorder }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The run that can be corrected now.
    pub fn running(&self) -> Option<RunId> {
        self.state().running
    }

    /// Corrects a run. It takes the correction in at its next safe point: a tool under way finishes, the
    /// rest of its batch is skipped, and a request to the model is given up (W-074, W-077). If the run
    /// ends first, the correction heads the queue (W-076).
    ///
    /// # Errors
    ///
    /// [`AgentError::NotRunning`] if that run is over or another one goes on, and
    /// [`AgentError::NotRecorded`] if the journal fails. Then nothing was taken, and the words are still the person's.
    pub async fn correct(
        &self,
        run: RunId,
        text: impl Into<String>,
    ) -> Result<CorrectionId, AgentError> {
        let text = text.into();
        let id = {
            let mut state = self.state();
            if state.running != Some(run) {
                return Err(AgentError::NotRunning);
            }
            if state.pending.len() >= WAITING {
                return Err(AgentError::TooManyWaiting(WAITING));
            }
            state.last_correction += 1;
            CorrectionId(state.last_correction)
        };
        let event = JournalEvent::CorrectionQueued { correction: id, run, text: text.clone() };
        self.recorder.append(event).await?;
        let late = {
            let mut state = self.state();
            let correction = Correction { id, run, text };
            if state.running == Some(run) {
                let at = state.pending.partition_point(|other| other.id < id);
                state.pending.insert(at, correction);
                None
            } else {
                Some(correction)
            }
        };
        match late {
            // The run ended while this was written down.
            Some(correction) => self.give_back(vec![correction], false).await?,
            None => self.shared.changed.notify_waiters(),
        }
        Ok(id)
    }

    /// Keeps a message for after the run.
    ///
    /// # Errors
    ///
    /// [`AgentError::NotRecorded`] if the journal fails, [`AgentError::TooManyWaiting`].
    pub async fn queue(&self, text: impl Into<String>) -> Result<MessageId, AgentError> {
        let text = text.into();
        let message = {
            let mut state = self.state();
            if state.queue.len() >= WAITING {
                return Err(AgentError::TooManyWaiting(WAITING));
            }
            state.new_message()
        };
        self.recorder.append(JournalEvent::MessageQueued { message, text: text.clone() }).await?;
        self.state().queue.push_back(Waiting { message, text, paused: false });
        Ok(message)
    }

    /// What waits, the next one first.
    pub fn waiting(&self) -> Vec<Waiting> {
        self.state().queue.iter().cloned().collect()
    }

    /// Takes the next message that is not paused, to begin a run with it.
    ///
    /// # Errors
    ///
    /// [`AgentError::NotRecorded`] if the journal fails. Then it still waits.
    pub async fn next(&self) -> Result<Option<Waiting>, AgentError> {
        let next = self.state().queue.iter().find(|waiting| !waiting.paused).cloned();
        if let Some(next) = &next {
            self.remove(next.message).await?;
        }
        Ok(next)
    }

    /// Deletes a message that waits.
    ///
    /// # Errors
    ///
    /// [`AgentError::NotWaiting`] if it does not wait, [`AgentError::NotRecorded`] if the journal fails.
    pub async fn remove(&self, message: MessageId) -> Result<(), AgentError> {
        if !self.state().queue.iter().any(|waiting| waiting.message == message) {
            return Err(AgentError::NotWaiting);
        }
        self.recorder.append(JournalEvent::MessageGone { message }).await?;
        self.state().queue.retain(|waiting| waiting.message != message);
        Ok(())
    }

    /// Changes a message that waits, and lets it go ahead.
    ///
    /// # Errors
    ///
    /// [`AgentError::NotWaiting`] if it does not wait, [`AgentError::NotRecorded`] if the journal fails.
    pub async fn edit(
        &self,
        message: MessageId,
        text: impl Into<String>,
    ) -> Result<(), AgentError> {
        self.change(message, Some(text.into()), false).await
    }

    /// Lets a paused message go ahead as it is.
    ///
    /// # Errors
    ///
    /// [`AgentError::NotWaiting`] if it does not wait, [`AgentError::NotRecorded`] if the journal fails.
    pub async fn release(&self, message: MessageId) -> Result<(), AgentError> {
        self.change(message, None, false).await
    }

    async fn change(
        &self,
        message: MessageId,
        text: Option<String>,
        paused: bool,
    ) -> Result<(), AgentError> {
        let text = {
            let state = self.state();
            let waiting = state.queue.iter().find(|waiting| waiting.message == message);
            let waiting = waiting.ok_or(AgentError::NotWaiting)?;
            text.unwrap_or_else(|| waiting.text.clone())
        };
        let event = JournalEvent::MessageChanged { message, text: text.clone(), paused };
        self.recorder.append(event).await?;
        let mut state = self.state();
        if let Some(waiting) = state.queue.iter_mut().find(|waiting| waiting.message == message) {
            (waiting.text, waiting.paused) = (text, paused);
        }
        Ok(())
    }

    /// Gives the run that goes on so many calls more. Only the person does this.
    pub fn allow_more_calls(&self, calls: u32) {
        let mut state = self.state();
        state.more_calls = state.more_calls.saturating_add(calls);
    }

    /// A run begins. Corrections that it did not take in before it was cut off are still its own.
    pub(crate) fn begin(&self, run: RunId) {
        let mut state = self.state();
        state.running = Some(run);
        state.more_calls = 0;
    }

    pub(crate) fn more_calls(&self) -> u32 {
        self.state().more_calls
    }

    /// Whether the run was corrected and has not taken it in yet.
    pub(crate) fn is_corrected(&self) -> bool {
        !self.state().pending.is_empty()
    }

    /// Waits until the run is corrected.
    pub(crate) async fn corrected(&self) {
        loop {
            let mut changed = std::pin::pin!(self.shared.changed.notified());
            changed.as_mut().enable();
            if self.is_corrected() {
                return;
            }
            changed.await;
        }
    }

    /// Takes the oldest correction of the run in.
    pub(crate) fn take(&self) -> Option<Correction> {
        self.state().pending.pop_front()
    }

    /// The run is over: what it did not take in heads the queue; after a stop everything that waits is
    /// paused (W-076, W-078).
    pub(crate) async fn end(&self, stopped: bool) -> Result<(), AgentError> {
        let pending: Vec<_> = {
            let mut state = self.state();
            state.running = None;
            state.pending.drain(..).collect()
        };
        self.give_back(pending, stopped).await?;
        if stopped {
            let waiting: Vec<_> =
                self.waiting().into_iter().filter(|waiting| !waiting.paused).collect();
            for waiting in waiting {
                self.change(waiting.message, None, true).await?;
            }
        }
        Ok(())
    }

    async fn give_back(
        &self,
        corrections: Vec<Correction>,
        paused: bool,
    ) -> Result<(), AgentError> {
        for correction in corrections.into_iter().rev() {
            let message = self.state().new_message();
            let correction_id = correction.id;
            self.state().queue.push_front(Waiting { message, text: correction.text, paused });
            let event =
                JournalEvent::CorrectionReturned { correction: correction_id, message, paused };
            self.recorder.append(event).await?;
        }
        Ok(())
    }

    /// Takes over what a journal says (W-081…W-083).
    pub(crate) fn restore(&self, event: &JournalEvent) {
        let mut state = self.state();
        match event {
            JournalEvent::CorrectionQueued { correction, run, text } => {
                state.last_correction = state.last_correction.max(correction.0);
                let (id, run, text) = (*correction, *run, text.clone());
                state.pending.push_back(Correction { id, run, text });
            }
            JournalEvent::CorrectionApplied { correction, .. } => {
                state.pending.retain(|pending| pending.id != *correction);
            }
            JournalEvent::CorrectionReturned { correction, message, paused } => {
                state.last_message = state.last_message.max(message.0);
                let at = state.pending.iter().position(|pending| pending.id == *correction);
                if let Some(pending) = at.and_then(|at| state.pending.remove(at)) {
                    let (message, paused) = (*message, *paused);
                    state.queue.push_front(Waiting { message, text: pending.text, paused });
                }
            }
            JournalEvent::MessageQueued { message, text } => {
                state.last_message = state.last_message.max(message.0);
                let (message, text) = (*message, text.clone());
                state.queue.push_back(Waiting { message, text, paused: false });
            }
            JournalEvent::MessageChanged { message, text, paused } => {
                let waiting = state.queue.iter_mut().find(|waiting| waiting.message == *message);
                if let Some(waiting) = waiting {
                    (waiting.text, waiting.paused) = (text.clone(), *paused);
                }
            }
            JournalEvent::MessageGone { message } => {
                state.queue.retain(|waiting| waiting.message != *message);
            }
            _ => {}
        }
    }

    /// The words of a correction that waits.
    pub(crate) fn pending_text(&self, id: CorrectionId) -> Option<String> {
        let state = self.state();
        state.pending.iter().find(|pending| pending.id == id).map(|pending| pending.text.clone())
    }

    /// After a restart: corrections of any run but this one can reach no run any more, so they wait,
    /// paused, until the person says so (W-082, W-083).
    pub(crate) async fn keep_only(&self, run: Option<RunId>) -> Result<(), AgentError> {
        let others: Vec<_> = {
            let mut state = self.state();
            let (stay, go): (VecDeque<_>, VecDeque<_>) =
                state.pending.drain(..).partition(|pending| Some(pending.run) == run);
            state.pending = stay;
            go.into()
        };
        self.give_back(others, true).await
    }
}

impl State {
    fn new_message(&mut self) -> MessageId {
        self.last_message += 1;
        MessageId(self.last_message)
    }
}
