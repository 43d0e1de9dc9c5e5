//! The same conversation as notes: one message with the task, what was done, and the page as it is.
//!
//! A small model copies the pattern of its own earlier turns and overlooks what changed since. It
//! does far better when every request looks like the first one.

use crate::conversation::{Conversation, Entry, Kind, Shown, clip};
use crate::prompt;
use reins_models::{Message, Part, ToolCall};
use std::fmt::Write;

/// What is kept of the result of an older step.
const RESULT_CHARS: usize = 160;

/// What is kept of the newest result: it may be an answer that the task is about.
const NEWEST_CHARS: usize = 2_000;

/// Older steps are counted instead of told.
const STEPS_TOLD: usize = 12;

/// The messages for a request.
pub(crate) fn messages(conversation: &Conversation) -> Vec<Message> {
    let entries = &conversation.entries;
    let begin = entries.iter().rposition(|entry| matches!(entry.kind, Kind::Task)).unwrap_or(0);
    let (before, run) = entries.split_at(begin);
    let mut messages: Vec<Message> = before.iter().filter_map(earlier).collect();
    let mut text = run.first().map(|task| task.text.clone()).unwrap_or_default();
    steps(run, &mut text);
    let page = entries.iter().rev().find_map(|entry| match &entry.page {
        Shown::Page(page) if page.whole => Some(page),
        _ => None,
    });
    if let Some(page) = page {
        // Writing to a String cannot fail.
        let _ = write!(text, "\n\nThe page now:\n{}", page.text);
    }
    let remark = run.last().filter(|entry| matches!(entry.kind, Kind::Remark));
    let last = remark.map_or(prompt::NEXT, |remark| &remark.text);
    let _ = write!(text, "\n\n{last}");
    let mut parts = vec![Part::Text(text)];
    let newest = run.last().into_iter().flat_map(|entry| entry.images.iter());
    parts.extend(newest.cloned().map(Part::Image));
    messages.push(Message::User(parts));
    messages
}

/// Of runs before this one only the words are told.
fn earlier(entry: &Entry) -> Option<Message> {
    match &entry.kind {
        Kind::Task => Some(Message::user(entry.text.clone())),
        Kind::Assistant { calls } if calls.is_empty() => {
            Some(Message::Assistant { text: entry.text.clone(), calls: Vec::new() })
        }
        _ => None,
    }
}

fn steps(run: &[Entry], text: &mut String) {
    let results: Vec<(&ToolCall, &Entry)> = run
        .iter()
        .filter_map(|entry| match &entry.kind {
            Kind::Result { call, .. } => Some((call, entry)),
            _ => None,
        })
        .collect();
    if results.is_empty() {
        return;
    }
    text.push_str("\n\nSteps so far:");
    let told_from = results.len().saturating_sub(STEPS_TOLD);
    if told_from > 0 {
        let _ = write!(text, "\n({told_from} earlier steps)");
    }
    for (at, (call, entry)) in results.iter().enumerate().skip(told_from) {
        let newest = at + 1 == results.len();
        let result = clip(&entry.text, if newest { NEWEST_CHARS } else { RESULT_CHARS });
        let result = if newest { result } else { result.replace('\n', " ") };
        let _ = write!(text, "\n{}. {} {}: {result}", at + 1, call.name, call.arguments);
        // What a read brought is its page text; of an act it is told by the page itself.
        if let (true, Shown::Page(page)) = (newest, &entry.page)
            && !page.whole
        {
            let _ = write!(text, "\n{}", page.text);
        }
    }
}
