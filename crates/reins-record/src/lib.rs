//! Session recordings: what is kept of a session, how it gets to the disk and how it is read again.
//!
//! A recording is a directory of segments that are only appended to. Events are accepted without
//! waiting, written in batches by a thread of their own, and acknowledged once they are on the disk
//! ([`Recorder::acknowledged`]). Whatever happens to the process or to the disk, everything that was
//! acknowledged can be read again. What is recorded is data to this room: it knows no browser.

mod about;
mod arguments;
mod error;
mod event;
mod export;
mod index;
mod library;
pub mod limits;
mod medium;
mod player;
mod reader;
mod search;
mod segment;
mod sparse;
mod writer;

pub use about::{
    End, Kinds, Recording, RecordingAbout, RecordingId, RecordingIdError, RecordingStatus,
};
pub use arguments::masked_arguments;
pub use error::RecordError;
pub use event::{Action, Event, Kind, KindName, Marker, Seq, StoredEvent, Takeover};
pub use library::{EventPage, Library, Retention};
pub use medium::{Files, Medium, Sink};
pub use player::{PLAYER_POLICY, player_page};
pub use search::Hit;
pub use sparse::Sparse;
pub use writer::{Accepted, CutShort, OnCut, Options, Recorder};
