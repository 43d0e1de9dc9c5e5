//! A model's Markdown as rows of a terminal, while it comes in. Only whole rows are given out, and a
//! row that was given out never changes, so nothing has to be drawn over.

mod inline;
mod table;

use inline::{Inline, Piece};
use std::fmt::Write as _;

/// How rows are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Look {
    /// Columns that a row may take.
    pub(crate) width: usize,
    /// Whether styles may be used.
    pub(crate) colour: bool,
    /// Whether more than ASCII may be drawn by us. The text itself is never changed for it.
    pub(crate) unicode: bool,
}

/// Narrower than this nothing can be laid out; the terminal then wraps by itself.
const NARROWEST: usize = 20;

/// Turns Markdown into rows.
#[derive(Debug)]
pub(crate) struct Markdown {
    look: Look,
    /// The line that is not complete yet.
    pending: String,
    /// Rows of it that were given out.
    given: usize,
    /// The fence that a block of code ends with.
    fence: Option<String>,
    /// Lines of a table that is not complete yet.
    table: Vec<String>,
}

impl Markdown {
    pub(crate) fn new(look: Look) -> Self {
        let look = Look { width: look.width.max(NARROWEST), ..look };
        Self { look, pending: String::new(), given: 0, fence: None, table: Vec::new() }
    }

    /// Takes more text and gives the rows that are complete by it.
    pub(crate) fn push(&mut self, text: &str) -> Vec<String> {
        let mut rows = Vec::new();
        self.pending.push_str(&super::terminal::plain(text));
        while let Some(end) = self.pending.find('\n') {
            let line: String = self.pending.drain(..=end).collect();
            self.line(line.trim_end_matches('\n'), &mut rows);
        }
        self.ahead(&mut rows);
        rows
    }

    /// Gives what is left.
    pub(crate) fn finish(&mut self) -> Vec<String> {
        let mut rows = Vec::new();
        let line = std::mem::take(&mut self.pending);
        if !line.is_empty() {
            self.line(&line, &mut rows);
        }
        self.end_table(&mut rows);
        self.fence = None;
        rows
    }

    /// Rows of a long paragraph that are full before its line ends.
    fn ahead(&mut self, rows: &mut Vec<String>) {
        let cut = inline::settled(&self.pending);
        let is_prose = self.fence.is_none() && self.table.is_empty();
        if !is_prose || cut < self.look.width || is_table_line(&self.pending) {
            return;
        }
        let laid = self.laid(&self.pending[..cut]);
        let full = laid.len().saturating_sub(1);
        if full > self.given {
            rows.extend(laid[self.given..full].iter().cloned());
            self.given = full;
        }
    }

    fn line(&mut self, line: &str, rows: &mut Vec<String>) {
        if let Some(fence) = &self.fence {
            if line.trim_start().starts_with(fence.as_str())
                && line.trim().chars().all(|c| fence.starts_with(c))
            {
                self.fence = None;
            } else {
                rows.push(self.code(line));
            }
            return;
        }
        if is_table_line(line) {
            self.table.push(line.to_owned());
            return;
        }
        self.end_table(rows);
        if let Some(fence) = fence(line) {
            self.fence = Some(fence);
            return;
        }
        let laid = self.laid(line);
        rows.extend(laid.into_iter().skip(std::mem::take(&mut self.given)));
    }

    fn end_table(&mut self, rows: &mut Vec<String>) {
        let lines = std::mem::take(&mut self.table);
        if lines.is_empty() {
            return;
        }
        match table::laid(&lines, self.look) {
            Some(laid) => rows.extend(laid),
            // It only looked like one.
            None => rows.extend(lines.iter().flat_map(|line| self.laid(line))),
        }
    }

    /// Code is not wrapped: it may be copied.
    fn code(&self, line: &str) -> String {
        let line = format!("    {line}");
        if self.look.colour {
            console::Style::new().cyan().force_styling(true).apply_to(line).to_string()
        } else {
            line
        }
    }

    /// A line of prose as rows.
    fn laid(&self, line: &str) -> Vec<String> {
        let Look { width, unicode, .. } = self.look;
        let block = Block::of(line);
        if let Block::Rule = block {
            return vec![(if unicode { "─" } else { "-" }).repeat(width.min(RULE))];
        }
        let (first, rest, text, style) = match &block {
            Block::Heading(text) => (String::new(), String::new(), *text, Inline::BOLD),
            Block::Item { indent, mark, text } => {
                let mark = match (*mark, unicode) {
                    ("-" | "*" | "+", true) => "•",
                    (mark, _) => mark,
                };
                let first = format!("{}{mark} ", " ".repeat(*indent));
                let rest = " ".repeat(console::measure_text_width(&first));
                (first, rest, *text, Inline::PLAIN)
            }
            Block::Quote(text) => {
                let bar = if unicode { "│ " } else { "| " };
                (bar.to_owned(), bar.to_owned(), *text, Inline::PLAIN)
            }
            Block::Rule | Block::Prose("") => return vec![String::new()],
            Block::Prose(text) => (String::new(), String::new(), *text, Inline::PLAIN),
        };
        let pieces = inline::pieces(text, style);
        let room = width.saturating_sub(console::measure_text_width(&first)).max(NARROWEST / 2);
        let mut rows = Vec::new();
        for row in wrapped(pieces, room) {
            let lead = if rows.is_empty() { &first } else { &rest };
            rows.push(format!("{lead}{}", drawn(&row, self.look.colour)));
        }
        if rows.is_empty() {
            rows.push(first.trim_end().to_owned());
        }
        rows
    }
}

/// Text that is complete, as rows.
pub(crate) fn rows(text: &str, look: Look) -> Vec<String> {
    let mut markdown = Markdown::new(look);
    let mut rows = markdown.push(text);
    rows.extend(markdown.finish());
    rows
}

/// A rule is a pause, and need not be as wide as the screen.
const RULE: usize = 40;

/// What a line is.
enum Block<'a> {
    Heading(&'a str),
    Item { indent: usize, mark: &'a str, text: &'a str },
    Quote(&'a str),
    Rule,
    Prose(&'a str),
}

impl<'a> Block<'a> {
    fn of(line: &'a str) -> Self {
        let text = line.trim_start();
        let indent = line.len() - text.len();
        let text = text.trim_end();
        let hashes = text.len() - text.trim_start_matches('#').len();
        if (1..=6).contains(&hashes) && text[hashes..].starts_with(' ') {
            return Self::Heading(text[hashes..].trim().trim_end_matches('#').trim_end());
        }
        let bare: String = text.chars().filter(|c| *c != ' ').collect();
        if bare.len() >= 3 && ["-", "*", "_"].iter().any(|mark| bare.replace(*mark, "").is_empty())
        {
            return Self::Rule;
        }
        if let Some(quoted) = text.strip_prefix('>') {
            return Self::Quote(quoted.trim_start());
        }
        if let Some((mark, rest)) = text.split_once(' ') {
            let number = mark.trim_end_matches(['.', ')']);
            let numbered = number.len() < mark.len()
                && (1..=3).contains(&number.len())
                && number.bytes().all(|b| b.is_ascii_digit());
            if numbered || matches!(mark, "-" | "*" | "+") {
                return Self::Item { indent: indent.min(8), mark, text: rest.trim_start() };
            }
        }
        Self::Prose(text)
    }
}

fn fence(line: &str) -> Option<String> {
    let line = line.trim_start();
    let mark = line.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let count = line.chars().take_while(|c| *c == mark).count();
    (count >= 3).then(|| mark.to_string().repeat(count))
}

fn is_table_line(line: &str) -> bool {
    let line = line.trim();
    line.len() > 1 && line.starts_with('|')
}

/// Pieces in rows of a width, broken at spaces where there are any.
fn wrapped(pieces: Vec<Piece>, room: usize) -> Vec<Vec<Piece>> {
    let mut rows: Vec<Vec<Piece>> = Vec::new();
    let (mut row, mut used): (Vec<Piece>, usize) = (Vec::new(), 0);
    for mut word in inline::words(pieces) {
        let mut width = inline::width(&word);
        if used > 0 && used + 1 + width > room {
            rows.push(std::mem::take(&mut row));
            used = 0;
        }
        if used > 0 {
            // The space belongs to the style of what it stands between.
            let style = row.last().map_or(Inline::PLAIN, |piece| piece.style);
            let next = word.first().map_or(Inline::PLAIN, |piece| piece.style);
            row.push(Piece { text: " ".to_owned(), style: style.common(next) });
            used += 1;
        }
        // An address without spaces is cut rather than broken off the screen.
        while width > room {
            let (head, tail) = inline::split(word, room);
            row.extend(head);
            rows.push(std::mem::take(&mut row));
            word = tail;
            width = inline::width(&word);
            used = 0;
        }
        used += width;
        row.extend(word);
    }
    if !row.is_empty() {
        rows.push(row);
    }
    rows
}

fn drawn(row: &[Piece], colour: bool) -> String {
    let mut out = String::new();
    let mut at = 0;
    while at < row.len() {
        let style = row[at].style;
        let run = row[at..].iter().take_while(|piece| piece.style == style).count();
        let text: String = row[at..at + run].iter().map(|piece| piece.text.as_str()).collect();
        if colour && style != Inline::PLAIN {
            // Writing to a String cannot fail.
            let _ = write!(out, "{}", style.console().apply_to(text));
        } else {
            out.push_str(&text);
        }
        at += run;
    }
    out
}

#[cfg(test)]
mod tests;
