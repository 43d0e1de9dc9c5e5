//! The wire to Chromium: DevTools protocol messages over a pipe or a WebSocket, and nothing else.
//!
//! - A call ends as an answer, as [`NotSent`] (nothing reached the page), or as [`Lost`] (it may have
//!   happened). They are different types, since only the first may be tried again.
//! - Every call has a deadline. A dropped call leaves nothing behind; its late answer is thrown away.
//! - Messages stay bytes; only the envelope is read here. Whoever asked parses, so a method, field
//!   or value that we do not know breaks nothing.
//! - Events are delivered in wire order and without loss; see [`Events`] for what happens to a
//!   consumer that does not keep up.
//! - When a session is detached, its target crashes or the connection ends, the calls that waited
//!   for it end at once.

extern crate self as reins_cdp;

mod connection;
mod error;
mod events;
mod framing;
mod message;
mod names;
mod pending;
mod pipe;
mod router;
#[cfg(feature = "testing")]
pub mod testing;
mod websocket;
pub mod wire;

pub use connection::{Connection, Session};
pub use error::{CallError, CloseReason, ConnectError, Lost, LostCause, NotSent, NotSentCause};
pub use events::{End, Event, EventError, Events, QUEUE_BYTES};
pub use message::Reply;
pub use names::NAMES;
pub use pending::Pending;
/// The answer of a command that says nothing more than that it was done.
pub use serde::de::IgnoredAny as Ignored;
