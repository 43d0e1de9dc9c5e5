//! One viewer's connection, from its first message to its last.
//!
//! Each is served by a task of its own that takes the newest frame whenever it can take one. A viewer who is slow is
//! skipped and catches up with the latest; what one does not take costs the others nothing (S-X03). How far
//! behind a viewer is, is counted: a ping goes out behind every frame, and its answer says that the frame has
//! been taken.

use super::limits::{
    BEHIND_BYTES, BEHIND_FRAMES, CATCH_UP, LOST, MESSAGES_A_SECOND, NONSENSE, PING,
    TICKET_DEADLINE, VIEWERS, WRITE,
};
use super::pump::{Deed, Pump, Word, Words};
use super::room::{Room, Shot, Shown};
use super::takeover::{Person, Take, ViewerId};
use super::ticket::{Holder, Mode, Tickets};
use super::wire::{FromViewer, ToViewer, read};
use crate::clock::stamp;
use axum::Error;
use axum::extract::ws::{CloseFrame, Message, WebSocket};
use bytes::Bytes;
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, Stream, StreamExt};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::{Notify, OwnedSemaphorePermit, mpsc};
use tokio::time::{Instant, sleep, sleep_until, timeout};

/// Close codes (S-X04).
const STOPPING: u16 = 1001;
const BAD_TICKET: u16 = 4401;
const NO_TICKET: u16 = 4408;
const TOO_MUCH: u16 = 4429;
/// A message that breaks the rules, and one that is too long, as every WebSocket has it.
const NOT_OURS: u16 = 1008;
const TOO_LONG: u16 = 1009;
/// A view that is closed by will closes with this or with no code.
const DONE: u16 = 1000;

/// Words for one viewer that wait to be told.
const WORDS: usize = 16;

/// How long a last word may take.
const GOODBYE: Duration = Duration::from_secs(1);

/// A connection that has not shown a ticket.
pub(crate) struct Guest {
    pub(crate) room: Arc<Room>,
    pub(crate) tickets: Arc<Mutex<Tickets>>,
    pub(crate) pump: Arc<Pump>,
    pub(crate) unknown: OwnedSemaphorePermit,
}

/// Why a connection ends.
struct End {
    code: u16,
    why: &'static str,
    /// The person meant to leave.
    by_will: bool,
}

fn end(code: u16, why: &'static str) -> End {
    End { code, why, by_will: false }
}

impl Guest {
    /// Serves the connection until it ends.
    pub(crate) async fn serve(self, mut socket: WebSocket) {
        let stop = self.room.stop.clone();
        let admitted = tokio::select! {
            biased;
            () = stop.cancelled() => Err(stopping()),
            admitted = timeout(TICKET_DEADLINE, self.first(&mut socket)) => {
                admitted.unwrap_or_else(|_| Err(end(NO_TICKET, "no ticket came in time")))
            }
        };
        let holder = match admitted {
            Ok(holder) => holder,
            Err(end) => return goodbye(socket, &end).await,
        };
        drop(self.unknown);
        let (words, told) = mpsc::channel(WORDS);
        let Some(id) = self.room.enter(words.clone(), VIEWERS) else {
            return goodbye(socket, &end(TOO_MUCH, "too many viewers")).await;
        };
        let viewer = Viewer {
            id,
            room: self.room.clone(),
            tickets: self.tickets,
            pump: self.pump,
            holder,
            words,
            taken: Taken::default(),
        };
        let leaves = Leaves { room: &self.room, id, by_will: false };
        viewer.serve(socket, told, leaves).await;
    }

    /// The first message is a valid ticket, or nothing is said (S-087).
    async fn first(&self, socket: &mut WebSocket) -> Result<Holder, End> {
        loop {
            return match socket.recv().await {
                Some(Ok(Message::Text(text))) => match read(&text) {
                    Some(FromViewer::Ticket { ticket }) => {
                        redeem(&self.room, &self.tickets, &ticket)
                            .ok_or(end(BAD_TICKET, "the ticket is not valid; ask for a new one"))
                    }
                    _ => Err(end(BAD_TICKET, "the first message is a ticket")),
                },
                Some(Ok(Message::Ping(_) | Message::Pong(_))) => continue,
                Some(Ok(Message::Binary(_))) => {
                    Err(end(BAD_TICKET, "the first message is a ticket"))
                }
                Some(Err(error)) => Err(broken(&error)),
                Some(Ok(Message::Close(_))) | None => Err(end(DONE, "")),
            };
        }
    }
}

fn redeem(room: &Room, tickets: &Mutex<Tickets>, ticket: &str) -> Option<Holder> {
    let now = room.now().wall;
    let redeemed = tickets.lock().unwrap_or_else(PoisonError::into_inner).redeem(ticket, now);
    redeemed.inspect_err(|why| tracing::info!(%why, "a ticket was refused")).ok()
}

/// Whoever leaves, however their task ends, leaves the room.
struct Leaves<'a> {
    room: &'a Room,
    id: ViewerId,
    by_will: bool,
}

impl Drop for Leaves<'_> {
    fn drop(&mut self) {
        self.room.leave(self.id, self.by_will);
    }
}

/// A connection that may watch.
struct Viewer {
    id: ViewerId,
    room: Arc<Room>,
    tickets: Arc<Mutex<Tickets>>,
    pump: Arc<Pump>,
    holder: Holder,
    words: Words,
    taken: Taken,
}

/// How much of what was sent has been taken at the other end.
#[derive(Default)]
struct Taken {
    bytes: AtomicU64,
    frames: AtomicU64,
    changed: Notify,
}

impl Viewer {
    async fn serve(self, socket: WebSocket, told: mpsc::Receiver<Word>, mut leaves: Leaves<'_>) {
        let (sink, mut stream) = socket.split();
        let mut sink = Sink { sink, bytes: 0, frames: 0 };
        if self.holder.mode == Mode::Control {
            self.take_over(&self.holder);
        }
        let end = tokio::select! {
            biased;
            () = self.room.stop.cancelled() => stopping(),
            end = self.hear(&mut stream) => end,
            end = self.show(&mut sink, told) => end,
        };
        leaves.by_will = end.by_will;
        drop(leaves);
        sink.close(&end).await;
        drain(&mut stream).await;
    }

    /// Takes what the viewer says, until they leave.
    async fn hear(&self, stream: &mut SplitStream<WebSocket>) -> End {
        let (mut second, mut messages, mut nonsense) = (Instant::now(), 0, 0);
        loop {
            let message = match timeout(LOST, stream.next()).await {
                Err(_) => return end(STOPPING, "no sign of life"),
                Ok(None) => return end(DONE, ""),
                Ok(Some(Err(error))) => return broken(&error),
                Ok(Some(Ok(message))) => message,
            };
            if second.elapsed() >= Duration::from_secs(1) {
                (second, messages) = (Instant::now(), 0);
            }
            messages += 1;
            if messages > MESSAGES_A_SECOND {
                return end(TOO_MUCH, "too many messages");
            }
            let said = match message {
                Message::Text(text) => read(&text),
                Message::Pong(payload) => {
                    self.taken.note(&payload);
                    continue;
                }
                Message::Ping(_) => continue,
                Message::Binary(_) => None,
                Message::Close(frame) => {
                    // A page that goes away says so; one that closes the view says nothing, or that it is done.
                    let by_will = frame.is_none_or(|frame| frame.code == DONE);
                    return End { by_will, ..end(DONE, "") };
                }
            };
            if !said.is_some_and(|said| self.understand(said)) {
                nonsense += 1;
                self.refuse("message", "this is no message of the live view");
                if nonsense >= NONSENSE {
                    return end(NOT_OURS, "too many messages that are none of the live view");
                }
            }
        }
    }

    /// Does what a message says. Whether it may be said here.
    fn understand(&self, said: FromViewer) -> bool {
        match said {
            FromViewer::Ticket { .. } => return false,
            FromViewer::HandBack {} => self.room.hand_back(self.id),
            FromViewer::TakeOver { ticket } => match redeem(&self.room, &self.tickets, &ticket) {
                Some(holder) if holder.mode != Mode::Control => {
                    self.refuse(
                        "take_over",
                        "this ticket is for watching; ask for one to take over",
                    );
                }
                Some(holder) if holder.subject != self.holder.subject => {
                    self.refuse("take_over", "this ticket is someone else's");
                }
                Some(holder) => self.take_over(&holder),
                None => self.refuse("take_over", "the ticket is not valid; ask for a new one"),
            },
            FromViewer::Input { input } => match input.bounded() {
                Ok(input) => self.deed(Deed::Input(input)),
                Err(why) => self.refuse("input", &why.to_string()),
            },
            FromViewer::Copy {} => self.deed(Deed::Copy),
        }
        true
    }

    fn deed(&self, deed: Deed) {
        if !self.room.drives(self.id) {
            self.refuse("input", "you are not in control; take over first");
        } else if !self.pump.push(self.id, deed, &self.words) {
            self.refuse("input", "the page takes no more input for now");
        }
    }

    fn take_over(&self, holder: &Holder) {
        let person = Person { subject: holder.subject.clone(), name: holder.name.clone() };
        match self.room.take(self.id, person) {
            // They are told by whoever drives then.
            Take::Drives => {}
            Take::WaitsFor { tool } => {
                let why = format!("waiting for the agent's step {tool} to end");
                drop(self.words.try_send(Word::Refused { what: "take_over_yet", why }));
            }
            Take::Held { by, .. } => {
                let why = format!("{by} is in control; they have to hand back first");
                drop(self.words.try_send(Word::Refused { what: "take_over", why }));
            }
        }
    }

    fn refuse(&self, what: &'static str, why: &str) {
        drop(self.words.try_send(Word::Refused { what, why: why.to_owned() }));
    }

    /// Shows frames and who drives, until that is no longer possible.
    async fn show(&self, sink: &mut Sink, told: mpsc::Receiver<Word>) -> End {
        match self.show_all(sink, told).await {
            Ok(never) => match never {},
            Err(_) => end(STOPPING, "the connection takes nothing"),
        }
    }

    async fn show_all(
        &self,
        sink: &mut Sink,
        mut told: mpsc::Receiver<Word>,
    ) -> Result<std::convert::Infallible, Error> {
        let mut changes = self.room.changes();
        let mut shots = self.room.shots.subscribe();
        let mut shown = self.room.shown(self.id);
        let last = shots.borrow().clone();
        let size = last.as_ref().map_or((0.0, 0.0), |s| (s.frame.css_width, s.frame.css_height));
        let welcome = ToViewer::Welcome {
            viewer: self.id.to_string(),
            mode: self.holder.mode,
            css_width: size.0,
            css_height: size.1,
            driver: shown.driver.as_ref(),
        };
        sink.text(&welcome).await?;
        if let Some(waiting) = &shown.waiting {
            let since = stamp(waiting.since);
            sink.text(&ToViewer::Waiting { tool: &waiting.tool, since }).await?;
        }
        // Who comes late sees the last frame at once (S-062).
        shots.mark_changed();
        let mut ping = Instant::now() + PING;
        loop {
            let behind = self.taken.behind(sink);
            tokio::select! {
                biased;
                changed = changes.changed() => {
                    if changed.is_err() {
                        return std::future::pending().await;
                    }
                    let now = self.room.shown(self.id);
                    sink.differences(&shown, &now).await?;
                    shown = now;
                }
                Some(word) = told.recv() => match word {
                    Word::Refused { what, why } => {
                        sink.text(&ToViewer::Refused { what, why: &why }).await?;
                    }
                    Word::FilesWanted { several } => {
                        sink.text(&ToViewer::FilesWanted { several }).await?;
                    }
                    Word::Copied(text) => {
                        sink.text(&ToViewer::Copied { text: text.expose() }).await?;
                    }
                },
                () = self.taken.changed.notified(), if behind => {}
                () = sleep(CATCH_UP), if behind => {}
                changed = shots.changed(), if !behind => {
                    if changed.is_err() {
                        return std::future::pending().await;
                    }
                    let shot = shots.borrow_and_update().clone();
                    if let Some(shot) = shot {
                        sink.shot(&shot).await?;
                        ping = Instant::now() + PING;
                    }
                }
                () = sleep_until(ping) => {
                    sink.ping().await?;
                    ping = Instant::now() + PING;
                }
            }
        }
    }
}

impl Taken {
    /// The answer to one of our pings. Anything else says nothing.
    fn note(&self, payload: &[u8]) {
        let Some((bytes, frames)) = payload.split_first_chunk::<8>() else { return };
        let Ok(frames) = <[u8; 8]>::try_from(frames) else { return };
        self.bytes.fetch_max(u64::from_be_bytes(*bytes), Ordering::Relaxed);
        self.frames.fetch_max(u64::from_be_bytes(frames), Ordering::Relaxed);
        self.changed.notify_one();
    }

    /// Whether so much is on its way that the next frame would only come later.
    fn behind(&self, sink: &Sink) -> bool {
        let bytes = sink.bytes.saturating_sub(self.bytes.load(Ordering::Relaxed));
        let frames = sink.frames.saturating_sub(self.frames.load(Ordering::Relaxed));
        bytes > BEHIND_BYTES as u64 || frames >= BEHIND_FRAMES as u64
    }
}

/// What goes to a viewer, counted.
struct Sink {
    sink: SplitSink<WebSocket, Message>,
    bytes: u64,
    frames: u64,
}

impl Sink {
    async fn text(&mut self, message: &ToViewer<'_>) -> Result<(), Error> {
        self.send(Message::Text(message.json().into())).await
    }

    /// What is different from what was told before.
    async fn differences(&mut self, before: &Shown, now: &Shown) -> Result<(), Error> {
        if before.driver != now.driver {
            self.text(&ToViewer::Driver { driver: now.driver.as_ref() }).await?;
        }
        if before.waiting != now.waiting {
            match &now.waiting {
                Some(waiting) => {
                    let since = stamp(waiting.since);
                    self.text(&ToViewer::Waiting { tool: &waiting.tool, since }).await?;
                }
                None => self.text(&ToViewer::WaitingOver).await?,
            }
        }
        Ok(())
    }

    async fn shot(&mut self, shot: &Shot) -> Result<(), Error> {
        let about = ToViewer::FrameAbout {
            css_width: shot.frame.css_width,
            css_height: shot.frame.css_height,
            at: stamp(shot.frame.at),
            tab: shot.tab.as_str(),
            url: &shot.url,
            title: &shot.title,
        };
        let about = about.json();
        self.bytes += (about.len() + shot.frame.jpeg.len()) as u64;
        self.frames += 1;
        self.sink.feed(Message::Text(about.into())).await?;
        self.sink.feed(Message::Binary(shot.frame.jpeg.clone())).await?;
        self.ping().await
    }

    /// Asks for a word once everything before it has been taken.
    async fn ping(&mut self) -> Result<(), Error> {
        let mut payload = Vec::with_capacity(16);
        payload.extend(self.bytes.to_be_bytes());
        payload.extend(self.frames.to_be_bytes());
        self.send(Message::Ping(Bytes::from(payload))).await
    }

    async fn send(&mut self, message: Message) -> Result<(), Error> {
        match timeout(WRITE, self.sink.send(message)).await {
            Ok(sent) => sent,
            Err(late) => Err(Error::new(late)),
        }
    }

    async fn close(&mut self, end: &End) {
        drop(timeout(GOODBYE, self.sink.send(closing(end))).await);
    }
}

fn stopping() -> End {
    end(STOPPING, "the browser stopped")
}

/// What a connection ends with that broke a rule of the protocol, or just broke.
fn broken(error: &Error) -> End {
    let long = error.to_string().contains("too long");
    if long { end(TOO_LONG, "the message is too long") } else { end(DONE, "") }
}

fn closing(end: &End) -> Message {
    Message::Close(Some(CloseFrame { code: end.code, reason: end.why.into() }))
}

async fn goodbye(mut socket: WebSocket, end: &End) {
    drop(timeout(GOODBYE, socket.send(closing(end))).await);
    drain(&mut socket).await;
}

/// Reads on until the other end has our last word: a connection that is dropped with something unread is reset,
/// and takes the word with it.
async fn drain(stream: &mut (impl Stream<Item = Result<Message, Error>> + Unpin)) {
    let read = async { while let Some(Ok(_)) = stream.next().await {} };
    drop(timeout(GOODBYE, read).await);
}
