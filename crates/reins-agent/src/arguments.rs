//! Reads the arguments of a call forgivingly. Small models garble them in a handful of ways that
//! leave no doubt about what is meant; those are put right, everything else is told to the model.

use serde_json::{Map, Value};
use thiserror::Error;

/// What is wrong with arguments, and how the tool is called rightly.
#[derive(Debug, Error, PartialEq, Eq)]
pub(crate) enum ArgumentError {
    #[error("the arguments are not valid JSON. {example}")]
    NotJson { example: String },
    #[error("the arguments must be an object. {example}")]
    NotAnObject { example: String },
    #[error("the argument \"{name}\" is missing. {example}")]
    Missing { name: String, example: String },
}

/// Other names that models use for the arguments of our tools.
const ALIASES: &[(&str, &[&str])] = &[
    ("ref", &["element", "element_ref", "elementRef", "id", "target", "selector", "refs", "node"]),
    ("text", &["value", "content", "input", "string", "query"]),
    ("url", &["link", "address", "href", "uri"]),
    ("key", &["keys", "text", "value"]),
    ("options", &["option", "values", "value", "text", "label", "labels"]),
];

/// Reads arguments against a schema. The error is for the model.
pub(crate) fn read(tool: &str, text: &str, schema: &Value) -> Result<Value, ArgumentError> {
    let empty = Map::new();
    let properties = schema["properties"].as_object().unwrap_or(&empty);
    let required: Vec<&str> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let example = || example(tool, properties, &required);
    let value = parse(text).ok_or_else(|| ArgumentError::NotJson { example: example() })?;
    let mut fields = match (value, required.as_slice()) {
        (Value::Object(fields), _) => fields,
        (Value::Null, _) => Map::new(),
        // Only one thing can be meant.
        (other, [only]) => Map::from_iter([((*only).to_owned(), other)]),
        _ => return Err(ArgumentError::NotAnObject { example: example() }),
    };
    // {"arguments": {…}} within the arguments
    if let (1, Some(Value::Object(inner))) = (fields.len(), fields.get("arguments"))
        && !properties.contains_key("arguments")
    {
        fields = inner.clone();
    }
    rename(&mut fields, properties);
    fields.retain(|_, value| !value.is_null());
    for (name, value) in &mut fields {
        if let Some(schema) = properties.get(name) {
            coerce(name, value, schema);
        }
    }
    match required.iter().find(|name| !fields.contains_key(**name)) {
        Some(name) => Err(ArgumentError::Missing { name: (*name).to_owned(), example: example() }),
        None => Ok(Value::Object(fields)),
    }
}

fn parse(text: &str) -> Option<Value> {
    let text = text.trim();
    if text.is_empty() {
        return Some(Value::Object(Map::new()));
    }
    let value = serde_json::from_str(text).ok().or_else(|| repair(text))?;
    match value {
        // Encoded twice, or a bare word where an object belongs.
        Value::String(inner) => match serde_json::from_str(&inner) {
            Ok(inner @ Value::Object(_)) => Some(inner),
            _ => Some(Value::String(inner)),
        },
        Value::Array(mut list) if list.len() == 1 && list[0].is_object() => list.pop(),
        other => Some(other),
    }
}

/// Text around the object, a forgotten brace, single quotes, a comma too many.
fn repair(text: &str) -> Option<Value> {
    let start = text.find('{')?;
    let inner = match text.rfind('}') {
        Some(end) if end > start => &text[start..=end],
        _ => &text[start..],
    };
    let quoted = if inner.contains('"') { inner.to_owned() } else { inner.replace('\'', "\"") };
    let tidy = without_stray_commas(&quoted);
    ["", "}", "\"}", "}}"].iter().find_map(|end| serde_json::from_str(&format!("{tidy}{end}")).ok())
}

fn without_stray_commas(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let (mut quoted, mut escaped) = (false, false);
    for (at, c) in text.char_indices() {
        let closes = || text[at + c.len_utf8()..].trim_start().starts_with(['}', ']']);
        if !(c == ',' && !quoted && closes()) {
            out.push(c);
        }
        if c == '"' && !escaped {
            quoted = !quoted;
        }
        escaped = c == '\\' && !escaped;
    }
    out
}

fn rename(fields: &mut Map<String, Value>, properties: &Map<String, Value>) {
    for (name, aliases) in ALIASES {
        if !properties.contains_key(*name) || fields.contains_key(*name) {
            continue;
        }
        let alias = aliases
            .iter()
            .find(|alias| fields.contains_key(**alias) && !properties.contains_key(**alias));
        if let Some(value) = alias.and_then(|alias| fields.remove(*alias)) {
            fields.insert((*name).to_owned(), value);
        }
    }
}

fn coerce(name: &str, value: &mut Value, schema: &Value) {
    if name == "ref" || name.ends_with("_ref") || matches!(name, "from" | "to") {
        if let Some(plain) = plain_ref(value) {
            *value = Value::String(plain);
        }
        return;
    }
    if let (Some(options), Some(given)) = (schema["enum"].as_array(), value.as_str()) {
        let meant = options.iter().find(|option| {
            option.as_str().is_some_and(|option| option.eq_ignore_ascii_case(given.trim()))
        });
        if let Some(meant) = meant {
            *value = meant.clone();
        }
        return;
    }
    let new = match (kind(schema), &*value) {
        ("string", Value::Number(number)) => Some(Value::String(number.to_string())),
        ("string", Value::Bool(flag)) => Some(Value::String(flag.to_string())),
        ("integer" | "number", Value::String(text)) => {
            serde_json::from_str(text.trim()).ok().filter(Value::is_number)
        }
        ("integer", Value::Number(number)) => number
            .as_f64()
            .filter(|number| number.fract() == 0.0 && number.abs() < 1e15)
            .map(|number| Value::from(number as i64)),
        ("boolean", Value::String(text)) => match text.trim().to_ascii_lowercase().as_str() {
            "true" | "yes" | "1" => Some(Value::Bool(true)),
            "false" | "no" | "0" => Some(Value::Bool(false)),
            _ => None,
        },
        ("array", Value::String(text)) => Some(
            serde_json::from_str(text)
                .ok()
                .filter(Value::is_array)
                .unwrap_or_else(|| Value::Array(vec![Value::String(text.clone())])),
        ),
        ("array", Value::Number(_) | Value::Object(_)) => Some(Value::Array(vec![value.clone()])),
        _ => None,
    };
    if let Some(new) = new {
        *value = new;
    }
}

fn kind(schema: &Value) -> &str {
    match &schema["type"] {
        Value::String(kind) => kind,
        Value::Array(kinds) => {
            kinds.iter().filter_map(Value::as_str).find(|kind| *kind != "null").unwrap_or_default()
        }
        _ => "",
    }
}

/// `e12` out of `[ref=e12]`, `ref=e12`, `@e12`, `12`, or a whole line of a snapshot.
fn plain_ref(value: &Value) -> Option<String> {
    let text = match value {
        Value::Number(number) => return number.as_u64().map(|number| format!("e{number}")),
        Value::String(text) => text.trim(),
        _ => return None,
    };
    let named = text.rfind("ref=").map(|at| &text[at + "ref=".len()..]);
    let token = |text: &str| {
        let text = text.trim_start_matches(['[', '@', '#', '(', '"', '\'', ' ']);
        let digits = text.strip_prefix(['e', 'E']).unwrap_or(text);
        let length = digits.bytes().take_while(u8::is_ascii_digit).count();
        let rest = &digits[length..];
        let ends = rest.is_empty() || rest.starts_with([']', ')', '"', '\'', ' ', ',', ':']);
        (length > 0 && ends).then(|| format!("e{}", &digits[..length]))
    };
    match named {
        Some(named) => token(named),
        None => {
            let text = text.strip_prefix("ref").unwrap_or(text).trim_start_matches([':', ' ']);
            token(text).filter(|_| !text.contains(' ') || text.starts_with(['e', 'E', '[']))
        }
    }
}

/// How the tool is called rightly.
fn example(tool: &str, properties: &Map<String, Value>, required: &[&str]) -> String {
    let fields: Map<String, Value> = required
        .iter()
        .map(|name| {
            let value = match (*name, kind(&properties[*name])) {
                ("ref" | "from" | "to", _) => Value::from("e12"),
                ("url", _) => Value::from("https://…"),
                (_, "integer" | "number") => Value::from(1),
                (_, "boolean") => Value::from(true),
                (_, "array") => Value::from(vec!["…"]),
                _ => Value::from("…"),
            };
            ((*name).to_owned(), value)
        })
        .collect();
    format!("Call {tool} like this: {}", Value::Object(fields))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn schema() -> Value {
        json!({"properties": {
            "ref": {"type": "string"}, "text": {"type": "string"},
            "count": {"type": ["integer", "null"]}, "enter": {"type": "boolean"},
            "button": {"type": "string", "enum": ["left", "right"]},
            "options": {"type": "array", "items": {"type": "string"}},
        }, "required": ["ref"]})
    }

    fn args(text: &str) -> Value {
        read("click", text, &schema()).expect(text)
    }

    #[test]
    fn refs_in_all_spellings() {
        for spelling in [
            "\"e12\"",
            "\"[ref=e12]\"",
            "\"ref=e12\"",
            "12",
            "\"12\"",
            "\" e12 \"",
            "\"@e12\"",
            "\"#e12\"",
            "\"[e12]\"",
            "\"ref: e12\"",
            "\"E12\"",
            "\"e12]\"",
            "\"button \\\"Sign in\\\" [ref=e12]\"",
            "\"- link \\\"a ref=e5\\\" [ref=e12] [submit]\"",
        ] {
            let text = format!("{{\"ref\": {spelling}}}");
            assert_eq!(args(&text), json!({"ref": "e12"}), "{spelling}");
        }
        for other in ["\"Sign in\"", "\"12 items\"", "\"example\"", "\"e12x\""] {
            let text = format!("{{\"ref\": {other}}}");
            assert_eq!(args(&text)["ref"].to_string(), other, "left as it is");
        }
    }

    #[test]
    fn garbled_but_clear() {
        for text in [
            "{\"ref\":\"e1\"}",
            "\"{\\\"ref\\\":\\\"e1\\\"}\"",
            "[{\"ref\":\"e1\"}]",
            "\"e1\"",
            "{'ref': 'e1'}",
            "{\"ref\":\"e1\",}",
            "{\"ref\":\"e1\"",
            "{\"ref\":\"e1",
            "```json\n{\"ref\":\"e1\"}\n```",
            "{\"element\":\"e1\"}",
            "{\"id\":\"e1\", \"text\": null}",
            "{\"arguments\":{\"ref\":\"e1\"}}",
        ] {
            assert_eq!(args(text), json!({"ref": "e1"}), "{text}");
        }
    }

    #[test]
    fn types_are_put_right() {
        let text =
            r#"{"ref":"e1","text":5,"count":"2","enter":"true","button":"LEFT","options":"a"}"#;
        assert_eq!(
            args(text),
            json!({"ref":"e1","text":"5","count":2,"enter":true,"button":"left","options":["a"]})
        );
        let text = r#"{"ref":"e1","options":"[\"a\",\"b\"]","count":2.0,"text":"a, }"}"#;
        assert_eq!(args(text), json!({"ref":"e1","options":["a","b"],"count":2,"text":"a, }"}));
    }

    #[test]
    fn the_rest_is_told_with_an_example() {
        for (text, wrong) in [
            ("", "\"ref\" is missing"),
            ("{}", "\"ref\" is missing"),
            ("{\"text\": \"x\"}", "\"ref\" is missing"),
            ("click e1 please", "not valid JSON"),
            ("{{{", "not valid JSON"),
        ] {
            let error = read("click", text, &schema()).expect_err(text).to_string();
            assert!(error.contains(wrong), "{error}");
            assert!(error.ends_with(r#"Call click like this: {"ref":"e12"}"#), "{error}");
        }
        let two = json!({"properties": {"a": {}, "b": {}}, "required": ["a", "b"]});
        let error = read("f", "\"x\"", &two).expect_err("ambiguous").to_string();
        assert!(error.contains("must be an object"), "{error}");
        assert_eq!(read("snapshot", "", &json!({})), Ok(json!({})));
    }
}
