//! Finds calls in what a model wrote between its markers.

use serde_json::{Map, Value};

/// A call that was written as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TextCall {
    pub(crate) name: String,
    pub(crate) arguments: String,
}

/// Small models now and then forget the last braces.
const FORGOTTEN_BRACES: usize = 3;

/// The calls in a text that should be nothing but calls; `None` if it is something else, such as
/// JSON that belongs to the answer.
pub(crate) fn calls(text: &str, tools: &[String]) -> Option<Vec<TextCall>> {
    let text = text.trim();
    if text.starts_with("<function=") {
        return tagged(text).map(|call| vec![call]);
    }
    let mut values = values(text)?;
    if let [Value::Array(list)] = values.as_mut_slice() {
        values = std::mem::take(list);
    }
    let calls: Option<Vec<_>> = values.into_iter().map(|value| call(value, tools)).collect();
    calls.filter(|calls| !calls.is_empty())
}

/// One JSON value, or several one after another.
fn values(text: &str) -> Option<Vec<Value>> {
    let all = |text: &str| serde_json::Deserializer::from_str(text).into_iter().collect();
    (0..=FORGOTTEN_BRACES).find_map(|missing| {
        let closed = format!("{text}{}", "}".repeat(missing));
        let values: Result<Vec<Value>, _> = all(&closed);
        values.ok()
    })
}

fn call(value: Value, tools: &[String]) -> Option<TextCall> {
    let Value::Object(mut fields) = value else {
        return None;
    };
    // {"type": "function", "function": {"name", "arguments"}}
    if let Some(Value::Object(inner)) = fields.get("function") {
        fields = inner.clone();
    }
    let known = |name: &str| tools.iter().any(|tool| tool == name);
    for key in ["name", "tool", "tool_name", "function", "action"] {
        let Some(Value::String(name)) = fields.get(key) else {
            continue;
        };
        let name = name.clone();
        let given = ["arguments", "parameters", "args", "input", "params"]
            .iter()
            .find_map(|key| fields.get(*key).map(|value| (*key, value.clone())));
        return match given {
            Some((_, arguments)) if known(&name) => {
                Some(TextCall { name, arguments: text(arguments) })
            }
            // A tool that does not exist, called in the usual form: better told than shown.
            Some((_, Value::Object(arguments))) if key == "name" && fields.len() == 2 => {
                Some(TextCall { name, arguments: Value::Object(arguments).to_string() })
            }
            None if known(&name) => {
                fields.remove(key);
                Some(TextCall { name, arguments: Value::Object(fields).to_string() })
            }
            _ => None,
        };
    }
    // {"click": {"ref": "e1"}}
    let (name, arguments) = fields.iter().next()?;
    let single = fields.len() == 1 && known(name) && arguments.is_object();
    single.then(|| TextCall { name: name.clone(), arguments: arguments.to_string() })
}

fn text(arguments: Value) -> String {
    match arguments {
        Value::String(text) => text,
        Value::Null => "{}".to_owned(),
        other => other.to_string(),
    }
}

/// `<function=click>{"ref":"e1"}</function>`, or with `<parameter=ref>e1</parameter>` inside.
fn tagged(text: &str) -> Option<TextCall> {
    let (name, rest) = text.strip_prefix("<function=")?.split_once('>')?;
    let inner = rest.split("</function>").next()?.trim();
    let arguments = if inner.starts_with('{') {
        inner.to_owned()
    } else {
        let mut fields = Map::new();
        for piece in inner.split("<parameter=").skip(1) {
            let (key, value) = piece.split_once('>')?;
            let value = value.split("</parameter>").next()?.trim_matches('\n');
            fields.insert(key.to_owned(), Value::String(value.to_owned()));
        }
        Value::Object(fields).to_string()
    };
    Some(TextCall { name: name.trim().to_owned(), arguments })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<String> {
        let tools = ["click".to_owned(), "type".to_owned()];
        let show = |call: &TextCall| format!("{} {}", call.name, call.arguments);
        calls(text, &tools).map(|calls| calls.iter().map(show).collect::<Vec<_>>().join("; "))
    }

    #[test]
    fn the_forms_in_use() {
        for (text, expected) in [
            (r#"{"name": "click", "arguments": {"ref": "e1"}}"#, r#"click {"ref":"e1"}"#),
            (r#"{"name": "click", "arguments": "{\"ref\": \"e1\"}"}"#, r#"click {"ref": "e1"}"#),
            (r#"{"name": "click", "parameters": {"ref": "e1"}}"#, r#"click {"ref":"e1"}"#),
            (r#"{"tool": "click", "args": {"ref": "e1"}}"#, r#"click {"ref":"e1"}"#),
            (r#"{"action": "click", "ref": "e1"}"#, r#"click {"ref":"e1"}"#),
            (r#"{"click": {"ref": "e1"}}"#, r#"click {"ref":"e1"}"#),
            (
                r#"{"type":"function","function":{"name":"click","arguments":{"ref":"e1"}}}"#,
                r#"click {"ref":"e1"}"#,
            ),
            (r#"{"name": "click", "arguments": {"ref": "e1"}"#, r#"click {"ref":"e1"}"#),
            (
                "{\"name\":\"click\",\"arguments\":{}}\n{\"name\":\"type\",\"arguments\":{}}",
                "click {}; type {}",
            ),
            (r#"[{"name":"click","arguments":{}},{"name":"type"}]"#, "click {}; type {}"),
            (r#"<function=click>{"ref": "e1"}</function>"#, r#"click {"ref": "e1"}"#),
            (
                "<function=type>\n<parameter=ref>\ne1\n</parameter>\n</function>",
                r#"type {"ref":"e1"}"#,
            ),
            (r#"{"name": "open", "arguments": {"x": 1}}"#, r#"open {"x":1}"#),
        ] {
            assert_eq!(read(text).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn what_is_no_call() {
        for text in [
            r#"{"name": "Alice", "age": 3}"#,
            r#"{"name": "open", "arguments": "x"}"#,
            r#"{"ref": "e1"}"#,
            r#"{"click": "e1"}"#,
            r#"[1, 2]"#,
            "[]",
            "click e1",
            "",
            r#"{"name": "click", "arguments": {"ref"#,
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
