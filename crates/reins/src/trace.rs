//! What a request to the model held, in numbers: enough to find out later why a run was slow or dear,
//! and nothing of what was said (W-460).

use crate::record::{Note, Record};
use futures_util::{StreamExt, stream};
use reins_models::{ChatRequest, Cost, Message, Model, ModelStream, Part, Usage};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Which generation of prompts and tool exposure this program has. Raised when either changes, so that
/// runs before and after can be told apart.
pub(crate) const POLICY_REVISION: u32 = 2;

/// One request in numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Request {
    /// See [`POLICY_REVISION`].
    pub(crate) revision: u32,
    /// What it was asked for ([`reins_models::Purpose`]).
    pub(crate) variant: String,
    /// Characters of the instructions.
    pub(crate) system_chars: usize,
    /// How many tools are offered.
    pub(crate) tools: usize,
    /// Messages and characters of each role.
    pub(crate) user: Count,
    /// The model's own.
    pub(crate) assistant: Count,
    /// Results of calls.
    pub(crate) tool: Count,
    /// Pictures in all of them.
    pub(crate) images: usize,
}

/// Messages and their characters.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Count {
    pub(crate) messages: usize,
    pub(crate) chars: usize,
}

impl Request {
    pub(crate) fn of(request: &ChatRequest) -> Self {
        let mut counted = Self {
            revision: POLICY_REVISION,
            variant: request.purpose.as_str().to_owned(),
            system_chars: request.system.chars().count(),
            tools: request.tools.len(),
            ..Self::default()
        };
        for message in &request.messages {
            let (count, texts): (&mut Count, &[Part]) = match message {
                Message::User(parts) => (&mut counted.user, parts),
                Message::Tool { parts, .. } => (&mut counted.tool, parts),
                Message::Assistant { text, calls, .. } => {
                    counted.assistant.messages += 1;
                    counted.assistant.chars += text.chars().count();
                    let arguments = calls.iter().map(|call| call.arguments.chars().count());
                    counted.assistant.chars += arguments.sum::<usize>();
                    continue;
                }
            };
            count.messages += 1;
            for part in texts {
                match part {
                    Part::Text(text) => count.chars += text.chars().count(),
                    Part::Image(_) => counted.images += 1,
                }
            }
        }
        counted
    }
}

/// A model whose requests are counted into a record before they are sent.
pub(crate) struct Traced {
    pub(crate) model: Arc<dyn Model>,
    pub(crate) record: Record,
}

impl Model for Traced {
    fn stream(&self, request: ChatRequest) -> ModelStream {
        let (model, record) = (Arc::clone(&self.model), self.record.clone());
        let counted = async move {
            if let Err(error) = record.note(&Note::Request(Request::of(&request))).await {
                // The run itself ends where its own entries cannot be written.
                tracing::warn!(%error, "a request was not counted");
            }
            model.stream(request)
        };
        Box::pin(stream::once(counted).flatten())
    }

    fn name(&self) -> &str {
        self.model.name()
    }

    fn cost(&self, usage: &Usage) -> Option<Cost> {
        self.model.cost(usage)
    }

    fn is_local(&self) -> bool {
        self.model.is_local()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use reins_models::{Purpose, ToolCall};

    /// W-460: numbers only, whatever is said.
    #[test]
    fn w460_a_request_is_counted_and_nothing_of_it_is_kept() {
        let call = ToolCall { id: "SECRET".into(), name: "SECRET".into(), ..ToolCall::default() };
        let part = || Part::Text("SECRET é".to_owned());
        let request = ChatRequest {
            system: "SECRET".to_owned(),
            messages: vec![
                Message::User(vec![part(), part()]),
                Message::Assistant { text: "SECRET".into(), calls: vec![call], kept: vec![] },
                Message::Tool {
                    call: "SECRET".into(),
                    name: "SECRET".into(),
                    parts: vec![part()],
                    failed: false,
                },
            ],
            purpose: Purpose::Question,
            ..ChatRequest::default()
        };
        let counted = Request::of(&request);
        assert_eq!(counted.user, Count { messages: 1, chars: 16 });
        assert_eq!(counted.assistant, Count { messages: 1, chars: 6 });
        assert_eq!((counted.tool.chars, counted.system_chars), (8, 6));
        let kept = serde_json::to_string(&Note::Request(counted)).expect("json");
        assert!(!kept.contains("SECRET") && kept.contains("\"variant\":\"question\""), "{kept}");
    }
}
