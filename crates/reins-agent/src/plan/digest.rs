//! What was said before, as the planner sees it (W-249).

use crate::text::clip_middle;

/// Turns that are looked back on.
const TURNS: usize = 10;

/// All of them together, in bytes.
const BYTES: usize = 2_000;

/// One of the model, and one of the person.
const MODEL_BYTES: usize = 1_200;
const PERSON_BYTES: usize = 600;

/// Something that was said, without notes of ours, results and pages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Said {
    /// By the person.
    Person(String),
    /// By the model, as an answer.
    Model(String),
}

/// The last turns, oldest first; `None` if there are none. Those that do not fit are left out whole,
/// oldest first.
pub fn digest(turns: &[Said]) -> Option<String> {
    let mut lines = Vec::new();
    let mut left = BYTES;
    for turn in turns.iter().rev().take(TURNS) {
        let line = match turn {
            Said::Person(text) => format!("User: {}", clip_middle(text.trim(), PERSON_BYTES)),
            Said::Model(text) => format!("Assistant: {}", clip_middle(text.trim(), MODEL_BYTES)),
        };
        let Some(rest) = left.checked_sub(line.len() + 1) else {
            break;
        };
        left = rest;
        lines.push(line);
    }
    lines.reverse();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn w249_the_newest_turns_that_fit() {
        assert_eq!(digest(&[]), None);
        let short = [Said::Person("find mugs".to_owned()), Said::Model("Found 3.".to_owned())];
        assert_eq!(digest(&short).as_deref(), Some("User: find mugs\nAssistant: Found 3."));
        let long = vec![Said::Model("x".repeat(5000)); 3];
        let text = digest(&long).expect("a digest");
        assert_eq!(text.matches("Assistant:").count(), 1, "whole ones only");
        assert!(text.len() <= BYTES && text.len() > 1000);
        let many = vec![Said::Person("a".to_owned()); 30];
        assert_eq!(digest(&many).map(|text| text.lines().count()), Some(TURNS));
    }
}
