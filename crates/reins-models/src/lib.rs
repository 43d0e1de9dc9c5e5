//! Models: providers, keys, streaming, tool calls, usage and cost. Knows nothing of browsers.
//!
//! A [`ChatRequest`] goes to a [`Model`], usually a [`ModelClient`], and comes back as a
//! [`ModelStream`] of [`ModelEvent`]s in no provider's dialect. What servers do differently
//! (fragments without ids, calls written as text, refused parameters, broken streams) ends here.
//!
//! Call [`install_crypto`] first thing in `main`.

mod address;
mod chat;
mod check;
mod client;
mod discover;
mod error;
mod event;
mod failure;
mod flow;
pub mod limits;
mod listing;
mod message;
mod messages;
mod price;
mod provider;
mod reply;
mod sse;
#[cfg(feature = "testing")]
pub mod testing;
mod text_calls;
mod transport;
mod wire;

pub use address::BaseUrl;
pub use check::check;
pub use client::{Model, ModelClient, ModelStream, Timing, reply};
pub use discover::{Discovery, Found, discover};
pub use error::{AddressError, ModelError, TransportError};
pub use event::{ModelEvent, Notice, StopReason, Usage};
pub use listing::ModelLists;
pub use message::{Caching, ChatRequest, Image, Message, Part, ToolCall, ToolSpec};
pub use price::{Cost, PRICES_AS_OF, cost};
pub use provider::{CUSTOM, Endpoint, Format, PROVIDERS, Provider};
pub use reply::{Reply, ReplyBuilder};
pub use transport::{Http, install_crypto};
