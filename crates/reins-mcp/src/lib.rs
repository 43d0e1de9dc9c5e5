//! The tools as an MCP server on stdin and stdout.
//!
//! This door has no policy of its own: it turns requests into calls on
//! [`reins_control::Control`] and answers into MCP content. No state hangs on the protocol
//! session; a browser session is an argument of each tool. A run's own server ([`serve_run`]) has one
//! session, one owner and one turn, which the run gives it.

mod cards;
mod content;
mod listing;
mod run;
mod server;

pub use listing::ToolChoice;
pub use run::{Calls, ECHO, RunTool, serve_echo, serve_run};
pub use server::{McpError, McpOptions, serve_stdio};
