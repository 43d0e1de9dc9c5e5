//! The proxy every connection of a pinned browser goes through (S-146).
//!
//! A session's [`Policy`] says what may be reached: its app, and public addresses beside it. Each request is read
//! strictly, its name is looked up once, **all** addresses of the answer are judged, and one of exactly those is
//! dialled (S-147): a name that changes its answer between two look-ups gains nothing.
//!
//! It knows nothing of browsers, and nothing of where policies come from.

mod answers;
mod error;
mod forward;
pub mod limits;
mod meter;
mod network;
mod policy;
mod ranges;
mod refusal;
mod server;
mod session;
mod target;
mod tunnel;
mod way;

pub use error::EgressError;
pub use meter::Allowance;
pub use network::{Clock, Dialer, Network, Resolver};
pub use policy::{Deny, DenyError, Endpoint, Policy, Public};
pub use ranges::{Range, special};
pub use refusal::{Reason, Refusal, Refusals};
pub use server::Egress;
pub use session::{Login, OpenSession, Usage};
pub use target::{Host, Target};
