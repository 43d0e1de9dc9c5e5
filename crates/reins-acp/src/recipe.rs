//! What is known of an agent: how it starts, and how its own tools are switched off.

use crate::permission::Identity;
use serde_json::Value;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// One agent.
#[derive(Clone, Copy, Debug)]
pub struct Recipe {
    /// What people type.
    pub id: &'static str,
    /// What it is called.
    pub name: &'static str,
    /// How it starts.
    pub start: Start,
    /// How its permission requests are known to be about our tools.
    pub identity: Identity,
    /// Where text without a message id is the agent's own notice.
    pub(crate) notices: bool,
    /// Names in the environment that say where its sign-in is.
    pub(crate) keeps: &'static [&'static str],
    /// How to sign in.
    pub sign_in: &'static str,
    /// How to get it.
    pub install: &'static str,
    /// What of its own tools is off, and how sure that is.
    pub off: &'static str,
    /// Where the MCP servers of the person's own configuration stand, for an agent that would start them
    /// beside ours.
    pub(crate) own_servers: Option<OwnServers>,
    /// The settings of one run.
    pub(crate) settings: fn(&Situation<'_>) -> Settings,
}

/// A configuration file in TOML with a table of MCP servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OwnServers {
    /// The variable that names the folder.
    pub(crate) variable: &'static str,
    /// The folder in the person's home, without the variable.
    pub(crate) folder: &'static str,
    /// The file in it.
    pub(crate) file: &'static str,
    /// The table in it.
    pub(crate) table: &'static str,
}

/// How an agent starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// It speaks ACP itself.
    Own {
        /// Its program.
        program: &'static str,
        /// What makes it speak ACP.
        args: &'static [&'static str],
    },
    /// An adapter of one fixed version, run by npx, speaks for it.
    Adapter {
        /// The adapter's package.
        package: &'static str,
        /// Its version. Another one may write other fields, so the permission rule hangs on it.
        version: &'static str,
        /// The agent's own program.
        program: &'static str,
        /// The variable that tells the adapter where that is.
        variable: &'static str,
    },
    /// A command that the person gives.
    Command,
}

/// What a recipe's settings may depend on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Situation<'a> {
    /// The scratch directory.
    pub(crate) scratch: &'a Path,
    /// The name of our server.
    pub(crate) server: &'a str,
    /// The names of its tools.
    pub(crate) tools: &'a [String],
    /// The names of the MCP servers that the agent would start by itself.
    pub(crate) own_servers: &'a [String],
}

/// What one run adds.
#[derive(Clone, Debug, Default)]
pub(crate) struct Settings {
    pub(crate) args: Vec<String>,
    pub(crate) environment: Vec<(String, String)>,
    /// Files in the scratch directory: relative path and content.
    pub(crate) files: Vec<(String, String)>,
    /// `_meta` of `session/new`.
    pub(crate) session: Value,
}

/// Everything a process needs to start.
#[derive(Clone, Debug)]
pub(crate) struct Prepared {
    pub(crate) program: PathBuf,
    pub(crate) args: Vec<String>,
    pub(crate) environment: Vec<(OsString, OsString)>,
    pub(crate) scratch: PathBuf,
    pub(crate) session: Value,
}
