//! The tools as an MCP server on stdin and stdout.
//!
//! This door has no policy of its own: it turns requests into calls on
//! [`reins_control::Control`] and answers into MCP content. No state hangs on the protocol
//! session; a browser session is an argument of each tool.

mod cards;
mod content;
mod listing;
mod server;

pub use listing::ToolChoice;
pub use server::{McpError, McpOptions, serve_stdio};
