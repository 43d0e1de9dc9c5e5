//! Reading a tab: all frames at once, each with its own deadline, and what could not be read is said.

use crate::browser::Browser;
use crate::error::BrowserError;
use crate::focus;
use crate::frame::World;
use crate::hosts;
use crate::owners;
use crate::page_call::{AskError, ask};
use crate::tab::Tab;
use crate::tab_info::TabInfo;
use futures_util::future::{join, join_all};
use reins_core::{DocumentId, FrameId, NodeKey, TabId, TargetRecord};
use reins_page::{CaptureOptions, FrameCapture, FrameMeta, FrameNote, FrameTrouble, parse_capture};
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
        if let Err(error) = tab.armed(until).await {
            if !matches!(error, BrowserError::Crashed | BrowserError::Busy(_)) {
                return Err(error);
            }
        }
        let mut capture = self.round(&tab, request, deadline.min(FRAME)).await?;
        // A document that was replaced meanwhile is read once more, if there is time.
        let again = capture.notes.iter().any(|n| n.trouble == FrameTrouble::Replaced);
        if again && until.saturating_duration_since(Instant::now()) > FRAME {
            let replaced = capture.replaced.take();
            capture = self.round(&tab, request, FRAME).await?;
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
        // Asked first and awaited later, so that every frame works at the same time.
        let asked: Vec<_> = asked(tab)
            .into_iter()
            .map(|frame| {
                let read = frame.world.as_ref().map(|world| {
                    let options = options(request, &frame);
                    ask(world, &format!("__reins.capture({options})"), false, deadline)
                });
                (frame, read)
            })
            .collect();
        let read = async {
            let all = asked.into_iter().map(|(frame, read)| async move {
                let json = match read {
                    Some(read) => Some(read.answer::<String>().await),
                    None => None,
                };
                (frame, json)
            });
            // A dialog that opens meanwhile ends the wait; a page that is stuck in it says nothing.
            let stuck = tab.until(Instant::now() + deadline, |s| {
                (s.dialog.is_some() || s.crashed || s.closed).then_some(())
            });
            tokio::select! {
                read = join_all(all) => read,
                Some(()) = stuck => Vec::new(),
            }
        };
        let (read, ()) = join(read, owners::find_all(tab, deadline)).await;
        for (frame, json) in read {
            self.take(tab, request, frame, json, &mut capture).await?;
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

    async fn take(
        &self,
        tab: &Arc<Tab>,
        request: &CaptureRequest,
        frame: Asking,
        json: Option<Result<String, AskError>>,
        capture: &mut TabCapture,
    ) -> Result<(), BrowserError> {
        let owner = frame.owner(tab);
        let mut note = |trouble| capture.notes.push(FrameNote { owner: owner.clone(), trouble });
        let json = match json {
            Some(Ok(json)) => json,
            Some(Err(AskError::Busy(_))) => return Ok(note(FrameTrouble::Busy)),
            Some(Err(AskError::Crashed)) => return Ok(note(FrameTrouble::Crashed)),
            Some(Err(AskError::Replaced)) => {
                // A frame that is gone altogether leaves nothing to be said.
                if tab.state().frames.contains_key(&frame.id) {
                    note(FrameTrouble::Replaced);
                }
                return Ok(());
            }
            Some(Err(error)) if tab.connection.is_closed() => return Err(error.into()),
            Some(Err(_)) => return Ok(note(FrameTrouble::NotReadable)),
            None => return Ok(note(FrameTrouble::NotLoaded)),
        };
        let replaced = {
            let state = tab.state();
            let now = state.frames.get(&frame.id).and_then(|f| f.document.as_ref());
            now.is_some_and(|now| *now != frame.document)
        };
        if replaced {
            note(FrameTrouble::Replaced);
        }
        let mut read = parse_capture(frame.meta(owner.clone()), &json).map_err(facts_error)?;
        if let Some(world) = &frame.world
            && !read.closed_hosts().is_empty()
            && hosts::adopt(world, ELEMENT).await
        {
            // The script can look into these roots from now on.
            let options = options(request, &frame);
            let again = ask(world, &format!("__reins.capture({options})"), false, FRAME);
            if let Ok(json) = again.answer::<String>().await {
                read = parse_capture(frame.meta(owner), &json).map_err(facts_error)?;
            }
        }
        capture.frames.push(read);
        Ok(())
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
