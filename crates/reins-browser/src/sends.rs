//! Where a held document may send to: what it knows, what the turn names, and what the person's rules say of its
//! origin. Judgements only.

use crate::fence::Hold;
use crate::tab_state::TabState;
use reins_core::{DocumentId, DocumentOrigin, Sends, Site};
use std::collections::BTreeSet;

impl Hold {
    /// Whether what its documents knew before counts for nothing.
    pub(crate) fn forgets(&self) -> bool {
        matches!(self.sends, Some(Sends::Only(_)))
    }
}

impl TabState {
    /// What the person said of where a document that is about to be touched may send to. A frame that a script
    /// built has no origin of its own: it gets the narrower rule of the page around it, and no wider one.
    pub(crate) fn sends_of(&self, document: &DocumentId, hold: &Hold) -> Option<Sends> {
        let mut frame = self.frames.values().find(|f| f.document.as_ref() == Some(document))?;
        let mut own = true;
        // No tree of frames is deeper.
        for _ in 0..64 {
            if let DocumentOrigin::Web(origin) = &frame.origin {
                return match hold.sends_from(origin).cloned()? {
                    Sends::Only(mut sites) => {
                        sites.insert(origin.site());
                        Some(Sends::Only(sites))
                    }
                    wider => own.then_some(wider),
                };
            }
            own = false;
            frame = self.frames.get(frame.parent.as_ref()?)?;
        }
        None
    }

    /// The rule that touched documents have in common.
    pub(crate) fn common_sends(&self, touched: &[DocumentId]) -> Option<Sends> {
        let holds = touched.iter().filter_map(|document| self.fence.holds(document));
        let mut sends = holds.map(|hold| &hold.sends);
        let first = sends.next()?;
        if sends.all(|other| other == first) { first.clone() } else { None }
    }

    /// Whether a held document may send to a site.
    pub(crate) fn may_send(&self, document: &DocumentId, hold: &Hold, site: &Site) -> bool {
        let also = match &hold.sends {
            Some(Sends::Anywhere) => true,
            Some(Sends::Only(sites) | Sends::Also(sites)) => sites.contains(site),
            None => false,
        };
        let known = || self.known_sites(document).any(|known| known == site);
        also || hold.knows(site) || (!hold.forgets() && known())
    }

    /// Adds the sites that held documents may send to. False: they may send anywhere.
    pub(crate) fn add_reachable<'a>(
        &self,
        documents: impl IntoIterator<Item = &'a DocumentId>,
        hold: &Hold,
        sites: &mut BTreeSet<Site>,
    ) -> bool {
        sites.extend(hold.sites());
        match &hold.sends {
            Some(Sends::Anywhere) => return false,
            Some(Sends::Only(more) | Sends::Also(more)) => sites.extend(more.iter().cloned()),
            None => {}
        }
        if !hold.forgets() {
            let known = documents.into_iter().flat_map(|document| self.known_sites(document));
            sites.extend(known.cloned());
        }
        true
    }
}
