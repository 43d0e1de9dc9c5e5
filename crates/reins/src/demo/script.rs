//! What the scripted model does, read from the bundled file.

use anyhow::{Context, Result};
use serde::Deserialize;
use serde_json::{Map, Value};

const SCRIPT: &str = include_str!("../../../../demo/script.toml");

/// The whole script.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Script {
    /// The person's words.
    pub(super) task: String,
    #[serde(rename = "step")]
    pub(super) steps: Vec<Step>,
}

/// One step.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Step {
    /// What the scripted model says before it.
    pub(super) say: Option<String>,
    /// The tool.
    pub(super) tool: String,
    /// Which line gives the ref.
    pub(super) find: Option<Find>,
    /// The other arguments.
    #[serde(default)]
    pub(super) args: Map<String, Value>,
    /// Said at the end when it was done.
    pub(super) done: Option<String>,
    /// Said at the end when the person did not allow it. Only such steps can be left out.
    pub(super) refused: Option<String>,
}

/// Role and accessible name of an element.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Find {
    pub(super) role: String,
    pub(super) name: String,
}

impl Script {
    /// The bundled script, with the shop's address put in.
    pub(super) fn load(shop: &str) -> Result<Self> {
        toml::from_str(&SCRIPT.replace("{shop}", shop)).context("the bundled script does not read")
    }
}
