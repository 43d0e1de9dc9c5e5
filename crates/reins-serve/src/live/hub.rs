//! The one task of a live view: it follows the agent's tab, lets time pass, and tells what changed.

use super::limits::{ECHO, LOOK_AGAIN};
use super::pump::Word;
use super::room::{Room, Shot};
use super::source::{NotTaken, ScreenSource, SourceEvent};
use super::takeover::Change;
use super::{LiveEvent, Told};
use futures_util::StreamExt;
use futures_util::future::{BoxFuture, OptionFuture};
use futures_util::stream::BoxStream;
use reins_browser::ScreenFrame;
use reins_core::TabId;
use std::sync::Arc;
use tokio::time::{Instant, sleep_until};

pub(crate) struct Hub {
    room: Arc<Room>,
    source: Arc<dyn ScreenSource>,
    told: Told,
    window: bool,
    look: Look,
    /// Tabs that were shown before and whose pages opened the one that is shown now.
    back: Vec<TabId>,
}

/// What is looked at.
enum Look {
    Nowhere,
    /// It is being begun.
    Begins {
        tab: TabId,
        look: Beginning,
    },
    /// Frames come.
    At {
        tab: TabId,
        frames: BoxStream<'static, ScreenFrame>,
    },
    /// It could not be, and will be tried again.
    Fails {
        tab: TabId,
        again: Instant,
    },
}

type Beginning = BoxFuture<'static, Result<BoxStream<'static, ScreenFrame>, NotTaken>>;

/// What came of a look.
enum Seen {
    Begun(Result<BoxStream<'static, ScreenFrame>, NotTaken>),
    Frame(ScreenFrame),
    Ended,
    Again,
}

/// Pages that open windows out of windows are followed back this far.
const BACK: usize = 16;

impl Hub {
    pub(crate) fn new(
        room: Arc<Room>,
        source: Arc<dyn ScreenSource>,
        told: Told,
        window: bool,
    ) -> Self {
        Self { room, source, told, window, look: Look::Nowhere, back: Vec::new() }
    }

    pub(crate) async fn run(mut self) {
        let mut events = self.source.events();
        let mut changes = self.room.changes();
        let stop = self.room.stop.clone();
        if self.room.state().followed.is_none() {
            self.show_any();
        }
        loop {
            let next = self.pass_time();
            self.look_where_wanted();
            let timer: OptionFuture<_> = next.map(sleep_until).into();
            tokio::select! {
                biased;
                () = stop.cancelled() => break,
                event = events.next() => match event {
                    Some(SourceEvent::Gone) | None => {
                        stop.cancel();
                        break;
                    }
                    Some(event) => self.take(event),
                },
                _ = changes.changed() => {}
                Some(()) = timer => {}
                seen = self.look.next() => self.see(seen),
            }
        }
        self.look = Look::Nowhere;
        self.room.note(|state, now| state.takeover.stop(now));
        self.pass_time();
    }

    /// Tells what changed; when to look again.
    fn pass_time(&mut self) -> Option<Instant> {
        let (changes, next) = self.room.pass_time();
        for change in changes {
            let event = match change {
                Change::Started { name, at } => LiveEvent::TakeoverStarted { at, who: name },
                Change::Ended { name, at, cause } => {
                    LiveEvent::TakeoverEnded { at, who: name, cause }
                }
                Change::StillActs { viewer, tool, since } => {
                    self.room.refuse_take(viewer, &tool, since);
                    continue;
                }
            };
            (self.told)(event);
        }
        next
    }

    fn take(&mut self, event: SourceEvent) {
        match event {
            SourceEvent::TabOpened { tab, opener } => {
                let state = self.room.state();
                let followed = state.followed.clone();
                let driven = state.takeover.driver().is_some();
                drop(state);
                match followed {
                    None => self.show(tab),
                    // What a person opens by their click they want to see; the agent says itself where it goes.
                    Some(at) if driven && opener.as_ref() == Some(&at) => {
                        if self.back.len() >= BACK {
                            self.back.remove(0);
                        }
                        self.back.push(at);
                        self.show(tab);
                    }
                    Some(_) => {}
                }
            }
            SourceEvent::TabClosed { tab } => {
                self.back.retain(|one| *one != tab);
                if self.room.state().followed.as_ref() == Some(&tab) {
                    self.room.note(|state, _| state.followed = None);
                    match self.back.pop() {
                        Some(before) => self.show(before),
                        None => self.show_any(),
                    }
                }
            }
            SourceEvent::FilesWanted { tab, several } => {
                if self.room.state().followed.as_ref() == Some(&tab) {
                    self.room.tell_driver(Word::FilesWanted { several });
                }
            }
            SourceEvent::PersonInput => {
                let sent = self.room.state().sent;
                let echo = sent.is_some_and(|at| at.elapsed() < ECHO);
                if self.window && !echo {
                    self.room.note(|state, now| state.takeover.window_used(now));
                }
            }
            // Handled where it ends the task.
            SourceEvent::Gone => {}
        }
    }

    fn show(&mut self, tab: TabId) {
        self.room.note(|state, _| state.followed = Some(tab));
    }

    /// The agent has said nothing yet, or its tab is gone: the newest there is.
    fn show_any(&mut self) {
        if let Some(tab) = self.source.tabs().pop() {
            self.show(tab);
        }
    }

    fn look_where_wanted(&mut self) {
        let wanted = self.room.wanted();
        if self.look.tab() == wanted.as_ref() {
            return;
        }
        self.look = match wanted {
            None => {
                // What comes when somebody looks again is not what was.
                self.room.shots.send_replace(None);
                Look::Nowhere
            }
            Some(tab) => Look::Begins { look: self.source.look(tab.clone()), tab },
        };
    }

    fn see(&mut self, seen: Seen) {
        let Some(tab) = self.look.tab().cloned() else { return };
        match seen {
            Seen::Begun(Ok(frames)) => self.look = Look::At { tab, frames },
            Seen::Begun(Err(error)) => {
                tracing::debug!(code = error.code, "a tab could not be looked at");
                self.look = Look::Fails { tab, again: Instant::now() + LOOK_AGAIN };
            }
            Seen::Ended => self.look = Look::Fails { tab, again: Instant::now() + LOOK_AGAIN },
            Seen::Again => {
                self.look = Look::Begins { look: self.source.look(tab.clone()), tab };
            }
            Seen::Frame(frame) => {
                let about = self.source.about(&tab);
                let shot = Shot { frame, tab, url: about.url, title: about.title };
                self.room.shots.send_replace(Some(Arc::new(shot)));
            }
        }
    }
}

impl Look {
    fn tab(&self) -> Option<&TabId> {
        match self {
            Self::Nowhere => None,
            Self::Begins { tab, .. } | Self::At { tab, .. } | Self::Fails { tab, .. } => Some(tab),
        }
    }

    /// What comes of it next. Cancel-safe.
    async fn next(&mut self) -> Seen {
        match self {
            Self::Nowhere => std::future::pending().await,
            Self::Begins { look, .. } => Seen::Begun(look.await),
            Self::At { frames, .. } => frames.next().await.map_or(Seen::Ended, Seen::Frame),
            Self::Fails { again, .. } => {
                sleep_until(*again).await;
                Seen::Again
            }
        }
    }
}
