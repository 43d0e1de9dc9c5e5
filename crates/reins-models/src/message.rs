//! A request in no provider's dialect.

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One request to a model.
#[derive(Clone, Debug, Default)]
pub struct ChatRequest {
    /// The instructions. Keep them the same from request to request: providers cache the prefix.
    pub system: String,
    /// The conversation, oldest first.
    pub messages: Vec<Message>,
    /// What the model may call.
    pub tools: Vec<ToolSpec>,
    /// Randomness; `None` leaves it to the server.
    pub temperature: Option<f32>,
    /// The longest answer in tokens; `None` leaves it to the server where it may be left.
    pub max_tokens: Option<u32>,
    /// What the provider should keep for the next request, where it wants to be told.
    pub caching: Caching,
    /// How much the model thinks before it answers, where that can be said.
    pub reasoning: Reasoning,
    /// The JSON that the answer must be, where the server can hold the model to it. Elsewhere the
    /// instructions have to ask for it, and the answer may be anything.
    pub shape: Option<Shape>,
    /// Whether to tell how likely each piece of the answer was ([`crate::ModelEvent::Odds`]), where the
    /// server can.
    pub odds: bool,
    /// What it is asked for. It is not sent; traces tell requests apart by it.
    pub purpose: Purpose,
}

/// Stands in the place of a picture for a model that takes none.
const UNSEEN: &str = "(A picture that this model cannot see.)";

impl ChatRequest {
    fn parts(&self) -> impl Iterator<Item = &Part> {
        self.messages.iter().flat_map(|message| match message {
            Message::User(parts) | Message::Tool { parts, .. } => parts.as_slice(),
            Message::Assistant { .. } => &[],
        })
    }

    /// Whether there are pictures in it.
    pub(crate) fn has_pictures(&self) -> bool {
        self.parts().any(|part| matches!(part, Part::Image(_)))
    }

    /// The same for a model that takes no pictures.
    pub(crate) fn without_pictures(&self) -> Self {
        let mut blind = self.clone();
        for message in &mut blind.messages {
            let (Message::User(parts) | Message::Tool { parts, .. }) = message else {
                continue;
            };
            for part in parts {
                if matches!(part, Part::Image(_)) {
                    *part = Part::Text(UNSEEN.to_owned());
                }
            }
        }
        blind
    }
}

/// What a request is asked for (W-246, W-254).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Purpose {
    /// The next step of a run, or its answer.
    #[default]
    Steps,
    /// The list of steps of a small model.
    StepList,
    /// A plan.
    Plan,
    /// A plan again, because the first was none.
    PlanRepair,
    /// A plan again, after the person answered a question of the planner.
    Replan,
    /// A closed question.
    Question,
    /// Notes before older messages are left out.
    Notes,
    /// What is done and what is not, at the end of the calls.
    SoFar,
    /// The safety check of a step.
    SafetyCheck,
}

impl Purpose {
    /// A stable word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Steps => "steps",
            Self::StepList => "step_list",
            Self::Plan => "plan",
            Self::PlanRepair => "plan_repair",
            Self::Replan => "replan",
            Self::Question => "question",
            Self::Notes => "notes",
            Self::SoFar => "so_far",
            Self::SafetyCheck => "safety_check",
        }
    }
}

/// The JSON that an answer must be.
#[derive(Clone, Debug, PartialEq)]
pub struct Shape {
    /// A short name of letters and `_`; some servers want one.
    pub name: &'static str,
    /// A JSON schema: an object with all properties required and no others, which is what every
    /// provider takes.
    pub schema: Value,
}

/// How much a model thinks before it answers. A model that knows no such thing, or not this much of
/// it, does what comes nearest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reasoning {
    /// As the model does by itself.
    #[default]
    Own,
    /// As little as it can.
    Off,
    /// Little.
    Low,
    /// Some.
    Medium,
    /// Much.
    High,
}

/// Which parts of a request will come again unchanged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Caching {
    /// Mark nothing.
    #[default]
    Off,
    /// Instructions and tools.
    Prefix,
    /// Instructions, tools and the conversation so far.
    Conversation,
}

/// One message.
#[derive(Clone, Debug, PartialEq)]
pub enum Message {
    /// From the person, or from us on their behalf.
    User(Vec<Part>),
    /// From the model.
    Assistant {
        /// What it said.
        text: String,
        /// What it called.
        calls: Vec<ToolCall>,
        /// What its provider wants back with it.
        kept: Vec<Kept>,
    },
    /// The result of one call.
    Tool {
        /// The call's id.
        call: String,
        /// The tool's name.
        name: String,
        /// Text and images.
        parts: Vec<Part>,
        /// Whether the call failed.
        failed: bool,
    },
}

impl Message {
    /// A message of the person with just text.
    pub fn user(text: impl Into<String>) -> Self {
        Message::User(vec![Part::Text(text.into())])
    }
}

/// A piece of an answer that only its provider can read and wants back with the conversation, such
/// as a signed or sealed thought. Some refuse the conversation without it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kept {
    /// Who gave it: format, server and model. Nobody else gets it.
    pub source: String,
    /// As it came.
    pub data: Value,
}

/// A piece of a message.
#[derive(Clone, Debug, PartialEq)]
pub enum Part {
    /// Text.
    Text(String),
    /// A picture.
    Image(Image),
}

/// An encoded picture.
#[derive(Clone, Debug, PartialEq)]
pub struct Image {
    /// Such as `image/png`.
    pub mime: String,
    /// The encoded bytes.
    pub bytes: Bytes,
}

/// A tool that the model may call.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolSpec {
    /// Its name.
    pub name: String,
    /// What it does, for the model.
    pub description: String,
    /// JSON schema of its arguments, an object.
    pub schema: Value,
}

/// A call that the model made.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    /// The id that the result refers to.
    pub id: String,
    /// The tool's name, as the model wrote it.
    pub name: String,
    /// The arguments, as the model wrote them: usually JSON, never checked here.
    pub arguments: String,
    /// What its provider wants back with it.
    pub kept: Vec<Kept>,
}
