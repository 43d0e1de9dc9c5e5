//! What documents that no input reached are held to, because of those that one did: where a page that a
//! step led to may lead its tab, what the next page inherits, and what can be spoken to from another tab
//! . Judgements only.

use crate::fence::{Because, DocumentRequest, Hold};
use crate::tab_state::TabState;
use reins_core::{DocumentId, DocumentOrigin, FrameId, Origin, Sends, Site};
use std::collections::HashSet;

impl TabState {
    /// What holds the document that a page leads a frame to. `related` is what restricts a page that has
    /// a handle on this tab.
    pub(crate) fn handed_on(&self, frame: &FrameId, hold: Hold, related: Option<&Hold>) -> Hold {
        let main = *frame == self.main;
        let lead = if main { self.restriction() } else { self.touched_hold(frame) };
        let reaches = if main {
            self.shown().any(Hold::hands_on) || related.is_some_and(Hold::hands_on)
        } else {
            lead.as_ref().is_some_and(|hold| hold.reaches)
        };
        let other = if main { Because::Arrived } else { Because::Touched };
        let because = lead.as_ref().or(related).map_or(other, |hold| hold.because);
        let because = related
            .filter(|hold| hold.hands_on())
            .map_or(because, |hold| because.max(hold.because));
        if because == Because::Arrived && !reaches {
            return hold.arrived();
        }
        let sends = lead.as_ref().or(related).and_then(|lead| lead.sends.clone());
        hold.next(because, reaches).sending(sends)
    }

    /// Whether a page that is not to lead elsewhere may lead a frame there: within its own site and what
    /// the turn names. The history leads only to where the tab has been.
    pub(crate) fn stays(&self, hold: &Hold, request: DocumentRequest<'_>) -> bool {
        if hold.same_site(request.url) {
            return true;
        }
        let Ok(to) = Origin::parse(request.url) else { return false };
        let shown = self.frames.get(request.frame);
        let home = shown.and_then(|frame| site_of(&frame.origin));
        let document = shown.and_then(|frame| frame.document.as_ref());
        home == Some(to.site())
            || (hold.reaches
                && !hold.forgets()
                && document.is_some_and(|document| self.knows(document, request.url)))
            || (*request.frame == self.main && self.through_history(request.url))
    }

    fn through_history(&self, url: &str) -> bool {
        let place = |url: &str| url.split('#').next().map(str::to_owned);
        self.pending.as_ref().is_some_and(|pending| {
            pending.kind.starts_with("history") && place(&pending.url) == place(url)
        })
    }

    /// Whether an address is of the origin that the tab shows.
    pub(crate) fn is_home(&self, url: &str) -> bool {
        let shown = self.main_frame().and_then(|frame| frame.origin.named_as());
        shown.is_some_and(|shown| Origin::parse(url).as_ref() == Ok(shown))
    }

    /// The main frame shows a document of the back/forward cache. Unless we went there, a page did, or a
    /// person, and nothing tells them apart: it inherits if it is of the same site.
    pub(crate) fn fence_restored(&mut self, frame: &FrameId, before: Option<&DocumentId>) {
        if *frame != self.main || self.fence.navigates() {
            return;
        }
        let Some(before) = before else { return };
        let Some(hold) = self.fence.touched_by(before) else { return };
        let Some(now) = self.frames.get(frame).and_then(|frame| frame.document.clone()) else {
            return;
        };
        let kin = match (self.home_of(before), self.home_of(&now)) {
            (Some(before), Some(now)) => before == now,
            _ => true,
        };
        if kin && !self.fence.is_touched(&now) {
            self.inherit(Some(before), &now);
            self.fence.touch(now, hold);
        }
    }

    /// What the server itself named in a page that is about to be shown.
    pub(crate) fn named_by_server(&mut self, document: &str, sites: HashSet<Site>) {
        let document = DocumentId::new(document);
        for site in sites {
            self.know(document.clone(), site);
        }
    }

    /// The sites of touched documents and of the page around them: other tabs of these can be spoken to,
    /// by storage, channels and cookies.
    pub(crate) fn sites_of(&self, documents: &[DocumentId]) -> HashSet<Site> {
        let touched = self.frames.values().filter(|frame| {
            frame.id == self.main || frame.document.as_ref().is_some_and(|d| documents.contains(d))
        });
        touched.filter_map(|frame| site_at(&frame.url)).collect()
    }

    /// Holds what a document of one of these sites, touched in another tab, can speak to here: unless the
    /// person works here, or input of ours reached it itself. Returns those documents.
    pub(crate) fn stand_beside(
        &mut self,
        hold: &Hold,
        sites: &HashSet<Site>,
        related: bool,
    ) -> Vec<DocumentId> {
        let top = self.main_frame().and_then(|frame| site_at(&frame.url));
        let near = related || top.is_some_and(|top| sites.contains(&top));
        if !near || self.fence.is_persons() || self.closed || self.crashed {
            return Vec::new();
        }
        let beside = self.frames.values().filter(|frame| {
            frame.id == self.main || site_at(&frame.url).is_some_and(|site| sites.contains(&site))
        });
        let beside: Vec<DocumentId> = beside.filter_map(|frame| frame.document.clone()).collect();
        for document in &beside {
            let before = self.fence.holds(document).map(|before| before.because);
            if before != Some(Because::Touched) {
                // It has leave to send elsewhere if the touched one has the same.
                let sends = self.sends_of(document, hold).filter(|own| {
                    matches!(own, Sends::Only(_)) || Some(own) == hold.sends.as_ref()
                });
                self.fence.touch(document.clone(), hold.beside().sending(sends));
            }
        }
        beside
    }

    /// Whether every request of this tab must wait for our word.
    pub(crate) fn must_be_wide(&self) -> bool {
        let near = || {
            let mut documents = self.frames.values().filter_map(|frame| frame.document.as_ref());
            documents.any(|document| self.fence.is_near(document))
        };
        self.fence.whole_is_held() || self.shown().any(|hold| hold.reaches || hold.held) || near()
    }

    /// What holds the documents that are shown.
    fn shown(&self) -> impl Iterator<Item = &Hold> {
        let documents = self.frames.values().filter_map(|frame| frame.document.as_ref());
        documents.filter_map(|document| self.fence.holds(document))
    }
}

fn site_of(origin: &DocumentOrigin) -> Option<Site> {
    match origin {
        DocumentOrigin::Web(origin) | DocumentOrigin::Sandboxed(origin) => Some(origin.site()),
        DocumentOrigin::ScriptBuilt | DocumentOrigin::Browser => None,
    }
}

/// The site of an address. A page that a script built from a blob is of its maker's.
fn site_at(url: &str) -> Option<Site> {
    let url = url.strip_prefix("blob:").unwrap_or(url);
    Origin::parse(url).ok().map(|origin| origin.site())
}
