//! Handing out what a browser reports by itself.

use crate::event::BrowserEvent;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::mpsc;

/// Unread events that are kept for one receiver. More means that nobody reads; then its stream ends
/// rather than losing some in silence.
const UNREAD: usize = 4_096;

/// Where a browser's events are put in.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outlet {
    receivers: Arc<Mutex<Vec<mpsc::Sender<BrowserEvent>>>>,
}

impl Outlet {
    /// Hands an event to everyone who listens. Never waits.
    pub(crate) fn send(&self, event: BrowserEvent) {
        let mut receivers = self.receivers.lock().unwrap_or_else(PoisonError::into_inner);
        receivers.retain(|to| to.try_send(event.clone()).is_ok());
    }

    pub(crate) fn subscribe(&self) -> BrowserEvents {
        let (sender, receiver) = mpsc::channel(UNREAD);
        self.receivers.lock().unwrap_or_else(PoisonError::into_inner).push(sender);
        BrowserEvents { receiver }
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
}
