//! Shared and service workers: they outlive the documents that speak to them, and belong to no
//! tab. While a document of their site is touched, they reach what such documents and they themselves
//! knew before. Interception comes too late for some of them, so the browser itself gets the rules.

use crate::arm::take_unheld_from_worker;
use crate::browser::Inner;
use crate::fence::shown;
use crate::held::reads;
use crate::protocol::page::{NetworkEnable, RequestWillBeSent, RunIfWaiting, SocketCreated};
use crate::protocol::target::{AttachedToTarget, auto_attach};
use crate::sockets::{Reached, as_web, limit};
use crate::tab::{ARMING, Tab};
use reins_cdp::{Event, EventError, Session};
use reins_core::{Origin, Site};
use std::collections::BTreeSet;
use std::sync::{Arc, Weak};

/// One that runs.
#[derive(Debug)]
pub(crate) struct Worker {
    session: Session,
    pub(crate) url: String,
    /// Where it went by itself while no document of its site was touched.
    known: BTreeSet<Site>,
    /// What it was told to keep to.
    limits: Option<BTreeSet<Site>>,
    /// Sites that it tried and that were told.
    told: BTreeSet<Site>,
}

/// Sites remembered for one worker.
const SITES: usize = 1_000;

/// Watches a worker that came up, and lets it run once what it may reach is in force.
pub(crate) fn attached(browser: &Arc<Inner>, attached: AttachedToTarget) {
    let session = browser.connection.session(&attached.session_id);
    let worker = Worker {
        session: session.clone(),
        url: attached.target_info.url,
        known: BTreeSet::new(),
        limits: None,
        told: BTreeSet::new(),
    };
    browser.workers().insert(attached.session_id.clone(), worker);
    let mut events = session.events(&[RequestWillBeSent::METHOD, SocketCreated::METHOD]);
    let id = attached.session_id;
    let weak = Arc::downgrade(browser);
    let kind = attached.target_info.r#type;
    take_unheld_from_worker(&session, &kind, browser.containment.unheld);
    let enabled = session.post(NetworkEnable::without_bodies(), ARMING);
    drop(session.post(auto_attach(), ARMING));
    // A shared worker takes rules when it is there. A service worker may wait for several sessions, and
    // answers none of them before.
    let comes_later = kind == "shared_worker";
    if comes_later {
        let weak = weak.clone();
        tokio::spawn(async move {
            drop(enabled.await);
            if let Some(browser) = weak.upgrade() {
                update(&browser);
            }
            drop(session.post(RunIfWaiting {}, ARMING));
        });
    } else {
        drop(enabled);
        update(browser);
        drop(session.post(RunIfWaiting {}, ARMING));
    }
    tokio::spawn(async move {
        while let Some(event) = events.next().await {
            let Some(browser) = weak.upgrade() else { return };
            if let Err(error) = note(&browser, &id, &event) {
                tracing::warn!(%error, "an event of a worker was skipped");
            }
        }
    });
}

/// Tells the workers what has changed of what they may reach.
pub(crate) fn update(browser: &Inner) {
    if browser.workers().is_empty() {
        return;
    }
    let tabs = browser.all_tabs();
    let mut workers = browser.workers();
    for worker in workers.values_mut() {
        let limits = touched(&tabs, &worker.url).map(|(_, mut sites)| {
            sites.extend(worker.known.iter().cloned());
            sites
        });
        if limits != worker.limits {
            worker.told.clear();
            drop(worker.session.post(limit(Reached::Anything, limits.as_ref()), ARMING));
            worker.limits = limits;
        }
    }
}

/// Whose a worker is.
#[derive(Debug, PartialEq, Eq)]
enum Maker {
    Site(Site),
    /// A page, but which one its address does not tell.
    Page,
    /// The browser, or an extension: the person's own.
    Person,
}

fn maker(url: &str) -> Maker {
    let inner = url.strip_prefix("blob:").unwrap_or(url);
    if let Ok(origin) = Origin::parse(inner) {
        return Maker::Site(origin.site());
    }
    let scheme = inner.split_once(':').map_or("", |(scheme, _)| scheme);
    if ["chrome", "chrome-extension", "chrome-untrusted", "devtools", "edge"].contains(&scheme) {
        return Maker::Person;
    }
    Maker::Page
}

/// A tab with a touched document of a worker's site, and the sites that are known there. Several tabs
/// share their workers, and each may need what it knows.
fn touched(tabs: &[Arc<Tab>], url: &str) -> Option<(Arc<Tab>, BTreeSet<Site>)> {
    let own = match maker(url) {
        Maker::Site(site) => Some(site),
        Maker::Page => None,
        Maker::Person => return None,
    };
    let mut sites = BTreeSet::new();
    let mut found = None;
    for tab in tabs {
        let held = tab.state().known_around(own.as_ref(), &mut sites);
        if held && found.is_none() {
            found = Some(tab.clone());
        }
    }
    sites.extend(own);
    Some((found?, sites))
}

fn note(browser: &Arc<Inner>, id: &str, event: &Event) -> Result<(), EventError> {
    let (url, what) = if event.method() == SocketCreated::METHOD {
        (as_web(&event.parse::<SocketCreated>()?.url), "open a socket to")
    } else {
        let sent: RequestWillBeSent = event.parse()?;
        let what = if reads(&sent.request.method) { "load from" } else { "send something to" };
        (sent.request.url, what)
    };
    let Ok(origin) = Origin::parse(&url) else { return Ok(()) };
    let site = origin.site();
    let tells = {
        let mut workers = browser.workers();
        let Some(worker) = workers.get_mut(id) else { return Ok(()) };
        match &worker.limits {
            None => {
                if worker.known.len() < SITES {
                    worker.known.insert(site);
                }
                None
            }
            Some(limits) if limits.contains(&site) || !worker.told.insert(site) => None,
            Some(_) => Some(worker.url.clone()),
        }
    };
    let Some((tab, _)) = tells.and_then(|url| touched(&browser.all_tabs(), &url)) else {
        return Ok(());
    };
    let host = shown(&origin.to_string());
    let mut state = tab.state();
    if state.sockets.unheld() {
        return Ok(());
    }
    state.tell_refused(format!(
        "a worker of this page tried to {what} {host}, a site that neither it nor you had named before; refused"
    ));
    drop(state);
    tab.changed();
    Ok(())
}

/// The same, for a tab, whose browser may be gone.
pub(crate) fn update_for(browser: &Weak<Inner>) {
    if let Some(browser) = browser.upgrade() {
        update(&browser);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The workers of the person's extensions are never held for a page.
    #[test]
    fn a_worker_belongs_to_a_site_a_page_or_the_person() {
        let site = |url| Maker::Site(Origin::parse(url).unwrap().site());
        for (url, whose) in [
            ("https://app.shop.example/worker.js#x", site("https://shop.example/")),
            ("blob:https://shop.example/9b1d", site("https://shop.example/")),
            ("blob:null/9b1d", Maker::Page),
            ("data:text/javascript,1", Maker::Page),
            ("", Maker::Page),
            ("chrome-extension://abc/background.js", Maker::Person),
            ("chrome://omnibox-popup.top-chrome/", Maker::Person),
        ] {
            assert_eq!(maker(url), whose, "{url}");
        }
    }
}
