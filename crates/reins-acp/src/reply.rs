//! The agent's words, put together (R-094…R-096).

use serde_json::Value;

/// The longest reply that is kept. Answers have a few thousand characters; an agent that never
/// stops talking must not take all memory.
const LONGEST_REPLY: usize = 1024 * 1024;

/// Words as they come, and what stands between them.
#[derive(Debug)]
pub(crate) struct Reply {
    /// Whether text without a message id comes from the agent itself and not from its model.
    notices: bool,
    text: String,
    held: String,
    last: Option<Option<String>>,
    broken: bool,
    failed: bool,
    failure: String,
}

impl Reply {
    /// `notices`: text without a message id is the agent's own notice, as Codex sends it.
    pub(crate) fn new(notices: bool) -> Self {
        Self {
            notices,
            text: String::new(),
            held: String::new(),
            last: None,
            broken: false,
            failed: false,
            failure: String::new(),
        }
    }

    /// Adds a portion. Returns what a screen shall add now, if anything.
    pub(crate) fn text(&mut self, portion: &str, message: Option<&str>) -> Option<String> {
        if self.failed {
            // After a system error the text is the error.
            push(&mut self.failure, portion);
            return None;
        }
        if self.notices && message.is_none() {
            push(&mut self.held, portion);
            return None;
        }
        let other = self.last.as_ref().is_some_and(|last| last.as_deref() != message);
        let shown = if (other || self.broken) && !self.text.is_empty() {
            format!("\n\n{}", portion.trim_start())
        } else {
            portion.to_owned()
        };
        self.last = Some(message.map(str::to_owned));
        self.broken = false;
        push(&mut self.text, &shown);
        Some(shown)
    }

    /// A tool call, plan or thought came between: what follows is a new paragraph.
    pub(crate) fn interrupted(&mut self) {
        self.broken = true;
    }

    /// The agent's runtime says that the turn failed.
    pub(crate) fn system_error(&mut self) {
        self.failed = true;
    }

    /// The words of a system error, if there was one.
    pub(crate) fn failure(&self) -> Option<String> {
        self.failed.then(|| {
            let words = plain(&self.failure);
            if words.is_empty() {
                "a system error, without a word about it".to_owned()
            } else {
                words
            }
        })
    }

    /// The whole reply of a turn that went well; notices that were held come before it.
    pub(crate) fn whole(self) -> String {
        match (self.held.trim(), self.text.trim()) {
            ("", text) => text.to_owned(),
            (held, "") => held.to_owned(),
            (held, text) => format!("{held}\n\n{text}"),
        }
    }

    /// The end of what was said, for the message of a turn that did not go well.
    pub(crate) fn tail(&self) -> String {
        let text = plain(&self.text);
        let from = text.char_indices().rev().nth(TAIL_CHARS).map_or(0, |(at, _)| at);
        if text.is_empty() { text } else { format!(": {}", &text[from..]) }
    }
}

/// How much of the last words an error's message quotes.
const TAIL_CHARS: usize = 300;

fn push(text: &mut String, portion: &str) {
    let room = LONGEST_REPLY.saturating_sub(text.len());
    let end = (0..=portion.len().min(room)).rev().find(|at| portion.is_char_boundary(*at));
    text.push_str(&portion[..end.unwrap_or(0)]);
}

/// Words of an agent on one line, without control characters: they are shown on a terminal.
pub(crate) fn plain(words: &str) -> String {
    let words: Vec<&str> = words
        .split(|c: char| c.is_whitespace() || c.is_control())
        .filter(|w| !w.is_empty())
        .collect();
    words.join(" ")
}

/// The text of a content block, if it is one.
pub(crate) fn text_of(content: &Value) -> Option<&str> {
    (content["type"] == "text").then(|| content["text"].as_str()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// another message id, or something in between, starts a paragraph.
    #[test]
    fn r096_paragraphs() {
        let mut reply = Reply::new(false);
        reply.text("I loo", Some("a"));
        reply.text("ked.", Some("a"));
        reply.text("It is there.", Some("b"));
        reply.interrupted();
        reply.text(" Done", Some("b"));
        reply.text(".", Some("b"));
        assert_eq!(reply.whole(), "I looked.\n\nIt is there.\n\nDone.");

        let mut without_ids = Reply::new(false);
        without_ids.interrupted();
        without_ids.text("First.", None);
        without_ids.interrupted();
        without_ids.interrupted();
        without_ids.text("Second.", None);
        assert_eq!(without_ids.whole(), "First.\n\nSecond.");
    }

    /// notices wait for the reply, and are gone if the turn fails.
    #[test]
    fn r095_notices_without_an_id_are_held() {
        let mut reply = Reply::new(true);
        assert_eq!(reply.text("Update available.", None), None);
        assert_eq!(reply.text("Done.", Some("m")), Some("Done.".into()));
        assert_eq!(reply.tail(), ": Done.");
        assert_eq!(reply.whole(), "Update available.\n\nDone.");
    }

    /// the text after a system error is the error and no reply.
    #[test]
    fn r094_text_after_a_system_error_is_the_error() {
        let mut reply = Reply::new(true);
        reply.text("Looking. ", Some("m"));
        assert_eq!(reply.failure(), None);
        reply.system_error();
        assert_eq!(reply.text("You've hit\nyour \u{1b}[31musage limit.", None), None);
        assert_eq!(reply.failure().unwrap(), "You've hit your [31musage limit.");
        assert_eq!(reply.whole(), "Looking.");
    }

    #[test]
    fn a_reply_without_end_is_cut() {
        let mut reply = Reply::new(false);
        for _ in 0..1_100 {
            reply.text(&"é".repeat(512), None);
        }
        assert!(reply.whole().len() <= LONGEST_REPLY);
    }
}
