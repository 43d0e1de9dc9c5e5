//! Refs and what was published (R-128…R-134).

use crate::line::{Line, Piece};
use crate::snapshot::PrivateSnapshot;
use crate::tokens::estimate_tokens;
use reins_core::limits::{RESULT_BYTES, SNAPSHOT_TOKENS};
use reins_core::{DocumentId, NodeKey, NodeNumber, Ref, Submission, TabId};
use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

/// How much of a snapshot is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PublishOptions {
    /// Estimated tokens of one snapshot.
    pub budget_tokens: usize,
    /// Bytes of one text, whatever was asked for; the rest is in [`PublishedSnapshot::rest`].
    pub hard_bytes: usize,
    /// Everything that was captured.
    pub full: bool,
}

impl Default for PublishOptions {
    fn default() -> Self {
        Self { budget_tokens: SNAPSHOT_TOKENS, hard_bytes: RESULT_BYTES, full: false }
    }
}

/// An element as a model last saw it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublishedElement {
    /// The element.
    pub key: NodeKey,
    /// The role that was shown.
    pub role: String,
    /// The name that was shown. Page text.
    pub name: String,
    /// The exact address that it led to.
    pub link: Option<String>,
    /// The submission that a click on it would have started.
    pub submission: Option<Submission>,
}

/// One line that was shown, for comparing with the next reading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ShownLine {
    pub(crate) text: String,
    pub(crate) about: Option<Ref>,
    pub(crate) refs: Vec<Ref>,
    /// Reached only because it was on screen.
    pub(crate) extra: bool,
}

/// Lines that were read and not shown: for a delta they are no news of the page.
#[derive(Clone, Debug, Default)]
pub(crate) struct Unshown(HashMap<LineId, Held>);

/// What tells an unshown line from the others.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum LineId {
    Element(DocumentId, NodeNumber),
    Text(u64),
}

#[derive(Clone, Copy, Debug, Default)]
struct Held {
    count: usize,
    on_screen: usize,
}

impl Unshown {
    pub(crate) fn add(&mut self, snapshot: &PrivateSnapshot, line: &Line) {
        let held = self.0.entry(LineId::of(snapshot, line)).or_default();
        held.count += 1;
        held.on_screen += usize::from(line.on_screen);
    }

    /// Whether a line is one of them, each counted once. One that came on screen since is news.
    pub(crate) fn take(&mut self, snapshot: &PrivateSnapshot, line: &Line) -> bool {
        let Some(held) = self.0.get_mut(&LineId::of(snapshot, line)) else { return false };
        if held.count == 0 || (line.on_screen && held.on_screen == 0) {
            return false;
        }
        held.count -= 1;
        held.on_screen = held.on_screen.saturating_sub(usize::from(line.on_screen));
        true
    }
}

impl LineId {
    fn of(snapshot: &PrivateSnapshot, line: &Line) -> Self {
        let element = line.pieces.iter().find_map(|piece| match piece {
            Piece::Ref(at) => snapshot.key(snapshot.elements.get(*at)?),
            _ => None,
        });
        match element {
            Some(key) => Self::Element(key.document, key.node),
            None => {
                let mut hasher = DefaultHasher::new();
                line.render(&|_| None).trim_start().hash(&mut hasher);
                Self::Text(hasher.finish())
            }
        }
    }
}

/// A page as a model was shown it.
#[derive(Clone, Debug)]
pub struct PublishedSnapshot {
    /// The lines, not yet wrapped as untrusted.
    pub text: String,
    /// What did not fit into one text, in order.
    pub rest: Vec<String>,
    /// The tab.
    pub tab: TabId,
    /// The main document's address.
    pub url: String,
    /// The main document's title. Page text.
    pub title: String,
    /// The content's hash.
    pub hash: u64,
    /// Lines shown in `text` and `rest`.
    pub shown: usize,
    /// Lines that were read and left out for want of budget.
    pub left_out: usize,
    /// Elements that were not even read, as far as they are counted.
    pub unread: u32,
    /// Bytes of `text`.
    pub bytes: usize,
    /// Estimated tokens of `text`.
    pub tokens: usize,
    pub(crate) lines: Vec<ShownLine>,
    pub(crate) unshown: Unshown,
    pub(crate) main: Option<DocumentId>,
}

impl PublishedSnapshot {
    /// The main document that was read.
    pub fn document(&self) -> Option<&DocumentId> {
        self.main.as_ref()
    }

    /// The nodes that were shown, by document: for [`crate::CaptureOptions::known`], so that the next
    /// reading can tell which of them are gone.
    pub fn nodes(&self, registry: &RefRegistry) -> HashMap<DocumentId, Vec<NodeNumber>> {
        let mut nodes: HashMap<DocumentId, Vec<NodeNumber>> = HashMap::new();
        for r in self.lines.iter().flat_map(|line| &line.refs) {
            if let Some(element) = registry.lookup(*r) {
                nodes.entry(element.key.document.clone()).or_default().push(element.key.node);
            }
        }
        nodes
    }
}

impl PublishedSnapshot {
    /// The elements that were shown.
    pub fn keys(&self, registry: &RefRegistry) -> Vec<NodeKey> {
        let refs = self.lines.iter().flat_map(|line| &line.refs);
        refs.filter_map(|r| registry.lookup(*r)).map(|element| element.key.clone()).collect()
    }
}

/// Gives refs and remembers what was published. One per session.
#[derive(Debug, Default)]
pub struct RefRegistry {
    by_node: HashMap<(TabId, DocumentId, NodeNumber), Ref>,
    by_ref: HashMap<Ref, PublishedElement>,
    /// The document that each tab showed last.
    main: HashMap<TabId, DocumentId>,
    last: u32,
    links: HashSet<String>,
}

impl RefRegistry {
    /// An empty registry; the first ref will be `e1`.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether a ref was ever given. One that [`Self::lookup`] does not know is then stale: its
    /// document is gone.
    pub fn was_given(&self, r: Ref) -> bool {
        (1..=self.last).contains(&r.0)
    }

    /// Forgets elements of documents that a tab no longer has, once it shows another one.
    fn forget_gone(&mut self, snapshot: &PrivateSnapshot) {
        let Some(main) = snapshot.frames().first().map(|frame| &frame.meta.document) else {
            return;
        };
        let before = self.main.insert(snapshot.tab.clone(), main.clone());
        if before.is_none_or(|before| before == *main) {
            return;
        }
        let here: HashSet<&DocumentId> =
            snapshot.frames().iter().map(|frame| &frame.meta.document).collect();
        self.by_node.retain(|(tab, document, _), r| {
            let keep = *tab != snapshot.tab || here.contains(document);
            if !keep {
                self.by_ref.remove(r);
            }
            keep
        });
    }

    /// What a ref means, as last published. None for a ref that was never given or whose document
    /// is gone.
    pub fn lookup(&self, r: Ref) -> Option<&PublishedElement> {
        self.by_ref.get(&r)
    }

    /// The ref of a node, if it was ever published.
    pub fn ref_of(&self, key: &NodeKey) -> Option<Ref> {
        self.by_node.get(&(key.tab.clone(), key.document.clone(), key.node)).copied()
    }

    /// Forgets which addresses were seen: they count for one turn only.
    pub fn begin_turn(&mut self) {
        self.links.clear();
    }

    /// The exact link addresses that the model has been shown in this turn.
    pub fn published_links(&self) -> &HashSet<String> {
        &self.links
    }

    /// Publishes a snapshot: what fits the budget gets refs and becomes what the model has seen.
    ///
    /// What is on screen comes first, then the rest in document order, whole lines only; a group
    /// ends at the first line without room.
    pub fn publish(
        &mut self,
        snapshot: &PrivateSnapshot,
        options: &PublishOptions,
    ) -> PublishedSnapshot {
        self.forget_gone(snapshot);
        let chosen = choose(snapshot, options);
        let mut unshown = Unshown::default();
        let mut lines = Vec::new();
        let mut shown = Vec::new();
        let mut skipped = 0usize;
        let mut skip_depth = 0u16;
        for (at, line) in snapshot.lines.iter().enumerate() {
            if !chosen[at] {
                if skipped == 0 {
                    skip_depth = line.depth;
                }
                skipped += 1;
                unshown.add(snapshot, line);
                continue;
            }
            if skipped > 0 {
                lines.push(left_out_line(skip_depth, skipped));
                skipped = 0;
            }
            let made = self.show(snapshot, line);
            lines.push(made.text.clone());
            shown.push(made);
        }
        if skipped > 0 {
            lines.push(left_out_line(skip_depth, skipped));
        }
        for note in snapshot.notes.iter().filter(|note| note.owner.is_none()) {
            lines.insert(0, format!("({})", note.trouble.words()));
        }
        let unread = snapshot.unread();
        if unread > 0 {
            let total: u32 =
                snapshot.frames().iter().map(|frame| frame.total).fold(0, u32::saturating_add);
            lines.push(format!("(about {unread} of {total} elements not read)"));
        }
        let mut pages = paginate(&lines, options.hard_bytes);
        let text = if pages.is_empty() { String::new() } else { pages.remove(0) };
        PublishedSnapshot {
            bytes: text.len(),
            tokens: estimate_tokens(&text),
            text,
            rest: pages,
            tab: snapshot.tab.clone(),
            url: snapshot.url.clone(),
            title: snapshot.title.clone(),
            hash: snapshot.hash(),
            shown: shown.len(),
            left_out: snapshot.lines.len() - shown.len(),
            unread,
            lines: shown,
            unshown,
            main: snapshot.frames().first().map(|frame| frame.meta.document.clone()),
        }
    }

    /// Writes one line with its refs; from here on the model has seen it.
    pub(crate) fn show(&mut self, snapshot: &PrivateSnapshot, line: &Line) -> ShownLine {
        let mut refs = HashMap::new();
        let mut order = Vec::new();
        for piece in &line.pieces {
            if let Piece::Ref(at) = piece
                && let Some(r) = self.give(snapshot, *at)
            {
                refs.insert(*at, r);
                order.push(r);
            }
        }
        let text = line.render(&|at| {
            refs.get(&at)
                .copied()
                .or_else(|| self.ref_of(&snapshot.key(snapshot.elements.get(at)?)?))
        });
        ShownLine {
            text,
            about: line.about.and_then(|at| refs.get(&at).copied()),
            refs: order,
            extra: line.extra,
        }
    }

    fn give(&mut self, snapshot: &PrivateSnapshot, at: usize) -> Option<Ref> {
        let element = snapshot.elements.get(at)?;
        let key = snapshot.key(element)?;
        let slot = (key.tab.clone(), key.document.clone(), key.node);
        let r = *self.by_node.entry(slot).or_insert_with(|| {
            self.last += 1;
            Ref(self.last)
        });
        if let Some(link) = &element.link {
            self.links.insert(link.clone());
        }
        self.by_ref.insert(
            r,
            PublishedElement {
                key,
                role: element.role.clone(),
                name: element.name.clone(),
                link: element.link.clone(),
                submission: element.submission.clone(),
            },
        );
        Some(r)
    }
}

pub(crate) fn left_out_line(depth: u16, count: usize) -> String {
    let lines = if count == 1 { "line" } else { "lines" };
    format!("{}… {count} {lines} not shown", "  ".repeat(usize::from(depth.min(40))))
}

/// Which lines fit: on screen first, then in document order; containers come with their content.
fn choose(snapshot: &PrivateSnapshot, options: &PublishOptions) -> Vec<bool> {
    let lines = &snapshot.lines;
    if options.full {
        return vec![true; lines.len()];
    }
    let costs: Vec<usize> =
        lines.iter().map(|line| estimate_tokens(&line.render(&|_| Some(Ref(1_000)))) + 1).collect();
    let parents = parents(lines);
    let mut chosen = vec![false; lines.len()];
    // Room for the lines that tell what was left out.
    let mut left = options.budget_tokens.saturating_sub(40);
    for on_screen in [true, false] {
        for at in (0..lines.len()).filter(|at| lines[*at].on_screen == on_screen) {
            if chosen[at] {
                continue;
            }
            let mut wanted = vec![at];
            let mut up = parents[at];
            while let Some(parent) = up.filter(|parent| !chosen[*parent]) {
                wanted.push(parent);
                up = parents[parent];
            }
            let cost: usize = wanted.iter().map(|at| costs[*at]).sum();
            if cost > left {
                break;
            }
            left -= cost;
            for at in wanted {
                chosen[at] = true;
            }
        }
    }
    chosen
}

/// The container line that each line belongs to.
fn parents(lines: &[Line]) -> Vec<Option<usize>> {
    let mut open: Vec<usize> = Vec::new();
    lines
        .iter()
        .enumerate()
        .map(|(at, line)| {
            while open.last().is_some_and(|last| lines[*last].depth >= line.depth) {
                open.pop();
            }
            let parent = open.last().copied();
            open.push(at);
            parent
        })
        .collect()
}

/// Cuts lines into texts of at most `limit` bytes, between lines where possible.
pub(crate) fn paginate(lines: &[String], limit: usize) -> Vec<String> {
    let limit = limit.max(256);
    let mut pages = Vec::new();
    let mut page = String::new();
    for line in lines {
        let mut line = line.as_str();
        while page.len() + line.len() + 1 > limit {
            if !page.is_empty() {
                pages.push(std::mem::take(&mut page));
                continue;
            }
            let cut = (0..=limit - 1).rev().find(|at| line.is_char_boundary(*at)).unwrap_or(0);
            pages.push(line[..cut].to_owned());
            line = &line[cut..];
        }
        if !page.is_empty() {
            page.push('\n');
        }
        page.push_str(line);
    }
    if !page.is_empty() {
        pages.push(page);
    }
    pages
}
