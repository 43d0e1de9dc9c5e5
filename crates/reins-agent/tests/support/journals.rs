//! Journals in memory: one that keeps everything, one that fails, one that waits.

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use reins_agent::{AgentError, Journal, JournalEntry, JournalEvent, Sequence};
use std::sync::{Arc, Mutex};
use tokio::sync::Semaphore;

type Refuses = dyn Fn(&JournalEvent) -> bool + Send + Sync;

/// Keeps entries in order. May refuse or hold back some.
#[derive(Clone)]
pub struct Memory {
    entries: Arc<Mutex<Vec<JournalEntry>>>,
    refuses: Arc<Refuses>,
    holds: Arc<Refuses>,
    /// What is held back goes on with a permit.
    pub gate: Arc<Semaphore>,
    /// Told when something is held back.
    pub held: Arc<Semaphore>,
}

impl Default for Memory {
    fn default() -> Self {
        Self {
            entries: Arc::default(),
            refuses: Arc::new(|_| false),
            holds: Arc::new(|_| false),
            gate: Arc::new(Semaphore::new(0)),
            held: Arc::new(Semaphore::new(0)),
        }
    }
}

impl Memory {
    /// With these entries already.
    pub fn with(entries: &[JournalEntry]) -> Self {
        let memory = Self::default();
        memory.entries.lock().expect("entries").extend_from_slice(entries);
        memory
    }

    pub fn refusing(refuses: impl Fn(&JournalEvent) -> bool + Send + Sync + 'static) -> Self {
        Self { refuses: Arc::new(refuses), ..Self::default() }
    }

    pub fn holding(holds: impl Fn(&JournalEvent) -> bool + Send + Sync + 'static) -> Self {
        Self { holds: Arc::new(holds), ..Self::default() }
    }

    pub fn entries(&self) -> Vec<JournalEntry> {
        self.entries.lock().expect("entries").clone()
    }

    pub fn kinds(&self) -> Vec<&'static str> {
        self.entries().iter().map(|entry| entry.event.kind()).collect()
    }
}

impl Journal for Memory {
    fn append(&self, event: JournalEvent) -> BoxFuture<'_, Result<Sequence, AgentError>> {
        async move {
            if (self.refuses)(&event) {
                return Err(AgentError::NotRecorded("the disk is full".into()));
            }
            if (self.holds)(&event) {
                self.held.add_permits(1);
                self.gate.acquire().await.expect("gate").forget();
            }
            let mut entries = self.entries.lock().expect("entries");
            let sequence = Sequence(entries.len() as u64 + 1);
            // What a file would hold, not what memory does.
            let text = serde_json::to_string(&event).expect("json");
            let event = serde_json::from_str(&text).expect("back");
            entries.push(JournalEntry { sequence, event });
            Ok(sequence)
        }
        .boxed()
    }
}
