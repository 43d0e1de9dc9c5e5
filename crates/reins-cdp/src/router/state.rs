//! What a router holds under its lock.

use super::{Answer, Fail, Outgoing, SessionKey};
use crate::error::{CloseReason, LostCause, NotSentCause};
use crate::events::{Body, End, Queue};
use crate::names::{AttachedToTarget, DetachedFromTarget, TargetCrashed};
use bytes::Bytes;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use tokio::sync::oneshot;

/// Commands waiting to be written, in bytes. A browser that does not read must not fill our memory.
const OUT_QUEUE_BYTES: usize = 64 * 1024 * 1024;

pub(super) struct Waiting {
    pub(super) session: SessionKey,
    pub(super) written: bool,
    pub(super) answer: oneshot::Sender<Answer>,
}

impl Waiting {
    pub(super) fn fail(self, not_sent: NotSentCause, lost: LostCause) {
        let fail = if self.written { Fail::Lost(lost) } else { Fail::NotSent(not_sent) };
        let _ = self.answer.send(Err(fail));
    }
}

pub(super) struct Subscription {
    pub(super) queue: Arc<Queue>,
    /// Whether the queue ends with the session.
    pub(super) own: bool,
    /// Whether sessions attached below are taken into the queue as they appear.
    pub(super) tree: bool,
}

#[derive(Default)]
pub(super) struct Attached {
    parent: SessionKey,
    target: Box<str>,
}

#[derive(Default)]
pub(super) struct State {
    pub(super) closed: Option<CloseReason>,
    pub(super) waiting: HashMap<u64, Waiting>,
    pub(super) out: VecDeque<Outgoing>,
    pub(super) out_bytes: usize,
    pub(super) sessions: HashMap<Arc<str>, Attached>,
    pub(super) subscriptions: HashMap<SessionKey, Vec<Subscription>>,
    pub(super) next_id: u64,
    pub(super) seq: u64,
}

impl State {
    pub(super) fn admit(&self, session: &SessionKey) -> Result<(), NotSentCause> {
        if let Some(reason) = &self.closed {
            return Err(NotSentCause::Closed(reason.clone()));
        }
        if !self.is_attached(session) {
            return Err(NotSentCause::SessionGone);
        }
        if self.out_bytes > OUT_QUEUE_BYTES {
            return Err(NotSentCause::QueueFull);
        }
        Ok(())
    }

    pub(super) fn is_attached(&self, key: &SessionKey) -> bool {
        key.as_ref().is_none_or(|id| self.sessions.contains_key(id))
    }

    pub(super) fn remove_queued(&mut self, gone: impl Fn(&Outgoing) -> bool) {
        let bytes = &mut self.out_bytes;
        self.out.retain(|o| {
            let keep = !gone(o);
            if !keep {
                *bytes -= o.text.len();
            }
            keep
        });
    }

    pub(super) fn subscribe(&mut self, key: SessionKey, subscription: Subscription) {
        let list = self.subscriptions.entry(key).or_default();
        if !list.iter().any(|s| Arc::ptr_eq(&s.queue, &subscription.queue)) {
            list.push(subscription);
        }
    }

    pub(super) fn deliver(&mut self, body: &Arc<Body>) {
        let Some(list) = self.subscriptions.get_mut(&body.session) else { return };
        list.retain(|s| !s.queue.wants(&body.method) || s.queue.push(body));
    }

    pub(super) fn attached(&mut self, parent: &SessionKey, params: &Bytes) {
        let Ok(params) = serde_json::from_slice::<AttachedToTarget>(params) else { return };
        let id: Arc<str> = params.session_id.into();
        let target = params.target_info.map(|t| t.target_id).unwrap_or_default();
        self.sessions.insert(id.clone(), Attached { parent: parent.clone(), target });
        let trees: Vec<_> = self
            .subscriptions
            .get(parent)
            .into_iter()
            .flatten()
            .filter(|s| s.tree)
            .map(|s| Subscription { queue: s.queue.clone(), own: false, tree: true })
            .collect();
        for tree in trees {
            self.subscribe(Some(id.clone()), tree);
        }
    }

    /// A session is gone, and with it those attached through it.
    pub(super) fn detached(&mut self, params: &Bytes) {
        let Ok(params) = serde_json::from_slice::<DetachedFromTarget>(params) else { return };
        let mut gone: Vec<Arc<str>> = vec![params.session_id.into()];
        while let Some(id) = gone.pop() {
            let Some((id, _)) = self.sessions.remove_entry(&id) else { continue };
            let key = Some(id);
            gone.extend(
                self.sessions.iter().filter(|(_, a)| a.parent == key).map(|(id, _)| id.clone()),
            );
            self.end_calls(&key, &NotSentCause::SessionGone, &LostCause::SessionGone);
            self.remove_queued(|o| o.session == key);
            for subscription in self.subscriptions.remove(&key).into_iter().flatten() {
                if subscription.own {
                    subscription.queue.finish(End::SessionGone);
                }
            }
        }
    }

    /// The renderer is gone, the session is not: the tab can be navigated anew. What was written
    /// will not be answered; what still waits to be written goes out.
    pub(super) fn crashed(&mut self, key: &SessionKey) {
        let lost: Vec<u64> = self
            .waiting
            .iter()
            .filter(|(_, w)| w.written && w.session == *key)
            .map(|(id, _)| *id)
            .collect();
        for id in lost {
            if let Some(waiting) = self.waiting.remove(&id) {
                waiting.fail(NotSentCause::SessionGone, LostCause::Crashed);
            }
        }
    }

    pub(super) fn target_crashed(&mut self, params: &Bytes) {
        let Ok(params) = serde_json::from_slice::<TargetCrashed>(params) else { return };
        let keys: Vec<_> = self
            .sessions
            .iter()
            .filter(|(_, a)| *a.target == *params.target_id)
            .map(|(id, _)| Some(id.clone()))
            .collect();
        for key in keys {
            self.crashed(&key);
        }
    }

    fn end_calls(&mut self, key: &SessionKey, not_sent: &NotSentCause, lost: &LostCause) {
        let ended: Vec<u64> =
            self.waiting.iter().filter(|(_, w)| w.session == *key).map(|(id, _)| *id).collect();
        for id in ended {
            if let Some(waiting) = self.waiting.remove(&id) {
                waiting.fail(not_sent.clone(), lost.clone());
            }
        }
    }
}
