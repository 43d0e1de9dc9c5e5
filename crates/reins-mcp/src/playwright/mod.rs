//! Our tools under the names and with the arguments of Playwright MCP, for agents written for it.
//!
//! An alias is a row of [`TABLE`]: which tool it becomes and how its arguments map. Words, types and
//! effects come from the tool itself, so the two cannot drift apart. There is no alias for running code,
//! neither in the page nor in our own process (S-154).

mod table;
mod translate;

use crate::calls::NotMade;
use crate::listing::{self, ToolChoice};
use crate::offer::Make;
use reins_control::{ControlError, Reply, tool};
use rmcp::model::Tool;
use serde_json::{Map, Value, json};
use table::TABLE;

type Arguments = Map<String, Value>;

/// Turns arguments of ours and those of their own form into calls.
type Translate = fn(Arguments, Arguments) -> Result<Plan, Wrong>;

/// One name of theirs.
pub(crate) struct Alias {
    pub(crate) name: &'static str,
    /// Ours that it becomes.
    becomes: &'static str,
    /// The capability that offers it: `core`, `testing`, `vision` or `pdf`.
    capability: &'static str,
    /// What the model reads, where our tool's words don't fit.
    about: Option<&'static str>,
    takes: &'static [Takes],
    plan: Translate,
}

/// An argument of theirs.
enum Takes {
    /// Ours under their name, with our type and words.
    As(&'static str, &'static str),
    /// Of a form of its own: name, JSON type, words, whether it is needed.
    Own(&'static str, Kind, &'static str, bool),
    /// Accepted and not listed: it says what the ref says already, or asks for what is done anyway.
    Unused(&'static str),
    /// Accepted and answered with a note: results come inline, no file is written where a model says.
    NoFile(&'static str),
}

/// The JSON type of an argument.
#[derive(Clone, Copy)]
enum Kind {
    Text,
    Number,
    Flag,
    OneOf(&'static [&'static str]),
    Fields,
}

/// What an alias does.
enum Plan {
    /// One call of the tool it becomes.
    Call(Arguments),
    /// Calls one after the other; the last one's answer counts.
    Calls(Vec<(&'static str, Arguments)>),
    /// A call on the tab that has this place in the list.
    OnTab(&'static str, usize),
    /// The list of tabs, numbered.
    Tabs,
}

/// Why arguments cannot be translated.
struct Wrong(String);

impl std::fmt::Debug for Alias {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Alias").field("name", &self.name).field("becomes", &self.becomes).finish()
    }
}

/// The aliases that a choice of tools offers.
pub(crate) fn offered(choice: &ToolChoice) -> impl Iterator<Item = &'static Alias> {
    TABLE.iter().filter(move |alias| {
        alias.tool().is_some_and(|tool| choice.has_alias(alias.capability, tool))
    })
}

impl Alias {
    pub(crate) fn tool(&self) -> Option<&'static reins_control::Tool> {
        tool(self.becomes)
    }

    /// In MCP form.
    pub(crate) fn form(&'static self) -> Tool {
        let Some(tool) = self.tool() else {
            return Tool::new(self.name, "", std::sync::Arc::new(Map::new()));
        };
        let mut form = listing::form(tool, self.schema(tool));
        form.name = self.name.into();
        form.description = Some(self.about.unwrap_or(tool.about).into());
        form
    }

    fn schema(&self, tool: &reins_control::Tool) -> Arguments {
        let ours = tool.input_schema();
        let needed: Vec<&str> = ours
            .get("required")
            .and_then(Value::as_array)
            .map(|names| names.iter().filter_map(Value::as_str).collect())
            .unwrap_or_default();
        let (mut properties, mut required) = (Map::new(), Vec::new());
        for takes in self.takes {
            match takes {
                Takes::As(theirs, name) => {
                    let property = ours.get("properties").and_then(|all| all.get(*name));
                    properties.insert((*theirs).into(), property.cloned().unwrap_or(json!({})));
                    if needed.contains(name) {
                        required.push(json!(theirs));
                    }
                }
                Takes::Own(theirs, kind, about, is_needed) => {
                    let mut property = kind.schema();
                    if !about.is_empty() {
                        property["description"] = json!(about);
                    }
                    properties.insert((*theirs).into(), property);
                    if *is_needed {
                        required.push(json!(theirs));
                    }
                }
                Takes::Unused(_) | Takes::NoFile(_) => {}
            }
        }
        let mut schema = Map::from_iter([
            ("type".to_owned(), json!("object")),
            ("properties".to_owned(), Value::Object(properties)),
        ]);
        if !required.is_empty() {
            schema.insert("required".into(), Value::Array(required));
        }
        schema
    }

    /// Makes the calls.
    pub(crate) async fn call(
        &'static self,
        arguments: Arguments,
        make: &Make<'_>,
    ) -> Result<Reply, NotMade> {
        let (ours, own, notes) = self.read(arguments)?;
        let plan = (self.plan)(ours, own).map_err(|wrong| self.wrong(wrong.0))?;
        let mut reply = match plan {
            Plan::Call(arguments) => self.make(self.becomes, arguments, make).await?,
            Plan::Calls(calls) => {
                let mut last = Reply::default();
                for (name, arguments) in calls {
                    last = self.make(name, arguments, make).await?;
                    if last.failed() {
                        break;
                    }
                }
                last
            }
            Plan::OnTab(name, index) => {
                let tabs = self.make("list_tabs", Map::new(), make).await?;
                let id =
                    tabs.facts.get("tabs").and_then(|tabs| tabs.get(index)?.get("tab").cloned());
                let Some(id) = id else {
                    let reason = format!("no tab has the index {index}; the list counts from 0");
                    return Err(self.wrong(reason).into());
                };
                self.make(name, Map::from_iter([("tab".to_owned(), id)]), make).await?
            }
            Plan::Tabs => translate::numbered(self.make("list_tabs", Map::new(), make).await?),
        };
        if reply.outcome.is_some() {
            reply.text = in_their_words(&reply.text);
        }
        for note in notes {
            if !reply.text.is_empty() {
                reply.text.push('\n');
            }
            reply.text.push_str(&note);
        }
        Ok(reply)
    }

    async fn make(
        &self,
        name: &str,
        arguments: Arguments,
        make: &Make<'_>,
    ) -> Result<Reply, NotMade> {
        let tool = tool(name).ok_or_else(|| ControlError::UnknownTool(name.to_owned()))?;
        make(tool, Value::Object(arguments)).await
    }

    /// Parts arguments into those of our tool and those to be translated.
    fn read(
        &self,
        arguments: Arguments,
    ) -> Result<(Arguments, Arguments, Vec<String>), ControlError> {
        let (mut ours, mut own, mut notes) = (Map::new(), Map::new(), Vec::new());
        for (name, value) in arguments {
            if value.is_null() {
                continue;
            }
            let takes = self.takes.iter().find(|takes| takes.name() == name).or_else(|| {
                // Versions before the middle of 2026 called a target `ref`.
                let newer = match name.as_str() {
                    "ref" => "target",
                    "startRef" => "startTarget",
                    "endRef" => "endTarget",
                    _ => return None,
                };
                self.takes.iter().find(|takes| takes.name() == newer)
            });
            match takes {
                Some(Takes::As(_, name)) => drop(ours.insert((*name).to_owned(), value)),
                Some(Takes::Own(name, ..)) => drop(own.insert((*name).to_owned(), value)),
                Some(Takes::Unused(_)) => {}
                Some(Takes::NoFile(name)) => notes.push(format!(
                    "({name} was not used: results come here, and no file is written where a call says)"
                )),
                // Where a session has a name for its tabs, this still names one.
                None if name == "tab" => drop(ours.insert(name, value)),
                None => return Err(self.wrong(format!("there is no argument '{name}'"))),
            }
        }
        let missing = self.takes.iter().find_map(|takes| match takes {
            Takes::Own(name, _, _, true) if !own.contains_key(*name) => Some(*name),
            _ => None,
        });
        match missing {
            Some(name) => Err(self.wrong(format!("{name} is missing"))),
            None => Ok((ours, own, notes)),
        }
    }

    fn wrong(&self, reason: String) -> ControlError {
        let names: Vec<&str> = self
            .takes
            .iter()
            .filter(|takes| matches!(takes, Takes::As(..) | Takes::Own(..)))
            .map(Takes::name)
            .collect();
        let hint = if names.is_empty() {
            "It takes no arguments".to_owned()
        } else {
            format!("It takes {}", names.join(", "))
        };
        ControlError::Arguments { tool: self.name, reason, hint }
    }
}

impl Takes {
    fn name(&self) -> &'static str {
        match self {
            Self::As(name, _) | Self::Own(name, ..) | Self::Unused(name) | Self::NoFile(name) => {
                name
            }
        }
    }
}

impl Kind {
    fn schema(self) -> Value {
        match self {
            Self::Text => json!({"type": "string"}),
            Self::Number => json!({"type": "number"}),
            Self::Flag => json!({"type": "boolean"}),
            Self::OneOf(words) => json!({"type": "string", "enum": words}),
            Self::Fields => json!({"type": "array", "items": {
                "type": "object",
                "properties": {
                    "target": {"type": "string"}, "value": {"type": "string"},
                    "name": {"type": "string"}, "type": {"type": "string"},
                },
                "required": ["target", "value"],
            }}),
        }
    }
}

/// Our tools' names in a text of ours, as this client knows them.
pub(crate) fn in_their_words(text: &str) -> String {
    const WORDS: &[(&str, &str)] = &[
        ("with snapshot", "with browser_snapshot"),
        ("Call snapshot", "Call browser_snapshot"),
        ("Call navigate", "Call browser_navigate"),
        ("with handle_dialog", "with browser_handle_dialog"),
        ("with read_more", "with browser_read_more"),
        ("list_tabs shows", "browser_tabs with action list shows"),
    ];
    WORDS.iter().fold(text.to_owned(), |text, (ours, theirs)| text.replace(ours, theirs))
}

#[cfg(test)]
mod tests;
