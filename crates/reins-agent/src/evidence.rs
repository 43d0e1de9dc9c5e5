//! What was seen in a run: the ground on which its answer is judged.

use crate::messages::Messages;
use crate::text::{clip_middle, plain_line};
use crate::toolbox::{StepLabel, ToolReply};
use reins_core::Outcome;
use std::collections::{HashSet, VecDeque};
use std::fmt::Write;

/// Steps that are told to whoever judges: the newest ones.
const STEPS: usize = 30;

/// Characters of a step's result.
const RESULT_CHARS: usize = 200;

/// Pages that are told: the newest look at each of the newest tabs (W-493).
const PAGES: usize = 4;

/// Bytes of one page.
const PAGE_BYTES: usize = 4_000;

/// Digits that make a number worth looking for: order numbers and the like. Shorter ones are counted,
/// added up and rounded all the time.
const DIGITS: usize = 5;

/// Numbers that are remembered; a run that sees more of them is not about single ones.
const NUMBERS: usize = 20_000;

/// What was done and seen.
#[derive(Debug, Default)]
pub(crate) struct Evidence {
    steps: VecDeque<String>,
    /// Tab and text, newest last.
    pages: VecDeque<(String, String)>,
    numbers: HashSet<String>,
    acts_worked: u32,
    /// Of those, how many may have changed something.
    acts_effective: u32,
    /// A step of which nobody knows whether it happened, and nothing was looked at since.
    unsettled: Option<String>,
    messages: Messages,
}

impl Evidence {
    /// What still counts in the next turn of the same conversation: what was read, not what was done.
    pub(crate) fn next_turn(self) -> Self {
        Self { pages: self.pages, numbers: self.numbers, ..Self::default() }
    }

    /// Takes a call and its result.
    pub(crate) fn push(&mut self, tool: &str, label: &StepLabel, acts: bool, reply: &ToolReply) {
        let what = match &label.element {
            Some(element) => format!("{tool} {element}"),
            None => tool.to_owned(),
        };
        let word = match &reply.outcome {
            Outcome::Unknown(_) => "nobody knows whether it happened",
            Outcome::Completed if !reply.failed && reply.changed == Some(false) => {
                "worked, nothing on the page changed"
            }
            Outcome::Completed if !reply.failed => "worked",
            Outcome::Completed | Outcome::Refused(_) => "did not work",
        };
        if self.steps.len() == STEPS {
            self.steps.pop_front();
        }
        let result = plain_line(&reply.text, RESULT_CHARS);
        self.steps.push_back(format!("{what}: {word}. {result}"));
        self.unsettled = match &reply.outcome {
            Outcome::Unknown(_) => Some(what),
            // Looking settles it, and so does a further step that worked.
            _ if reply.is_ok() => None,
            _ => self.unsettled.take(),
        };
        if acts && reply.is_ok() {
            self.acts_worked += 1;
            self.acts_effective += u32::from(reply.changed != Some(false));
        }
        self.see(&reply.text);
        if let Some(page) = &reply.page {
            self.see(&page.text);
            self.messages.look(&page.text, page.whole);
            self.look(&page.tab, page.whole, &page.text);
        }
    }

    /// Something is sent for good with the call that is taken next.
    pub(crate) fn sent(&mut self) {
        self.messages.sent();
    }

    /// What pages reported since something was sent.
    pub(crate) fn messages(&self) -> &Messages {
        &self.messages
    }

    /// Numbers of a text count as seen.
    pub(crate) fn see(&mut self, text: &str) {
        if self.numbers.len() < NUMBERS {
            self.numbers.extend(numbers(text));
        }
    }

    fn look(&mut self, tab: &str, whole: bool, text: &str) {
        let old = self.pages.iter().position(|(known, _)| known == tab);
        let before = old.and_then(|at| self.pages.remove(at)).map(|(_, text)| text);
        let text = match before {
            // Only what changed: what is below it is newer.
            Some(before) if !whole => format!("{before}\nThen:\n{text}"),
            _ => text.to_owned(),
        };
        self.pages.push_back((tab.to_owned(), clip_middle(&text, PAGE_BYTES)));
        if self.pages.len() > PAGES {
            self.pages.pop_front();
        }
    }

    /// Whether any act worked.
    pub(crate) fn acted(&self) -> bool {
        self.acts_worked > 0
    }

    /// Whether acts worked, and not one of them changed anything that could be seen.
    pub(crate) fn is_without_effect(&self) -> bool {
        self.acts_worked > 0 && self.acts_effective == 0
    }

    /// The step of which nobody knows whether it happened.
    pub(crate) fn unsettled(&self) -> Option<&str> {
        self.unsettled.as_deref()
    }

    /// Long numbers of a text that were never seen: most likely made up.
    pub(crate) fn unseen_numbers(&self, text: &str) -> Vec<String> {
        let seen = |number: &String| {
            self.numbers.contains(number) || self.numbers.iter().any(|known| known.contains(number))
        };
        let mut unseen = numbers(text);
        unseen.retain(|number| !seen(number));
        unseen.dedup();
        unseen
    }

    /// Everything for whoever judges: the steps, then the pages as they are now.
    pub(crate) fn text(&self) -> String {
        let mut text = String::from("Steps:\n");
        for step in &self.steps {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "- {step}");
        }
        for (_, page) in &self.pages {
            let _ = writeln!(text, "Page:\n{page}");
        }
        text
    }
}

/// Runs of at least [`DIGITS`] digits. Marks between thousands do not end a run.
fn numbers(text: &str) -> Vec<String> {
    let mut all = Vec::new();
    let chars: Vec<char> = text.chars().collect();
    let digit = |at: usize| chars.get(at).is_some_and(char::is_ascii_digit);
    let mut run = String::new();
    for (at, c) in chars.iter().enumerate() {
        if c.is_ascii_digit() {
            run.push(*c);
            continue;
        }
        let mark = matches!(c, ',' | '.' | '\'' | '’' | ' ' | '\u{a0}' | '\u{202f}');
        let thousands = digit(at + 1) && digit(at + 2) && digit(at + 3) && !digit(at + 4);
        if !run.is_empty() && mark && thousands {
            continue;
        }
        if run.len() >= DIGITS {
            all.push(std::mem::take(&mut run));
        }
        run.clear();
    }
    if run.len() >= DIGITS {
        all.push(run);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toolbox::PageView;

    fn page(tab: &str, whole: bool, text: &str) -> ToolReply {
        let (tab, text) = (tab.to_owned(), text.to_owned());
        let page = PageView { tab, whole, state: text.clone(), text };
        ToolReply { page: Some(page), ..ToolReply::text("") }
    }

    #[test]
    fn long_numbers_are_found_however_they_are_written() {
        assert_eq!(
            numbers("order 4711-99812, 12,345.50 and 10 000 of 2026"),
            ["99812", "12345", "10000"]
        );
        assert_eq!(numbers("1.234 and 1 2 3"), Vec::<String>::new());
    }

    #[test]
    fn numbers_that_nobody_saw_are_told() {
        let mut evidence = Evidence::default();
        evidence.push("snapshot", &StepLabel::default(), false, &page("t", true, "Order 4711998"));
        assert!(evidence.unseen_numbers("Your order is 4,711,998 (4711998).").is_empty());
        assert_eq!(evidence.unseen_numbers("Your order is 55512345."), ["55512345"]);
    }

    /// W-356: what an answer is judged by is how the pages look at the end.
    #[test]
    fn w493_the_newest_looks_at_the_newest_tabs_are_told() {
        let mut evidence = Evidence::default();
        let label = StepLabel::default();
        for tab in ["a", "b", "c", "d", "e"] {
            evidence.push("open_tab", &label, true, &page(tab, true, &format!("page {tab}")));
        }
        evidence.push("click", &label, true, &page("b", false, "+ saved"));
        let text = evidence.text();
        assert!(!text.contains("page a") && text.contains("page b\nThen:\n+ saved"), "{text}");
        assert!(evidence.acted() && !evidence.is_without_effect());
    }
}
