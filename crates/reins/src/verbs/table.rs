//! Which verb is which tool, and which of its arguments stand without a name.

use super::Common;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Arg, ArgAction, ArgMatches, Args as _, Command, FromArgMatches, Subcommand};
use reins_control::{Tool, tool};
use serde_json::{Map, Value, json};
use std::path::PathBuf;

/// One verb.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) verb: &'static str,
    pub(crate) tool: &'static str,
    /// Arguments by their place; the last may be a list.
    places: &'static [&'static str],
}

const fn entry(verb: &'static str, tool: &'static str, places: &'static [&'static str]) -> Entry {
    Entry { verb, tool, places }
}

/// Every tool's verb, in the order of the help.
pub(crate) const TABLE: &[Entry] = &[
    entry("open", "navigate", &["url"]),
    entry("snapshot", "snapshot", &[]),
    entry("text", "get_page_text", &["part"]),
    entry("find", "find_in_page", &["text"]),
    entry("click", "click", &["ref"]),
    entry("type", "type", &["ref", "text"]),
    entry("fill", "fill_form", &["fields"]),
    entry("select", "select_option", &["ref", "options"]),
    entry("check", "check", &["ref", "checked"]),
    entry("press", "press_key", &["key"]),
    entry("hover", "hover", &["ref"]),
    entry("drag", "drag", &["from", "to"]),
    entry("scroll", "scroll", &["to"]),
    entry("upload", "upload", &["paths"]),
    entry("back", "go_back", &[]),
    entry("forward", "go_forward", &[]),
    entry("reload", "reload", &[]),
    entry("tabs", "list_tabs", &[]),
    entry("new-tab", "open_tab", &["url"]),
    entry("tab", "switch_tab", &["tab"]),
    entry("close-tab", "close_tab", &["tab"]),
    entry("wait", "wait_for", &["text"]),
    entry("settle", "wait_for_settle", &[]),
    entry("dialog", "handle_dialog", &["accept", "text"]),
    entry("screenshot", "screenshot", &["ref"]),
    entry("pdf", "save_pdf", &[]),
    entry("more", "read_more", &["uri", "offset"]),
    entry("console", "console_messages", &["level"]),
    entry("network", "network_requests", &["number"]),
    entry("emulate", "emulate", &[]),
    entry("verify-text", "verify_text", &["text"]),
    entry("verify-element", "verify_element", &["role", "name"]),
    entry("verify-list", "verify_list", &["items"]),
    entry("verify-value", "verify_value", &["ref", "value"]),
    entry("locator", "locator", &["ref"]),
];

/// A verb with its arguments, as typed.
#[derive(Debug)]
pub(crate) struct Verb {
    pub(crate) entry: &'static Entry,
    pub(crate) arguments: Map<String, Value>,
    pub(crate) common: Common,
    /// Where a picture goes.
    pub(crate) out: Option<PathBuf>,
}

/// Verbs come after the other subcommands in the help.
const AFTER_THE_REST: usize = 1_000;

/// The name of the argument that says where a picture goes.
const OUT: &str = "out-file";

impl Subcommand for Verb {
    fn augment_subcommands(mut command: Command) -> Command {
        for (at, (entry, tool)) in verbs().enumerate() {
            command = command.subcommand(made(entry, tool).display_order(AFTER_THE_REST + at));
        }
        command
    }

    fn augment_subcommands_for_update(command: Command) -> Command {
        Self::augment_subcommands(command)
    }

    fn has_subcommand(name: &str) -> bool {
        verbs().any(|(entry, _)| entry.verb == name)
    }
}

impl FromArgMatches for Verb {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let found = matches.subcommand().and_then(|(name, matches)| {
            let (entry, tool) = verbs().find(|(entry, _)| entry.verb == name)?;
            Some((entry, tool, matches))
        });
        let Some((entry, tool, matches)) = found else {
            return Err(clap::Error::new(clap::error::ErrorKind::InvalidSubcommand));
        };
        let mut arguments = Map::new();
        for (name, property) in properties(tool) {
            if let Some(value) = value(matches, &name, &property) {
                arguments.insert(name, value);
            }
        }
        let out = matches.try_get_one::<PathBuf>(OUT).ok().flatten().cloned();
        Ok(Self { entry, arguments, common: Common::from_arg_matches(matches)?, out })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

fn verbs() -> impl Iterator<Item = (&'static Entry, &'static Tool)> {
    TABLE.iter().filter_map(|entry| tool(entry.tool).map(|tool| (entry, tool)))
}

/// A tool's arguments, those of the session aside.
fn properties(tool: &Tool) -> Vec<(String, Value)> {
    match tool.input_schema().remove("properties") {
        Some(Value::Object(properties)) => {
            properties.into_iter().filter(|(name, _)| name != "session").collect()
        }
        _ => Vec::new(),
    }
}

/// The subcommand of one verb.
fn made(entry: &'static Entry, tool: &'static Tool) -> Command {
    let schema = tool.input_schema();
    let required: Vec<&str> = schema
        .get("required")
        .and_then(Value::as_array)
        .map(|names| names.iter().filter_map(Value::as_str).collect())
        .unwrap_or_default();
    let mut command = Command::new(entry.verb).about(tool.about.trim_end_matches('.'));
    let mut properties = properties(tool);
    for place in entry.places {
        if let Some(at) = properties.iter().position(|(name, _)| name == place) {
            let (name, property) = properties.remove(at);
            let arg = shaped(Arg::new(name.clone()), &name, &property);
            // "check e3" means what it says.
            command = command.arg(match kind(&property) {
                "boolean" => arg.default_value("true"),
                _ => arg.required(required.contains(place)),
            });
        }
    }
    for (name, property) in properties {
        let long = name.replace('_', "-");
        let mut arg = Arg::new(name.clone()).long(long);
        arg = if kind(&property) == "boolean" && !required.contains(&name.as_str()) {
            described(arg, &property)
                .num_args(0..=1)
                .require_equals(true)
                .default_missing_value("true")
                .value_parser(clap::value_parser!(bool))
                .hide_possible_values(true)
        } else {
            shaped(arg, &name, &property).required(required.contains(&name.as_str()))
        };
        command = command.arg(arg);
    }
    if entry.tool == "screenshot" {
        command = command.arg(
            Arg::new(OUT)
                .long("out")
                .value_name("FILE")
                .value_parser(clap::value_parser!(PathBuf))
                .help("where the picture goes (default: a file in the data directory)"),
        );
    }
    Common::augment_args(command)
}

fn kind(property: &Value) -> &str {
    property.get("type").and_then(Value::as_str).unwrap_or("string")
}

fn described(arg: Arg, property: &Value) -> Arg {
    match property.get("description").and_then(Value::as_str) {
        Some(about) => arg.help(about.to_owned()),
        None => arg,
    }
}

/// An argument with the type of its schema.
fn shaped(arg: Arg, name: &str, property: &Value) -> Arg {
    let arg = described(arg, property).value_name(name.to_uppercase());
    let words = property.get("enum").and_then(Value::as_array).map(|words| {
        words.iter().filter_map(Value::as_str).map(str::to_owned).collect::<Vec<String>>()
    });
    match (kind(property), words) {
        (_, Some(words)) => arg.value_parser(PossibleValuesParser::new(words)),
        ("integer", _) => arg.value_parser(clap::value_parser!(i64)).allow_negative_numbers(true),
        ("number", _) => arg.value_parser(clap::value_parser!(f64)).allow_negative_numbers(true),
        ("boolean", _) => arg.value_parser(clap::builder::BoolishValueParser::new()),
        ("array", _) if holds_objects(property) => {
            arg.value_name("REF=VALUE").action(ArgAction::Append).num_args(1..).value_parser(
                clap::builder::NonEmptyStringValueParser::new().try_map(|text| {
                    match text.split_once('=') {
                        Some((target, _)) if !target.is_empty() => Ok(text),
                        _ => Err("write it as REF=VALUE, such as e12=Berlin"),
                    }
                }),
            )
        }
        ("array", _) => arg.action(ArgAction::Append).num_args(1..),
        // What begins with another dash stands behind `--`, so that flags are flags wherever they stand.
        _ => arg.allow_negative_numbers(true),
    }
}

fn holds_objects(property: &Value) -> bool {
    property.get("items").and_then(|items| items.get("type")).and_then(Value::as_str)
        == Some("object")
}

/// What was typed for an argument, in the form the tool takes.
fn value(matches: &ArgMatches, name: &str, property: &Value) -> Option<Value> {
    matches.value_source(name)?;
    let words = property.get("enum").is_some();
    match kind(property) {
        "integer" if !words => matches.get_one::<i64>(name).map(|number| json!(number)),
        "number" if !words => matches.get_one::<f64>(name).map(|number| json!(number)),
        "boolean" => matches.get_one::<bool>(name).map(|flag| json!(flag)),
        "array" => {
            let texts = matches.get_many::<String>(name)?;
            Some(Value::Array(if holds_objects(property) {
                texts.filter_map(|text| text.split_once('=')).map(field).collect()
            } else {
                texts.map(|text| json!(text)).collect()
            }))
        }
        _ => matches.get_one::<String>(name).map(|text| json!(text)),
    }
}

fn field((target, value): (&str, &str)) -> Value {
    json!({"ref": target, "value": value})
}

#[cfg(test)]
mod tests {
    use super::*;
    use reins_control::tools;

    /// No tool is without a verb, and no argument is out of reach.
    #[test]
    fn every_tool_has_a_verb_with_all_its_arguments() {
        let mut command = Verb::augment_subcommands(Command::new("reins"));
        command.build();
        for tool in tools() {
            let entry = TABLE.iter().find(|entry| entry.tool == tool.name);
            let entry = entry.unwrap_or_else(|| panic!("{} has no verb", tool.name));
            for place in entry.places {
                let known = properties(tool).iter().any(|(name, _)| name == place);
                assert!(known, "{} has no {place}", tool.name);
            }
            let sub = command.find_subcommand(entry.verb).unwrap();
            for (name, _) in properties(tool) {
                let known = sub.get_arguments().any(|arg| arg.get_id() == name.as_str());
                assert!(known, "{}: {name}", entry.verb);
            }
        }
        command.debug_assert();
    }

    fn parsed(line: &[&str]) -> (Map<String, Value>, &'static str) {
        let command = Verb::augment_subcommands(Command::new("reins"));
        let matches = command.try_get_matches_from(line).unwrap_or_else(|error| panic!("{error}"));
        let verb = Verb::from_arg_matches(&matches).unwrap();
        (verb.arguments, verb.entry.tool)
    }

    #[test]
    fn what_is_typed_becomes_the_tools_arguments() {
        let cases: &[(&[&str], &str, Value)] = &[
            (&["reins", "open", "a.example"], "navigate", json!({"url": "a.example"})),
            (&["reins", "click", "e3", "--count", "2"], "click", json!({"ref": "e3", "count": 2})),
            (
                &["reins", "type", "e3", "--submit", "--", "-5 °C"],
                "type",
                json!({"ref": "e3", "text": "-5 °C", "submit": true}),
            ),
            (
                &["reins", "select", "e3", "Red", "Blue"],
                "select_option",
                json!({"ref": "e3", "options": ["Red", "Blue"]}),
            ),
            (&["reins", "check", "e3", "false"], "check", json!({"ref": "e3", "checked": false})),
            (
                &["reins", "scroll", "up", "--pixels", "300"],
                "scroll",
                json!({"to": "up", "pixels": 300}),
            ),
            (
                &["reins", "fill", "e1=Ada", "e2=a=b"],
                "fill_form",
                json!({"fields": [{"ref": "e1", "value": "Ada"}, {"ref": "e2", "value": "a=b"}]}),
            ),
            (&["reins", "check", "e3"], "check", json!({"ref": "e3", "checked": true})),
            (&["reins", "dialog", "false"], "handle_dialog", json!({"accept": false})),
            (&["reins", "wait", "--seconds", "0.5"], "wait_for", json!({"seconds": 0.5})),
            (&["reins", "snapshot", "--full"], "snapshot", json!({"full": true})),
        ];
        for (line, tool, arguments) in cases {
            assert_eq!(parsed(line), (arguments.as_object().unwrap().clone(), *tool), "{line:?}");
        }
    }
}
