//! The shared state of a connection: who waits for what, and what waits to be written.
//!
//! One lock, held for map operations only and never across an await.

mod state;

use crate::error::{CloseReason, LostCause, NotSentCause};
use crate::events::{Body, End, Queue};
use crate::message::{Message, id_of_head};
use crate::names::{AttachedToTarget, DetachedFromTarget, InspectorTargetCrashed, TargetCrashed};
use bytes::Bytes;
use state::{State, Subscription, Waiting};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{Notify, oneshot, watch};
use tokio::time::Instant;

/// One write to the browser carries at most this much, unless a single command is larger. It is
/// the default capacity of a pipe; what lies behind it can still be withdrawn.
const BATCH_BYTES: usize = 64 * 1024;

/// The key of a session. `None` is the browser itself.
pub(crate) type SessionKey = Option<Arc<str>>;

/// How a call ended, before the method's name is put to it.
#[derive(Debug)]
pub(crate) enum Fail {
    NotSent(NotSentCause),
    Lost(LostCause),
    Answered { code: i64, message: String },
    TooLarge,
}

pub(crate) type Answer = Result<(Bytes, u64), Fail>;

/// A command that waits to be written.
pub(crate) struct Outgoing {
    pub(crate) id: u64,
    pub(crate) session: SessionKey,
    pub(crate) deadline: Instant,
    pub(crate) text: String,
}

/// Routes answers and events. Transports feed it, sessions use it.
pub(crate) struct Router {
    state: Mutex<State>,
    writable: Notify,
    closed: watch::Sender<Option<CloseReason>>,
}

/// What sessions hold. When the last one goes, the connection closes.
pub(crate) struct Handle {
    pub(crate) router: Arc<Router>,
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.router.close(CloseReason::Closed);
    }
}

impl Router {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self {
            state: Mutex::new(State::default()),
            writable: Notify::new(),
            closed: watch::Sender::new(None),
        })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Queues a command. The order of calls is the order on the wire.
    pub(crate) fn enqueue(
        &self,
        session: SessionKey,
        deadline: Instant,
        encode: impl FnOnce(u64) -> Result<String, NotSentCause>,
    ) -> Result<(u64, oneshot::Receiver<Answer>), NotSentCause> {
        // Encoded outside the lock: parameters can be megabytes.
        let id = {
            let mut state = self.lock();
            state.admit(&session)?;
            state.next_id += 1;
            state.next_id
        };
        let text = encode(id)?;
        let (answer, receiver) = oneshot::channel();
        let mut state = self.lock();
        state.admit(&session)?;
        state.out_bytes += text.len();
        state.waiting.insert(id, Waiting { session: session.clone(), written: false, answer });
        state.out.push_back(Outgoing { id, session, deadline, text });
        drop(state);
        self.writable.notify_one();
        Ok((id, receiver))
    }

    /// Nobody waits for the answer any more. With `withdraw` a command that was not written yet
    /// never will be. Returns whether it had been written.
    pub(crate) fn forget(&self, id: u64, withdraw: bool) -> bool {
        let mut state = self.lock();
        let written = state.waiting.remove(&id).is_none_or(|w| w.written);
        if withdraw && !written {
            state.remove_queued(|o| o.id == id);
        }
        written
    }

    /// Whether the command was handed to the transport, or has been answered.
    pub(crate) fn is_written(&self, id: u64) -> bool {
        self.lock().waiting.get(&id).is_none_or(|w| w.written)
    }

    /// What to write next, or `None` when the connection has closed. From here on the commands
    /// count as written.
    pub(crate) async fn batch(&self) -> Option<Vec<Outgoing>> {
        let mut closed = self.closed.subscribe();
        loop {
            if let Some(batch) = self.take_batch() {
                return Some(batch);
            }
            tokio::select! {
                biased;
                _ = closed.wait_for(Option::is_some) => return None,
                () = self.writable.notified() => {}
            }
        }
    }

    fn take_batch(&self) -> Option<Vec<Outgoing>> {
        let now = Instant::now();
        let mut batch = Vec::new();
        let mut bytes = 0;
        let mut state = self.lock();
        while let Some(next) = state.out.front() {
            if !batch.is_empty() && bytes + next.text.len() > BATCH_BYTES {
                break;
            }
            let Some(next) = state.out.pop_front() else { break };
            state.out_bytes -= next.text.len();
            if next.deadline <= now {
                if let Some(waiting) = state.waiting.remove(&next.id) {
                    waiting.fail(NotSentCause::Deadline, LostCause::Deadline);
                }
                continue;
            }
            if let Some(waiting) = state.waiting.get_mut(&next.id) {
                waiting.written = true;
            }
            bytes += next.text.len();
            batch.push(next);
        }
        (!batch.is_empty()).then_some(batch)
    }

    /// The transport failed before the first byte of these commands was accepted.
    pub(crate) fn unwritten(&self, ids: impl Iterator<Item = u64>) {
        let mut state = self.lock();
        for id in ids {
            if let Some(waiting) = state.waiting.get_mut(&id) {
                waiting.written = false;
            }
        }
    }

    /// Takes one message of the browser.
    pub(crate) fn receive(&self, bytes: Bytes) {
        let size = bytes.len();
        match Message::read(bytes) {
            Ok(Message::Answer { id, result }) => {
                self.answer(id, result.map_err(|e| refused(e.code, e.message)));
            }
            Ok(Message::Event { method, session, params }) => self.event(method, session, params),
            Err(at) => {
                tracing::warn!(size, at.line, at.column, "a message of the browser was unreadable");
            }
        }
    }

    /// Takes the beginning of a message that was too large to keep.
    pub(crate) fn receive_too_large(&self, head: &[u8]) {
        tracing::warn!("a message of the browser was too large and was skipped");
        if let Some(id) = id_of_head(head) {
            self.answer(id, Err(Fail::TooLarge));
        }
    }

    fn answer(&self, id: u64, result: Result<Bytes, Fail>) {
        let mut state = self.lock();
        state.seq += 1;
        let seq = state.seq;
        let Some(waiting) = state.waiting.remove(&id) else {
            // Chromium has no cancel, so answers to forgotten calls are ordinary.
            tracing::trace!(id, "a late answer was thrown away");
            return;
        };
        drop(state);
        let _ = waiting.answer.send(result.map(|bytes| (bytes, seq)));
    }

    fn event(&self, method: Box<str>, session: Option<Box<str>>, params: Bytes) {
        let mut state = self.lock();
        state.seq += 1;
        let key = session.map(|s| match state.sessions.get_key_value(&*s) {
            Some((known, _)) => known.clone(),
            None => Arc::from(s),
        });
        if &*method == AttachedToTarget::METHOD {
            state.attached(&key, &params);
        }
        let body = Arc::new(Body { method, session: key, params, seq: state.seq });
        state.deliver(&body);
        match &*body.method {
            DetachedFromTarget::METHOD => state.detached(&body.params),
            InspectorTargetCrashed::METHOD => state.crashed(&body.session),
            TargetCrashed::METHOD => state.target_crashed(&body.params),
            _ => {}
        }
    }

    pub(crate) fn subscribe(&self, key: &SessionKey, queue: &Arc<Queue>, own: bool) {
        self.subscribe_as(key, queue, own, false);
    }

    pub(crate) fn subscribe_as(&self, key: &SessionKey, queue: &Arc<Queue>, own: bool, tree: bool) {
        let mut state = self.lock();
        if let Some(reason) = &state.closed {
            queue.finish(End::Closed(reason.clone()));
        } else if state.is_attached(key) {
            state.subscribe(key.clone(), Subscription { queue: queue.clone(), own, tree });
        } else if own {
            queue.finish(End::SessionGone);
        }
    }

    pub(crate) fn unsubscribe(&self, queue: &Arc<Queue>) {
        self.lock().subscriptions.retain(|_, list| {
            list.retain(|s| !Arc::ptr_eq(&s.queue, queue));
            !list.is_empty()
        });
    }

    pub(crate) fn is_attached(&self, key: &SessionKey) -> bool {
        let state = self.lock();
        state.closed.is_none() && state.is_attached(key)
    }

    /// Ends everything. The first reason stays.
    pub(crate) fn close(&self, reason: CloseReason) {
        let mut state = self.lock();
        if state.closed.is_some() {
            return;
        }
        let ended = std::mem::take(&mut *state);
        state.closed = Some(reason.clone());
        state.next_id = ended.next_id;
        // First, so that whoever is woken below finds the connection closed.
        self.closed.send_replace(Some(reason.clone()));
        drop(state);
        for waiting in ended.waiting.into_values() {
            waiting.fail(NotSentCause::Closed(reason.clone()), LostCause::Closed(reason.clone()));
        }
        for subscription in ended.subscriptions.into_values().flatten() {
            subscription.queue.finish(End::Closed(reason.clone()));
        }
    }

    pub(crate) fn close_reason(&self) -> Option<CloseReason> {
        self.closed.borrow().clone()
    }

    pub(crate) async fn closed(&self) -> CloseReason {
        let mut closed = self.closed.subscribe();
        loop {
            if let Some(reason) = closed.borrow_and_update().clone() {
                return reason;
            }
            if closed.changed().await.is_err() {
                return CloseReason::Closed;
            }
        }
    }

    #[cfg(feature = "testing")]
    pub(crate) fn footprint(&self) -> crate::testing::Footprint {
        let state = self.lock();
        crate::testing::Footprint {
            calls: state.waiting.len(),
            queued: state.out.len(),
            queued_bytes: state.out_bytes,
            sessions: state.sessions.len(),
            subscriptions: state.subscriptions.values().map(Vec::len).sum(),
        }
    }
}

/// Chromium's code for a session that it does not know: the command reached no target.
const NO_SUCH_SESSION: i64 = -32001;

fn refused(code: i64, message: String) -> Fail {
    if code == NO_SUCH_SESSION {
        Fail::NotSent(NotSentCause::SessionGone)
    } else {
        Fail::Answered { code, message }
    }
}
