//! From trees to lines: what is worth a line, what is folded into another, what is plain text.

use crate::address;
use crate::capture::FrameCapture;
use crate::hidden;
use crate::keys::Key;
use crate::line::{Element, Line, Piece, Run};
use crate::name::{From, Name, Namer};
use crate::record;
use crate::role;
use crate::state;
use crate::tree::{Display, Id, Kind, Tree};
use reins_core::NodeNumber;
use reins_core::limits::NAME_BYTES;
use std::collections::{HashMap, HashSet};
use url::Url;

/// Nesting of frames and elements together is not followed further, so that no stack runs out.
const MAX_DEPTH: u32 = 400;

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
    inputs: &'a Inputs<'a>,
    frame: usize,
    pub(crate) tree: &'a Tree,
    capture: &'a FrameCapture,
    pub(crate) namer: Namer<'a>,
    base: Url,
    pub(crate) out: &'o mut Outline,
    /// Option lists already written, by their text: the element that shows them.
    pub(crate) options: &'o mut HashMap<String, usize>,
    /// Label elements whose text is already the name of their control.
    labels: HashSet<Id>,
    pub(crate) run: Run,
    depth_used: u32,
    /// The name of the nearest container line, so that a heading does not repeat it.
    container_name: String,
    /// Above 0 inside a table's cell: everything stays in one line.
    pub(crate) inline: u32,
    /// A mark that the next control gets before its value.
    pub(crate) hint: Option<Piece>,
}

impl<'a, 'o> Writer<'a, 'o> {
    fn new(
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

    fn document(&mut self, depth: u16) {
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
                    self.only_widgets(id, depth);
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

    /// Controls inside a control that has already been written.
    pub(crate) fn inner_widgets(&mut self, id: Id, depth: u16) {
        for child in self.tree.children(id) {
            self.only_widgets(child, depth);
        }
    }

    pub(crate) fn cell_is_widget(&self, cell: Id) -> bool {
        let role = role::role(self.tree, cell);
        !self.tree.flags(cell).invisible()
            && (role::is_widget(role) || self.is_clickable(cell, role))
    }

    pub(crate) fn cell_widget(&mut self, cell: Id, depth: u16) {
        if self.holds_widgets(cell) {
            self.children(cell, depth);
        } else {
            self.widget(cell, role::role(self.tree, cell), depth);
        }
    }

    /// Of a subtree that shows no text, the form fields still count: a styled label stands for them.
    fn only_fields(&mut self, id: Id, depth: u16) {
        self.descend(id, depth, |tag, _| matches!(tag, "input" | "select" | "textarea"));
    }

    /// Of a label whose text is already a name, only what can be acted on.
    fn only_widgets(&mut self, id: Id, depth: u16) {
        self.descend(id, depth, |_, role| role::is_widget(role));
    }

    fn descend(&mut self, id: Id, depth: u16, wanted: fn(&str, &str) -> bool) {
        if self.depth_used >= MAX_DEPTH {
            return;
        }
        self.depth_used += 1;
        let own = self.tree.element(id).is_some()
            && wanted(self.tree.tag(id), role::role(self.tree, id))
            && !self.tree.flags(id).invisible();
        if own {
            self.widget(id, role::role(self.tree, id), depth);
        } else {
            for child in self.tree.children(id) {
                self.descend(child, depth, wanted);
            }
        }
        self.depth_used -= 1;
    }

    /// Whether a person could click it though its role does not say so.
    fn is_clickable(&self, id: Id, role: &str) -> bool {
        let flags = self.tree.flags(id);
        let tabbable = self
            .tree
            .fact(id, Key::TabIndex)
            .is_some_and(|value| value.trim().parse::<i32>().is_ok_and(|index| index >= 0));
        if flags.editable() {
            return true;
        }
        if !(flags.pointer() || tabbable || self.tree.has(id, Key::OnClick)) {
            return false;
        }
        // The page as a whole, labels (they hand the click on) and big landmarks are no buttons.
        !matches!(self.tree.tag(id), "html" | "body" | "label" | "form" | "fieldset")
            && !matches!(
                role,
                "main" | "dialog" | "alertdialog" | "document" | "application" | "table"
            )
            && (flags.pointer() || self.tree.has(id, Key::OnClick) || !is_container(role))
    }

    /// Registers an element so that a ref can be given to it.
    pub(crate) fn register(&mut self, id: Id, role: &str, name: &str) -> Option<usize> {
        let element = self.tree.element(id)?;
        if element.number.0 == 0 {
            return None;
        }
        self.out.elements.push(Element {
            frame: self.frame,
            node: element.number,
            role: role.to_owned(),
            name: name.to_owned(),
            link: (role == "link")
                .then(|| self.tree.fact(id, Key::Href).map(str::to_owned))
                .flatten(),
            submission: self.tree.fact(id, Key::Submission).and_then(record::submission),
        });
        Some(self.out.elements.len() - 1)
    }

    fn widget(&mut self, id: Id, role: &str, depth: u16) {
        if role::is_widget(role) {
            self.control(id, role, depth);
        } else {
            self.clickable(id, role, depth);
        }
    }

    /// Something clickable without a role that says so.
    fn clickable(&mut self, id: Id, role: &str, depth: u16) {
        let word = if self.tree.flags(id).editable() {
            "textbox"
        } else if role == "heading" {
            "heading"
        } else if matches!(role, "image" | "graphics-document") {
            "img"
        } else {
            "clickable"
        };
        if word != "textbox" && self.holds_widgets(id) {
            return self.clickable_container(id, depth);
        }
        // Without a role no name is allowed; what the author says is shown all the same.
        let as_role = if word == "textbox" { "textbox" } else { "button" };
        let named = self.namer.name(id, as_role);
        let text = if named.text.is_empty() || word == "clickable" {
            if named.from == From::Author { named.text } else { self.namer.text(id) }
        } else {
            named.text
        };
        let name = if word == "textbox" && named.from != From::Author {
            String::new()
        } else {
            text.clone()
        };
        let value = if word == "textbox" { self.namer.text(id) } else { String::new() };
        if name.is_empty() && word == "clickable" && self.tree.flags(id).pointer() {
            // An empty box with a hand: an icon or a cover. It is kept, since it may be all there is.
            let rect = self.tree.element(id).and_then(|element| element.rect);
            if rect.is_none_or(|rect| rect.width < 4 || rect.height < 4) {
                return;
            }
        }
        self.push_widget(id, word, &name, &value, depth);
    }

    /// A clickable box around other controls: a line of its own, its content below it.
    fn clickable_container(&mut self, id: Id, depth: u16) {
        if self.inline > 0 {
            return self.children(id, depth);
        }
        self.flush(depth);
        let at = self.out.lines.len();
        let mut line = Line::new(depth, self.tree.flags(id).on_screen());
        line.pieces.push(Piece::Text("clickable".to_owned()));
        if let Some(element) = self.register(id, "clickable", "") {
            line.pieces.push(Piece::Ref(element));
            line.about = Some(element);
        }
        self.out.lines.push(line);
        self.children(id, depth + 1);
        self.flush(depth + 1);
        if self.out.lines.len() == at + 1 {
            self.out.lines.pop();
        }
    }

    /// Whether there is something to act on inside.
    fn holds_widgets(&self, id: Id) -> bool {
        let mut open: Vec<Id> = self.tree.children(id).collect();
        let mut left = 400;
        while let Some(at) = open.pop() {
            left -= 1;
            if left == 0 {
                return true;
            }
            if self.tree.element(at).is_some() {
                if role::is_widget(role::role(self.tree, at)) {
                    return true;
                }
                open.extend(self.tree.children(at));
            }
        }
        false
    }

    /// Writes a control into the run; blocks get a line of their own.
    pub(crate) fn push_widget(&mut self, id: Id, word: &str, name: &str, value: &str, depth: u16) {
        let display = self.tree.element(id).map_or(Display::Inline, |element| element.display);
        let block = !display.is_inline() && display != Display::TableCell;
        if block {
            self.flush(depth);
        }
        let role = role::role(self.tree, id);
        let element = self.register(id, word, name);
        let mut pieces = vec![Piece::Text(word.to_owned())];
        if !name.is_empty() {
            pieces.push(Piece::Quoted(clip(name)));
        }
        pieces.extend(element.map(Piece::Ref));
        for mark in state::marks(self.tree, id, role) {
            pieces.push(Piece::Mark(mark));
        }
        if role == "link" {
            let href = self.tree.fact(id, Key::Href).unwrap_or_default();
            let shown = address::shorten(href, &self.base);
            if !shown.is_empty() {
                pieces.push(Piece::Address(clip(&shown)));
            }
        }
        pieces.extend(self.hint.take());
        if !value.is_empty() {
            pieces.push(Piece::Value(clip(value)));
        }
        let flags = self.tree.flags(id);
        self.run.widget(pieces, element, flags.on_screen());
        if block {
            self.flush(depth);
        }
    }

    fn heading(&mut self, id: Id, depth: u16) {
        if self.inline > 0 {
            self.run.space();
            self.children(id, depth);
            return self.run.space();
        }
        self.flush(depth);
        let level = role::heading_level(self.tree, id).min(6) as usize;
        let name = self.namer.name(id, "heading");
        if name.from == From::Author {
            self.run.text(&name.text, self.tree.flags(id).on_screen());
        } else {
            self.children(id, depth);
        }
        if !self.run.is_empty() && self.run.plain_text() == self.container_name {
            self.run = Run::default();
        }
        self.run.mark = Some(format!("{} ", "#".repeat(level)));
        self.run.together = true;
        self.flush(depth);
    }

    fn picture(&mut self, id: Id, role: &str) {
        let name = self.namer.name(id, role);
        if !name.text.is_empty() {
            let word = if role == "math" { "math" } else { "img" };
            let pieces = vec![Piece::Text(word.to_owned()), Piece::Quoted(name.text)];
            self.run.widget(pieces, None, self.tree.flags(id).on_screen());
        } else if role == "math" {
            let text = self.namer.text(id);
            self.run.text(&text, self.tree.flags(id).on_screen());
        }
    }

    fn gauge(&mut self, id: Id, role: &str, depth: u16) {
        let name = self.namer.name(id, role);
        let value = [Key::AriaValueText, Key::AriaValueNow, Key::LiveValue]
            .iter()
            .find_map(|key| self.tree.text_fact(id, *key))
            .unwrap_or_default()
            .to_owned();
        let max =
            [Key::AriaValueMax, Key::Max].iter().find_map(|key| self.tree.text_fact(id, *key));
        let mut pieces = vec![Piece::Text(role.to_owned())];
        if !name.text.is_empty() {
            pieces.push(Piece::Quoted(name.text));
        }
        if !value.is_empty() {
            pieces.push(Piece::Value(match max {
                Some(max) if !self.tree.has(id, Key::AriaValueText) => format!("{value} of {max}"),
                _ => value,
            }));
        }
        if pieces.len() > 1 {
            self.run.widget(pieces, None, self.tree.flags(id).on_screen());
        }
        let _ = depth;
    }

    /// A landmark, dialog, group or live region: its own line if it says something.
    fn container(&mut self, id: Id, role: &str, depth: u16) {
        let display = self.tree.element(id).map_or(Display::Block, |element| element.display);
        let inline = display.is_inline();
        if is_live(role) && (inline || !self.holds_widgets(id)) {
            return self.live(id, role, depth);
        }
        self.flush(depth);
        if self.inline > 0 {
            self.children(id, depth);
            return self.flush(depth);
        }
        let Name { text: name, from } = self.namer.name(id, role);
        let repeats = from == From::Author && self.names_from_inside(id) && !is_dialog(role);
        let worth = match role {
            "group" | "region" | "radiogroup" | "toolbar" | "tabpanel" | "feed" | "figure"
            | "list" | "tablist" | "menu" | "menubar" | "tree" => !name.is_empty() && !repeats,
            "form" => true,
            _ => true,
        };
        if !worth {
            self.children(id, depth);
            return self.flush(depth);
        }
        let at = self.out.lines.len();
        let mut line = Line::new(depth, self.tree.flags(id).on_screen());
        let own = self.tree.text_fact(id, Key::AriaRoleDescription).unwrap_or(role);
        line.pieces.push(Piece::Text(own.to_owned()));
        if !name.is_empty() {
            line.pieces.push(Piece::Quoted(name.clone()));
        }
        for mark in state::marks(self.tree, id, role) {
            line.pieces.push(Piece::Mark(mark));
        }
        line.container = true;
        self.out.lines.push(line);
        let outer = std::mem::replace(&mut self.container_name, name.clone());
        self.children(id, depth + 1);
        self.flush(depth + 1);
        self.container_name = outer;
        self.fold_container(at, depth, role, !name.is_empty());
    }

    /// Takes back a container line that holds too little to be worth it.
    fn fold_container(&mut self, at: usize, depth: u16, role: &str, named: bool) {
        let inside = self.out.lines.len() - at - 1;
        let keep = inside > 0 && (is_dialog(role) || (named && inside > 1) || inside > 2);
        if keep {
            return;
        }
        self.out.lines.remove(at);
        for line in &mut self.out.lines[at..] {
            line.depth = line.depth.saturating_sub(1).max(depth);
        }
    }

    /// Whether the name comes from an element inside that is shown anyway.
    fn names_from_inside(&self, id: Id) -> bool {
        self.tree
            .references(id, Key::AriaLabelledBy)
            .iter()
            .any(|target| self.tree.ancestors(*target).any(|at| at == id))
    }

    /// Alerts, status messages and the like: the role in front of the text.
    fn live(&mut self, id: Id, role: &str, depth: u16) {
        let display = self.tree.element(id).map_or(Display::Block, |element| element.display);
        if !display.is_inline() {
            self.flush(depth);
        }
        let name = self.namer.name(id, role);
        let text = self.namer.text(id);
        if !text.is_empty() || !name.text.is_empty() {
            let mut pieces = vec![Piece::Text(role.to_owned())];
            if !name.text.is_empty() && name.text != text {
                pieces.push(Piece::Quoted(name.text));
            }
            pieces.push(Piece::Value(text));
            self.run.widget(pieces, None, self.tree.flags(id).on_screen());
        }
        if !display.is_inline() {
            self.flush(depth);
        }
    }

    /// A frame element with the frame's own content below it.
    fn inner_frame(&mut self, id: Id, depth: u16) {
        self.flush(depth);
        let Some(element) = self.tree.element(id) else { return };
        let key = (self.frame, element.number);
        let inner = self.inputs.inside.get(&key).copied();
        let note = self.inputs.notes.get(&key);
        let name = [Key::AriaLabel, Key::Title, Key::Name]
            .iter()
            .find_map(|key| self.tree.text_fact(id, *key))
            .unwrap_or_default();
        let mut line = Line::new(depth, element.flags.on_screen());
        line.pieces.push(Piece::Text("frame".to_owned()));
        if !name.is_empty() {
            line.pieces.push(Piece::Quoted(name.to_owned()));
        }
        if let Some(inner) = inner {
            let meta = &self.inputs.frames[inner].meta;
            let foreign = meta.origin != self.capture.meta.origin;
            if let Some(origin) = meta.origin.named_as().filter(|_| foreign) {
                line.pieces.push(Piece::Address(origin.to_string()));
            }
        }
        if let Some(note) = note {
            line.pieces.push(Piece::Value(format!("({note})")));
        }
        line.container = true;
        let at = self.out.lines.len();
        self.out.lines.push(line);
        if let Some(inner) = inner.filter(|inner| *inner != self.frame)
            && self.depth_used < MAX_DEPTH
        {
            let depth_used = self.depth_used + 1;
            Writer::new(self.inputs, inner, self.out, self.options, depth_used).document(depth + 1);
        }
        if self.out.lines.len() == at + 1 && note.is_none() && name.is_empty() {
            self.out.lines.pop();
        }
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

/// Cuts a name, value or address to what a snapshot shows of it (A-033).
pub(crate) fn clip(text: &str) -> String {
    if text.len() <= NAME_BYTES {
        return text.to_owned();
    }
    let end = (0..=NAME_BYTES).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    format!("{}…", &text[..end])
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

fn is_live(role: &str) -> bool {
    matches!(role, "alert" | "status" | "log" | "timer" | "tooltip" | "marquee")
}

fn is_dialog(role: &str) -> bool {
    matches!(role, "dialog" | "alertdialog")
}

fn is_container(role: &str) -> bool {
    is_live(role)
        || is_dialog(role)
        || matches!(
            role,
            "navigation"
                | "main"
                | "search"
                | "complementary"
                | "banner"
                | "contentinfo"
                | "form"
                | "region"
                | "group"
                | "radiogroup"
                | "toolbar"
                | "tabpanel"
                | "feed"
                | "figure"
                | "list"
                | "tablist"
                | "menu"
                | "menubar"
                | "tree"
                | "application"
        )
}
