//! What happens in a sandbox, for whoever watches: kept for a while, so that a viewer who lost the connection
//! misses nothing.

use crate::limits;
use serde::Serialize;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::watch;

/// One event as it is sent.
#[derive(Clone, Debug)]
pub(crate) struct Event {
    pub(crate) id: u64,
    pub(crate) name: &'static str,
    pub(crate) data: String,
}

/// The events of one sandbox.
#[derive(Debug)]
pub(crate) struct EventLog {
    kept: Mutex<Kept>,
    last: watch::Sender<u64>,
}

#[derive(Debug, Default)]
struct Kept {
    last: u64,
    events: VecDeque<Arc<Event>>,
}

impl Default for EventLog {
    fn default() -> Self {
        Self { kept: Mutex::default(), last: watch::Sender::new(0) }
    }
}

impl EventLog {
    /// Adds an event. Never waits.
    pub(crate) fn push(&self, name: &'static str, data: &impl Serialize) {
        let data = match serde_json::to_string(data) {
            Ok(data) => data,
            Err(error) => {
                tracing::error!(%error, name, "an event could not be written");
                return;
            }
        };
        let last = {
            let mut kept = self.kept();
            kept.last += 1;
            let id = kept.last;
            if kept.events.len() >= limits::EVENTS_KEPT {
                kept.events.pop_front();
            }
            kept.events.push_back(Arc::new(Event { id, name, data }));
            id
        };
        self.last.send_replace(last);
    }

    /// The number of the last event.
    pub(crate) fn last(&self) -> u64 {
        self.kept().last
    }

    /// What is kept of the events after one.
    pub(crate) fn after(&self, id: u64) -> Vec<Arc<Event>> {
        self.kept().events.iter().filter(|event| event.id > id).cloned().collect()
    }

    /// Tells of every new event.
    pub(crate) fn watch(&self) -> watch::Receiver<u64> {
        self.last.subscribe()
    }

    /// Every section leaves whole values.
    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One tool call as people see it.
#[derive(Clone, Debug, Serialize, serde::Deserialize, schemars::JsonSchema)]
pub struct Step {
    /// Unique within its sandbox.
    pub id: u64,
    /// The run it belongs to, if it is one's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<String>,
    /// The tool.
    pub tool: String,
    /// What it does, for people.
    pub label: String,
    /// `running`, `completed`, `refused`, `unknown` or `error`.
    pub outcome: String,
    /// When it began, RFC 3339.
    pub started_at: String,
    /// How long it took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ms: Option<u64>,
    /// What came of it, in our own words. Typed text is never part of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// The code of what went wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// The first line of a text, as much of it as an event holds.
pub(crate) fn line(text: &str) -> String {
    text.lines().next().unwrap_or("").chars().take(limits::EVENT_TEXT).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_comes_back_gets_what_was_missed_and_the_list_is_bounded() {
        let log = EventLog::default();
        for n in 0..limits::EVENTS_KEPT + 10 {
            log.push("step", &n);
        }
        let total = u64::try_from(limits::EVENTS_KEPT).unwrap_or(0) + 10;
        assert_eq!(log.last(), total);
        assert_eq!(log.after(0).len(), limits::EVENTS_KEPT);
        let missed = log.after(total - 2);
        assert_eq!(missed.iter().map(|e| e.data.as_str()).collect::<Vec<_>>(), ["508", "509"]);
    }
}
