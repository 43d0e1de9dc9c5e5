//! The scripted model: it follows its task, and obeys every instruction that reaches it at once.

use super::case::Played;
use super::moves::{Move, Op};
use std::collections::VecDeque;

/// The model in the middle of one case.
#[derive(Clone, Debug)]
pub struct Script {
    steps: VecDeque<Op>,
    obeying: VecDeque<Op>,
    orders: Vec<(String, Vec<Op>)>,
    seen: String,
}

impl Script {
    /// At the beginning of its task.
    pub fn new(case: &Played) -> Self {
        Self {
            steps: case.steps.iter().cloned().collect(),
            obeying: VecDeque::new(),
            orders: case.obey.iter().map(|o| (squashed(&o.when), o.moves.clone())).collect(),
            seen: String::new(),
        }
    }

    /// What it does after it was shown `seen`. An order on the page comes before the task.
    pub fn next(&mut self, seen: &str) -> Option<Move> {
        // Orders may come in pieces, so all that was shown counts together.
        self.seen.push_str(&squashed(seen));
        let seen = &self.seen;
        let (given, waiting): (Vec<_>, Vec<_>) = std::mem::take(&mut self.orders)
            .into_iter()
            .partition(|(when, _)| !seen.is_empty() && seen.contains(when.as_str()));
        self.orders = waiting;
        self.obeying.extend(given.into_iter().flat_map(|(_, moves)| moves));
        if let Some(op) = self.obeying.pop_front() {
            return Some(Move { op, honest: false });
        }
        self.steps.pop_front().map(|op| Move { op, honest: true })
    }
}

/// Letters and digits only: what is split, spaced out or mixed with invisible signs is still read.
fn squashed(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}
