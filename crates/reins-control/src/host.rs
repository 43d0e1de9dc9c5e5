//! The browser behind the street: started at the first call that needs it, and again when lost.

use crate::call::{Call, browser_error};
use crate::control::{BrowserSource, Control, ControlOptions};
use crate::error::ControlError;
use crate::way_out::{Beyond, WayOut};
use futures_util::future::BoxFuture;
use reins_browser::{
    Browser, BrowserError, BrowserEvent, BrowserEvents, Connections, Containment, Destinations,
    Downloads, LaunchOptions, OpenedBy, Popups, Profile, Records, TopLevel, Unheld,
};
use reins_core::{OriginPattern, TabId};
use reins_egress::Refusals;
use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio_util::sync::CancellationToken;

/// Gives a browser each time one is needed: for tests with a browser of their own.
#[derive(Clone)]
#[doc(hidden)]
pub struct GivenBrowser(Arc<Give>);

type Give = dyn Fn(Containment) -> BoxFuture<'static, Result<Browser, BrowserError>> + Send + Sync;

impl GivenBrowser {
    /// `give` is asked at the first call that needs a browser, and again when that one is gone.
    pub fn new(
        give: impl Fn(Containment) -> BoxFuture<'static, Result<Browser, BrowserError>>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        Self(Arc::new(give))
    }
}

impl std::fmt::Debug for GivenBrowser {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("GivenBrowser")
    }
}

/// Holds the browser while there is one.
#[derive(Debug)]
pub(crate) struct Host {
    source: BrowserSource,
    containment: Containment,
    /// The app, where the browser is pinned.
    app: Vec<OriginPattern>,
    beyond: Beyond,
    /// Whether pages have what nothing can hold.
    calls: bool,
    browser: tokio::sync::Mutex<Option<Browser>>,
    /// What a pinned browser goes out by.
    way_out: Mutex<Option<WayOut>>,
    /// Ends a start under way, so that closing waits for none.
    closing: CancellationToken,
    /// Tabs already given to a session.
    taken: Mutex<HashSet<TabId>>,
}

impl Host {
    pub(crate) fn new(options: &ControlOptions) -> Self {
        let pinned = !options.app.is_empty();
        Self {
            source: options.source.clone(),
            app: options.app.clone(),
            beyond: options.beyond.clone(),
            calls: options.calls,
            way_out: Mutex::default(),
            containment: Containment {
                top_level: if pinned { TopLevel::Only(options.app.clone()) } else { TopLevel::Any },
                popups: Popups::Allow,
                destinations: Destinations::Known,
                downloads: match &options.downloads {
                    Some(dir) => Downloads::Into(dir.clone()),
                    None => Downloads::Refuse,
                },
                upload_roots: options.upload_roots.clone(),
                records: if options.inspect { Records::LogAndTraffic } else { Records::Nothing },
                connections: Connections::Direct,
                unheld: Unheld::Left,
            },
            browser: tokio::sync::Mutex::new(None),
            closing: CancellationToken::new(),
            taken: Mutex::default(),
        }
    }

    /// The browser, started or attached to if need be.
    pub(crate) async fn browser(&self, control: &Control) -> Result<Browser, ControlError> {
        // This lock only orders starts; page work never holds it.
        let mut slot = self.browser.lock().await;
        if let Some(browser) = slot.as_ref().filter(|browser| !browser.is_gone()) {
            return Ok(browser.clone());
        }
        if slot.take().is_some() {
            self.taken.lock().unwrap_or_else(PoisonError::into_inner).clear();
            for session in control.all_sessions() {
                session.state().forget_all();
            }
        }
        let browser = tokio::select! {
            biased;
            // A start that is dropped takes its browser with it.
            () = self.closing.cancelled() => return Err(ControlError::Stopped),
            started = self.start() => started?,
        };
        tokio::spawn(watch(browser.events(), control.clone()));
        *slot = Some(browser.clone());
        Ok(browser)
    }

    async fn start(&self) -> Result<Browser, ControlError> {
        let started = match &self.source {
            BrowserSource::Launch { binary, headless, profile, no_sandbox } => {
                let mut containment = self.containment.clone();
                if !self.app.is_empty() {
                    let way_out = WayOut::open(&self.app, &self.beyond).await?;
                    containment.connections = way_out.connections();
                    // That of a browser that is gone ends here.
                    *self.way_out() = Some(way_out);
                } else if !self.calls {
                    containment.unheld = Unheld::Taken;
                }
                Browser::launch(LaunchOptions {
                    binary: binary.clone(),
                    headless: *headless,
                    profile: profile.clone().map_or(Profile::Temporary, Profile::Persistent),
                    no_sandbox: *no_sandbox,
                    containment,
                    ..LaunchOptions::default()
                })
                .await
            }
            BrowserSource::Dedicated(profile) => {
                Browser::attach(profile, self.containment.clone()).await
            }
            BrowserSource::Given(GivenBrowser(give)) => give(self.containment.clone()).await,
        };
        started.map_err(|error| browser_error(&error))
    }

    /// What a pinned browser tried to reach and may not.
    pub(crate) fn refusals(&self) -> Refusals {
        self.way_out().as_ref().map(WayOut::refusals).unwrap_or_default()
    }

    fn way_out(&self) -> MutexGuard<'_, Option<WayOut>> {
        self.way_out.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A tab for a session that has none: the browser's first empty one, or a new one.
    pub(crate) async fn fresh_tab(&self, browser: &Browser) -> Result<TabId, ControlError> {
        let free = {
            let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
            let free = browser.tabs().into_iter().find(|tab| {
                tab.opened_by == OpenedBy::Agent
                    && tab.url == "about:blank"
                    && !taken.contains(&tab.id)
            });
            if let Some(tab) = &free {
                taken.insert(tab.id.clone());
            }
            free
        };
        match free {
            Some(tab) => Ok(tab.id),
            None => {
                let tab = browser.blank_tab().await.map_err(|error| browser_error(&error))?;
                self.taken.lock().unwrap_or_else(PoisonError::into_inner).insert(tab.clone());
                Ok(tab)
            }
        }
    }

    /// Closes the browser if there is one, and starts none any more.
    pub(crate) async fn close(&self) {
        self.closing.cancel();
        let browser = self.browser.lock().await.take();
        if let Some(browser) = browser {
            browser.close().await;
        }
        let way_out = self.way_out().take();
        if let Some(way_out) = way_out {
            way_out.close().await;
        }
    }
}

/// Follows what the browser reports by itself. A closed enum, one task, until the browser is gone.
async fn watch(mut events: BrowserEvents, control: Control) {
    while let Some(event) = events.next().await {
        match event {
            BrowserEvent::TabClosed { tab } => {
                for session in control.all_sessions() {
                    session.state().forget(&tab);
                }
            }
            BrowserEvent::PersonInput { tab, .. } => {
                for session in control.all_sessions() {
                    let uses = session.state().tabs.contains(&tab);
                    if uses {
                        Call::person_seen(&session);
                    }
                }
            }
            BrowserEvent::TabOpened { tab, opener: Some(opener) } => {
                for session in control.all_sessions() {
                    let mut state = session.state();
                    if state.tabs.contains(&opener) {
                        state.adopt(&tab, true);
                    }
                }
            }
            BrowserEvent::Download { tab, download } => {
                for session in control.all_sessions() {
                    let mut state = session.state();
                    if tab.as_ref().is_none_or(|tab| state.tabs.contains(tab)) {
                        state.download = Some(download.clone());
                    }
                }
            }
            BrowserEvent::Gone { .. } => break,
            BrowserEvent::TabOpened { opener: None, .. }
            | BrowserEvent::TabCrashed { .. }
            | BrowserEvent::DialogOpened { .. }
            | BrowserEvent::DialogClosed { .. }
            | BrowserEvent::FilesWanted { .. } => {}
        }
    }
}
