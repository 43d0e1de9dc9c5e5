//! What a tab shows, as it changes: Chromium's screencast, shared by all who look at the tab (S-060).
//!
//! Frames come for changes only. The latest is kept, so that who begins to look at a still page sees
//! it at once (S-062). Nothing is brought to the front, and no window is raised.

use crate::browser::Browser;
use crate::error::BrowserError;
use crate::page_call::wire_error;
use crate::protocol::page::{AckScreencastFrame, ScreencastFrame, StartScreencast, StopScreencast};
use crate::tab::{ARMING, Tab};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use reins_cdp::Events;
use reins_core::TabId;
use std::sync::{Arc, PoisonError, Weak};
use std::time::{Duration, SystemTime};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

/// How a screen is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScreenOptions {
    /// JPEG quality, 0 to 100.
    pub quality: u8,
    /// Frames are made smaller to be no wider, in pixels.
    pub max_width: u32,
    /// Frames are made smaller to be no higher, in pixels.
    pub max_height: u32,
}

impl Default for ScreenOptions {
    /// S-X08.
    fn default() -> Self {
        Self { quality: 60, max_width: 1280, max_height: 800 }
    }
}

/// One picture of a tab.
#[derive(Clone)]
pub struct ScreenFrame {
    /// The picture.
    pub jpeg: Bytes,
    /// How wide what it shows is, in CSS pixels.
    pub css_width: f64,
    /// How high what it shows is, in CSS pixels.
    pub css_height: f64,
    /// When the browser drew it.
    pub at: SystemTime,
}

impl std::fmt::Debug for ScreenFrame {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (width, height) = (self.css_width, self.css_height);
        write!(f, "ScreenFrame({width} x {height}, {} bytes)", self.jpeg.len())
    }
}

/// A look at a tab. The screencast ends with the last look.
#[derive(Debug)]
pub struct Screen {
    casting: Arc<Casting>,
    frames: watch::Receiver<Option<ScreenFrame>>,
}

/// A screencast that runs as long as this is held.
#[derive(Debug)]
pub(crate) struct Casting {
    tab: Weak<Tab>,
    frames: watch::Receiver<Option<ScreenFrame>>,
}

/// Chromium sends a frame for every change, up to 60 a second. Each costs the machine a JPEG, and thirty a
/// second look as smooth. The first after a pause is not delayed.
const BETWEEN_FRAMES: Duration = Duration::from_millis(33);

impl Browser {
    /// Looks at a tab, in the background too. Who looks while someone does shares their frames, with the
    /// options of who began.
    ///
    /// # Errors
    /// The tab is closed, or the browser is gone.
    pub async fn screen(
        &self,
        tab: &TabId,
        options: ScreenOptions,
    ) -> Result<Screen, BrowserError> {
        let tab = self.inner.tab(tab)?;
        tab.armed(Instant::now() + ARMING).await?;
        let started = {
            let mut running = tab.casting.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(casting) = running.upgrade() {
                return Ok(Screen::new(casting));
            }
            let events = tab.session.events(&[ScreencastFrame::METHOD]);
            let start = StartScreencast {
                format: "jpeg",
                quality: Some(options.quality),
                max_width: Some(options.max_width),
                max_height: Some(options.max_height),
            };
            let started = tab.session.post(start, ARMING);
            let (sender, frames) = watch::channel(None);
            let casting = Arc::new(Casting { tab: Arc::downgrade(&tab), frames });
            *running = Arc::downgrade(&casting);
            tokio::spawn(cast(tab.clone(), events, sender));
            (started, casting)
        };
        let (started, casting) = started;
        started.await.map_err(|error| wire_error("Page.startScreencast", error))?;
        Ok(Screen::new(casting))
    }
}

impl Screen {
    fn new(casting: Arc<Casting>) -> Self {
        let mut frames = casting.frames.clone();
        // What is there already is new to who begins to look.
        frames.mark_changed();
        Self { casting, frames }
    }

    /// The newest frame that this look has not been given yet. `None` once the tab is closed or the browser
    /// gone. A page that does not change gives none; a crashed one gives none until it is loaded again.
    /// Cancel-safe.
    pub async fn next(&mut self) -> Option<ScreenFrame> {
        loop {
            if self.frames.changed().await.is_err() {
                return None;
            }
            if let Some(frame) = self.frames.borrow_and_update().clone() {
                return Some(frame);
            }
        }
    }

    /// The last frame, if there was one.
    pub fn last(&self) -> Option<ScreenFrame> {
        self.casting.last()
    }
}

impl Casting {
    /// The last frame, if there was one.
    pub(crate) fn last(&self) -> Option<ScreenFrame> {
        self.frames.borrow().clone()
    }
}

impl Drop for Casting {
    fn drop(&mut self) {
        let Some(tab) = self.tab.upgrade() else { return };
        let running = tab.casting.lock().unwrap_or_else(PoisonError::into_inner);
        // Whoever began to look since has a screencast of their own on the same wire.
        if std::ptr::eq(running.as_ptr(), self) {
            drop(tab.session.post(StopScreencast {}, ARMING));
        }
    }
}

/// Takes frames in and acknowledges each, until the tab is gone or nobody looks any more.
async fn cast(tab: Arc<Tab>, mut events: Events, frames: watch::Sender<Option<ScreenFrame>>) {
    let mut next = Instant::now();
    loop {
        let event = tokio::select! {
            event = events.next() => event,
            () = frames.closed() => return,
        };
        let Some(event) = event else { return };
        let frame = match event.parse::<ScreencastFrame>() {
            Ok(frame) => frame,
            Err(error) => {
                tracing::warn!(%error, "a frame was skipped");
                continue;
            }
        };
        let session_id = frame.session_id;
        if let Some(frame) = read(frame) {
            frames.send_replace(Some(frame));
        }
        // Chromium sends some frames ahead and then waits, so a late word slows it down.
        sleep_until(next).await;
        next = Instant::now() + BETWEEN_FRAMES;
        for _ in 0..=event.replaced() {
            drop(tab.session.post(AckScreencastFrame { session_id }, ARMING));
        }
    }
}

fn read(frame: ScreencastFrame) -> Option<ScreenFrame> {
    let jpeg = STANDARD.decode(&frame.data).ok()?;
    let seconds = frame.metadata.timestamp.filter(|seconds| seconds.is_finite() && *seconds > 0.0);
    let at = seconds.and_then(|seconds| {
        SystemTime::UNIX_EPOCH.checked_add(Duration::try_from_secs_f64(seconds).ok()?)
    });
    Some(ScreenFrame {
        jpeg: jpeg.into(),
        css_width: frame.metadata.device_width,
        css_height: frame.metadata.device_height,
        at: at.unwrap_or_else(SystemTime::now),
    })
}
