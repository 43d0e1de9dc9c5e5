//! Requests in the Responses format.

use crate::message::{Caching, ChatRequest, Image, Message, Part, Reasoning, ToolCall};
use crate::wire::Target;
use base64::Engine;
use serde_json::{Map, Value, json};

/// The smallest limit of tokens that is taken.
const FEWEST_TOKENS: u32 = 16;

/// The JSON body of a request. Nothing of it is stored by the provider; what it needs to go on with,
/// it seals and gives to us.
pub(crate) fn body(request: &ChatRequest, target: &Target<'_>) -> Value {
    let dialect = target.dialect;
    let mut body = Map::new();
    body.insert("model".to_owned(), json!(target.model));
    if !request.system.is_empty() {
        body.insert("instructions".to_owned(), json!(request.system));
    }
    body.insert("input".to_owned(), Value::Array(input(request, target)));
    body.insert("stream".to_owned(), json!(dialect.stream));
    body.insert("store".to_owned(), json!(false));
    if dialect.sealed {
        body.insert("include".to_owned(), json!(["reasoning.encrypted_content"]));
    }
    if let Some(reasoning) = reasoning(request.reasoning, target) {
        body.insert("reasoning".to_owned(), reasoning);
    }
    if let (Some(temperature), true) = (request.temperature, dialect.temperature) {
        body.insert("temperature".to_owned(), json!(temperature));
    }
    if let Some(limit) = request.max_tokens {
        body.insert("max_output_tokens".to_owned(), json!(limit.max(FEWEST_TOKENS)));
    }
    if let (Some(shape), true) = (&request.shape, dialect.shapes) {
        body.insert(
            "text".to_owned(),
            json!({"format": {
                "type": "json_schema", "name": shape.name, "strict": true, "schema": shape.schema,
            }}),
        );
    }
    if !request.tools.is_empty() {
        let tools = request.tools.iter().map(|tool| {
            json!({
                "type": "function",
                "name": tool.name,
                "description": tool.description,
                "parameters": tool.schema,
                "strict": false,
            })
        });
        body.insert("tools".to_owned(), tools.collect());
    }
    if request.caching != Caching::Off && dialect.caching && !request.system.is_empty() {
        body.insert("prompt_cache_key".to_owned(), json!(cache_key(request)));
    }
    Value::Object(body)
}

fn reasoning(reasoning: Reasoning, target: &Target<'_>) -> Option<Value> {
    let effort = target.dialect.effort(reasoning)?;
    let mut value = json!({"effort": effort});
    if target.dialect.summary && reasoning != Reasoning::Off {
        value["summary"] = json!("auto");
    }
    Some(value)
}

/// Requests with the same beginning are sent to the machine that still has it.
fn cache_key(request: &ChatRequest) -> String {
    // FNV-1a: the same in every process.
    let names = request.tools.iter().flat_map(|tool| tool.name.bytes());
    let hash = request.system.bytes().chain(names).fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("reins-{hash:016x}")
}

fn input(request: &ChatRequest, target: &Target<'_>) -> Vec<Value> {
    let mut out = Vec::with_capacity(request.messages.len());
    for message in &request.messages {
        match message {
            Message::User(parts) => {
                out.push(json!({"type": "message", "role": "user", "content": content(parts)}));
            }
            Message::Assistant { text, calls, kept } => {
                // A thought without what it led to is refused.
                if text.is_empty() && calls.is_empty() {
                    continue;
                }
                out.extend(target.own(kept).cloned());
                if !text.is_empty() {
                    out.push(json!({"type": "message", "role": "assistant", "content": [
                        {"type": "output_text", "text": text, "annotations": []},
                    ]}));
                }
                for call in calls {
                    out.extend(target.own(&call.kept).cloned());
                    out.push(one_call(call));
                }
            }
            Message::Tool { call, parts, .. } => out.push(json!({
                "type": "function_call_output",
                "call_id": call,
                "output": output(parts),
            })),
        }
    }
    out
}

fn one_call(call: &ToolCall) -> Value {
    let is_object = serde_json::from_str::<Map<String, Value>>(&call.arguments).is_ok();
    json!({
        "type": "function_call",
        "call_id": call.id,
        "name": call.name,
        "arguments": if is_object { &call.arguments } else { "{}" },
    })
}

/// A result is text, or a list where there are pictures in it. That it failed is not part of the
/// format; the text says so already.
fn output(parts: &[Part]) -> Value {
    let texts = parts.iter().map(|part| match part {
        Part::Text(text) => Some(text.as_str()),
        Part::Image(_) => None,
    });
    match texts.collect::<Option<String>>() {
        Some(text) => json!(text),
        None => content(parts),
    }
}

fn content(parts: &[Part]) -> Value {
    parts
        .iter()
        .map(|part| match part {
            Part::Text(text) => json!({"type": "input_text", "text": text}),
            Part::Image(image) => picture(image),
        })
        .collect()
}

fn picture(image: &Image) -> Value {
    let data = base64::engine::general_purpose::STANDARD.encode(&image.bytes);
    json!({"type": "input_image", "image_url": format!("data:{};base64,{data}", image.mime)})
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{conversation, kept, sent, with_kept};

    #[test]
    fn a_conversation_with_calls_and_a_picture_in_a_result() {
        assert_eq!(
            sent("openai", "m", &conversation(), |_| {}),
            json!({
                "model": "m", "instructions": "be good", "stream": true, "store": false,
                "include": ["reasoning.encrypted_content"],
                "temperature": 0.5, "max_output_tokens": 99,
                "input": [
                    {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "go"}]},
                    {"type": "message", "role": "assistant", "content": [
                        {"type": "output_text", "text": "I look. ", "annotations": []}]},
                    {"type": "function_call", "call_id": "a", "name": "look", "arguments": "{\"x\":1}"},
                    {"type": "function_call", "call_id": "b", "name": "look", "arguments": "{}"},
                    {"type": "function_call_output", "call_id": "a", "output": [
                        {"type": "input_text", "text": "seen"},
                        {"type": "input_image", "image_url": "data:image/png;base64,cG5n"},
                    ]},
                    {"type": "function_call_output", "call_id": "b", "output": "no"},
                    {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "more"}]},
                ],
                "tools": [{"type": "function", "name": "look", "description": "looks",
                    "parameters": {"type": "object"}, "strict": false}],
            })
        );
    }

    #[test]
    fn sealed_thoughts_go_back_before_what_they_led_to() {
        let thought = |id: &str, model| {
            kept("openai", model, json!({"type": "reasoning", "id": id, "encrypted_content": "x"}))
        };
        let request = with_kept(&[thought("1", "m"), thought("no", "other")], &[thought("2", "m")]);
        let body = sent("openai", "m", &request, |_| {});
        let kinds: Vec<_> = body["input"]
            .as_array()
            .expect("input")
            .iter()
            .map(|item| item["type"].as_str().unwrap_or_default())
            .collect();
        assert_eq!(
            kinds[1..6],
            ["reasoning", "message", "reasoning", "function_call", "function_call"]
        );
    }

    #[test]
    fn effort_summary_cache_and_the_fewest_tokens() {
        let request = ChatRequest {
            reasoning: Reasoning::High,
            caching: Caching::Conversation,
            max_tokens: Some(1),
            ..conversation()
        };
        let body = sent("openai", "m", &request, |_| {});
        assert_eq!(body["reasoning"], json!({"effort": "high", "summary": "auto"}));
        assert_eq!(body["max_output_tokens"], 16);
        let again = sent("openai", "m", &request, |_| {});
        assert_eq!(body["prompt_cache_key"], again["prompt_cache_key"]);
        assert!(body["prompt_cache_key"].as_str().is_some_and(|key| key.starts_with("reins-")));
        let refused = sent("openai", "m", &request, |dialect| {
            dialect.summary = false;
            dialect.caching = false;
            dialect.sealed = false;
        });
        assert_eq!(refused["reasoning"], json!({"effort": "high"}));
        assert!(refused["prompt_cache_key"].is_null() && refused["include"].is_null());
    }
}
