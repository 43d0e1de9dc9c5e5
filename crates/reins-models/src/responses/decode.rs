//! Answers in the Responses format.

use crate::error::ModelError;
use crate::event::{ModelEvent, StopReason, Usage};
use crate::failure;
use crate::message::Kept;
use crate::provider::Endpoint;
use crate::sse::SseEvent;
use serde_json::Value;

/// Reads one answer.
#[derive(Debug)]
pub(crate) struct Decoder {
    endpoint: Endpoint,
    /// Who gives what is to be kept.
    source: String,
    /// The calls in the order in which they began.
    calls: Vec<Item>,
    /// Messages whose text came in pieces, so that it is not given out again at their end.
    told: Vec<Place>,
    has_text: bool,
    usage: Option<Usage>,
    stop: Option<StopReason>,
    ended: bool,
}

#[derive(Debug)]
struct Item {
    place: Place,
    has_pieces: bool,
}

/// Where an item stands in the answer. Servers name it by number, by id, or by both.
#[derive(Debug, PartialEq, Eq)]
struct Place {
    number: Option<u64>,
    id: String,
}

impl Place {
    fn is(&self, other: &Place) -> bool {
        match (self.number, other.number) {
            (Some(own), Some(other)) => own == other,
            _ => !self.id.is_empty() && self.id == other.id,
        }
    }
}

impl Decoder {
    pub(crate) fn new(endpoint: Endpoint, source: String) -> Self {
        Self {
            endpoint,
            source,
            calls: Vec::new(),
            told: Vec::new(),
            has_text: false,
            usage: None,
            stop: None,
            ended: false,
        }
    }

    /// Whether the answer's own end was seen.
    pub(crate) fn is_complete(&self) -> bool {
        self.ended
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
        let data = event.data.trim();
        // Not part of the format, but some servers end all their streams alike.
        if data.is_empty() || data == "[DONE]" {
            return Ok(());
        }
        let value = event.json()?;
        let kind = value.get("type").and_then(Value::as_str).unwrap_or(&event.name);
        let item = value.get("item").unwrap_or(&Value::Null);
        let text = |key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default();
        match kind {
            "response.output_item.added" => self.begin(item, place(&value, item), out),
            "response.output_item.done" => self.item(item, place(&value, item), out),
            "response.output_text.delta" | "response.refusal.delta" => {
                let place = place(&value, item);
                if !self.was_told(&place) {
                    self.told.push(place);
                }
                self.say(text("delta"), out);
            }
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                out.push(ModelEvent::Reasoning(text("delta").to_owned()));
            }
            "response.reasoning_summary_part.added" => {
                out.push(ModelEvent::Reasoning("\n".to_owned()));
            }
            "response.function_call_arguments.delta" => {
                self.arguments(&place(&value, item), text("delta"), out);
            }
            "response.completed" | "response.incomplete" | "response.failed" => {
                let response = value.get("response").unwrap_or(&Value::Null);
                self.end(response, kind.trim_start_matches("response."), out)?;
            }
            _ if kind == "error" || says_only_error(&value) => {
                return Err(failure::stated(&value, &self.endpoint));
            }
            // Beginnings and ends of parts, and kinds that may come later.
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
        let failed = value.get("error").is_some_and(|error| !error.is_null());
        if value.get("output").and_then(Value::as_array).is_none() && !failed {
            return Err(ModelError::Malformed { what: "an answer without output".to_owned() });
        }
        let status = value.get("status").and_then(Value::as_str).unwrap_or("completed");
        self.end(value, if failed { "failed" } else { status }, out)
    }

    /// The last events, once the answer is complete.
    pub(crate) fn finish(&mut self, out: &mut Vec<ModelEvent>) {
        out.extend(self.usage.take().map(ModelEvent::Usage));
        let stop = match self.stop.take() {
            Some(StopReason::End) | None if !self.calls.is_empty() => StopReason::Calls,
            stop => stop.unwrap_or(StopReason::End),
        };
        out.push(ModelEvent::Stop(stop));
    }

    /// Whether the text of a message came in pieces.
    fn was_told(&self, place: &Place) -> bool {
        let nameless = place.number.is_none() && place.id.is_empty();
        (nameless && !self.told.is_empty()) || self.told.iter().any(|told| told.is(place))
    }

    fn say(&mut self, text: &str, out: &mut Vec<ModelEvent>) {
        if !text.is_empty() {
            self.has_text = true;
            out.push(ModelEvent::Text(text.to_owned()));
        }
    }

    /// An item begins. Only calls are of interest yet.
    fn begin(&mut self, item: &Value, place: Place, out: &mut Vec<ModelEvent>) {
        let kind = item.get("type").and_then(Value::as_str);
        if kind != Some("function_call") || self.calls.iter().any(|call| call.place.is(&place)) {
            return;
        }
        let text = |key: &str| {
            let text = item.get(key).and_then(Value::as_str);
            text.filter(|text| !text.is_empty()).map(str::to_owned)
        };
        let (id, name) = (text("call_id").or_else(|| text("id")), text("name"));
        let index = self.calls.len();
        self.calls.push(Item { place, has_pieces: false });
        out.push(ModelEvent::Call { index, id, name, arguments: String::new() });
    }

    fn arguments(&mut self, place: &Place, more: &str, out: &mut Vec<ModelEvent>) {
        let found = self.calls.iter_mut().enumerate().find(|(_, call)| call.place.is(place));
        if let (Some((index, call)), false) = (found, more.is_empty()) {
            call.has_pieces = true;
            let arguments = more.to_owned();
            out.push(ModelEvent::Call { index, id: None, name: None, arguments });
        }
    }

    /// A whole item, with whatever did not come in pieces before.
    fn item(&mut self, item: &Value, place: Place, out: &mut Vec<ModelEvent>) {
        match item.get("type").and_then(Value::as_str) {
            Some("function_call") => {
                let known = self.calls.iter().find(|call| call.place.is(&place));
                if known.is_some_and(|call| call.has_pieces) {
                    return;
                }
                let arguments = item.get("arguments").and_then(Value::as_str).unwrap_or("{}");
                let again = Place { number: place.number, id: place.id.clone() };
                self.begin(item, place, out);
                self.arguments(&again, arguments, out);
            }
            Some("message") if !self.was_told(&place) => {
                for part in item.get("content").and_then(Value::as_array).into_iter().flatten() {
                    let text = part.get("text").or_else(|| part.get("refusal"));
                    self.say(text.and_then(Value::as_str).unwrap_or_default(), out);
                }
            }
            // What is not sealed cannot be given back: nothing is stored on the other side.
            Some("reasoning") if item.get("encrypted_content").is_some_and(Value::is_string) => {
                let mut data = item.clone();
                if let Some(fields) = data.as_object_mut() {
                    fields.retain(|name, _| {
                        ["type", "id", "summary", "encrypted_content"].contains(&name.as_str())
                    });
                }
                let led_to = self.calls.len();
                let index = (led_to > 0 || self.has_text).then_some(led_to);
                let kept = Kept { source: self.source.clone(), data };
                out.push(ModelEvent::Keep { index, kept });
            }
            _ => {}
        }
    }

    /// The end, with everything once more.
    fn end(
        &mut self,
        response: &Value,
        status: &str,
        out: &mut Vec<ModelEvent>,
    ) -> Result<(), ModelError> {
        let nothing_yet = self.calls.is_empty() && !self.has_text;
        let output = response.get("output").and_then(Value::as_array);
        if let (Some(items), true) = (output, nothing_yet) {
            for (number, item) in (0..).zip(items) {
                let mut place = place(&Value::Null, item);
                place.number = Some(number);
                self.item(item, place, out);
            }
        }
        if let Some(usage) = response.get("usage").filter(|usage| usage.is_object()) {
            self.usage = Some(read_usage(usage));
        }
        let reason = response.pointer("/incomplete_details/reason").and_then(Value::as_str);
        self.stop = Some(match (status, reason) {
            ("failed" | "cancelled", _) => {
                return Err(failure::stated(response, &self.endpoint));
            }
            ("incomplete", Some("content_filter")) => StopReason::Filtered,
            ("incomplete", Some(reason)) if reason != "max_output_tokens" => {
                StopReason::Other(reason.to_owned())
            }
            ("incomplete", _) => StopReason::Length,
            _ => StopReason::End,
        });
        self.ended = true;
        Ok(())
    }
}

fn place(value: &Value, item: &Value) -> Place {
    let id = value.get("item_id").or_else(|| item.get("id")).and_then(Value::as_str);
    let number = value.get("output_index").and_then(Value::as_u64);
    Place { number, id: id.unwrap_or_default().to_owned() }
}

/// Whether an event without a kind is an error.
fn says_only_error(value: &Value) -> bool {
    value.get("type").is_none() && value.get("error").is_some_and(Value::is_object)
}

fn read_usage(usage: &Value) -> Usage {
    let number = |path: &str| usage.pointer(path).and_then(Value::as_u64).unwrap_or(0);
    Usage {
        input: number("/input_tokens"),
        cached: number("/input_tokens_details/cached_tokens"),
        cache_written: number("/input_tokens_details/cache_write_tokens"),
        output: number("/output_tokens"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reply::{Reply, ReplyBuilder};
    use crate::samples;
    use serde_json::json;

    fn decoder() -> Decoder {
        Decoder::new(samples::endpoint("openai"), "s".to_owned())
    }

    fn build(mut decoder: Decoder, mut out: Vec<ModelEvent>) -> Reply {
        decoder.finish(&mut out);
        let mut builder = ReplyBuilder::default();
        out.iter().for_each(|event| builder.push(event));
        builder.finish("x")
    }

    fn read(events: &[Value]) -> Result<Reply, ModelError> {
        let (mut decoder, mut out) = (decoder(), Vec::new());
        for event in events {
            let event = SseEvent { name: String::new(), data: event.to_string() };
            decoder.event(&event, &mut out)?;
        }
        assert!(decoder.is_over(), "the last event ends it");
        Ok(build(decoder, out))
    }

    fn added(index: u64, item: Value) -> Value {
        json!({"type": "response.output_item.added", "output_index": index, "item": item})
    }

    fn done(index: u64, item: Value) -> Value {
        json!({"type": "response.output_item.done", "output_index": index, "item": item})
    }

    fn arguments(index: u64, delta: &str) -> Value {
        json!({"type": "response.function_call_arguments.delta", "output_index": index, "delta": delta})
    }

    fn completed() -> Value {
        json!({"type": "response.completed", "response": {"status": "completed", "usage": {
            "input_tokens": 10, "input_tokens_details": {"cached_tokens": 8}, "output_tokens": 3}}})
    }

    fn call(id: &str, arguments: &str) -> Value {
        json!({"type": "function_call", "id": format!("fc_{id}"), "call_id": id, "name": "f", "arguments": arguments})
    }

    #[test]
    fn text_thoughts_and_interleaved_calls() {
        let sealed = json!({"type": "reasoning", "id": "rs", "summary": [], "encrypted_content": "x", "status": "done"});
        let reply = read(&[
            json!({"type": "response.created", "response": {"status": "in_progress"}}),
            json!({"type": "response.reasoning_summary_text.delta", "output_index": 0, "delta": "hm"}),
            done(0, sealed),
            added(1, json!({"type": "message", "content": []})),
            json!({"type": "response.output_text.delta", "output_index": 1, "delta": "Hi"}),
            done(1, json!({"type": "message", "content": [{"type": "output_text", "text": "Hi"}]})),
            added(3, call("b", "")),
            added(2, call("a", "")),
            arguments(2, "{\"x\""),
            arguments(3, "{\"y\":2"),
            arguments(2, ":1}"),
            arguments(3, "}"),
            done(2, call("a", "{\"x\":1}")),
            done(3, call("b", "{\"y\":2}")),
            completed(),
        ])
        .expect("reply");
        assert_eq!((reply.text.as_str(), reply.reasoning.as_str()), ("Hi", "hm"));
        let calls: Vec<_> =
            reply.calls.iter().map(|call| format!("{} {}", call.id, call.arguments)).collect();
        assert_eq!(calls, ["b {\"y\":2}", "a {\"x\":1}"]);
        assert_eq!(reply.stop, Some(StopReason::Calls));
        let usage = Usage { input: 10, cached: 8, cache_written: 0, output: 3 };
        assert_eq!(reply.usage, Some(usage));
        let thought =
            json!({"type": "reasoning", "id": "rs", "summary": [], "encrypted_content": "x"});
        assert_eq!(reply.kept[0].data, thought);
    }

    #[test]
    fn servers_that_send_only_whole_items_or_only_the_end() {
        let whole = json!({"type": "message", "content": [{"type": "output_text", "text": "Hi"}]});
        let reply =
            read(&[done(0, whole.clone()), done(1, call("a", "{}")), completed()]).expect("reply");
        assert_eq!((reply.text.as_str(), reply.calls.len()), ("Hi", 1));
        let end =
            json!({"type": "response.completed", "response": {"output": [whole, call("a", "{}")]}});
        let reply = read(&[end]).expect("reply");
        assert_eq!((reply.text.as_str(), reply.calls[0].arguments.as_str()), ("Hi", "{}"));
    }

    #[test]
    fn pieces_that_are_named_by_id_only() {
        let reply = read(&[
            json!({"type": "response.output_item.added", "item": call("a", "")}),
            json!({"type": "response.output_item.added", "item": call("b", "")}),
            json!({"type": "response.function_call_arguments.delta", "item_id": "fc_b", "delta": "{\"b\":1}"}),
            json!({"type": "response.function_call_arguments.delta", "item_id": "fc_a", "delta": "{\"a\":1}"}),
            completed(),
        ])
        .expect("reply");
        assert_eq!(reply.calls[0].arguments, "{\"a\":1}");
        assert_eq!(reply.calls[1].arguments, "{\"b\":1}");
    }

    #[test]
    fn the_ways_in_which_it_ends_early() {
        for (reason, expected) in [
            ("max_output_tokens", StopReason::Length),
            ("content_filter", StopReason::Filtered),
            ("tired", StopReason::Other("tired".to_owned())),
        ] {
            let end = json!({"type": "response.incomplete", "response": {"incomplete_details": {"reason": reason}}});
            assert_eq!(read(&[end]).expect("reply").stop, Some(expected));
        }
        let failed = json!({"type": "response.failed", "response": {"error": {"code": "server_error", "message": "boom"}}});
        assert_eq!(read(&[failed]).expect_err("failed").code(), "server_failed");
        let error =
            json!({"type": "error", "code": "context_length_exceeded", "message": "too long"});
        assert_eq!(read(&[error]).expect_err("error").code(), "context_too_long");
    }

    #[test]
    fn a_whole_answer() {
        let (mut decoder, mut out) = (decoder(), Vec::new());
        let answer = json!({"status": "completed", "error": null, "output": [
            {"type": "message", "content": [{"type": "output_text", "text": "ok"}]}, call("a", "{}")],
            "usage": {"input_tokens": 1, "output_tokens": 2}});
        decoder.whole(&answer, &mut out).expect("whole");
        let reply = build(decoder, out);
        assert_eq!((reply.text.as_str(), reply.calls.len()), ("ok", 1));
        assert_eq!(reply.usage.map(|usage| usage.output), Some(2));
    }
}
