//! Requests in the Chat format.

use crate::message::{Caching, ChatRequest, Image, Message, Part, Reasoning, ToolCall};
use crate::provider::Switch;
use crate::wire::Target;
use base64::Engine;
use serde_json::{Map, Value, json};
use std::borrow::Cow;

/// What the model is made to have said where a server wants it to have said something.
const BRIDGE: &str = "OK.";

/// Models behind a server that takes marks for which the marks mean something.
const MARKED: [&str; 3] = ["anthropic/", "google/gemini", "qwen/"];

/// What else was likely at each place of an answer: as many as the format has.
const ALTERNATIVES: u32 = 20;

/// The JSON body of a request.
pub(crate) fn body(request: &ChatRequest, target: &Target<'_>) -> Value {
    let dialect = target.dialect;
    let mut body = Map::new();
    body.insert("model".to_owned(), json!(target.model));
    body.insert("messages".to_owned(), Value::Array(messages(request, target)));
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
    if let Some((name, value)) = reasoning(request.reasoning, target) {
        body.insert(name.to_owned(), value);
    }
    if let (Some(shape), true) = (&request.shape, dialect.shapes) {
        body.insert(
            "response_format".to_owned(),
            json!({"type": "json_schema", "json_schema": {
                "name": shape.name, "strict": true, "schema": shape.schema,
            }}),
        );
    }
    if request.odds && dialect.odds {
        body.insert("logprobs".to_owned(), json!(true));
        body.insert("top_logprobs".to_owned(), json!(ALTERNATIVES));
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

fn reasoning(reasoning: Reasoning, target: &Target<'_>) -> Option<(&'static str, Value)> {
    let effort = target.dialect.effort(reasoning)?;
    let thinks = reasoning != Reasoning::Off;
    Some(match target.endpoint.provider.quirks.switch {
        Switch::Effort => ("reasoning_effort", json!(effort)),
        Switch::Nested => ("reasoning", json!({"effort": effort})),
        Switch::Thinking => {
            ("thinking", json!({"type": if thinks { "enabled" } else { "disabled" }}))
        }
        Switch::Template => ("chat_template_kwargs", json!({"enable_thinking": thinks})),
    })
}

fn messages(request: &ChatRequest, target: &Target<'_>) -> Vec<Value> {
    let quirks = &target.endpoint.provider.quirks;
    let marks = quirks.marks
        && target.dialect.caching
        && request.caching != Caching::Off
        && MARKED.iter().any(|start| target.model.starts_with(start));
    let mut out: Vec<Value> = Vec::with_capacity(request.messages.len() + 1);
    if !request.system.is_empty() {
        out.push(json!({"role": "system", "content": request.system}));
        if marks {
            mark(out.last_mut());
        }
    }
    // A tool's result may hold only text in this format, and nothing may stand between the results
    // of one answer; so pictures follow after the last of them, as a message of the user.
    let mut pictures: Vec<Value> = Vec::new();
    for message in &request.messages {
        if !matches!(message, Message::Tool { .. }) {
            flush(&mut pictures, &mut out, target);
        }
        match message {
            Message::User(parts) => push_user(content(parts), &mut out, target),
            Message::Assistant { text, calls, kept } => {
                let mut said = json!({"role": "assistant", "content": text});
                if !calls.is_empty() {
                    if text.is_empty() {
                        said["content"] = Value::Null;
                    }
                    said["tool_calls"] = calls.iter().map(|call| one_call(call, target)).collect();
                }
                give_back(&mut said, target.own(kept), target);
                out.push(said);
            }
            Message::Tool { call, parts, .. } if quirks.pictures_in_results => out.push(
                json!({"role": "tool", "tool_call_id": id(call, target), "content": content(parts)}),
            ),
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
                out.push(
                    json!({"role": "tool", "tool_call_id": id(call, target), "content": text}),
                );
            }
        }
    }
    flush(&mut pictures, &mut out, target);
    if marks && request.caching == Caching::Conversation {
        mark(out.last_mut());
    }
    out
}

/// Marks the end of a message as the end of what comes again.
fn mark(message: Option<&mut Value>) {
    let Some(content) = message.map(|message| &mut message["content"]) else {
        return;
    };
    if let Value::String(text) = content {
        *content = json!([{"type": "text", "text": text}]);
    }
    let last = content.as_array_mut().and_then(|parts| parts.last_mut());
    if let Some(part) = last {
        part["cache_control"] = json!({"type": "ephemeral"});
    }
}

/// Thoughts go back where the server wants them: in words, or sealed as it gave them.
fn give_back<'k>(said: &mut Value, kept: impl Iterator<Item = &'k Value>, target: &Target<'_>) {
    let mut thoughts = String::new();
    for data in kept {
        if let Some(text) = data.get("reasoning_content").and_then(Value::as_str) {
            thoughts.push_str(text);
        }
        if let Some(details) = data.get("reasoning_details") {
            said["reasoning_details"] = details.clone();
        }
    }
    if target.dialect.thoughts_back {
        said["reasoning_content"] = json!(thoughts);
    }
}

fn one_call(call: &ToolCall, target: &Target<'_>) -> Value {
    let mut value = json!({"id": id(&call.id, target), "type": "function", "function": {
        "name": call.name,
        "arguments": arguments(&call.arguments),
    }});
    if let Some(extra) = target.own(&call.kept).find_map(|data| data.get("extra_content")) {
        value["extra_content"] = extra.clone();
    }
    value
}

/// A call's id, in the form that the server insists on.
fn id<'c>(id: &'c str, target: &Target<'_>) -> Cow<'c, str> {
    const LENGTH: usize = 9;
    let fits = id.len() == LENGTH && id.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if !target.dialect.short_ids || fits {
        return Cow::Borrowed(id);
    }
    // FNV-1a: the same id must become the same in every request.
    let hash = id.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let text = format!("{hash:016x}");
    Cow::Owned(text[text.len() - LENGTH..].to_owned())
}

fn push_user(content: Value, out: &mut Vec<Value>, target: &Target<'_>) {
    if target.dialect.bridge && out.last().is_some_and(|last| last["role"] == "tool") {
        out.push(json!({"role": "assistant", "content": BRIDGE}));
    }
    out.push(json!({"role": "user", "content": content}));
}

fn flush(pictures: &mut Vec<Value>, out: &mut Vec<Value>, target: &Target<'_>) {
    if !pictures.is_empty() {
        push_user(Value::Array(std::mem::take(pictures)), out, target);
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
    use crate::samples::{conversation, kept, sent, with_kept};

    #[test]
    fn a_conversation_with_calls_and_a_picture() {
        let body = sent("custom", "m", &conversation(), |_| {});
        assert_eq!(
            body,
            json!({
                "model": "m", "stream": true, "stream_options": {"include_usage": true},
                "temperature": 0.5, "max_tokens": 99,
                "messages": [
                    {"role": "system", "content": "be good"},
                    {"role": "user", "content": "go"},
                    {"role": "assistant", "content": "I look. ", "tool_calls": [
                        {"id": "a", "type": "function", "function": {"name": "look", "arguments": "{\"x\":1}"}},
                        {"id": "b", "type": "function", "function": {"name": "look", "arguments": "{}"}},
                    ]},
                    {"role": "tool", "tool_call_id": "a", "content": "seen"},
                    {"role": "tool", "tool_call_id": "b", "content": "no"},
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
        let body = sent("custom", "m", &request, |dialect| {
            dialect.stream = false;
            dialect.temperature = false;
            dialect.completion_tokens = true;
        });
        assert_eq!(
            body,
            json!({"model": "m", "messages": [], "stream": false, "max_completion_tokens": 1})
        );
    }

    /// Mistral refuses a person after a tool, pictures anywhere but in the result, and other ids.
    #[test]
    fn mistral_gets_its_own_order_pictures_and_ids() {
        let body = sent("mistral", "m", &conversation(), |_| {});
        let messages = body["messages"].as_array().expect("messages");
        let roles: Vec<_> = messages.iter().map(|message| &message["role"]).collect();
        assert_eq!(
            roles,
            ["system", "user", "assistant", "tool", "tool", "assistant", "user"]
                .map(|r| json!(r))
                .iter()
                .collect::<Vec<_>>()
        );
        assert_eq!(messages[3]["content"][1]["type"], "image_url");
        let id = messages[3]["tool_call_id"].as_str().expect("id");
        assert!(id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric()), "{id}");
        assert_eq!(messages[2]["tool_calls"][0]["id"], id, "the same in both places");
        assert_ne!(messages[4]["tool_call_id"], id);
    }

    /// Thoughts go back to whom they came from, and to nobody else.
    #[test]
    fn thoughts_are_given_back_to_their_model_only() {
        let thought = |model| kept("deepseek", model, json!({"reasoning_content": "hm"}));
        for (model, expected) in [("m", "hm"), ("other", "")] {
            let request = with_kept(&[thought(model)], &[]);
            let body = sent("deepseek", "m", &request, |_| {});
            assert_eq!(body["messages"][2]["reasoning_content"], expected);
        }
        let sealed = kept("openrouter", "m", json!({"reasoning_details": [{"data": "x"}]}));
        let signed = kept("openrouter", "m", json!({"extra_content": {"signature": "y"}}));
        let body = sent("openrouter", "m", &with_kept(&[sealed], &[signed]), |_| {});
        let said = &body["messages"][2];
        assert_eq!(said["reasoning_details"], json!([{"data": "x"}]));
        assert_eq!(said["tool_calls"][0]["extra_content"], json!({"signature": "y"}));
        assert!(said.get("reasoning_content").is_none());
        let body = sent("custom", "m", &with_kept(&[thought("m")], &[]), |_| {});
        assert!(!body.to_string().contains("hm"));
    }

    #[test]
    fn thinking_is_switched_as_each_server_has_it() {
        for (id, reasoning, name, expected) in [
            ("groq", Reasoning::Low, "reasoning_effort", json!("low")),
            ("ollama", Reasoning::Off, "reasoning_effort", json!("none")),
            ("openrouter", Reasoning::High, "reasoning", json!({"effort": "high"})),
            ("deepseek", Reasoning::Off, "thinking", json!({"type": "disabled"})),
            ("vllm", Reasoning::Off, "chat_template_kwargs", json!({"enable_thinking": false})),
            ("vllm", Reasoning::High, "chat_template_kwargs", json!({"enable_thinking": true})),
            ("groq", Reasoning::Own, "reasoning_effort", Value::Null),
        ] {
            let request = ChatRequest { reasoning, ..conversation() };
            assert_eq!(sent(id, "m", &request, |_| {})[name], expected, "{id} {reasoning:?}");
        }
    }

    #[test]
    fn marks_reach_models_behind_a_server_that_passes_them_on() {
        let request = ChatRequest { caching: Caching::Conversation, ..conversation() };
        let ephemeral = json!({"type": "ephemeral"});
        let body = sent("openrouter", "anthropic/claude", &request, |_| {});
        assert_eq!(body["messages"][0]["content"][0]["cache_control"], ephemeral);
        assert_eq!(body["messages"][6]["content"][0]["cache_control"], ephemeral);
        for (id, model) in [("openrouter", "openai/gpt"), ("groq", "anthropic/claude")] {
            assert!(!sent(id, model, &request, |_| {}).to_string().contains("cache_control"));
        }
    }
}
