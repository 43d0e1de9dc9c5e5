//! A request with tools, rewritten for a model that takes none.

use crate::message::{ChatRequest, Message, Part, ToolCall, ToolSpec};
use serde_json::Value;

/// The same request with the tools described in the instructions, calls written as fenced JSON and
/// results as messages of the user.
pub(crate) fn without_tools(request: &ChatRequest) -> ChatRequest {
    if request.tools.is_empty() {
        return request.clone();
    }
    let mut system = request.system.clone();
    system.push_str(
        "\n\nTo use a tool, answer with one block like this and nothing after it:\n\
         ```json\n{\"name\": \"TOOL\", \"arguments\": {…}}\n```\n\
         You then get its result. Tools:\n",
    );
    for tool in &request.tools {
        system.push_str(&signature(tool));
        system.push('\n');
    }
    let mut messages: Vec<Message> = Vec::new();
    for message in &request.messages {
        let message = match message {
            Message::User(parts) => Message::User(parts.clone()),
            Message::Assistant { text, calls, .. } => {
                let mut text = text.clone();
                calls.iter().for_each(|call| push_call(&mut text, call));
                Message::Assistant { text, calls: Vec::new(), kept: Vec::new() }
            }
            Message::Tool { name, parts, failed, .. } => {
                let word = if *failed { "Error" } else { "Result" };
                let mut all = vec![Part::Text(format!("{word} of {name}:\n"))];
                all.extend(parts.iter().cloned());
                Message::User(all)
            }
        };
        // Many chat templates insist on alternating roles.
        match (messages.last_mut(), message) {
            (Some(Message::User(so_far)), Message::User(parts)) => {
                so_far.push(Part::Text("\n\n".to_owned()));
                so_far.extend(parts);
            }
            (_, message) => messages.push(message),
        }
    }
    for message in &mut messages {
        if let Message::User(parts) = message {
            join_texts(parts);
        }
    }
    ChatRequest { system, messages, tools: Vec::new(), ..request.clone() }
}

fn push_call(text: &mut String, call: &ToolCall) {
    let arguments = serde_json::from_str::<Value>(&call.arguments);
    let arguments = arguments.unwrap_or_else(|_| Value::String(call.arguments.clone()));
    let name = Value::String(call.name.clone());
    if !text.is_empty() {
        text.push('\n');
    }
    text.push_str(&format!("```json\n{{\"name\": {name}, \"arguments\": {arguments}}}\n```"));
}

/// `- click(ref: string, button?: "left"|"right"): Clicks an element.`
fn signature(tool: &ToolSpec) -> String {
    let required: Vec<&str> = tool.schema["required"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let parameters = tool.schema["properties"].as_object().into_iter().flatten();
    let parameters: Vec<_> = parameters
        .map(|(name, schema)| {
            let optional = if required.contains(&name.as_str()) { "" } else { "?" };
            format!("{name}{optional}: {}", kind(schema))
        })
        .collect();
    format!("- {}({}): {}", tool.name, parameters.join(", "), tool.description)
}

fn kind(schema: &Value) -> String {
    if let Some(options) = schema["enum"].as_array() {
        return options.iter().map(Value::to_string).collect::<Vec<_>>().join("|");
    }
    match &schema["type"] {
        Value::String(kind) if kind == "array" => format!("{}[]", kind_of_items(schema)),
        Value::String(kind) => kind.clone(),
        Value::Array(kinds) => kinds
            .iter()
            .filter_map(Value::as_str)
            .find(|kind| *kind != "null")
            .unwrap_or("any")
            .to_owned(),
        _ => "any".to_owned(),
    }
}

fn kind_of_items(schema: &Value) -> String {
    kind(&schema["items"])
}

fn join_texts(parts: &mut Vec<Part>) {
    let mut joined: Vec<Part> = Vec::new();
    for part in parts.drain(..) {
        match (joined.last_mut(), part) {
            (Some(Part::Text(so_far)), Part::Text(more)) => so_far.push_str(&more),
            (_, part) => joined.push(part),
        }
    }
    *parts = joined;
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// R-033: a model without tools gets everything as plain text, in alternating roles.
    #[test]
    fn r033_tools_calls_and_results_as_text() {
        let request = ChatRequest {
            system: "Be good.".to_owned(),
            messages: vec![
                Message::user("go"),
                Message::Assistant {
                    text: "I click.".to_owned(),
                    calls: vec![ToolCall {
                        id: "a".to_owned(),
                        name: "click".to_owned(),
                        arguments: "{\"ref\":\"e1\"}".to_owned(),
                        ..ToolCall::default()
                    }],
                    kept: vec![],
                },
                Message::Tool {
                    call: "a".to_owned(),
                    name: "click".to_owned(),
                    parts: vec![Part::Text("gone".to_owned())],
                    failed: true,
                },
                Message::user("look again"),
            ],
            tools: vec![ToolSpec {
                name: "click".to_owned(),
                description: "Clicks.".to_owned(),
                schema: json!({"properties": {
                    "ref": {"type": "string"},
                    "button": {"enum": ["left", "right"]},
                    "keys": {"type": "array", "items": {"type": "string"}},
                    "count": {"type": ["integer", "null"]},
                }, "required": ["ref"]}),
            }],
            ..ChatRequest::default()
        };
        let text = without_tools(&request);
        assert!(text.tools.is_empty());
        assert!(
            text.system.starts_with("Be good.\n\nTo use a tool")
                && text.system.contains("\n- click(")
                && text.system.contains("ref: string")
                && text.system.contains("button?: \"left\"|\"right\"")
                && text.system.contains("keys?: string[]")
                && text.system.contains("count?: integer")
                && text.system.ends_with("): Clicks.\n"),
            "{}",
            text.system
        );
        assert_eq!(
            text.messages,
            [
                Message::user("go"),
                Message::Assistant {
                    text: "I click.\n```json\n{\"name\": \"click\", \"arguments\": {\"ref\":\"e1\"}}\n```".to_owned(),
                    calls: vec![],
                    kept: vec![],
                },
                Message::user("Error of click:\ngone\n\nlook again"),
            ]
        );
    }
}
