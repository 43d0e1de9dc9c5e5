//! The person, as far as a run asks them something itself. What a step may do is asked elsewhere: an
//! answer given here allows none (W-484).

use crate::plan::PlanCard;
use futures_util::future::{BoxFuture, FutureExt, ready};

/// What the person did with a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reviewed {
    /// They agreed.
    Approved,
    /// They changed it; this is the whole text as they left it.
    Edited(String),
    /// They do not want it.
    Rejected,
    /// Nobody answered, or nobody can.
    Unanswered,
}

/// A question to the person.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Clarification {
    /// The question, in one line.
    pub question: String,
    /// Answers to choose from; empty if any text may be the answer.
    pub choices: Vec<String>,
}

/// Someone who can be asked.
pub trait Person: Send + Sync {
    /// Shows a plan (W-247).
    fn review<'a>(&'a self, card: &'a PlanCard) -> BoxFuture<'a, Reviewed>;

    /// Asks for what the task does not say. `None` if nobody answered.
    fn clarify<'a>(&'a self, question: &'a Clarification) -> BoxFuture<'a, Option<String>>;
}

/// Nobody.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoPerson;

impl Person for NoPerson {
    fn review<'a>(&'a self, _card: &'a PlanCard) -> BoxFuture<'a, Reviewed> {
        ready(Reviewed::Unanswered).boxed()
    }

    fn clarify<'a>(&'a self, _question: &'a Clarification) -> BoxFuture<'a, Option<String>> {
        ready(None).boxed()
    }
}
