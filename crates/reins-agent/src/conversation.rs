//! What the model has seen so far, kept short: a page that a newer look at it replaces becomes one
//! line, and old pictures go.

use crate::limits::{PICTURES_KEPT, RESULT_CHARS};
use crate::toolbox::{PageView, ToolReply};
use reins_models::{Image, Kept, Message, Part, ToolCall};
use std::collections::HashSet;

/// What stands in the place of a page that is not shown any more.
const GONE: &str = "(The page as it was then is left out.)";

/// Results keep this many characters when the window is too small for all of them.
const SHRUNK_CHARS: usize = 200;

/// The newest entries stay whole then (W-702).
const SHRUNK_KEEPS: usize = 6;

/// The messages of a conversation.
#[derive(Debug, Default)]
pub(crate) struct Conversation {
    entries: Vec<Entry>,
}

#[derive(Debug)]
struct Entry {
    kind: Kind,
    text: String,
    page: Shown,
    /// Below the page: what stands last is heeded most.
    below: Option<String>,
    images: Vec<Image>,
}

#[derive(Debug)]
enum Kind {
    /// A task of the person.
    Task,
    /// A remark of the loop.
    Remark,
    /// An answer of the model.
    Assistant { calls: Vec<ToolCall>, kept: Vec<Kept> },
    /// The result of a call. One is idle if it failed or changed nothing.
    Result { call: ToolCall, failed: bool, idle: bool },
}

#[derive(Debug)]
enum Shown {
    Nothing,
    Page(PageView),
    Gone,
}

impl Conversation {
    /// A task of the person, maybe with the page that is open and what is to be done first.
    pub(crate) fn task(&mut self, text: String, page: Option<PageView>, next: Option<String>) {
        self.supersede(page.as_ref());
        let page = page.map_or(Shown::Nothing, Shown::Page);
        self.entries.push(Entry { kind: Kind::Task, text, page, below: next, images: Vec::new() });
    }

    /// A remark of the loop.
    pub(crate) fn remark(&mut self, text: impl Into<String>) {
        let (text, page) = (text.into(), Shown::Nothing);
        let kind = Kind::Remark;
        self.entries.push(Entry { kind, text, page, below: None, images: Vec::new() });
    }

    /// An answer of the model, with what its provider wants back.
    pub(crate) fn assistant(&mut self, text: String, calls: Vec<ToolCall>, kept: Vec<Kept>) {
        let kind = Kind::Assistant { calls, kept };
        let page = Shown::Nothing;
        self.entries.push(Entry { kind, text, page, below: None, images: Vec::new() });
    }

    /// Whether there is a call with this id.
    pub(crate) fn knows(&self, id: &str) -> bool {
        self.entries.iter().any(|entry| match &entry.kind {
            Kind::Assistant { calls, .. } => calls.iter().any(|call| call.id == id),
            _ => false,
        })
    }

    /// The result of a call, with remarks of the loop and what is to be done next.
    pub(crate) fn result(
        &mut self,
        call: &ToolCall,
        reply: ToolReply,
        remarks: &[&str],
        next: Option<String>,
    ) {
        self.supersede(reply.page.as_ref());
        let mut text = clip(&reply.text, RESULT_CHARS);
        for remark in remarks {
            if !text.is_empty() {
                text.push('\n');
            }
            text.push_str(remark);
        }
        self.entries.push(Entry {
            kind: Kind::Result {
                call: call.clone(),
                failed: !reply.is_ok(),
                idle: !reply.is_ok() || reply.changed == Some(false),
            },
            text,
            page: reply.page.map_or(Shown::Nothing, Shown::Page),
            below: next,
            images: reply.images,
        });
    }

    /// A whole new look at a tab replaces everything that was shown of it.
    fn supersede(&mut self, page: Option<&PageView>) {
        let Some(page) = page.filter(|page| page.whole) else {
            return;
        };
        for entry in &mut self.entries {
            if matches!(&entry.page, Shown::Page(old) if old.tab == page.tab) {
                entry.page = Shown::Gone;
            }
        }
    }

    /// If the newest step did something, steps before it that did nothing are taken out. A small
    /// model copies the pattern of its own turns, failures included.
    pub(crate) fn forget_failures(&mut self) {
        let newest_worked = self
            .entries
            .last()
            .is_some_and(|entry| matches!(entry.kind, Kind::Result { idle: false, .. }));
        if !newest_worked {
            return;
        }
        let idle: HashSet<String> = self
            .entries
            .iter()
            .filter_map(|entry| match &entry.kind {
                Kind::Result { call, idle: true, .. } => Some(call.id.clone()),
                _ => None,
            })
            .collect();
        self.entries.retain_mut(|entry| match &mut entry.kind {
            Kind::Result { call, .. } => !idle.contains(&call.id),
            Kind::Assistant { calls, .. } if !calls.is_empty() => {
                calls.retain(|call| !idle.contains(&call.id));
                !calls.is_empty()
            }
            Kind::Task | Kind::Remark | Kind::Assistant { .. } => true,
        });
    }

    /// Makes the conversation much shorter, for a window that it does not fit into; false if it
    /// already was as short as that.
    pub(crate) fn shrink(&mut self) -> bool {
        let before = self.size();
        let is_page = |entry: &Entry| matches!(entry.page, Shown::Page(_));
        let newest_page = self.entries.iter().rposition(is_page);
        let whole_from = self.entries.len().saturating_sub(SHRUNK_KEEPS);
        for (at, entry) in self.entries.iter_mut().enumerate() {
            entry.images.clear();
            if Some(at) != newest_page && matches!(entry.page, Shown::Page(_)) {
                entry.page = Shown::Gone;
            }
            if at < whole_from && matches!(entry.kind, Kind::Result { .. }) {
                entry.text = clip(&entry.text, SHRUNK_CHARS);
            }
        }
        self.size() < before
    }

    fn size(&self) -> usize {
        let page = |entry: &Entry| match &entry.page {
            Shown::Page(page) => page.text.len(),
            _ => 0,
        };
        let images =
            |entry: &Entry| entry.images.iter().map(|image| image.bytes.len()).sum::<usize>();
        self.entries.iter().map(|entry| entry.text.len() + page(entry) + images(entry)).sum()
    }

    /// The messages for a request.
    pub(crate) fn messages(&self) -> Vec<Message> {
        let pictures_from = self.entries.len().saturating_sub(PICTURES_KEPT);
        let message = |(at, entry): (usize, &Entry)| {
            let mut text = entry.text.clone();
            let page = match &entry.page {
                Shown::Nothing => None,
                Shown::Page(page) => Some(page.text.as_str()),
                Shown::Gone => Some(GONE),
            };
            if let Some(page) = page {
                if !text.is_empty() {
                    text.push('\n');
                }
                text.push_str(page);
            }
            if let Some(below) = &entry.below {
                text.push_str("\n\n");
                text.push_str(below);
            }
            let mut parts = vec![Part::Text(text)];
            if at >= pictures_from {
                parts.extend(entry.images.iter().cloned().map(Part::Image));
            } else if !entry.images.is_empty() {
                parts.push(Part::Text("\n(The picture is left out.)".to_owned()));
            }
            match &entry.kind {
                Kind::Task | Kind::Remark => Message::User(parts),
                Kind::Assistant { calls, kept } => Message::Assistant {
                    text: entry.text.clone(),
                    calls: calls.clone(),
                    kept: kept.clone(),
                },
                Kind::Result { call, failed, .. } => Message::Tool {
                    call: call.id.clone(),
                    name: call.name.clone(),
                    parts,
                    failed: *failed,
                },
            }
        };
        self.entries.iter().enumerate().map(message).collect()
    }
}

/// At most so many characters, and a word that there were more.
pub(crate) fn clip(text: &str, characters: usize) -> String {
    match text.char_indices().nth(characters) {
        Some((end, _)) => format!("{}… (cut)", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(tab: &str, whole: bool, text: &str) -> Option<PageView> {
        let (tab, text) = (tab.to_owned(), text.to_owned());
        Some(PageView { tab, whole, state: text.clone(), text })
    }

    fn result(conversation: &mut Conversation, text: &str, page: Option<PageView>) {
        let call = ToolCall { id: "c".to_owned(), name: "click".to_owned(), ..ToolCall::default() };
        conversation.result(&call, ToolReply { page, ..ToolReply::text(text) }, &[], None);
    }

    fn texts(conversation: &Conversation) -> Vec<String> {
        let text = |message: Message| match message {
            Message::User(parts) | Message::Tool { parts, .. } => {
                let texts = parts.into_iter().map(|part| match part {
                    Part::Text(text) => text,
                    Part::Image(_) => "[image]".to_owned(),
                });
                texts.collect()
            }
            Message::Assistant { text, .. } => text,
        };
        conversation.messages().into_iter().map(text).collect()
    }

    #[test]
    fn a_newer_page_replaces_older_looks_at_the_same_tab() {
        let mut conversation = Conversation::default();
        conversation.task("do it".to_owned(), page("a", true, "A1"), None);
        result(&mut conversation, "clicked", page("a", false, "A1+"));
        result(&mut conversation, "opened", page("b", true, "B1"));
        assert_eq!(texts(&conversation), ["do it\nA1", "clicked\nA1+", "opened\nB1"]);
        result(&mut conversation, "went on", page("a", true, "A2"));
        let gone = |text: &str| format!("{text}\n{GONE}");
        assert_eq!(
            texts(&conversation),
            [gone("do it"), gone("clicked"), "opened\nB1".to_owned(), "went on\nA2".to_owned()]
        );
    }

    #[test]
    fn w703_only_the_newest_messages_keep_pictures() {
        let mut conversation = Conversation::default();
        let call = ToolCall { id: "c".to_owned(), name: "look".to_owned(), ..ToolCall::default() };
        for n in 0..6 {
            let image = Image { mime: "image/png".to_owned(), bytes: vec![n].into() };
            let reply = ToolReply { images: vec![image], ..ToolReply::text("seen") };
            conversation.result(&call, reply, &[], None);
        }
        let shown = texts(&conversation).iter().filter(|text| text.contains("[image]")).count();
        assert_eq!(shown, PICTURES_KEPT);
    }

    #[test]
    fn shrinking_keeps_the_newest_page_and_says_when_nothing_is_left_to_drop() {
        let mut conversation = Conversation::default();
        conversation.task("do it".to_owned(), page("a", true, "A1"), None);
        for n in 0..10 {
            result(&mut conversation, &"x".repeat(500), page(&format!("t{n}"), true, "page"));
        }
        assert!(conversation.shrink());
        let texts = texts(&conversation);
        assert_eq!(texts.iter().filter(|text| text.ends_with("page")).count(), 1);
        assert!(texts[1].len() < 300 && texts[10].len() > 500);
        assert!(!conversation.shrink());
    }

    #[test]
    fn w704_results_are_cut() {
        let mut conversation = Conversation::default();
        result(&mut conversation, &"é".repeat(RESULT_CHARS + 1), None);
        let text = &texts(&conversation)[0];
        assert_eq!(text.chars().filter(|c| *c == 'é').count(), RESULT_CHARS);
        assert!(text.ends_with("… (cut)"));
    }
}
