//! The task that hands on what one tab records.

use crate::console::{self, ConsoleEntry, ConsoleLevel};
use crate::frame::World;
use crate::hosts;
use crate::page_call::{ask, release};
use crate::protocol::inspect as log;
use crate::protocol::page as wire;
use crate::protocol::target::{AttachedToTarget, DetachedFromTarget};
use crate::recording::{BINDING, RecordedKind, Recording, WORLD, now_ms, sessions};
use crate::tab::Tab;
use reins_cdp::{End, Event, EventError, Events, Session};
use reins_core::FrameId;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use url::Url;

const METHODS: &[&str] = &[
    AttachedToTarget::METHOD,
    DetachedFromTarget::METHOD,
    wire::FrameNavigated::METHOD,
    wire::NavigatedWithin::METHOD,
    wire::FrameDetached::METHOD,
    wire::ContextCreated::METHOD,
    wire::ContextDestroyed::METHOD,
    wire::ContextsCleared::METHOD,
    wire::BindingCalled::METHOD,
    wire::TargetCrashed::METHOD,
    log::ConsoleCalled::METHOD,
    log::ExceptionThrown::METHOD,
    log::EntryAdded::METHOD,
];

/// Asking a page that is busy for longer is given up; it is asked again when it has more to tell.
const ASKING: Duration = Duration::from_secs(5);

/// A frame whose element has no number yet is looked for again so often, this much later each time.
const TRIES: u32 = 20;
/// See [`TRIES`].
const AGAIN: Duration = Duration::from_millis(250);

/// A message of the console above this is told by its size.
const LOGGED_BYTES: usize = 256 << 10;

/// Longer texts of the console are cut (S-X13).
const TEXT: usize = 2_000;

/// The number of an element, as the recorder counts.
const NUMBER: &str = "function(){return __reins.number(this)}";

/// What the recorder says.
#[derive(Deserialize)]
struct Said<'a> {
    #[serde(borrow, default)]
    events: Vec<&'a RawValue>,
    /// There are elements that may have closed roots.
    #[serde(default)]
    suspects: bool,
    /// An event of this size was left out.
    too_large: Option<u64>,
}

/// What every rrweb event says of itself.
#[derive(Deserialize)]
struct Stamp {
    timestamp: f64,
}

/// The world a binding was called in.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CalledIn {
    execution_context_id: i64,
}

/// What was found out beside the events.
enum Found {
    Place { frame: FrameId, document: Arc<str>, within: Arc<str>, node: Option<i64> },
    Roots { unique: Arc<str> },
}

/// Begins to hand on what a tab records.
pub(crate) fn start(tab: &Arc<Tab>, recording: &Arc<Recording>) {
    let events = tab.session.tree_events(METHODS);
    for session in sessions(tab) {
        if session.id() != tab.session.id() {
            events.follow(&session);
        }
    }
    let (founds, found) = mpsc::channel(64);
    let writer = Writer {
        tab: tab.clone(),
        recording: recording.clone(),
        worlds: HashMap::new(),
        homeless: HashSet::new(),
        placing: HashSet::new(),
        asking: HashSet::new(),
        url: String::new(),
        founds,
    };
    tokio::spawn(writer.run(events, found));
}

struct Writer {
    tab: Arc<Tab>,
    recording: Arc<Recording>,
    /// The recorder's world in each frame.
    worlds: HashMap<FrameId, World>,
    /// Frames of which nobody knows yet where they are shown.
    homeless: HashSet<FrameId>,
    /// Those of them that are being looked for.
    placing: HashSet<FrameId>,
    /// Worlds whose suspects are being asked about.
    asking: HashSet<Arc<str>>,
    /// What the tab shows, as it was told last.
    url: String,
    founds: mpsc::Sender<Found>,
}

impl Writer {
    async fn run(mut self, mut events: Events, mut found: mpsc::Receiver<Found>) {
        let url = bare(&self.tab.info().url);
        self.url.clone_from(&url);
        if !self.put(RecordedKind::Opened { url }).await {
            return;
        }
        loop {
            let goes_on = tokio::select! {
                Some(found) = found.recv() => self.found(found).await,
                event = events.next() => match event {
                    Some(event) => self.take(&event).await,
                    None if events.end() == Some(End::Overflowed) => {
                        events = self.anew();
                        let what = "the page changed faster than could be recorded";
                        self.put(RecordedKind::Gap { what: what.to_owned() }).await
                    }
                    None => break,
                },
            };
            if !goes_on {
                return;
            }
        }
        let url = std::mem::take(&mut self.url);
        self.put(RecordedKind::Closed { url }).await;
    }

    async fn put(&self, kind: RecordedKind) -> bool {
        self.recording.put(&self.tab.id, now_ms(), kind).await
    }

    /// A queue that begins after the gap, and full pictures to begin with.
    fn anew(&self) -> Events {
        let events = self.tab.session.tree_events(METHODS);
        for session in sessions(&self.tab) {
            if session.id() != self.tab.session.id() {
                events.follow(&session);
            }
        }
        for world in self.worlds.values() {
            drop(ask(world, "__reins.picture()", false, ASKING));
        }
        events
    }

    async fn take(&mut self, event: &Event) -> bool {
        let Some(session) = event.session().and_then(|id| self.tab.session_of(id)) else {
            return true;
        };
        match self.apply(event, &session).await {
            Ok(goes_on) => goes_on,
            Err(error) => {
                tracing::debug!(%error, "an event was not recorded");
                true
            }
        }
    }

    async fn apply(&mut self, event: &Event, session: &Session) -> Result<bool, EventError> {
        let own = session.id() == self.tab.session.id();
        match event.method() {
            wire::BindingCalled::METHOD => return self.said(event, session).await,
            DetachedFromTarget::METHOD => {
                let gone = event.parse::<DetachedFromTarget>()?.session_id;
                self.worlds.retain(|_, world| world.session.id() != Some(&gone));
            }
            wire::ContextCreated::METHOD => {
                let context = event.parse::<wire::ContextCreated>()?.context;
                if context.name == WORLD {
                    self.world(&context, session);
                }
            }
            wire::ContextDestroyed::METHOD => {
                let gone = event.parse::<wire::ContextDestroyed>()?.execution_context_unique_id;
                self.worlds.retain(|_, world| *world.unique != *gone);
            }
            wire::ContextsCleared::METHOD => {
                self.worlds.retain(|_, world| world.session.id() != session.id());
            }
            wire::FrameDetached::METHOD => {
                let gone: wire::FrameDetached = event.parse()?;
                // A frame that goes on in another process is detached here as well.
                if gone.reason.as_deref() != Some("swap") {
                    self.homeless.remove(&FrameId::new(gone.frame_id));
                }
            }
            wire::FrameNavigated::METHOD if own => {
                let frame = event.parse::<wire::FrameNavigated>()?.frame;
                if frame.parent_id.is_none() {
                    return Ok(self
                        .moved(frame.unreachable_url.as_ref().unwrap_or(&frame.url))
                        .await);
                }
            }
            wire::NavigatedWithin::METHOD if own => {
                let moved: wire::NavigatedWithin = event.parse()?;
                if moved.frame_id == self.tab.id.as_str() {
                    return Ok(self.moved(&moved.url).await);
                }
            }
            wire::TargetCrashed::METHOD if own => {
                let what = "the page crashed".to_owned();
                return Ok(self.put(RecordedKind::Gap { what }).await);
            }
            log::ConsoleCalled::METHOD | log::ExceptionThrown::METHOD | log::EntryAdded::METHOD => {
                return self.logged(event).await;
            }
            _ => {}
        }
        Ok(true)
    }

    /// The tab shows another address. Queries and fragments are not told, and so no moves between them.
    async fn moved(&mut self, url: &str) -> bool {
        let url = bare(url);
        if url == self.url {
            return true;
        }
        self.url.clone_from(&url);
        self.put(RecordedKind::Navigated { url }).await
    }

    fn world(&mut self, context: &wire::ContextDescription, session: &Session) {
        let frame = FrameId::new(context.aux_data.frame_id.as_str());
        if frame.as_str() != self.tab.id.as_str() {
            self.homeless.insert(frame.clone());
        }
        let world = World {
            session: session.clone(),
            unique: context.unique_id.as_str().into(),
            number: context.id,
        };
        self.worlds.insert(frame, world);
    }

    async fn said(&mut self, event: &Event, session: &Session) -> Result<bool, EventError> {
        let called: CalledIn = event.parse()?;
        let wire::BindingCalled { name, payload } = event.parse()?;
        let of = |world: &World| {
            world.number == called.execution_context_id && world.session.id() == session.id()
        };
        let known = self.worlds.iter().find(|(_, world)| of(world));
        let Some((frame, world)) = known.filter(|_| name == BINDING) else { return Ok(true) };
        let (frame, world) = (frame.clone(), world.clone());
        let Ok(said) = serde_json::from_str::<Said<'_>>(&payload) else {
            tracing::warn!("the recorder said something that cannot be read");
            return Ok(true);
        };
        if said.suspects {
            self.adopt(&world);
        }
        if let Some(bytes) = said.too_large {
            let what = format!("a change of the page was too large to be recorded ({bytes} bytes)");
            return Ok(self.put(RecordedKind::Gap { what }).await);
        }
        for event in said.events {
            let Ok(stamp) = serde_json::from_str::<Stamp>(event.get()) else { continue };
            let kind = RecordedKind::Dom {
                frame: frame.clone(),
                document: world.unique.to_string(),
                data: event.to_owned(),
            };
            if !self.recording.put(&self.tab.id, whole(stamp.timestamp), kind).await {
                return Ok(false);
            }
        }
        self.place(&frame);
        Ok(true)
    }

    /// Looks for the elements of frames that told something, once frame and parent are recorded.
    fn place(&mut self, told: &FrameId) {
        let looked: Vec<(FrameId, Arc<str>, World)> = {
            let state = self.tab.state();
            let missing = self.homeless.iter().filter(|frame| !self.placing.contains(*frame));
            missing
                .filter_map(|frame| {
                    let parent = state.frames.get(frame)?.parent.clone()?;
                    let concerned = *frame == *told || parent == *told;
                    let document = self.worlds.get(frame)?.unique.clone();
                    let world = self.worlds.get(&parent).filter(|_| concerned)?;
                    Some((frame.clone(), document, world.clone()))
                })
                .collect()
        };
        for (frame, document, world) in looked {
            self.placing.insert(frame.clone());
            let founds = self.founds.clone();
            tokio::spawn(async move {
                let mut node = None;
                for _ in 0..TRIES {
                    node = element(&world, &frame).await;
                    if node.is_some() {
                        break;
                    }
                    // The parent's recorder has not begun; nothing tells when it has numbered this one.
                    tokio::time::sleep(AGAIN).await;
                }
                // The recording may be over.
                let within = world.unique;
                let _ = founds.send(Found::Place { frame, document, within, node }).await;
            });
        }
    }

    /// Has closed roots of a document handed to its recorder.
    fn adopt(&mut self, world: &World) {
        if !self.asking.insert(world.unique.clone()) {
            return;
        }
        let (world, founds) = (world.clone(), self.founds.clone());
        tokio::spawn(async move {
            hosts::adopt(&world, None, ASKING).await;
            let _ = founds.send(Found::Roots { unique: world.unique }).await;
        });
    }

    async fn found(&mut self, found: Found) -> bool {
        match found {
            Found::Roots { unique } => {
                self.asking.remove(&unique);
                true
            }
            Found::Place { frame, document, within, node } => {
                self.placing.remove(&frame);
                let Some(node) = node else { return true };
                // Another document may be there by now, which is placed for itself.
                if self.worlds.get(&frame).is_some_and(|world| world.unique == document) {
                    self.homeless.remove(&frame);
                } else {
                    self.place(&frame);
                }
                let (document, within) = (document.to_string(), within.to_string());
                self.put(RecordedKind::Placed { document, within, node }).await
            }
        }
    }

    async fn logged(&self, event: &Event) -> Result<bool, EventError> {
        if !self.recording.options.console || event.bytes().len() > LOGGED_BYTES {
            return Ok(true);
        }
        let entry: Option<ConsoleEntry> = match event.method() {
            log::ConsoleCalled::METHOD => console::called(&event.parse()?, None),
            log::ExceptionThrown::METHOD => {
                let thrown = event.parse::<log::ExceptionThrown>()?.exception_details;
                Some(console::thrown(&thrown, None))
            }
            _ => console::entry(&event.parse()?, None),
        };
        let Some(entry) = entry.filter(|entry| entry.level >= ConsoleLevel::Warning) else {
            return Ok(true);
        };
        let text = match entry.place {
            Some(place) => format!("{} ({place})", entry.text),
            None => entry.text,
        };
        let text = text.chars().take(TEXT).collect();
        let error = entry.level == ConsoleLevel::Error;
        Ok(self.put(RecordedKind::Console { error, text }).await)
    }
}

/// The number that the parent's recorder has for a frame's element.
async fn element(parent: &World, frame: &FrameId) -> Option<i64> {
    let session = &parent.session;
    let owner = session.run(wire::GetFrameOwner { frame_id: frame.as_str() }, ASKING).await.ok()?;
    let node = wire::ResolveNode {
        backend_node_id: owner.backend_node_id,
        execution_context_id: parent.number,
    };
    let object_id = session.run(node, ASKING).await.ok()?.object.object_id?;
    let call = wire::CallFunctionOn {
        function_declaration: NUMBER,
        object_id: &object_id,
        arguments: Vec::new(),
        return_by_value: true,
    };
    let called = session.run(call, ASKING).await;
    release(session, &object_id);
    called.ok()?.result.value?.as_i64().filter(|number| *number > 0)
}

/// An address without what may carry a key (S-104).
fn bare(url: &str) -> String {
    let Ok(mut parsed) = Url::parse(url) else { return String::new() };
    if parsed.cannot_be_a_base() {
        // The content of a `data:` address is the page's, and may be all of it.
        let scheme = parsed.scheme();
        return if scheme == "about" { url.to_owned() } else { format!("{scheme}:") };
    }
    parsed.set_query(None);
    parsed.set_fragment(None);
    // A page's address cannot hold a password for long, but may have been asked for with one.
    let _ = parsed.set_username("");
    let _ = parsed.set_password(None);
    parsed.into()
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the page's clock, clamped to what fits"
)]
fn whole(ms: f64) -> u64 {
    ms.clamp(0.0, 9e15) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s104_addresses_are_told_without_query_and_fragment() {
        for (url, told) in [
            ("https://u:p@a.example/x/y?token=1#code=2", "https://a.example/x/y"),
            ("http://127.0.0.1:8000/", "http://127.0.0.1:8000/"),
            ("about:blank", "about:blank"),
            ("data:text/html,secret", "data:"),
            ("blob:http://a.example/1", "blob:"),
            ("nonsense", ""),
        ] {
            assert_eq!(bare(url), told);
        }
    }
}
