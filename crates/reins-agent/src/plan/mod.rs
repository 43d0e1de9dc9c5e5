//! What a run means to do, written down before its first step (W-230…).
//!
//! Small models on this machine write the compact list of [`crate::ahead`](super) instead: it is what
//! they can do, and it costs one short request.

mod card;
mod digest;
mod planner;
mod read;

pub(crate) use card::Agreed;
pub use card::PlanCard;
pub use digest::{Said, digest};
pub(crate) use planner::{Asked, NoPlan, PlanInput, plan};

/// Whether a run is planned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PlanSetting {
    /// No plan.
    Off,
    /// A plan where the task needs one. If none comes, the run only reads (W-246).
    #[default]
    Try,
    /// Always a plan, shown to the person; without one nothing runs (W-234, W-246).
    Strict,
}

/// What happens when nobody answers a plan card (W-247).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unanswered {
    /// Nothing runs.
    #[default]
    Nothing,
    /// The plan runs as it stands. What is risky is asked about all the same, step by step.
    Run,
}

/// How much is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// What is meant, without steps (W-232, W-239).
    Compact,
    /// All of it.
    Full,
}

/// What is to be done with the task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlanAction {
    /// Do it.
    Execute,
    /// The person wants the plan only.
    PlanOnly,
    /// Something has to be asked first.
    Clarify,
}

/// What a long task keeps in mind (W-238).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryKind {
    /// Nothing.
    None,
    /// Notes.
    Notes,
    /// Notes, and a list of things with what became of each.
    List,
}

/// A plan, with every field bounded and cleaned (W-244).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// What is to be done with the task.
    pub action: PlanAction,
    /// One sentence.
    pub summary: String,
    /// One short sentence each.
    pub steps: Vec<String>,
    /// What may go wrong or cannot be undone.
    pub risks: Vec<String>,
    /// What is kept in mind.
    pub memory: MemoryKind,
    /// The things on the list.
    pub items: Vec<String>,
    /// What has to be asked.
    pub question: String,
    /// Who gets a message, if the person asked for one: a precise name (W-243).
    pub recipient: Option<String>,
}

impl Plan {
    /// The plan as the run's model is told it, with the task (W-244). It stays however much of the
    /// conversation is cut.
    pub(crate) fn pinned(&self) -> String {
        let mut text = format!("Plan: {}", self.summary);
        for (at, step) in self.steps.iter().enumerate() {
            text.push_str(&format!("\n{}. {step}", at + 1));
        }
        for risk in &self.risks {
            text.push_str(&format!("\nTake care: {risk}"));
        }
        if let Some(recipient) = &self.recipient {
            text.push_str(&format!("\nThe message goes to {recipient} and to nobody else."));
        }
        if self.memory == MemoryKind::List && !self.items.is_empty() {
            text.push_str("\nOn the list: ");
            text.push_str(&self.items.join("; "));
            text.push_str("\nAfter each of them call progress.");
        }
        text
    }
}

#[cfg(test)]
pub(crate) fn sample() -> Plan {
    Plan {
        action: PlanAction::Execute,
        summary: "Order two mugs".to_owned(),
        steps: vec!["Open the shop".to_owned(), "Order the blue mug".to_owned()],
        risks: vec!["It costs 20 euros".to_owned()],
        memory: MemoryKind::List,
        items: vec!["blue mug".to_owned(), "red mug".to_owned()],
        question: String::new(),
        recipient: None,
    }
}
