//! What a control belongs to, by what was shown of its page: the row, the item or the block around it
//! (W-141…W-143).
//!
//! Only lines that the model saw are read, so whatever is decided by them was before its eyes.

use crate::text::{clip_middle, plain_line};
use crate::toolbox::PageView;
use std::collections::VecDeque;

/// Views that are kept: a whole page and what changed since.
const VIEWS: usize = 8;

/// A record's text (W-142).
const RECORD_BYTES: usize = 2_000;

/// Other records of the same kind (W-142).
const NEIGHBOURS: usize = 12;

/// One of them.
const NEIGHBOUR_CHARS: usize = 120;

/// Lines of a block without a row of its own: title, price and the like.
const BLOCK_LINES: usize = 6;

/// What ends a block: beyond it are other things.
const ENDS: &[&str] = &[
    "main",
    "banner",
    "contentinfo",
    "navigation",
    "complementary",
    "search",
    "region",
    "form",
    "table",
    "list",
    "toolbar",
    "tablist",
];

/// What a control opens, so that it belongs to what the opening click belonged to (W-143, W-146).
const OPENED: &[&str] = &["menu", "dialog", "alertdialog"];

/// Lines that only hold others.
const CONTAINERS: &[&str] = &["group", "listitem", "row", "article", "clickable", "generic"];

/// Pages as they were shown last.
#[derive(Debug, Default)]
pub(crate) struct Shown {
    /// Tab and text, newest last.
    views: VecDeque<(String, String)>,
}

/// What stands around a control.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Around {
    /// The text of its row, item or block, without the control. Page text.
    pub(crate) record: String,
    /// Others of the kind, nearest first.
    pub(crate) neighbours: Vec<String>,
    /// Whether it stands in a menu or dialog, which is about whatever was clicked to open it.
    pub(crate) opened: bool,
}

struct Line<'a> {
    depth: usize,
    content: &'a str,
}

impl Shown {
    /// A page was shown.
    pub(crate) fn look(&mut self, view: &PageView) {
        if view.whole {
            self.views.retain(|(tab, _)| *tab != view.tab);
        }
        self.views.push_back((view.tab.clone(), view.text.clone()));
        if self.views.len() > VIEWS {
            self.views.pop_front();
        }
    }

    /// What stands around the control with this ref; `None` if it was not shown.
    pub(crate) fn around(&self, reference: &str) -> Option<Around> {
        let mark = format!("[ref={reference}]");
        let (_, text) = self.views.iter().rev().find(|(_, text)| text.contains(&mark))?;
        let lines: Vec<Line<'_>> = text.lines().filter_map(line).collect();
        let at = lines.iter().position(|line| line.content.contains(&mark))?;
        let caption = caption(lines[at].content, &mark);
        let (record, opened) = record(&lines, at, &caption);
        let mut others: Vec<usize> = (0..lines.len())
            .filter(|other| *other != at && lines[*other].content.contains(&caption))
            .collect();
        others.sort_by_key(|other| other.abs_diff(at));
        let neighbours = others
            .into_iter()
            .take(NEIGHBOURS)
            .map(|other| plain_line(&self::record(&lines, other, &caption).0, NEIGHBOUR_CHARS))
            .filter(|words| !words.is_empty())
            .collect();
        Some(Around { record: clip_middle(&record, RECORD_BYTES), neighbours, opened })
    }
}

/// A line of a snapshot or of a change.
fn line(text: &str) -> Option<Line<'_>> {
    let trimmed = text.trim_start();
    let content = ["- ", "+ ", "~ ", "> "].iter().find_map(|sign| trimmed.strip_prefix(sign))?;
    Some(Line { depth: text.len() - trimmed.len(), content })
}

/// The control's name with the mark that a ref follows: what others of its kind have as well.
fn caption(content: &str, mark: &str) -> String {
    let before = content.split(mark).next().unwrap_or_default().trim_end();
    match before.strip_suffix('"').and_then(|text| text.rfind(" \"")) {
        Some(start) => format!("{} [ref=", &before[start + 1..]),
        None => mark.to_owned(),
    }
}

/// The words of a line, without its controls.
fn words(content: &str) -> String {
    let mut plain = String::new();
    let mut depth = 0usize;
    for c in content.chars() {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            '|' => plain.push(' '),
            _ if depth == 0 => plain.push(c),
            _ => {}
        }
    }
    if plain.contains("[ref=") { String::new() } else { plain.trim().to_owned() }
}

fn role(content: &str) -> &str {
    content.split([' ', '"', ':']).next().unwrap_or_default()
}

/// The words of a line that holds others: its name, without what it is.
fn heading(content: &str) -> String {
    if CONTAINERS.contains(&role(content)) || OPENED.contains(&role(content)) {
        let name = content.split_once('"').and_then(|(_, rest)| rest.rsplit_once('"'));
        return name.map_or_else(String::new, |(name, _)| name.to_owned());
    }
    words(content)
}

/// The record of the control on a line, and whether it was opened by a click elsewhere.
fn record(lines: &[Line<'_>], at: usize, caption: &str) -> (String, bool) {
    let opened = ancestors(lines, at).any(|line| OPENED.contains(&role(lines[line].content)));
    let own = words(lines[at].content);
    if own.chars().any(char::is_alphanumeric) {
        return (own, opened);
    }
    for parent in ancestors(lines, at) {
        if ENDS.contains(&role(lines[parent].content)) {
            break;
        }
        let inside = subtree(lines, parent);
        let of_its_kind =
            inside.iter().map(|line| line.content.matches(caption).count()).sum::<usize>();
        if of_its_kind > 1 {
            break;
        }
        let below = inside.iter().skip(1).map(|line| words(line.content));
        let text: Vec<String> = std::iter::once(heading(inside[0].content))
            .chain(below)
            .filter(|words| !words.is_empty())
            .collect();
        let text = text.join(" ");
        if text.chars().any(char::is_alphanumeric) {
            return (text, opened);
        }
    }
    (block(lines, at, caption), opened)
}

/// The lines just before a control that stands beside its item instead of in it.
fn block(lines: &[Line<'_>], at: usize, caption: &str) -> String {
    let depth = lines[at].depth;
    let mut block = Vec::new();
    for line in lines[..at].iter().rev() {
        let ends = line.depth < depth || line.content.contains(caption);
        if ends || block.len() == BLOCK_LINES {
            break;
        }
        if line.depth == depth {
            let heading = line.content.starts_with('#');
            block.push(words(line.content.trim_start_matches('#')));
            if heading {
                break;
            }
        }
    }
    block.reverse();
    block.retain(|words| !words.is_empty());
    block.join(" ")
}

/// The lines that a line belongs to, nearest first.
fn ancestors<'a>(lines: &'a [Line<'_>], at: usize) -> impl Iterator<Item = usize> + 'a {
    let mut depth = lines[at].depth;
    (0..at).rev().filter(move |line| {
        let above = lines[*line].depth < depth;
        if above {
            depth = lines[*line].depth;
        }
        above
    })
}

fn subtree<'a>(lines: &'a [Line<'a>], parent: usize) -> &'a [Line<'a>] {
    let below = lines[parent + 1..].iter().take_while(|line| line.depth > lines[parent].depth);
    &lines[parent..=parent + below.count()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn around(text: &str, reference: &str) -> Around {
        let mut shown = Shown::default();
        let view = PageView {
            tab: "t".to_owned(),
            whole: true,
            text: format!("<page-1>\n{text}\n</page-1>"),
            state: String::new(),
        };
        shown.look(&view);
        shown.around(reference).expect("shown")
    }

    /// W-142: the closest row or item whose only control of the kind this is, with its neighbours.
    #[test]
    fn w142_a_control_belongs_to_its_row_item_or_block() {
        let table = "- table\n  - | Ann | {button \"Delete\" [ref=e1]} |\n  - | Bob | {button \"Delete\" [ref=e2]} |";
        let bob = around(table, "e2");
        assert_eq!((bob.record.as_str(), bob.neighbours), ("Bob", vec!["Ann".to_owned()]));
        let cards = "- clickable [ref=e9]\n  - ## Ann\n  - 2 posts\n  - button \"Delete\" [ref=e1]\n\
                     - clickable [ref=e8]\n  - ## Bob\n  - button \"Delete\" [ref=e2]";
        assert_eq!(around(cards, "e1").record, "## Ann 2 posts");
        let beside = "- main\n  - Ann\n  - button \"Delete\" [ref=e1]\n  - Bob\n  - 3 posts\n  - button \"Delete\" [ref=e2]";
        assert_eq!(around(beside, "e2").record, "Bob 3 posts");
        let alone = "- main\n  - button \"Delete\" [ref=e1]";
        assert_eq!(around(alone, "e1").record, "");
    }

    /// W-143, W-146: a control in a menu or dialog says so, and a dialog's own words count.
    #[test]
    fn w143_w146_menus_and_dialogs_are_about_what_opened_them() {
        let menu = "- menu\n  - menuitem \"Edit\" [ref=e1]\n  - menuitem \"Delete\" [ref=e2]";
        let item = around(menu, "e2");
        assert!(item.opened && item.record.is_empty(), "{item:?}");
        let dialog = "- Ann\n- dialog \"Sure?\"\n  - Delete Bob?\n  - button \"Delete\" [ref=e3]\n  - button \"No\" [ref=e4]";
        let button = around(dialog, "e3");
        assert!(button.opened && button.record.contains("Delete Bob?"), "{button:?}");
    }

    /// What changed is read as well, and a newer whole page replaces the old one.
    #[test]
    fn the_newest_look_counts() {
        let mut shown = Shown::default();
        let view = |whole, text: &str| PageView {
            tab: "t".to_owned(),
            whole,
            text: text.to_owned(),
            state: String::new(),
        };
        shown.look(&view(true, "- Ann {button \"Delete\" [ref=e1]}"));
        shown.look(&view(false, "+ Bob {button \"Delete\" [ref=e2]}"));
        assert_eq!(shown.around("e2").map(|it| it.record), Some("Bob".to_owned()));
        assert_eq!(shown.around("e1").map(|it| it.record), Some("Ann".to_owned()));
        shown.look(&view(true, "- Cid {button \"Delete\" [ref=e3]}"));
        assert_eq!(shown.around("e1"), None);
    }
}
