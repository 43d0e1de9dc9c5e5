//! A session: its tabs, its refs, its turn. Parallel agents each name their own.

use crate::results::Results;
use reins_browser::Download;
use reins_core::{NodeKey, Origin, OwnerId, Ref, Secret, SessionId, TabId, TurnId};
use reins_guard::{Level, TurnFacts};
use reins_page::{PublishedSnapshot, RefRegistry};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;
use tokio::sync::{Notify, Semaphore};
use tokio_util::sync::CancellationToken;

/// One session. Calls in it run one at a time; stop and close do not wait in that line.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) id: SessionId,
    pub(crate) line: Semaphore,
    /// The person let a paused turn go on.
    pub(crate) resumed: Notify,
    state: Mutex<State>,
}

impl Session {
    pub(crate) fn new(id: SessionId) -> Self {
        Self {
            id,
            line: Semaphore::new(1),
            resumed: Notify::new(),
            state: Mutex::new(State::default()),
        }
    }

    /// The session's state. Held only for short, synchronous sections.
    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        // Every section leaves whole values, so a poisoned lock is still good.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a session remembers.
#[derive(Debug, Default)]
pub(crate) struct State {
    /// Refs given out in this session, never reused.
    pub(crate) refs: RefRegistry,
    /// Open tabs that this session may use, oldest first.
    pub(crate) tabs: Vec<TabId>,
    /// Those among them that the agent opened.
    pub(crate) opened: HashSet<TabId>,
    /// The tab that calls mean if they name none.
    pub(crate) current: Option<TabId>,
    /// What was last shown of each tab.
    pub(crate) shown: HashMap<TabId, PublishedSnapshot>,
    /// Which address and title each tab was last told with.
    pub(crate) told: Told,
    /// The turn under way.
    pub(crate) turn: Option<Turn>,
    /// The element that was clicked last: what files are meant for if nothing else is named.
    pub(crate) clicked: Option<Ref>,
    /// The download that was last heard of.
    pub(crate) download: Option<Download>,
    /// Long results kept for paging.
    pub(crate) results: Results,
    /// Sites the person agreed to on a card that asked for nothing else.
    pub(crate) asked: BTreeSet<Origin>,
    /// Kept secrets that were typed: what pages make of them is taken out of every answer.
    pub(crate) typed: Vec<Secret<String>>,
    /// How often the model itself typed into a field for secrets.
    pub(crate) confided: u64,
    /// How often this session was stopped or paused; older approvals are void.
    pub(crate) stops: u64,
}

impl State {
    /// Takes a tab into the session.
    pub(crate) fn adopt(&mut self, tab: &TabId, by_agent: bool) {
        if !self.tabs.contains(tab) {
            self.tabs.push(tab.clone());
        }
        if by_agent {
            self.opened.insert(tab.clone());
        }
    }

    /// The elements last shown of a tab: a delta says which of them are gone.
    pub(crate) fn shown_keys(&self, tab: &TabId) -> Vec<NodeKey> {
        self.shown.get(tab).map(|shown| shown.keys(&self.refs)).unwrap_or_default()
    }

    /// Forgets a tab that is gone.
    pub(crate) fn forget(&mut self, tab: &TabId) {
        self.tabs.retain(|open| open != tab);
        self.opened.remove(tab);
        self.shown.remove(tab);
        self.told.0.remove(tab);
        if self.current.as_ref() == Some(tab) {
            self.current = self.tabs.last().cloned();
        }
    }

    /// Forgets every tab: the browser is another one now. Refs stay used up.
    pub(crate) fn forget_all(&mut self) {
        self.tabs.clear();
        self.opened.clear();
        self.shown.clear();
        self.told.0.clear();
        self.current = None;
    }
}

/// One request of one owner.
#[derive(Debug)]
pub(crate) struct Turn {
    pub(crate) id: TurnId,
    pub(crate) owner: OwnerId,
    /// Calls made so far.
    pub(crate) calls: u32,
    /// The step cap, if this door has one.
    pub(crate) cap: Option<u32>,
    /// Whether the person's own words were seen at this door.
    pub(crate) user_message: bool,
    /// The person's own words, for the safety check.
    pub(crate) goal: Option<String>,
    /// What the guard may know of this turn.
    pub(crate) facts: TurnFacts,
    /// The level, read once.
    pub(crate) level: Level,
    /// Ends everything in this turn.
    pub(crate) stop: CancellationToken,
    /// The person said stop, as against any other end.
    pub(crate) stopped: CancellationToken,
    /// When the person last used a tab themself; the turn is paused since then.
    pub(crate) paused: Option<Instant>,
}

/// Addresses and titles that were told with the page text of each tab. What has not changed is
/// not told again: it costs as many tokens as a small page.
#[derive(Debug, Default)]
pub(crate) struct Told(HashMap<TabId, (String, String)>);

impl Told {
    /// Wraps page text, with what is new about its address and title.
    pub(crate) fn wrap(&mut self, tab: &TabId, text: &str, url: &str, title: &str) -> String {
        let now = (url.to_owned(), title.to_owned());
        let before = self.0.insert(tab.clone(), now);
        let (url, title) = match &before {
            Some((old_url, old_title)) => {
                (if old_url == url { "" } else { url }, if old_title == title { "" } else { title })
            }
            None => (url, title),
        };
        reins_page::wrap_untrusted(text, url, title, &crate::look::nonce())
    }
}
