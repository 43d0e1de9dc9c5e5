//! What a page says: captured facts to snapshot lines, refs, deltas and page text.
//!
//! The page script ([`SCRIPT`]) only collects facts, in the order that matters and within a budget.
//! Everything that needs judgement is computed here, purely: roles, names, states, what counts as
//! hidden, how lines look. Nothing here knows the browser's protocol or does any I/O.

mod address;
mod capture;
mod conceal;
mod control;
mod delta;
mod error;
mod find;
mod hidden;
mod keys;
mod line;
mod moved;
mod name;
pub mod needs;
mod outline;
mod press;
mod record;
mod region;
mod registry;
mod role;
mod seen;
mod snapshot;
mod state;
mod table;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod text;
mod tokens;
mod tree;
mod untrusted;
mod wire;

pub use capture::{CaptureOptions, FrameCapture, FrameMeta, View, parse_capture};
pub use conceal::{conceal, conceal_header};
pub use delta::PublishedDelta;
pub use error::PageError;
pub use find::Found;
pub use record::record;
pub use registry::{PublishOptions, PublishedElement, PublishedSnapshot, RefRegistry};
pub use seen::Held;
pub use snapshot::{FrameNote, FrameTrouble, PrivateSnapshot, assemble};
pub use text::{PageText, TextOptions, page_text};
pub use tokens::estimate_tokens;
pub use untrusted::wrap_untrusted;

/// The script that reads pages. It is installed in every frame before any page script, in the
/// isolated world [`WORLD`].
pub const SCRIPT: &str = include_str!("../../../web/dist/page.js");

/// The name of the isolated world that [`SCRIPT`] runs in.
pub const WORLD: &str = "reins";
