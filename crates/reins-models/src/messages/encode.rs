//! Requests in the Messages format.

use crate::message::{Caching, ChatRequest, Message, Part, Reasoning};
use crate::wire::Target;
use base64::Engine;
use serde_json::{Map, Value, json};

/// The format wants a limit. Enough for a long answer and within every model's own limit.
const MAX_TOKENS: u32 = 8_192;

/// What an answer keeps beside the tokens for thinking, which count against the same limit.
const BESIDE_THINKING: u32 = 4_096;

/// The JSON body of a request.
pub(crate) fn body(request: &ChatRequest, target: &Target<'_>) -> Value {
    let dialect = target.dialect;
    let mut body = Map::new();
    body.insert("model".to_owned(), json!(target.model));
    body.insert("max_tokens".to_owned(), json!(request.max_tokens.unwrap_or(MAX_TOKENS)));
    body.insert("stream".to_owned(), json!(dialect.stream));
    let thinks = reasoning(request, target, &mut body);
    // A model that thinks takes no other randomness than its own.
    if let (Some(temperature), true) = (request.temperature, dialect.temperature && !thinks) {
        body.insert("temperature".to_owned(), json!(temperature));
    }
    if let (Some(shape), true) = (&request.shape, dialect.shapes) {
        let config = body.entry("output_config").or_insert_with(|| json!({}));
        config["format"] = json!({"type": "json_schema", "schema": shape.schema});
    }
    let cached = request.caching != Caching::Off && dialect.caching;
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
    let mut messages = messages(request, target);
    if cached && request.caching == Caching::Conversation {
        let last = messages.last_mut().and_then(|message| message["content"].as_array_mut());
        if let Some(block) = last.and_then(|blocks| blocks.last_mut()) {
            mark(block);
        }
    }
    body.insert("messages".to_owned(), Value::Array(messages));
    Value::Object(body)
}

/// Says how much to think: newer models take an effort, older ones a number of tokens. Whether the
/// model thinks then.
fn reasoning(request: &ChatRequest, target: &Target<'_>, body: &mut Map<String, Value>) -> bool {
    let Some(effort) = target.dialect.effort(request.reasoning) else {
        return false;
    };
    if request.reasoning == Reasoning::Off {
        body.insert("thinking".to_owned(), json!({"type": "disabled"}));
        return false;
    }
    if !target.dialect.budget {
        body.insert("thinking".to_owned(), json!({"type": "adaptive", "display": "summarized"}));
        body.insert("output_config".to_owned(), json!({"effort": effort}));
        return true;
    }
    let tokens = match request.reasoning {
        Reasoning::Own | Reasoning::Off | Reasoning::Low => 2_048,
        Reasoning::Medium => 8_192,
        Reasoning::High => 16_384,
    };
    let limit = request.max_tokens.unwrap_or(MAX_TOKENS).max(tokens + BESIDE_THINKING);
    body.insert("max_tokens".to_owned(), json!(limit));
    body.insert("thinking".to_owned(), json!({"type": "enabled", "budget_tokens": tokens}));
    true
}

fn mark(block: &mut Value) {
    block["cache_control"] = json!({"type": "ephemeral"});
}

/// Roles must alternate, and all results of one answer belong into one message, so neighbours of
/// the same role become one.
fn messages(request: &ChatRequest, target: &Target<'_>) -> Vec<Value> {
    let mut out: Vec<(&str, Vec<Value>)> = Vec::new();
    for message in &request.messages {
        let (role, blocks) = match message {
            Message::User(parts) => ("user", blocks(parts)),
            // Thoughts alone are refused.
            Message::Assistant { text, calls, .. }
                if text.trim_end().is_empty() && calls.is_empty() =>
            {
                continue;
            }
            Message::Assistant { text, calls, kept } => {
                let mut blocks: Vec<Value> = target.own(kept).cloned().collect();
                // An empty text block is refused, and so is trailing space in a last one.
                if !text.trim_end().is_empty() {
                    blocks.push(json!({"type": "text", "text": text.trim_end()}));
                }
                for call in calls {
                    let input = serde_json::from_str::<Map<String, Value>>(&call.arguments);
                    blocks.extend(target.own(&call.kept).cloned());
                    blocks.push(json!({
                        "type": "tool_use",
                        "id": call.id,
                        "name": call.name,
                        "input": input.unwrap_or_default(),
                    }));
                }
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
    use crate::samples::{conversation, kept, sent, with_kept};

    #[test]
    fn results_are_joined_and_pictures_stay_in_them() {
        let request = ChatRequest { caching: Caching::Conversation, ..conversation() };
        let ephemeral = json!({"type": "ephemeral"});
        assert_eq!(
            sent("anthropic", "m", &request, |_| {}),
            json!({
                "model": "m", "max_tokens": 99, "stream": true, "temperature": 0.5,
                "system": [{"type": "text", "text": "be good", "cache_control": ephemeral}],
                "tools": [{"name": "look", "description": "looks", "input_schema": {"type": "object"}, "cache_control": ephemeral}],
                "messages": [
                    {"role": "user", "content": [{"type": "text", "text": "go"}]},
                    {"role": "assistant", "content": [
                        {"type": "text", "text": "I look."},
                        {"type": "tool_use", "id": "a", "name": "look", "input": {"x": 1}},
                        {"type": "tool_use", "id": "b", "name": "look", "input": {}},
                    ]},
                    {"role": "user", "content": [
                        {"type": "tool_result", "tool_use_id": "a", "is_error": false, "content": [
                            {"type": "text", "text": "seen"},
                            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "cG5n"}},
                        ]},
                        {"type": "tool_result", "tool_use_id": "b", "is_error": true, "content": [{"type": "text", "text": "no"}]},
                        {"type": "text", "text": "more", "cache_control": ephemeral},
                    ]},
                ],
            })
        );
    }

    #[test]
    fn thoughts_go_back_before_what_they_led_to() {
        let thought = |text: &str, model: &str| {
            kept(
                "anthropic",
                model,
                json!({"type": "thinking", "thinking": text, "signature": "s"}),
            )
        };
        let request =
            with_kept(&[thought("one", "m"), thought("no", "other")], &[thought("two", "m")]);
        let body = sent("anthropic", "m", &request, |_| {});
        let blocks = body["messages"][1]["content"].as_array().expect("blocks");
        let kinds: Vec<_> =
            blocks.iter().map(|block| block["type"].as_str().unwrap_or("")).collect();
        assert_eq!(kinds, ["thinking", "text", "thinking", "tool_use", "tool_use"]);
        assert_eq!(blocks[2]["thinking"], "two");
    }

    #[test]
    fn both_ways_of_thinking() {
        let request = |reasoning| ChatRequest { reasoning, ..conversation() };
        let high = sent("anthropic", "m", &request(Reasoning::High), |_| {});
        assert_eq!(high["thinking"]["type"], "adaptive");
        assert_eq!(high["output_config"], json!({"effort": "high"}));
        assert!(high["temperature"].is_null(), "refused beside thinking");
        let older = sent("anthropic", "m", &request(Reasoning::Medium), |dialect| {
            dialect.budget = true;
        });
        let tokens = older["thinking"]["budget_tokens"].as_u64().expect("tokens");
        assert!(older["max_tokens"].as_u64() > Some(tokens), "refused otherwise");
        let off = sent("anthropic", "m", &request(Reasoning::Off), |_| {});
        assert_eq!(off["thinking"], json!({"type": "disabled"}));
        assert_eq!(off["temperature"], 0.5);
    }
}
