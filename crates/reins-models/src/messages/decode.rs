//! Answers in the Messages format.

use crate::error::ModelError;
use crate::event::{ModelEvent, StopReason, Usage};
use crate::failure;
use crate::message::Kept;
use crate::provider::Endpoint;
use crate::sse::SseEvent;
use serde_json::{Value, json};

/// Reads one answer.
#[derive(Debug)]
pub(crate) struct Decoder {
    endpoint: Endpoint,
    /// Who gives what is to be kept.
    source: String,
    /// The calls in their order.
    calls: Vec<Block>,
    /// Thoughts that are still open, by their block's number: what they say and their signature.
    thoughts: Vec<(u64, String, String)>,
    has_text: bool,
    usage: Usage,
    has_usage: bool,
    stop: Option<StopReason>,
    ended: bool,
}

#[derive(Debug)]
struct Block {
    /// The block's own number, which counts text blocks too.
    number: u64,
    /// Arguments that came with the block's start: usually the empty placeholder.
    placeholder: String,
    has_pieces: bool,
    is_open: bool,
}

impl Decoder {
    pub(crate) fn new(endpoint: Endpoint, source: String) -> Self {
        Self {
            endpoint,
            source,
            calls: Vec::new(),
            thoughts: Vec::new(),
            has_text: false,
            usage: Usage::default(),
            has_usage: false,
            stop: None,
            ended: false,
        }
    }

    /// Whether the answer's own end was seen.
    pub(crate) fn is_complete(&self) -> bool {
        self.ended || self.stop.is_some()
    }

    /// Whether nothing more will come.
    pub(crate) fn is_over(&self) -> bool {
        self.ended
    }

    /// Takes one event of a stream.
    pub(crate) fn event(
        &mut self,
        event: &SseEvent,
        out: &mut Vec<ModelEvent>,
    ) -> Result<(), ModelError> {
        let value = event.json()?;
        let kind = value.get("type").and_then(Value::as_str).unwrap_or(&event.name);
        let number = value.get("index").and_then(Value::as_u64).unwrap_or(0);
        match kind {
            "message_start" => self.usage(value.pointer("/message/usage")),
            "content_block_start" => {
                self.start(number, value.get("content_block").unwrap_or(&Value::Null), out);
            }
            "content_block_delta" => {
                self.delta(number, value.get("delta").unwrap_or(&Value::Null), out);
            }
            "content_block_stop" => self.close(number, out),
            "message_delta" => {
                self.usage(value.get("usage"));
                if let Some(reason) = value.pointer("/delta/stop_reason").and_then(Value::as_str) {
                    self.stop = Some(read_stop(reason));
                }
            }
            "message_stop" => self.ended = true,
            "error" => {
                return Err(failure::stated(&value, &self.endpoint));
            }
            // Pings, and kinds that may come later.
            _ => {}
        }
        Ok(())
    }

    /// Takes a whole answer that was not streamed.
    pub(crate) fn whole(
        &mut self,
        value: &Value,
        out: &mut Vec<ModelEvent>,
    ) -> Result<(), ModelError> {
        if value.get("type").and_then(Value::as_str) == Some("error") {
            return Err(failure::stated(value, &self.endpoint));
        }
        let Some(blocks) = value.get("content").and_then(Value::as_array) else {
            return Err(ModelError::Malformed { what: "an answer without content".to_owned() });
        };
        for (number, block) in (0..).zip(blocks) {
            self.start(number, block, out);
            self.close(number, out);
        }
        self.usage(value.get("usage"));
        let reason = value.get("stop_reason").and_then(Value::as_str).unwrap_or("end_turn");
        self.stop = Some(read_stop(reason));
        self.ended = true;
        Ok(())
    }

    /// The last events, once the answer is complete.
    pub(crate) fn finish(&mut self, out: &mut Vec<ModelEvent>) {
        let open: Vec<_> =
            self.calls.iter().filter(|call| call.is_open).map(|call| call.number).collect();
        for number in open {
            self.close(number, out);
        }
        if self.has_usage {
            out.push(ModelEvent::Usage(self.usage));
        }
        out.push(ModelEvent::Stop(self.stop.take().unwrap_or(StopReason::End)));
    }

    fn start(&mut self, number: u64, block: &Value, out: &mut Vec<ModelEvent>) {
        let text = |key: &str| {
            block
                .get(key)
                .and_then(Value::as_str)
                .filter(|text| !text.is_empty())
                .map(str::to_owned)
        };
        match block.get("type").and_then(Value::as_str) {
            Some("text") => {
                self.has_text = true;
                out.extend(text("text").map(ModelEvent::Text));
            }
            Some("thinking") => {
                let (thought, signature) = (text("thinking"), text("signature"));
                out.extend(thought.clone().map(ModelEvent::Reasoning));
                let (thought, signature) =
                    (thought.unwrap_or_default(), signature.unwrap_or_default());
                self.thoughts.push((number, thought, signature));
            }
            Some("redacted_thinking") => out.push(self.keep(block.clone())),
            Some("tool_use") => {
                let input = block.get("input").unwrap_or(&Value::Null);
                let placeholder = match input {
                    Value::Object(fields) if !fields.is_empty() => input.to_string(),
                    _ => "{}".to_owned(),
                };
                let index = self.calls.len();
                self.calls.push(Block { number, placeholder, has_pieces: false, is_open: true });
                out.push(ModelEvent::Call {
                    index,
                    id: text("id"),
                    name: text("name"),
                    arguments: String::new(),
                });
            }
            _ => {}
        }
    }

    fn delta(&mut self, number: u64, delta: &Value, out: &mut Vec<ModelEvent>) {
        let text =
            |key: &str| delta.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        match delta.get("type").and_then(Value::as_str) {
            Some("text_delta") => out.push(ModelEvent::Text(text("text"))),
            Some("thinking_delta") => {
                let more = text("thinking");
                if let Some((_, thought, _)) = self.thought(number) {
                    thought.push_str(&more);
                }
                out.push(ModelEvent::Reasoning(more));
            }
            Some("signature_delta") => {
                let more = text("signature");
                if let Some((_, _, signature)) = self.thought(number) {
                    signature.push_str(&more);
                }
            }
            Some("input_json_delta") => {
                let arguments = text("partial_json");
                let found = self.calls.iter().position(|call| call.number == number);
                if let (Some(index), false) = (found, arguments.is_empty()) {
                    self.calls[index].has_pieces = true;
                    out.push(ModelEvent::Call { index, id: None, name: None, arguments });
                }
            }
            _ => {}
        }
    }

    fn thought(&mut self, number: u64) -> Option<&mut (u64, String, String)> {
        self.thoughts.iter_mut().find(|thought| thought.0 == number)
    }

    /// A thought belongs to what it led to: the next call, or the answer as a whole.
    fn keep(&self, data: Value) -> ModelEvent {
        let led_to = self.calls.len();
        let index = (led_to > 0 || self.has_text).then_some(led_to);
        ModelEvent::Keep { index, kept: Kept { source: self.source.clone(), data } }
    }

    /// A call without pieces has the arguments that it started with.
    fn close(&mut self, number: u64, out: &mut Vec<ModelEvent>) {
        if let Some(at) = self.thoughts.iter().position(|thought| thought.0 == number) {
            let (_, thinking, signature) = self.thoughts.remove(at);
            // Servers that sign nothing want nothing back.
            if !signature.is_empty() {
                let data =
                    json!({"type": "thinking", "thinking": thinking, "signature": signature});
                out.push(self.keep(data));
            }
        }
        let found = self.calls.iter_mut().enumerate().find(|(_, call)| call.number == number);
        if let Some((index, call)) = found.filter(|(_, call)| call.is_open) {
            call.is_open = false;
            if !call.has_pieces {
                let arguments = std::mem::take(&mut call.placeholder);
                out.push(ModelEvent::Call { index, id: None, name: None, arguments });
            }
        }
    }

    fn usage(&mut self, usage: Option<&Value>) {
        let Some(usage) = usage.filter(|usage| usage.is_object()) else {
            return;
        };
        self.has_usage = true;
        let number = |key: &str| usage.get(key).and_then(Value::as_u64);
        if let Some(cached) = number("cache_read_input_tokens") {
            self.usage.cached = cached;
        }
        if let Some(written) = number("cache_creation_input_tokens") {
            self.usage.cache_written = written;
        }
        // This format counts what was cached apart from the rest.
        if let Some(input) = number("input_tokens") {
            self.usage.input = input + self.usage.cached + self.usage.cache_written;
        }
        if let Some(output) = number("output_tokens") {
            self.usage.output = output;
        }
    }
}

fn read_stop(reason: &str) -> StopReason {
    match reason {
        "end_turn" | "stop_sequence" => StopReason::End,
        "tool_use" => StopReason::Calls,
        "max_tokens" | "model_context_window_exceeded" => StopReason::Length,
        "refusal" => StopReason::Filtered,
        other => StopReason::Other(other.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reply::{Reply, ReplyBuilder};
    use crate::table::PROVIDERS;
    use serde_json::json;

    fn build(out: &[ModelEvent]) -> Reply {
        let mut builder = ReplyBuilder::default();
        out.iter().for_each(|event| builder.push(event));
        builder.finish("x")
    }

    fn decoder() -> Decoder {
        Decoder::new(Endpoint::of(&PROVIDERS[0], None).expect("endpoint"), "s".to_owned())
    }

    fn read(events: &[Value]) -> Result<Reply, ModelError> {
        let mut decoder = decoder();
        let mut out = Vec::new();
        for event in events {
            let event = SseEvent { name: String::new(), data: event.to_string() };
            decoder.event(&event, &mut out)?;
        }
        decoder.finish(&mut out);
        Ok(build(&out))
    }

    #[test]
    fn text_calls_and_usage() {
        let reply = read(&[
            json!({"type": "message_start", "message": {"usage": {"input_tokens": 5, "cache_read_input_tokens": 100, "cache_creation_input_tokens": 20, "output_tokens": 1}}}),
            json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
            json!({"type": "ping"}),
            json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hi"}}),
            json!({"type": "content_block_stop", "index": 0}),
            json!({"type": "content_block_start", "index": 1, "content_block": {"type": "tool_use", "id": "a", "name": "click", "input": {}}}),
            json!({"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": ""}}),
            json!({"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": "{\"ref\":"}}),
            json!({"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": "\"e1\"}"}}),
            json!({"type": "content_block_stop", "index": 1}),
            json!({"type": "content_block_start", "index": 2, "content_block": {"type": "tool_use", "id": "b", "name": "look", "input": {}}}),
            json!({"type": "content_block_stop", "index": 2}),
            json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 42}}),
            json!({"type": "message_stop"}),
        ])
        .expect("reply");
        assert_eq!(reply.text, "Hi");
        assert_eq!(reply.calls[0].arguments, "{\"ref\":\"e1\"}");
        assert_eq!(reply.calls[1].arguments, "{}", "the placeholder is what there is");
        assert_eq!(reply.stop, Some(StopReason::Calls));
        let usage = Usage { input: 125, cached: 100, cache_written: 20, output: 42 };
        assert_eq!(reply.usage, Some(usage));
    }

    #[test]
    fn a_call_that_comes_whole_with_its_start() {
        let reply = read(&[
            json!({"type": "content_block_start", "index": 0, "content_block": {"type": "tool_use", "id": "a", "name": "f", "input": {"x": 1}}}),
            json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}}),
        ])
        .expect("reply");
        assert_eq!(reply.calls[0].arguments, "{\"x\":1}");
    }

    /// Signed thoughts come along: those before everything with the answer, later ones with the call
    /// that they led to; unsigned ones do not.
    #[test]
    fn signed_thoughts_are_kept() {
        let start = |index: u64, block: Value| json!({"type": "content_block_start", "index": index, "content_block": block});
        let delta = |index: u64, delta: Value| json!({"type": "content_block_delta", "index": index, "delta": delta});
        let stop = |index: u64| json!({"type": "content_block_stop", "index": index});
        let call = json!({"type": "tool_use", "id": "a", "name": "f", "input": {}});
        let reply = read(&[
            start(0, json!({"type": "thinking", "thinking": "", "signature": ""})),
            delta(0, json!({"type": "thinking_delta", "thinking": "h"})),
            delta(0, json!({"type": "thinking_delta", "thinking": "m"})),
            delta(0, json!({"type": "signature_delta", "signature": "sig"})),
            stop(0),
            start(1, json!({"type": "text", "text": "Hi"})),
            stop(1),
            start(2, json!({"type": "redacted_thinking", "data": "x"})),
            stop(2),
            start(3, call),
            stop(3),
            start(4, json!({"type": "thinking", "thinking": "unsigned"})),
            stop(4),
            json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}}),
        ])
        .expect("reply");
        assert_eq!(reply.reasoning, "hmunsigned");
        assert_eq!(reply.kept.len(), 1);
        let signed = json!({"type": "thinking", "thinking": "hm", "signature": "sig"});
        assert_eq!(reply.kept[0].data, signed);
        assert_eq!(reply.calls[0].kept[0].data, json!({"type": "redacted_thinking", "data": "x"}));
    }

    #[test]
    fn an_error_within_the_stream() {
        let error = read(&[
            json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}),
        ]);
        assert_eq!(error.expect_err("error").code(), "server_failed");
    }

    #[test]
    fn a_whole_answer() {
        let mut decoder = decoder();
        let mut out = Vec::new();
        let answer = json!({"type": "message", "stop_reason": "tool_use", "usage": {"input_tokens": 3, "output_tokens": 2}, "content": [
            {"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "ok"},
            {"type": "tool_use", "id": "a", "name": "f", "input": {"x": 1}}]});
        decoder.whole(&answer, &mut out).expect("whole");
        decoder.finish(&mut out);
        let reply = build(&out);
        assert_eq!((reply.text.as_str(), reply.reasoning.as_str()), ("ok", "hm"));
        assert_eq!(reply.calls[0].arguments, "{\"x\":1}");
    }
}
