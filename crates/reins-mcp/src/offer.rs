//! Under which names the tools are offered, and what a call by such a name makes of them.

use crate::calls::NotMade;
use crate::listing::{self, ToolChoice};
use crate::playwright::{self, Alias};
use futures_util::future::BoxFuture;
use reins_control::Reply;
use rmcp::model::Tool;
use serde_json::{Map, Value};

/// The names that clients see.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Names {
    /// The tools' own.
    #[default]
    Reins,
    /// Those of Playwright MCP, with its arguments, for agents written for it.
    Playwright,
}

/// A tool by the name that a client called.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Offered {
    Own(&'static reins_control::Tool),
    Alias(&'static Alias),
}

/// Makes one call on the street.
pub(crate) type Make<'a> = dyn Fn(&'static reins_control::Tool, Value) -> BoxFuture<'a, Result<Reply, NotMade>>
    + Send
    + Sync
    + 'a;

impl Offered {
    pub(crate) async fn call(
        self,
        arguments: Map<String, Value>,
        make: &Make<'_>,
    ) -> Result<Reply, NotMade> {
        match self {
            Self::Own(tool) => make(tool, Value::Object(arguments)).await,
            Self::Alias(alias) => alias.call(arguments, make).await,
        }
    }
}

impl Names {
    /// The offered tools in MCP form.
    pub(crate) fn list(self, choice: &ToolChoice) -> Vec<Tool> {
        match self {
            Self::Reins => listing::list(choice),
            Self::Playwright => playwright::offered(choice).map(Alias::form).collect(),
        }
    }

    /// The tool of this name, if it is offered.
    pub(crate) fn find(self, choice: &ToolChoice, name: &str) -> Option<Offered> {
        match self {
            Self::Reins => {
                reins_control::tool(name).filter(|tool| choice.has(tool)).map(Offered::Own)
            }
            Self::Playwright => {
                playwright::offered(choice).find(|alias| alias.name == name).map(Offered::Alias)
            }
        }
    }
}
