//! Holds back the parts of streamed text that may turn out to be calls or thoughts.

use super::parse::{TextCall, calls};
use crate::event::{ModelEvent, StopReason};

/// Text that is held back longer than this is shown after all. A call with a long text to type
/// fits.
const HELD_BYTES: usize = 64 * 1024;

const FENCE: &str = "```";
const THINK: &str = "<think>";
const THINK_END: &str = "</think>";

/// Passes events on, turning calls that were written as text into calls.
#[derive(Debug)]
pub(crate) struct TextGate {
    tools: Vec<String>,
    state: State,
    held: String,
    /// Calls found so far with the text they were written as; given out at the end, because real
    /// calls in the same answer come first.
    found: Vec<(String, Vec<TextCall>)>,
    /// Whether any visible text has passed.
    begun: bool,
    real_calls: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Ordinary text.
    Open,
    /// Within a fence that may hold a call.
    Fence,
    /// Within any other fence.
    Code,
    /// Within `<tool_call>`.
    ToolCall,
    /// Within `<function=…>`.
    Function,
    /// Within `<think>`.
    Think,
    /// The answer begins with a brace.
    Bare,
}

impl TextGate {
    /// A gate for an answer to a request that offered these tools.
    pub(crate) fn new(tools: Vec<String>) -> Self {
        Self {
            tools,
            state: State::Open,
            held: String::new(),
            found: Vec::new(),
            begun: false,
            real_calls: 0,
        }
    }

    /// Passes one event on.
    pub(crate) fn push(&mut self, event: ModelEvent, out: &mut Vec<ModelEvent>) {
        match event {
            ModelEvent::Text(text) => {
                self.held.push_str(&text);
                while self.advance(out) {}
            }
            ModelEvent::Call { index, .. } => {
                self.real_calls = self.real_calls.max(index + 1);
                out.push(event);
            }
            ModelEvent::Stop(reason) => {
                let reason = self.finish(reason, out);
                out.push(ModelEvent::Stop(reason));
            }
            other => out.push(other),
        }
    }

    /// Moves on as far as the held text allows; true if it may go on.
    fn advance(&mut self, out: &mut Vec<ModelEvent>) -> bool {
        if self.held.len() > HELD_BYTES && !matches!(self.state, State::Open | State::Think) {
            let all = std::mem::take(&mut self.held);
            self.show(all, out);
            self.state = State::Open;
            return false;
        }
        match self.state {
            State::Open => self.open(out),
            State::Fence => match fence_kind(&self.held) {
                FenceKind::Undecided => false,
                FenceKind::Code => {
                    let opening: String = self.held.drain(..FENCE.len()).collect();
                    self.show(opening, out);
                    self.state = State::Code;
                    true
                }
                FenceKind::MayBeCall { inner } => {
                    let Some(end) = self.held[inner..].find(FENCE) else {
                        return false;
                    };
                    self.close(inner, inner + end, inner + end + FENCE.len(), out)
                }
            },
            State::Code => self.until(FENCE, out, |gate, text, out| gate.show(text, out)),
            State::Think => self.until(THINK_END, out, |_, text, out| {
                let text = text.strip_suffix(THINK_END).unwrap_or(&text);
                if !text.is_empty() {
                    out.push(ModelEvent::Reasoning(text.to_owned()));
                }
            }),
            State::ToolCall | State::Function => {
                let (start, end_tag) = tag(self.state);
                let Some(end) = self.held.find(end_tag) else {
                    return false;
                };
                self.close(start, end, end + end_tag.len(), out)
            }
            State::Bare => {
                let mut values =
                    serde_json::Deserializer::from_str(&self.held).into_iter::<serde_json::Value>();
                match values.next() {
                    Some(Ok(_)) => {
                        let end = values.byte_offset();
                        self.close(0, end, end, out)
                    }
                    Some(Err(error)) if error.is_eof() => false,
                    _ => {
                        let all = std::mem::take(&mut self.held);
                        self.show(all, out);
                        self.state = State::Open;
                        false
                    }
                }
            }
        }
    }

    /// Shows text up to the next marker, keeping what may become one.
    fn open(&mut self, out: &mut Vec<ModelEvent>) -> bool {
        let mut markers: Vec<(&str, State)> = Vec::new();
        let first = self.held.trim_start();
        if !self.begun && (first.starts_with(THINK) || THINK.starts_with(first)) {
            markers.push((THINK, State::Think));
        }
        if !self.tools.is_empty() {
            markers.push((FENCE, State::Fence));
            markers.push(("<tool_call>", State::ToolCall));
            markers.push(("<function=", State::Function));
            if !self.begun && first.starts_with(['{', '[']) {
                self.held = first.to_owned();
                self.state = State::Bare;
                return true;
            }
        }
        let next = markers
            .iter()
            .filter_map(|(marker, state)| Some((self.held.find(marker)?, *state)))
            .min_by_key(|(at, _)| *at);
        if let Some((at, state)) = next {
            let before: String = self.held.drain(..at).collect();
            self.show(before, out);
            self.state = state;
            if state == State::Think {
                self.held.drain(..THINK.len());
            }
            return true;
        }
        let keep = markers.iter().map(|(marker, _)| overlap(&self.held, marker)).max().unwrap_or(0);
        let ready: String = self.held.drain(..self.held.len() - keep).collect();
        self.show(ready, out);
        false
    }

    /// Passes text on until an end marker, which it includes.
    fn until(
        &mut self,
        end: &str,
        out: &mut Vec<ModelEvent>,
        pass: impl Fn(&mut Self, String, &mut Vec<ModelEvent>),
    ) -> bool {
        let found = self.held.find(end).map(|at| at + end.len());
        let ready = found.unwrap_or_else(|| self.held.len() - overlap(&self.held, end));
        let text: String = self.held.drain(..ready).collect();
        pass(self, text, out);
        if found.is_some() {
            self.state = State::Open;
        }
        found.is_some()
    }

    /// The held text up to `whole` is complete; `inner..end` of it may be calls.
    fn close(&mut self, inner: usize, end: usize, whole: usize, out: &mut Vec<ModelEvent>) -> bool {
        let found = calls(&self.held[inner..end], &self.tools);
        let text: String = self.held.drain(..whole).collect();
        match found {
            Some(calls) => self.found.push((text, calls)),
            None => self.show(text, out),
        }
        self.state = State::Open;
        // Text that follows is no longer the begin of the answer.
        self.begun = true;
        true
    }

    fn finish(&mut self, reason: StopReason, out: &mut Vec<ModelEvent>) -> StopReason {
        let held = std::mem::take(&mut self.held);
        let inner = match self.state {
            State::Fence => match fence_kind(&held) {
                FenceKind::MayBeCall { inner } => Some(inner),
                _ => None,
            },
            State::ToolCall | State::Function => Some(tag(self.state).0),
            State::Bare => Some(0),
            State::Open | State::Code | State::Think => None,
        };
        // A call that the limit of tokens cut off is not carried out.
        let whole = reason != StopReason::Length;
        match inner.filter(|_| whole).and_then(|inner| calls(&held[inner..], &self.tools)) {
            Some(calls) => self.found.push((held, calls)),
            None if self.state == State::Think => {
                if !held.is_empty() {
                    out.push(ModelEvent::Reasoning(held));
                }
            }
            None => self.show(held, out),
        }
        let found = std::mem::take(&mut self.found);
        if self.real_calls > 0 {
            // The model described in text what it also called.
            found.into_iter().for_each(|(text, _)| self.show(text, out));
            return reason;
        }
        let calls: Vec<_> = found.into_iter().flat_map(|(_, calls)| calls).collect();
        if calls.is_empty() {
            return reason;
        }
        for (index, call) in calls.into_iter().enumerate() {
            out.push(ModelEvent::Call {
                index,
                id: None,
                name: Some(call.name),
                arguments: call.arguments,
            });
        }
        StopReason::Calls
    }

    fn show(&mut self, text: String, out: &mut Vec<ModelEvent>) {
        if !text.is_empty() {
            self.begun |= !text.trim().is_empty();
            out.push(ModelEvent::Text(text));
        }
    }
}

enum FenceKind {
    Undecided,
    Code,
    MayBeCall {
        /// Where the fence's content begins.
        inner: usize,
    },
}

fn fence_kind(held: &str) -> FenceKind {
    let rest = &held[FENCE.len()..];
    let language =
        rest.len() - rest.trim_start_matches(|c: char| c.is_alphanumeric() || c == '_').len();
    let (language, rest) = rest.split_at(language);
    let Some(first) = rest.trim_start().chars().next() else {
        return FenceKind::Undecided;
    };
    let may_be_call = ["", "json", "tool_call", "tool", "tool_code", "xml"].contains(&language)
        && ['{', '[', '<'].contains(&first);
    if may_be_call {
        FenceKind::MayBeCall { inner: held.len() - rest.trim_start().len() }
    } else {
        FenceKind::Code
    }
}

fn tag(state: State) -> (usize, &'static str) {
    match state {
        State::Function => (0, "</function>"),
        _ => ("<tool_call>".len(), "</tool_call>"),
    }
}

/// How many bytes at the end of `text` may be the begin of `marker`.
fn overlap(text: &str, marker: &str) -> usize {
    (1..marker.len()).rev().find(|n| text.ends_with(&marker[..*n])).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reply::{Reply, ReplyBuilder};

    fn run(text: &str, size: usize, tools: &[&str], stop: StopReason) -> Reply {
        let mut gate = TextGate::new(tools.iter().map(|tool| (*tool).to_owned()).collect());
        let mut out = Vec::new();
        let characters: Vec<char> = text.chars().collect();
        for piece in characters.chunks(size) {
            gate.push(ModelEvent::Text(piece.iter().collect()), &mut out);
        }
        gate.push(ModelEvent::Stop(stop), &mut out);
        let mut builder = ReplyBuilder::default();
        out.iter().for_each(|event| builder.push(event));
        builder.finish("t")
    }

    /// Whatever the portions, the text and the calls are the same.
    fn check(text: &str, shown: &str, reasoning: &str, called: &[&str]) {
        for size in 1..=text.len() {
            let reply = run(text, size, &["click", "type"], StopReason::End);
            let calls: Vec<_> = reply
                .calls
                .iter()
                .map(|call| format!("{} {}", call.name, call.arguments))
                .collect();
            assert_eq!(reply.text.trim(), shown, "{text:?} in portions of {size}");
            assert_eq!(reply.reasoning, reasoning, "{text:?} in portions of {size}");
            assert_eq!(calls, called, "{text:?} in portions of {size}");
            let expected = if called.is_empty() { StopReason::End } else { StopReason::Calls };
            assert_eq!(reply.stop, Some(expected));
        }
    }

    #[test]
    fn a_fenced_call_is_a_call() {
        check(
            "I click.\n```json\n{\"name\": \"click\", \"arguments\": {\"ref\": \"e1\"}}\n```\n",
            "I click.",
            "",
            &["click {\"ref\":\"e1\"}"],
        );
        check("```\n{\"name\":\"click\",\"arguments\":{}}", "", "", &["click {}"]);
        check("```json{\"name\":\"click\"}```", "", "", &["click {}"]);
    }

    #[test]
    fn a_tagged_call_is_a_call() {
        check(
            "<tool_call>\n{\"name\":\"click\",\"arguments\":{\"a\":1}}\n</tool_call><tool_call>{\"name\":\"type\"}",
            "",
            "",
            &["click {\"a\":1}", "type {}"],
        );
        check(
            "ok <function=click><parameter=ref>e1</parameter></function>",
            "ok",
            "",
            &["click {\"ref\":\"e1\"}"],
        );
    }

    #[test]
    fn a_bare_call_is_a_call() {
        check(
            "\n{\"name\":\"click\",\"arguments\":{\"b\":{}}} done",
            "done",
            "",
            &["click {\"b\":{}}"],
        );
        check("{\"name\":\"click\",\"arguments\":{}", "", "", &["click {}"]);
    }

    #[test]
    fn thoughts_are_no_answer() {
        check("<think>a < b\n</think>Yes", "Yes", "a < b\n", &[]);
        check("<think>never ends", "", "never ends", &[]);
        check("so <think> is a tag", "so <think> is a tag", "", &[]);
    }

    #[test]
    fn other_text_stays_as_it_is() {
        for text in [
            "Use `x` and ``y`` here.",
            "```python\nprint({})\n```\nand\n```\nplain\n```",
            "```json\n{\"price\": 3}\n```",
            "{not json} at all",
            "[1] says so",
            "a <tool_calls> b",
            "1 < 2 ```",
        ] {
            check(text, text, "", &[]);
        }
    }

    #[test]
    fn a_call_that_was_cut_off_is_not_carried_out() {
        let text = "```json\n{\"name\":\"click\",\"arguments\":{\"ref\":\"e1\"";
        let reply = run(text, 4, &["click"], StopReason::Length);
        assert!(reply.calls.is_empty());
        assert_eq!(reply.text, text);
    }

    #[test]
    fn without_tools_everything_is_text() {
        let text = "{\"name\":\"click\",\"arguments\":{}}";
        assert_eq!(run(text, 3, &[], StopReason::End).text, text);
    }

    #[test]
    fn real_calls_win_over_written_ones() {
        let mut gate = TextGate::new(vec!["click".to_owned()]);
        let mut out = Vec::new();
        gate.push(ModelEvent::Text("{\"name\":\"click\"}".to_owned()), &mut out);
        let call = ModelEvent::Call {
            index: 0,
            id: None,
            name: Some("click".to_owned()),
            arguments: "{}".to_owned(),
        };
        gate.push(call, &mut out);
        gate.push(ModelEvent::Stop(StopReason::Calls), &mut out);
        let calls = out.iter().filter(|event| matches!(event, ModelEvent::Call { .. })).count();
        assert_eq!(calls, 1);
    }

    #[test]
    fn an_endless_fence_is_shown_after_all() {
        let text = format!("```json\n{{\"a\":\"{}", "x".repeat(HELD_BYTES + 1));
        assert_eq!(run(&text, 1000, &["click"], StopReason::End).text, text);
    }
}
