//! The readable text of a page as Markdown: the same reading as snapshots, so the same filter.

use crate::line::{Line, Piece};
use crate::registry::paginate;
use crate::snapshot::PrivateSnapshot;
use crate::tokens::estimate_tokens;
use reins_core::limits::RESULT_BYTES;

/// A main part with less text than this does not stand for the page.
const MAIN_BYTES: usize = 400;

/// What of a page's text is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextOptions {
    /// Navigation, banners and footers as well, though the page has a main part.
    pub everything: bool,
    /// Bytes of one page of text.
    pub hard_bytes: usize,
}

impl Default for TextOptions {
    fn default() -> Self {
        Self { everything: false, hard_bytes: RESULT_BYTES }
    }
}

/// A page's readable text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageText {
    /// The text in parts of at most `hard_bytes`; never empty.
    pub parts: Vec<String>,
    /// Estimated tokens of all parts.
    pub tokens: usize,
    /// Lines of navigation and the like that were left out.
    pub left_out: usize,
    /// Elements that the reading did not go through.
    pub unread: u32,
}

/// Writes the readable text of a page, best from a capture of everything.
///
/// Text of all frames and shadow trees is in it, hidden text and secrets are not.
/// If the page has a main part that says enough, only that is written.
pub fn page_text(snapshot: &PrivateSnapshot, options: &TextOptions) -> PageText {
    let lines = &snapshot.lines;
    let main = if options.everything { None } else { main_part(lines) };
    let range = main.clone().unwrap_or(0..lines.len());
    let mut blocks: Vec<String> = Vec::new();
    // Rows of a table and items of a list stay together, a table and a list do not.
    let mut before = (false, false);
    for line in &lines[range.clone()] {
        let text = markdown(line);
        if text.is_empty() {
            continue;
        }
        let kind = (text.starts_with('|'), line.item);
        match blocks.last_mut() {
            Some(last) if kind == before && kind != (false, false) => {
                last.push('\n');
                last.push_str(&text);
            }
            _ => blocks.push(text),
        }
        before = kind;
    }
    let joined: Vec<String> =
        blocks.iter().flat_map(|block| [block.clone(), String::new()]).collect();
    let mut parts = paginate(&joined, options.hard_bytes);
    for part in &mut parts {
        part.truncate(part.trim_end().len());
    }
    parts.retain(|part| !part.is_empty());
    if parts.is_empty() {
        parts.push(String::new());
    }
    PageText {
        tokens: parts.iter().map(|part| estimate_tokens(part)).sum(),
        parts,
        left_out: lines.len() - range.len(),
        unread: snapshot.unread(),
    }
}

/// The lines inside the page's main landmark, if they say enough.
fn main_part(lines: &[Line]) -> Option<std::ops::Range<usize>> {
    let at = lines.iter().position(|line| {
        line.container && matches!(line.pieces.first(), Some(Piece::Text(role)) if role == "main")
    })?;
    let depth = lines[at].depth;
    let length = lines[at + 1..].iter().take_while(|line| line.depth > depth).count();
    let range = at + 1..at + 1 + length;
    let bytes: usize = lines[range.clone()].iter().map(|line| markdown(line).len()).sum();
    (bytes >= MAIN_BYTES).then_some(range)
}

/// One line without refs and marks: names of controls are read as text.
pub(crate) fn markdown(line: &Line) -> String {
    if line.container || line.gap > 0 {
        return String::new();
    }
    let mut out = String::new();
    if line.item
        && !matches!(line.pieces.first(), Some(Piece::Prose(text)) if starts_numbered(text))
    {
        out.push_str("- ");
    }
    let row = line.pieces.contains(&Piece::Bar);
    // A line that is one control begins with our word for it; inside braces it is the same.
    let mut in_control = !row && matches!(line.pieces.first(), Some(Piece::Text(_)));
    let mut named = false;
    for piece in &line.pieces {
        match piece {
            Piece::Open => (in_control, named) = (true, false),
            Piece::Close => in_control = false,
            Piece::Quoted(text) => {
                out.push_str(text);
                named = true;
            }
            Piece::Value(text) => {
                if named {
                    out.push_str(": ");
                }
                out.push_str(text);
            }
            Piece::Prose(text) => out.push_str(text),
            Piece::Bar => {
                out.truncate(out.trim_end().len());
                if !out.is_empty() {
                    out.push(' ');
                }
                out.push_str("| ");
            }
            Piece::Text(text) if !in_control && !row => out.push_str(text),
            _ => {}
        }
    }
    out.truncate(out.trim_end().len());
    if out == "-" { String::new() } else { out }
}

fn starts_numbered(text: &str) -> bool {
    let digits = text.trim_start_matches(|c: char| c.is_ascii_digit());
    digits.len() < text.len() && digits.starts_with(". ")
}
