//! The handle of one running browser.

use crate::act::entry;
use crate::containment::{Containment, Downloads};
use crate::error::BrowserError;
use crate::events::{BrowserEvents, Outlet};
use crate::find::major;
use crate::held;
use crate::hub;
use crate::page_call::wire_error;
use crate::protocol::page::GetHistory;
use crate::protocol::target::{
    CloseBrowser, CreateTarget, GetVersion, SetDiscoverTargets, SetDownloadBehavior, Version,
    auto_attach,
};
use crate::recording::Recording;
use crate::start_error::StartError;
use crate::tab::{ARMING, Tab};
use crate::tab_info::{OpenedBy, TabInfo};
use crate::windows::ClosingWindows;
use crate::workers::Worker;
use futures_util::future::join_all;
use reins_cdp::{Connection, Pending, Session};
use reins_core::{BrowserId, HistoryStep, TabId};
use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::{Instant, timeout, timeout_at};

/// A running browser. Clones share it.
#[derive(Clone)]
pub struct Browser {
    pub(crate) inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub(crate) id: BrowserId,
    pub(crate) connection: Connection,
    pub(crate) root: Session,
    pub(crate) containment: Arc<Containment>,
    pub(crate) outlet: Outlet,
    /// Tabs in the order they were seen.
    tabs: Mutex<BTreeMap<u64, Arc<Tab>>>,
    next: AtomicU64,
    /// Service and shared workers that run, by session.
    workers: Mutex<HashMap<String, Worker>>,
    /// What records this browser, if anything does.
    recording: Mutex<Option<Arc<Recording>>>,
    /// Windows that are closed before they show anything.
    closing: Mutex<ClosingWindows>,
    /// Tabs asked for by us whose target has not been announced yet.
    pub(crate) creating: AtomicUsize,
    pub(crate) changes: watch::Sender<u64>,
    /// The browser limits what workers reach when it is told to.
    limits_workers: AtomicBool,
    /// Who opened the tabs that are there at the start.
    pub(crate) first: OpenedBy,
    /// Whatever keeps the process alive; dropping the browser lets go of it.
    keeper: Box<dyn Keep>,
}

/// What a browser's process is held by.
pub(crate) trait Keep: Send + Sync {
    /// Ends the process if it is ours, without asking any page. Returns once it is gone.
    fn end(&self) -> std::pin::Pin<Box<dyn Future<Output = ()> + Send + '_>>;

    /// What closing means for it.
    fn closing(&self) -> Closing;

    /// Whether what we are connected to is still the browser it was. Asked before each use.
    fn verify(&self) -> Result<(), StartError> {
        Ok(())
    }
}

/// What closing means for a browser.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Closing {
    /// It has something to keep: it is asked to close, and ended if it does not.
    Asked,
    /// It has nothing to keep: it is ended.
    Ended,
    /// It is not ours: we only let go of it.
    LetGo,
}

/// A browser that answers does so fast when it closes; one that does not is ended anyway.
const CLOSING: Duration = Duration::from_secs(2);

impl Browser {
    /// Takes over a browser that speaks over `connection`.
    ///
    /// # Errors
    /// The browser does not let itself be watched, or shows no tab in time.
    pub(crate) async fn over(
        connection: Connection,
        id: BrowserId,
        containment: Containment,
        first: OpenedBy,
        keeper: Box<dyn Keep>,
    ) -> Result<Self, BrowserError> {
        let root = connection.root();
        let inner = Arc::new(Inner {
            id,
            root: root.clone(),
            connection,
            containment: Arc::new(containment),
            outlet: Outlet::default(),
            tabs: Mutex::default(),
            next: AtomicU64::new(0),
            workers: Mutex::default(),
            recording: Mutex::default(),
            closing: Mutex::default(),
            creating: AtomicUsize::new(0),
            changes: watch::Sender::new(0),
            limits_workers: AtomicBool::new(false),
            first,
            keeper,
        });
        let events = root.events(hub::METHODS);
        let downloads = match &inner.containment.downloads {
            Downloads::Refuse => None,
            Downloads::Into(dir) => Some(dir.to_string_lossy().into_owned()),
        };
        let discover = root.post(SetDiscoverTargets { discover: true }, ARMING);
        let files = SetDownloadBehavior {
            behavior: if downloads.is_some() { "allowAndName" } else { "deny" },
            download_path: downloads.as_deref(),
            events_enabled: true,
        };
        let files = root.post(files, ARMING);
        let attach = root.post(auto_attach(), ARMING);
        tokio::spawn(hub::run(Arc::downgrade(&inner), events));
        tokio::spawn(learn_version(Arc::downgrade(&inner), root.post(GetVersion {}, ARMING)));
        let browser = Self { inner };
        discover.await.map_err(|e| wire_error("Target.setDiscoverTargets", e))?;
        files.await.map_err(|e| wire_error("Browser.setDownloadBehavior", e))?;
        attach.await.map_err(|e| wire_error("Target.setAutoAttach", e))?;
        Ok(browser)
    }

    /// Takes over a browser that someone else keeps.
    ///
    /// # Errors
    /// As for launching.
    #[doc(hidden)]
    pub async fn adopt(
        connection: Connection,
        containment: Containment,
    ) -> Result<Self, BrowserError> {
        struct Nobody;
        impl Keep for Nobody {
            fn end(&self) -> std::pin::Pin<Box<dyn Future<Output = ()> + Send + '_>> {
                Box::pin(async {})
            }

            fn closing(&self) -> Closing {
                Closing::Asked
            }
        }
        let id = BrowserId::new("adopted");
        Self::over(connection, id, containment, OpenedBy::Agent, Box::new(Nobody)).await
    }

    /// Which run of which browser this is.
    pub fn id(&self) -> &BrowserId {
        &self.inner.id
    }

    /// Whether the browser is gone for good.
    pub fn is_gone(&self) -> bool {
        self.inner.connection.is_closed()
    }

    /// The open tabs, in the order they opened. Asks nothing of any page.
    pub fn tabs(&self) -> Vec<TabInfo> {
        self.inner.all_tabs().iter().map(|tab| tab.info()).collect()
    }

    /// One open tab.
    ///
    /// # Errors
    /// It is closed, or the browser is gone.
    pub fn tab_info(&self, tab: &TabId) -> Result<TabInfo, BrowserError> {
        self.inner.tab(tab).map(|tab| tab.info())
    }

    /// What the browser reports by itself, from now on.
    pub fn events(&self) -> BrowserEvents {
        self.inner.outlet.subscribe()
    }

    /// Opens an empty tab in the background.
    ///
    /// # Errors
    /// The browser is gone or does not answer.
    pub async fn blank_tab(&self) -> Result<TabId, BrowserError> {
        let tab = self.inner.create_tab(Instant::now() + ARMING).await?;
        Ok(tab.id.clone())
    }

    /// Where a step through a tab's history leads, for the card that asks about it.
    ///
    /// # Errors
    /// The tab is gone or the browser does not answer.
    pub async fn history_destination(
        &self,
        tab: &TabId,
        step: HistoryStep,
    ) -> Result<Option<String>, BrowserError> {
        let tab = self.inner.tab(tab)?;
        let history = tab.session.run(GetHistory {}, ARMING).await;
        let history = history.map_err(|e| wire_error("Page.getNavigationHistory", e))?;
        Ok(entry(&history, step).map(|index| history.entries[index].url.clone()))
    }

    /// Waits until the browser shows a first tab.
    ///
    /// # Errors
    /// None came before the deadline.
    pub async fn first_tab(&self, deadline: Duration) -> Result<TabInfo, BrowserError> {
        let until = Instant::now() + deadline;
        let mut changes = self.inner.changes.subscribe();
        loop {
            if let Some(tab) = self.inner.all_tabs().first() {
                return Ok(tab.info());
            }
            if timeout_at(until, changes.changed()).await.is_err() {
                return Err(BrowserError::NotSeen { what: "a tab".into(), after: deadline });
            }
        }
    }

    /// Closes the browser if it is ours, and lets go of it if it is not. Never waits for a page: what
    /// does not close by itself is ended.
    pub async fn close(&self) {
        let inner = &self.inner;
        // Chromium lets go of requests that wait when their page closes or nobody watches it any more.
        let tabs = inner.all_tabs();
        let failed = tabs.iter().flat_map(|tab| held::fail_all(tab, "the browser was closed"));
        drop(timeout(CLOSING, join_all(failed)).await);
        if inner.keeper.closing() == Closing::Asked {
            let asked = inner.root.run(CloseBrowser {}, CLOSING);
            let closed = async {
                // The answer may be lost with the connection; either means that it is closing.
                drop(asked.await);
                inner.connection.closed().await
            };
            if timeout(CLOSING, closed).await.is_err() {
                tracing::debug!("the browser did not close by itself");
            }
        }
        inner.keeper.end().await;
        inner.connection.close();
    }
}

impl Drop for Inner {
    /// The tasks of its tabs hold the connection too: a start that is given up must not leave one open.
    fn drop(&mut self) {
        self.connection.close();
    }
}

/// The first Chromium that limits what a session's connections reach, those of workers included.
const LIMITS_SINCE: u32 = 149;

/// Nothing waits for it: as long as the version is not known, the browser counts as an old one.
async fn learn_version(browser: Weak<Inner>, asked: Pending<Version>) {
    let known = asked.await.ok().and_then(|version| major(&version.product));
    if let Some(browser) = browser.upgrade() {
        let limits = known.is_some_and(|major| major >= LIMITS_SINCE);
        browser.limits_workers.store(limits, Ordering::Relaxed);
    }
}

impl Inner {
    /// Whether workers reach only what they are told.
    pub(crate) fn limits_workers(&self) -> bool {
        self.limits_workers.load(Ordering::Relaxed)
    }

    /// Whether this is still the browser it was, before anything is sent.
    pub(crate) fn verify(&self) -> Result<(), BrowserError> {
        Ok(self.keeper.verify()?)
    }

    pub(crate) fn tab(&self, id: &TabId) -> Result<Arc<Tab>, BrowserError> {
        self.verify()?;
        if let Some(reason) = self.connection.close_reason() {
            return Err(BrowserError::Gone { reason: reason.to_string() });
        }
        self.lock()
            .values()
            .find(|tab| tab.id == *id)
            .cloned()
            .ok_or_else(|| BrowserError::NoTab(id.clone()))
    }

    pub(crate) fn all_tabs(&self) -> Vec<Arc<Tab>> {
        self.lock().values().cloned().collect()
    }

    /// Windows that are closed before they show anything.
    pub(crate) fn closing(&self) -> MutexGuard<'_, ClosingWindows> {
        self.closing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn workers(&self) -> MutexGuard<'_, HashMap<String, Worker>> {
        self.workers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn recording(&self) -> Option<Arc<Recording>> {
        self.recording.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Begins or ends a recording. False: there is one already.
    pub(crate) fn set_recording(&self, recording: Option<Arc<Recording>>) -> bool {
        let mut now = self.recording.lock().unwrap_or_else(PoisonError::into_inner);
        let free = recording.is_none() || now.is_none();
        if free {
            *now = recording;
        }
        free
    }

    pub(crate) fn add(&self, tab: Arc<Tab>) {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        self.lock().insert(number, tab);
        self.changes.send_modify(|v| *v += 1);
    }

    /// Takes a tab out whose session ended.
    pub(crate) fn remove(&self, session: &str) -> Option<Arc<Tab>> {
        let mut tabs = self.lock();
        let number = tabs.iter().find(|(_, t)| t.session.id() == Some(session)).map(|(n, _)| *n)?;
        let tab = tabs.remove(&number);
        drop(tabs);
        self.changes.send_modify(|v| *v += 1);
        tab
    }

    /// Opens an empty tab and waits until it is watched.
    pub(crate) async fn create_tab(&self, deadline: Instant) -> Result<Arc<Tab>, BrowserError> {
        self.verify()?;
        self.creating.fetch_add(1, Ordering::Relaxed);
        let create = CreateTarget { url: "about:blank", background: Some(true) };
        let left = deadline.saturating_duration_since(Instant::now());
        let created = self.root.run(create, left).await;
        let found = match created {
            Ok(created) => {
                let id = TabId::new(created.target_id);
                let mut changes = self.changes.subscribe();
                loop {
                    match self.tab(&id) {
                        Err(BrowserError::NoTab(_)) => {}
                        other => break other,
                    }
                    if timeout_at(deadline, changes.changed()).await.is_err() {
                        break Err(BrowserError::NotSeen {
                            what: "the new tab".into(),
                            after: left,
                        });
                    }
                }
            }
            Err(error) => Err(wire_error("Target.createTarget", error)),
        };
        self.creating.fetch_sub(1, Ordering::Relaxed);
        let tab = found?;
        tab.state().opened_by = OpenedBy::Agent;
        tab.armed(deadline).await?;
        Ok(tab)
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<u64, Arc<Tab>>> {
        self.tabs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for Browser {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Browser({})", self.inner.id)
    }
}
