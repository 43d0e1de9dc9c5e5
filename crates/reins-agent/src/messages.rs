//! What a page reports by its structure: messages in live regions, and fields that it marks as wrong
//! (W-494, W-495).

use crate::text::plain_line;
use std::collections::HashSet;

/// One message (W-494).
const MESSAGE_CHARS: usize = 300;

/// Messages of one page that are looked at. More of them are a feed.
const MESSAGES: usize = 16;

/// Messages that are remembered as old.
const KNOWN: usize = 2_000;

/// Roles of regions that tell what just happened.
const LIVE: &[&str] = &["alert", "status", "log"];

/// Messages and wrong fields since something was sent.
#[derive(Debug, Default)]
pub(crate) struct Messages {
    known: HashSet<String>,
    sent: bool,
    told: Vec<String>,
    wrong: Vec<String>,
}

impl Messages {
    /// Something is sent for good: what was there before says nothing about it.
    pub(crate) fn sent(&mut self) {
        self.sent = true;
        self.known.extend(self.told.drain(..));
        self.known.extend(self.wrong.drain(..));
    }

    /// A page was seen, whole or what changed. What a whole one does not show any more is gone.
    pub(crate) fn look(&mut self, page: &str, whole: bool) {
        if whole {
            self.told.clear();
            self.wrong.clear();
        }
        for (wrong, text) in read(page) {
            if self.known.contains(&text) {
                continue;
            }
            if !self.sent {
                if self.known.len() < KNOWN {
                    self.known.insert(text);
                }
                continue;
            }
            let list = if wrong { &mut self.wrong } else { &mut self.told };
            if list.len() < MESSAGES && !list.contains(&text) {
                list.push(text);
            }
        }
    }

    /// New messages since the last submission.
    pub(crate) fn told(&self) -> &[String] {
        &self.told
    }

    /// Fields that are marked as wrong since then: what was sent was rejected.
    pub(crate) fn wrong(&self) -> &[String] {
        &self.wrong
    }
}

/// Messages of a page, each with whether it is a field marked as wrong.
fn read(page: &str) -> Vec<(bool, String)> {
    let lines: Vec<(usize, &str)> = page
        .lines()
        .filter_map(|line| {
            let trimmed = line.trim_start();
            let content = ["- ", "+ ", "~ "].iter().find_map(|sign| trimmed.strip_prefix(sign))?;
            Some((line.len() - trimmed.len(), content))
        })
        .collect();
    let mut found = Vec::new();
    for (at, (depth, content)) in lines.iter().enumerate() {
        if content.contains("[ref=") && content.contains("[invalid]") {
            let field = content.split(" [ref=").next().unwrap_or_default();
            found.push((true, plain_line(field, MESSAGE_CHARS)));
            continue;
        }
        let role = content.split([' ', ':']).next().unwrap_or_default();
        if !LIVE.contains(&role) {
            continue;
        }
        let own = content.split_once(": ").map(|(_, text)| text.to_owned());
        let text = own.unwrap_or_else(|| {
            let below = lines[at + 1..].iter().take_while(|(below, _)| below > depth);
            below.map(|(_, text)| *text).collect::<Vec<_>>().join(" ")
        });
        let text = plain_line(&text, MESSAGE_CHARS);
        if !text.is_empty() {
            found.push((false, text));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// W-494, W-495: what was there before a submission says nothing about it; fields that the page
    /// marks as wrong afterwards say that it was rejected.
    #[test]
    fn w494_w495_messages_count_from_the_submission_on() {
        let mut messages = Messages::default();
        messages.look("- alert: Only 2 left\n- textbox \"Name\" [ref=e1] [invalid]", true);
        messages.sent();
        messages.look(
            "- alert: Only 2 left\n- textbox \"Name\" [ref=e1] [invalid]\n+ status: Saved\n\
             - alert\n  - We are sorry.\n  - link \"Why\" [ref=e9] /why\n\
             ~ textbox \"Email\" [ref=e2] [required] [invalid]: x",
            false,
        );
        assert_eq!(messages.told(), ["Saved", "We are sorry. link \"Why\" [ref=e9] /why"]);
        assert_eq!(messages.wrong(), ["textbox \"Email\""]);
        messages.sent();
        messages.look("- status: Saved\n- status: Saved again", false);
        assert_eq!((messages.told().len(), messages.wrong().len()), (1, 0));
        messages.look("- Thank you", true);
        assert!(messages.told().is_empty(), "it is gone");
    }
}
