//! Headings, pictures, landmarks, groups, messages and frames.

use crate::keys::Key;
use crate::line::{Line, Piece, Run};
use crate::name::{From, Name};
use crate::outline::{MAX_DEPTH, Writer};
use crate::role;
use crate::state;
use crate::tree::{Display, Id};

impl Writer<'_, '_> {
    pub(crate) fn heading(&mut self, id: Id, depth: u16) {
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
        if !self.container_name.is_empty() && self.run.plain_text() == self.container_name {
            self.run = Run::default();
        }
        self.run.mark = Some(format!("{} ", "#".repeat(level)));
        self.run.together = true;
        self.flush(depth);
    }

    pub(crate) fn picture(&mut self, id: Id, role: &str) {
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

    pub(crate) fn gauge(&mut self, id: Id, role: &str, depth: u16) {
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
    pub(crate) fn container(&mut self, id: Id, role: &str, depth: u16) {
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
        // A search gives it a ref: it may scroll, or be what something is dropped on.
        line.words = self.register(id, role, &name);
        self.out.lines.push(line);
        let outer = std::mem::replace(&mut self.container_name, name.clone());
        self.children(id, depth + 1);
        self.flush(depth + 1);
        self.container_name = outer;
        self.fold_container(at, depth, role, !name.is_empty());
    }

    /// Takes back a container line that holds too little to be worth it.
    pub(crate) fn fold_container(&mut self, at: usize, depth: u16, role: &str, named: bool) {
        let inside = self.out.lines.len() - at - 1;
        // One thing in a part that has a name of its own: what it is in can be all that counts.
        let apart = || {
            let name = self.out.lines[at].pieces.iter().find_map(|piece| match piece {
                Piece::Quoted(name) => Some(name.as_str()),
                _ => None,
            });
            let inner = self.out.lines[at + 1].render(&|_| None);
            matches!(role, "region" | "list") && name.is_some_and(|name| !inner.contains(name))
        };
        let keep =
            inside > 0 && (is_dialog(role) || (named && (inside > 1 || apart())) || inside > 2);
        if keep {
            return;
        }
        self.out.lines.remove(at);
        for line in &mut self.out.lines[at..] {
            line.depth = line.depth.saturating_sub(1).max(depth);
        }
    }

    /// Whether the name comes from an element inside that is shown anyway.
    pub(crate) fn names_from_inside(&self, id: Id) -> bool {
        self.tree
            .references(id, Key::AriaLabelledBy)
            .iter()
            .any(|target| self.tree.ancestors(*target).any(|at| at == id))
    }

    /// Alerts, status messages and the like: the role in front of the text.
    pub(crate) fn live(&mut self, id: Id, role: &str, depth: u16) {
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
    pub(crate) fn inner_frame(&mut self, id: Id, depth: u16) {
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
}

fn is_live(role: &str) -> bool {
    matches!(role, "alert" | "status" | "log" | "timer" | "tooltip" | "marquee")
}

fn is_dialog(role: &str) -> bool {
    matches!(role, "dialog" | "alertdialog")
}

pub(crate) fn is_container(role: &str) -> bool {
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
