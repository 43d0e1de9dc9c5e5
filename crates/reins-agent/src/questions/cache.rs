//! The same question has one answer (W-482).

use super::{Answer, Slot, Subject};
use std::collections::HashMap;

/// Answers that are kept. A run asks some dozens; when more come, the old ones are most likely about
/// pages that are gone.
const ANSWERS: usize = 512;

/// Everything that an answer depends on.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key {
    question: &'static str,
    subject: Subject,
    item: Option<String>,
}

impl Key {
    pub(super) fn of(subject: &Subject, slot: &Slot) -> Self {
        let (subject, item) = (subject.clone(), slot.item.clone());
        Self { question: slot.question.name, subject, item }
    }
}

/// Answers by question.
#[derive(Debug, Default)]
pub(super) struct Cache(HashMap<Key, Answer>);

impl Cache {
    pub(super) fn get(&self, key: &Key) -> Option<Answer> {
        self.0.get(key).cloned()
    }

    /// Keeps an answer, unless the same question was answered meanwhile; gives the one that holds.
    pub(super) fn keep(&mut self, key: &Key, answer: Answer) -> Answer {
        if self.0.len() >= ANSWERS && !self.0.contains_key(key) {
            self.0.clear();
        }
        self.0.entry(key.clone()).or_insert(answer).clone()
    }
}
