//! Styles within a line. Marks switch a style on and off as they come, so that the beginning of a
//! line means the same whatever follows.

use console::{Style, measure_text_width};

/// A style.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Inline {
    bold: bool,
    italic: bool,
    code: bool,
    link: bool,
}

impl Inline {
    pub(super) const PLAIN: Self = Self { bold: false, italic: false, code: false, link: false };
    pub(super) const BOLD: Self = Self { bold: true, ..Self::PLAIN };

    /// What two styles share.
    pub(super) fn common(self, other: Self) -> Self {
        if self == other { self } else { Self::PLAIN }
    }

    pub(super) fn console(self) -> Style {
        let mut style = Style::new().force_styling(true);
        if self.bold {
            style = style.bold();
        }
        if self.italic {
            style = style.italic();
        }
        if self.code {
            style = style.cyan();
        }
        if self.link {
            style = style.dim();
        }
        style
    }
}

/// Text in one style.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) text: String,
    pub(super) style: Inline,
}

/// A link that is not closed within this many bytes is no link, and nobody waits for its end.
const LINK_BYTES: usize = 600;

/// How much of an unfinished line has a meaning that the rest cannot change.
pub(super) fn settled(line: &str) -> usize {
    let end = line.trim_end_matches(['*', '_', '`', '\\', '!']).len();
    let open = line[..end].rfind('[').filter(|open| {
        let rest = &line[*open..end];
        let closed = match rest.split_once(']') {
            Some((_, after)) => {
                !after.is_empty() && (!after.starts_with('(') || after.contains(')'))
            }
            None => false,
        };
        !closed && rest.len() < LINK_BYTES
    });
    open.unwrap_or(end)
}

/// A line's text in pieces of one style.
pub(super) fn pieces(text: &str, base: Inline) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut style = base;
    let mut open = String::new();
    let mut rest = text;
    let mut before = ' ';
    while let Some(c) = rest.chars().next() {
        let after = |bytes: usize| rest[bytes..].chars().next().unwrap_or(' ');
        let mut taken = c.len_utf8();
        let edge = |inside: bool, next: char| if inside { before != ' ' } else { next != ' ' };
        match c {
            '`' => {
                flush(&mut open, style, &mut pieces);
                taken = rest.len() - rest.trim_start_matches('`').len();
                style.code = !style.code;
            }
            _ if style.code => open.push(c),
            '\\' if after(1).is_ascii_punctuation() => {
                open.push(after(1));
                taken = 2;
            }
            '*' if rest.starts_with("**") && edge(style.bold != base.bold, after(2)) => {
                flush(&mut open, style, &mut pieces);
                style.bold = !style.bold;
                taken = 2;
            }
            '_' if rest.starts_with("__")
                && word_edge(before, after(2))
                && edge(style.bold != base.bold, after(2)) =>
            {
                flush(&mut open, style, &mut pieces);
                style.bold = !style.bold;
                taken = 2;
            }
            '*' if edge(style.italic, after(1)) && !between_digits(before, after(1)) => {
                flush(&mut open, style, &mut pieces);
                style.italic = !style.italic;
            }
            '_' if word_edge(before, after(1)) && edge(style.italic, after(1)) => {
                flush(&mut open, style, &mut pieces);
                style.italic = !style.italic;
            }
            '!' if rest.starts_with("![") => {}
            '[' => match link(rest) {
                Some((label, target, bytes)) => {
                    flush(&mut open, style, &mut pieces);
                    pieces.push(Piece { text: label.to_owned(), style });
                    if label != target {
                        let style = Inline { link: true, ..style };
                        pieces.push(Piece { text: format!(" ({target})"), style });
                    }
                    taken = bytes;
                }
                None => open.push(c),
            },
            _ => open.push(c),
        }
        before = rest[..taken].chars().next_back().unwrap_or(' ');
        rest = &rest[taken..];
    }
    flush(&mut open, style, &mut pieces);
    pieces
}

/// An underscore within a word is part of it.
fn word_edge(before: char, after: char) -> bool {
    !(before.is_alphanumeric() && after.is_alphanumeric())
}

/// A star between digits multiplies.
fn between_digits(before: char, after: char) -> bool {
    before.is_ascii_digit() && after.is_ascii_digit()
}

fn flush(open: &mut String, style: Inline, pieces: &mut Vec<Piece>) {
    if !open.is_empty() {
        pieces.push(Piece { text: std::mem::take(open), style });
    }
}

/// Label, target and length of a link at the start.
fn link(text: &str) -> Option<(&str, &str, usize)> {
    let end = text.find("](")?;
    let label = &text[1..end];
    let target = &text[end + 2..];
    let close = target.find(')')?;
    let fits = !label.contains('[') && !label.is_empty() && end + 2 + close < LINK_BYTES;
    fits.then(|| (label, target[..close].trim(), end + 2 + close + 1))
}

/// Pieces grouped into words: what stands between spaces.
pub(super) fn words(pieces: Vec<Piece>) -> Vec<Vec<Piece>> {
    let mut words: Vec<Vec<Piece>> = Vec::new();
    let mut word: Vec<Piece> = Vec::new();
    for Piece { text, style } in pieces {
        for (at, part) in text.split([' ', '\t']).enumerate() {
            if at > 0 && !word.is_empty() {
                words.push(std::mem::take(&mut word));
            }
            if !part.is_empty() {
                word.push(Piece { text: part.to_owned(), style });
            }
        }
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

/// Columns that pieces take.
pub(super) fn width(pieces: &[Piece]) -> usize {
    pieces.iter().map(|piece| measure_text_width(&piece.text)).sum()
}

/// Cuts pieces after so many columns; at least one character comes first, so that it goes on.
pub(super) fn split(pieces: Vec<Piece>, room: usize) -> (Vec<Piece>, Vec<Piece>) {
    let (mut head, mut tail): (Vec<Piece>, Vec<Piece>) = (Vec::new(), Vec::new());
    let mut used = 0;
    for Piece { text, style } in pieces {
        let (mut fits, mut over) = (String::new(), String::new());
        for c in text.chars() {
            let columns = measure_text_width(c.encode_utf8(&mut [0; 4]));
            let first = used == 0 && fits.is_empty() && head.is_empty();
            if tail.is_empty() && over.is_empty() && (first || used + columns <= room) {
                used += columns;
                fits.push(c);
            } else {
                over.push(c);
            }
        }
        if !fits.is_empty() {
            head.push(Piece { text: fits, style });
        }
        if !over.is_empty() {
            tail.push(Piece { text: over, style });
        }
    }
    (head, tail)
}
