//! Documents of a tab that no input reached, and that one which it did reach can speak to: the frames inside
//! it, beside it and around it. They load and send within what they and it knew. Where they lead
//! themselves, or frames inside them, to a site that is new to both, the person is asked: a payment frame must be
//! able to show a page of the bank. Judgements only.

use crate::fence::{Fence, Hold, Verdict};
use crate::tab_state::TabState;
use reins_core::{DocumentId, DocumentOrigin, FrameId, Origin, Sends};
use std::collections::HashSet;

/// Documents remembered besides those that are shown.
const DOCUMENTS: usize = 256;

impl Fence {
    pub(crate) fn is_near(&self, document: &DocumentId) -> bool {
        self.near.contains_key(document)
    }

    pub(crate) fn near(&self, document: &DocumentId) -> Option<Hold> {
        self.near.get(document).cloned()
    }

    /// Whether a document is held to the sites it knows, and learns none any more.
    pub(crate) fn is_limited(&self, document: &DocumentId) -> bool {
        self.is_touched(document) || self.is_near(document)
    }
}

impl TabState {
    /// Holds what `touched` documents of this tab can speak to. Returns those documents.
    pub(crate) fn stand_near(&mut self, hold: &Hold, touched: &[DocumentId]) -> Vec<DocumentId> {
        if touched.is_empty() || !hold.reaches || hold.pinned() {
            return Vec::new();
        }
        let others = self.frames.values().filter_map(|frame| frame.document.clone());
        let others: Vec<DocumentId> =
            others.filter(|document| !self.fence.is_touched(document)).collect();
        if self.fence.near.len() + others.len() > DOCUMENTS {
            let shown: HashSet<DocumentId> =
                self.frames.values().filter_map(|frame| frame.document.clone()).collect();
            self.fence.near.retain(|document, _| shown.contains(document));
        }
        let common = self.common_sends(touched);
        for document in &others {
            // It has leave to send elsewhere if the touched one has the same.
            let sends = self
                .sends_of(document, hold)
                .filter(|own| matches!(own, Sends::Only(_)) || Some(own) == common.as_ref());
            self.fence.near.insert(document.clone(), hold.beside().sending(sends));
        }
        others
    }

    /// The person acts in a frame: its document is free, and all others with the last touched one.
    pub(crate) fn leave_near(&mut self, frame: &FrameId) {
        if let Some(document) = self.frames.get(frame).and_then(|frame| frame.document.as_ref()) {
            self.fence.near.remove(document);
        }
        if !self.fence.reaches_any() {
            self.fence.near.clear();
        }
    }

    /// A frame shows a document that the one before made up: it is held as that was.
    pub(crate) fn near_moved(&mut self, before: &DocumentId, now: &DocumentId) {
        if let Some(hold) = self.fence.near(before) {
            self.take_over(before, now);
            self.fence.near.insert(now.clone(), hold);
        }
    }

    /// The near document that answers for a frame: its own, or the one around it that made it.
    pub(crate) fn near_of(&self, frame: &FrameId) -> Option<(DocumentId, Hold)> {
        self.answering(frame, |document| self.fence.near(document))
    }

    /// Judges what a near document loads or sends, unless it is a document.
    pub(crate) fn judge_near(
        &mut self,
        document: &DocumentId,
        hold: &Hold,
        url: &str,
        what: &str,
    ) -> Verdict {
        // What the touched one could send there itself is no way around.
        let spoken = self.speakers().into_iter().any(|(touched, hold)| {
            Origin::parse(url).is_ok_and(|to| self.may_send(&touched, &hold, &to.site()))
        });
        if spoken && !hold.forgets() {
            return Verdict::Pass;
        }
        self.judge_site(document, hold, url, what)
    }

    /// What says that the person is asked before a frame shows a page of a site that is new to it, if it leads
    /// itself there, or is one inside such a frame: what the page said to it may stand in the address.
    pub(crate) fn new_to_frame(&self, frame: &FrameId, url: &str) -> Option<Hold> {
        let (document, hold) = if self.leads_itself(frame) {
            self.near_of(frame)
        } else {
            let around = self.frames.get(frame)?.parent.as_ref()?;
            self.near_of(around).filter(|(document, _)| !self.is_same_party(document))
        }?;
        let to = Origin::parse(url).ok()?.site();
        let own = self.may_send(&document, &hold, &to);
        let known = own
            || self.speakers().iter().any(|(touched, hold)| self.may_send(touched, hold, &to))
            || self.frames.get(frame)?.document.as_ref().is_some_and(|own| self.knows(own, url));
        (!known).then_some(hold)
    }

    /// The touched documents that are shown.
    pub(crate) fn speakers(&self) -> Vec<(DocumentId, Hold)> {
        let shown = self.frames.values().filter_map(|frame| frame.document.as_ref());
        shown
            .filter_map(|document| Some((document.clone(), self.fence.touched_by(document)?)))
            .collect()
    }

    /// Whether a near document is of the site of a touched one: they are one party, which could build its
    /// frames in either.
    pub(crate) fn is_same_party(&self, document: &DocumentId) -> bool {
        let site = |document: &DocumentId| {
            let mut frames = self.frames.values();
            let frame = frames.find(|frame| frame.document.as_ref() == Some(document))?;
            match &frame.origin {
                DocumentOrigin::Web(origin) | DocumentOrigin::Sandboxed(origin) => {
                    Some(origin.site())
                }
                DocumentOrigin::ScriptBuilt | DocumentOrigin::Browser => None,
            }
        };
        let own = site(document);
        own.is_some() && self.speakers().iter().any(|(touched, _)| site(touched) == own)
    }
}
