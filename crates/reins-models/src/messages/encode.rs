//! Requests in the Messages format.

use crate::message::{Caching, ChatRequest, Message, Part};
use crate::wire::Dialect;
use base64::Engine;
use serde_json::{Map, Value, json};

/// The format wants a limit. Enough for a long answer and within every model's own limit.
const MAX_TOKENS: u32 = 8_192;

/// The JSON body of a request.
pub(crate) fn body(request: &ChatRequest, model: &str, dialect: &Dialect) -> Value {
    let mut body = Map::new();
    body.insert("model".to_owned(), json!(model));
    body.insert("max_tokens".to_owned(), json!(request.max_tokens.unwrap_or(MAX_TOKENS)));
    body.insert("stream".to_owned(), json!(dialect.stream));
    if let (Some(temperature), true) = (request.temperature, dialect.temperature) {
        body.insert("temperature".to_owned(), json!(temperature));
    }
    let cached = request.caching != Caching::Off;
    if !request.system.is_empty() {
        let mut system = json!({"type": "text", "text": request.system});
        if cached {
            mark(&mut system);
        }
        body.insert("system".to_owned(), json!([system]));
    }
    if !request.tools.is_empty() {
        let mut tools: Vec<_> = request
            .tools
            .iter()
            .map(|tool| {
                json!({
                    "name": tool.name,
                    "description": tool.description,
                    "input_schema": tool.schema,
                })
            })
            .collect();
        if let (true, Some(last)) = (cached, tools.last_mut()) {
            mark(last);
        }
        body.insert("tools".to_owned(), Value::Array(tools));
    }
    let mut messages = messages(request);
    if request.caching == Caching::Conversation {
        let last = messages.last_mut().and_then(|message| message["content"].as_array_mut());
        if let Some(block) = last.and_then(|blocks| blocks.last_mut()) {
            mark(block);
        }
    }
    body.insert("messages".to_owned(), Value::Array(messages));
    Value::Object(body)
}

fn mark(block: &mut Value) {
    block["cache_control"] = json!({"type": "ephemeral"});
}

/// Roles must alternate, and all results of one answer belong into one message, so neighbours of
/// the same role become one.
fn messages(request: &ChatRequest) -> Vec<Value> {
    let mut out: Vec<(&str, Vec<Value>)> = Vec::new();
    for message in &request.messages {
        let (role, blocks) = match message {
            Message::User(parts) => ("user", blocks(parts)),
            Message::Assistant { text, calls } => {
                let mut blocks = Vec::new();
                // An empty text block is refused, and so is trailing space in a last one.
                if !text.trim_end().is_empty() {
                    blocks.push(json!({"type": "text", "text": text.trim_end()}));
                }
                blocks.extend(calls.iter().map(|call| {
                    let input = serde_json::from_str::<Map<String, Value>>(&call.arguments);
                    json!({
                        "type": "tool_use",
                        "id": call.id,
                        "name": call.name,
                        "input": input.unwrap_or_default(),
                    })
                }));
                ("assistant", blocks)
            }
            Message::Tool { call, parts, failed, .. } => {
                let result = json!({
                    "type": "tool_result",
                    "tool_use_id": call,
                    "content": blocks(parts),
                    "is_error": failed,
                });
                ("user", vec![result])
            }
        };
        if blocks.is_empty() {
            continue;
        }
        match out.last_mut() {
            Some((last, so_far)) if *last == role => so_far.extend(blocks),
            _ => out.push((role, blocks)),
        }
    }
    out.into_iter().map(|(role, content)| json!({"role": role, "content": content})).collect()
}

fn blocks(parts: &[Part]) -> Vec<Value> {
    parts
        .iter()
        .filter_map(|part| match part {
            Part::Text(text) if text.is_empty() => None,
            Part::Text(text) => Some(json!({"type": "text", "text": text})),
            Part::Image(image) => Some(json!({"type": "image", "source": {
                "type": "base64",
                "media_type": image.mime,
                "data": base64::engine::general_purpose::STANDARD.encode(&image.bytes),
            }})),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::{Image, ToolCall, ToolSpec};
    use bytes::Bytes;

    #[test]
    fn results_are_joined_and_pictures_stay_in_them() {
        let call = |id: &str| ToolCall {
            id: id.to_owned(),
            name: "look".to_owned(),
            arguments: "{\"x\":1}".to_owned(),
        };
        let result = |id: &str, parts, failed| Message::Tool {
            call: id.to_owned(),
            name: "look".to_owned(),
            parts,
            failed,
        };
        let image = Image { mime: "image/jpeg".to_owned(), bytes: Bytes::from_static(b"jpg") };
        let request = ChatRequest {
            system: "be good".to_owned(),
            messages: vec![
                Message::user("go"),
                Message::Assistant {
                    text: "I look. ".to_owned(),
                    calls: vec![call("a"), call("b")],
                },
                result("a", vec![Part::Text("seen".to_owned()), Part::Image(image)], false),
                result("b", vec![Part::Text("no".to_owned())], true),
                Message::user("more"),
            ],
            tools: vec![ToolSpec {
                name: "look".to_owned(),
                description: "looks".to_owned(),
                schema: json!({"type": "object"}),
            }],
            caching: Caching::Conversation,
            ..ChatRequest::default()
        };
        let ephemeral = json!({"type": "ephemeral"});
        assert_eq!(
            body(&request, "m", &Dialect::default()),
            json!({
                "model": "m", "max_tokens": 8192, "stream": true,
                "system": [{"type": "text", "text": "be good", "cache_control": ephemeral}],
                "tools": [{"name": "look", "description": "looks", "input_schema": {"type": "object"}, "cache_control": ephemeral}],
                "messages": [
                    {"role": "user", "content": [{"type": "text", "text": "go"}]},
                    {"role": "assistant", "content": [
                        {"type": "text", "text": "I look."},
                        {"type": "tool_use", "id": "a", "name": "look", "input": {"x": 1}},
                        {"type": "tool_use", "id": "b", "name": "look", "input": {"x": 1}},
                    ]},
                    {"role": "user", "content": [
                        {"type": "tool_result", "tool_use_id": "a", "is_error": false, "content": [
                            {"type": "text", "text": "seen"},
                            {"type": "image", "source": {"type": "base64", "media_type": "image/jpeg", "data": "anBn"}},
                        ]},
                        {"type": "tool_result", "tool_use_id": "b", "is_error": true, "content": [{"type": "text", "text": "no"}]},
                        {"type": "text", "text": "more", "cache_control": ephemeral},
                    ]},
                ],
            })
        );
    }
}
