//! Answers in the Chat format.

use crate::error::ModelError;
use crate::event::{ModelEvent, Odds, StopReason, Usage};
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
    calls: Vec<Known>,
    /// Thoughts in words, and as sealed pieces; some servers want one of them back.
    thoughts: String,
    sealed: Vec<Value>,
    usage: Option<Usage>,
    stop: Option<StopReason>,
    ended: bool,
}

/// A call of this answer as far as it is known.
#[derive(Debug)]
struct Known {
    /// The server's own number for it.
    number: Option<u64>,
    id: String,
    named: bool,
}

impl Decoder {
    pub(crate) fn new(endpoint: Endpoint, source: String) -> Self {
        Self {
            endpoint,
            source,
            calls: Vec::new(),
            thoughts: String::new(),
            sealed: Vec::new(),
            usage: None,
            stop: None,
            ended: false,
        }
    }

    fn keep(&self, index: Option<usize>, data: Value) -> ModelEvent {
        ModelEvent::Keep { index, kept: Kept { source: self.source.clone(), data } }
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
            self.ended = true;
            return Ok(());
        }
        if data.is_empty() {
            return Ok(());
        }
        let value = event.json()?;
        self.value(&value, "delta", out)
    }

    /// Takes a whole answer that was not streamed.
    pub(crate) fn whole(
        &mut self,
        value: &Value,
        out: &mut Vec<ModelEvent>,
    ) -> Result<(), ModelError> {
        if value.pointer("/choices/0").is_none() && value.get("error").is_none() {
            return Err(ModelError::Malformed { what: "an answer without choices".to_owned() });
        }
        self.value(value, "message", out)?;
        self.stop.get_or_insert(StopReason::End);
        self.ended = true;
        Ok(())
    }

    /// The last events, once the answer is complete.
    pub(crate) fn finish(&mut self, out: &mut Vec<ModelEvent>) {
        let thoughts = std::mem::take(&mut self.thoughts);
        let sealed = std::mem::take(&mut self.sealed);
        if !thoughts.is_empty() {
            out.push(self.keep(None, json!({"reasoning_content": thoughts})));
        }
        if !sealed.is_empty() {
            out.push(self.keep(None, json!({"reasoning_details": sealed})));
        }
        out.extend(self.usage.take().map(ModelEvent::Usage));
        let stop = match self.stop.take() {
            // Some servers say "stop" although they just sent calls.
            Some(StopReason::End) | None if !self.calls.is_empty() => StopReason::Calls,
            stop => stop.unwrap_or(StopReason::End),
        };
        out.push(ModelEvent::Stop(stop));
    }

    fn value(
        &mut self,
        value: &Value,
        part: &str,
        out: &mut Vec<ModelEvent>,
    ) -> Result<(), ModelError> {
        if value.get("error").is_some_and(|error| !error.is_null()) {
            return Err(failure::stated(value, &self.endpoint));
        }
        let usage = value.get("usage").filter(|usage| usage.is_object());
        if let Some(usage) = usage.or_else(|| value.pointer("/x_groq/usage")) {
            self.usage = Some(read_usage(usage));
        }
        // Only the first choice is ever asked for.
        let Some(choice) = value.pointer("/choices/0") else {
            return Ok(());
        };
        let delta = choice.get(part).unwrap_or(&Value::Null);
        for key in ["reasoning_content", "reasoning"] {
            if let Some(text) = delta.get(key).and_then(Value::as_str).filter(|t| !t.is_empty()) {
                self.thoughts.push_str(text);
                out.push(ModelEvent::Reasoning(text.to_owned()));
                break;
            }
        }
        for piece in delta.get("reasoning_details").and_then(Value::as_array).into_iter().flatten()
        {
            self.seal(piece);
        }
        self.content(delta.get("content").unwrap_or(&Value::Null), out);
        out.extend(read_odds(choice));
        if let Some(text) = delta.get("refusal").and_then(Value::as_str).filter(|t| !t.is_empty()) {
            out.push(ModelEvent::Text(text.to_owned()));
        }
        for call in delta.get("tool_calls").and_then(Value::as_array).into_iter().flatten() {
            self.call(call, out);
        }
        if let Some(function) = delta.get("function_call").filter(|call| call.is_object()) {
            self.call(&serde_json::json!({"index": 0, "function": function}), out);
        }
        if let Some(reason) = choice.get("finish_reason").and_then(Value::as_str) {
            self.stop = Some(read_stop(reason));
        }
        Ok(())
    }

    fn content(&self, content: &Value, out: &mut Vec<ModelEvent>) {
        match content {
            Value::String(text) if !text.is_empty() => out.push(ModelEvent::Text(text.clone())),
            // Mistral sends pieces with a type; the thinking ones hold pieces again.
            Value::Array(pieces) => {
                for piece in pieces {
                    if let Some(text) = piece.get("text").and_then(Value::as_str) {
                        out.push(ModelEvent::Text(text.to_owned()));
                    }
                    let thoughts = piece.get("thinking").and_then(Value::as_array);
                    for thought in thoughts.into_iter().flatten() {
                        if let Some(text) = thought.get("text").and_then(Value::as_str) {
                            out.push(ModelEvent::Reasoning(text.to_owned()));
                        }
                    }
                }
            }
            _ => {}
        }
    }

    fn call(&mut self, call: &Value, out: &mut Vec<ModelEvent>) {
        let number = call.get("index").and_then(Value::as_u64);
        let text = |value: Option<&Value>| {
            value.and_then(Value::as_str).filter(|text| !text.is_empty()).map(str::to_owned)
        };
        let id = text(call.get("id"));
        let function = call.get("function").unwrap_or(call);
        let name = text(function.get("name"));
        // Ollama's own shape and some others give an object instead of its text.
        let arguments = match function.get("arguments") {
            Some(Value::String(text)) => text.clone(),
            None | Some(Value::Null) => String::new(),
            Some(other) => other.to_string(),
        };
        let index = self.place(number, id.as_deref(), name.is_some());
        let known = &mut self.calls[index];
        let id = if known.id.is_empty() { id } else { None };
        if let Some(id) = &id {
            known.id.clone_from(id);
        }
        // Some servers repeat the name in every piece.
        let name = if known.named { None } else { name };
        known.named |= name.is_some();
        out.push(ModelEvent::Call { index, id, name, arguments });
        if let Some(extra) = call.get("extra_content").filter(|extra| extra.is_object()) {
            out.push(self.keep(Some(index), json!({"extra_content": extra})));
        }
    }

    /// Pieces of one sealed thought come with its number and go on where the last one ended.
    fn seal(&mut self, piece: &Value) {
        let same = |known: &&mut Value| {
            known.get("type") == piece.get("type")
                && known.get("index").is_some()
                && known.get("index") == piece.get("index")
        };
        let Some(known) = self.sealed.iter_mut().find(same) else {
            self.sealed.push(piece.clone());
            return;
        };
        for (name, value) in piece.as_object().into_iter().flatten() {
            match (&mut known[name.as_str()], value) {
                (Value::String(so_far), Value::String(more))
                    if ["text", "summary", "data"].contains(&name.as_str()) =>
                {
                    so_far.push_str(more);
                }
                (_, Value::Null) => {}
                (known, value) => *known = value.clone(),
            }
        }
    }

    /// Which call a piece belongs to. The number decides, as the format has it; but some servers
    /// leave it out, and some give the same number to several whole calls.
    fn place(&mut self, number: Option<u64>, id: Option<&str>, named: bool) -> usize {
        let found = match (number, id) {
            (Some(_), _) => self.calls.iter().rposition(|call| call.number == number),
            (None, Some(id)) => self.calls.iter().rposition(|call| call.id == id),
            (None, None) if named => None,
            (None, None) => self.calls.len().checked_sub(1),
        };
        let other_call = |known: &Known| {
            named && known.named && id.is_some_and(|id| !known.id.is_empty() && known.id != id)
        };
        match found {
            Some(index) if !other_call(&self.calls[index]) => index,
            _ => {
                self.calls.push(Known { number, id: String::new(), named: false });
                self.calls.len() - 1
            }
        }
    }
}

/// How likely the pieces of the content were.
fn read_odds(choice: &Value) -> Option<ModelEvent> {
    let pieces = choice.pointer("/logprobs/content")?.as_array()?;
    let one = |piece: &Value| {
        let (text, log) = (piece.get("token")?.as_str()?, piece.get("logprob")?.as_f64()?);
        Some((text.to_owned(), log.min(0.0)))
    };
    let odds = pieces.iter().filter_map(|piece| {
        let (text, log) = one(piece)?;
        let top = piece.get("top_logprobs").and_then(Value::as_array).into_iter().flatten();
        let others = top.filter_map(one).filter(|(other, _)| *other != text).collect();
        Some(Odds { text, log, others })
    });
    let odds: Vec<_> = odds.collect();
    (!odds.is_empty()).then_some(ModelEvent::Odds(odds))
}

fn read_usage(usage: &Value) -> Usage {
    let number = |path: &str| usage.pointer(path).and_then(Value::as_u64).unwrap_or(0);
    Usage {
        input: number("/prompt_tokens"),
        cached: number("/prompt_tokens_details/cached_tokens")
            .max(number("/prompt_cache_hit_tokens")),
        cache_written: number("/prompt_tokens_details/cache_write_tokens"),
        output: number("/completion_tokens"),
    }
}

fn read_stop(reason: &str) -> StopReason {
    match reason {
        "stop" | "eos" | "end_turn" => StopReason::End,
        "tool_calls" | "function_call" => StopReason::Calls,
        "length" | "max_tokens" => StopReason::Length,
        "content_filter" => StopReason::Filtered,
        other => StopReason::Other(other.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reply::{Reply, ReplyBuilder};
    use crate::table::CUSTOM;
    use serde_json::json;

    fn read(events: &[Value]) -> Reply {
        let endpoint = Endpoint::at(&CUSTOM, "http://localhost:1", None).expect("endpoint");
        let mut decoder = Decoder::new(endpoint, "s".to_owned());
        let mut out = Vec::new();
        for event in events {
            let event = SseEvent { name: String::new(), data: event.to_string() };
            decoder.event(&event, &mut out).expect("event");
        }
        decoder.finish(&mut out);
        let mut builder = ReplyBuilder::default();
        out.iter().for_each(|event| builder.push(event));
        builder.finish("x")
    }

    fn delta(delta: Value) -> Value {
        json!({"choices": [{"index": 0, "delta": delta}]})
    }

    fn shown(reply: &Reply) -> Vec<String> {
        let show = |call: &crate::ToolCall| format!("{} {} {}", call.id, call.name, call.arguments);
        reply.calls.iter().map(show).collect()
    }

    #[test]
    fn fragments_by_index_in_any_order() {
        let reply = read(&[
            delta(
                json!({"tool_calls": [{"index": 1, "id": "b", "function": {"name": "type", "arguments": ""}}]}),
            ),
            delta(json!({"tool_calls": [{"index": 0, "id": "a", "function": {"name": "click"}}]})),
            delta(
                json!({"tool_calls": [{"index": 1, "function": {"arguments": "{\"t\":"}}, {"index": 0, "function": {"arguments": "{}"}}]}),
            ),
            delta(json!({"tool_calls": [{"index": 1, "function": {"arguments": "2}"}}]})),
            json!({"choices": [{"delta": {}, "finish_reason": "stop"}]}),
        ]);
        assert_eq!(shown(&reply), ["b type {\"t\":2}", "a click {}"]);
        assert_eq!(reply.stop, Some(StopReason::Calls), "'stop' beside calls means calls");
    }

    #[test]
    fn servers_that_send_whole_calls_without_index_or_id() {
        let reply = read(&[delta(json!({"tool_calls": [
            {"function": {"name": "click", "arguments": {"ref": "e1"}}},
            {"function": {"name": "click", "arguments": "{\"ref\":\"e2\"}"}},
        ]}))]);
        assert_eq!(shown(&reply), ["x_0 click {\"ref\":\"e1\"}", "x_1 click {\"ref\":\"e2\"}"]);
    }

    #[test]
    fn servers_that_give_one_index_to_all_calls() {
        let reply = read(&[
            delta(
                json!({"tool_calls": [{"index": 0, "id": "a", "function": {"name": "f", "arguments": "{}"}}]}),
            ),
            delta(
                json!({"tool_calls": [{"index": 0, "id": "b", "function": {"name": "g", "arguments": "{}"}}]}),
            ),
        ]);
        assert_eq!(shown(&reply), ["a f {}", "b g {}"]);
    }

    #[test]
    fn servers_that_repeat_id_and_name() {
        let piece = |arguments: &str| {
            delta(
                json!({"tool_calls": [{"index": 0, "id": "a", "function": {"name": "f", "arguments": arguments}}]}),
            )
        };
        assert_eq!(shown(&read(&[piece("{\"a\""), piece(":1}")])), ["a f {\"a\":1}"]);
    }

    #[test]
    fn the_older_function_call() {
        let reply = read(&[
            delta(json!({"function_call": {"name": "f", "arguments": "{\"a\""}})),
            delta(json!({"function_call": {"arguments": ":1}"}})),
        ]);
        assert_eq!(shown(&reply), ["x_0 f {\"a\":1}"]);
    }

    /// What a server wants back comes along, sealed pieces put together.
    #[test]
    fn thoughts_and_signatures_are_kept() {
        let sealed = |text: &str, more: Value| {
            let mut piece = json!({"type": "reasoning.text", "index": 0, "text": text});
            piece.as_object_mut().expect("object").extend(more.as_object().cloned().expect("more"));
            delta(json!({"reasoning_details": [piece]}))
        };
        let reply = read(&[
            delta(json!({"reasoning_content": "h"})),
            delta(json!({"reasoning_content": "m"})),
            sealed("h", json!({})),
            sealed("m", json!({"signature": "s"})),
            delta(
                json!({"tool_calls": [{"index": 0, "id": "a", "function": {"name": "f", "arguments": "{}"}, "extra_content": {"google": 1}}]}),
            ),
        ]);
        let data: Vec<_> = reply.kept.iter().map(|kept| kept.data.clone()).collect();
        assert_eq!(
            data,
            [
                json!({"reasoning_content": "hm"}),
                json!({"reasoning_details": [{"type": "reasoning.text", "index": 0, "text": "hm", "signature": "s"}]}),
            ]
        );
        assert_eq!(reply.calls[0].kept[0].data, json!({"extra_content": {"google": 1}}));
        assert_eq!(reply.calls[0].kept[0].source, "s");
    }

    #[test]
    fn text_reasoning_and_usage() {
        let reply = read(&[
            delta(json!({"reasoning_content": "hm"})),
            delta(
                json!({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "!"}]}, {"type": "text", "text": "Hi"}]}),
            ),
            delta(json!({"content": " there", "tool_calls": null})),
            json!({"choices": [{"delta": {"content": null}, "finish_reason": "length"}]}),
            json!({"choices": [], "usage": {"prompt_tokens": 10, "completion_tokens": 3, "prompt_tokens_details": {"cached_tokens": 8}}}),
        ]);
        assert_eq!((reply.text.as_str(), reply.reasoning.as_str()), ("Hi there", "hm!"));
        assert_eq!(reply.stop, Some(StopReason::Length));
        let usage = Usage { input: 10, cached: 8, cache_written: 0, output: 3 };
        assert_eq!(reply.usage, Some(usage));
    }
}
