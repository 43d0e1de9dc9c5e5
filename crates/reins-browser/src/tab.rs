//! A tab as callers hold it: its state, and ways to wait for it to change.

use crate::browser::Inner;
use crate::containment::Containment;
use crate::emulate::Emulation;
use crate::error::BrowserError;
use crate::event::BrowserEvent;
use crate::events::Outlet;
use crate::fence::Hold;
use crate::frame::World;
use crate::journal::Journal;
use crate::person::Hand;
use crate::proxy::Logins;
use crate::report::Report;
use crate::screen::Casting;
use crate::tab_info::{OpenedBy, TabInfo};
use crate::tab_state::TabState;
use reins_cdp::{Connection, Session};
use reins_core::{DocumentId, FrameId, TabId};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use tokio::sync::{Semaphore, watch};
use tokio::time::{Instant, timeout_at};

/// A tab. Shared by its task, which writes the state, and by calls, which read it.
pub(crate) struct Tab {
    pub(crate) id: TabId,
    pub(crate) session: Session,
    pub(crate) connection: Connection,
    pub(crate) containment: Arc<Containment>,
    /// Whose tab it is.
    pub(crate) browser: Weak<Inner>,
    outlet: Outlet,
    state: Mutex<TabState>,
    version: watch::Sender<u64>,
    /// One act at a time; answering a dialog does not wait for it.
    pub(crate) acting: Arc<Semaphore>,
    tokens: AtomicU64,
    /// What its pages log and load, where that is kept.
    pub(crate) journal: OnceLock<Journal>,
    /// Which requests were logged in at the proxy.
    pub(crate) logins: Logins,
    /// What it is made to look like.
    pub(crate) worn: Mutex<Emulation>,
    /// The screencast that runs, for those who look at the tab.
    pub(crate) casting: Mutex<Weak<Casting>>,
    /// The person's input under way, and which of the agent's gestures it is clear of.
    pub(crate) hand: Hand,
    /// Windows that a page of one of them opened, whose pages may have handles on each other.
    related: Mutex<Arc<Related>>,
}

/// Tabs that belong together.
pub(crate) type Related = Mutex<Vec<Weak<Tab>>>;

impl Tab {
    pub(crate) fn new(
        id: TabId,
        opened_by: OpenedBy,
        session: Session,
        url: &str,
        containment: Arc<Containment>,
        outlet: Outlet,
        browser: Weak<Inner>,
    ) -> Self {
        Self {
            connection: session.connection(),
            state: Mutex::new(TabState::new(id.clone(), opened_by, session.clone(), url)),
            id,
            session,
            containment,
            browser,
            outlet,
            version: watch::Sender::new(0),
            acting: Arc::new(Semaphore::new(1)),
            tokens: AtomicU64::new(0),
            journal: OnceLock::new(),
            logins: Logins::default(),
            worn: Mutex::default(),
            casting: Mutex::default(),
            hand: Hand::default(),
            related: Mutex::default(),
        }
    }

    /// Notes that a page of this tab opened `other`.
    pub(crate) fn relate(self: &Arc<Self>, other: &Arc<Tab>) {
        let group = self.related();
        {
            let mut members = group.lock().unwrap_or_else(PoisonError::into_inner);
            members.retain(|member| member.strong_count() > 0);
            if members.is_empty() {
                members.push(Arc::downgrade(self));
            }
            members.push(Arc::downgrade(other));
        }
        *other.related.lock().unwrap_or_else(PoisonError::into_inner) = group;
    }

    fn related(&self) -> Arc<Related> {
        self.related.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether a page of another open tab may have a handle on this one.
    pub(crate) fn has_related(&self) -> bool {
        let group = self.related();
        let members = group.lock().unwrap_or_else(PoisonError::into_inner);
        members.iter().filter_map(Weak::upgrade).any(|tab| tab.id != self.id && !tab.state().closed)
    }

    /// Whether pages of the two tabs may have handles on each other.
    pub(crate) fn is_related(&self, other: &Tab) -> bool {
        Arc::ptr_eq(&self.related(), &other.related())
    }

    /// What restricts a related tab: its page could lead this one elsewhere.
    pub(crate) fn related_hold(&self) -> Option<Hold> {
        let group = self.related();
        let members: Vec<Arc<Tab>> = {
            let members = group.lock().unwrap_or_else(PoisonError::into_inner);
            members.iter().filter_map(Weak::upgrade).collect()
        };
        members.iter().filter(|tab| tab.id != self.id).find_map(|tab| tab.state().hold())
    }

    /// One of this tab's sessions, its own or that of a frame or worker, by its id on the wire.
    pub(crate) fn session_of(&self, id: &str) -> Option<Session> {
        if self.session.id() == Some(id) {
            return Some(self.session.clone());
        }
        self.state().children.get(id).map(|(session, _)| session.clone())
    }

    /// The state. Held only for a look or a note, never across an await.
    pub(crate) fn state(&self) -> MutexGuard<'_, TabState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells everyone who waits to look again.
    pub(crate) fn changed(&self) {
        self.version.send_modify(|v| *v += 1);
    }

    pub(crate) fn emit(&self, event: BrowserEvent) {
        self.outlet.send(event);
    }

    pub(crate) fn info(&self) -> TabInfo {
        self.state().info()
    }

    /// Waits until `look` finds something, the deadline passes (`None`) or the tab is gone.
    pub(crate) async fn until<T>(
        &self,
        deadline: Instant,
        mut look: impl FnMut(&mut TabState) -> Option<T>,
    ) -> Option<T> {
        let mut version = self.version.subscribe();
        loop {
            if let Some(found) = look(&mut self.state()) {
                return Some(found);
            }
            match timeout_at(deadline, version.changed()).await {
                Ok(Ok(())) => {}
                // The sender lives in `self`, so only the deadline ends this.
                Ok(Err(_)) | Err(_) => return look(&mut self.state()),
            }
        }
    }

    /// Why nothing can be asked of the tab now, if so.
    pub(crate) fn obstacle(&self) -> Option<BrowserError> {
        if let Some(reason) = self.connection.close_reason() {
            return Some(BrowserError::Gone { reason: reason.to_string() });
        }
        let state = self.state();
        if state.closed {
            return Some(BrowserError::NoTab(self.id.clone()));
        }
        if state.crashed {
            return Some(BrowserError::Crashed);
        }
        if let Some((dialog, _)) = &state.dialog {
            return Some(BrowserError::DialogOpen { message: dialog.message.clone() });
        }
        None
    }

    /// Waits until everything that watches and guards the tab is in place.
    pub(crate) async fn armed(&self, deadline: Instant) -> Result<(), BrowserError> {
        let armed = |s: &mut TabState| (s.armed || s.closed || s.dialog.is_some()).then_some(());
        match self.until(deadline, armed).await {
            Some(()) => Ok(()),
            None => Err(self.obstacle().unwrap_or(BrowserError::Busy(ARMING))),
        }
    }

    /// Our script world in a frame, if it still shows this document.
    pub(crate) fn world_of(
        &self,
        frame: &FrameId,
        document: &DocumentId,
    ) -> Result<World, BrowserError> {
        let state = self.state();
        let shown =
            state.frames.get(frame).ok_or(BrowserError::StaleRef { what: "its frame".into() })?;
        if shown.document.as_ref() != Some(document) {
            return Err(BrowserError::StaleRef { what: "its document was replaced".into() });
        }
        state
            .worlds
            .get(frame)
            .cloned()
            .ok_or(BrowserError::StaleRef { what: "its document is not ready".into() })
    }

    /// Our script world in a frame and the document it belongs to.
    pub(crate) fn world(&self, frame: &FrameId) -> Option<(World, DocumentId)> {
        let state = self.state();
        let document = state.frames.get(frame)?.document.clone()?;
        Some((state.worlds.get(frame)?.clone(), document))
    }

    /// The gesture that was announced last.
    pub(crate) fn last_token(&self) -> u64 {
        self.tokens.load(Ordering::Relaxed)
    }

    /// Begins a new gesture: what is said of earlier ones no longer counts.
    pub(crate) fn new_token(&self) -> u64 {
        let token = self.tokens.fetch_add(1, Ordering::Relaxed) + 1;
        self.state().report = Report::new(token);
        token
    }
}

impl std::fmt::Debug for Tab {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Tab({})", self.id)
    }
}

/// How long a new tab may take until it is watched; a browser that is starting up is slow.
pub(crate) const ARMING: std::time::Duration = std::time::Duration::from_secs(10);
