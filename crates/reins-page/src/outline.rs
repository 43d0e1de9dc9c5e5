//! From trees to lines: what is worth a line, what is folded into another, what is plain text.

use crate::address;
use crate::capture::FrameCapture;
use crate::hidden;
use crate::keys::Key;
use crate::line::{Element, Line, Piece, Run};
use crate::name::{From, Namer};
use crate::region::is_container;
use crate::role;
use crate::tree::{Display, Id, Kind, Tree};
use reins_core::NodeNumber;
use std::collections::{HashMap, HashSet};
use url::Url;

/// Nesting of frames and elements together is not followed further, so that no stack runs out.
pub(crate) const MAX_DEPTH: u32 = 400;

/// All lines of a page, not yet cut to any budget.
pub(crate) struct Outline {
    pub(crate) lines: Vec<Line>,
    pub(crate) elements: Vec<Element>,
}

/// What is known beside the captures themselves.
pub(crate) struct Inputs<'a> {
    pub(crate) frames: &'a [FrameCapture],
    /// Which frame sits in which frame element: (frame, node) → frame.
    pub(crate) inside: &'a HashMap<(usize, NodeNumber), usize>,
    /// What to say of a frame element without a capture.
    pub(crate) notes: &'a HashMap<(usize, NodeNumber), String>,
}

/// Writes the outline of the page whose main frame is the first.
pub(crate) fn outline(inputs: &Inputs<'_>) -> Outline {
    let mut out = Outline { lines: Vec::new(), elements: Vec::new() };
    let mut options = HashMap::new();
    if !inputs.frames.is_empty() {
        let mut writer = Writer::new(inputs, 0, &mut out, &mut options, 0);
        writer.document(0);
    }
    out
}

pub(crate) struct Writer<'a, 'o> {
    pub(crate) inputs: &'a Inputs<'a>,
    pub(crate) frame: usize,
    pub(crate) tree: &'a Tree,
    pub(crate) capture: &'a FrameCapture,
    pub(crate) namer: Namer<'a>,
    pub(crate) base: Url,
    pub(crate) out: &'o mut Outline,
    /// Option lists already written, by their text: the element that shows them.
    pub(crate) options: &'o mut HashMap<String, usize>,
    /// Label elements whose text is already the name of their control.
    labels: HashSet<Id>,
    pub(crate) run: Run,
    pub(crate) depth_used: u32,
    /// The name of the nearest container line, so that a heading does not repeat it.
    pub(crate) container_name: String,
    /// Above 0 inside a table's cell: everything stays in one line.
    pub(crate) inline: u32,
    /// A mark that the next control gets before its value.
    pub(crate) hint: Option<Piece>,
}

impl<'a, 'o> Writer<'a, 'o> {
    pub(crate) fn new(
        inputs: &'a Inputs<'a>,
        frame: usize,
        out: &'o mut Outline,
        options: &'o mut HashMap<String, usize>,
        depth_used: u32,
    ) -> Self {
        let capture = &inputs.frames[frame];
        let tree = &capture.tree;
        Self {
            inputs,
            frame,
            tree,
            capture,
            namer: Namer::seen(tree, capture.reach),
            base: address::base(&capture.meta.url),
            out,
            options,
            labels: labels_in_use(tree, Namer::seen(tree, capture.reach)),
            run: Run::default(),
            depth_used,
            container_name: String::new(),
            inline: 0,
            hint: None,
        }
    }

    pub(crate) fn document(&mut self, depth: u16) {
        if let Some(root) = self.tree.root {
            self.children(root, depth);
            self.flush(depth);
        }
    }

    /// Writes all children of an element, inline ones into the current run.
    pub(crate) fn children(&mut self, id: Id, depth: u16) {
        if self.depth_used >= MAX_DEPTH {
            return;
        }
        self.depth_used += 1;
        let flags = self.tree.flags(id);
        let mute = hidden::own_text_is_hidden(flags);
        for child in self.tree.children(id) {
            let before = self.out.lines.len();
            let node = self.tree.node(child);
            match &node.kind {
                Kind::Text(text) => {
                    if !mute {
                        if self.run.words.is_none() && !text.trim().is_empty() {
                            self.run.words = self.register(id, "text", "");
                        }
                        self.run.text(text, flags.on_screen());
                    }
                }
                Kind::Gap(count) => self.gap(*count, depth),
                Kind::Element(_) => self.element(child, depth),
            }
            if node.extra {
                for line in self.out.lines.iter_mut().skip(before) {
                    line.extra = true;
                }
            }
        }
        self.depth_used -= 1;
    }

    fn gap(&mut self, count: u32, depth: u16) {
        self.flush(depth);
        if self.inline > 0 {
            self.run.text(&format!(" … {count} more "), false);
        } else if count > 0 {
            self.out.lines.push(Line::gap(depth, count));
        }
    }

    fn element(&mut self, id: Id, depth: u16) {
        let Some(element) = self.tree.element(id) else { return };
        let (display, flags) = (element.display, element.flags);
        let tag = self.tree.tag_name(element);
        if hidden::box_is_hidden(self.tree, self.capture.reach, id) {
            return self.only_fields(id, depth);
        }
        if tag == "br" {
            return self.run.line_break();
        }
        let role = role::role(self.tree, id);
        let visible = !flags.invisible();
        match tag {
            "iframe" | "frame" if visible => return self.inner_frame(id, depth),
            "label" if self.labels.contains(&id) => return self.only_widgets(id, depth),
            "legend" | "figcaption"
                if !self.container_name.is_empty()
                    && self.namer.text(id) == self.container_name =>
            {
                return self.only_widgets(id, depth);
            }
            "option" | "optgroup" if role == "generic" => return,
            _ => {}
        }
        if visible && (role::is_widget(role) || self.is_clickable(id, role)) {
            return self.widget(id, role, depth);
        }
        match role {
            "heading" if visible => self.heading(id, depth),
            "image" | "graphics-document" | "graphics-symbol" | "math" if visible => {
                self.picture(id, role);
                if role == "graphics-document" {
                    self.only_acting(id, depth);
                }
            }
            "table" | "grid" | "treegrid" if self.is_data_table(id, role) => {
                self.flush(depth);
                self.table(id, role, depth);
            }
            "progressbar" | "meter" | "scrollbar" if visible => self.gauge(id, role, depth),
            "separator" => self.flush(depth),
            _ if is_container(role) => self.container(id, role, depth),
            _ => self.plain(id, tag, display, depth),
        }
    }

    /// An element that means nothing by itself: its box only decides where lines end.
    fn plain(&mut self, id: Id, tag: &str, display: Display, depth: u16) {
        if tag == "pre" {
            self.flush(depth);
            return self.preformatted(id, depth);
        }
        match display {
            Display::Inline | Display::Contents => self.children(id, depth),
            Display::InlineBlock => {
                self.run.space();
                self.children(id, depth);
                self.run.space();
            }
            Display::TableCell => {
                self.run.space();
                self.children(id, depth);
                self.run.space();
            }
            _ => {
                self.flush(depth);
                if tag == "li" || display == Display::ListItem {
                    self.run.mark = self.list_mark(id);
                    self.run.item = true;
                }
                self.children(id, depth);
                self.flush(depth);
            }
        }
    }

    /// The number of an item of an ordered list.
    fn list_mark(&self, id: Id) -> Option<String> {
        let list = self.tree.parent(id).filter(|at| self.tree.tag(*at) == "ol")?;
        let start = self.tree.fact(list, Key::Start).and_then(|text| text.trim().parse().ok());
        let own = self.tree.fact(id, Key::Value).and_then(|text| text.trim().parse().ok());
        let before = self
            .tree
            .children(list)
            .take_while(|at| *at != id)
            .filter(|at| {
                self.tree.tag(*at) == "li" || matches!(self.tree.node(*at).kind, Kind::Gap(_))
            })
            .map(|at| match self.tree.node(at).kind {
                Kind::Gap(count) => i64::from(count),
                _ => 1,
            })
            .sum::<i64>();
        Some(format!("{}. ", own.unwrap_or(start.unwrap_or(1i64).saturating_add(before))))
    }

    /// Source code and the like: line breaks and indentation are kept.
    fn preformatted(&mut self, id: Id, depth: u16) {
        self.run.keep_lines = true;
        self.children(id, depth);
        self.flush(depth);
        self.run.keep_lines = false;
    }

    /// Ends the current run: its lines are written.
    pub(crate) fn flush(&mut self, depth: u16) {
        if self.inline > 0 {
            return self.run.space();
        }
        let run = std::mem::take(&mut self.run);
        self.run.keep_lines = run.keep_lines;
        run.write(depth, &mut self.out.lines);
    }
}

/// The label elements whose text is the name of their control.
fn labels_in_use(tree: &Tree, namer: Namer<'_>) -> HashSet<Id> {
    let mut used = HashSet::new();
    for index in 0..tree.nodes.len() {
        let id = Id(u32::try_from(index).unwrap_or(u32::MAX));
        if tree.has(id, Key::Labels) && namer.name(id, role::role(tree, id)).from == From::Label {
            used.extend(tree.references(id, Key::Labels));
        }
    }
    used
}
