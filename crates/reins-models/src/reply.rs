//! A whole answer, put together from its events.

use crate::event::{ModelEvent, Notice, Odds, StopReason, Usage};
use crate::message::{Kept, ToolCall};
use std::collections::BTreeMap;

/// A complete answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reply {
    /// What the model said.
    pub text: String,
    /// What it thought.
    pub reasoning: String,
    /// What it called, in its order.
    pub calls: Vec<ToolCall>,
    /// What its provider wants back with it.
    pub kept: Vec<Kept>,
    /// How likely the pieces of the text were, if that was asked for and told.
    pub odds: Vec<Odds>,
    /// What it cost, if the provider says.
    pub usage: Option<Usage>,
    /// Why it ended; `None` as long as it has not.
    pub stop: Option<StopReason>,
}

/// Collects events into a [`Reply`].
#[derive(Debug, Default)]
pub struct ReplyBuilder {
    reply: Reply,
    calls: BTreeMap<usize, Partial>,
    kept: Vec<(usize, Kept)>,
}

#[derive(Debug, Default)]
struct Partial {
    id: Option<String>,
    name: String,
    arguments: String,
}

impl ReplyBuilder {
    /// Takes the next event.
    pub fn push(&mut self, event: &ModelEvent) {
        match event {
            ModelEvent::Text(text) => self.reply.text.push_str(text),
            ModelEvent::Reasoning(text) => self.reply.reasoning.push_str(text),
            ModelEvent::Call { index, id, name, arguments } => {
                let call = self.calls.entry(*index).or_default();
                if call.id.is_none() {
                    call.id.clone_from(id);
                }
                if let (true, Some(name)) = (call.name.is_empty(), name) {
                    call.name.clone_from(name);
                }
                call.arguments.push_str(arguments);
            }
            ModelEvent::Keep { index: None, kept } => self.reply.kept.push(kept.clone()),
            ModelEvent::Keep { index: Some(index), kept } => self.kept.push((*index, kept.clone())),
            ModelEvent::Odds(odds) => self.reply.odds.extend(odds.iter().cloned()),
            ModelEvent::Usage(usage) => self.reply.usage = Some(*usage),
            ModelEvent::Stop(reason) => self.reply.stop = Some(reason.clone()),
            ModelEvent::Notice(Notice::Restarted) => *self = Self::default(),
            ModelEvent::Notice(_) => {}
        }
    }

    /// The answer as far as it has come. Calls without an id get one that is unique in the answer
    /// and starts with `prefix`, which must be unique in the conversation.
    pub fn finish(self, prefix: &str) -> Reply {
        let mut reply = self.reply;
        let mut ids: Vec<String> = Vec::new();
        let mut kept = self.kept;
        for (index, call) in self.calls {
            let id = call.id.filter(|id| !id.is_empty() && !ids.contains(id));
            let id = id.unwrap_or_else(|| format!("{prefix}_{index}"));
            ids.push(id.clone());
            let own = kept.extract_if(.., |(of, _)| *of == index).map(|(_, kept)| kept).collect();
            let (name, arguments) = (call.name, call.arguments);
            reply.calls.push(ToolCall { id, name, arguments, kept: own });
        }
        reply
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(index: usize, id: Option<&str>, name: Option<&str>, arguments: &str) -> ModelEvent {
        ModelEvent::Call {
            index,
            id: id.map(str::to_owned),
            name: name.map(str::to_owned),
            arguments: arguments.to_owned(),
        }
    }

    #[test]
    fn pieces_belong_together_by_index() {
        let mut builder = ReplyBuilder::default();
        for event in [
            piece(1, Some("b"), Some("type"), "{\"te"),
            piece(0, None, Some("click"), "{\"ref\":"),
            piece(1, None, None, "xt\":1}"),
            piece(0, None, None, "\"e1\"}"),
            piece(2, Some("b"), Some("look"), ""),
        ] {
            builder.push(&event);
        }
        let calls = builder.finish("m1").calls;
        assert_eq!(calls[0].arguments, "{\"ref\":\"e1\"}");
        assert_eq!(calls[1].arguments, "{\"text\":1}");
        let ids: Vec<_> = calls.iter().map(|call| call.id.as_str()).collect();
        assert_eq!(ids, ["m1_0", "b", "m1_2"], "a missing and a repeated id are replaced");
    }

    #[test]
    fn a_restart_voids_what_came_before() {
        let mut builder = ReplyBuilder::default();
        builder.push(&ModelEvent::Text("half".to_owned()));
        builder.push(&piece(0, None, Some("click"), "{"));
        builder.push(&ModelEvent::Notice(Notice::Restarted));
        builder.push(&ModelEvent::Text("whole".to_owned()));
        let reply = builder.finish("m");
        assert_eq!(reply.text, "whole");
        assert!(reply.calls.is_empty());
    }
}
