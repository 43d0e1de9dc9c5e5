//! Recording what the documents of a browser show (S-100…S-106): every frame records itself by a script
//! in an isolated world of its own, and its events leave by a binding that exists in that world alone.
//! A page can neither see nor call it, and no policy of a page concerns it.
//!
//! Everything typed is masked in the page, before an event leaves it (S-102); see `web/src/record/`.

use crate::browser::{Browser, Inner};
use crate::error::BrowserError;
use crate::protocol::inspect::LogEnable;
use crate::protocol::page::{AddBinding, AddScript, RemoveBinding};
use crate::recording_task;
use crate::tab::{ARMING, Tab};
use reins_cdp::Session;
use reins_core::{FrameId, TabId};
use serde_json::value::RawValue;
use std::sync::{Arc, Weak};
use std::time::{SystemTime, UNIX_EPOCH};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};

/// The recorder, for [`WORLD`].
const RECORDER: &str = include_str!("../../../web/dist/record.js");

/// The world of the recorder. Not that of the page script, because it is fitted to the recorder.
pub(crate) const WORLD: &str = "reins-record";

/// What the recorder calls; it exists in [`WORLD`] only.
pub(crate) const BINDING: &str = "__reins_record";

/// Bytes that wait for whoever reads a recording. Behind it wait the queues of the wire, and when those are
/// full as well a gap is told and everything is recorded afresh.
const WAITING_BYTES: usize = 16 << 20;

/// Events that wait for whoever reads.
const WAITING: usize = 4_096;

/// What is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordOptions {
    /// What documents show, as rrweb events (S-101).
    pub dom: bool,
    /// Errors and warnings of their consoles (S-103).
    pub console: bool,
}

impl Default for RecordOptions {
    fn default() -> Self {
        Self { dom: true, console: true }
    }
}

/// Something that was recorded.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// Milliseconds since 1970, by this machine's clock.
    pub at_ms: u64,
    /// Where.
    pub tab: TabId,
    /// What.
    pub kind: RecordedKind,
}

/// What was recorded.
#[derive(Clone, Debug)]
pub enum RecordedKind {
    /// One rrweb event of a document. Its nodes are numbered for this document alone.
    Dom {
        /// The frame; the main frame has the id of its tab.
        frame: FrameId,
        /// Names the document, among all of this browser.
        document: String,
        /// The event, masked, as JSON.
        data: Box<RawValue>,
    },
    /// Which element of another document a document is shown in. Holds for events before and after it.
    Placed {
        /// The document.
        document: String,
        /// The document around it.
        within: String,
        /// The iframe element, as the events of the document around it number it.
        node: i64,
    },
    /// An error or a warning of the console. The page's own words.
    Console {
        /// An error; a warning otherwise.
        error: bool,
        /// At most 2,000 characters, credentials redacted (S-X13).
        text: String,
    },
    /// A tab opened, or was there at the start (S-104).
    Opened {
        /// Without query and fragment.
        url: String,
    },
    /// A tab shows another document or address (S-104).
    Navigated {
        /// Without query and fragment.
        url: String,
    },
    /// A tab closed or its page crashed (S-104).
    Closed {
        /// Without query and fragment.
        url: String,
    },
    /// Something is missing here.
    Gap {
        /// What, and why.
        what: String,
    },
}

impl RecordedKind {
    /// About how many bytes it holds.
    fn bytes(&self) -> usize {
        match self {
            Self::Dom { data, .. } => data.get().len(),
            Self::Console { text, .. } => text.len(),
            _ => 0,
        }
    }
}

/// A recording under way.
#[derive(Debug)]
pub(crate) struct Recording {
    pub(crate) options: RecordOptions,
    sender: mpsc::Sender<(Recorded, OwnedSemaphorePermit)>,
    room: Arc<Semaphore>,
}

impl Recording {
    /// Hands something over, waiting until there is room. False: nobody reads any more.
    pub(crate) async fn put(&self, tab: &TabId, at_ms: u64, kind: RecordedKind) -> bool {
        let bytes = kind.bytes().clamp(1, WAITING_BYTES);
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
        let Ok(permit) = self.room.clone().acquire_many_owned(bytes).await else { return false };
        let recorded = Recorded { at_ms, tab: tab.clone(), kind };
        self.sender.send((recorded, permit)).await.is_ok()
    }

    /// Puts the recorder into a session, its next documents and those it shows.
    pub(crate) fn install(&self, session: &Session, logs: bool) {
        if self.options.dom {
            let binding = AddBinding { name: BINDING, execution_context_name: WORLD };
            drop(session.post(binding, ARMING));
            let script = AddScript { source: RECORDER, world_name: WORLD, run_immediately: true };
            drop(session.post(script, ARMING));
        }
        if self.options.console && !logs {
            drop(session.post(LogEnable {}, ARMING));
        }
    }
}

/// Now, as events tell it.
pub(crate) fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// What a browser records, in order for each tab. The recording ends when this is dropped.
#[derive(Debug)]
pub struct RecordEvents {
    receiver: mpsc::Receiver<(Recorded, OwnedSemaphorePermit)>,
    room: Arc<Semaphore>,
    browser: Weak<Inner>,
}

impl RecordEvents {
    /// The next event. `None` once the browser is gone.
    pub async fn next(&mut self) -> Option<Recorded> {
        Some(self.receiver.recv().await?.0)
    }

    /// The next event if one is here already.
    pub fn try_next(&mut self) -> Option<Recorded> {
        Some(self.receiver.try_recv().ok()?.0)
    }
}

impl Drop for RecordEvents {
    fn drop(&mut self) {
        self.room.close();
        let Some(browser) = self.browser.upgrade() else { return };
        browser.set_recording(None);
        for tab in browser.all_tabs() {
            for session in sessions(&tab) {
                drop(session.post(RemoveBinding { name: BINDING }, ARMING));
            }
        }
    }
}

impl Browser {
    /// Records every document of every tab from now on, those that are shown already included.
    /// A browser has one recording at a time.
    ///
    /// # Errors
    /// The browser is recorded already, or gone.
    pub fn start_recording(&self, options: RecordOptions) -> Result<RecordEvents, BrowserError> {
        self.inner.verify()?;
        if let Some(reason) = self.inner.connection.close_reason() {
            return Err(BrowserError::Gone { reason: reason.to_string() });
        }
        let (sender, receiver) = mpsc::channel(WAITING);
        let room = Arc::new(Semaphore::new(WAITING_BYTES));
        let recording = Arc::new(Recording { options, sender, room: room.clone() });
        if !self.inner.set_recording(Some(recording.clone())) {
            return Err(BrowserError::Recorded);
        }
        let logs = self.inner.containment.keeps_log();
        for tab in self.inner.all_tabs() {
            let sessions = sessions(&tab);
            recording_task::start(&tab, &recording);
            for session in sessions {
                recording.install(&session, logs);
            }
        }
        Ok(RecordEvents { receiver, room, browser: Arc::downgrade(&self.inner) })
    }
}

/// The sessions of a tab that hold documents.
pub(crate) fn sessions(tab: &Tab) -> Vec<Session> {
    let state = tab.state();
    let frames = state.children.values().filter(|(_, worker)| !worker);
    std::iter::once(tab.session.clone()).chain(frames.map(|(child, _)| child.clone())).collect()
}
