//! The steps that a small model writes down before it begins (the compact form of W-230).
//!
//! A small model sees the last words of a task and does them first. Asked for the steps alone it names
//! them in the right order, and told one step at a time it does that step.

use crate::conversation::clip;
use crate::prompt;

/// More steps than this are no plan but a transcript.
const MOST_STEPS: usize = 12;

/// A step is a short sentence; what is longer is cut.
const STEP_CHARS: usize = 160;

/// The steps, and which one is next.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct StepsAhead {
    steps: Vec<String>,
    done: usize,
}

impl StepsAhead {
    /// Reads a numbered or bulleted list. `None` if the text has no list of several steps: a task of
    /// one step needs no list.
    pub(crate) fn read(text: &str) -> Option<Self> {
        let steps: Vec<String> = text.lines().filter_map(item).collect();
        (2..=MOST_STEPS).contains(&steps.len()).then_some(Self { steps, done: 0 })
    }

    /// What the model is told first.
    pub(crate) fn begin(&self) -> Option<String> {
        let first = self.steps.first()?;
        let list: String = self
            .steps
            .iter()
            .enumerate()
            .map(|(at, step)| format!("{}. {step}\n", at + 1))
            .collect();
        Some(format!("Steps:\n{list}{}", prompt::do_step(1, first)))
    }

    /// The list in a line, for the person.
    pub(crate) fn in_a_line(&self) -> Option<String> {
        (!self.steps.is_empty()).then(|| format!("the model's steps: {}", self.steps.join("; ")))
    }

    /// After an act that worked: what the model is told about the rest.
    pub(crate) fn advance(&mut self) -> Option<String> {
        if self.done >= self.steps.len() {
            return None;
        }
        self.done += 1;
        Some(match self.steps.get(self.done) {
            Some(step) => prompt::do_step(self.done + 1, step),
            None => prompt::ALL_STEPS_DONE.to_owned(),
        })
    }
}

/// The text of a line like `2. Click "Go"`, `- Click`, `Step 3: Click`.
fn item(line: &str) -> Option<String> {
    let line = line.trim();
    let lower = line.to_ascii_lowercase();
    let rest = if lower.starts_with("step ") { &line["step ".len()..] } else { line };
    let digits = rest.chars().take_while(char::is_ascii_digit).count();
    let text = if digits > 0 {
        rest[digits..].strip_prefix(['.', ')', ':'])?
    } else {
        line.strip_prefix(['-', '*', '•'])?
    };
    let text = text.trim().trim_matches('*').trim();
    (!text.is_empty()).then(|| clip(text, STEP_CHARS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_read_however_they_are_written() {
        let steps = |text: &str| StepsAhead::read(text).map(|ahead| ahead.steps);
        let two = Some(vec!["Select \"B\"".to_owned(), "Click Go".to_owned()]);
        assert_eq!(steps("1. Select \"B\"\n2. Click Go"), two);
        assert_eq!(steps("Here are the steps:\n\n1) **Select \"B\"**\n2) Click Go\n\nDone."), two);
        assert_eq!(steps("- Select \"B\"\n- Click Go"), two);
        assert_eq!(steps("Step 1: Select \"B\"\nStep 2: Click Go"), two);
        assert_eq!(steps("I will click it."), None);
        assert_eq!(steps("1. Click Go"), None);
        assert_eq!(steps(&"- more\n".repeat(MOST_STEPS + 1)), None);
    }

    #[test]
    fn w230_each_act_that_worked_leads_to_the_next_step() {
        let mut ahead = StepsAhead::read("1. Select B\n2. Click Go").expect("a list");
        let begin = format!("Steps:\n1. Select B\n2. Click Go\n{}", prompt::do_step(1, "Select B"));
        assert_eq!(ahead.begin(), Some(begin));
        assert_eq!(ahead.advance(), Some(prompt::do_step(2, "Click Go")));
        assert_eq!(ahead.advance().as_deref(), Some(prompt::ALL_STEPS_DONE));
        assert_eq!(ahead.advance(), None);
    }
}
