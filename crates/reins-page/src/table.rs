//! Data tables: one readable line per row.

use crate::keys::Key;
use crate::line::{Line, Piece};
use crate::outline::Writer;
use crate::role;
use crate::state;
use crate::tree::{Id, Kind};

/// Nodes looked at to tell a table of data from one used for layout.
const LOOK: usize = 4_000;

impl Writer<'_, '_> {
    /// Whether the table holds data. Tables that only lay out a page are read as plain boxes.
    pub(crate) fn is_data_table(&self, id: Id, role: &str) -> bool {
        let tree = self.tree;
        let declared = tree.has(id, Key::Role) && role != "generic";
        let mut marked = declared || tree.has(id, Key::Summary) || tree.has(id, Key::AriaLabel);
        let mut open: Vec<Id> = tree.children(id).collect();
        let (mut rows, mut cells, mut looked) = (0usize, 0usize, 0usize);
        while let Some(at) = open.pop() {
            looked += 1;
            if looked > LOOK {
                break;
            }
            match tree.tag(at) {
                "table" | "iframe" | "form" | "h1" | "h2" => return false,
                "th" | "caption" | "thead" => marked = true,
                "tr" => rows += 1,
                "td" => cells += 1,
                _ => {}
            }
            open.extend(tree.children(at));
        }
        marked || (rows >= 2 && cells >= 2 * rows && self.namer.text(id).len() < 200 * cells)
    }

    pub(crate) fn table(&mut self, id: Id, role: &str, depth: u16) {
        if self.inline > 0 {
            return self.children(id, depth);
        }
        let name = self.namer.name(id, role);
        let mut line = Line::new(depth, self.tree.flags(id).on_screen());
        line.pieces.push(Piece::Text(role.to_owned()));
        if !name.text.is_empty() {
            line.pieces.push(Piece::Quoted(name.text));
        }
        line.container = true;
        let at = self.out.lines.len();
        self.out.lines.push(line);
        let mut rows = 0u32;
        self.rows(id, depth + 1, &mut rows);
        if self.out.lines.len() == at + 1 {
            self.out.lines.pop();
        } else if rows > 20 {
            self.out.lines[at].pieces.push(Piece::Text(format!("[{rows} rows]")));
        }
    }

    fn rows(&mut self, id: Id, depth: u16, count: &mut u32) {
        for child in self.tree.children(id) {
            match &self.tree.node(child).kind {
                Kind::Gap(left_out) => {
                    *count = count.saturating_add(*left_out);
                    self.out.lines.push(Line::gap(depth, *left_out));
                }
                Kind::Text(_) => {}
                Kind::Element(element) => {
                    let tag = self.tree.tag_name(element);
                    if tag == "caption" {
                        continue;
                    }
                    if tag == "tr" || role::role(self.tree, child) == "row" {
                        *count = count.saturating_add(1);
                        self.row(child, depth);
                    } else if matches!(tag, "thead" | "tbody" | "tfoot" | "div" | "ul" | "section")
                    {
                        self.rows(child, depth, count);
                    } else {
                        self.children(child, depth);
                        self.flush(depth);
                    }
                }
            }
        }
    }

    fn row(&mut self, id: Id, depth: u16) {
        let flags = self.tree.flags(id);
        let mut line = Line::new(depth, flags.on_screen());
        let listens = || flags.listens() && !self.holds_widgets(id);
        let clickable = flags.pointer() || self.tree.has(id, Key::OnClick) || listens();
        if clickable && let Some(element) = self.register(id, "row", "") {
            line.pieces.push(Piece::Ref(element));
        }
        for mark in state::marks(self.tree, id, "row") {
            line.pieces.push(Piece::Mark(mark));
        }
        let mut says = false;
        for cell in self.tree.children(id) {
            match self.tree.node(cell).kind {
                Kind::Element(_) => {}
                Kind::Gap(count) => {
                    line.pieces.push(Piece::Bar);
                    line.pieces.push(Piece::Text(format!("… {count} more")));
                    continue;
                }
                Kind::Text(_) => continue,
            }
            let outer = std::mem::take(&mut self.run);
            self.inline += 1;
            let elements = self.out.elements.len();
            let own = self.cell_is_widget(cell);
            if own {
                self.cell_widget(cell, depth);
            } else {
                self.children(cell, depth);
            }
            self.inline -= 1;
            let run = std::mem::replace(&mut self.run, outer);
            let words = run.words;
            let pieces = run.into_pieces();
            says |= self.out.elements.len() > elements
                || pieces
                    .iter()
                    .any(|piece| matches!(piece, Piece::Prose(text) if !text.trim().is_empty()));
            line.pieces.push(Piece::Bar);
            let bare = !pieces.iter().any(|piece| matches!(piece, Piece::Ref(_)));
            line.pieces.extend(pieces);
            // Pages let cells be edited with a double click, and empty ones too.
            if bare && let Some(element) = words.or_else(|| self.register(cell, "cell", "")) {
                line.pieces.push(Piece::Cell(element));
            }
        }
        if says || clickable {
            line.pieces.push(Piece::Bar);
            self.out.lines.push(line);
        }
    }
}
