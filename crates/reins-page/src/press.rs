//! What can be acted on: which elements, and how their part of a line is written.

use crate::address;
use crate::keys::Key;
use crate::line::{Element, Line, Piece};
use crate::name::From;
use crate::outline::{MAX_DEPTH, Writer};
use crate::record;
use crate::region::is_container;
use crate::role;
use crate::state;
use crate::tree::{Display, Id};
use reins_core::limits::NAME_BYTES;

impl Writer<'_, '_> {
    /// Of a subtree that shows no text, the form fields still count: a styled label stands for them.
    pub(crate) fn only_fields(&mut self, id: Id, depth: u16) {
        self.descend(id, depth, |tag, _| matches!(tag, "input" | "select" | "textarea"));
    }

    /// Of a label whose text is already a name, only what can be acted on.
    pub(crate) fn only_widgets(&mut self, id: Id, depth: u16) {
        self.descend(id, depth, |_, role| role::is_widget(role));
    }

    /// Of a drawing, only what can be acted on: its shapes too, where they listen.
    pub(crate) fn only_acting(&mut self, id: Id, depth: u16) {
        for child in self.tree.children(id) {
            let role = role::role(self.tree, child);
            let acts = self.tree.element(child).is_some()
                && !self.tree.flags(child).invisible()
                && (role::is_widget(role) || self.is_clickable(child, role));
            if acts {
                self.widget(child, role, depth);
            } else if self.depth_used < MAX_DEPTH {
                self.depth_used += 1;
                self.only_acting(child, depth);
                self.depth_used -= 1;
            }
        }
    }

    pub(crate) fn descend(&mut self, id: Id, depth: u16, wanted: fn(&str, &str) -> bool) {
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

    /// Controls inside a control that has already been written.
    pub(crate) fn inner_widgets(&mut self, id: Id, depth: u16) {
        for child in self.tree.children(id) {
            self.only_widgets(child, depth);
        }
    }

    /// Whether a person could click it though its role does not say so.
    pub(crate) fn is_clickable(&self, id: Id, role: &str) -> bool {
        let flags = self.tree.flags(id);
        let tabbable = self
            .tree
            .fact(id, Key::TabIndex)
            .is_some_and(|value| value.trim().parse::<i32>().is_ok_and(|index| index >= 0));
        if flags.editable() {
            return true;
        }
        if self.only_listens(id) {
            return self.listens_itself(id, role);
        }
        if !(flags.pointer() || tabbable || self.tree.has(id, Key::OnClick)) {
            return false;
        }
        // A hand over elements that listen, without a listener of its own, is only their hand.
        let only_hand = !flags.listens() && !self.tree.has(id, Key::OnClick) && !tabbable;
        if only_hand && self.holds(id, &|at| self.tree.flags(at).listens()) {
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

    /// Whether a script's listener is the only sign that it can be clicked.
    fn only_listens(&self, id: Id) -> bool {
        let flags = self.tree.flags(id);
        flags.listens()
            && !flags.pointer()
            && !self.tree.has(id, Key::OnClick)
            && !self.tree.has(id, Key::TabIndex)
    }

    /// Whether it listens for clicks on itself, and not for those on what is inside: pages like to
    /// have one listener for a whole part of them.
    fn listens_itself(&self, id: Id, role: &str) -> bool {
        let tag = self.tree.tag(id);
        if matches!(tag, "html" | "body" | "label" | "form" | "fieldset" | "iframe" | "frame")
            || is_container(role)
            || matches!(role, "main" | "document" | "application" | "table" | "grid" | "treegrid")
        {
            return false;
        }
        let view = self.capture.view;
        let large = self.tree.element(id).and_then(|element| element.rect).is_some_and(|rect| {
            let area = |width: i32, height: i32| i64::from(width) * i64::from(height);
            area(rect.width, rect.height) * 2 > area(view.width, view.height)
        });
        let acts = |at| {
            let role = role::role(self.tree, at);
            role::is_widget(role) || self.tree.flags(at).listens() || self.is_clickable(at, role)
        };
        (!large || tag == "canvas") && !self.holds(id, &acts)
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

    pub(crate) fn widget(&mut self, id: Id, role: &str, depth: u16) {
        if role::is_widget(role) {
            self.control(id, role, depth);
        } else {
            self.clickable(id, role, depth);
        }
    }

    /// Something clickable without a role that says so.
    pub(crate) fn clickable(&mut self, id: Id, role: &str, depth: u16) {
        let word = if self.tree.flags(id).editable() {
            "textbox"
        } else if role == "heading" {
            "heading"
        } else if matches!(role, "image" | "graphics-document") {
            "img"
        } else {
            "clickable"
        };
        let long = || self.only_listens(id) && self.namer.text(id).len() > NAME_BYTES;
        if word != "textbox" && (self.holds_widgets(id) || long()) {
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
        let flags = self.tree.flags(id);
        if name.is_empty() && word == "clickable" && (flags.pointer() || flags.listens()) {
            // An empty box with a hand: an icon or a cover. It is kept, since it may be all there is.
            let rect = self.tree.element(id).and_then(|element| element.rect);
            if rect.is_none_or(|rect| rect.width < 4 || rect.height < 4) {
                return;
            }
        }
        self.push_widget(id, word, &name, &value, depth);
    }

    /// A clickable box around other controls: a line of its own, its content below it.
    pub(crate) fn clickable_container(&mut self, id: Id, depth: u16) {
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
    pub(crate) fn holds_widgets(&self, id: Id) -> bool {
        self.holds(id, &|at| {
            role::is_widget(role::role(self.tree, at)) || self.tree.flags(at).listens()
        })
    }

    /// Whether an element inside passes a test; taken for true where there is too much to look at.
    fn holds(&self, id: Id, test: &dyn Fn(Id) -> bool) -> bool {
        let mut open: Vec<Id> = self.tree.children(id).collect();
        let mut left = 400;
        while let Some(at) = open.pop() {
            left -= 1;
            if left == 0 {
                return true;
            }
            if self.tree.element(at).is_some() {
                if test(at) {
                    return true;
                }
                open.extend(self.tree.children(at));
            }
        }
        false
    }

    /// Where a submitting control sends its form, if that is another origin.
    fn foreign_action(&self, id: Id) -> Option<String> {
        let submission = self.tree.fact(id, Key::Submission).and_then(record::submission)?;
        let action = address::base(&submission.action);
        (action.has_host() && action.origin() != self.base.origin())
            .then(|| action.origin().ascii_serialization())
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
            pieces.push(match (mark, self.foreign_action(id)) {
                ("submit", Some(origin)) => Piece::Note("submit", format!("to {origin}")),
                _ => Piece::Mark(mark),
            });
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
}

/// Cuts a name, value or address to what a snapshot shows of it.
pub(crate) fn clip(text: &str) -> String {
    if text.len() <= NAME_BYTES {
        return text.to_owned();
    }
    let end = (0..=NAME_BYTES).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    format!("{}…", &text[..end])
}
