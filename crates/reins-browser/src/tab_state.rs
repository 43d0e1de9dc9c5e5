//! All that is known of one tab. Only the tab's task writes it, by one event after the other.

use crate::fence::Fence;
use crate::frame::{Frame, Mark, World};
use crate::held::Held;
use crate::protocol::page as wire;
use crate::reach::Reach;
use crate::report::Report;
use crate::sockets::Sockets;
use crate::tab_info::{Dialog, Download, OpenedBy, TabInfo};
use reins_cdp::Session;
use reins_core::{DocumentOrigin, FrameId, NodeNumber, TabId};
use std::collections::HashMap;

/// The state of a tab.
#[derive(Debug)]
pub(crate) struct TabState {
    pub(crate) id: TabId,
    pub(crate) opened_by: OpenedBy,
    pub(crate) title: String,
    pub(crate) main: FrameId,
    pub(crate) frames: HashMap<FrameId, Frame>,
    /// Our script worlds. Kept apart from frames: a world can be announced before its frame.
    pub(crate) worlds: HashMap<FrameId, World>,
    /// Grows with everything that happens.
    pub(crate) now: Mark,
    /// The main document's load event was seen.
    pub(crate) loaded: bool,
    /// The main document is parsed.
    pub(crate) parsed: bool,
    /// When the main document was last replaced.
    pub(crate) replaced: Mark,
    /// When the main document last changed its address without being replaced.
    pub(crate) moved: Mark,
    /// The main frame's navigation that has begun and shown no document yet.
    pub(crate) pending: Option<PendingNavigation>,
    pub(crate) requests: HashMap<(String, String), Request>,
    /// Data requests that have ended, counted.
    pub(crate) fetched: u64,
    /// When data that a page asked for came last.
    pub(crate) brought: Mark,
    /// Whether the main frame's documents came by POST, by loader.
    posted: HashMap<String, bool>,
    /// Whether loading the main document again may send a form again.
    resubmits: bool,
    pub(crate) dialog: Option<(Dialog, Session)>,
    /// The agent's own navigation may leave a page that asks to stay, until then (W-622).
    pub(crate) may_leave: Option<std::time::Instant>,
    /// A page that asked to stay was left; when.
    pub(crate) left: Option<Mark>,
    pub(crate) chooser: Option<FileChooser>,
    /// The address that is answered with an empty page, once, and never asked for.
    pub(crate) stand_in: Option<String>,
    /// It was opened for an address that it does not show yet.
    pub(crate) expects: bool,
    /// The address of the window the page last asked for.
    pub(crate) window_asked: Option<String>,
    pub(crate) report: Report,
    pub(crate) opened: Vec<(Mark, TabId)>,
    pub(crate) refused: Vec<(Mark, String)>,
    /// What was refused up to here has been told.
    pub(crate) told: Mark,
    pub(crate) fence: Fence,
    pub(crate) reach: Reach,
    pub(crate) sockets: Sockets,
    pub(crate) held: Held,
    pub(crate) downloads: Vec<(Mark, String, Download)>,
    /// Frames in other processes and workers, by session; whether each is a worker, whose requests are
    /// its document's too.
    pub(crate) children: HashMap<String, (Session, bool)>,
    /// Everything that arms the tab has been answered.
    pub(crate) armed: bool,
    pub(crate) crashed: bool,
    pub(crate) closed: bool,
}

/// A navigation of the main frame that has no document yet.
#[derive(Clone, Debug)]
pub(crate) struct PendingNavigation {
    pub(crate) url: String,
    /// The browser's word for what kind of navigation it is.
    pub(crate) kind: String,
    pub(crate) since: Mark,
}

/// A request under way.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) kind: RequestKind,
    pub(crate) since: Mark,
    pub(crate) document: String,
    /// It came to us for our word.
    pub(crate) judged: bool,
    /// Address and method of the first of a chain that leads to a document. A service worker's answer to it never
    /// comes to us.
    first: Option<(String, String)>,
}

/// What a request fetches, as far as waiting for it makes a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RequestKind {
    Document,
    /// Fetch and XHR: the page may show what it brings.
    Data,
    /// Scripts and style sheets.
    Code,
    /// Sent in the background; nobody reads the answer.
    Beacon,
    /// Images, fonts, media, event streams.
    Rest,
}

impl RequestKind {
    fn of(name: Option<&str>) -> Self {
        match name {
            Some("Document") => Self::Document,
            Some("Fetch" | "XHR") => Self::Data,
            Some("Script" | "Stylesheet") => Self::Code,
            Some("Ping") => Self::Beacon,
            _ => Self::Rest,
        }
    }
}

/// A file chooser the page asked for. It never opens; the page waits for files.
#[derive(Clone, Debug)]
pub(crate) struct FileChooser {
    pub(crate) session: Session,
    pub(crate) node: Option<i64>,
    pub(crate) several: bool,
    pub(crate) since: Mark,
}

/// Lists that only grow while a tab lives keep this many entries.
const KEPT: usize = 64;

/// Documents of a tab whose way of coming is remembered, for going back to them.
const POSTED: usize = 256;

impl TabState {
    pub(crate) fn new(id: TabId, opened_by: OpenedBy, session: Session, url: &str) -> Self {
        let main = FrameId::new(id.as_str());
        let mut frame = Frame::new(main.clone(), None, session);
        frame.url = url.to_owned();
        frame.origin = crate::frame::document_origin(url);
        Self {
            id,
            opened_by,
            title: String::new(),
            main: main.clone(),
            frames: HashMap::from([(main, frame)]),
            worlds: HashMap::new(),
            now: 1,
            // A document that was there before us has most likely been loaded.
            loaded: true,
            parsed: true,
            replaced: 0,
            moved: 0,
            pending: None,
            requests: HashMap::new(),
            fetched: 0,
            brought: 0,
            posted: HashMap::new(),
            resubmits: false,
            dialog: None,
            may_leave: None,
            left: None,
            chooser: None,
            stand_in: None,
            expects: false,
            window_asked: None,
            report: Report::default(),
            opened: Vec::new(),
            refused: Vec::new(),
            told: 0,
            fence: Fence::default(),
            reach: Reach::default(),
            sockets: Sockets::default(),
            held: Held::default(),
            downloads: Vec::new(),
            children: HashMap::new(),
            armed: false,
            crashed: false,
            closed: false,
        }
    }

    pub(crate) fn info(&self) -> TabInfo {
        TabInfo {
            id: self.id.clone(),
            url: self.url().to_owned(),
            title: self.title.clone(),
            opened_by: self.opened_by.clone(),
            crashed: self.crashed,
            loading: !self.loaded || self.pending.is_some(),
            reload_resubmits: self.resubmits,
            dialog: self.dialog.as_ref().map(|(dialog, _)| dialog.clone()),
        }
    }

    pub(crate) fn main_frame(&self) -> Option<&Frame> {
        self.frames.get(&self.main)
    }

    pub(crate) fn url(&self) -> &str {
        self.main_frame().map_or("", |f| f.url.as_str())
    }

    pub(crate) fn top_origin(&self) -> DocumentOrigin {
        self.main_frame().map_or(DocumentOrigin::Browser, |f| f.origin.clone())
    }

    /// Frames in tree order, parents first.
    pub(crate) fn frames_in_order(&self) -> Vec<&Frame> {
        let mut order: Vec<&Frame> = self.main_frame().into_iter().collect();
        let mut at = 0;
        while let Some(parent) = order.get(at).map(|f| f.id.clone()) {
            let mut below: Vec<&Frame> =
                self.frames.values().filter(|f| f.parent.as_ref() == Some(&parent)).collect();
            below.sort_by(|a, b| a.id.cmp(&b.id));
            order.extend(below);
            at += 1;
        }
        order
    }

    /// The frames around a frame, from its parent up.
    pub(crate) fn ancestors(&self, frame: &FrameId) -> Vec<FrameId> {
        let mut up = Vec::new();
        let mut at = self.frames.get(frame).and_then(|f| f.parent.clone());
        while let Some(id) = at {
            // A tree that is being rebuilt could hold a circle for a moment.
            if up.contains(&id) {
                break;
            }
            at = self.frames.get(&id).and_then(|f| f.parent.clone());
            up.push(id);
        }
        up
    }

    pub(crate) fn tick(&mut self) -> Mark {
        self.now += 1;
        self.now
    }

    /// The whole tree as read once, for documents that were there before us.
    pub(crate) fn take_tree(&mut self, tree: &wire::FrameTree, session: &Session) {
        let frame = &tree.frame;
        let id = FrameId::new(frame.id.as_str());
        let parent = frame.parent_id.as_deref().map(FrameId::new);
        let known = self.frames.contains_key(&id);
        let entry = self
            .frames
            .entry(id.clone())
            .or_insert_with(|| Frame::new(id.clone(), parent, session.clone()));
        // Events that came meanwhile know better.
        if !known || entry.document.is_none() {
            entry.show(frame, session);
        }
        for child in tree.child_frames.iter().flatten() {
            self.take_tree(child, session);
        }
    }

    pub(crate) fn frame_attached(&mut self, id: FrameId, parent: FrameId, session: &Session) {
        // A frame that comes back from another process is announced again by its parent's.
        self.remove_children(&id);
        let frame = self
            .frames
            .entry(id.clone())
            .or_insert_with(|| Frame::new(id, Some(parent), session.clone()));
        frame.session = session.clone();
    }

    pub(crate) fn frame_detached(&mut self, id: &FrameId, reason: Option<&str>, by: &Session) {
        let swapped = reason == Some("swap");
        if swapped || self.frames.get(id).is_some_and(|f| f.session.id() != by.id()) {
            // It lives on in another process.
            return;
        }
        self.remove_children(id);
        self.frames.remove(id);
        self.worlds.remove(id);
    }

    fn remove_children(&mut self, id: &FrameId) {
        let below: Vec<FrameId> = self
            .frames
            .values()
            .filter(|f| f.parent.as_ref() == Some(id))
            .map(|f| f.id.clone())
            .collect();
        for child in below {
            self.remove_children(&child);
            self.frames.remove(&child);
            self.worlds.remove(&child);
        }
    }

    /// `restored`: it came back from the back/forward cache, with whatever restricts it.
    pub(crate) fn frame_navigated(
        &mut self,
        wire: &wire::Frame,
        session: &Session,
        restored: bool,
    ) {
        let now = self.tick();
        let id = FrameId::new(wire.id.as_str());
        let parent = wire.parent_id.as_deref().map(FrameId::new);
        if !restored {
            self.judge_unseen(&id, &wire.loader_id);
        }
        let frame = self
            .frames
            .entry(id.clone())
            .or_insert_with(|| Frame::new(id.clone(), parent, session.clone()));
        let before = frame.document.clone();
        let replaced = frame.show(wire, session);
        frame.scheduled = None;
        if !replaced {
            return;
        }
        if restored {
            self.fence_restored(&id, before.as_ref());
        } else {
            self.fence_moved(&id, before.as_ref(), &wire.loader_id);
        }
        self.remove_children(&id);
        if id == self.main {
            // What comes back from the cache may have kept what it had open.
            self.held.channel = restored;
            self.expects = false;
            // A document whose request was not seen may have been posted.
            self.resubmits = wire.url.starts_with("http")
                && self.posted.get(&wire.loader_id).copied().unwrap_or(true);
            self.replaced = now;
            self.crashed = false;
            self.loaded = false;
            self.parsed = false;
            self.pending = None;
            self.chooser = None;
            self.fetched = 0;
            // Requests of the old document may never report an end.
            self.requests.retain(|_, r| r.document == wire.loader_id);
        }
    }

    /// A document came back from the back/forward cache: nothing loads.
    pub(crate) fn restored(&mut self, id: &FrameId) {
        if *id == self.main {
            self.loaded = true;
            self.parsed = true;
        }
    }

    pub(crate) fn started_navigating(&mut self, event: wire::StartedNavigating) {
        let now = self.tick();
        if event.frame_id == self.main.as_str() && !event.navigation_type.contains("SameDocument") {
            self.pending =
                Some(PendingNavigation { url: event.url, kind: event.navigation_type, since: now });
        }
    }

    pub(crate) fn scheduled(&mut self, id: &str, on: bool) {
        let now = self.tick();
        if let Some(frame) = self.frames.get_mut(&FrameId::new(id)) {
            frame.scheduled = on.then_some(now);
        }
    }

    pub(crate) fn loading(&mut self, id: &str, on: bool) {
        let now = self.tick();
        let id = FrameId::new(id);
        if let Some(frame) = self.frames.get_mut(&id) {
            frame.loading = on.then_some(now);
        }
        if !on && id == self.main {
            self.loaded = true;
            self.parsed = true;
            self.pending = None;
        }
    }

    pub(crate) fn moved_within(&mut self, id: &str, url: String) {
        let now = self.tick();
        let id = FrameId::new(id);
        if let Some(frame) = self.frames.get_mut(&id) {
            frame.url = url;
        }
        if id == self.main {
            self.moved = now;
        }
    }

    pub(crate) fn world_created(&mut self, context: &wire::ContextDescription, session: &Session) {
        self.tick();
        self.worlds.insert(
            FrameId::new(context.aux_data.frame_id.as_str()),
            World {
                session: session.clone(),
                unique: context.unique_id.as_str().into(),
                number: context.id,
            },
        );
    }

    pub(crate) fn worlds_gone(&mut self, session: &Session, unique: Option<&str>) {
        self.tick();
        self.worlds.retain(|_, w| {
            w.session.id() != session.id() || unique.is_some_and(|unique| *w.unique != *unique)
        });
    }

    pub(crate) fn request_began(&mut self, session: &str, event: wire::RequestWillBeSent) {
        let since = self.tick();
        let kind = RequestKind::of(event.r#type.as_deref());
        let leads = kind == RequestKind::Document && event.request_id == event.loader_id;
        if leads && event.frame_id.as_deref() == Some(self.main.as_str()) {
            // A redirect comes as the same request again, with its own method.
            if self.posted.len() >= POSTED {
                self.posted.clear();
            }
            let posted = event.request.method.eq_ignore_ascii_case("post");
            self.posted.insert(event.loader_id.clone(), posted);
        }
        self.learn(
            &event.loader_id,
            event.frame_id.as_deref(),
            &event.request.url,
            kind == RequestKind::Document,
        );
        self.did(&event.loader_id, &event.request.method, &event.request.url);
        let key = (session.to_owned(), event.request_id);
        let before = self.requests.get_mut(&key).and_then(|request| request.first.take());
        let first = leads.then(|| before.unwrap_or((event.request.url, event.request.method)));
        let document = event.loader_id;
        self.requests.insert(key, Request { kind, since, document, judged: false, first });
    }

    pub(crate) fn request_ended(&mut self, session: &str, request: String) {
        let now = self.tick();
        let ended = self.requests.remove(&(session.to_owned(), request));
        if ended.is_some_and(|r| r.kind == RequestKind::Data) {
            self.fetched += 1;
            self.brought = now;
        }
    }

    /// Whether a session is that of a worker.
    pub(crate) fn is_worker(&self, session: &str) -> bool {
        self.children.get(session).is_some_and(|(_, worker)| *worker)
    }

    /// A frame's process or session is gone.
    pub(crate) fn session_gone(&mut self, session: &str) {
        self.tick();
        self.children.remove(session);
        self.requests.retain(|(s, _), _| s != session);
        self.worlds.retain(|_, w| w.session.id() != Some(session));
        self.sockets.gone(session);
        let gone: Vec<FrameId> = self
            .frames
            .values()
            .filter(|f| f.session.id() == Some(session) && f.id != self.main)
            .map(|f| f.id.clone())
            .collect();
        for frame in gone {
            self.remove_children(&frame);
            self.frames.remove(&frame);
        }
        if self.dialog.as_ref().is_some_and(|(_, s)| s.id() == Some(session)) {
            self.dialog = None;
        }
    }

    pub(crate) fn renderer_crashed(&mut self, session: &Session) {
        self.tick();
        self.worlds.retain(|_, w| w.session.id() != session.id());
        self.requests.retain(|(s, _), _| Some(s.as_str()) != session.id());
        let main = self.main_frame().is_some_and(|f| f.session.id() == session.id());
        if main {
            self.crashed = true;
            self.dialog = None;
            self.pending = None;
        }
    }

    /// Requests of these kinds that began after `since`, without those that wait for the person.
    pub(crate) fn running(&self, since: Mark, kinds: &[RequestKind]) -> usize {
        let counts = |r: &Request| r.since > since && kinds.contains(&r.kind);
        let running =
            self.requests.iter().filter(|((_, network), r)| counts(r) && !self.held.waits(network));
        running.count()
    }

    /// A request came to us for our word.
    pub(crate) fn came(&mut self, session: &str, request: &str) {
        if let Some(request) = self.requests.get_mut(&(session.to_owned(), request.to_owned())) {
            request.judged = true;
        }
    }

    /// Address and method of the request that a navigation began with, as the network told them.
    pub(crate) fn began_with(&self, document: &str) -> Option<(String, String)> {
        let told = self.requests.iter().find(|((_, request), _)| request == document);
        told.and_then(|(_, request)| request.first.clone())
    }

    /// Whether a page that holds everything back sent something in the background after `since` that did not
    /// come to us yet.
    pub(crate) fn beacon_on_its_way(&self, since: Mark) -> bool {
        self.requests.iter().any(|((session, _), request)| {
            request.kind == RequestKind::Beacon
                && request.since > since
                && !request.judged
                && self.holds_all(session)
        })
    }

    pub(crate) fn owner(&self, frame: &FrameId) -> Option<NodeNumber> {
        let frame = self.frames.get(frame)?;
        let parent = self.frames.get(frame.parent.as_ref()?)?;
        match &frame.owner {
            Some((document, number)) if parent.document.as_ref() == Some(document) => Some(*number),
            _ => None,
        }
    }

    pub(crate) fn tell_refused(&mut self, what: String) {
        let now = self.tick();
        self.refused.push((now, what));
        trim(&mut self.refused);
    }

    pub(crate) fn tell_opened(&mut self, tab: TabId) {
        let now = self.tick();
        self.opened.push((now, tab));
        trim(&mut self.opened);
    }

    pub(crate) fn tell_download(&mut self, guid: &str, download: Download) {
        let now = self.tick();
        match self.downloads.iter_mut().find(|(_, known, _)| known == guid) {
            Some((_, _, known)) => *known = download,
            None => self.downloads.push((now, guid.to_owned(), download)),
        }
        trim(&mut self.downloads);
    }
}

fn trim<T>(list: &mut Vec<T>) {
    if list.len() > KEPT {
        list.drain(..list.len() - KEPT);
    }
}
