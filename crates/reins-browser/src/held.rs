//! Requests that wait for the person: what a held step's page sends, and what it may send all the same.
//! Judgements and lists only; the tab's task keeps and fails.

use crate::body;
use crate::fence::{DocumentRequest, Hold};
use crate::frame::Mark;
use crate::journal;
use crate::protocol::page::{FailRequest, RequestPaused};
use crate::tab::{ARMING, Tab};
use crate::tab_state::TabState;
use reins_cdp::wire::Command;
use reins_cdp::{Pending, Session};
use reins_core::{DocumentId, FrameId, HeldId, HeldKind, HeldRequest, Origin};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// What waits in a tab, and what its documents did before they were touched.
#[derive(Debug, Default)]
pub(crate) struct Held {
    waiting: Vec<Waiting>,
    /// By document: method, and address without query, of what it sent by itself.
    own: HashMap<DocumentId, HashSet<(String, String)>>,
    /// A document of the tab has, or may have, a connection on which nothing can be held.
    pub(crate) channel: bool,
}

/// A request that waits.
#[derive(Debug)]
pub(crate) struct Waiting {
    pub(crate) session: Session,
    /// As interception names it.
    pub(crate) request: String,
    pub(crate) network: Option<String>,
    frame: FrameId,
    /// The document that it leads to, if it loads one.
    pub(crate) leads_to: Option<String>,
    pub(crate) since: Mark,
    pub(crate) shown: HeldRequest,
}

/// The answer to a refusal, which says when it is in force.
pub(crate) type Failing = Pending<<FailRequest<'static> as Command>::Answer>;

/// More at once than a person would read are refused.
const KEPT: usize = 8;

/// A question that nobody answers for this long is answered with no.
const ANSWER: Duration = Duration::from_secs(300);

/// What one document may have sent by itself; more is no help to anybody.
const OWN: usize = 64;

/// Documents of which that is remembered.
const DOCUMENTS: usize = 64;

static NEXT: AtomicU64 = AtomicU64::new(1);

/// Methods that only read.
pub(crate) fn reads(method: &str) -> bool {
    ["GET", "HEAD", "OPTIONS"].iter().any(|read| method.eq_ignore_ascii_case(read))
}

fn place(method: &str, url: &str) -> (String, String) {
    let end = url.find(['?', '#']).unwrap_or(url.len());
    (method.to_ascii_uppercase(), url[..end].to_owned())
}

impl Held {
    /// Whether anything waits.
    pub(crate) fn any(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Whether a request waits, by its network id.
    pub(crate) fn waits(&self, network: &str) -> bool {
        self.waiting.iter().any(|waiting| waiting.network.as_deref() == Some(network))
    }

    /// Whether the next document of a frame waits.
    pub(crate) fn leads(&self, frame: &FrameId) -> bool {
        self.waiting.iter().any(|waiting| waiting.leads_to.is_some() && waiting.frame == *frame)
    }

    /// What waits, for the person.
    pub(crate) fn list(&self) -> Vec<HeldRequest> {
        self.waiting.iter().map(|waiting| waiting.shown.clone()).collect()
    }

    /// Takes one out. Nobody else gets it.
    pub(crate) fn take(&mut self, id: HeldId) -> Option<Waiting> {
        let at = self.waiting.iter().position(|waiting| waiting.shown.id == id)?;
        Some(self.waiting.remove(at))
    }
}

impl TabState {
    /// A document sends something by itself, before it was touched.
    pub(crate) fn did(&mut self, document: &str, method: &str, url: &str) {
        let document = DocumentId::new(document);
        let own = &mut self.held.own;
        if reads(method) || self.fence.is_used(&document) {
            return;
        }
        if own.len() >= DOCUMENTS && !own.contains_key(&document) {
            let shown: HashSet<&DocumentId> =
                self.frames.values().filter_map(|frame| frame.document.as_ref()).collect();
            own.retain(|known, _| shown.contains(known));
        }
        let sent = own.entry(document).or_default();
        if sent.len() < OWN {
            sent.insert(place(method, url));
        }
    }

    /// Whether a request that nothing refuses waits for the person, and what says so.
    pub(crate) fn must_wait(
        &self,
        session: &str,
        paused: &RequestPaused,
        document: Option<DocumentRequest<'_>>,
    ) -> Option<Hold> {
        let (method, url) = (paused.request.method.as_str(), paused.request.url.as_str());
        if let Some(hold) = document.and_then(|request| self.new_to_frame(request.frame, url)) {
            return Some(hold);
        }
        if reads(method) || document.is_some_and(|request| self.is_approved(&request)) {
            return None;
        }
        let frame = FrameId::new(paused.frame_id.as_str());
        let (from, hold) =
            self.sender(session, paused.network_id.as_deref(), &frame).or_else(|| {
                // Any document of the tab can lead a frame elsewhere.
                document.and_then(|_| {
                    let mut inside =
                        self.frames.values().filter_map(|frame| frame.document.as_ref());
                    inside.find_map(|document| self.held_document(document))
                })
            })?;
        (!self.is_own(&from, method, url)).then_some(hold)
    }

    /// What the document did before it was touched passes on its own site. A redirect is another's doing.
    fn is_own(&self, document: &DocumentId, method: &str, url: &str) -> bool {
        let frame = self.frames.values().find(|frame| frame.document.as_ref() == Some(document));
        let home = frame.and_then(|frame| frame.origin.named_as());
        let to = Origin::parse(url).ok();
        let at_home = home.zip(to).is_some_and(|(home, to)| home.site() == to.site());
        let own = self.held.own.get(document);
        at_home && own.is_some_and(|own| own.contains(&place(method, url)))
    }

    fn held_document(&self, document: &DocumentId) -> Option<(DocumentId, Hold)> {
        let hold = self.fence.holds(document).filter(|hold| hold.keeps())?;
        Some((document.clone(), hold.clone()))
    }

    /// The held document that a request comes from, or that is around its frame.
    fn sender(
        &self,
        session: &str,
        network: Option<&str>,
        frame: &FrameId,
    ) -> Option<(DocumentId, Hold)> {
        let by_network = network.and_then(|network| {
            let key = (session.to_owned(), network.to_owned());
            Some(DocumentId::new(self.requests.get(&key)?.document.as_str()))
        });
        let known = by_network.is_some();
        if let Some(held) = by_network.and_then(|document| self.held_document(&document)) {
            return Some(held);
        }
        let around = std::iter::once(frame.clone()).chain(self.ancestors(frame));
        let mut around = around.filter_map(|at| self.frames.get(&at)?.document.clone());
        around.find_map(|document| self.held_document(&document)).or_else(|| {
            // Its last words come when it is gone already.
            let last = if known { None } else { self.last_touched(frame) };
            last.and_then(|document| self.held_document(&document))
        })
    }
}

/// Keeps a request until it is answered, or refuses it if it cannot be asked about.
pub(crate) fn keep(tab: &Arc<Tab>, session: &Session, paused: RequestPaused, hold: &Hold) {
    let id = HeldId(NEXT.fetch_add(1, Ordering::Relaxed));
    let mut state = tab.state();
    let now = state.tick();
    let RequestPaused { request, resource_type, .. } = paused;
    let leads = resource_type == "Document";
    let kind = match resource_type.as_str() {
        "Document" if reads(&request.method) => HeldKind::Frame,
        "Document" => HeldKind::Form,
        "Ping" | "CSPViolationReport" => HeldKind::Beacon,
        _ => HeldKind::Script,
    };
    let type_of = |(name, value): (&String, &serde_json::Value)| {
        name.eq_ignore_ascii_case("content-type").then(|| value.as_str().map(str::to_owned))?
    };
    let content = request.headers.iter().find_map(type_of).unwrap_or_default();
    let shown = HeldRequest {
        id,
        method: request.method,
        url: request.url,
        kind,
        fields: body::names(&content, request.post_data.as_deref().unwrap_or_default()),
        page: state.top_origin(),
    };
    let network = paused.network_id;
    // Its own beginning may have been told before it was held.
    let began = network.as_ref().and_then(|network| {
        let key = (session.id().unwrap_or_default().to_owned(), network.clone());
        Some(state.requests.get(&key)?.since)
    });
    let waiting = Waiting {
        session: session.clone(),
        request: paused.request_id,
        leads_to: leads.then(|| network.clone().unwrap_or_default()),
        network,
        frame: FrameId::new(paused.frame_id),
        since: began.unwrap_or(now),
        shown,
    };
    if state.held.waiting.len() >= KEPT {
        let what = format!(
            "this page tried to send {}, more than can be asked at once; refused",
            told(&waiting)
        );
        state.tell_refused(what);
        drop(state);
        journal::not_sent(tab, &waiting, "not sent: more than can be asked about at once");
        drop(fail(&waiting));
        tab.changed();
        return;
    }
    state.held.waiting.push(waiting);
    drop(state);
    tab.changed();
    let (weak, stop) = (Arc::downgrade(tab), hold.stop.clone());
    tokio::spawn(async move {
        let why = tokio::select! {
            () = stop.cancelled() => "the request ended before you were asked",
            () = tokio::time::sleep(ANSWER) => "nobody answered",
        };
        let Some(tab) = weak.upgrade() else { return };
        let waiting = tab.state().held.take(id);
        if let Some(waiting) = waiting {
            drop(give_up(&tab, &waiting, why));
        }
    });
}

/// Fails everything that waits in a tab, before something that would let it go. The answers say when
/// that is in force.
pub(crate) fn fail_all(tab: &Tab, why: &str) -> Vec<Failing> {
    let waiting = std::mem::take(&mut tab.state().held.waiting);
    waiting.iter().map(|waiting| give_up(tab, waiting, why)).collect()
}

fn give_up(tab: &Tab, waiting: &Waiting, why: &str) -> Failing {
    let failed = fail(waiting);
    journal::not_sent(tab, waiting, &format!("not sent: {why}"));
    let what = format!("this page tried to send {}; it was not sent: {why}", told(waiting));
    tab.state().tell_refused(what);
    tab.changed();
    failed
}

/// Fails one that was taken out.
pub(crate) fn fail(waiting: &Waiting) -> Failing {
    // The page stays as it is: an aborted navigation shows no error page.
    let error_reason = if waiting.leads_to.is_some() { "Aborted" } else { "BlockedByClient" };
    waiting.session.post(FailRequest { request_id: &waiting.request, error_reason }, ARMING)
}

fn told(waiting: &Waiting) -> String {
    let HeldRequest { method, url, .. } = &waiting.shown;
    format!("{} to {}", crate::fence::shown(method), crate::fence::shown(url))
}
