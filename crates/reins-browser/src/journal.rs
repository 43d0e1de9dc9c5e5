//! What a tab's pages log and load, kept as long as their main document lives.
//!
//! Its events have a queue and a task of their own: a page that floods them loses some of them and
//! holds nobody up.

use crate::browser::Browser;
use crate::console::{self, Console, ConsoleLog, shown};
use crate::containment::Records;
use crate::error::BrowserError;
use crate::held::Waiting;
use crate::page_call::wire_error;
use crate::protocol::inspect as wire;
use crate::protocol::page::{ContextCreated, ContextsCleared, FrameNavigated};
use crate::protocol::target::{AttachedToTarget, DetachedFromTarget};
use crate::tab::{ARMING, Tab};
use crate::traffic::{NetworkLog, Refused, Traffic};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use reins_cdp::{CallError, End, Event, EventError, Events, Session};
use reins_core::{FrameId, TabId};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};

const METHODS: &[&str] = &[
    AttachedToTarget::METHOD,
    DetachedFromTarget::METHOD,
    FrameNavigated::METHOD,
    ContextCreated::METHOD,
    ContextsCleared::METHOD,
    wire::ConsoleCalled::METHOD,
    wire::ExceptionThrown::METHOD,
    wire::ExceptionRevoked::METHOD,
    wire::EntryAdded::METHOD,
    wire::RequestBegan::METHOD,
    wire::RequestExtra::METHOD,
    wire::ResponseExtra::METHOD,
    wire::ResponseBegan::METHOD,
    wire::ServedFromCache::METHOD,
    wire::RequestFinished::METHOD,
    wire::RequestFailed::METHOD,
    wire::SocketBegan::METHOD,
    wire::SocketOpened::METHOD,
    wire::SocketClosed::METHOD,
    wire::SocketFailed::METHOD,
];

/// A message of the console above this is told by its size: reading it would cost more than it says.
const LOGGED_BYTES: usize = 256 << 10;

/// Script contexts whose frame is remembered. A page can make them without end.
const CONTEXTS: usize = 2_048;

/// Objects that were logged stay alive in the page until they are let go, so that is done this often.
const OBJECTS: u32 = 256;

/// The group that logged objects belong to.
const LOGGED: &str = "console";

/// Who reads waits for no more events than this: a page that floods never comes to an end.
const CATCH_UP: usize = 20_000;

/// Reading a body takes no page script, only the browser's memory.
const BODY: Duration = Duration::from_secs(10);

/// The records of one tab.
#[derive(Debug)]
pub(crate) struct Journal {
    pages: Mutex<Pages>,
    asks: mpsc::Sender<oneshot::Sender<()>>,
}

#[derive(Debug, Default)]
struct Pages {
    /// The main document, as its loader is named.
    document: String,
    console: Console,
    traffic: Traffic,
    gaps: bool,
}

/// The body of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NetworkBody {
    /// As text, credentials redacted.
    Text(String),
    /// Bytes that are no text.
    Binary(usize),
    /// Chromium has none: it did not keep it, or there was none.
    Missing,
}

/// Begins to keep what a tab's pages log and load.
pub(crate) fn start(tab: &Arc<Tab>) {
    if tab.containment.records == Records::Nothing {
        return;
    }
    let (asks, asked) = mpsc::channel(1);
    let journal = Journal { pages: Mutex::default(), asks };
    if tab.journal.set(journal).is_ok() {
        tokio::spawn(run(tab.clone(), tab.session.tree_events(METHODS), asked));
    }
}

/// Reins did not let a request go on.
pub(crate) fn refused(tab: &Tab, session: &Session, request: &Refused<'_>) {
    if let Some(journal) = tab.journal.get() {
        journal.pages().traffic.refused(request, session);
    }
}

/// A request that waited was not sent.
pub(crate) fn not_sent(tab: &Tab, waiting: &Waiting, why: &str) {
    let request = Refused {
        network: waiting.network.as_deref(),
        method: &waiting.shown.method,
        url: &waiting.shown.url,
        kind: if waiting.leads_to.is_some() { "document" } else { "fetch" },
        why,
    };
    refused(tab, &waiting.session, &request);
}

async fn run(tab: Arc<Tab>, mut events: Events, mut asked: mpsc::Receiver<oneshot::Sender<()>>) {
    let Some(journal) = tab.journal.get() else { return };
    let mut scribe = Scribe::new(&tab, journal);
    loop {
        tokio::select! {
            Some(answer) = asked.recv() => {
                for _ in 0..CATCH_UP {
                    let Some(event) = events.try_next() else { break };
                    scribe.take(&event);
                }
                // Who asked may be gone; then nobody needs to know.
                let _ = answer.send(());
            }
            event = events.next() => match event {
                Some(event) => scribe.take(&event),
                None if events.end() == Some(End::Overflowed) => {
                    journal.pages().gaps = true;
                    events = tab.session.tree_events(METHODS);
                    scribe.follow(&events);
                }
                None => return,
            }
        }
    }
}

/// Writes the records, one event after the other.
struct Scribe<'a> {
    tab: &'a Arc<Tab>,
    journal: &'a Journal,
    sessions: HashMap<String, (Session, Source)>,
    /// The frame of each script context, by session and number.
    contexts: HashMap<(String, i64), FrameId>,
    /// What each frame shows.
    frames: HashMap<FrameId, String>,
    /// Logged objects that have not been let go, by session.
    objects: HashMap<String, u32>,
}

/// Whose session it is.
#[derive(Clone, Debug)]
enum Source {
    Frames,
    Worker(String),
}

impl<'a> Scribe<'a> {
    fn new(tab: &'a Arc<Tab>, journal: &'a Journal) -> Self {
        let own = tab.session.id().unwrap_or_default().to_owned();
        Self {
            tab,
            journal,
            sessions: HashMap::from([(own, (tab.session.clone(), Source::Frames))]),
            contexts: HashMap::new(),
            frames: HashMap::new(),
            objects: HashMap::new(),
        }
    }

    /// A new queue hears of sessions that are attached later; these are there already.
    fn follow(&self, events: &Events) {
        for (session, _) in self.sessions.values() {
            if session.id() != self.tab.session.id() {
                events.follow(session);
            }
        }
    }

    fn take(&mut self, event: &Event) {
        let Some(known) = event.session().and_then(|id| self.sessions.get(id)) else { return };
        let (session, source) = known.clone();
        if let Err(error) = self.apply(event, &session, &source) {
            tracing::debug!(%error, "an event was not recorded");
        }
    }

    fn apply(
        &mut self,
        event: &Event,
        session: &Session,
        source: &Source,
    ) -> Result<(), EventError> {
        let id = session.id().unwrap_or_default();
        let pages = || self.journal.pages();
        let size = event.bytes().len();
        match event.method() {
            AttachedToTarget::METHOD => self.attached(event.parse()?),
            DetachedFromTarget::METHOD => {
                let gone = event.parse::<DetachedFromTarget>()?.session_id;
                self.sessions.remove(&gone);
                self.objects.remove(&gone);
                self.contexts.retain(|(session, _), _| *session != gone);
            }
            FrameNavigated::METHOD => self.navigated(&event.parse()?),
            ContextCreated::METHOD => {
                let context = event.parse::<ContextCreated>()?.context;
                self.make_room();
                let frame = FrameId::new(context.aux_data.frame_id);
                self.contexts.insert((id.to_owned(), context.id), frame);
            }
            ContextsCleared::METHOD => self.contexts.retain(|(session, _), _| session != id),
            // That it came is noted all the same.
            wire::ConsoleCalled::METHOD | wire::ExceptionThrown::METHOD if size > LOGGED_BYTES => {
                let entry = console::too_large(size, self.from(source, id, None));
                pages().console.add(entry, None);
            }
            wire::ConsoleCalled::METHOD => self.called(event, session, source)?,
            wire::ExceptionThrown::METHOD => self.thrown(event, session, source)?,
            wire::ExceptionRevoked::METHOD => {
                let revoked = event.parse::<wire::ExceptionRevoked>()?.exception_id;
                pages().console.revoke(id, revoked);
            }
            wire::EntryAdded::METHOD if size <= LOGGED_BYTES => {
                let from = self.from(source, id, None);
                if let Some(entry) = console::entry(&event.parse()?, from) {
                    pages().console.add(entry, None);
                }
            }
            wire::RequestBegan::METHOD => pages().traffic.began(event.parse()?, session),
            wire::RequestExtra::METHOD => pages().traffic.request_headers(&event.parse()?),
            wire::ResponseExtra::METHOD => pages().traffic.response_headers(&event.parse()?),
            wire::ResponseBegan::METHOD => pages().traffic.answered(event.parse()?, session),
            wire::ServedFromCache::METHOD => {
                pages().traffic.cached(&event.parse::<wire::ServedFromCache>()?.request_id);
            }
            wire::RequestFinished::METHOD => pages().traffic.finished(&event.parse()?, session),
            wire::RequestFailed::METHOD => pages().traffic.failed(&event.parse()?),
            wire::SocketBegan::METHOD => pages().traffic.socket_began(event.parse()?, session),
            wire::SocketOpened::METHOD => pages().traffic.socket_opened(&event.parse()?),
            wire::SocketClosed::METHOD => pages().traffic.socket_closed(&event.parse()?),
            wire::SocketFailed::METHOD => pages().traffic.socket_failed(&event.parse()?),
            _ => {}
        }
        Ok(())
    }

    fn attached(&mut self, attached: AttachedToTarget) {
        let session = self.tab.connection.session(&attached.session_id);
        let source = match attached.target_info.r#type.as_str() {
            "iframe" => Source::Frames,
            _ => Source::Worker(shown(&attached.target_info.url)),
        };
        self.sessions.insert(attached.session_id, (session, source));
    }

    /// Forgets the contexts of frames that are gone.
    fn make_room(&mut self) {
        if self.contexts.len() < CONTEXTS && self.frames.len() < CONTEXTS {
            return;
        }
        let state = self.tab.state();
        self.contexts.retain(|_, frame| state.frames.contains_key(frame));
        let shown = |frame: &FrameId| state.frames.contains_key(frame);
        self.frames.retain(|frame, _| shown(frame));
        drop(state);
        if self.contexts.len() >= CONTEXTS {
            self.contexts.clear();
            self.frames.clear();
        }
    }

    fn navigated(&mut self, navigated: &FrameNavigated) {
        let frame = &navigated.frame;
        if frame.id != self.tab.id.as_str() {
            self.frames.insert(FrameId::new(frame.id.as_str()), shown(&frame.url));
            return;
        }
        let mut pages = self.journal.pages();
        if pages.document != frame.loader_id {
            pages.document.clone_from(&frame.loader_id);
            pages.console.clear();
            pages.traffic.keep_only(&frame.loader_id);
            pages.gaps = false;
        }
    }

    fn called(
        &mut self,
        event: &Event,
        session: &Session,
        source: &Source,
    ) -> Result<(), EventError> {
        let id = session.id().unwrap_or_default();
        let call: wire::ConsoleCalled = event.parse()?;
        let from = self.from(source, id, Some(call.execution_context_id));
        if let Some(entry) = console::called(&call, from) {
            self.journal.pages().console.add(entry, None);
        }
        let kept = call.args.iter().filter(|arg| arg.object_id.is_some()).count();
        self.let_go(session, u32::try_from(kept).unwrap_or(u32::MAX));
        Ok(())
    }

    fn thrown(
        &mut self,
        event: &Event,
        session: &Session,
        source: &Source,
    ) -> Result<(), EventError> {
        let id = session.id().unwrap_or_default();
        let thrown = event.parse::<wire::ExceptionThrown>()?.exception_details;
        let from = self.from(source, id, thrown.execution_context_id);
        let entry = console::thrown(&thrown, from);
        self.journal.pages().console.add(entry, Some((id.to_owned(), thrown.exception_id)));
        self.let_go(session, 1);
        Ok(())
    }

    /// Lets go of what was logged, once it is much.
    fn let_go(&mut self, session: &Session, more: u32) {
        let id = session.id().unwrap_or_default().to_owned();
        let count = self.objects.entry(id).or_default();
        *count = count.saturating_add(more);
        if *count >= OBJECTS {
            *count = 0;
            drop(session.post(wire::ReleaseGroup { object_group: LOGGED }, ARMING));
        }
    }

    /// The frame or worker that said something, where it is not the main document.
    fn from(&self, source: &Source, session: &str, context: Option<i64>) -> Option<String> {
        let frame = match source {
            Source::Worker(url) => return Some(format!("worker {url}")),
            Source::Frames => {
                let known = context.and_then(|id| self.contexts.get(&(session.to_owned(), id)));
                match known {
                    Some(frame) => frame.clone(),
                    // What the browser logs of another process has no context.
                    None if Some(session) != self.tab.session.id() => return Some("frame".into()),
                    None => return None,
                }
            }
        };
        let inside = frame.as_str() != self.tab.id.as_str() && !frame.as_str().is_empty();
        inside.then(|| match self.frames.get(&frame) {
            Some(url) => format!("frame {url}"),
            None => "frame".to_owned(),
        })
    }
}

impl Journal {
    fn pages(&self) -> MutexGuard<'_, Pages> {
        // Every section leaves whole values, so a poisoned lock is still good.
        self.pages.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns once everything that has come from the browser is written.
    async fn caught_up(&self) {
        let (answer, answered) = oneshot::channel();
        if self.asks.send(answer).await.is_ok() {
            // A task that has ended has written all there was.
            let _ = answered.await;
        }
    }
}

impl Browser {
    /// What the documents and workers of a tab logged since its main document began. Asks nothing of
    /// the page.
    ///
    /// # Errors
    /// The tab is gone, or nothing is kept in this browser.
    pub async fn console(&self, tab: &TabId) -> Result<ConsoleLog, BrowserError> {
        let tab = self.inner.tab(tab)?;
        let journal = tab.journal.get().ok_or(BrowserError::NotKept)?;
        journal.caught_up().await;
        let pages = journal.pages();
        Ok(pages.console.log(pages.gaps))
    }

    /// What the documents and workers of a tab loaded since its main document began.
    ///
    /// # Errors
    /// The tab is gone, or nothing is kept in this browser.
    pub async fn network(&self, tab: &TabId) -> Result<NetworkLog, BrowserError> {
        let tab = self.inner.tab(tab)?;
        let journal = tab.journal.get().ok_or(BrowserError::NotKept)?;
        journal.caught_up().await;
        let state = tab.state();
        let pages = journal.pages();
        Ok(pages.traffic.log(pages.gaps, |network| state.held.waits(network)))
    }

    /// The body of the answer to a request, by its number.
    ///
    /// # Errors
    /// The tab is gone, nothing is kept in this browser, or it does not answer.
    pub async fn network_body(
        &self,
        tab: &TabId,
        number: u32,
    ) -> Result<NetworkBody, BrowserError> {
        let tab = self.inner.tab(tab)?;
        let journal = tab.journal.get().ok_or(BrowserError::NotKept)?;
        let found = journal.pages().traffic.body_of(number);
        let Some((session, id)) = found else { return Ok(NetworkBody::Missing) };
        let body = match session.run(wire::GetResponseBody { request_id: &id }, BODY).await {
            Ok(body) => body,
            Err(CallError::Answered { .. } | CallError::NotSent(_)) => {
                return Ok(NetworkBody::Missing);
            }
            Err(error) => return Err(wire_error("Network.getResponseBody", error)),
        };
        if !body.base64_encoded {
            return Ok(NetworkBody::Text(reins_page::conceal(&body.body)));
        }
        let bytes = STANDARD.decode(&body.body).unwrap_or_default();
        Ok(match std::str::from_utf8(&bytes) {
            Ok(text) if !text.contains('\0') => NetworkBody::Text(reins_page::conceal(text)),
            _ => NetworkBody::Binary(bytes.len()),
        })
    }
}
