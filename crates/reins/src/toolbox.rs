//! The agent's tools: the same list and the same street as every other door.

use crate::steps::Steps;
use reins_agent::{AgentTool, Commitment, PageView, StepLabel, ToolReply, Toolbox};
use reins_control::{ControlError, Effect, Group, Reply, Tool, tools};
use reins_core::{Key, KeyChord, Outcome, Refusal};
use reins_models::Image;
use serde_json::{Map, Value};
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
                let schema = run_schema(tool);
                AgentTool {
                    name: tool.name.to_owned(),
                    description: tool.about.to_owned(),
                    schema: Value::Object(schema),
                    acts: tool.effect == Effect::Act,
                }
            })
            .collect()
    }

    fn label(&self, _: &str, arguments: &Value) -> StepLabel {
        let mut told = arguments.clone();
        // Whether it is a password is the page's to know, and it may say so too late.
        if let Some(text) = told.get_mut("text") {
            *text = Value::from("[redacted]");
        }
        let element = self.steps.shown(arguments).map(|element| element.words);
        StepLabel { arguments: told.to_string(), element }
    }

    async fn commitment(&self, name: &str, arguments: &Value) -> Option<Commitment> {
        let element = match name {
            "click" => self.steps.shown(arguments)?,
            _ if enters(name, arguments) => self.steps.entered(arguments).await?,
            _ => return None,
        };
        Some(Commitment { target: element.sends?, control: element.words })
    }

    fn deletes(&self, name: &str, arguments: &Value) -> bool {
        name == "click" && self.steps.shown(arguments).is_some_and(|element| element.deletes)
    }

    fn heard(&self, words: &str) {
        self.steps.also_said(words);
    }

    async fn call(&self, name: &str, arguments: Value, cancel: &CancellationToken) -> ToolReply {
        match self.steps.call(name, arguments, cancel.clone()).await {
            Ok(reply) => reply_of(reply),
            Err(error) => error_of(&error),
        }
    }
}

/// Whether a call presses Enter, which sends the form that the field belongs to.
fn enters(name: &str, arguments: &Value) -> bool {
    let text = |key: &str| arguments.get(key).and_then(Value::as_str).unwrap_or_default();
    let says = |key: &str| arguments.get(key).and_then(Value::as_bool) == Some(true);
    match name {
        "type" => says("submit") || (says("keys") && text("text").contains(['\n', '\r'])),
        "press_key" => text("key").parse().is_ok_and(|chord: KeyChord| {
            matches!(chord.key, Key::Named("Enter", ..) | Key::Character('\n' | '\r'))
        }),
        _ => false,
    }
}

/// A tool's arguments without what a run decides itself: its session, and mostly the tab.
pub(crate) fn run_schema(tool: &Tool) -> Map<String, Value> {
    let mut schema = tool.input_schema();
    if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        properties.remove("session");
        if !TAKES_TAB.contains(&tool.name) {
            properties.remove("tab");
        }
    }
    schema
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
        place: reply.facts.get("url").and_then(Value::as_str).map(str::to_owned),
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
    use super::{enters, offered};
    use serde_json::json;

    /// W-116: Enter sends a form as a click on its button does.
    #[test]
    fn w116_enter_is_known_in_every_spelling() {
        for (name, arguments, expected) in [
            ("press_key", json!({"key": "Enter"}), true),
            ("press_key", json!({"key": "Control+return", "ref": "e1"}), true),
            ("press_key", json!({"key": "Tab"}), false),
            ("type", json!({"ref": "e1", "text": "a", "submit": true}), true),
            ("type", json!({"ref": "e1", "text": "a\n", "keys": true}), true),
            ("type", json!({"ref": "e1", "text": "a\n"}), false),
            ("click", json!({"ref": "e1", "submit": true}), false),
        ] {
            assert_eq!(enters(name, &arguments), expected, "{name} {arguments}");
        }
    }

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
