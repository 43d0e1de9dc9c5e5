//! Models: providers, keys, streaming, tool calls, usage and cost. Knows nothing of browsers.
//!
//! Four formats (`chat`, `responses`, `messages`, `gemini`) have an encoder and a decoder each; what is
//! different about a provider is a fact in the [`table`](PROVIDERS), and what a server refuses is
//! learned while it is used. A [`ChatRequest`] goes to a [`Model`], usually a [`ModelClient`], and comes back as a
//! [`ModelStream`] of [`ModelEvent`]s in no provider's dialect. What servers do differently
//! (fragments without ids, calls written as text, refused parameters, broken streams) ends here.
//!
//! Call [`install_crypto`] first thing in `main`.

mod address;
mod allowance;
mod chat;
mod check;
mod client;
mod dialect;
mod discover;
mod error;
mod event;
mod failure;
mod flow;
mod gemini;
pub mod limits;
mod listing;
mod message;
mod messages;
mod price;
mod provider;
mod reply;
mod responses;
#[cfg(test)]
mod samples;
mod sse;
mod table;
#[cfg(feature = "testing")]
pub mod testing;
mod text_calls;
mod transport;
mod wire;

pub use address::BaseUrl;
pub use allowance::Metered;
pub use check::check;
pub use client::{Model, ModelClient, ModelStream, Timing, reply};
pub use discover::{Discovery, Found, discover};
pub use error::{AddressError, ModelError, TransportError};
pub use event::{ModelEvent, Notice, Odds, StopReason, Usage};
pub use listing::ModelLists;
pub use message::{
    Caching, ChatRequest, Image, Kept, Message, Part, Purpose, Reasoning, Shape, ToolCall, ToolSpec,
};
pub use price::{Cost, NotACost, PRICES_AS_OF, cost};
pub use provider::{Endpoint, Format, Provider, Quirks, Switch, UnknownFormat};
pub use reply::{Reply, ReplyBuilder};
pub use table::{CUSTOM, PROVIDERS};
pub use transport::{Http, install_crypto};
