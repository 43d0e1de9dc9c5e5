//! Which run is the current one.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio_util::sync::CancellationToken;

/// The id of a run. Never used again in one process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RunId(u64);

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// Begins and stops runs. There is one run at a time: a newer one ends the one before.
#[derive(Clone, Debug, Default)]
pub struct Agents {
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    last: u64,
    current: Option<(RunId, CancellationToken)>,
}

impl Agents {
    /// Nothing runs yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Begins a run; the one before is over from here on.
    pub fn begin(&self) -> Run {
        let mut state = self.state();
        state.last += 1;
        let (id, stop) = (RunId(state.last), CancellationToken::new());
        if let Some((_, before)) = state.current.replace((id, stop.clone())) {
            before.cancel();
        }
        Run { id, stop, agents: self.clone() }
    }

    /// Stops a run. An id that is not the current run's has no effect. Says whether it had.
    pub fn stop(&self, run: RunId) -> bool {
        let mut state = self.state();
        match state.current.take_if(|(id, _)| *id == run) {
            Some((_, stop)) => {
                stop.cancel();
                true
            }
            None => false,
        }
    }

    /// The run under way.
    pub fn current(&self) -> Option<RunId> {
        self.state().current.as_ref().map(|(id, _)| *id)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One run. Dropped, it is over, and whatever it started with it.
#[derive(Debug)]
pub struct Run {
    id: RunId,
    stop: CancellationToken,
    agents: Agents,
}

impl Run {
    /// Its id.
    pub fn id(&self) -> RunId {
        self.id
    }

    /// Cancelled once this is no longer the current run. Every stage of a run waits on it.
    pub(crate) fn over(&self) -> &CancellationToken {
        &self.stop
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        self.agents.stop(self.id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// a newer run ends the older; an outdated id stops nothing.
    #[test]
    fn r099_a_stop_names_its_run() {
        let agents = Agents::new();
        let first = agents.begin();
        let (first_id, first_over) = (first.id(), first.over().clone());
        assert_eq!(agents.current(), Some(first_id));
        let second = agents.begin();
        assert!(first_over.is_cancelled() && !second.over().is_cancelled());
        assert!(!agents.stop(first_id), "the first is over already");
        drop(first);
        assert_eq!(agents.current(), Some(second.id()), "the end of an old run leaves the new one");
        assert!(!second.over().is_cancelled());
        assert!(agents.stop(second.id()) && second.over().is_cancelled());
        assert!(!agents.stop(second.id()));
        assert_ne!(first_id, second.id());
    }
}
