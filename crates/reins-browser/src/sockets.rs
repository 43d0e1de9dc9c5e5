//! Sockets of touched documents (R-221). Interception does not see them, so the browser itself is told
//! which sites those of a session may go to.

use crate::fence::{Hold, Verdict, shown};
use crate::page_call::{ask, call};
use crate::protocol::page::{LimitConnections, NetworkConditions};
use crate::tab::{ARMING, Tab};
use crate::tab_state::TabState;
use crate::workers;
use reins_cdp::wire::Command;
use reins_cdp::{Pending, Session};
use reins_core::{DocumentId, FrameId, Origin, Site};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

/// What was told to which session.
#[derive(Debug, Default)]
pub(crate) struct Sockets {
    /// By session: the sites that its sockets may go to.
    told: HashMap<String, BTreeSet<Site>>,
    /// The browser does not take such rules: it is older than they are.
    unheld: bool,
    /// It took one.
    taken: bool,
}

impl Sockets {
    /// A session ended.
    pub(crate) fn gone(&mut self, session: &str) {
        self.told.remove(session);
    }

    /// Whether the browser is known not to take rules.
    pub(crate) fn unheld(&self) -> bool {
        self.unheld
    }
}

/// A session, and the sites that its sockets may go to from now on; `None`: any.
pub(crate) type Change = (Session, Option<BTreeSet<Site>>);

/// What goes by rules of the browser.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Reached {
    /// Sockets: everything else is intercepted.
    Sockets,
    /// All connections.
    Anything,
}

impl Reached {
    fn schemes(self) -> &'static str {
        match self {
            Self::Sockets => "ws{s}?",
            Self::Anything => "*",
        }
    }
}

/// Connections may go to these sites only, or anywhere.
pub(crate) fn limit(what: Reached, sites: Option<&BTreeSet<Site>>) -> LimitConnections {
    let schemes = what.schemes();
    let condition = |url_pattern: String, offline| NetworkConditions {
        url_pattern,
        offline,
        latency: 0.0,
        download_throughput: -1.0,
        upload_throughput: -1.0,
    };
    let known = sites.into_iter().flatten().filter_map(host_pattern);
    let known = known.map(|host| condition(format!("{schemes}://{host}:*"), false));
    let elsewhere = sites.map(|_| condition(format!("{schemes}://*:*"), true));
    LimitConnections { matched_network_conditions: known.chain(elsewhere).collect() }
}

/// The hosts of a site as a pattern. Characters that mean something in patterns are in no real host.
fn host_pattern(site: &Site) -> Option<String> {
    let site = site.to_string();
    if let Some(address) = site.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        return Some(format!("[{}]", address.replace(':', "\\:")));
    }
    let plain = |c: char| c.is_ascii_alphanumeric() || "-._".contains(c);
    site.chars().all(plain).then(|| format!("{{*.}}?{site}"))
}

impl TabState {
    /// What has changed of what sockets may reach. What is returned has to be told at once.
    pub(crate) fn limit_sockets(&mut self) -> Vec<Change> {
        if self.sockets.unheld || (self.sockets.told.is_empty() && !self.fence.reaches_any()) {
            return Vec::new();
        }
        let speakers = self.speakers();
        let mut sessions: HashMap<String, Change> = HashMap::new();
        let mut free = HashSet::new();
        for frame in self.frames.values() {
            let id = frame.session.id().unwrap_or_default().to_owned();
            let entry = sessions.entry(id.clone()).or_insert_with(|| (frame.session.clone(), None));
            if let Some((document, hold)) = self.holder(&frame.id) {
                let sites = entry.1.get_or_insert_default();
                let own = frame.document.iter().chain([&document]);
                if !self.add_reachable(own, &hold, sites) {
                    free.insert(id);
                }
            } else if let Some((document, hold)) = self.near_of(&frame.id) {
                let sites = entry.1.get_or_insert_default();
                let own = frame.document.iter().chain([&document]);
                let mut limited = self.add_reachable(own, &hold, sites);
                // What a touched one could send there itself is no way around.
                for (touched, spoken) in speakers.iter().filter(|_| !hold.forgets()) {
                    limited &= self.add_reachable([touched], spoken, sites);
                }
                if !limited {
                    free.insert(id);
                }
            }
        }
        let mut changes = Vec::new();
        for (id, (session, sites)) in sessions {
            let sites = sites.filter(|_| !free.contains(&id));
            if self.sockets.told.get(&id) == sites.as_ref() {
                continue;
            }
            match &sites {
                Some(sites) => self.sockets.told.insert(id, sites.clone()),
                None => self.sockets.told.remove(&id),
            };
            changes.push((session, sites));
        }
        changes
    }

    /// A frame in another process comes up that a touched document may have made: until it shows
    /// something of its own it is held as the documents of its tab are.
    pub(crate) fn limit_new(&mut self, session: &Session) -> Option<BTreeSet<Site>> {
        if self.sockets.unheld {
            return None;
        }
        let mut sites = BTreeSet::new();
        let (mut held, mut free) = (false, false);
        for document in self.frames.values().filter_map(|frame| frame.document.as_ref()) {
            if let Some(hold) = self.fence.touched_by(document) {
                let limited = self.add_reachable([document], &hold, &mut sites);
                (held, free) = (held || limited, free || !limited);
            }
        }
        // Which of them made it is not known yet.
        if free && !held {
            return None;
        }
        let id = session.id().unwrap_or_default().to_owned();
        self.sockets.told.insert(id, sites.clone());
        Some(sites)
    }

    /// Adds what the documents of a site know, and says whether one of them is touched. `None`: any site.
    pub(crate) fn known_around(&self, own: Option<&Site>, sites: &mut BTreeSet<Site>) -> bool {
        let mut held = false;
        for frame in self.frames.values() {
            let Some(document) = &frame.document else { continue };
            let at = frame.origin.named_as().map(reins_core::Origin::site);
            if own.is_some() && at.as_ref() != own {
                continue;
            }
            let hold = self.fence.touched_by(document).or_else(|| self.fence.near(document));
            if let Some(hold) = &hold {
                held |= self.add_reachable([document], hold, sites);
            }
            if !hold.is_some_and(|hold| hold.forgets()) {
                sites.extend(self.known_sites(document).cloned());
            }
        }
        held
    }

    /// A page asked for a socket: what becomes of it, and what is told.
    pub(crate) fn socket_opened(&mut self, session: Option<&str>, url: &str) {
        let web = as_web(url);
        let Some((document, hold)) = self.session_holder(session) else {
            self.held.channel = true;
            self.learn_socket(session, &web);
            return;
        };
        let told = self.sockets.told.get(session.unwrap_or_default()).or_else(|| {
            // Workers go by the rules of their document.
            self.sockets.told.get(self.main_frame()?.session.id()?)
        });
        let site = Origin::parse(&web).ok().map(|origin| origin.site());
        if told.is_some_and(|sites| site.is_none_or(|site| !sites.contains(&site))) {
            let verdict = self.judge_site(&document, &hold, &web, "open a socket to");
            if let Verdict::Refuse(Some(what)) = verdict {
                self.tell_refused(what);
            }
            return;
        }
        self.held.channel = true;
        if hold.held {
            let url = shown(url);
            self.tell_refused(format!(
                "this page opened a socket to {url}; what it sends there cannot be held"
            ));
        }
        if !self.is_news(&document, &hold, &web, "open a socket to") {
            return;
        }
        let site = shown(url);
        self.tell_refused(format!(
            "this page opened a socket to a site it did not know before, {site}; this browser offers no way to refuse one"
        ));
    }

    /// A page opened a WebTransport connection, which nothing can hold.
    pub(crate) fn transport_opened(&mut self, session: Option<&str>, url: &str) {
        self.held.channel = true;
        let Some((document, hold)) = self.session_holder(session) else {
            self.learn_socket(session, url);
            return;
        };
        if !self.is_news(&document, &hold, url, "connect to") {
            return;
        }
        let site = shown(url);
        self.tell_refused(format!(
            "this page connected by WebTransport to a site it did not know before, {site}; the browser offers no way to refuse that"
        ));
    }

    /// A touched document among those of a session, or the main one: workers have sessions of their own.
    fn session_holder(&self, session: Option<&str>) -> Option<(DocumentId, Hold)> {
        let frames = self.frames_of(session);
        let touched = frames.iter().find_map(|frame| self.holder(frame));
        touched.or_else(|| frames.iter().find_map(|frame| self.near_of(frame)))
    }

    fn frames_of(&self, session: Option<&str>) -> Vec<FrameId> {
        let own = self.frames.values().filter(|frame| frame.session.id() == session);
        let own: Vec<FrameId> = own.map(|frame| frame.id.clone()).collect();
        if own.is_empty() { vec![self.main.clone()] } else { own }
    }

    fn learn_socket(&mut self, session: Option<&str>, web: &str) {
        for frame in self.frames_of(session) {
            let document = self.frames.get(&frame).and_then(|frame| frame.document.clone());
            if let Some(document) = document {
                self.learn(document.as_str(), None, web, false);
            }
        }
    }

    /// Whether a site is new to a document, and that was not told yet.
    fn is_news(&mut self, document: &DocumentId, hold: &Hold, url: &str, what: &str) -> bool {
        matches!(self.judge_site(document, hold, url, what), Verdict::Refuse(Some(_)))
    }
}

/// A socket's address as that of the host it goes to.
pub(crate) fn as_web(url: &str) -> String {
    url.replacen("ws", "http", 1)
}

/// Tells the browser what has changed, after something that changes it. Commands are carried out in the
/// order in which they are sent, so nothing has to wait for the answers.
pub(crate) fn update(tab: &Arc<Tab>) {
    for (session, sites) in update_rules(tab) {
        let frames = tab.state().frames_of(session.id());
        for frame in frames {
            tell_document(tab, &frame, sites.as_ref());
        }
    }
}

/// The same after a frame has moved on. No document is told: the old one may wait in the back/forward
/// cache, where it would be thrown out for running script; the new one is told as it comes up.
pub(crate) fn moved(tab: &Arc<Tab>) {
    update_rules(tab);
}

fn update_rules(tab: &Arc<Tab>) -> Vec<Change> {
    workers::update_for(&tab.browser);
    let (changes, new) = {
        let mut state = tab.state();
        (state.limit_sockets(), !state.sockets.taken)
    };
    for (session, sites) in &changes {
        let answer = session.post(limit(Reached::Sockets, sites.as_ref()), ARMING);
        if new {
            learn_whether_taken(tab, answer);
        }
    }
    changes
}

/// A document that a frame shows in a session with rules. The main one is told once it is parsed: its world
/// may come up before it is known whose it is.
pub(crate) fn shows(tab: &Tab, frame: &FrameId, parsed: bool) {
    let sites = {
        let state = tab.state();
        if *frame == state.main && !parsed {
            return;
        }
        let session = state.frames.get(frame).and_then(|frame| frame.session.id());
        session.and_then(|session| state.sockets.told.get(session)).cloned()
    };
    if let Some(sites) = sites {
        tell_document(tab, frame, Some(&sites));
    }
}

/// A page that goes away has left its session when it says its last words: no rule of the session holds
/// what it opens then, so the page script sees to it.
fn tell_document(tab: &Tab, frame: &FrameId, sites: Option<&BTreeSet<Site>>) {
    let Some((world, _)) = tab.world(frame) else { return };
    let hosts: Option<Vec<String>> = sites.map(|sites| {
        sites.iter().filter(|site| host_pattern(site).is_some()).map(Site::to_string).collect()
    });
    drop(ask(&world, &call("limitSockets", &hosts), false, ARMING));
}

fn learn_whether_taken(tab: &Arc<Tab>, answer: Pending<<LimitConnections as Command>::Answer>) {
    let tab = tab.clone();
    tokio::spawn(async move {
        let taken = answer.await;
        let mut state = tab.state();
        match taken {
            Ok(_) => state.sockets.taken = true,
            Err(error) if error.is_gone() => {}
            Err(error) => {
                tracing::info!(%error, "this browser cannot limit sockets");
                state.sockets.unheld = true;
                state.sockets.told.clear();
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn site(url: &str) -> Site {
        Origin::parse(url).unwrap().site()
    }

    #[test]
    fn r221_sockets_may_go_to_the_hosts_of_known_sites_only() {
        let sites = ["https://a.b.example.co.uk/", "http://127.0.0.1:1/", "http://[::1]:9/"];
        let rules = limit(Reached::Sockets, Some(&sites.into_iter().map(site).collect()));
        let rules: Vec<(String, bool)> = rules
            .matched_network_conditions
            .into_iter()
            .map(|rule| (rule.url_pattern, rule.offline))
            .collect();
        for known in
            [r"ws{s}?://{*.}?example.co.uk:*", r"ws{s}?://{*.}?127.0.0.1:*", r"ws{s}?://[\:\:1]:*"]
        {
            assert!(rules.contains(&(known.to_owned(), false)), "{known} {rules:?}");
        }
        assert_eq!(rules.last().unwrap(), &("ws{s}?://*:*".to_owned(), true));
        assert!(limit(Reached::Sockets, None).matched_network_conditions.is_empty());
    }

    /// A page can load from a host whose name means something in a pattern.
    #[test]
    fn a_host_that_looks_like_a_pattern_opens_nothing() {
        for url in ["http://*/", "http://(.*)/", "http://{x}/", "http://a+/"] {
            if let Ok(origin) = Origin::parse(url) {
                assert_eq!(host_pattern(&origin.site()), None, "{url}");
            }
        }
    }
}
