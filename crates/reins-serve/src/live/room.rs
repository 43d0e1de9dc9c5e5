//! What the parts of one live view know together: who has control, who waits, who watches.
//!
//! One lock around plain data, held for a look or a note and never across an await. Whoever waits for a
//! change looks again when the number of changes grows.

use super::limits::{UNWATCHED, WAITING_CALLS};
use super::pump::{Word, Words};
use super::takeover::{Change, Now, PassageId, Person, Take, Takeover, ViewerId};
use super::wire::ShownDriver;
use crate::clock::stamp;
use reins_browser::ScreenFrame;
use reins_core::TabId;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;
use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// Tells the time of day. Tests bring their own.
pub type Clock = Arc<dyn Fn() -> SystemTime + Send + Sync>;

/// A picture on its way to all viewers.
#[derive(Debug)]
pub(crate) struct Shot {
    pub(crate) frame: ScreenFrame,
    pub(crate) tab: TabId,
    pub(crate) url: String,
    pub(crate) title: String,
}

/// A call of an agent that waits for the person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Waiting {
    pub(crate) tool: String,
    pub(crate) since: SystemTime,
}

/// What one viewer is shown beside the pictures.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Shown {
    pub(crate) driver: Option<ShownDriver>,
    /// The call that waits longest.
    pub(crate) waiting: Option<Waiting>,
}

pub(crate) struct Room {
    state: Mutex<State>,
    changes: watch::Sender<u64>,
    pub(crate) shots: watch::Sender<Option<Arc<Shot>>>,
    /// Cancelled when the browser stops.
    pub(crate) stop: CancellationToken,
    clock: Clock,
}

#[derive(Default)]
pub(crate) struct State {
    pub(crate) takeover: Takeover,
    waiting: BTreeMap<u64, Waiting>,
    /// Each with where it is told what concerns nobody else.
    viewers: BTreeMap<ViewerId, Words>,
    next: u64,
    /// Since when nobody watches.
    unwatched: Option<Instant>,
    pub(crate) followed: Option<TabId>,
    /// When input was last sent for a driver.
    pub(crate) sent: Option<Instant>,
}

impl Room {
    pub(crate) fn new(clock: Clock) -> Arc<Self> {
        Arc::new(Self {
            state: Mutex::default(),
            changes: watch::Sender::new(0),
            shots: watch::Sender::new(None),
            stop: CancellationToken::new(),
            clock,
        })
    }

    pub(crate) fn now(&self) -> Now {
        Now { instant: Instant::now(), wall: (self.clock)() }
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        // Every section leaves whole values, so a poisoned lock is still good.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// Notes something, and tells everyone who waits to look again.
    pub(crate) fn note<T>(&self, note: impl FnOnce(&mut State, Now) -> T) -> T {
        let now = self.now();
        let noted = note(&mut self.state(), now);
        self.changes.send_modify(|n| *n += 1);
        noted
    }

    /// Lets a viewer in, if there is room for one more.
    pub(crate) fn enter(&self, words: Words, most: usize) -> Option<ViewerId> {
        self.note(|state, _| {
            if state.viewers.len() >= most {
                return None;
            }
            state.next += 1;
            let id = ViewerId(state.next);
            state.viewers.insert(id, words);
            state.unwatched = None;
            Some(id)
        })
    }

    pub(crate) fn leave(&self, viewer: ViewerId, by_will: bool) {
        self.note(|state, now| {
            state.viewers.remove(&viewer);
            if state.viewers.is_empty() {
                state.unwatched = Some(now.instant);
            }
            state.takeover.left(viewer, by_will, now);
        });
    }

    pub(crate) fn take(&self, viewer: ViewerId, person: Person) -> Take {
        self.note(|state, now| {
            state.takeover.pass_time(now);
            state.takeover.take(viewer, person, now)
        })
    }

    /// Taking over did not come about, because the agent's step did not end.
    pub(crate) fn refuse_take(&self, viewer: ViewerId, tool: &str, since: SystemTime) {
        let to = self.state().viewers.get(&viewer).cloned();
        if let Some(to) = to {
            let why = format!(
                "the agent is still at {tool} (since {}); try again, or stop it",
                stamp(since)
            );
            drop(to.try_send(Word::Refused { what: "take_over", why }));
        }
    }

    /// Tells the viewer who drives, if one does.
    pub(crate) fn tell_driver(&self, word: Word) {
        let to = {
            let state = self.state();
            let driver = state.takeover.driver().and_then(|(_, _, at)| at);
            driver.and_then(|viewer| state.viewers.get(&viewer).cloned())
        };
        if let Some(to) = to {
            drop(to.try_send(word));
        }
    }

    pub(crate) fn hand_back(&self, viewer: ViewerId) {
        self.note(|state, now| state.takeover.hand_back(viewer, now));
    }

    pub(crate) fn drives(&self, viewer: ViewerId) -> bool {
        self.state().takeover.drives(viewer)
    }

    pub(crate) fn shown(&self, viewer: ViewerId) -> Shown {
        let state = self.state();
        let driver = state.takeover.driver().map(|(person, since, at)| ShownDriver {
            name: person.name.clone(),
            since: stamp(since),
            you: at == Some(viewer),
        });
        Shown { driver, waiting: state.waiting.values().next().cloned() }
    }

    /// Enters the line of calls that wait. `None`: it is as long as it may be.
    pub(crate) fn wait(&self, tool: &str) -> Option<u64> {
        self.note(|state, now| {
            if state.waiting.len() >= WAITING_CALLS {
                return None;
            }
            state.next += 1;
            let number = state.next;
            state.waiting.insert(number, Waiting { tool: tool.to_owned(), since: now.wall });
            Some(number)
        })
    }

    pub(crate) fn waited(&self, number: u64) {
        self.note(|state, _| state.waiting.remove(&number));
    }

    pub(crate) fn end(&self, passage: PassageId) {
        self.note(|state, now| state.takeover.end(passage, now));
    }

    /// Lets time pass, and says what changed and when to look again.
    pub(crate) fn pass_time(&self) -> (Vec<Change>, Option<Instant>) {
        let now = self.now();
        let mut state = self.state();
        state.takeover.pass_time(now);
        let changes = state.takeover.take_changes();
        let unwatched = state.unwatched.map(|since| since + UNWATCHED);
        let unwatched = unwatched.filter(|at| *at > now.instant);
        let next = [state.takeover.next_deadline(), unwatched].into_iter().flatten().min();
        drop(state);
        if !changes.is_empty() {
            self.changes.send_modify(|n| *n += 1);
        }
        (changes, next)
    }

    /// The tab to be shown now. `None` while nobody looks, and a moment longer.
    pub(crate) fn wanted(&self) -> Option<TabId> {
        let state = self.state();
        let watched = match state.unwatched {
            Some(since) => Instant::now() < since + UNWATCHED,
            None => !state.viewers.is_empty(),
        };
        state.followed.clone().filter(|_| watched)
    }

    /// How many watch.
    pub(crate) fn viewers(&self) -> usize {
        self.state().viewers.len()
    }
}
