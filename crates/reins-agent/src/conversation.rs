//! What the model has seen so far. What is sent grows at its end only, because providers cache what
//! comes again unchanged; how it gets shorter is in `shortening.rs`.

use crate::limits::RESULT_CHARS;
use crate::toolbox::{PageView, ToolReply};
use reins_models::{Image, Kept, Message, Part, ToolCall};
use std::collections::HashSet;

/// What stands in the place of a page that is not shown any more.
const GONE: &str = "(The page as it was then is left out.)";

/// What stands in the place of a page that looks as it did when it was last shown.
const SAME: &str = "(The page looks exactly as it was last shown above.)";

/// The messages of a conversation.
#[derive(Debug, Default)]
pub(crate) struct Conversation {
    pub(crate) entries: Vec<Entry>,
    /// Whether what was sent stays as it is until it is worth a change. Small models on this machine do
    /// better if old pages go at once.
    steady: bool,
}

#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) kind: Kind,
    pub(crate) text: String,
    pub(crate) page: Shown,
    /// Below the page: what stands last is heeded most.
    pub(crate) below: Option<String>,
    pub(crate) images: Vec<Image>,
    /// Whether there were pictures that are not sent any more.
    pub(crate) pruned: bool,
    /// Bytes of calls and of what providers want back.
    pub(crate) extra: usize,
}

#[derive(Debug)]
pub(crate) enum Kind {
    /// A task of the person.
    Task,
    /// What the person said while the run went on.
    Correction,
    /// What stands for older messages.
    Summary,
    /// A remark of the loop.
    Remark,
    /// An answer of the model.
    Assistant { calls: Vec<ToolCall>, kept: Vec<Kept> },
    /// The result of a call. One is idle if it failed or changed nothing.
    Result { call: ToolCall, failed: bool, idle: bool },
}

#[derive(Debug)]
pub(crate) enum Shown {
    Nothing,
    Page(PageView),
    /// A newer look replaces it, and it is still sent.
    Old(PageView),
    /// Nothing changed since it was shown.
    Same,
    Gone,
}

impl Entry {
    pub(crate) fn new(kind: Kind, text: String, page: Shown) -> Self {
        Self { kind, text, page, below: None, images: Vec::new(), pruned: false, extra: 0 }
    }
}

impl Conversation {
    /// A conversation whose beginning stays the same from request to request.
    pub(crate) fn steady() -> Self {
        Self { steady: true, ..Self::default() }
    }

    /// A task of the person, maybe with the page that is open and what is to be done first.
    pub(crate) fn task(&mut self, text: String, page: Option<PageView>, next: Option<String>) {
        let page = self.shown(page);
        self.entries.push(Entry { below: next, ..Entry::new(Kind::Task, text, page) });
    }

    /// What the person said while the run went on.
    pub(crate) fn correction(&mut self, text: String) {
        self.entries.push(Entry::new(Kind::Correction, text, Shown::Nothing));
    }

    /// A remark of the loop.
    pub(crate) fn remark(&mut self, text: impl Into<String>) {
        self.remark_with(text.into(), None);
    }

    /// A remark of the loop with the page that is open.
    pub(crate) fn remark_with(&mut self, text: String, page: Option<PageView>) {
        let page = self.shown(page);
        self.entries.push(Entry::new(Kind::Remark, text, page));
    }

    /// An answer of the model, with what its provider wants back.
    pub(crate) fn assistant(&mut self, text: String, calls: Vec<ToolCall>, kept: Vec<Kept>) {
        let calls_size =
            |call: &ToolCall| call.arguments.len() + call.name.len() + size(&call.kept);
        let extra = calls.iter().map(calls_size).sum::<usize>() + size(&kept);
        let kind = Kind::Assistant { calls, kept };
        self.entries.push(Entry { extra, ..Entry::new(kind, text, Shown::Nothing) });
    }

    /// What the model wrote down before it began stands below the task.
    pub(crate) fn plan(&mut self, text: String) {
        let task = self.entries.iter_mut().rev().find(|entry| matches!(entry.kind, Kind::Task));
        if let Some(task) = task {
            task.below = Some(text);
        }
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
        let page = self.shown(reply.page.clone());
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
            page,
            below: next,
            images: reply.images,
            pruned: false,
            extra: 0,
        });
    }

    /// The words of the newest entry.
    pub(crate) fn newest(&self) -> &str {
        self.entries.last().map_or("", |entry| &entry.text)
    }

    /// Whether the newest entry is the result of a call.
    pub(crate) fn ends_with_result(&self) -> bool {
        self.entries.last().is_some_and(|entry| matches!(entry.kind, Kind::Result { .. }))
    }

    /// How a new look is shown. A whole one replaces everything that was shown of its tab; one that is
    /// equal to what was shown is not shown twice.
    fn shown(&mut self, page: Option<PageView>) -> Shown {
        let Some(page) = page else {
            return Shown::Nothing;
        };
        if !page.whole {
            return Shown::Page(page);
        }
        if self.steady && self.shows(&page) {
            return Shown::Same;
        }
        for entry in &mut self.entries {
            entry.page = match std::mem::replace(&mut entry.page, Shown::Nothing) {
                Shown::Page(old) if old.tab == page.tab && self.steady => Shown::Old(old),
                Shown::Page(old) if old.tab == page.tab => Shown::Gone,
                other => other,
            };
        }
        Shown::Page(page)
    }

    /// Whether the newest look at the tab showed just this.
    fn shows(&self, page: &PageView) -> bool {
        let looks = self.entries.iter().rev().filter_map(|entry| match &entry.page {
            Shown::Page(look) if look.tab == page.tab => Some(look),
            _ => None,
        });
        looks.take(1).any(|look| !look.state.is_empty() && look.state == page.state)
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
            _ => true,
        });
    }

    /// The messages for a request.
    pub(crate) fn messages(&self) -> Vec<Message> {
        let message = |entry: &Entry| {
            let mut text = entry.text.clone();
            let page = match &entry.page {
                Shown::Nothing => None,
                Shown::Page(page) | Shown::Old(page) => Some(page.text.as_str()),
                Shown::Same => Some(SAME),
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
            parts.extend(entry.images.iter().cloned().map(Part::Image));
            if entry.pruned {
                parts.push(Part::Text("\n(The picture is left out.)".to_owned()));
            }
            match &entry.kind {
                Kind::Task | Kind::Correction | Kind::Summary | Kind::Remark => {
                    Message::User(parts)
                }
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
        self.entries.iter().map(message).collect()
    }
}

fn size(kept: &[Kept]) -> usize {
    kept.iter().map(|kept| kept.data.to_string().len()).sum()
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

    /// Where prefixes are cached a page that was sent stays, and what is equal is not sent twice.
    #[test]
    fn a_steady_conversation_grows_at_its_end_only() {
        let mut conversation = Conversation::steady();
        conversation.task("do it".to_owned(), page("a", true, "A1"), None);
        result(&mut conversation, "looked", page("a", true, "A1"));
        result(&mut conversation, "clicked", page("a", false, "A1+"));
        let before = texts(&conversation);
        assert_eq!(before[1], format!("looked\n{SAME}"));
        result(&mut conversation, "went on", page("a", true, "A2"));
        assert_eq!(texts(&conversation)[..3], before);
        result(&mut conversation, "went back", page("a", true, "A1"));
        assert_eq!(texts(&conversation)[4], "went back\nA1", "the last look is another one");
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
