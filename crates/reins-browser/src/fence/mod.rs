//! What the pages of a tab are held to while an action is live and after it (R-174…R-184, DESIGN 6.2).
//! Judgements without any I/O: the tab's task asks, one request after the other, and does what they say.

mod hold;

pub(crate) use hold::{Because, Hold};

use crate::tab_state::TabState;
use reins_core::{DocumentId, FrameId};
use reins_guard::{FrameTarget, Navigation, Popups, Sending, clip_middle, plain_text};
use std::collections::HashMap;
use std::sync::atomic::Ordering;

/// The restrictions of one tab.
#[derive(Debug, Default)]
pub(crate) struct Fence {
    /// The actions under way. More than one only while a dialog is answered.
    live: Vec<Hold>,
    /// Documents that an action touched. They stay here while they wait in the back/forward cache.
    touched: HashMap<DocumentId, Hold>,
    /// Documents that a touched one of this tab can speak to.
    pub(crate) near: HashMap<DocumentId, Hold>,
    /// Holds whatever the main frame shows: the tab of a window that a touched page opened.
    whole: Option<Hold>,
    /// Whether this tab is such a window.
    window: bool,
    /// The person acted here since the agent last did: no other tab speaks for it.
    persons: bool,
    /// Navigations that were let go on, by the id of the document that they lead to.
    passages: HashMap<String, Passage>,
}

/// A navigation that was let go on.
#[derive(Debug)]
enum Passage {
    /// Nothing restricted the frame.
    Free,
    /// It is what was approved. No input has reached its document.
    Approved { hold: Hold, posts: bool },
    /// A held document went on by itself within what was approved. `hold` is for the next one.
    Onward { hold: Hold, posts: bool },
}

/// A document request, before anything of it is sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DocumentRequest<'a> {
    pub(crate) frame: &'a FrameId,
    pub(crate) url: &'a str,
    pub(crate) method: &'a str,
    /// The document it leads to.
    pub(crate) document: Option<&'a str>,
    /// The server answered with another address.
    pub(crate) redirected: bool,
}

/// What becomes of something a page tried.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It goes on.
    Pass,
    /// It does not; in plain words for the caller, unless they were told already.
    Refuse(Option<String>),
}

/// What becomes of a window that a page tried to open.
#[derive(Debug)]
pub(crate) enum WindowVerdict {
    /// Nothing restricts the page.
    Free,
    /// It was approved. Its tab is held to the rest of the approval.
    Expected(Hold),
    /// It closes before it runs.
    Refused,
}

/// Navigations that neither arrive nor fail are forgotten beyond this many, the oldest document first.
const PASSAGES: usize = 256;

/// A page can make documents without end; beyond this many touched ones the whole tab is held.
const TOUCHED: usize = 4_096;

/// Addresses in messages are cut in the middle beyond this many bytes.
const SHOWN: usize = 160;

impl TabState {
    /// Begins an action: `touched` are the documents that its input reaches.
    pub(crate) fn begin_action(&mut self, hold: &Hold, touched: Vec<DocumentId>) {
        if hold.pinned() {
            return;
        }
        self.fence.persons = false;
        self.fence.live.push(hold.clone());
        for document in touched {
            // A step that nobody was asked about gives a held page no leave to send.
            let before = self.fence.touched.get(&document).is_some_and(|before| before.held);
            let held = hold.held || (before && hold.rules.sending == Sending::AsBefore);
            let sends = self.sends_of(&document, hold);
            self.fence.touch(document, Hold { held, sends, ..hold.clone() });
        }
    }

    /// The action is over. What it touched stays restricted.
    pub(crate) fn end_action(&mut self, hold: &Hold) {
        self.fence.live.retain(|live| live.generation != hold.generation);
    }

    /// The tab is the window that this action opened: it may show what was approved.
    pub(crate) fn hold_window(&mut self, hold: Hold) {
        self.fence.whole = Some(hold);
        self.fence.window = true;
    }

    /// The person acts in a frame, or goes elsewhere by the browser's own means.
    pub(crate) fn release(&mut self, frame: &FrameId) {
        if let Some(document) = self.frames.get(frame).and_then(|f| f.document.as_ref()) {
            self.fence.touched.remove(document);
        }
        self.fence.touched.retain(|_, hold| hold.because != Because::Beside);
        self.fence.whole = None;
        self.fence.persons = true;
        self.leave_near(frame);
    }

    /// Judges a document request of this tab. `related` restricts a window that a restricted page has a
    /// handle on.
    pub(crate) fn judge_document(
        &mut self,
        request: DocumentRequest<'_>,
        related: Option<&Hold>,
    ) -> Verdict {
        if let Some((url, method)) = self.answered_by_worker(&request) {
            let first = DocumentRequest { url: &url, method: &method, ..request };
            return match self.judge_document(first, related) {
                Verdict::Pass => {
                    let then = DocumentRequest { redirected: true, ..request };
                    self.judge_document(then, related)
                }
                refused @ Verdict::Refuse(_) => refused,
            };
        }
        if request.redirected
            && let Some(document) = request.document
            && let Some(passage) = self.fence.passages.get(document)
        {
            // A frame inside may load from what its page knows, and be led no further than that.
            let inside = *request.frame != self.main && matches!(passage, Passage::Free);
            return if inside {
                self.judge_frame(request.frame, request.url)
            } else {
                passage.redirect(request.url)
            };
        }
        let main = *request.frame == self.main;
        let related = related.filter(|_| main && !self.fence.persons);
        let posts = request.method.eq_ignore_ascii_case("POST");
        let late = if main { self.restriction() } else { self.touched_hold(request.frame) };
        let late = late.or_else(|| related.cloned());
        let live = self
            .fence
            .live
            .last()
            .cloned()
            .filter(|live| main || self.is_target(live, request.frame));
        let passage = match (live, late) {
            (None, None) => {
                if !main && let Verdict::Refuse(what) = self.judge_frame(request.frame, request.url)
                {
                    return Verdict::Refuse(what);
                }
                Passage::Free
            }
            (Some(live), _) => match self.judge_live(&live, request) {
                Some(true) => Passage::Approved { hold: live, posts },
                Some(false) => {
                    let hold = self.handed_on(request.frame, live, related);
                    Passage::Onward { hold, posts }
                }
                None => return Verdict::Refuse(Some(tried_to_open(request.url, posts))),
            },
            (None, Some(late)) => match self.judge_late(&late, request) {
                Some(true) => Passage::Approved { hold: late, posts },
                Some(false) => {
                    let hold = self.handed_on(request.frame, late, related);
                    Passage::Onward { hold, posts }
                }
                None => return Verdict::Refuse(Some(tried_to_open(request.url, posts))),
            },
        };
        if let Some(document) = request.document {
            if self.fence.passages.len() >= PASSAGES {
                self.fence.passages.clear();
            }
            self.fence.passages.insert(document.to_owned(), passage);
        }
        Verdict::Pass
    }

    /// The request that a navigation began with, if this is another one and that one never came to us: a service
    /// worker answered it with a redirect to here.
    fn answered_by_worker(&self, request: &DocumentRequest<'_>) -> Option<(String, String)> {
        let document = request.document?;
        let unseen = !request.redirected && !self.fence.passages.contains_key(document);
        self.began_with(document).filter(|(url, _)| unseen && url != request.url)
    }

    /// While its action is live. `Some(true)`: it is the approved request itself.
    fn judge_live(&self, live: &Hold, request: DocumentRequest<'_>) -> Option<bool> {
        let approved = live.approves(request.url, request.method);
        match &live.rules.navigation {
            Navigation::Exact(_) if !live.used() => {
                if approved && self.is_target(live, request.frame) {
                    live.spent.store(true, Ordering::Relaxed);
                    return Some(true);
                }
                // On the way there a page that is still shown may go on within its own origin.
                let home = live.history && *request.frame == self.main && self.is_home(request.url);
                home.then_some(false)
            }
            // What was approved has been asked for; its page may go on within the site, as a
            // redirect would.
            Navigation::Exact(_) => live.same_site(request.url).then_some(false),
            Navigation::Within(_) => approved.then_some(live.own),
            Navigation::App(_) => Some(true),
        }
    }

    /// When the action is over.
    fn judge_late(&self, hold: &Hold, request: DocumentRequest<'_>) -> Option<bool> {
        if hold.because != Because::Touched {
            return self.stays(hold, request).then_some(false);
        }
        let exact = matches!(hold.rules.navigation, Navigation::Exact(_));
        if exact
            && !hold.used()
            && self.is_target(hold, request.frame)
            && hold.approves(request.url, request.method)
        {
            hold.spent.store(true, Ordering::Relaxed);
            return Some(true);
        }
        hold.same_origin(request.url).then_some(false)
    }

    /// Whether a frame of this tab is the one that the approved request loads into.
    fn is_target(&self, hold: &Hold, frame: &FrameId) -> bool {
        let main = *frame == self.main;
        let Navigation::Exact(expected) = &hold.rules.navigation else { return main };
        match &expected.frame {
            FrameTarget::Main => main,
            FrameTarget::Own(own) => frame == own,
            FrameTarget::Parent(child) => {
                self.frames.get(child).and_then(|f| f.parent.as_ref()) == Some(frame)
            }
            // A tab of its own, whose only request this is.
            FrameTarget::NewTab => main && (self.fence.window || hold.own),
            // The browser finds the frame; the address and the method are exact all the same.
            FrameTarget::Named(_) => !main || self.fence.window,
        }
    }

    /// Whether a document request was approved itself, or is where such a one was redirected to.
    pub(crate) fn is_approved(&self, request: &DocumentRequest<'_>) -> bool {
        let passage = request.document.and_then(|document| self.fence.passages.get(document));
        matches!(passage, Some(Passage::Approved { .. }))
    }

    /// The person agreed to a document request that a page made by itself: it is approved like a form that
    /// they agreed to before.
    pub(crate) fn agreed(&mut self, document: &str) {
        if let Some(passage) = self.fence.passages.remove(document) {
            let passage = match passage {
                Passage::Onward { hold, posts } => Passage::Approved { hold, posts },
                other => other,
            };
            self.fence.passages.insert(document.to_owned(), passage);
        }
    }

    pub(crate) fn touched_hold(&self, frame: &FrameId) -> Option<Hold> {
        let document = self.frames.get(frame)?.document.as_ref()?;
        self.fence.touched.get(document).cloned()
    }

    /// What holds the tab's main frame: any held document in the tab can lead it elsewhere, and the
    /// strictest of them counts.
    pub(crate) fn restriction(&self) -> Option<Hold> {
        let main = self.touched_hold(&self.main);
        let inside = self.frames.values().filter_map(|frame| frame.document.as_ref());
        let inside = inside.filter_map(|document| self.fence.touched.get(document));
        let others = inside.chain(&self.fence.whole).max_by_key(|hold| hold.because);
        match (main, others) {
            (Some(main), Some(other)) if other.because > main.because => Some(other.clone()),
            (Some(main), _) => Some(main),
            (None, other) => other.cloned(),
        }
    }

    /// What holds this tab now, an action under way included.
    pub(crate) fn hold(&self) -> Option<Hold> {
        self.fence.live.last().cloned().or_else(|| self.restriction())
    }

    /// Judges a window that a page of this tab opens.
    pub(crate) fn judge_window(&mut self) -> WindowVerdict {
        let Some(hold) = self.hold() else { return WindowVerdict::Free };
        let for_it = hold.because == Because::Touched && hold.rules.popups == Popups::One;
        if for_it && !hold.opened.swap(true, Ordering::Relaxed) {
            return WindowVerdict::Expected(hold);
        }
        WindowVerdict::Refused
    }

    /// The person goes elsewhere by the browser's own means: the tab is theirs.
    pub(crate) fn released_to(&mut self, paused: &crate::protocol::page::RequestPaused) {
        let main = self.main.clone();
        self.release(&main);
        if let Some(document) = &paused.network_id {
            self.fence.passages.insert(document.clone(), Passage::Free);
        }
    }

    /// Whether the main frame's navigation under way, which nothing allows, may be the person's: by the
    /// browser's own means, not by a page, and not through the history, where nothing tells them apart.
    pub(crate) fn may_be_persons(&self, document: Option<&str>) -> bool {
        let forward = self.pending.as_ref().is_some_and(|p| p.kind == "differentDocument");
        document.is_some() && forward && self.fence.live.is_empty() && !self.fence.window
    }

    /// A frame is about to show a document. If its request never came to us, a service worker answered it; if nothing
    /// allowed it, the document is held as one that the old one made up.
    pub(crate) fn judge_unseen(&mut self, frame: &FrameId, now: &str) {
        let shown = self.frames.get(frame).and_then(|frame| frame.document.as_ref());
        if shown.is_some_and(|shown| shown.as_str() == now) || self.fence.passages.contains_key(now)
        {
            return;
        }
        let Some((url, method)) = self.began_with(now).filter(|(url, _)| url.starts_with("http"))
        else {
            return;
        };
        let (url, method, document) = (url.as_str(), method.as_str(), Some(now));
        let request = DocumentRequest { frame, url, method, document, redirected: false };
        drop(self.judge_document(request, None));
    }

    /// A frame shows another document. `before` is the one it showed.
    pub(crate) fn fence_moved(&mut self, frame: &FrameId, before: Option<&DocumentId>, now: &str) {
        let main = *frame == self.main;
        if main {
            self.main_moved();
        }
        let held = before.and_then(|document| self.fence.touched.get(document)).cloned();
        let document = DocumentId::new(now);
        match self.fence.passages.remove(now) {
            Some(Passage::Free) => {
                if main {
                    self.fence.whole = None;
                }
            }
            // No input reached it, but it may not lead the tab wherever it likes.
            Some(Passage::Approved { hold, .. }) => {
                if main {
                    self.fence.whole = None;
                    self.fence.touch(document, hold.arrived());
                }
            }
            Some(Passage::Onward { hold, .. }) => {
                if hold.reaches {
                    self.inherit(before, &document);
                }
                self.fence.touch(document, hold);
            }
            // Nothing was asked of the network: an address that the old document made up.
            None => {
                let held = held.or_else(|| if main { self.restriction() } else { None });
                if let Some(before) = before.filter(|_| held.is_none()) {
                    self.near_moved(before, &document);
                }
                if let Some(hold) = held {
                    if let Some(before) = before {
                        self.take_over(before, &document);
                    }
                    self.fence.touch(document, hold);
                }
            }
        }
    }
}

impl Fence {
    pub(crate) fn is_touched(&self, document: &DocumentId) -> bool {
        self.touched.get(document).is_some_and(|hold| hold.reaches)
    }

    pub(crate) fn touched_by(&self, document: &DocumentId) -> Option<Hold> {
        self.touched.get(document).filter(|hold| hold.reaches).cloned()
    }

    /// What holds a document, whatever of it.
    pub(crate) fn holds(&self, document: &DocumentId) -> Option<&Hold> {
        self.touched.get(document)
    }

    /// Whether a document has been input to, or has been led to by one that had. One that a step led to
    /// is still what it makes of itself.
    pub(crate) fn is_used(&self, document: &DocumentId) -> bool {
        self.touched.get(document).is_some_and(|hold| hold.because != Because::Arrived)
    }

    /// Whether a navigation leads to a document that is to be held as the one before.
    pub(crate) fn leads_to_heir(&self, document: &str) -> bool {
        matches!(self.passages.get(document), Some(Passage::Onward { hold, .. }) if hold.reaches)
    }

    /// Whether what a navigation leads to must not send anything unseen.
    pub(crate) fn leads_to_held(&self, document: &str) -> bool {
        matches!(self.passages.get(document), Some(Passage::Onward { hold, .. }) if hold.held)
    }

    /// Whether the tab is held whatever its main frame shows.
    pub(crate) fn whole_is_held(&self) -> bool {
        self.whole.is_some()
    }

    /// Whether the person acted in this tab since the agent last did.
    pub(crate) fn is_persons(&self) -> bool {
        self.persons
    }

    /// Whether an action of ours that is input to no page is under way.
    pub(crate) fn navigates(&self) -> bool {
        self.live.iter().any(|live| live.own)
    }

    /// Whether anything is held to the sites it knows.
    pub(crate) fn reaches_any(&self) -> bool {
        self.touched.values().any(|hold| hold.reaches)
    }

    /// Whether anything sent in this tab waits for the person.
    pub(crate) fn holds_any(&self) -> bool {
        self.touched.values().chain(&self.whole).any(|hold| hold.held)
    }

    pub(crate) fn touch(&mut self, document: DocumentId, hold: Hold) {
        if self.touched.len() >= TOUCHED && !self.touched.contains_key(&document) {
            self.whole = Some(hold);
            return;
        }
        self.touched.insert(document, hold);
    }
}

impl Passage {
    fn redirect(&self, url: &str) -> Verdict {
        let (hold, posts) = match self {
            Passage::Free => return Verdict::Pass,
            Passage::Approved { hold, posts } | Passage::Onward { hold, posts } => (hold, *posts),
        };
        if hold.same_site(url) {
            return Verdict::Pass;
        }
        let url = shown(url);
        Verdict::Refuse(Some(if posts {
            format!(
                "the form went out; its server answered with a redirect to another site, {url}, which was refused"
            )
        } else {
            format!("the server answered with a redirect to another site, {url}, which was refused")
        }))
    }
}

fn tried_to_open(url: &str, posts: bool) -> String {
    let what = if posts { "send a form to" } else { "open" };
    format!("this page tried to {what} {}; refused", shown(url))
}

/// An address as it is told: page text, so plain and short.
pub(crate) fn shown(url: &str) -> String {
    clip_middle(&plain_text(url), SHOWN)
}
