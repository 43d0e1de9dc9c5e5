//! The driver's input on its way to the page: in order, bounded, and only while they drive (S-156).

use super::limits::{COPY_CHARS, INPUT_FLYING, INPUT_QUEUE};
use super::room::Room;
use super::source::{NotTaken, ScreenSource};
use super::takeover::ViewerId;
use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use reins_browser::{PersonInput, PointerAction};
use reins_core::{Secret, TabId};
use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{Notify, mpsc};

/// A word for one viewer.
pub(crate) enum Word {
    /// Something of theirs was not done.
    Refused { what: &'static str, why: String },
    /// The page waits for files that they give.
    FilesWanted { several: bool },
    /// What they copied.
    Copied(Secret<String>),
}

/// Where a viewer is told. One who does not listen is not told.
pub(crate) type Words = mpsc::Sender<Word>;

/// What a driver wants done.
pub(crate) enum Deed {
    Input(PersonInput),
    Copy,
}

/// Input that waits.
struct Queued {
    viewer: ViewerId,
    deed: Deed,
    words: Words,
}

pub(crate) struct Pump {
    room: Arc<Room>,
    source: Arc<dyn ScreenSource>,
    queue: Mutex<VecDeque<Queued>>,
    wake: Notify,
}

impl Pump {
    pub(crate) fn new(room: Arc<Room>, source: Arc<dyn ScreenSource>) -> Arc<Self> {
        Arc::new(Self { room, source, queue: Mutex::default(), wake: Notify::new() })
    }

    /// Takes input in. Whether there was room for it.
    pub(crate) fn push(&self, viewer: ViewerId, deed: Deed, words: &Words) -> bool {
        let queued = Queued { viewer, deed, words: words.clone() };
        let mut queue = self.queue();
        let full = queue.len() >= INPUT_QUEUE;
        match queue.back_mut() {
            Some(last) if last.viewer == viewer && replaces(&queued.deed, &last.deed) => {
                *last = queued;
            }
            _ if full => return false,
            _ => queue.push_back(queued),
        }
        drop(queue);
        self.wake.notify_one();
        true
    }

    async fn next(&self) -> Queued {
        loop {
            let next = self.queue().pop_front();
            if let Some(next) = next {
                return next;
            }
            self.wake.notified().await;
        }
    }

    fn queue(&self) -> MutexGuard<'_, VecDeque<Queued>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives the page the files of the person who drives.
    pub(crate) async fn files(&self, subject: &str, files: Vec<PathBuf>) -> Result<(), NotTaken> {
        let drives = {
            let state = self.room.state();
            state
                .takeover
                .driver()
                .is_some_and(|(person, _, at)| person.subject == subject && at.is_some())
        };
        let Some(tab) = self.tab().filter(|_| drives) else {
            let why = "you are not in control; take over first".into();
            return Err(NotTaken { code: "not_in_control", why });
        };
        self.source.files(tab, files).await
    }

    /// The tab that the person sees, which may be about to be another.
    fn tab(&self) -> Option<TabId> {
        let seen = self.room.shots.borrow().as_ref().map(|shot| shot.tab.clone());
        let open = self.source.tabs();
        seen.filter(|tab| open.contains(tab)).or_else(|| self.room.state().followed.clone())
    }

    /// Sends input, or asks for what is selected; ready once that has been handled.
    async fn send(&self, queued: Queued) -> Option<BoxFuture<'static, ()>> {
        let Queued { viewer, deed, words } = queued;
        // They may have handed back while it waited.
        if !self.room.drives(viewer) {
            return None;
        }
        let Some(tab) = self.tab() else {
            refuse(&words, NotTaken { code: "no_page", why: "no page is open yet".into() });
            return None;
        };
        let input = match deed {
            Deed::Input(input) => input,
            Deed::Copy => {
                match self.source.selected(tab).await {
                    Ok(text) => drop(words.try_send(Word::Copied(Secret::new(cut(text))))),
                    Err(error) => refuse(&words, error),
                }
                return None;
            }
        };
        self.room.state().sent = Some(tokio::time::Instant::now());
        match self.source.input(tab, input).await {
            Ok(handled) => Some(Box::pin(async move {
                if let Err(error) = handled.await {
                    refuse(&words, error);
                }
            })),
            Err(error) => {
                refuse(&words, error);
                None
            }
        }
    }
}

fn refuse(to: &Words, error: NotTaken) {
    // A full line of words says enough.
    drop(to.try_send(Word::Refused { what: "input", why: error.why }));
}

fn cut(mut text: String) -> String {
    if let Some((at, _)) = text.char_indices().nth(COPY_CHARS) {
        text.truncate(at);
    }
    text
}

/// A pointer that moves on makes the place it passed worthless.
fn replaces(newer: &Deed, older: &Deed) -> bool {
    match (newer, older) {
        (
            Deed::Input(PersonInput::Pointer { action: PointerAction::Move, buttons: a, .. }),
            Deed::Input(PersonInput::Pointer { action: PointerAction::Move, buttons: b, .. }),
        ) => a == b,
        _ => false,
    }
}

/// Sends input until the browser stops. What is sent first arrives first; only so much of it at a time.
pub(crate) async fn run(pump: Arc<Pump>) {
    let mut flying = FuturesUnordered::new();
    let stop = pump.room.stop.clone();
    loop {
        tokio::select! {
            biased;
            () = stop.cancelled() => return,
            Some(_) = flying.next(), if !flying.is_empty() => {}
            queued = pump.next(), if flying.len() < INPUT_FLYING => {
                // Stopping waits for no page.
                let sent = async {
                    if matches!(queued.deed, Deed::Copy) {
                        // What was pressed before decides what is selected.
                        while flying.next().await.is_some() {}
                    }
                    pump.send(queued).await
                };
                let sent = tokio::select! {
                    () = stop.cancelled() => return,
                    sent = sent => sent,
                };
                flying.extend(sent);
            }
        }
    }
}
