//! No new destinations (DESIGN 6.4, R-221): what a touched document may send to, or load from, are the
//! sites that the turn names or that the document knew before it was touched. Judgements only.

use crate::fence::{Fence, Hold, Verdict, shown};
use crate::held::reads;
use crate::tab_state::TabState;
use reins_core::{DocumentId, DocumentOrigin, FrameId, Origin, Site};
use std::collections::{HashMap, HashSet};

/// Which sites documents know, and which sessions hold all their requests for us.
#[derive(Debug)]
pub(crate) struct Reach {
    /// By document: where it has loaded from, and what its markup names.
    known: HashMap<DocumentId, HashSet<Site>>,
    /// The sites that main documents came from.
    homes: HashMap<DocumentId, Site>,
    /// Documents whose markup was asked for.
    surveyed: HashSet<DocumentId>,
    /// Sessions all of whose requests wait for our word, by their id.
    wide: HashSet<String>,
    /// Those of them that go around their service workers.
    around: HashSet<String>,
    /// The document of each frame that was touched last: its last words come when it is gone already.
    last: HashMap<FrameId, DocumentId>,
    /// Frames of other processes that asked for their own navigation.
    leads_itself: HashSet<FrameId>,
    /// Where pages asked to lead the main frame, since it shows its document. `None`: too many.
    asked: Option<HashSet<String>>,
    /// What was told of a document already.
    told: HashSet<(DocumentId, Site)>,
}

impl Default for Reach {
    fn default() -> Self {
        Self {
            known: HashMap::new(),
            homes: HashMap::new(),
            surveyed: HashSet::new(),
            wide: HashSet::new(),
            around: HashSet::new(),
            last: HashMap::new(),
            leads_itself: HashSet::new(),
            asked: Some(HashSet::new()),
            told: HashSet::new(),
        }
    }
}

/// A request for anything but a document.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ResourceRequest<'a> {
    pub(crate) session: &'a str,
    pub(crate) frame: &'a FrameId,
    /// As the network names it.
    pub(crate) network: Option<&'a str>,
    pub(crate) url: &'a str,
    pub(crate) method: &'a str,
}

/// What holding documents takes.
pub(crate) struct Widening {
    /// Sessions that must hold every request from now on.
    pub(crate) sessions: Vec<reins_cdp::Session>,
    /// Sessions that must go around their service workers: behind one, what is sent cannot be held.
    pub(crate) around: Vec<reins_cdp::Session>,
    /// Documents whose markup is not known yet.
    pub(crate) unknown: Vec<FrameId>,
}

fn without_fragment(url: &str) -> &str {
    url.split_once('#').map_or(url, |(url, _)| url)
}

/// Sites remembered for one document. A page with more is no page that a person reads.
const SITES: usize = 1_000;

/// Documents remembered besides those that are shown or touched.
const DOCUMENTS: usize = 256;

impl TabState {
    /// A document loads from an address before it was touched: it knows that site.
    pub(crate) fn learn(
        &mut self,
        document: &str,
        frame: Option<&str>,
        url: &str,
        is_document: bool,
    ) {
        let Some(site) = Origin::parse(url).ok().map(|origin| origin.site()) else { return };
        let own = DocumentId::new(document);
        if is_document && frame == Some(self.main.as_str()) {
            self.reach.homes.insert(own.clone(), site.clone());
        }
        // What comes out of the back/forward cache loads before it is said to be shown, and may inherit.
        let late = || {
            let frame = frame.map_or_else(|| self.main.clone(), FrameId::new);
            let shown = self.frames.get(&frame).and_then(|frame| frame.document.as_ref());
            shown.is_some_and(|shown| *shown != own && self.fence.is_touched(shown))
        };
        let inherits = !is_document && (self.fence.leads_to_heir(document) || late());
        if !inherits && !self.fence.is_limited(&own) {
            self.know(own, site.clone());
        }
        // What stands in a frame is loaded by the document around it.
        let parent = frame.filter(|_| is_document).and_then(|frame| {
            let parent = self.frames.get(&FrameId::new(frame))?.parent.clone()?;
            self.frames.get(&parent)?.document.clone()
        });
        if let Some(parent) = parent
            && !self.fence.is_limited(&parent)
        {
            self.know(parent, site);
        }
    }

    /// What a document's markup names, asked for as it is touched first.
    pub(crate) fn survey(&mut self, document: &DocumentId, urls: &[String]) {
        self.reach.surveyed.insert(document.clone());
        for url in urls {
            if let Ok(origin) = Origin::parse(url) {
                self.know(document.clone(), origin.site());
            }
        }
    }

    /// What a document that inherits knows: what the one before knew, what others of its site have
    /// loaded from in this tab, and what it was told already.
    pub(crate) fn inherit(&mut self, from: Option<&DocumentId>, to: &DocumentId) {
        let Reach { known, homes, surveyed, .. } = &mut self.reach;
        let home = homes.get(to);
        let kin = |document: &DocumentId| home.is_some() && homes.get(document) == home;
        let mut sites: HashSet<Site> = home.into_iter().cloned().collect();
        for (document, knows) in known.iter() {
            if document == to || Some(document) == from || kin(document) {
                sites.extend(knows.iter().cloned());
            }
        }
        known.insert(to.clone(), sites);
        surveyed.insert(to.clone());
    }

    /// The site that a main document came from.
    pub(crate) fn home_of(&self, document: &DocumentId) -> Option<&Site> {
        self.reach.homes.get(document)
    }

    /// A document made another one: it knows what its maker knew.
    pub(crate) fn take_over(&mut self, from: &DocumentId, to: &DocumentId) {
        if let Some(sites) = self.reach.known.get(from).cloned() {
            self.reach.known.insert(to.clone(), sites);
        }
        self.reach.surveyed.insert(to.clone());
    }

    pub(crate) fn know(&mut self, document: DocumentId, site: Site) {
        if self.reach.known.len() >= DOCUMENTS && !self.reach.known.contains_key(&document) {
            let shown: HashSet<DocumentId> =
                self.frames.values().filter_map(|frame| frame.document.clone()).collect();
            let fence = &self.fence;
            self.reach.known.retain(|known, _| shown.contains(known) || fence.is_limited(known));
            let known = &self.reach.known;
            self.reach.homes.retain(|document, _| known.contains_key(document));
        }
        let sites = self.reach.known.entry(document).or_default();
        if sites.len() < SITES {
            sites.insert(site);
        }
    }

    /// What has to be done for these documents that are about to be touched. `limited`: the browser limits what
    /// workers reach.
    pub(crate) fn widen(&mut self, documents: &[DocumentId], limited: bool) -> Widening {
        let (mut sessions, mut around, mut unknown) = (Vec::new(), Vec::new(), Vec::new());
        for frame in self.frames.values() {
            let Some(document) = frame.document.as_ref().filter(|d| documents.contains(d)) else {
                continue;
            };
            self.reach.last.insert(frame.id.clone(), document.clone());
            if !self.reach.surveyed.contains(document) {
                unknown.push(frame.id.clone());
            }
            let session = frame.session.id().unwrap_or_default();
            if self.reach.wide.insert(session.to_owned()) {
                sessions.push(frame.session.clone());
            }
            let held = self.fence.holds(document).is_some_and(|hold| hold.held)
                || self.fence.near(document).is_some_and(|hold| hold.held);
            if (held || !limited) && self.reach.around.insert(session.to_owned()) {
                around.push(frame.session.clone());
            }
        }
        Widening { sessions, around, unknown }
    }

    /// A session must go around its service worker from now on. Whether it did not before.
    pub(crate) fn goes_around(&mut self, session: &str) -> bool {
        self.reach.around.insert(session.to_owned())
    }

    /// Whether every request of a session waits for our word.
    pub(crate) fn holds_all(&self, session: &str) -> bool {
        self.reach.wide.contains(session)
    }

    /// A session must hold every request from now on. Whether it did not before.
    pub(crate) fn is_widened(&mut self, session: &str) -> bool {
        self.reach.wide.insert(session.to_owned())
    }

    /// A frame in another process comes up. Whether its requests are to be held.
    pub(crate) fn starts_wide(&mut self, session: &str) -> bool {
        let wide = !self.reach.wide.is_empty() && self.must_be_wide();
        if wide {
            self.reach.wide.insert(session.to_owned());
        }
        wide
    }

    /// Sessions that need not hold everything any more: no touched document is shown.
    pub(crate) fn narrow(&mut self) -> Vec<reins_cdp::Session> {
        if self.reach.wide.is_empty() || self.must_be_wide() {
            return Vec::new();
        }
        let wide = std::mem::take(&mut self.reach.wide);
        self.reach.around.clear();
        self.reach.last.clear();
        let mut sessions: Vec<reins_cdp::Session> = Vec::new();
        for frame in self.frames.values() {
            let id = frame.session.id();
            if id.is_some_and(|id| wide.contains(id)) && sessions.iter().all(|s| s.id() != id) {
                sessions.push(frame.session.clone());
            }
        }
        sessions
    }

    /// A page asked for a navigation of a frame, by the session that said so.
    pub(crate) fn asked_to_navigate(&mut self, frame: &FrameId, url: &str, session: Option<&str>) {
        if *frame == self.main {
            let full = self.reach.asked.as_ref().is_some_and(|asked| asked.len() >= SITES);
            if full {
                self.reach.asked = None;
            } else if let Some(asked) = &mut self.reach.asked {
                asked.insert(without_fragment(url).to_owned());
            }
            return;
        }
        let Some(shown) = self.frames.get(frame) else { return };
        let around = shown.parent.as_ref().and_then(|parent| self.frames.get(parent));
        let itself = shown.session.id() == session
            && around.is_some_and(|around| around.session.id() != session);
        if itself {
            self.reach.leads_itself.insert(frame.clone());
        } else {
            self.reach.leads_itself.remove(frame);
        }
    }

    /// Whether a frame of another process asked for its own navigation.
    pub(crate) fn leads_itself(&self, frame: &FrameId) -> bool {
        self.reach.leads_itself.contains(frame)
    }

    /// Whether a page of the tab asked to lead the main frame there.
    pub(crate) fn page_asked(&self, url: &str) -> bool {
        self.reach.asked.as_ref().is_none_or(|asked| asked.contains(without_fragment(url)))
    }

    /// The main frame shows another document: what the one before asked for is done with.
    pub(crate) fn main_moved(&mut self) {
        self.reach.asked = Some(HashSet::new());
    }

    /// Judges a document request of a frame inside that nothing else restricts.
    pub(crate) fn judge_frame(&mut self, frame: &FrameId, url: &str) -> Verdict {
        if self.leads_itself(frame) {
            return Verdict::Pass;
        }
        let parent = self.frames.get(frame).and_then(|f| f.parent.clone());
        let holder = parent.and_then(|parent| {
            self.holder(&parent).or_else(|| {
                self.near_of(&parent).filter(|(document, _)| self.is_same_party(document))
            })
        });
        let Some((document, hold)) = holder else { return Verdict::Pass };
        let own = self.frames.get(frame).and_then(|f| f.document.clone());
        if own.is_some_and(|own| self.knows(&own, url)) && !hold.forgets() {
            return Verdict::Pass;
        }
        self.judge_site(&document, &hold, url, "load a frame from")
    }

    /// Judges anything but a document.
    pub(crate) fn judge_resource(&mut self, request: ResourceRequest<'_>) -> Verdict {
        let what = if reads(request.method) { "load something from" } else { "send something to" };
        if let Some((document, hold)) = self.holder_of(request, Fence::touched_by, Self::holder) {
            return self.judge_site(&document, &hold, request.url, what);
        }
        match self.holder_of(request, Fence::near, Self::near_of) {
            Some((document, hold)) => self.judge_near(&document, &hold, request.url, what),
            None => Verdict::Pass,
        }
    }

    /// The document that answers for a request, as `held` tells by document and `around` by frame.
    fn holder_of(
        &self,
        request: ResourceRequest<'_>,
        held: impl Fn(&Fence, &DocumentId) -> Option<Hold>,
        around: impl Fn(&Self, &FrameId) -> Option<(DocumentId, Hold)>,
    ) -> Option<(DocumentId, Hold)> {
        let by_network = request.network.and_then(|network| {
            let key = (request.session.to_owned(), network.to_owned());
            let document = DocumentId::new(self.requests.get(&key)?.document.as_str());
            let hold = held(&self.fence, &document);
            Some(hold.map(|hold| (document, hold)))
        });
        match by_network {
            // The document is known. If it is not held, it may be one that a held one made.
            Some(Some(found)) => Some(found),
            Some(None) => around(self, request.frame),
            None => around(self, request.frame).or_else(|| {
                let document = self.reach.last.get(request.frame)?.clone();
                let hold = held(&self.fence, &document)?;
                Some((document, hold))
            }),
        }
    }

    /// The touched document that answers for a frame: its own, or the one around it that made it.
    pub(crate) fn holder(&self, frame: &FrameId) -> Option<(DocumentId, Hold)> {
        self.answering(frame, |document| self.fence.touched_by(document))
    }

    /// The document for which `held` finds something, of a frame or of those around it that made it.
    pub(crate) fn answering(
        &self,
        frame: &FrameId,
        held: impl Fn(&DocumentId) -> Option<Hold>,
    ) -> Option<(DocumentId, Hold)> {
        let mut at = frame;
        // No tree of frames is deeper; one that is being rebuilt could hold a circle for a moment.
        for _ in 0..64 {
            let shown = self.frames.get(at)?;
            if let Some(document) = &shown.document
                && let Some(hold) = held(document)
            {
                return Some((document.clone(), hold));
            }
            let around = self.frames.get(shown.parent.as_ref()?)?;
            let made = match &shown.origin {
                DocumentOrigin::ScriptBuilt | DocumentOrigin::Browser => true,
                DocumentOrigin::Sandboxed(own) | DocumentOrigin::Web(own) => match &around.origin {
                    DocumentOrigin::Web(outer) | DocumentOrigin::Sandboxed(outer) => {
                        own.site() == outer.site()
                    }
                    DocumentOrigin::ScriptBuilt | DocumentOrigin::Browser => true,
                },
            };
            if !made {
                return None;
            }
            at = &around.id;
        }
        None
    }

    /// The document of a frame that was touched last, shown or gone.
    pub(crate) fn last_touched(&self, frame: &FrameId) -> Option<DocumentId> {
        self.reach.last.get(frame).cloned()
    }

    /// The sites that a document knows.
    pub(crate) fn known_sites(&self, document: &DocumentId) -> impl Iterator<Item = &Site> {
        self.reach.known.get(document).into_iter().flatten()
    }

    pub(crate) fn knows(&self, document: &DocumentId, url: &str) -> bool {
        let Ok(origin) = Origin::parse(url) else { return true };
        self.reach.known.get(document).is_some_and(|sites| sites.contains(&origin.site()))
    }

    pub(crate) fn judge_site(
        &mut self,
        document: &DocumentId,
        hold: &Hold,
        url: &str,
        what: &str,
    ) -> Verdict {
        let Ok(origin) = Origin::parse(url) else { return Verdict::Pass };
        let site = origin.site();
        if self.may_send(document, hold, &site) {
            return Verdict::Pass;
        }
        // Once for each site: a page that tries again and again is not told again and again.
        let first = self.reach.told.insert((document.clone(), site));
        let host = shown(&origin.to_string());
        Verdict::Refuse(first.then(|| {
            format!("this page tried to {what} {host}, a site that neither it nor you had named before; refused")
        }))
    }
}
