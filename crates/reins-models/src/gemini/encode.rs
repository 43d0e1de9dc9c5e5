//! Requests in the Gemini format.

use crate::message::{ChatRequest, Image, Message, Part, Reasoning, ToolCall};
use crate::wire::Target;
use base64::Engine;
use serde_json::{Map, Value, json};

/// What stands for a signature at calls that this model did not make itself. Without any it refuses
/// the conversation.
const NO_SIGNATURE: &str = "skip_thought_signature_validator";

/// The path of a request; the model is part of it.
pub(crate) fn path(target: &Target<'_>) -> String {
    let model = target.model.trim_start_matches("models/");
    // A name with a slash or a question mark would be another address.
    let name: String = url::form_urlencoded::byte_serialize(model.as_bytes()).collect();
    if target.dialect.stream {
        format!("/v1beta/models/{name}:streamGenerateContent?alt=sse")
    } else {
        format!("/v1beta/models/{name}:generateContent")
    }
}

/// The JSON body of a request.
pub(crate) fn body(request: &ChatRequest, target: &Target<'_>) -> Value {
    let mut body = Map::new();
    if !request.system.is_empty() {
        body.insert("systemInstruction".to_owned(), json!({"parts": [{"text": request.system}]}));
    }
    body.insert("contents".to_owned(), Value::Array(contents(request, target)));
    if !request.tools.is_empty() {
        let tools: Vec<_> = request
            .tools
            .iter()
            .map(|tool| {
                json!({
                    "name": tool.name,
                    "description": tool.description,
                    "parametersJsonSchema": tool.schema,
                })
            })
            .collect();
        body.insert("tools".to_owned(), json!([{"functionDeclarations": tools}]));
    }
    let mut settings = Map::new();
    if let (Some(temperature), true) = (request.temperature, target.dialect.temperature) {
        settings.insert("temperature".to_owned(), json!(temperature));
    }
    if let Some(limit) = request.max_tokens {
        settings.insert("maxOutputTokens".to_owned(), json!(limit));
    }
    if let Some(thinking) = thinking(request.reasoning, target) {
        settings.insert("thinkingConfig".to_owned(), thinking);
    }
    if let (Some(shape), true) = (&request.shape, target.dialect.shapes) {
        settings.insert("responseMimeType".to_owned(), json!("application/json"));
        settings.insert("responseJsonSchema".to_owned(), shape.schema.clone());
    }
    if !settings.is_empty() {
        body.insert("generationConfig".to_owned(), Value::Object(settings));
    }
    Value::Object(body)
}

/// The number in the model's name: `gemini-3.8-flash` is 3.
fn generation(model: &str) -> Option<u32> {
    let number = model.trim_start_matches("models/").strip_prefix("gemini-")?;
    number.split(['-', '.']).next()?.parse().ok()
}

/// Levels from the third generation on, a number of tokens before.
fn thinking(reasoning: Reasoning, target: &Target<'_>) -> Option<Value> {
    let effort = target.dialect.effort(reasoning)?;
    let mut value = if generation(target.model).is_some_and(|generation| generation < 3) {
        let tokens = match effort {
            "minimal" => 0,
            "low" => 2_048,
            "medium" => 8_192,
            _ => 24_576,
        };
        json!({"thinkingBudget": tokens})
    } else {
        json!({"thinkingLevel": effort})
    };
    if reasoning != Reasoning::Off {
        value["includeThoughts"] = json!(true);
    }
    Some(value)
}

/// Neighbours of the same role become one: all results of one answer belong into one message.
fn contents(request: &ChatRequest, target: &Target<'_>) -> Vec<Value> {
    let mut out: Vec<(&str, Vec<Value>)> = Vec::new();
    // Before the third generation pictures stand beside the results, after the last of them.
    let nested = generation(target.model).is_none_or(|generation| generation >= 3);
    let mut pictures: Vec<Value> = Vec::new();
    for message in &request.messages {
        let (role, mut parts) = match message {
            Message::User(parts) => ("user", of_parts(parts)),
            Message::Assistant { text, calls, kept } => {
                let mut parts = Vec::new();
                if !text.is_empty() {
                    let mut part = json!({"text": text});
                    if let Some(signature) = signature(target.own(kept)) {
                        part["thoughtSignature"] = json!(signature);
                    }
                    parts.push(part);
                }
                let calls = calls.iter().enumerate();
                parts.extend(calls.map(|(at, call)| one_call(call, at == 0, target)));
                ("model", parts)
            }
            Message::Tool { call, name, parts, failed } => {
                let (result, more) = result(call, name, parts, *failed, nested);
                pictures.extend(more);
                ("user", vec![result])
            }
        };
        if !matches!(message, Message::Tool { .. }) && !pictures.is_empty() {
            match out.last_mut() {
                Some((_, so_far)) => so_far.append(&mut pictures),
                None => parts.append(&mut pictures),
            }
        }
        if parts.is_empty() {
            continue;
        }
        match out.last_mut() {
            Some((last, so_far)) if *last == role => so_far.extend(parts),
            _ => out.push((role, parts)),
        }
    }
    if let Some((_, so_far)) = out.last_mut() {
        so_far.append(&mut pictures);
    }
    out.into_iter().map(|(role, parts)| json!({"role": role, "parts": parts})).collect()
}

fn signature<'k>(mut kept: impl Iterator<Item = &'k Value>) -> Option<&'k str> {
    kept.find_map(|data| data.get("thoughtSignature")).and_then(Value::as_str)
}

/// The first call of an answer carries the signature of all.
fn one_call(call: &ToolCall, first: bool, target: &Target<'_>) -> Value {
    let arguments = serde_json::from_str::<Map<String, Value>>(&call.arguments).unwrap_or_default();
    let mut part = json!({"functionCall": {"id": call.id, "name": call.name, "args": arguments}});
    let own = signature(target.own(&call.kept));
    if let Some(signature) = own.or(first.then_some(NO_SIGNATURE)) {
        part["thoughtSignature"] = json!(signature);
    }
    part
}

/// A result, and the pictures that have to stand beside it.
fn result(
    call: &str,
    name: &str,
    parts: &[Part],
    failed: bool,
    nested: bool,
) -> (Value, Vec<Value>) {
    let mut text = String::new();
    let mut pictures = Vec::new();
    for part in parts {
        match part {
            Part::Text(more) => text.push_str(more),
            Part::Image(image) => pictures.push(picture(image)),
        }
    }
    let word = if failed { "error" } else { "output" };
    let mut response = json!({"id": call, "name": name, "response": {word: text}});
    if nested && !pictures.is_empty() {
        response["parts"] = Value::Array(std::mem::take(&mut pictures));
    }
    (json!({"functionResponse": response}), pictures)
}

fn of_parts(parts: &[Part]) -> Vec<Value> {
    parts
        .iter()
        .filter_map(|part| match part {
            Part::Text(text) if text.is_empty() => None,
            Part::Text(text) => Some(json!({"text": text})),
            Part::Image(image) => Some(picture(image)),
        })
        .collect()
}

fn picture(image: &Image) -> Value {
    let data = base64::engine::general_purpose::STANDARD.encode(&image.bytes);
    json!({"inlineData": {"mimeType": image.mime, "data": data}})
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{conversation, kept, sent, with_kept};

    #[test]
    fn a_conversation_with_calls_and_a_picture_in_a_result() {
        let image = json!({"inlineData": {"mimeType": "image/png", "data": "cG5n"}});
        let result = |call: &str, response: Value| json!({"functionResponse": {"id": call, "name": "look", "response": response}});
        let mut first = result("a", json!({"output": "seen"}));
        first["functionResponse"]["parts"] = json!([image]);
        let mut expected = json!({
            "systemInstruction": {"parts": [{"text": "be good"}]},
            "contents": [
                {"role": "user", "parts": [{"text": "go"}]},
                {"role": "model", "parts": [
                    {"text": "I look. "},
                    {"functionCall": {"id": "a", "name": "look", "args": {"x": 1}}, "thoughtSignature": NO_SIGNATURE},
                    {"functionCall": {"id": "b", "name": "look", "args": {}}},
                ]},
                {"role": "user", "parts": [first, result("b", json!({"error": "no"})), {"text": "more"}]},
            ],
            "tools": [{"functionDeclarations": [
                {"name": "look", "description": "looks", "parametersJsonSchema": {"type": "object"}}]}],
            "generationConfig": {"temperature": 0.5, "maxOutputTokens": 99},
        });
        assert_eq!(sent("gemini", "gemini-3.8-flash", &conversation(), |_| {}), expected);
        // Older ones get the picture beside the results, before what comes next.
        expected["contents"][2]["parts"] = json!([
            result("a", json!({"output": "seen"})), result("b", json!({"error": "no"})), image, {"text": "more"}]);
        assert_eq!(sent("gemini", "gemini-2.5-flash", &conversation(), |_| {}), expected);
    }

    #[test]
    fn signatures_go_back_to_their_model_only() {
        let signed = |model| kept("gemini", model, json!({"thoughtSignature": "sig"}));
        for (model, expected) in [("gemini-3", "sig"), ("gemini-4", NO_SIGNATURE)] {
            let request = with_kept(&[], &[signed(model)]);
            let body = sent("gemini", "gemini-3", &request, |_| {});
            assert_eq!(body["contents"][1]["parts"][1]["thoughtSignature"], expected);
        }
    }

    #[test]
    fn thinking_as_each_generation_has_it() {
        for (model, reasoning, expected) in [
            ("gemini-3.8-flash", Reasoning::Off, json!({"thinkingLevel": "minimal"})),
            (
                "gemini-3.8-flash",
                Reasoning::Low,
                json!({"thinkingLevel": "low", "includeThoughts": true}),
            ),
            ("gemini-2.5-flash", Reasoning::Off, json!({"thinkingBudget": 0})),
            (
                "gemini-2.5-pro",
                Reasoning::High,
                json!({"thinkingBudget": 24576, "includeThoughts": true}),
            ),
            ("gemini-2.5-pro", Reasoning::Own, Value::Null),
        ] {
            let request = ChatRequest { reasoning, ..conversation() };
            let body = sent("gemini", model, &request, |_| {});
            assert_eq!(body["generationConfig"]["thinkingConfig"], expected, "{model}");
        }
    }
}
