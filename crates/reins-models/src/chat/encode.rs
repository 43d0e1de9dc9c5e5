//! Requests in the Chat format.

use crate::message::{ChatRequest, Image, Message, Part};
use crate::wire::Dialect;
use base64::Engine;
use serde_json::{Map, Value, json};

/// The JSON body of a request.
pub(crate) fn body(request: &ChatRequest, model: &str, dialect: &Dialect) -> Value {
    let mut body = Map::new();
    body.insert("model".to_owned(), json!(model));
    body.insert("messages".to_owned(), Value::Array(messages(request)));
    body.insert("stream".to_owned(), json!(dialect.stream));
    if dialect.stream && dialect.stream_options {
        body.insert("stream_options".to_owned(), json!({"include_usage": true}));
    }
    if let (Some(temperature), true) = (request.temperature, dialect.temperature) {
        body.insert("temperature".to_owned(), json!(temperature));
    }
    if let Some(limit) = request.max_tokens {
        let name = if dialect.completion_tokens { "max_completion_tokens" } else { "max_tokens" };
        body.insert(name.to_owned(), json!(limit));
    }
    if !request.tools.is_empty() {
        let tools = request.tools.iter().map(|tool| {
            json!({"type": "function", "function": {
                "name": tool.name,
                "description": tool.description,
                "parameters": tool.schema,
            }})
        });
        body.insert("tools".to_owned(), tools.collect());
    }
    Value::Object(body)
}

fn messages(request: &ChatRequest) -> Vec<Value> {
    let mut out = Vec::with_capacity(request.messages.len() + 1);
    if !request.system.is_empty() {
        out.push(json!({"role": "system", "content": request.system}));
    }
    // A tool's result may hold only text in this format, and nothing may stand between the results
    // of one answer; so pictures follow after the last of them, as a message of the user.
    let mut pictures: Vec<Value> = Vec::new();
    for message in &request.messages {
        if !matches!(message, Message::Tool { .. }) {
            flush(&mut pictures, &mut out);
        }
        match message {
            Message::User(parts) => out.push(json!({"role": "user", "content": content(parts)})),
            Message::Assistant { text, calls } if calls.is_empty() => {
                out.push(json!({"role": "assistant", "content": text}));
            }
            Message::Assistant { text, calls } => {
                let calls: Vec<_> = calls
                    .iter()
                    .map(|call| {
                        json!({"id": call.id, "type": "function", "function": {
                            "name": call.name,
                            "arguments": arguments(&call.arguments),
                        }})
                    })
                    .collect();
                let text = if text.is_empty() { Value::Null } else { json!(text) };
                out.push(json!({"role": "assistant", "content": text, "tool_calls": calls}));
            }
            Message::Tool { call, name, parts, .. } => {
                let mut text = String::new();
                for part in parts {
                    match part {
                        Part::Text(more) => text.push_str(more),
                        Part::Image(image) => {
                            pictures.push(
                                json!({"type": "text", "text": format!("Picture from {name}:")}),
                            );
                            pictures.push(picture(image));
                        }
                    }
                }
                out.push(json!({"role": "tool", "tool_call_id": call, "content": text}));
            }
        }
    }
    flush(&mut pictures, &mut out);
    out
}

fn flush(pictures: &mut Vec<Value>, out: &mut Vec<Value>) {
    if !pictures.is_empty() {
        out.push(json!({"role": "user", "content": std::mem::take(pictures)}));
    }
}

/// Servers read the arguments of earlier calls as JSON (llama-server answers 500 if they are not),
/// so what the model garbled is sent back as nothing.
fn arguments(text: &str) -> &str {
    let is_object = serde_json::from_str::<Map<String, Value>>(text).is_ok();
    if is_object { text } else { "{}" }
}

fn content(parts: &[Part]) -> Value {
    if let [Part::Text(text)] = parts {
        return json!(text);
    }
    parts
        .iter()
        .map(|part| match part {
            Part::Text(text) => json!({"type": "text", "text": text}),
            Part::Image(image) => picture(image),
        })
        .collect()
}

fn picture(image: &Image) -> Value {
    let data = base64::engine::general_purpose::STANDARD.encode(&image.bytes);
    json!({"type": "image_url", "image_url": {"url": format!("data:{};base64,{data}", image.mime)}})
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::{ToolCall, ToolSpec};
    use bytes::Bytes;

    #[test]
    fn a_conversation_with_calls_and_a_picture() {
        let call = |id: &str, arguments: &str| ToolCall {
            id: id.to_owned(),
            name: "look".to_owned(),
            arguments: arguments.to_owned(),
        };
        let result = |call: &str, parts| Message::Tool {
            call: call.to_owned(),
            name: "look".to_owned(),
            parts,
            failed: false,
        };
        let image = Image { mime: "image/png".to_owned(), bytes: Bytes::from_static(b"png") };
        let request = ChatRequest {
            system: "be good".to_owned(),
            messages: vec![
                Message::user("go"),
                Message::Assistant {
                    text: String::new(),
                    calls: vec![call("a", "{\"x\":1}"), call("b", "{broken")],
                },
                result("a", vec![Part::Text("seen".to_owned()), Part::Image(image)]),
                result("b", vec![Part::Text("two".to_owned())]),
                Message::user("more"),
            ],
            tools: vec![ToolSpec {
                name: "look".to_owned(),
                description: "looks".to_owned(),
                schema: json!({"type": "object"}),
            }],
            temperature: Some(0.5),
            max_tokens: Some(9),
            ..ChatRequest::default()
        };
        let body = body(&request, "m", &Dialect::default());
        assert_eq!(
            body,
            json!({
                "model": "m", "stream": true, "stream_options": {"include_usage": true},
                "temperature": 0.5, "max_tokens": 9,
                "messages": [
                    {"role": "system", "content": "be good"},
                    {"role": "user", "content": "go"},
                    {"role": "assistant", "content": null, "tool_calls": [
                        {"id": "a", "type": "function", "function": {"name": "look", "arguments": "{\"x\":1}"}},
                        {"id": "b", "type": "function", "function": {"name": "look", "arguments": "{}"}},
                    ]},
                    {"role": "tool", "tool_call_id": "a", "content": "seen"},
                    {"role": "tool", "tool_call_id": "b", "content": "two"},
                    {"role": "user", "content": [
                        {"type": "text", "text": "Picture from look:"},
                        {"type": "image_url", "image_url": {"url": "data:image/png;base64,cG5n"}},
                    ]},
                    {"role": "user", "content": "more"},
                ],
                "tools": [{"type": "function", "function": {
                    "name": "look", "description": "looks", "parameters": {"type": "object"}}}],
            })
        );
    }

    #[test]
    fn what_a_server_refused_is_left_out() {
        let request =
            ChatRequest { temperature: Some(0.0), max_tokens: Some(1), ..ChatRequest::default() };
        let dialect = Dialect {
            stream: false,
            temperature: false,
            completion_tokens: true,
            ..Dialect::default()
        };
        let body = body(&request, "m", &dialect);
        assert_eq!(
            body,
            json!({"model": "m", "messages": [], "stream": false, "max_completion_tokens": 1})
        );
    }
}
