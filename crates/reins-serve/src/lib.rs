//! Sandboxed browser sessions for teams: the HTTP API, the live view and the dashboard's door.
//!
//! One daemon serves many tenants on a loopback port and an owner-only socket. A sandbox is an app under test with at
//! most one browser, which is pinned to that app. Every step of an agent goes through [`reins_control`]; the browser
//! itself is touched for its screen and the person's own input only.

mod api;
mod app;
mod assets;
mod auth;
mod backend;
mod boot;
mod calls;
mod cards;
mod client;
mod clock;
mod config;
mod error;
mod events;
mod hooks;
mod keeper;
mod keys;
pub mod limits;
pub mod live;
mod mcp_door;
mod metrics;
mod openapi;
mod rate;
mod reaper;
mod recovery;
mod retain;
mod room;
mod router;
mod runs;
mod scope;
mod serve;
mod session;
mod shim;
mod sign_in;
mod single;
mod start;
mod token;
mod usage;
mod witness;

pub use assets::dashboard;
pub use backend::{Capability, LocalBackend, Mode, SessionBackend, StartOrder, Started};
pub use boot::LogLine;
pub use calls::{Calls, Held, NotCalled};
pub use client::dashboard_link;
pub use clock::{Clock, SystemClock};
pub use config::{
    BrowserConfig, Config, HookKind, PORT, QuotaConfig, RequestConfig, SandboxConfig, ServerConfig,
    TokenConfig, WebhookConfig,
};
pub use error::ServeError;
pub use events::Step;
pub use keys::{hash, hex, secret};
pub use mcp_door::{McpDoor, McpTarget};
pub use runs::{ProviderShape, RunOrder, RunOutcome, Runner};
pub use scope::{Scope, ScopeError, Scopes};
pub use serve::{SOCKET, STORE, Serve, ServeOptions};
pub use shim::{ServerAddress, mcp_shim};
pub use single::{Order, Single, SingleOptions};
pub use token::{NewToken, TokenBook};
