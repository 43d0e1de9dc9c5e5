//! The daemon's sessions: each with a browser of its own, so that nothing of one is in another's way.

use super::limits::{CLOSE, MOST_SESSIONS, SESSION_IDLE};
use super::wire::{About, Line};
use super::{Chosen, Setup};
use reins_control::Control;
use reins_core::{OwnerId, SessionId};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{Notify, OnceCell};
use tokio::time::Instant;

/// All sessions. Listing and ending them waits for no page.
#[derive(Debug)]
pub(super) struct Rooms {
    data_dir: PathBuf,
    open: Mutex<HashMap<String, Arc<Room>>>,
    /// Told when a call ends or a session goes.
    pub(super) moved: Notify,
}

/// One session.
#[derive(Debug)]
pub(super) struct Room {
    pub(super) session: SessionId,
    pub(super) owner: OwnerId,
    chosen: Chosen,
    control: OnceCell<Control>,
    calls: AtomicUsize,
    used: Mutex<Instant>,
}

/// A call under way: its session is in use.
#[derive(Debug)]
pub(super) struct Stay {
    pub(super) room: Arc<Room>,
    rooms: Arc<Rooms>,
}

impl Drop for Stay {
    fn drop(&mut self) {
        *lock(&self.room.used) = Instant::now();
        self.room.calls.fetch_sub(1, Ordering::SeqCst);
        self.rooms.moved.notify_one();
    }
}

impl Rooms {
    pub(super) fn new(data_dir: PathBuf) -> Self {
        Self { data_dir, open: Mutex::default(), moved: Notify::new() }
    }

    /// The session of this name, begun if there is none.
    pub(super) fn enter(self: &Arc<Self>, name: &str, setup: &Setup) -> Result<Stay, Line> {
        let room = {
            let mut open = lock(&self.open);
            match open.get(name) {
                Some(room) => {
                    let nothing = setup.chosen == Chosen::default();
                    if !nothing && setup.chosen != room.chosen {
                        return Err(failed(
                            "other_flags",
                            format!(
                                "session {name} was begun with other flags. Leave them out to go on in it, close it \
                                 with `reins close --session {name}` first, or name another session"
                            ),
                        ));
                    }
                    Arc::clone(room)
                }
                None if open.len() >= MOST_SESSIONS => {
                    return Err(failed(
                        "too_many_sessions",
                        format!(
                            "{MOST_SESSIONS} sessions are open; end one with `reins close --session NAME` \
                             (`reins sessions` lists them)"
                        ),
                    ));
                }
                None => {
                    let room = Arc::new(Room {
                        session: SessionId::new(name),
                        owner: OwnerId::new("verbs"),
                        chosen: setup.chosen.clone(),
                        control: OnceCell::new(),
                        calls: AtomicUsize::new(0),
                        used: Mutex::new(Instant::now()),
                    });
                    open.insert(name.to_owned(), Arc::clone(&room));
                    room
                }
            }
        };
        room.calls.fetch_add(1, Ordering::SeqCst);
        Ok(Stay { room, rooms: Arc::clone(self) })
    }

    /// A session's control, opened at its first call.
    pub(super) async fn control(&self, room: &Room, setup: &Setup) -> Result<Control, Line> {
        let made = room
            .control
            .get_or_try_init(|| async {
                let options = setup.options(&self.data_dir)?;
                anyhow::Ok(Control::open(options).await?)
            })
            .await;
        match made {
            Ok(control) => Ok(control.clone()),
            Err(error) => {
                self.forget(room);
                Err(failed("not_begun", format!("the session could not begin: {error:#}")))
            }
        }
    }

    pub(super) fn list(&self) -> Vec<About> {
        let mut all: Vec<About> = lock(&self.open)
            .iter()
            .map(|(name, room)| About {
                session: name.clone(),
                policy: match room.chosen.app.as_slice() {
                    [] => "guarded".to_owned(),
                    app => format!("pinned to {}", app.join(", ")),
                },
                busy: room.calls.load(Ordering::SeqCst) > 0,
                idle_s: lock(&room.used).elapsed().as_secs(),
            })
            .collect();
        all.sort_by(|a, b| a.session.cmp(&b.session));
        all
    }

    /// Ends one session, or all; how many there were.
    pub(super) async fn close(&self, name: Option<&str>) -> usize {
        let gone: Vec<Arc<Room>> = {
            let mut open = lock(&self.open);
            match name {
                Some(name) => open.remove(name).into_iter().collect(),
                None => open.drain().map(|(_, room)| room).collect(),
            }
        };
        let count = gone.len();
        end(gone).await;
        self.moved.notify_one();
        count
    }

    /// Ends the sessions that nobody used for long. When to look again, if any is left.
    pub(super) async fn sweep(&self) -> Option<Instant> {
        let now = Instant::now();
        let (gone, next) = {
            let mut open = lock(&self.open);
            let old: Vec<String> = open
                .iter()
                .filter(|(_, room)| room.calls.load(Ordering::SeqCst) == 0)
                .filter(|(_, room)| *lock(&room.used) + SESSION_IDLE <= now)
                .map(|(name, _)| name.clone())
                .collect();
            let gone: Vec<Arc<Room>> = old.iter().filter_map(|name| open.remove(name)).collect();
            let next = open.values().map(|room| *lock(&room.used) + SESSION_IDLE).min();
            // One that is in use counts from its end.
            (gone, next.map(|next| next.max(now + std::time::Duration::from_secs(1))))
        };
        end(gone).await;
        next
    }

    /// Whether a session is open or a call under way.
    pub(super) fn in_use(&self) -> bool {
        !lock(&self.open).is_empty()
    }

    fn forget(&self, room: &Room) {
        lock(&self.open).retain(|_, open| !std::ptr::eq(Arc::as_ptr(open), room));
    }
}

async fn end(rooms: Vec<Arc<Room>>) {
    let mut ends = tokio::task::JoinSet::new();
    for room in rooms {
        ends.spawn(async move {
            if let Some(control) = room.control.get()
                && tokio::time::timeout(CLOSE, control.close()).await.is_err()
            {
                tracing::warn!(session = %room.session, "the browser did not end in time");
            }
        });
    }
    while ends.join_next().await.is_some() {}
}

pub(super) fn failed(code: &str, message: impl Into<String>) -> Line {
    Line::Failed { code: code.to_owned(), message: message.into() }
}

/// Every section under these locks leaves whole values.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
