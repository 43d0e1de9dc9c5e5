//! A recording from the browser to the disk.

use crate::support::{LONG, World};
use reins_browser::{RecordEvents, RecordOptions, Recorded, RecordedKind};
use reins_record::{
    End, Event, Kind, Kinds, Library, Marker, Options, Recorder, RecordingAbout, RecordingId,
    RecordingStatus,
};
use std::time::Duration;

pub(crate) struct Tape {
    pub(crate) events: RecordEvents,
    pub(crate) recorder: Recorder,
    pub(crate) dir: tempfile::TempDir,
    pub(crate) heard: Vec<Recorded>,
}

pub(crate) fn id() -> RecordingId {
    "one".parse().unwrap()
}

impl Tape {
    pub(crate) fn start(world: &World) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let about = RecordingAbout {
            tenant: "t".into(),
            sandbox_id: "s".into(),
            app_url: world.site.url("/"),
            started_at_ms: 0,
            kinds: Kinds { rrweb: true, frames: false, console: true },
        };
        let recorder = Recorder::open(dir.path(), &id(), &about, Options::default()).unwrap();
        let events = world.browser.start_recording(RecordOptions::default()).unwrap();
        Self { events, recorder, dir, heard: Vec::new() }
    }

    /// Takes events until one fits.
    pub(crate) async fn until(&mut self, what: &str, fits: impl Fn(&RecordedKind) -> bool) {
        let waited = tokio::time::timeout(LONG, async {
            loop {
                let recorded = self.events.next().await.expect("the recording goes on");
                let found = fits(&recorded.kind);
                self.recorder.accept(&event(&recorded));
                self.heard.push(recorded);
                if found {
                    return;
                }
            }
        });
        waited.await.unwrap_or_else(|_| panic!("{what} was not recorded: {:#?}", self.brief()));
    }

    /// Takes events until these words are on the screen.
    pub(crate) async fn until_text(&mut self, words: &str) {
        self.until(words, |kind| match kind {
            RecordedKind::Dom { data, .. } => data.get().contains(words),
            _ => false,
        })
        .await;
    }

    /// Takes what comes within a time. For things that no event tells the end of.
    pub(crate) async fn for_a_while(&mut self, time: Duration) {
        let until = tokio::time::Instant::now() + time;
        while let Ok(Some(recorded)) = tokio::time::timeout_at(until, self.events.next()).await {
            self.recorder.accept(&event(&recorded));
            self.heard.push(recorded);
        }
    }

    /// Everything heard, as text.
    pub(crate) fn text(&self) -> String {
        let lines: Vec<String> = self.heard.iter().map(|r| format!("{:?}", r.kind)).collect();
        lines.join("\n")
    }

    fn brief(&self) -> Vec<String> {
        self.heard.iter().map(|r| format!("{:?}", r.kind).chars().take(300).collect()).collect()
    }

    /// Ends it and gives the file that shows it.
    pub(crate) fn export(self) -> String {
        let end =
            End { status: RecordingStatus::Complete, reason: "stopped".into(), ended_at_ms: 1 };
        self.recorder.finish(end);
        let mut html = Vec::new();
        Library::open(self.dir.path()).export(&id(), &mut html).unwrap();
        String::from_utf8(html).unwrap()
    }
}

/// What the browser tells, as it is kept.
pub(crate) fn event(recorded: &Recorded) -> Event {
    let kind = match recorded.kind.clone() {
        RecordedKind::Dom { frame, document, data } => Kind::Rrweb { frame, document, data },
        RecordedKind::Placed { document, within, node } => Kind::Placed { document, within, node },
        RecordedKind::Console { error, text } => Kind::Console { error, text },
        RecordedKind::Opened { url } => Kind::Marker(Marker::PageOpened { url }),
        RecordedKind::Navigated { url } => Kind::Marker(Marker::PageNavigated { url }),
        RecordedKind::Closed { url } => Kind::Marker(Marker::PageClosed { url }),
        RecordedKind::Gap { what } => Kind::Marker(Marker::Gap { text: what }),
    };
    Event { at_ms: recorded.at_ms, tab: recorded.tab.clone(), kind }
}
