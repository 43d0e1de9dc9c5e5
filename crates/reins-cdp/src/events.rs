//! Events on their way to whoever asked for them.
//!
//! Delivery is in wire order and loses nothing. A queue that is full can be handled in three
//! ways: make the reader wait, drop, or end the queue. Waiting deadlocks a consumer that is itself
//! waiting for an answer behind those events, and dropping hides that something happened. So a
//! queue that outgrows its bound **ends**: what it holds is still delivered, then comes `None`, and
//! [`Events::end`] says [`End::Overflowed`]. Answers never queue behind events. Only frames of a
//! screencast coalesce, since a newer frame makes the older one worthless.

use crate::error::CloseReason;
use crate::names::ScreencastFrame;
use crate::router::Handle;
use bytes::Bytes;
use serde::Deserialize;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

/// How much one queue may hold, in bytes. A consumer that waits for a deadline of 30 s stays under
/// it on the busiest real pages; a page that floods does not take the process with it. The first
/// event over the bound is still accepted, so that a single huge event ends nothing.
pub const QUEUE_BYTES: usize = 32 * 1024 * 1024;

/// What an event costs beside its bytes: its own struct, the method's name, the queue's slot.
const EVENT_OVERHEAD: usize = 160;

/// The only event of which a newer one replaces an older one that nobody has read.
const COALESCED: &str = ScreencastFrame::METHOD;

pub(crate) struct Body {
    pub(crate) method: Box<str>,
    pub(crate) session: Option<Arc<str>>,
    pub(crate) params: Bytes,
    pub(crate) seq: u64,
}

/// One event of the browser.
#[derive(Clone)]
pub struct Event {
    body: Arc<Body>,
    replaced: u32,
}

impl Event {
    /// Domain and name, such as `Page.frameNavigated`.
    pub fn method(&self) -> &str {
        &self.body.method
    }

    /// The session it came from. `None` is the browser itself.
    pub fn session(&self) -> Option<&str> {
        self.body.session.as_deref()
    }

    /// Parses the parameters. `T` may borrow from the event.
    ///
    /// # Errors
    /// The parameters do not have the form of `T`.
    pub fn parse<'a, T: Deserialize<'a>>(&'a self) -> Result<T, EventError> {
        serde_json::from_slice(&self.body.params).map_err(|e| EventError {
            method: self.body.method.clone(),
            line: e.line(),
            column: e.column(),
        })
    }

    /// The parameters as the browser wrote them.
    pub fn bytes(&self) -> &Bytes {
        &self.body.params
    }

    /// The position on the wire. Comparable with [`crate::Reply::seq`] of the same connection.
    pub fn seq(&self) -> u64 {
        self.body.seq
    }

    /// How many older unread frames of the same screencast this one stands for. Each of them still
    /// has to be acknowledged, or Chromium stops sending.
    pub fn replaced(&self) -> u32 {
        self.replaced
    }
}

impl std::fmt::Debug for Event {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The content may be a person's, so only its size is shown.
        write!(f, "Event({}, {} bytes)", self.body.method, self.body.params.len())
    }
}

/// The parameters of an event did not have the expected form. Holds no content.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the browser's event {method} could not be read at line {line} column {column}")]
pub struct EventError {
    method: Box<str>,
    line: usize,
    column: usize,
}

/// Why no more events come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// The session was detached: its tab, frame or worker is gone.
    SessionGone,
    /// The connection ended.
    Closed(CloseReason),
    /// The consumer was too slow and the queue outgrew [`QUEUE_BYTES`]. Events were lost from here
    /// on, so whatever was derived from them must be read anew or given up.
    Overflowed,
}

pub(crate) struct Queue {
    methods: &'static [&'static str],
    inner: Mutex<Inner>,
    ready: Notify,
}

struct Inner {
    events: VecDeque<Event>,
    bytes: usize,
    end: Option<End>,
}

impl Queue {
    pub(crate) fn new(methods: &'static [&'static str]) -> Self {
        Self {
            methods,
            inner: Mutex::new(Inner { events: VecDeque::new(), bytes: 0, end: None }),
            ready: Notify::new(),
        }
    }

    pub(crate) fn wants(&self, method: &str) -> bool {
        self.methods.is_empty() || self.methods.contains(&method)
    }

    /// Whether the queue still takes events afterwards.
    pub(crate) fn push(&self, body: &Arc<Body>) -> bool {
        let mut inner = self.lock();
        if inner.end.is_some() {
            return false;
        }
        let mut replaced = 0;
        if &*body.method == COALESCED {
            replaced = inner.coalesce(body);
        }
        if inner.bytes > QUEUE_BYTES {
            inner.end = Some(End::Overflowed);
            tracing::warn!(method = &*body.method, "an event queue outgrew its bound and ended");
        } else {
            inner.bytes += cost(body);
            inner.events.push_back(Event { body: body.clone(), replaced });
        }
        let open = inner.end.is_none();
        drop(inner);
        self.ready.notify_one();
        open
    }

    pub(crate) fn finish(&self, end: End) {
        self.lock().end.get_or_insert(end);
        self.ready.notify_one();
    }

    fn pop(&self) -> Option<Event> {
        let mut inner = self.lock();
        let event = inner.events.pop_front()?;
        inner.bytes -= cost(&event.body);
        if inner.events.is_empty() && inner.events.capacity() > 256 {
            // A burst must not keep its memory.
            inner.events = VecDeque::new();
        }
        Some(event)
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn coalesce(&mut self, newer: &Body) -> u32 {
        let older = self
            .events
            .iter()
            .rposition(|e| &*e.body.method == COALESCED && e.body.session == newer.session);
        let Some(older) = older.and_then(|at| self.events.remove(at)) else { return 0 };
        self.bytes -= cost(&older.body);
        older.replaced + 1
    }
}

fn cost(body: &Body) -> usize {
    body.params.len() + EVENT_OVERHEAD
}

/// A subscription: the events of one session (or of several, see [`Events::follow`]) in wire order.
pub struct Events {
    pub(crate) queue: Arc<Queue>,
    pub(crate) handle: Arc<Handle>,
}

impl Events {
    /// The next event, or `None` when no more will come; [`Events::end`] then says why.
    /// Cancel-safe: an event is never lost when the future is dropped.
    pub async fn next(&mut self) -> Option<Event> {
        loop {
            let ended = self.queue.lock().end.is_some();
            if let Some(event) = self.queue.pop() {
                return Some(event);
            }
            if ended {
                return None;
            }
            self.queue.ready.notified().await;
        }
    }

    /// The next event if one is here already. Whatever the browser sent before an answer is here
    /// once that answer has been received.
    pub fn try_next(&mut self) -> Option<Event> {
        self.queue.pop()
    }

    /// Why no more events come. `None` while the subscription is live.
    pub fn end(&self) -> Option<End> {
        self.queue.lock().end.clone()
    }

    /// Takes the same events of another session into this queue too, from now on. The queue ends
    /// with the session it was made for, not with those it follows.
    pub fn follow(&self, session: &crate::Session) {
        self.handle.router.subscribe(session.key(), &self.queue, false);
    }
}

impl Drop for Events {
    fn drop(&mut self) {
        self.handle.router.unsubscribe(&self.queue);
    }
}
