//! How a conversation gets shorter: old pages and pictures go, older messages become a summary
//! (W-700…W-703). Each way says whether it changed what was sent before.

use crate::conversation::{Conversation, Entry, Kind, Shown, clip};
use crate::limits::{
    OLD_PAGES_BYTES, OLD_PAGES_PAY, PICTURES_KEPT, SUMMARY_LINE_CHARS, SUMMARY_LINES, SUMMARY_TASKS,
};
use crate::toolbox::PageView;

/// Begins a summary.
const EARLIER: &str = "Earlier in this task, in short:";

/// Begins the line of an earlier task. What was asked is told longer than what was done for it.
const ASKED: &str = "- the user asked: ";

/// Begins the model's own notes in a summary. New notes replace them: it has them before it writes.
const NOTES: &str = "\nYour notes:\n";

impl Conversation {
    /// How many messages there are.
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Bytes of text that a request sends of it.
    pub(crate) fn size(&self) -> usize {
        self.entries.iter().map(Entry::size).sum()
    }

    /// Pictures that a request sends of it.
    pub(crate) fn pictures(&self) -> usize {
        self.entries.iter().map(|entry| entry.images.len()).sum()
    }

    /// Only the newest messages keep their pictures (W-703).
    pub(crate) fn prune_pictures(&mut self) -> bool {
        let old = self.entries.len().saturating_sub(PICTURES_KEPT);
        let mut pruned = false;
        for entry in self.entries[..old].iter_mut().filter(|entry| !entry.images.is_empty()) {
            entry.images.clear();
            (entry.pruned, pruned) = (true, true);
        }
        pruned
    }

    /// Leaves out pages that newer looks replace, if that pays or must be.
    pub(crate) fn drop_old_pages(&mut self, must: bool) -> bool {
        let is_old = |entry: &&Entry| matches!(entry.page, Shown::Old(_));
        let Some(first) = self.entries.iter().position(|entry| is_old(&entry)) else {
            return false;
        };
        let old: usize = self.entries.iter().filter(is_old).map(Entry::page_size).sum();
        let after: usize = self.entries[first..].iter().map(Entry::size).sum::<usize>() - old;
        // Sizes are far below what a float holds exactly.
        #[expect(clippy::cast_precision_loss, reason = "sizes of texts")]
        let pays = old >= OLD_PAGES_BYTES && old as f64 >= after as f64 * OLD_PAGES_PAY;
        if !pays && !must {
            return false;
        }
        for entry in &mut self.entries {
            if matches!(entry.page, Shown::Old(_)) {
                entry.page = Shown::Gone;
            }
        }
        true
    }

    /// Sums up what is older than the newest `kept` messages; the person's own words stay (W-094,
    /// W-701). A call and its results stay together.
    pub(crate) fn compact(&mut self, kept: usize, summary: &str) -> bool {
        if !self.has_older(kept) {
            return false;
        }
        let (tail, task) = (self.tail(kept), self.task_at());
        let open = self.open_page(tail);
        let newest = self.entries.split_off(tail);
        let mut head = Vec::new();
        for (at, mut entry) in self.entries.drain(..).enumerate() {
            if is_the_persons(at, &entry, task) {
                if !matches!(entry.page, Shown::Nothing) {
                    entry.page = Shown::Gone;
                }
                entry.images.clear();
                head.push(entry);
            }
        }
        let page = open.map_or(Shown::Nothing, Shown::Page);
        head.push(Entry::new(Kind::Summary, summary.to_owned(), page));
        head.extend(newest);
        self.entries = head;
        true
    }

    /// Whether there is something to sum up beside the newest `kept` messages.
    pub(crate) fn has_older(&self, kept: usize) -> bool {
        let task = self.task_at();
        self.entries[..self.tail(kept)].iter().enumerate().any(|(at, entry)| {
            !is_the_persons(at, entry, task) && !matches!(entry.kind, Kind::Summary)
        })
    }

    /// What is known of the page that was looked at last, if its whole look is older than `tail`: that
    /// look with the changes since. Without it the model would not see where it is.
    fn open_page(&self, tail: usize) -> Option<PageView> {
        let look = |entry: &Entry| match &entry.page {
            Shown::Page(page) => Some(page.clone()),
            _ => None,
        };
        let tab = self.entries.iter().rev().find_map(look)?.tab;
        let whole = self.entries.iter().rposition(
            |entry| matches!(&entry.page, Shown::Page(page) if page.whole && page.tab == tab),
        )?;
        let looks = self.entries.get(whole..tail)?.iter().filter_map(look);
        looks.filter(|page| page.tab == tab).reduce(|mut page, change| {
            page.text.push('\n');
            page.text.push_str(&change.text);
            page.state = change.state;
            page
        })
    }

    /// The task that the person gave last.
    fn task_at(&self) -> Option<usize> {
        self.entries.iter().rposition(|entry| matches!(entry.kind, Kind::Task))
    }

    /// Where the newest `kept` messages begin, or a little earlier: a result needs its call.
    fn tail(&self, kept: usize) -> usize {
        let mut at = self.entries.len().saturating_sub(kept);
        while at > 0
            && matches!(self.entries.get(at).map(|entry| &entry.kind), Some(Kind::Result { .. }))
        {
            at -= 1;
        }
        at
    }

    /// What was done before the newest `kept` messages, from what the results said: no model's word.
    pub(crate) fn summary(&self, kept: usize, note: Option<&str>) -> String {
        let (mut asked, mut lines, mut left_out) = (Vec::new(), Vec::new(), 0);
        let task = self.task_at();
        for (at, entry) in self.entries[..self.tail(kept)].iter().enumerate() {
            match &entry.kind {
                Kind::Summary => {
                    let steps = entry.text.split(NOTES).next().unwrap_or_default();
                    for line in steps.lines().filter(|line| line.starts_with("- ")) {
                        let list = if line.starts_with(ASKED) { &mut asked } else { &mut lines };
                        list.push(line.to_owned());
                    }
                    left_out += entry.text.lines().find_map(uncounted).unwrap_or(0);
                }
                Kind::Result { call, failed, .. } => {
                    let said = entry.text.lines().next().unwrap_or_default();
                    let sign = if *failed { "did not work: " } else { "" };
                    let line = format!("- {}: {sign}{said}", call.name);
                    lines.push(clip(&line, SUMMARY_LINE_CHARS));
                }
                Kind::Assistant { calls, .. } if calls.is_empty() && !entry.text.is_empty() => {
                    lines.push(clip(
                        &format!("- answered: {}", one_line(&entry.text)),
                        SUMMARY_LINE_CHARS,
                    ));
                }
                Kind::Task if Some(at) != task => {
                    let words = entry.text.strip_prefix("Task: ").unwrap_or(&entry.text);
                    let words = words.lines().next().unwrap_or_default();
                    asked.push(clip(&format!("{ASKED}{words}"), SUMMARY_LINE_CHARS));
                }
                Kind::Task | Kind::Correction | Kind::Remark | Kind::Assistant { .. } => {}
            }
        }
        let more = lines.len().saturating_sub(SUMMARY_LINES);
        left_out += more;
        let mut text = EARLIER.to_owned();
        for line in &asked[asked.len().saturating_sub(SUMMARY_TASKS)..] {
            text.push('\n');
            text.push_str(line);
        }
        if left_out > 0 {
            text.push_str(&format!("\n({left_out} earlier steps are not listed.)"));
        }
        for line in &lines[more..] {
            text.push('\n');
            text.push_str(line);
        }
        if let Some(note) = note.filter(|note| !note.trim().is_empty()) {
            text.push_str(NOTES);
            text.push_str(note.trim());
        }
        text
    }

    /// The last steps with their results, for an end without the model's word.
    pub(crate) fn last_steps(&self, steps: usize) -> String {
        let lines = self.entries.iter().rev().filter_map(|entry| match &entry.kind {
            Kind::Result { call, .. } => {
                let said = entry.text.lines().next().unwrap_or_default();
                Some(clip(&format!("{}: {said}", call.name), SUMMARY_LINE_CHARS))
            }
            _ => None,
        });
        let lines: Vec<_> = lines.take(steps).collect();
        lines.into_iter().rev().collect::<Vec<_>>().join("\n")
    }

    /// All pages but the newest look go, and all pictures: for a server that refuses the rest.
    pub(crate) fn keep_newest_page_only(&mut self) {
        let newest = self.entries.iter().rposition(|entry| matches!(entry.page, Shown::Page(_)));
        for (at, entry) in self.entries.iter_mut().enumerate() {
            if Some(at) != newest && matches!(entry.page, Shown::Page(_) | Shown::Old(_)) {
                entry.page = Shown::Gone;
            }
            entry.pruned |= !entry.images.is_empty();
            entry.images.clear();
        }
    }

    /// Cuts every text and page to so many bytes.
    pub(crate) fn cut(&mut self, bytes: usize) {
        for entry in &mut self.entries {
            if let Shown::Page(page) | Shown::Old(page) = &mut entry.page
                && page.text.len() > bytes
            {
                page.text = cut_page(&page.text, bytes);
                // A look at the whole page shows more than this.
                page.state.clear();
            }
            if matches!(entry.kind, Kind::Result { .. } | Kind::Summary) && entry.text.len() > bytes
            {
                entry.text = clip(&entry.text, bytes / 2);
            }
        }
    }
}

/// Whether it is what the person wants now: their last task and what they said since (W-094).
fn is_the_persons(at: usize, entry: &Entry, task: Option<usize>) -> bool {
    match entry.kind {
        Kind::Task => Some(at) == task,
        Kind::Correction => task.is_none_or(|task| at > task),
        _ => false,
    }
}

impl Entry {
    fn size(&self) -> usize {
        self.text.len() + self.page_size() + self.below.as_ref().map_or(0, String::len) + self.extra
    }

    fn page_size(&self) -> usize {
        match &self.page {
            Shown::Page(page) | Shown::Old(page) => page.text.len(),
            Shown::Nothing | Shown::Same | Shown::Gone => 0,
        }
    }
}

/// The beginning of a page, whole lines, and its last line: that one ends the wrapper of what is
/// data and no instruction.
fn cut_page(text: &str, bytes: usize) -> String {
    let last = text.lines().next_back().unwrap_or_default();
    let room = bytes.saturating_sub(last.len());
    let mut kept = String::new();
    for line in text.lines() {
        if kept.len() + line.len() + 1 > room {
            break;
        }
        kept.push_str(line);
        kept.push('\n');
    }
    kept.push_str("(cut here: the page is too long for this model; use find_in_page)\n");
    kept.push_str(last);
    kept
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The number in a summary's line about steps that it does not list.
fn uncounted(line: &str) -> Option<usize> {
    line.strip_prefix('(')?.strip_suffix(" earlier steps are not listed.)")?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::KEPT_VERBATIM;
    use crate::toolbox::ToolReply;
    use reins_models::{Image, ToolCall};

    fn page(tab: &str, text: &str) -> Option<PageView> {
        let (tab, text) = (tab.to_owned(), text.to_owned());
        Some(PageView { tab, whole: true, state: text.clone(), text })
    }

    fn step(conversation: &mut Conversation, n: usize, reply: ToolReply) {
        let (id, name) = (format!("c{n}"), "click".to_owned());
        let call = ToolCall { id, name, ..ToolCall::default() };
        conversation.assistant(String::new(), vec![call.clone()], Vec::new());
        conversation.result(&call, reply, &[], None);
    }

    fn texts(conversation: &Conversation) -> Vec<&str> {
        conversation.entries.iter().map(|entry| entry.text.as_str()).collect()
    }

    #[test]
    fn w703_only_the_newest_messages_keep_pictures() {
        let mut conversation = Conversation::default();
        for n in 0..6 {
            let image = Image { mime: "image/png".to_owned(), bytes: vec![0].into() };
            step(
                &mut conversation,
                n,
                ToolReply { images: vec![image], ..ToolReply::text("seen") },
            );
        }
        assert!(conversation.prune_pictures());
        assert_eq!(conversation.pictures(), PICTURES_KEPT / 2, "answers are messages too");
        assert!(!conversation.prune_pictures());
    }

    /// W-701, W-094: the task, what the person said since, a summary, and the newest as they are.
    #[test]
    fn w701_w094_older_messages_become_a_summary_and_the_persons_words_stay() {
        let mut conversation = Conversation::steady();
        conversation.task("Task: buy it".to_owned(), page("a", "A"), None);
        for n in 0..20 {
            step(&mut conversation, n, ToolReply::text(format!("clicked {n}\nmore")));
        }
        conversation.correction("the blue one".to_owned());
        for n in 20..40 {
            step(&mut conversation, n, ToolReply::text(format!("clicked {n}")));
        }
        let summary = conversation.summary(KEPT_VERBATIM, Some("the price is 12"));
        assert!(conversation.compact(KEPT_VERBATIM, &summary));
        let texts = texts(&conversation);
        assert_eq!((texts[0], texts[1]), ("Task: buy it", "the blue one"));
        assert!(texts[2].starts_with(EARLIER) && texts[2].contains("- click: clicked 0\n"));
        assert!(texts[2].ends_with("Your notes:\nthe price is 12"), "{}", texts[2]);
        assert_eq!(texts.len(), 3 + KEPT_VERBATIM);
        assert!(texts[2].contains("clicked 24") && !texts[2].contains("clicked 25"));
        assert_eq!(texts[4], "clicked 25");
    }

    /// What the model sees of the page that is open outlives the message that showed it.
    #[test]
    fn the_page_that_is_open_survives_a_summary() {
        let mut conversation = Conversation::steady();
        conversation.task("Task: buy it".to_owned(), page("a", "whole look"), None);
        for n in 0..9 {
            let change = format!("change {n}");
            let view = page("a", &change).map(|view| PageView { whole: false, ..view });
            step(&mut conversation, n, ToolReply { page: view, ..ToolReply::text("clicked") });
        }
        for kept in [8, 4] {
            assert!(conversation.compact(kept, "short"));
            let Shown::Page(view) = &conversation.entries[1].page else {
                panic!("the page is gone");
            };
            assert!(view.whole && view.text.starts_with("whole look\nchange 0\nchange 1"));
            assert!(view.text.ends_with(&format!("change {}", 8 - kept / 2)), "{}", view.text);
        }
        step(&mut conversation, 9, ToolReply { page: page("a", "new"), ..ToolReply::text("on") });
        assert!(matches!(conversation.entries[1].page, Shown::Old(_)), "like any other");
        assert!(conversation.compact(2, "short"));
        assert!(matches!(conversation.entries[1].page, Shown::Nothing), "a newer one is there");
    }

    /// A summary of summaries keeps the newest lines and counts the rest, so it does not grow.
    #[test]
    fn summaries_do_not_grow() {
        let mut conversation = Conversation::steady();
        conversation.task("Task: count".to_owned(), None, None);
        let mut longest = 0;
        for n in 0..500 {
            step(&mut conversation, n, ToolReply::text(format!("clicked {n}")));
            if conversation.len() > 50 {
                let summary = conversation.summary(KEPT_VERBATIM, None);
                assert!(conversation.compact(KEPT_VERBATIM, &summary));
                longest = longest.max(conversation.size());
            }
        }
        assert!(longest < 3_000, "{longest}");
        let summary = texts(&conversation)[1];
        let listed = summary.lines().filter(|line| line.starts_with("- ")).count();
        let counted = summary.lines().find_map(uncounted).expect("a number");
        let newest = conversation.len() / 2 - 1;
        assert_eq!(listed + counted + newest, 500, "{summary}");
    }

    /// A result is never left without its call: servers refuse that.
    #[test]
    fn a_call_and_its_results_stay_together() {
        let mut conversation = Conversation::steady();
        conversation.task("Task: all".to_owned(), None, None);
        step(&mut conversation, 0, ToolReply::text("one"));
        let calls: Vec<_> =
            (1..9).map(|n| ToolCall { id: format!("c{n}"), ..ToolCall::default() }).collect();
        conversation.assistant(String::new(), calls.clone(), Vec::new());
        for call in &calls {
            conversation.result(call, ToolReply::text("of many"), &[], None);
        }
        assert!(conversation.compact(4, "short"));
        let kinds: Vec<_> = conversation.entries.iter().map(|entry| &entry.kind).collect();
        assert!(matches!(kinds[2], Kind::Assistant { calls, .. } if calls.len() == 8));
        assert!(!conversation.compact(4, "short"), "nothing more to sum up");
    }

    #[test]
    fn old_pages_go_when_that_pays() {
        let mut conversation = Conversation::steady();
        conversation.task("do it".to_owned(), page("a", &"x".repeat(9_000)), None);
        step(&mut conversation, 0, ToolReply::text("y".repeat(7_900)));
        step(&mut conversation, 1, ToolReply::text("y".repeat(7_900)));
        let look = ToolReply { page: page("a", "A2"), ..ToolReply::text("went on") };
        step(&mut conversation, 2, look);
        assert!(!conversation.drop_old_pages(false), "too much would be read anew");
        let look = ToolReply { page: page("a", &"z".repeat(9_000)), ..ToolReply::text("on") };
        step(&mut conversation, 3, look);
        step(&mut conversation, 4, ToolReply { page: page("a", "A4"), ..ToolReply::text("on") });
        assert!(conversation.drop_old_pages(false));
        assert!(conversation.size() < 17_000);
        assert!(!conversation.drop_old_pages(true), "none are left");
    }

    /// What ends the wrapper of untrusted text stays.
    #[test]
    fn a_page_that_is_cut_stays_wrapped() {
        let mut conversation = Conversation::steady();
        let text = format!("<page nonce>\n{}</page nonce>", "a line of it\n".repeat(100));
        conversation.task("do it".to_owned(), page("a", &text), None);
        conversation.cut(200);
        let Shown::Page(page) = &conversation.entries[0].page else {
            panic!("the page is gone");
        };
        assert!(
            page.text.starts_with("<page nonce>\na line") && page.text.ends_with("</page nonce>")
        );
        assert!(page.text.len() < 300);
    }
}
