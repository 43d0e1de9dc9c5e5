//! The tools as an MCP server: on stdin and stdout, on a connection of one run, and over HTTP for one
//! browser session.
//!
//! This door has no policy of its own: it turns requests into calls on
//! [`reins_control::Control`] and answers into MCP content. No state hangs on the protocol
//! session; a browser session is an argument of each tool. A run's own server ([`serve_run`]) has one
//! session, one owner and one turn, which the run gives it; so does a session's address ([`HttpDoor`]).

mod calls;
mod cards;
mod content;
mod http_door;
mod listing;
mod offer;
mod playwright;
mod run;
mod server;

pub use calls::{ControlCalls, HeldBy, NotMade, SessionCalls};
pub use http_door::{Bearer, HttpAccess, HttpBody, HttpDoor, HttpLimits, HttpOptions};
pub use listing::ToolChoice;
pub use offer::Names;
pub use run::{Calls, ECHO, RunTool, serve_echo, serve_run};
pub use server::{McpError, McpOptions, serve_stdio};
