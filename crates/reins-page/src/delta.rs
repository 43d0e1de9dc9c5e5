//! What changed since the model last looked, by ref.

use crate::line::{Line, Piece};
use crate::moved::{TOLD_ONE_BY_ONE, moved};
use crate::registry::{PublishOptions, PublishedSnapshot, RefRegistry, ShownLine, Unshown};
use crate::snapshot::PrivateSnapshot;
use crate::tokens::estimate_tokens;
use reins_core::{NodeNumber, Ref};
use std::collections::{HashMap, HashSet};

/// Estimated tokens of one delta. Beyond it a new snapshot says more for less.
const DELTA_TOKENS: usize = 2_048;
/// A removed line is only named, not repeated in full.
const REMOVED_BYTES: usize = 80;
/// In longer changed texts only the part that changed is shown.
const WHOLE_TEXT_BYTES: usize = 320;

/// What changed, and what the model has seen now.
#[derive(Clone, Debug)]
pub struct PublishedDelta {
    /// `~` changed, `+` added, `-` removed, `>` moved lines; empty when nothing changed. Not yet wrapped.
    pub text: String,
    /// Refs that are new to the model.
    pub added: Vec<Ref>,
    /// Refs whose line changed.
    pub changed: Vec<Ref>,
    /// Refs whose line is gone.
    pub removed: Vec<Ref>,
    /// Whether the page is another document now: `text` is then a whole snapshot.
    pub fresh: bool,
    /// Changes that did not fit into `text`.
    pub left_out: usize,
    /// Estimated tokens of `text`.
    pub tokens: usize,
    /// What the model has seen after this; the `before` of the next delta.
    pub snapshot: PublishedSnapshot,
}

enum Fate {
    Same(usize),
    Changed(usize),
    New,
}

impl RefRegistry {
    /// Publishes what changed between what the model saw and a fresh reading.
    ///
    /// An element that was seen and is not in the new reading counts as removed only if the page
    /// script found it gone or the reading was complete: a bounded reading can have left it out.
    pub fn delta(
        &mut self,
        before: &PublishedSnapshot,
        now: &PrivateSnapshot,
        options: &PublishOptions,
    ) -> PublishedDelta {
        let same_document = now
            .frames()
            .first()
            .is_some_and(|main| before.main.as_ref() == Some(&main.meta.document));
        if !same_document || before.tab != now.tab {
            let snapshot = self.publish(now, options);
            return PublishedDelta {
                text: snapshot.text.clone(),
                added: snapshot.lines.iter().flat_map(|line| line.refs.clone()).collect(),
                changed: Vec::new(),
                removed: Vec::new(),
                fresh: true,
                left_out: snapshot.left_out,
                tokens: snapshot.tokens,
                snapshot,
            };
        }
        let matching = Matching::new(self, before, now);
        let mut writer = Writer::new(before, now);
        writer.head();
        writer.lines(self, &matching, options);
        writer.removed(self, &matching);
        writer.moved(&matching);
        writer.finish()
    }

    /// The refs that a line's elements already have.
    fn known_refs(&self, snapshot: &PrivateSnapshot, line: &Line) -> Vec<Option<Ref>> {
        line.pieces
            .iter()
            .filter_map(|piece| match piece {
                Piece::Ref(at) => Some(*at),
                _ => None,
            })
            .map(|at| self.ref_of(&snapshot.key(snapshot.elements.get(at)?)?))
            .collect()
    }
}

/// Which new line is which old one.
struct Matching {
    fates: Vec<Fate>,
    /// Old lines that no new line matches.
    lost: Vec<usize>,
}

impl Matching {
    fn new(registry: &RefRegistry, before: &PublishedSnapshot, now: &PrivateSnapshot) -> Self {
        let mut by_ref = HashMap::new();
        let mut by_text: HashMap<String, Vec<usize>> = HashMap::new();
        for (at, line) in before.lines.iter().enumerate().rev() {
            match line.refs.first() {
                Some(r) => {
                    by_ref.insert(*r, at);
                }
                None => by_text.entry(comparable(&line.text)).or_default().push(at),
            }
        }
        let mut taken = HashSet::new();
        let mut fates: Vec<Fate> = now
            .lines
            .iter()
            .map(|line| {
                let refs = registry.known_refs(now, line);
                let text = comparable(
                    &line.render(&|at| registry.ref_of(&now.key(now.elements.get(at)?)?)),
                );
                if refs.is_empty() {
                    let found = by_text.get_mut(&text).and_then(Vec::pop);
                    return found.map_or(Fate::New, |at| {
                        taken.insert(at);
                        Fate::Same(at)
                    });
                }
                let found = refs.iter().flatten().find_map(|r| by_ref.get(r)).copied();
                match found.filter(|at| taken.insert(*at)) {
                    Some(at) if comparable(&before.lines[at].text) == text => Fate::Same(at),
                    Some(at) => Fate::Changed(at),
                    None => Fate::New,
                }
            })
            .collect();
        pair_texts(before, now, &mut fates, &mut taken);
        let lost = (0..before.lines.len()).filter(|at| !taken.contains(at)).collect();
        Self { fates, lost }
    }
}

/// A text that follows the same line as before and stands where one is missing has changed.
fn pair_texts(
    before: &PublishedSnapshot,
    now: &PrivateSnapshot,
    fates: &mut [Fate],
    taken: &mut HashSet<usize>,
) {
    let mut next_old = 0;
    for (at, fate) in fates.iter_mut().enumerate() {
        match fate {
            Fate::Same(old) | Fate::Changed(old) => next_old = *old + 1,
            Fate::New => {
                let plain = !now.lines[at].pieces.iter().any(|p| matches!(p, Piece::Ref(_)));
                let candidate = before.lines.get(next_old);
                if plain
                    && candidate.is_some_and(|line| line.refs.is_empty())
                    && taken.insert(next_old)
                {
                    *fate = Fate::Changed(next_old);
                    next_old += 1;
                }
            }
        }
    }
}

struct Writer<'a> {
    before: &'a PublishedSnapshot,
    now: &'a PrivateSnapshot,
    text: String,
    left: usize,
    left_out: usize,
    added: Vec<Ref>,
    changed: Vec<Ref>,
    removed: Vec<Ref>,
    /// The lines the model knows after this.
    known: Vec<ShownLine>,
    /// Lines that were read before and not shown, as far as they did not turn up again.
    unshown: Unshown,
    /// Lines that were read now and are not told.
    passed: Vec<usize>,
}

impl<'a> Writer<'a> {
    fn new(before: &'a PublishedSnapshot, now: &'a PrivateSnapshot) -> Self {
        Self {
            before,
            now,
            text: String::new(),
            left: DELTA_TOKENS,
            left_out: 0,
            added: Vec::new(),
            changed: Vec::new(),
            removed: Vec::new(),
            known: Vec::new(),
            unshown: before.unshown.clone(),
            passed: Vec::new(),
        }
    }

    /// Adds a line if there is room.
    fn push(&mut self, line: &str) -> bool {
        let cost = estimate_tokens(line) + 1;
        if cost > self.left {
            self.left_out += 1;
            return false;
        }
        self.left -= cost;
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.text.push_str(line);
        true
    }

    fn head(&mut self) {
        for note in self.now.notes.iter().filter(|note| note.owner.is_none()) {
            self.push(&format!("({})", note.trouble.words()));
        }
        if self.before.url != self.now.url {
            self.push(&format!("address: {}", self.now.url.replace("[ref", "(ref")));
        }
        if self.before.title != self.now.title {
            let title = crate::name::squeeze(&self.now.title);
            self.push(&format!("title: {}", title.replace("[ref", "(ref")));
        }
    }

    fn lines(&mut self, registry: &mut RefRegistry, matching: &Matching, options: &PublishOptions) {
        let was_short = self.before.left_out > 0 || self.before.unread > 0;
        let last_known = matching
            .fates
            .iter()
            .enumerate()
            .rev()
            .find(|(at, fate)| !matches!(fate, Fate::New) && !self.now.lines[*at].extra)
            .map_or(0, |(at, _)| at);
        let mut anchor: Option<Ref> = None;
        let mut in_group = false;
        for (at, line) in self.now.lines.iter().enumerate() {
            match matching.fates[at] {
                Fate::Same(old) => {
                    in_group = false;
                    let known = self.before.lines[old].clone();
                    anchor = known.refs.last().copied().or(anchor);
                    self.known.push(known);
                }
                Fate::Changed(old) => {
                    in_group = false;
                    let shown = registry.show(self.now, line);
                    anchor = shown.refs.last().copied().or(anchor);
                    let said = changed_line(&self.before.lines[old].text, &shown);
                    if self.push(&said) {
                        self.changed.extend(shown.refs.iter());
                        self.known.push(shown);
                    } else {
                        self.known.push(self.before.lines[old].clone());
                    }
                }
                Fate::New => {
                    if line.gap > 0 {
                        continue;
                    }
                    // Beyond what a bounded reading had shown, new to the model is not new to the
                    // page; only what is on screen now is worth telling.
                    let maybe_old = was_short && (line.extra || at > last_known);
                    let unseen = maybe_old && !line.on_screen && !options.full;
                    if unseen || self.unshown.take(self.now, line) {
                        self.passed.push(at);
                        continue;
                    }
                    if self.left == 0 {
                        self.left_out += 1;
                        continue;
                    }
                    let shown = registry.show(self.now, line);
                    if !in_group && let Some(r) = anchor {
                        self.push(&format!("(after {r})"));
                    }
                    in_group = true;
                    if self.push(&format!("+ {}", bare(&shown.text))) {
                        self.added.extend(shown.refs.iter());
                        anchor = shown.refs.last().copied().or(anchor);
                        self.known.push(shown);
                    }
                }
            }
        }
    }

    fn removed(&mut self, registry: &RefRegistry, matching: &Matching) {
        let short = self.now.frames().iter().any(|frame| frame.short);
        let gone: HashSet<NodeNumber> =
            self.now.frames().iter().flat_map(|frame| frame.gone.iter().copied()).collect();
        let last_seen = matching
            .fates
            .iter()
            .filter_map(|fate| match fate {
                Fate::Same(old) | Fate::Changed(old) => Some(*old),
                Fate::New => None,
            })
            .max()
            .unwrap_or(0);
        for old in &matching.lost {
            let line = &self.before.lines[*old];
            let is_gone = line.refs.first().and_then(|r| registry.lookup(*r)).is_some_and(|seen| {
                gone.contains(&seen.key.node)
                    || !self
                        .now
                        .frames()
                        .iter()
                        .any(|frame| frame.meta.document == seen.key.document)
            });
            let out_of_reach =
                short && !is_gone && (!line.refs.is_empty() || *old > last_seen || line.extra);
            if out_of_reach {
                self.known.push(line.clone());
                continue;
            }
            let said = match line.refs.first() {
                Some(r) => format!("- {r} {}", cut(&without_marks(bare(&line.text)))),
                None => format!("- {}", cut(bare(&line.text))),
            };
            if self.push(&said) {
                self.removed.extend(line.refs.iter());
            }
        }
    }

    /// Lines with refs that stand in another order. A reading that was cut short tells no order.
    fn moved(&mut self, matching: &Matching) {
        let short = self.now.frames().iter().any(|frame| frame.short);
        if short || self.before.unread > 0 {
            return;
        }
        let first_ref = |old: usize| self.before.lines[old].refs.first().copied();
        let places: Vec<(usize, usize)> = matching
            .fates
            .iter()
            .enumerate()
            .filter_map(|(at, fate)| match fate {
                Fate::Same(old) | Fate::Changed(old) if !self.now.lines[at].extra => {
                    first_ref(*old).map(|_| (at, *old))
                }
                _ => None,
            })
            .collect();
        let moved = moved(&places);
        if moved.is_empty() {
            return;
        }
        let is_moved = |(at, _): &&(usize, usize)| moved.contains(at);
        if moved.len() > TOLD_ONE_BY_ONE {
            // From the first to the last line that moved, those between them and the next one too.
            let first = places.iter().position(|place| is_moved(&place)).unwrap_or(0);
            let last = places.iter().rposition(|place| is_moved(&place)).unwrap_or(0);
            let span = places.iter().take(last + 2).skip(first);
            let refs = span.filter_map(|(_, old)| first_ref(*old));
            let refs: Vec<String> = refs.map(|r| r.to_string()).collect();
            self.push(&format!("> order now: {}", refs.join(" ")));
            return;
        }
        let mut lines = Vec::new();
        for (number, (_, old)) in places.iter().enumerate().filter(|(_, place)| is_moved(place)) {
            let text = cut(&without_marks(bare(&self.before.lines[*old].text)));
            let name = first_ref(*old).map(|r| r.to_string()).unwrap_or_default();
            let next = places.get(number + 1).and_then(|(_, old)| first_ref(*old));
            let previous = number.checked_sub(1).and_then(|n| first_ref(places[n].1));
            let place = match (next, previous) {
                (Some(next), _) => format!("before {next}"),
                (None, Some(previous)) => format!("after {previous}"),
                (None, None) => continue,
            };
            lines.push(format!("> {name} {text} is now {place}"));
        }
        for line in lines {
            self.push(&line);
        }
    }

    fn finish(mut self) -> PublishedDelta {
        for at in std::mem::take(&mut self.passed) {
            self.unshown.add(self.now, &self.now.lines[at]);
        }
        if self.left_out > 0 {
            let more = format!("… {} more changes: take a snapshot", self.left_out);
            self.text.push('\n');
            self.text.push_str(&more);
        }
        let tokens = estimate_tokens(&self.text);
        let snapshot = PublishedSnapshot {
            text: String::new(),
            rest: Vec::new(),
            tab: self.before.tab.clone(),
            url: self.now.url.clone(),
            title: self.now.title.clone(),
            hash: self.now.hash(),
            shown: self.known.len(),
            left_out: self.before.left_out,
            unread: self.now.unread(),
            bytes: 0,
            tokens: 0,
            lines: self.known,
            unshown: self.unshown,
            main: self.before.main.clone(),
        };
        PublishedDelta {
            tokens,
            text: self.text,
            added: self.added,
            changed: self.changed,
            removed: self.removed,
            fresh: false,
            left_out: self.left_out,
            snapshot,
        }
    }
}

/// A line without its indentation and dash.
fn bare(text: &str) -> &str {
    let text = text.trim_start();
    text.strip_prefix("- ").unwrap_or(text)
}

/// What is compared: where the focus is, is not a change of a line.
fn comparable(text: &str) -> String {
    bare(text).replace(" [focused]", "")
}

fn without_marks(text: &str) -> String {
    match text.find(" [ref=") {
        Some(at) => text[..at].to_owned(),
        None => text.to_owned(),
    }
}

fn cut(text: &str) -> String {
    let first = text.lines().next().unwrap_or_default();
    if first.len() <= REMOVED_BYTES {
        return first.to_owned();
    }
    let end = (0..=REMOVED_BYTES).rev().find(|at| first.is_char_boundary(*at)).unwrap_or(0);
    format!("{}…", &first[..end])
}

/// A changed line; of a long text without controls only the part that differs.
fn changed_line(old: &str, new: &ShownLine) -> String {
    let text = bare(&new.text);
    if text.len() <= WHOLE_TEXT_BYTES || !new.refs.is_empty() {
        return format!("~ {text}");
    }
    let old = bare(old);
    let same = text.char_indices().zip(old.chars()).take_while(|((_, a), b)| a == b).last();
    let from = same.map_or(0, |((at, c), _)| at + c.len_utf8());
    let tail = text[from..]
        .chars()
        .rev()
        .zip(old.get(from..).unwrap_or_default().chars().rev())
        .take_while(|(a, b)| a == b)
        .map(|(a, _)| a.len_utf8())
        .sum::<usize>();
    let boundary = |at: usize| (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    let begin = boundary(from.saturating_sub(40));
    let end = (text.len() - tail).max(from);
    let shown_end = boundary((end + 40).min(text.len()).min(begin + WHOLE_TEXT_BYTES));
    let before = if begin > 0 { "…" } else { "" };
    let after = if shown_end < text.len() { "…" } else { "" };
    format!("~ {before}{}{after}", &text[begin..shown_end.max(begin)])
}
