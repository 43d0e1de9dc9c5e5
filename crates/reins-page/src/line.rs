//! Lines in the making: pieces of text, refs still to be given, and runs of inline content.

use crate::name::{is_invisible_format, squeeze};
use reins_core::{NodeNumber, Ref, Submission};
use std::fmt::Write;

/// An element that a line mentions and that can be acted on.
#[derive(Clone, Debug)]
pub(crate) struct Element {
    pub(crate) frame: usize,
    pub(crate) node: NodeNumber,
    pub(crate) role: String,
    pub(crate) name: String,
    pub(crate) link: Option<String>,
    pub(crate) submission: Option<Submission>,
}

/// A part of a line. What comes from the page and what is ours are kept apart until the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    /// Our own words and marks.
    Text(String),
    /// A name, in quotes.
    Quoted(String),
    /// The ref of an element, once it has one.
    Ref(usize),
    /// A state, in brackets.
    Mark(&'static str),
    /// Text of the page as a mark: hints and options.
    Note(&'static str, String),
    /// The options are those already shown at another element.
    OptionsOf(usize),
    /// A link's address.
    Address(String),
    /// A value or the text of a message, after a colon.
    Value(String),
    /// Running text of the page.
    Prose(String),
    /// Around a control within running text.
    Open,
    Close,
    /// Between the cells of a row.
    Bar,
    /// The element of a cell that holds no control. Only a search shows its ref.
    Cell(usize),
}

/// A line of the snapshot without its final refs.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    pub(crate) depth: u16,
    pub(crate) on_screen: bool,
    pub(crate) pieces: Vec<Piece>,
    /// The element the line is about, if it is about just one.
    pub(crate) about: Option<usize>,
    /// The element whose text it begins with, for a line that has nothing else to point at.
    pub(crate) words: Option<usize>,
    /// Whether the lines below it with more depth belong to it.
    pub(crate) container: bool,
    /// Sibling subtrees that the capture itself left out here.
    pub(crate) gap: u32,
    /// Reached only because it was on screen, beyond what was read in document order.
    pub(crate) extra: bool,
    /// An item of a list.
    pub(crate) item: bool,
}

impl Line {
    pub(crate) fn new(depth: u16, on_screen: bool) -> Self {
        Self {
            depth,
            on_screen,
            pieces: Vec::new(),
            about: None,
            words: None,
            container: false,
            gap: 0,
            extra: false,
            item: false,
        }
    }

    pub(crate) fn gap(depth: u16, count: u32) -> Self {
        Self { gap: count, ..Self::new(depth, false) }
    }

    /// The line's text. `refs` gives the ref of an element by its index.
    pub(crate) fn render(&self, refs: &dyn Fn(usize) -> Option<Ref>) -> String {
        let mut out = String::with_capacity(96);
        for _ in 0..self.depth.min(40) {
            out.push_str("  ");
        }
        if self.gap > 0 {
            let _ = write!(out, "… {} more", self.gap);
            return out;
        }
        out.push_str("- ");
        let indent = out.len();
        let mut glue = true;
        for piece in self.pieces.iter().filter(|piece| !matches!(piece, Piece::Cell(_))) {
            let spaced = !glue && !out.ends_with(' ');
            glue = false;
            match piece {
                Piece::Text(text) => word(&mut out, spaced, text),
                Piece::Quoted(text) => {
                    word(&mut out, spaced, "");
                    out.push('"');
                    defused(&mut out, &text.replace('"', "\\\""));
                    out.push('"');
                }
                Piece::Ref(element) => {
                    if let Some(r) = refs(*element) {
                        word(&mut out, spaced, "");
                        let _ = write!(out, "[ref={r}]");
                    }
                }
                Piece::Mark(mark) => {
                    word(&mut out, spaced, "");
                    let _ = write!(out, "[{mark}]");
                }
                Piece::Note(kind, text) => {
                    word(&mut out, spaced, "");
                    let _ = write!(out, "[{kind}: ");
                    defused(&mut out, text);
                    out.push(']');
                }
                Piece::OptionsOf(element) => {
                    if let Some(r) = refs(*element) {
                        word(&mut out, spaced, "");
                        let _ = write!(out, "[choices as {r}]");
                    }
                }
                Piece::Address(address) => {
                    word(&mut out, spaced, "");
                    defused(&mut out, address);
                }
                Piece::Value(value) => {
                    out.push_str(": ");
                    defused(&mut out, value);
                }
                Piece::Prose(text) => {
                    if text.contains('\n') {
                        let indent = "  ".repeat(usize::from(self.depth.min(40)) + 1);
                        defused(&mut out, &text.replace('\n', &format!("\n{indent}")));
                    } else {
                        defused(&mut out, text);
                    }
                    glue = true;
                }
                Piece::Open => {
                    if out.ends_with(|c: char| c.is_alphanumeric() || c == '}') {
                        out.push(' ');
                    }
                    out.push('{');
                    glue = true;
                }
                Piece::Close => {
                    out.push('}');
                    glue = true;
                }
                Piece::Bar => {
                    let trimmed = out.trim_end().len().max(indent);
                    out.truncate(trimmed);
                    if out.len() > indent {
                        out.push(' ');
                    }
                    out.push_str("| ");
                    glue = true;
                }
                Piece::Cell(_) => {}
            }
        }
        let trimmed = out.trim_end().len();
        out.truncate(trimmed);
        out
    }
}

fn word(out: &mut String, spaced: bool, text: &str) {
    if spaced {
        out.push(' ');
    }
    out.push_str(text);
}

/// Page text must not be able to write a ref of its own.
fn defused(out: &mut String, text: &str) {
    if text.contains("[ref") {
        out.push_str(&text.replace("[ref", "(ref"));
    } else {
        out.push_str(text);
    }
}

#[derive(Clone, Debug)]
enum Part {
    Prose(String),
    Widget { pieces: Vec<Piece>, element: Option<usize> },
}

/// Inline content that has not been written yet.
#[derive(Clone, Debug, Default)]
pub(crate) struct Run {
    parts: Vec<Part>,
    on_screen: bool,
    /// A space belongs before the next word.
    apart: bool,
    /// Written in front: `## `, `3. `.
    pub(crate) mark: Option<String>,
    /// Line breaks in the text are part of it.
    pub(crate) keep_lines: bool,
    /// What is written next belongs to an item of a list.
    pub(crate) item: bool,
    /// The element of its first text, if it has a number.
    pub(crate) words: Option<usize>,
    /// Stays one line even if it holds nothing but controls.
    pub(crate) together: bool,
}

impl Run {
    pub(crate) fn text(&mut self, text: &str, on_screen: bool) {
        self.on_screen |= on_screen;
        if std::mem::take(&mut self.apart) && !text.starts_with(closes) {
            self.hard_space();
        }
        if let Some(Part::Prose(last)) = self.parts.last_mut() {
            last.push_str(text);
        } else {
            self.parts.push(Part::Prose(text.to_owned()));
        }
    }

    /// Parts words without ending the line, but not a word from its full stop.
    pub(crate) fn space(&mut self) {
        self.apart = true;
    }

    fn hard_space(&mut self) {
        if let Some(Part::Prose(last)) = self.parts.last_mut() {
            last.push(' ');
        } else if !self.parts.is_empty() {
            self.parts.push(Part::Prose(" ".to_owned()));
        }
    }

    pub(crate) fn line_break(&mut self) {
        if self.keep_lines {
            self.text("\n", false);
        } else {
            self.hard_space();
        }
    }

    pub(crate) fn widget(&mut self, pieces: Vec<Piece>, element: Option<usize>, on_screen: bool) {
        self.on_screen |= on_screen;
        if std::mem::take(&mut self.apart) {
            self.hard_space();
        }
        self.parts.push(Part::Widget { pieces, element });
    }

    /// The run's text if it holds nothing else.
    pub(crate) fn plain_text(&self) -> String {
        match self.parts.as_slice() {
            [Part::Prose(text)] => squeeze(text),
            _ => String::new(),
        }
    }

    /// The pieces of the run in one row, without a line of its own.
    pub(crate) fn into_pieces(self) -> Vec<Piece> {
        let mut pieces = Vec::new();
        for part in self.parts {
            match part {
                Part::Prose(text) => {
                    let text = loose(&text);
                    if !text.is_empty() {
                        pieces.push(Piece::Prose(text));
                    }
                }
                Part::Widget { pieces: inner, .. } => {
                    pieces.push(Piece::Open);
                    pieces.extend(inner);
                    pieces.push(Piece::Close);
                }
            }
        }
        if let Some(Piece::Prose(first)) = pieces.first_mut() {
            *first = first.trim_start().to_owned();
        }
        pieces
    }

    /// Writes the run as lines.
    pub(crate) fn write(mut self, depth: u16, lines: &mut Vec<Line>) {
        if self.keep_lines
            && self
                .parts
                .iter()
                .any(|part| matches!(part, Part::Prose(text) if text.trim().contains('\n')))
        {
            return self.write_fenced(depth, lines);
        }
        let says =
            self.parts.iter().any(|part| matches!(part, Part::Prose(text) if says_something(text)));
        let widgets = self.parts.iter().filter(|part| matches!(part, Part::Widget { .. })).count();
        if !says && widgets == 0 {
            return;
        }
        let on_screen = self.on_screen;
        let item = self.item;
        let words = self.words;
        let line = || Line { item, words, ..Line::new(depth, on_screen) };
        let mark = self.mark.take();
        if !says && !self.together {
            for part in self.parts {
                if let Part::Widget { pieces, element } = part {
                    lines.push(Line { pieces, about: element, ..line() });
                }
            }
            return;
        }
        let mut pieces = Vec::new();
        pieces.extend(mark.map(Piece::Prose));
        let about = match self
            .parts
            .iter()
            .filter(|part| matches!(part, Part::Widget { .. }))
            .collect::<Vec<_>>()
            .as_slice()
        {
            [Part::Widget { element, .. }] => *element,
            _ => None,
        };
        pieces.extend(self.into_pieces());
        lines.push(Line { pieces, about, ..line() });
    }

    fn write_fenced(self, depth: u16, lines: &mut Vec<Line>) {
        let mut line = Line::new(depth, self.on_screen);
        line.pieces.push(Piece::Prose("```".to_owned()));
        let mut parts = self.parts.into_iter().peekable();
        let mut first = true;
        while let Some(part) = parts.next() {
            match part {
                Part::Prose(text) => {
                    let text: String = text
                        .chars()
                        .filter(|c| {
                            (!c.is_control() || matches!(c, '\n' | '\t'))
                                && !is_invisible_format(*c)
                        })
                        .collect();
                    let mut text = text.replace("```", "'''");
                    if first {
                        text = format!("\n{}", text.trim_start_matches('\n'));
                    }
                    if parts.peek().is_none() {
                        text.truncate(text.trim_end().len());
                    }
                    line.pieces.push(Piece::Prose(text));
                }
                Part::Widget { pieces, .. } => {
                    line.pieces.push(Piece::Open);
                    line.pieces.extend(pieces);
                    line.pieces.push(Piece::Close);
                }
            }
            first = false;
        }
        line.pieces.push(Piece::Prose("\n```".to_owned()));
        lines.push(line);
    }
}

/// Marks that close what is before them.
fn closes(c: char) -> bool {
    matches!(c, '.' | ',' | ';' | ':' | '!' | '?' | ')' | ']' | '}' | '…' | '。' | '、' | '」')
}

/// White space squeezed, one space kept at the ends.
fn loose(text: &str) -> String {
    let inner = squeeze(text);
    let starts = text.starts_with(char::is_whitespace);
    let ends = text.ends_with(char::is_whitespace);
    match (inner.is_empty(), starts, ends) {
        (true, false, false) => String::new(),
        (true, ..) => " ".to_owned(),
        (false, ..) => {
            format!("{}{inner}{}", if starts { " " } else { "" }, if ends { " " } else { "" })
        }
    }
}

/// Whether text is more than separators between links.
fn says_something(text: &str) -> bool {
    text.chars().any(|c| {
        !c.is_whitespace()
            && !c.is_control()
            && !is_invisible_format(c)
            && !matches!(
                c,
                '|' | '·'
                    | '•'
                    | '/'
                    | '\\'
                    | ','
                    | ';'
                    | ':'
                    | '.'
                    | '-'
                    | '–'
                    | '—'
                    | '>'
                    | '<'
                    | '›'
                    | '‹'
                    | '»'
                    | '«'
                    | '*'
                    | '_'
                    | '('
                    | ')'
                    | '['
                    | ']'
            )
            && !matches!(c, '\u{E000}'..='\u{F8FF}')
    })
}
