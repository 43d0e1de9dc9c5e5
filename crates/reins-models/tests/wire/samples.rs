//! The same answer in four formats, as the providers write it: some text, two calls, usage and end.

use reins_models::Format;
use serde_json::{Value, json};

/// What the answer says. Each letter is another number of bytes.
pub(crate) const TEXT: &str = "Aé語🙂";

/// The events of a stream. Pieces of the two calls come mixed where the format has pieces.
pub(crate) fn events(format: Format) -> Vec<Value> {
    match format {
        Format::Chat => chat(),
        Format::Responses => responses(),
        Format::Messages => messages(),
        Format::Gemini => gemini(),
    }
}

/// Where in the events the first text is, and where the end begins that nothing may be without.
pub(crate) fn first_text(format: Format) -> usize {
    events(format).iter().position(|event| event.to_string().contains('A')).unwrap_or(0)
}

/// One event as bytes.
pub(crate) fn bytes(event: &Value) -> Vec<u8> {
    match event.get("type").and_then(Value::as_str) {
        Some(name) => format!("event: {name}\ndata: {event}\n\n").into_bytes(),
        None => format!("data: {event}\n\n").into_bytes(),
    }
}

/// The whole stream.
pub(crate) fn stream(format: Format) -> Vec<u8> {
    let mut all: Vec<u8> = events(format).iter().flat_map(bytes).collect();
    if format == Format::Chat {
        all.extend(b"data: [DONE]\n\n");
    }
    all
}

fn delta(delta: Value) -> Value {
    json!({"choices": [{"index": 0, "delta": delta, "finish_reason": null}]})
}

fn piece(index: u64, arguments: &str) -> Value {
    delta(json!({"tool_calls": [{"index": index, "function": {"arguments": arguments}}]}))
}

fn chat() -> Vec<Value> {
    let begin = |index: u64, id: &str, name: &str| {
        delta(json!({"tool_calls": [{"index": index, "id": id, "type": "function",
            "function": {"name": name, "arguments": ""}}]}))
    };
    vec![
        delta(json!({"role": "assistant", "content": ""})),
        delta(json!({"content": "Aé"})),
        delta(json!({"content": "語🙂"})),
        begin(0, "a", "click"),
        begin(1, "b", "type"),
        piece(1, "{\"text\":"),
        piece(0, "{\"ref\":"),
        piece(1, "\"ü\"}"),
        piece(0, "\"e1\"}"),
        json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}),
        json!({"choices": [], "usage": {"prompt_tokens": 100, "completion_tokens": 10,
            "prompt_tokens_details": {"cached_tokens": 60}}}),
    ]
}

fn responses() -> Vec<Value> {
    let item = |id: &str, name: &str, arguments: &str| {
        json!({"type": "function_call", "id": format!("fc_{id}"), "call_id": id, "name": name,
            "arguments": arguments})
    };
    let added = |index: u64, item: Value| json!({"type": "response.output_item.added", "output_index": index, "item": item});
    let done = |index: u64, item: Value| json!({"type": "response.output_item.done", "output_index": index, "item": item});
    let text = |delta: &str| json!({"type": "response.output_text.delta", "output_index": 0, "delta": delta});
    let piece = |index: u64, delta: &str| {
        json!({"type": "response.function_call_arguments.delta", "output_index": index,
            "delta": delta})
    };
    vec![
        json!({"type": "response.created", "response": {"status": "in_progress"}}),
        added(0, json!({"type": "message", "id": "msg", "content": []})),
        text("Aé"),
        text("語🙂"),
        done(
            0,
            json!({"type": "message", "id": "msg", "content": [
            {"type": "output_text", "text": TEXT}]}),
        ),
        added(1, item("a", "click", "")),
        added(2, item("b", "type", "")),
        piece(2, "{\"text\":"),
        piece(1, "{\"ref\":"),
        piece(2, "\"ü\"}"),
        piece(1, "\"e1\"}"),
        done(1, item("a", "click", "{\"ref\":\"e1\"}")),
        done(2, item("b", "type", "{\"text\":\"ü\"}")),
        json!({"type": "response.completed", "response": {"status": "completed", "usage": {
            "input_tokens": 100, "input_tokens_details": {"cached_tokens": 60},
            "output_tokens": 10}}}),
    ]
}

fn messages() -> Vec<Value> {
    let start = |index: u64, block: Value| json!({"type": "content_block_start", "index": index, "content_block": block});
    let call =
        |id: &str, name: &str| json!({"type": "tool_use", "id": id, "name": name, "input": {}});
    let delta = |index: u64, delta: Value| json!({"type": "content_block_delta", "index": index, "delta": delta});
    let text = |text: &str| delta(0, json!({"type": "text_delta", "text": text}));
    let piece = |index: u64, json: &str| {
        delta(index, json!({"type": "input_json_delta", "partial_json": json}))
    };
    let stop = |index: u64| json!({"type": "content_block_stop", "index": index});
    vec![
        json!({"type": "message_start", "message": {"usage": {"input_tokens": 40,
            "cache_read_input_tokens": 60, "output_tokens": 1}}}),
        start(0, json!({"type": "text", "text": ""})),
        text("Aé"),
        json!({"type": "ping"}),
        text("語🙂"),
        stop(0),
        start(1, call("a", "click")),
        start(2, call("b", "type")),
        piece(2, "{\"text\":"),
        piece(1, "{\"ref\":"),
        piece(2, "\"ü\"}"),
        piece(1, "\"e1\"}"),
        stop(1),
        stop(2),
        json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"},
            "usage": {"output_tokens": 10}}),
        json!({"type": "message_stop"}),
    ]
}

fn gemini() -> Vec<Value> {
    let parts = |parts: Value| json!({"candidates": [{"content": {"role": "model", "parts": parts}, "index": 0}]});
    vec![
        parts(json!([{"text": "Aé"}])),
        parts(json!([{"text": "語🙂"}])),
        parts(json!([{"functionCall": {"id": "a", "name": "click", "args": {"ref": "e1"}},
            "thoughtSignature": "sig"}])),
        parts(json!([{"functionCall": {"id": "b", "name": "type", "args": {"text": "ü"}}}])),
        json!({"candidates": [{"content": {"role": "model"}, "finishReason": "STOP"}],
            "usageMetadata": {"promptTokenCount": 100, "cachedContentTokenCount": 60,
                "candidatesTokenCount": 7, "thoughtsTokenCount": 3}}),
    ]
}

/// The same answer in one piece.
pub(crate) fn whole(format: Format) -> Value {
    let (first, second) = (json!({"ref": "e1"}), json!({"text": "ü"}));
    match format {
        Format::Chat => {
            let call = |id: &str, name: &str, arguments: &Value| {
                json!({"id": id, "type": "function",
                    "function": {"name": name, "arguments": arguments.to_string()}})
            };
            json!({"choices": [{"message": {"role": "assistant", "content": TEXT, "tool_calls": [
                call("a", "click", &first), call("b", "type", &second)]},
                "finish_reason": "tool_calls"}],
                "usage": {"prompt_tokens": 100, "completion_tokens": 10,
                    "prompt_tokens_details": {"cached_tokens": 60}}})
        }
        Format::Responses => {
            let call = |id: &str, name: &str, arguments: &Value| {
                json!({"type": "function_call", "call_id": id, "name": name,
                    "arguments": arguments.to_string()})
            };
            json!({"status": "completed", "error": null, "output": [
                {"type": "message", "content": [{"type": "output_text", "text": TEXT}]},
                call("a", "click", &first), call("b", "type", &second)],
                "usage": {"input_tokens": 100, "input_tokens_details": {"cached_tokens": 60},
                    "output_tokens": 10}})
        }
        Format::Messages => json!({"type": "message", "stop_reason": "tool_use", "content": [
            {"type": "text", "text": TEXT},
            {"type": "tool_use", "id": "a", "name": "click", "input": first},
            {"type": "tool_use", "id": "b", "name": "type", "input": second}],
            "usage": {"input_tokens": 40, "cache_read_input_tokens": 60, "output_tokens": 10}}),
        Format::Gemini => json!({"candidates": [{"finishReason": "STOP", "content": {"parts": [
            {"text": TEXT},
            {"functionCall": {"id": "a", "name": "click", "args": first}, "thoughtSignature": "sig"},
            {"functionCall": {"id": "b", "name": "type", "args": second}}]}}],
            "usageMetadata": {"promptTokenCount": 100, "cachedContentTokenCount": 60,
                "candidatesTokenCount": 7, "thoughtsTokenCount": 3}}),
    }
}

/// A failure as it is stated within a stream.
pub(crate) fn stated(format: Format) -> Value {
    match format {
        Format::Chat => json!({"error": {"message": "boom", "type": "server_error"}}),
        Format::Responses => json!({"type": "response.failed", "response": {"status": "failed",
            "error": {"code": "server_error", "message": "boom"}}}),
        Format::Messages => {
            json!({"type": "error", "error": {"type": "overloaded_error", "message": "boom"}})
        }
        Format::Gemini => {
            json!({"error": {"code": 503, "message": "boom", "status": "UNAVAILABLE"}})
        }
    }
}
