//! Which tools are listed, and how they look in `tools/list`.

use reins_control::{Effect, Group, tools};
use rmcp::model::{Tool, ToolAnnotations};
use serde_json::{Map, Value};
use std::sync::Arc;

/// What `--tools` chose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ToolChoice {
    /// The core group.
    Core,
    /// Everything.
    All,
    /// Just these groups and names.
    Named(Vec<String>),
}

impl ToolChoice {
    /// Reads `all`, or groups and names joined by commas.
    ///
    /// # Errors
    ///
    /// Returns the first name that is neither a group nor a tool.
    pub fn parse(text: &str) -> Result<Self, UnknownToolName> {
        match text.trim() {
            "core" | "" => Ok(Self::Core),
            "all" => Ok(Self::All),
            names => {
                let names: Vec<String> =
                    names.split(',').map(|name| name.trim().to_owned()).collect();
                let known = |name: &str| {
                    reins_control::tool(name).is_some()
                        || tools().iter().any(|tool| tool.group.name() == name)
                        || [PDF, VISION].contains(&name)
                };
                match names.iter().find(|name| !known(name)) {
                    Some(unknown) => Err(UnknownToolName(unknown.clone())),
                    None => Ok(Self::Named(names)),
                }
            }
        }
    }

    /// Whether any tool of a group is listed.
    pub fn has_any_of(&self, group: Group) -> bool {
        tools().iter().any(|tool| tool.group == group && self.has(tool))
    }

    /// Whether a tool is listed and callable.
    pub(crate) fn has(&self, tool: &reins_control::Tool) -> bool {
        match self {
            Self::Core => tool.group == Group::Core,
            Self::All => true,
            Self::Named(names) => names.iter().any(|name| {
                name == tool.name
                    || name == tool.group.name()
                    || (name == PDF && tool.name == "save_pdf")
            }),
        }
    }

    /// Whether an alias is listed and callable: by its capability, or because its tool is chosen by name.
    pub(crate) fn has_alias(&self, capability: &str, tool: &reins_control::Tool) -> bool {
        match self {
            Self::Core => capability == Group::Core.name(),
            Self::All => true,
            Self::Named(names) => names.iter().any(|name| name == tool.name || name == capability),
        }
    }
}

/// The capability that prints pages (S-033). Among our own names it is one tool of the core.
const PDF: &str = "pdf";

/// The capability that points by coordinates (S-033). Our own names have no tool of it.
const VISION: &str = "vision";

/// A name in `--tools` that is no tool.
#[derive(Debug, thiserror::Error)]
#[error(
    "'{0}' is no tool and no group; use `all`, groups (`core`, `inspect`, `forms`, `testing`, `vision`, `pdf`) or names from `reins docs`"
)]
pub struct UnknownToolName(String);

/// The listed tools in MCP form.
pub(crate) fn list(choice: &ToolChoice) -> Vec<Tool> {
    let listed = tools().iter().filter(|tool| choice.has(tool));
    listed.map(|tool| form(tool, tool.input_schema())).collect()
}

/// One tool in MCP form.
pub(crate) fn form(tool: &'static reins_control::Tool, schema: Map<String, Value>) -> Tool {
    let annotations = match tool.effect {
        Effect::Read => ToolAnnotations::new().read_only(true).open_world(true),
        Effect::View => ToolAnnotations::new().read_only(false).destructive(false).open_world(true),
        Effect::Act => ToolAnnotations::new().read_only(false).destructive(true).open_world(true),
    };
    Tool::new(tool.name, tool.about, Arc::new(schema)).with_annotations(annotations)
}
