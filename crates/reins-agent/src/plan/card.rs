//! The card on which the person sees and changes a plan (W-244, W-247).

use super::{MemoryKind, Plan};
use crate::memory::{ITEM_CHARS, ITEMS};
use crate::text::plain_line;

/// The line that things on the list stand after. The person may change it, and only what stands there
/// then counts (W-485).
const LIST: &str = "On the list:";

/// The line that a recipient stands after.
const RECIPIENT: &str = "The message goes to:";

/// Columns of the narrowest screen that is taken care of.
const COLUMNS: usize = 80;

/// The longest text that an edited plan may be, in bytes: some pages.
const EDITED_BYTES: usize = 8_000;

/// A plan to be looked at, as plain text of at most 80 columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanCard {
    plan: Plan,
}

/// A plan that the person agreed to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Agreed {
    /// What the run's model is told with the task, for the whole run.
    pub(crate) pinned: String,
    /// The things on the list.
    pub(crate) items: Vec<String>,
    /// What is kept in mind.
    pub(crate) memory: MemoryKind,
}

impl PlanCard {
    /// The card of a plan.
    pub fn new(plan: Plan) -> Self {
        Self { plan }
    }

    /// The text, wrapped at words. It is also what the person edits.
    pub fn text(&self) -> String {
        let plan = &self.plan;
        let mut lines = Vec::new();
        wrap(&plan.summary, "", &mut lines);
        for (at, step) in plan.steps.iter().enumerate() {
            wrap(step, &format!("{:>2}. ", at + 1), &mut lines);
        }
        for risk in &plan.risks {
            wrap(risk, " ! ", &mut lines);
        }
        if let Some(recipient) = &plan.recipient {
            lines.push(format!("{RECIPIENT} {recipient}"));
        }
        if !plan.items.is_empty() {
            lines.push(LIST.to_owned());
            plan.items.iter().for_each(|item| wrap(item, " - ", &mut lines));
        }
        lines.join("\n")
    }

    /// The plan as it was shown.
    pub(crate) fn agreed(&self) -> Agreed {
        let Plan { memory, items, .. } = self.plan.clone();
        Agreed { pinned: self.plan.pinned(), items, memory }
    }

    /// The plan as the person changed it: their text counts as it stands, and no rule reads it again but
    /// the one for the line of things (W-485).
    pub(crate) fn edited(&self, text: &str) -> Agreed {
        let text = crate::text::clip_middle(text.trim(), EDITED_BYTES);
        let mut items = Vec::new();
        let after = text.lines().skip_while(|line| line.trim() != LIST).skip(1);
        for line in after {
            let Some(item) = line.trim().strip_prefix('-') else {
                // A long thing goes on in the next line.
                match (items.last_mut(), line.trim()) {
                    (Some(last), more) if !more.is_empty() => *last = format!("{last} {more}"),
                    _ => break,
                }
                continue;
            };
            items.push(item.trim().to_owned());
        }
        let items: Vec<String> = items
            .iter()
            .map(|item| plain_line(item, ITEM_CHARS))
            .filter(|item| !item.is_empty())
            .take(ITEMS)
            .collect();
        let memory = match self.plan.memory {
            MemoryKind::None if items.is_empty() => MemoryKind::None,
            _ if items.is_empty() => MemoryKind::Notes,
            _ => MemoryKind::List,
        };
        let progress =
            if items.is_empty() { "" } else { "\nAfter each thing on the list call progress." };
        Agreed { pinned: format!("Plan, as the user changed it:\n{text}{progress}"), items, memory }
    }
}

/// Breaks a line at words; further lines stand below its text.
fn wrap(text: &str, head: &str, lines: &mut Vec<String>) {
    let indent = " ".repeat(head.chars().count());
    let mut line = head.to_owned();
    let mut empty = true;
    for word in text.split(' ') {
        let mut word = word;
        loop {
            let used = line.chars().count() + usize::from(!empty);
            let length = word.chars().count();
            if used + length <= COLUMNS {
                break;
            }
            if empty {
                // A word without an end is broken.
                let room = COLUMNS.saturating_sub(used).max(1);
                let end = word.char_indices().nth(room).map_or(word.len(), |(end, _)| end);
                line.push_str(&word[..end]);
                word = &word[end..];
            }
            lines.push(std::mem::replace(&mut line, indent.clone()));
            empty = true;
        }
        if !empty {
            line.push(' ');
        }
        line.push_str(word);
        empty = false;
    }
    lines.push(line);
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;

    #[test]
    fn a_plan_card_is_plain_text_of_eighty_columns() {
        let mut plan = sample();
        plan.steps.push(format!("Look at {} and then go on with the next one", "x".repeat(200)));
        plan.summary = "Order two mugs ".repeat(18).trim().to_owned();
        let text = PlanCard::new(plan).text();
        assert!(text.lines().all(|line| line.chars().count() <= COLUMNS), "{text}");
        assert_eq!(text.matches('x').count(), 200 + "next".matches('x').count());
        assert!(text.contains("\n 1. Open the shop\n 2. Order the blue mug\n"), "{text}");
        assert!(text.contains("\n ! It costs 20 euros\n"), "{text}");
    }

    #[test]
    fn w247_the_agreed_plan_is_what_was_shown() {
        let agreed = PlanCard::new(sample()).agreed();
        assert!(
            agreed.pinned.starts_with("Plan: Order two mugs\n1. Open the shop\n"),
            "{agreed:?}"
        );
        assert_eq!(agreed.items, ["blue mug", "red mug"]);
    }

    #[test]
    fn w485_things_of_an_edited_plan_come_from_their_own_lines() {
        let card = PlanCard::new(sample());
        let text = card.text().replace(" - red mug", " - green mug, the big one\n   with a lid");
        let agreed = card.edited(&text.replace("20 euros", "30 euros"));
        assert_eq!(agreed.items, ["blue mug", "green mug, the big one with a lid"]);
        assert!(agreed.pinned.contains("30 euros") && !agreed.pinned.contains("red mug"));
        let none = card.edited("Only look at the red mug");
        assert_eq!((none.items.len(), none.memory), (0, MemoryKind::Notes));
    }
}
