//! Answers in the Gemini format.

use crate::error::ModelError;
use crate::event::{ModelEvent, StopReason, Usage};
use crate::failure;
use crate::message::Kept;
use crate::provider::Endpoint;
use crate::sse::SseEvent;
use serde_json::{Value, json};

/// Reads one answer. Every event of a stream has the shape of a whole answer.
#[derive(Debug)]
pub(crate) struct Decoder {
    endpoint: Endpoint,
    /// Who gives what is to be kept.
    source: String,
    calls: usize,
    usage: Option<Usage>,
    stop: Option<StopReason>,
    ended: bool,
}

impl Decoder {
    pub(crate) fn new(endpoint: Endpoint, source: String) -> Self {
        Self { endpoint, source, calls: 0, usage: None, stop: None, ended: false }
    }

    /// Whether the answer's own end was seen; only usage may still come.
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
        let data = event.data.trim();
        if data == "[DONE]" {
            self.ended = self.stop.is_some();
            return Ok(());
        }
        if data.is_empty() {
            return Ok(());
        }
        let value = event.json()?;
        self.value(&value, out)
    }

    /// Takes a whole answer that was not streamed.
    pub(crate) fn whole(
        &mut self,
        value: &Value,
        out: &mut Vec<ModelEvent>,
    ) -> Result<(), ModelError> {
        // Asked for a stream without `alt=sse`, the server answers with a list of pieces.
        let one = std::slice::from_ref(value);
        let pieces = value.as_array().map_or(one, Vec::as_slice);
        for piece in pieces {
            self.value(piece, out)?;
        }
        if self.stop.is_none() {
            return Err(ModelError::Malformed { what: "an answer without an end".to_owned() });
        }
        self.ended = true;
        Ok(())
    }

    /// The last events, once the answer is complete.
    pub(crate) fn finish(&mut self, out: &mut Vec<ModelEvent>) {
        out.extend(self.usage.take().map(ModelEvent::Usage));
        let stop = match self.stop.take() {
            Some(StopReason::End) | None if self.calls > 0 => StopReason::Calls,
            stop => stop.unwrap_or(StopReason::End),
        };
        out.push(ModelEvent::Stop(stop));
    }

    fn value(&mut self, value: &Value, out: &mut Vec<ModelEvent>) -> Result<(), ModelError> {
        if value.get("error").is_some_and(|error| !error.is_null()) {
            return Err(failure::stated(value, &self.endpoint));
        }
        if let Some(usage) = value.get("usageMetadata").filter(|usage| usage.is_object()) {
            self.usage = Some(read_usage(usage));
        }
        if value.pointer("/promptFeedback/blockReason").is_some_and(Value::is_string) {
            self.stop = Some(StopReason::Filtered);
        }
        // Only the first candidate is ever asked for.
        let Some(candidate) = value.pointer("/candidates/0") else {
            return Ok(());
        };
        let parts = candidate.pointer("/content/parts").and_then(Value::as_array);
        for part in parts.into_iter().flatten() {
            self.part(part, out);
        }
        if let Some(reason) = candidate.get("finishReason").and_then(Value::as_str) {
            self.stop = Some(read_stop(reason));
        }
        Ok(())
    }

    fn part(&mut self, part: &Value, out: &mut Vec<ModelEvent>) {
        let mut index = None;
        let text = part.get("text").and_then(Value::as_str).filter(|text| !text.is_empty());
        if let Some(text) = text {
            let is_thought = part.get("thought").and_then(Value::as_bool) == Some(true);
            let text = text.to_owned();
            out.push(if is_thought { ModelEvent::Reasoning(text) } else { ModelEvent::Text(text) });
        }
        if let Some(call) = part.get("functionCall").filter(|call| call.is_object()) {
            let text = |key: &str| call.get(key).and_then(Value::as_str).map(str::to_owned);
            let arguments = match call.get("args") {
                Some(Value::Object(arguments)) => Value::Object(arguments.clone()).to_string(),
                _ => "{}".to_owned(),
            };
            index = Some(self.calls);
            out.push(ModelEvent::Call {
                index: self.calls,
                id: text("id").filter(|id| !id.is_empty()),
                name: text("name"),
                arguments,
            });
            self.calls += 1;
        }
        if let Some(signature) = part.get("thoughtSignature").filter(|value| value.is_string()) {
            let data = json!({"thoughtSignature": signature});
            out.push(ModelEvent::Keep { index, kept: Kept { source: self.source.clone(), data } });
        }
    }
}

fn read_usage(usage: &Value) -> Usage {
    let number = |key: &str| usage.get(key).and_then(Value::as_u64).unwrap_or(0);
    Usage {
        input: number("promptTokenCount") + number("toolUsePromptTokenCount"),
        cached: number("cachedContentTokenCount"),
        cache_written: 0,
        output: number("candidatesTokenCount") + number("thoughtsTokenCount"),
    }
}

fn read_stop(reason: &str) -> StopReason {
    match reason {
        "STOP" | "FINISH_REASON_UNSPECIFIED" => StopReason::End,
        "MAX_TOKENS" => StopReason::Length,
        "SAFETY" | "RECITATION" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII" | "IMAGE_SAFETY" => {
            StopReason::Filtered
        }
        other => StopReason::Other(other.to_lowercase()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reply::{Reply, ReplyBuilder};
    use crate::samples;

    fn read(events: &[Value], whole: bool) -> Result<Reply, ModelError> {
        let mut decoder = Decoder::new(samples::endpoint("gemini"), "s".to_owned());
        let mut out = Vec::new();
        for event in events {
            if whole {
                decoder.whole(event, &mut out)?;
            } else {
                let event = SseEvent { name: String::new(), data: event.to_string() };
                decoder.event(&event, &mut out)?;
            }
        }
        assert!(decoder.is_complete());
        decoder.finish(&mut out);
        let mut builder = ReplyBuilder::default();
        out.iter().for_each(|event| builder.push(event));
        Ok(builder.finish("x"))
    }

    fn parts(parts: Value) -> Value {
        json!({"candidates": [{"content": {"role": "model", "parts": parts}}]})
    }

    fn stop(reason: &str) -> Value {
        json!({"candidates": [{"finishReason": reason}], "usageMetadata": {
            "promptTokenCount": 10, "cachedContentTokenCount": 8, "candidatesTokenCount": 2, "thoughtsTokenCount": 5}})
    }

    #[test]
    fn text_thoughts_calls_and_signatures() {
        let events = [
            parts(json!([{"text": "hm", "thought": true}])),
            parts(json!([{"text": "Hi "}])),
            parts(
                json!([{"text": "there"}, {"functionCall": {"name": "f", "args": {"x": 1}}, "thoughtSignature": "sig"}]),
            ),
            parts(json!([{"functionCall": {"id": "own", "name": "g"}}])),
            parts(json!([{"text": "", "thoughtSignature": "end"}])),
            stop("STOP"),
        ];
        for (events, whole) in [(events.to_vec(), false), (vec![json!(events)], true)] {
            let reply = read(&events, whole).expect("reply");
            assert_eq!((reply.text.as_str(), reply.reasoning.as_str()), ("Hi there", "hm"));
            let calls: Vec<_> = reply
                .calls
                .iter()
                .map(|call| format!("{} {} {}", call.id, call.name, call.arguments))
                .collect();
            assert_eq!(calls, ["x_0 f {\"x\":1}", "own g {}"]);
            assert_eq!(reply.calls[0].kept[0].data, json!({"thoughtSignature": "sig"}));
            assert_eq!(reply.kept[0].data, json!({"thoughtSignature": "end"}));
            assert_eq!(reply.stop, Some(StopReason::Calls));
            let usage = Usage { input: 10, cached: 8, cache_written: 0, output: 7 };
            assert_eq!(reply.usage, Some(usage));
        }
    }

    #[test]
    fn the_ways_in_which_it_ends() {
        for (event, expected) in [
            (stop("STOP"), StopReason::End),
            (stop("MAX_TOKENS"), StopReason::Length),
            (stop("SAFETY"), StopReason::Filtered),
            (
                stop("MALFORMED_FUNCTION_CALL"),
                StopReason::Other("malformed_function_call".to_owned()),
            ),
            (json!({"promptFeedback": {"blockReason": "SAFETY"}}), StopReason::Filtered),
        ] {
            assert_eq!(read(&[event], false).expect("reply").stop, Some(expected));
        }
        let error =
            json!({"error": {"code": 503, "message": "overloaded", "status": "UNAVAILABLE"}});
        assert_eq!(read(&[error], false).expect_err("error").code(), "server_failed");
        assert_eq!(read(&[json!({"hello": 1})], true).expect_err("none").code(), "malformed");
    }
}
