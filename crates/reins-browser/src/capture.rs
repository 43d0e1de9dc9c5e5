//! Reading a tab: all frames at once, each with its own deadline, and what could not be read is said.

use crate::browser::Browser;
use crate::error::BrowserError;
use crate::focus;
use crate::frame::World;
use crate::hosts::{self, Counting};
use crate::owners;
use crate::page_call::{AskError, ask};
use crate::tab::Tab;
use crate::tab_info::TabInfo;
use futures_util::future::{join, join_all};
use reins_cdp::Session;
use reins_core::{DocumentId, FrameId, NodeKey, TabId, TargetRecord};
use reins_page::{
    CaptureOptions, FrameCapture, FrameMeta, FrameNote, FrameTrouble, PageError, needs,
    parse_capture,
};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// What to read of a tab.
#[derive(Clone, Debug)]
pub struct CaptureRequest {
    /// Bytes of text the snapshot may have; ignored with `full`.
    pub budget: usize,
    /// Everything, however long the page is.
    pub full: bool,
    /// Elements published before: the capture says which of them are gone.
    pub known: Vec<NodeKey>,
}

/// What was read of a tab.
#[derive(Clone, Debug)]
pub struct TabCapture {
    /// What is known of the tab at the end: address, title, dialog, crash.
    pub info: TabInfo,
    /// The frames that could be read.
    pub frames: Vec<FrameCapture>,
    /// The frames that could not be read, or not for sure.
    pub notes: Vec<FrameNote>,
    /// The main document at the start and at the end, where they differ.
    pub replaced: Option<(DocumentId, DocumentId)>,
}

/// The main thread of a page may be busy for a while; longer than this it is told as busy.
const FRAME: Duration = Duration::from_millis(2_500);

/// One element is read fast, or the page is busy.
const ELEMENT: Duration = Duration::from_secs(3);

impl Browser {
    /// Reads all frames of a tab. Frames that do not answer within their time are told in the
    /// notes; the call itself never takes longer than `deadline`.
    ///
    /// # Errors
    /// The tab or the browser is gone. A crash, an open dialog or a busy page is no error: it is in
    /// the result.
    pub async fn capture(
        &self,
        tab: &TabId,
        request: &CaptureRequest,
        deadline: Duration,
    ) -> Result<TabCapture, BrowserError> {
        let tab = self.inner.tab(tab)?;
        let until = Instant::now() + deadline;
        if let Err(error) = tab.armed(until).await
            && !matches!(error, BrowserError::Crashed | BrowserError::Busy(_))
        {
            return Err(error);
        }
        // A whole page may be long; whoever asks for all of it says how long they wait.
        let limit = if request.full { deadline } else { deadline.min(FRAME) };
        let mut capture = self.round(&tab, request, limit).await?;
        // A document that was replaced meanwhile is read once more, if there is time.
        let again = capture.notes.iter().any(|n| n.trouble == FrameTrouble::Replaced);
        let left = until.saturating_duration_since(Instant::now());
        if again && left > FRAME {
            let replaced = capture.replaced.take();
            let limit = if request.full { left } else { FRAME };
            capture = self.round(&tab, request, limit).await?;
            capture.replaced = replaced.or(capture.replaced);
        }
        Ok(capture)
    }

    async fn round(
        &self,
        tab: &Arc<Tab>,
        request: &CaptureRequest,
        deadline: Duration,
    ) -> Result<TabCapture, BrowserError> {
        let before = tab.state().main_frame().and_then(|f| f.document.clone());
        let mut capture =
            TabCapture { info: tab.info(), frames: Vec::new(), notes: Vec::new(), replaced: None };
        match tab.obstacle() {
            // A dialog stops every script; the frames can't be asked.
            Some(BrowserError::DialogOpen { .. }) => return Ok(capture),
            Some(BrowserError::Crashed) => {
                capture.notes.push(FrameNote { owner: None, trouble: FrameTrouble::Crashed });
                return Ok(capture);
            }
            Some(error) => return Err(error),
            None => {}
        }
        let read = self.read_frames(tab, request, deadline);
        // A dialog that opens meanwhile ends the wait: every script stops behind it.
        let stuck = tab.until(Instant::now() + deadline, |s| {
            (s.dialog.is_some() || s.crashed || s.closed).then_some(())
        });
        let (read, ()) = tokio::select! {
            read = join(read, owners::find_all(tab, deadline)) => read,
            Some(()) = stuck => (Vec::new(), ()),
        };
        for Read { frame, outcome } in read {
            take(tab, frame, outcome, &mut capture)?;
        }
        if tab.state().crashed {
            capture.notes.push(FrameNote { owner: None, trouble: FrameTrouble::Crashed });
        }
        capture.info = tab.info();
        let after = tab.state().main_frame().and_then(|f| f.document.clone());
        if let (Some(before), Some(after)) = (before, after)
            && before != after
        {
            capture.replaced = Some((before, after));
        }
        Ok(capture)
    }

    /// Reads all frames at once; those with closed roots or internals again, once they were fetched.
    async fn read_frames(
        &self,
        tab: &Arc<Tab>,
        request: &CaptureRequest,
        deadline: Duration,
    ) -> Vec<Read> {
        let mut done: Vec<Read> = Vec::new();
        let mut next = asked(tab);
        for _ in 0..needs::ROUNDS {
            // Asked first and awaited later, so that every frame works at the same time.
            let sessions = sessions_of(&next);
            let asking: Vec<_> = next
                .into_iter()
                .map(|frame| {
                    let read = frame.world.as_ref().map(|world| {
                        let options = options(request, &frame);
                        ask(world, &format!("__reins.capture({options})"), false, deadline)
                    });
                    (frame, read)
                })
                .collect();
            let counting: Vec<_> =
                sessions.iter().map(|session| Counting::begin(session, deadline)).collect();
            let read = join_all(asking.into_iter().map(|(frame, read)| async move {
                let outcome = match read {
                    Some(read) => Some(read.answer::<String>().await),
                    None => None,
                };
                Read::new(frame, outcome)
            }));
            let counts = join_all(counting.into_iter().map(Counting::end));
            let (read, counts) = join(read, counts).await;
            done.extend(read);
            let again = fetch_needs(&done, &sessions, &counts).await;
            if again.is_empty() {
                break;
            }
            (next, done) = split(done, &again);
        }
        done
    }

    /// Reads one element afresh, as an approval is bound to it.
    ///
    /// # Errors
    /// [`BrowserError::StaleRef`] when its document was replaced or the element is gone.
    pub async fn record(&self, key: &NodeKey) -> Result<TargetRecord, BrowserError> {
        let tab = self.inner.tab(&key.tab)?;
        if let Some(error) = tab.obstacle() {
            return Err(error);
        }
        let world = tab.world_of(&key.frame, &key.document)?;
        let (meta, top) = {
            let state = tab.state();
            let frame = state
                .frames
                .get(&key.frame)
                .ok_or(BrowserError::StaleRef { what: "its frame is gone".into() })?;
            let owner = Asking::new(frame, Some(world.clone())).and_then(|a| owner_of(&a, &state));
            let meta = FrameMeta {
                frame: frame.id.clone(),
                document: key.document.clone(),
                url: frame.url.clone(),
                origin: frame.origin.clone(),
                owner,
            };
            (meta, state.top_origin())
        };
        let facts = ask(&world, &format!("__reins.facts({})", key.node.0), false, ELEMENT);
        let json: String = facts.answer().await?;
        match reins_page::record(&key.tab, &meta, &top, &json) {
            Ok(record) => Ok(record),
            Err(reins_page::PageError::Gone) => {
                Err(BrowserError::StaleRef { what: "it is no longer in the page".into() })
            }
            Err(error) => Err(facts_error(error)),
        }
    }

    /// The element that has the focus, through all frames; `None` when nothing has it.
    ///
    /// # Errors
    /// The tab is gone or its page does not answer.
    pub async fn focused(&self, tab: &TabId) -> Result<Option<TargetRecord>, BrowserError> {
        let tab = self.inner.tab(tab)?;
        if let Some(error) = tab.obstacle() {
            return Err(error);
        }
        match focus::focused(&tab).await? {
            Some(key) if key.node.0 != 0 => match self.record(&key).await {
                Ok(record) => Ok(Some(record)),
                Err(BrowserError::StaleRef { .. }) => Ok(None),
                Err(error) => Err(error),
            },
            _ => Ok(None),
        }
    }
}

/// One frame and what came of reading it.
struct Read {
    frame: Asking,
    outcome: Option<Result<FrameCapture, ReadError>>,
}

/// Why a frame could not be read.
enum ReadError {
    Ask(AskError),
    Page(PageError),
}

impl Read {
    fn new(frame: Asking, json: Option<Result<String, AskError>>) -> Self {
        let outcome = json.map(|json| {
            let json = json.map_err(ReadError::Ask)?;
            // The frame's element is filled in at the end: it may still be looked for.
            parse_capture(frame.meta(None), &json).map_err(ReadError::Page)
        });
        Self { frame, outcome }
    }

    fn capture(&self) -> Option<&FrameCapture> {
        self.outcome.as_ref()?.as_ref().ok()
    }

    fn session(&self) -> Option<&str> {
        self.frame.world.as_ref()?.session.id()
    }
}

fn sessions_of(frames: &[Asking]) -> Vec<Session> {
    let mut sessions: Vec<Session> = Vec::new();
    for world in frames.iter().filter_map(|frame| frame.world.as_ref()) {
        if sessions.iter().all(|s| s.id() != world.session.id()) {
            sessions.push(world.session.clone());
        }
    }
    sessions
}

/// Fetches closed roots, internals and listeners where there are any. The frames to be read again.
async fn fetch_needs(done: &[Read], sessions: &[Session], counts: &[Option<u32>]) -> Vec<FrameId> {
    let listeners = join_all(sessions.iter().map(|session| async {
        let mut read = done.iter().filter(|read| read.session() == session.id());
        let wanted = read.any(|read| read.capture().is_some_and(FrameCapture::listeners_wanted));
        if wanted { hosts::listeners(session, ELEMENT).await } else { None }
    }))
    .await;
    let wants = done.iter().filter_map(|read| {
        let capture = read.capture()?;
        let world = read.frame.world.as_ref()?;
        let session = sessions.iter().position(|s| s.id() == world.session.id())?;
        // Without the browser's count nothing is known to be hidden.
        let found = counts.get(session).copied().flatten()?;
        let counted: Vec<_> = done
            .iter()
            .filter(|other| other.session() == world.session.id())
            .map(|other| other.capture().map_or(Some(0), FrameCapture::searchable))
            .collect();
        let listening = capture.listeners_wanted().then(|| {
            let listeners = listeners.get(session)?.as_ref()?;
            Some(listeners.of(read.frame.id.as_str()))
        });
        Some((read, capture, world, needs::excess(found, &counted), listening.flatten()))
    });
    let fetched = join_all(wants.map(|(read, capture, world, excess, listening)| async move {
        let roots = if excess == Some(0) { 0 } else { hosts::adopt(world, excess, ELEMENT).await };
        let internals = hosts::internals(world, capture.internals_wanted(), ELEMENT).await;
        let listening = match listening {
            Some(found) => hosts::tell_listeners(world, found, ELEMENT).await,
            None => 0,
        };
        let news = roots > 0 || internals.unwrap_or(false) || listening > 0;
        news.then(|| read.frame.id.clone())
    }));
    fetched.await.into_iter().flatten().collect()
}

/// Takes the frames out that are read again.
fn split(done: Vec<Read>, again: &[FrameId]) -> (Vec<Asking>, Vec<Read>) {
    let (next, kept): (Vec<_>, Vec<_>) =
        done.into_iter().partition(|read| again.contains(&read.frame.id));
    (next.into_iter().map(|read| read.frame).collect(), kept)
}

/// Puts one frame's outcome where it belongs.
fn take(
    tab: &Arc<Tab>,
    frame: Asking,
    outcome: Option<Result<FrameCapture, ReadError>>,
    capture: &mut TabCapture,
) -> Result<(), BrowserError> {
    let owner = frame.owner(tab);
    let mut note = |trouble| capture.notes.push(FrameNote { owner: owner.clone(), trouble });
    let mut read = match outcome {
        Some(Ok(read)) => read,
        Some(Err(ReadError::Page(error))) => {
            tracing::warn!(%error, "a frame's facts could not be read");
            note(FrameTrouble::NotReadable);
            return Ok(());
        }
        Some(Err(ReadError::Ask(error))) => {
            match error {
                AskError::Busy(_) => note(FrameTrouble::Busy),
                AskError::Crashed => note(FrameTrouble::Crashed),
                // A frame that is gone altogether leaves nothing to be said.
                AskError::Replaced if !tab.state().frames.contains_key(&frame.id) => {}
                AskError::Replaced => note(FrameTrouble::Replaced),
                error if tab.connection.is_closed() => return Err(error.into()),
                _ => note(FrameTrouble::NotReadable),
            }
            return Ok(());
        }
        None => {
            note(FrameTrouble::NotLoaded);
            return Ok(());
        }
    };
    let replaced = {
        let state = tab.state();
        let now = state.frames.get(&frame.id).and_then(|f| f.document.as_ref());
        now.is_some_and(|now| *now != frame.document)
    };
    if replaced {
        note(FrameTrouble::Replaced);
    }
    read.meta.owner = owner;
    capture.frames.push(read);
    Ok(())
}

fn facts_error(error: reins_page::PageError) -> BrowserError {
    BrowserError::Facts(error)
}

/// A frame that is asked.
struct Asking {
    id: FrameId,
    document: DocumentId,
    url: String,
    origin: reins_core::DocumentOrigin,
    parent: Option<FrameId>,
    world: Option<World>,
}

impl Asking {
    fn new(frame: &crate::frame::Frame, world: Option<World>) -> Option<Self> {
        Some(Self {
            id: frame.id.clone(),
            document: frame.document.clone()?,
            url: frame.url.clone(),
            origin: frame.origin.clone(),
            parent: frame.parent.clone(),
            world,
        })
    }

    fn owner(&self, tab: &Tab) -> Option<NodeKey> {
        owner_of(self, &tab.state())
    }

    fn meta(&self, owner: Option<NodeKey>) -> FrameMeta {
        FrameMeta {
            frame: self.id.clone(),
            document: self.document.clone(),
            url: self.url.clone(),
            origin: self.origin.clone(),
            owner,
        }
    }
}

fn owner_of(frame: &Asking, state: &crate::tab_state::TabState) -> Option<NodeKey> {
    let parent = frame.parent.as_ref()?;
    Some(NodeKey {
        tab: state.id.clone(),
        frame: parent.clone(),
        document: state.frames.get(parent)?.document.clone()?,
        node: state.owner(&frame.id)?,
    })
}

fn asked(tab: &Tab) -> Vec<Asking> {
    let state = tab.state();
    state
        .frames_in_order()
        .into_iter()
        .filter_map(|frame| Asking::new(frame, state.worlds.get(&frame.id).cloned()))
        .collect()
}

fn options(request: &CaptureRequest, frame: &Asking) -> String {
    let known = request
        .known
        .iter()
        .filter(|key| key.frame == frame.id && key.document == frame.document)
        .map(|key| key.node)
        .collect();
    CaptureOptions { budget: request.budget, full: request.full, known }.to_json()
}
