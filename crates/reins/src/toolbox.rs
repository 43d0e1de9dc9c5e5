//! The agent's tools: the same list and the same street as every other door.

use crate::steps::Steps;
use reins_agent::{AgentTool, PageView, ToolReply, Toolbox};
use reins_control::{ControlError, Effect, Group, Reply, tools};
use reins_core::{Outcome, Refusal};
use reins_models::Image;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

/// Tools by control, shown by the terminal.
pub(crate) struct Bridge<'a> {
    pub(crate) steps: &'a Steps,
    /// Whether there is a directory that uploads may take from.
    pub(crate) uploads: bool,
}

/// A terminal run has one session, and its files are for the person: the model needs neither.
const NOT_FOR_RUNS: &[&str] = &["save_pdf", "read_more", "wait_for_settle"];

/// Uploads need a directory that they may take from; without one the tool would only be refused.
fn offered(name: &str, uploads: bool) -> bool {
    !NOT_FOR_RUNS.contains(&name) && (uploads || name != "upload")
}

impl Toolbox for Bridge<'_> {
    fn tools(&self) -> Vec<AgentTool> {
        tools()
            .iter()
            .filter(|tool| tool.group == Group::Core && offered(tool.name, self.uploads))
            .map(|tool| {
                let mut schema = tool.input_schema();
                if let Some(properties) =
                    schema.get_mut("properties").and_then(Value::as_object_mut)
                {
                    properties.remove("session");
                    if !TAKES_TAB.contains(&tool.name) {
                        properties.remove("tab");
                    }
                }
                AgentTool {
                    name: tool.name.to_owned(),
                    description: tool.about.to_owned(),
                    schema: Value::Object(schema),
                    acts: tool.effect == Effect::Act,
                }
            })
            .collect()
    }

    async fn call(&self, name: &str, arguments: Value, cancel: &CancellationToken) -> ToolReply {
        match self.steps.call(name, arguments, cancel.clone()).await {
            Ok(reply) => reply_of(reply),
            Err(error) => error_of(&error),
        }
    }
}

/// Elsewhere the current tab is meant.
const TAKES_TAB: &[&str] = &["switch_tab", "close_tab"];

fn reply_of(reply: Reply) -> ToolReply {
    ToolReply {
        text: reply.text,
        page: reply.page.map(|page| PageView {
            tab: page.tab.to_string(),
            whole: page.whole,
            text: page.text,
            state: page.state,
        }),
        images: reply
            .pictures
            .into_iter()
            .map(|picture| Image { mime: picture.mime.into(), bytes: picture.bytes.into() })
            .collect(),
        outcome: reply.outcome.unwrap_or(Outcome::Completed),
        failed: false,
        moved: reply.moved,
        changed: reply.changed,
        verdict: reply.verdict.to_owned(),
        approved: reply.approved,
    }
}

/// An error before anything was sent is a refusal, with the error's own code.
fn error_of(error: &ControlError) -> ToolReply {
    let outcome = Outcome::Refused(Refusal::new(error.code(), error.to_string(), ""));
    ToolReply { outcome, ..ToolReply::error(format!("{}: {error}", error.code())) }
}

#[cfg(test)]
mod tests {
    use super::offered;

    #[test]
    fn upload_is_offered_where_there_is_something_to_take() {
        let listed = |uploads| {
            let names = reins_control::tools().iter().map(|tool| tool.name);
            names.filter(|name| offered(name, uploads)).collect::<Vec<_>>()
        };
        assert!(listed(true).contains(&"upload") && !listed(false).contains(&"upload"));
        assert!(listed(false).contains(&"click") && !listed(true).contains(&"save_pdf"));
    }
}
