//! Recording one browser: what it shows goes to the recorder as it comes (S-100…S-107).

use crate::clock::millis;
use crate::session::lock;
use reins_browser::{Browser, RecordEvents, RecordOptions, Recorded, RecordedKind, ScreenOptions};
use reins_core::TabId;
use reins_record::{
    Accepted, End, Event, Kind, Kinds, Marker, RecordError, Recorder, RecordingId, RecordingStatus,
    Sparse,
};
use std::sync::{Arc, Mutex};
use std::time::SystemTime;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// Records one browser until it is told to end. Its events come from the browser, from the steps of agents and from
/// the live view.
#[derive(Debug)]
pub(crate) struct Keeper {
    id: RecordingId,
    recorder: Arc<Mutex<Option<Recorder>>>,
    stop: CancellationToken,
    tasks: TaskTracker,
}

impl Keeper {
    /// Begins to record what the browser shows.
    pub(crate) fn begin(
        id: RecordingId,
        recorder: Recorder,
        browser: &Browser,
        kinds: Kinds,
    ) -> Result<Self, reins_browser::BrowserError> {
        let options = RecordOptions { dom: kinds.rrweb, console: kinds.console };
        let events = browser.start_recording(options)?;
        let keeper = Self {
            id,
            recorder: Arc::new(Mutex::new(Some(recorder))),
            stop: CancellationToken::new(),
            tasks: TaskTracker::new(),
        };
        let feed = Feed {
            recorder: keeper.recorder.clone(),
            stop: keeper.stop.clone(),
            pictures: kinds.frames.then(|| (browser.clone(), keeper.tasks.clone())),
        };
        keeper.tasks.spawn(feed.run(events));
        Ok(keeper)
    }

    /// The recording's name.
    pub(crate) fn id(&self) -> &RecordingId {
        &self.id
    }

    /// Adds what happened outside the pages. Never waits.
    pub(crate) fn note(&self, at: SystemTime, tab: TabId, kind: Kind) {
        put(&self.recorder, &Event { at_ms: millis(at), tab, kind });
    }

    /// Ends the recording with what has come so far.
    pub(crate) async fn end(&self, reason: &str, at: SystemTime) {
        self.stop.cancel();
        self.tasks.close();
        self.tasks.wait().await;
        let Some(recorder) = lock(&self.recorder).take() else { return };
        let end = End {
            status: RecordingStatus::Complete,
            reason: reason.to_owned(),
            ended_at_ms: millis(at),
        };
        // It waits for the disk.
        if let Err(error) = tokio::task::spawn_blocking(move || recorder.finish(end)).await {
            tracing::error!(%error, recording = %self.id, "a recording's end was not written");
        }
    }
}

/// Whether the recorder goes on.
fn put(recorder: &Mutex<Option<Recorder>>, event: &Event) -> bool {
    let recorder = lock(recorder);
    recorder.as_ref().is_some_and(|recorder| recorder.accept(event) != Accepted::Ended)
}

/// Brings a browser's events to the recorder.
struct Feed {
    recorder: Arc<Mutex<Option<Recorder>>>,
    stop: CancellationToken,
    /// Where pictures are taken, if they are recorded.
    pictures: Option<(Browser, TaskTracker)>,
}

impl Feed {
    async fn run(self, mut events: RecordEvents) {
        loop {
            let recorded = tokio::select! {
                biased;
                () = self.stop.cancelled() => break,
                recorded = events.next() => recorded,
            };
            let Some(recorded) = recorded else { return };
            if !self.put(recorded) {
                return;
            }
        }
        // What has come before the end belongs to it.
        while let Some(recorded) = events.try_next() {
            if !self.put(recorded) {
                return;
            }
        }
    }

    fn put(&self, recorded: Recorded) -> bool {
        let Recorded { at_ms, tab, kind } = recorded;
        let kind = match kind {
            RecordedKind::Dom { frame, document, data } => Kind::Rrweb { frame, document, data },
            RecordedKind::Placed { document, within, node } => {
                Kind::Placed { document, within, node }
            }
            RecordedKind::Console { error, text } => Kind::Console { error, text },
            RecordedKind::Opened { url } => {
                if let Some((browser, tasks)) = &self.pictures {
                    let look = Look {
                        recorder: self.recorder.clone(),
                        browser: browser.clone(),
                        tab: tab.clone(),
                    };
                    tasks.spawn(self.stop.clone().run_until_cancelled_owned(look.run()));
                }
                Kind::Marker(Marker::PageOpened { url })
            }
            RecordedKind::Navigated { url } => Kind::Marker(Marker::PageNavigated { url }),
            RecordedKind::Closed { url } => Kind::Marker(Marker::PageClosed { url }),
            RecordedKind::Gap { what } => Kind::Marker(Marker::Gap { text: what }),
        };
        put(&self.recorder, &Event { at_ms, tab, kind })
    }
}

/// Takes pictures of one tab, sparsely: for what documents cannot tell.
struct Look {
    recorder: Arc<Mutex<Option<Recorder>>>,
    browser: Browser,
    tab: TabId,
}

impl Look {
    async fn run(self) {
        let mut screen = match self.browser.screen(&self.tab, ScreenOptions::default()).await {
            Ok(screen) => screen,
            Err(error) => {
                tracing::debug!(%error, tab = %self.tab, "no pictures are taken of a tab");
                return;
            }
        };
        let mut sparse = Sparse::default();
        while let Some(frame) = screen.next().await {
            let at_ms = millis(frame.at);
            if !sparse.keeps(at_ms, &frame.jpeg) {
                continue;
            }
            let kind = Kind::Frame { jpeg: frame.jpeg.to_vec() };
            if !put(&self.recorder, &Event { at_ms, tab: self.tab.clone(), kind }) {
                return;
            }
        }
    }
}

/// Begins the files of a recording.
pub(crate) async fn open(
    library: &reins_record::Library,
    id: RecordingId,
    about: reins_record::RecordingAbout,
    options: reins_record::Options,
) -> Result<Recorder, RecordError> {
    let dir = library.dir().to_owned();
    let opened = tokio::task::spawn_blocking(move || Recorder::open(&dir, &id, &about, options));
    opened.await.unwrap_or_else(|error| Err(RecordError::broken_off(&error)))
}
