//! The live view of one browser: people watch what the agent sees, and one of them may take over.
//!
//! - `ticket` lets people in, `door` the right pages only, `viewer` serves each connection.
//! - `takeover` decides who has control, `gate` holds the agent's changing calls meanwhile.
//! - `hub` is the one task that follows the agent's tab; `pump` sends the driver's input; `room` is what all of
//!   them know together.
//! - `source` is what is needed of a browser.

mod door;
mod gate;
mod hub;
pub mod limits;
mod pump;
mod room;
mod source;
mod takeover;
mod ticket;
mod viewer;
mod wire;

pub use gate::{Gate, HeldBy, NoPassage, Passage};
pub use room::Clock;
pub use source::{About, Handled, NotTaken, ScreenSource, SourceEvent};
pub use takeover::EndCause;
pub use ticket::{Mode, Ticket, TicketRequest};

use axum::extract::WebSocketUpgrade;
use axum::http::{HeaderMap, Uri};
use axum::response::{IntoResponse, Response};
use door::{Door, Refused};
use pump::Pump;
use reins_core::{Secret, TabId};
use room::Room;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};
use ticket::Tickets;
use tokio::sync::Semaphore;
use tokio::time::timeout;
use tokio_util::task::TaskTracker;

/// Where takeovers are told: to the recorder and to who follows the session. It is called in order, by one
/// task, and must not block.
pub type Told = Arc<dyn Fn(LiveEvent) + Send + Sync>;

/// What happened between a person and the browser (S-105). What they did there is in it in no form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LiveEvent {
    /// A person began to drive.
    TakeoverStarted {
        /// When.
        at: SystemTime,
        /// Who, as others see them.
        who: String,
    },
    /// A person no longer drives, and the agent may go on: whoever knows its turn resumes it, since the person's
    /// input has paused it.
    TakeoverEnded {
        /// When.
        at: SystemTime,
        /// Who, as others see them.
        who: String,
        /// Why.
        cause: EndCause,
    },
}

impl LiveEvent {
    /// Takeovers are always of people.
    pub const SOURCE: &'static str = "human";
}

/// What a live view is made of.
#[derive(Clone)]
pub struct LiveOptions {
    /// Which session it is of: tickets of others are refused.
    pub session: String,
    /// The browser's own token. The key of its tickets derives from it (S-085).
    pub token: Secret<String>,
    /// The browser.
    pub source: Arc<dyn ScreenSource>,
    /// Origins whose pages may connect, such as `http://127.0.0.1:7777` (S-088).
    pub origins: Vec<String>,
    /// Names and ports that this service answers as, such as `127.0.0.1:7777` (S-088).
    pub hosts: Vec<String>,
    /// The browser has a window, at which someone may act by hand (S-073).
    pub window: bool,
    /// How long an agent's call waits for the person; [`limits::AGENT_WAIT`] if nothing is said, and at
    /// most [`limits::AGENT_WAIT_MAX`].
    pub wait: Option<Duration>,
    /// Where takeovers are told.
    pub told: Told,
    /// Tells the time.
    pub clock: Clock,
}

impl fmt::Debug for LiveOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LiveOptions").field("session", &self.session).finish_non_exhaustive()
    }
}

/// The live view of one browser. Clones are one; it stops with the last.
#[derive(Clone)]
pub struct Live {
    inner: Arc<Inner>,
}

struct Inner {
    room: Arc<Room>,
    tickets: Arc<Mutex<Tickets>>,
    pump: Arc<Pump>,
    door: Door,
    /// Connections that have shown no ticket yet.
    unknown: Arc<Semaphore>,
    wait: Option<Duration>,
    tasks: TaskTracker,
}

/// How long the last words to viewers may take.
const LAST_WORDS: Duration = Duration::from_secs(2);

impl Live {
    /// Begins. Nothing is asked of the browser before somebody watches.
    pub fn start(options: LiveOptions) -> Self {
        let room = Room::new(options.clock);
        let tasks = TaskTracker::new();
        let pump = Pump::new(room.clone(), options.source.clone());
        tasks.spawn(pump::run(pump.clone()));
        let hub = hub::Hub::new(room.clone(), options.source, options.told, options.window);
        tasks.spawn(hub.run());
        let tickets = Tickets::new(&options.session, &options.token);
        Self {
            inner: Arc::new(Inner {
                room,
                tickets: Arc::new(Mutex::new(tickets)),
                pump,
                door: Door::new(options.origins, options.hosts),
                unknown: Arc::new(Semaphore::new(limits::UNKNOWN_CONNECTIONS)),
                wait: options.wait,
                tasks,
            }),
        }
    }

    /// Makes a ticket. Whether the person may have it is decided before (S-082).
    pub fn issue(&self, request: &TicketRequest) -> Ticket {
        let mut id = [0; 16];
        if getrandom::fill(&mut id).is_err() {
            // A ticket whose id is used is refused, so two of these could not both be used.
            tracing::warn!("the system gives no randomness; a ticket may not be accepted");
        }
        let now = self.inner.room.now().wall;
        let mut tickets = self.inner.tickets.lock().unwrap_or_else(PoisonError::into_inner);
        tickets.issue(request, now, id)
    }

    /// Answers an upgrade: to pages of an allowed origin only, under our own name, without a query (S-088,
    /// S-155).
    ///
    /// The listener has to set `TCP_NODELAY`, or frames wait for the answers to those before them.
    pub fn serve(&self, upgrade: WebSocketUpgrade, headers: &HeaderMap, uri: &Uri) -> Response {
        let inner = &self.inner;
        if let Err(refused) = inner.door.check(headers, uri) {
            return refused.into_response();
        }
        if inner.room.stop.is_cancelled() {
            return Refused::Stopped.into_response();
        }
        let Ok(unknown) = inner.unknown.clone().try_acquire_owned() else {
            return Refused::Crowded.into_response();
        };
        let guest = viewer::Guest {
            room: inner.room.clone(),
            tickets: inner.tickets.clone(),
            pump: inner.pump.clone(),
            unknown,
        };
        let tasks = inner.tasks.clone();
        upgrade
            .read_buffer_size(limits::READ_BUFFER)
            .max_message_size(limits::MESSAGE_BYTES)
            .max_frame_size(limits::MESSAGE_BYTES)
            .on_upgrade(move |socket| tasks.track_future(guest.serve(socket)))
    }

    /// Where the agent's changing calls pass.
    pub fn gate(&self) -> Gate {
        Gate::new(self.inner.room.clone(), self.inner.wait)
    }

    /// Shows this tab from now on: the one that the agent opened or selected last (S-061).
    pub fn follow(&self, tab: &TabId) {
        self.inner.room.note(|state, _| state.followed = Some(tab.clone()));
    }

    /// Gives the page that the person sees the files that it asked them for. `subject` is who their tickets are
    /// for.
    ///
    /// # Errors
    /// They are not in control, or the page did not ask.
    pub async fn give_files(&self, subject: &str, files: Vec<PathBuf>) -> Result<(), NotTaken> {
        self.inner.pump.files(subject, files).await
    }

    /// How many watch.
    pub fn viewers(&self) -> usize {
        self.inner.room.viewers()
    }

    /// Who drives, and since when.
    pub fn driver(&self) -> Option<(String, SystemTime)> {
        let state = self.inner.room.state();
        state.takeover.driver().map(|(person, since, _)| (person.name.clone(), since))
    }

    /// Ends it: viewers are told, calls that wait end, and nothing is left when this returns.
    pub async fn stop(&self) {
        let inner = &self.inner;
        inner.room.stop.cancel();
        inner.tasks.close();
        if timeout(LAST_WORDS, inner.tasks.wait()).await.is_err() {
            tracing::warn!("a viewer's connection took long to end");
        }
    }
}

impl fmt::Debug for Live {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Live({} viewers)", self.viewers())
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.room.stop.cancel();
    }
}
