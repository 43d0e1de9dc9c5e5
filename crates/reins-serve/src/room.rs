//! What is in memory of one sandbox: its browser, its events, its questions, its boot log.

use crate::boot::Logs;
use crate::cards::{CardDesk, Cards};
use crate::events::EventLog;
use crate::limits;
use crate::session::LiveSession;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

/// One sandbox while the daemon runs.
#[derive(Debug)]
pub(crate) struct Room {
    pub(crate) events: Arc<EventLog>,
    pub(crate) cards: Arc<Cards>,
    pub(crate) logs: Arc<Logs>,
    /// Event streams that may be open at once.
    pub(crate) streams: Arc<Semaphore>,
    /// Ends the boot command.
    pub(crate) boot: CancellationToken,
    slot: Mutex<Slot>,
    steps: AtomicU64,
}

/// At most one browser per sandbox (S-005).
#[derive(Clone, Debug, Default)]
pub(crate) enum Slot {
    /// None.
    #[default]
    Empty,
    /// One starts; the token ends the start.
    Starting(CancellationToken),
    /// One runs, or is about to end.
    Running(Arc<LiveSession>),
}

impl Room {
    pub(crate) fn new() -> Self {
        Self {
            events: Arc::default(),
            cards: Arc::default(),
            logs: Arc::default(),
            streams: Arc::new(Semaphore::new(limits::STREAMS)),
            boot: CancellationToken::new(),
            slot: Mutex::default(),
            steps: AtomicU64::new(0),
        }
    }

    /// Who answers this sandbox's cards.
    pub(crate) fn desk(&self) -> CardDesk {
        CardDesk { cards: self.cards.clone(), events: self.events.clone() }
    }

    /// The number of the next step.
    pub(crate) fn next_step(&self) -> u64 {
        self.steps.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// The browser that runs.
    pub(crate) fn running(&self) -> Option<Arc<LiveSession>> {
        match &*self.slot() {
            Slot::Running(session) => Some(session.clone()),
            Slot::Empty | Slot::Starting(_) => None,
        }
    }

    /// Every section leaves whole values.
    pub(crate) fn slot(&self) -> MutexGuard<'_, Slot> {
        self.slot.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the place of the one browser, unless it is taken.
    pub(crate) fn reserve(&self, cancel: &CancellationToken) -> bool {
        let mut slot = self.slot();
        let free = matches!(*slot, Slot::Empty);
        if free {
            *slot = Slot::Starting(cancel.clone());
        }
        free
    }
}
