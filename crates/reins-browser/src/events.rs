//! Handing out what a browser reports by itself.

use crate::event::BrowserEvent;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::mpsc;

/// Unread events that are kept for one receiver. More means that nobody reads; then its stream ends
/// rather than losing some in silence.
const UNREAD: usize = 4_096;

/// Where a browser's events are put in.
#[derive(Clone, Debug)]
pub(crate) struct Outlet {
    /// `None` once the last event was sent.
    receivers: Arc<Mutex<Option<Vec<mpsc::Sender<BrowserEvent>>>>>,
}

impl Default for Outlet {
    fn default() -> Self {
        Self { receivers: Arc::new(Mutex::new(Some(Vec::new()))) }
    }
}

impl Outlet {
    /// Hands an event to everyone who listens. Never waits.
    pub(crate) fn send(&self, event: BrowserEvent) {
        if let Some(receivers) = &mut *self.lock() {
            receivers.retain(|to| to.try_send(event.clone()).is_ok());
        }
    }

    /// Hands out the last event. Every stream ends with it, and those that begin later at once.
    pub(crate) fn finish(&self, last: BrowserEvent) {
        self.send(last);
        *self.lock() = None;
    }

    pub(crate) fn subscribe(&self) -> BrowserEvents {
        let (sender, receiver) = mpsc::channel(UNREAD);
        if let Some(receivers) = &mut *self.lock() {
            receivers.push(sender);
        }
        BrowserEvents { receiver }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Vec<mpsc::Sender<BrowserEvent>>>> {
        self.receivers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a browser reports by itself, from the moment of subscribing, in order.
#[derive(Debug)]
pub struct BrowserEvents {
    receiver: mpsc::Receiver<BrowserEvent>,
}

impl BrowserEvents {
    /// The next event. `None` once the browser is gone, or when too many were left unread.
    pub async fn next(&mut self) -> Option<BrowserEvent> {
        self.receiver.recv().await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use reins_core::TabId;

    #[tokio::test]
    async fn a_receiver_that_reads_nothing_ends_and_holds_nobody_up() {
        let outlet = Outlet::default();
        let mut slow = outlet.subscribe();
        for i in 0..UNREAD + 10 {
            outlet.send(BrowserEvent::TabClosed { tab: TabId::new(i.to_string()) });
        }
        let mut read = 0;
        while slow.next().await.is_some() {
            read += 1;
        }
        assert_eq!(read, UNREAD);
    }

    /// Regression: who began to listen just after the browser had gone waited forever.
    #[tokio::test]
    async fn streams_end_with_the_last_event_and_later_ones_at_once() {
        let outlet = Outlet::default();
        let mut early = outlet.subscribe();
        outlet.finish(BrowserEvent::Gone { reason: "it ended".into() });
        outlet.send(BrowserEvent::TabClosed { tab: TabId::new("late") });
        assert!(matches!(early.next().await, Some(BrowserEvent::Gone { .. })));
        assert!(early.next().await.is_none());
        assert!(outlet.subscribe().next().await.is_none());
    }
}
