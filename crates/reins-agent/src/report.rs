//! How a run ended.

use crate::ids::RunId;
use crate::submissions::Submission;
use crate::toolbox::AgentTool;
use reins_core::TurnSummary;
use reins_models::{Cost, ToolCall, Usage};

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunEnd {
    /// The model answered, and at least one act worked if any was tried.
    Done {
        /// What it said.
        answer: String,
    },
    /// The person stopped it.
    Stopped,
    /// It used up its calls. Another message goes on from here.
    StepLimit {
        /// What is done and what is not, as the model sees it; without a model's word, the last steps
        /// with their results (W-271).
        so_far: String,
    },
    /// It could not go on, or nothing that it tried worked.
    Failed {
        /// A stable code: one of the model's errors, `no_step_worked`, `going_in_circles`,
        /// `no_answer`, `not_recorded` or `withheld`.
        code: &'static str,
        /// What happened and what to do next.
        message: String,
        /// What the model said, if it did. It may claim more than happened.
        answer: Option<String>,
    },
}

impl RunEnd {
    /// How it ended in a word, as the journal has it.
    pub(crate) fn word(&self) -> &'static str {
        match self {
            Self::Done { .. } => "done",
            Self::Stopped => "stopped",
            Self::StepLimit { .. } => "step_limit",
            Self::Failed { code, .. } => code,
        }
    }

    /// What was said at the end.
    pub(crate) fn text(&self) -> &str {
        match self {
            Self::Done { answer } => answer,
            Self::Stopped => "",
            Self::StepLimit { so_far } => so_far,
            Self::Failed { message, .. } => message,
        }
    }
}

/// A run's end with its counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunReport {
    /// Which run of the conversation.
    pub run: RunId,
    /// How it ended.
    pub end: RunEnd,
    /// Steps, confirmations and failures.
    pub summary: TurnSummary,
    /// Requests to the model.
    pub requests: u32,
    /// What they used.
    pub usage: Usage,
    /// What they cost, if every price is known.
    pub cost: Option<Cost>,
    /// What was sent for good, each with the revision of the task that it was sent for (W-096).
    pub submissions: Vec<Submission>,
}

pub(crate) fn failed(code: &'static str, message: &str, answer: Option<String>) -> RunEnd {
    RunEnd::Failed { code, message: message.to_owned(), answer }
}

/// Some models end by calling a tool that they made up for it.
pub(crate) fn as_answer(calls: &[ToolCall], text: &str, tools: &[AgentTool]) -> Option<String> {
    const ENDS: [&str; 8] = [
        "done",
        "finish",
        "answer",
        "final_answer",
        "complete",
        "end",
        "terminate",
        "task_complete",
    ];
    let [call] = calls else {
        return None;
    };
    if !ENDS.contains(&call.name.as_str()) || tools.iter().any(|tool| tool.name == call.name) {
        return None;
    }
    let arguments: serde_json::Value = serde_json::from_str(&call.arguments).unwrap_or_default();
    let said = ["answer", "text", "summary", "message", "result", "reason"]
        .iter()
        .find_map(|key| arguments[*key].as_str());
    let answer = said.unwrap_or(text).trim();
    Some(if answer.is_empty() { "Done.".to_owned() } else { answer.to_owned() })
}
