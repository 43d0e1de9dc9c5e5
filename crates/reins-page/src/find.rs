//! Searching a page's text, all of it and not only what a snapshot had room for.

use crate::line::{Line, Piece};
use crate::name::squeeze;
use crate::registry::RefRegistry;
use crate::snapshot::PrivateSnapshot;
use crate::tokens::estimate_tokens;

/// Matches shown at most.
const MATCHES: usize = 40;
/// Estimated tokens of one answer.
const FIND_TOKENS: usize = 3_000;
/// A matching line of running text is cut to this around the match.
const AROUND_BYTES: usize = 240;

/// The lines that match, with refs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The matching lines below the headings they stand under. Not yet wrapped as untrusted.
    pub text: String,
    /// All lines that match.
    pub matches: usize,
    /// Those among them that are in `text`.
    pub shown: usize,
    /// Whether the words were only found apart, not as the phrase that was asked for.
    pub apart: bool,
    /// Elements that the reading did not go through.
    pub unread: u32,
}

impl RefRegistry {
    /// Finds a phrase, or else lines with all its words, whatever the case. What is shown counts as
    /// published: its refs and addresses can be used.
    pub fn find(&mut self, snapshot: &PrivateSnapshot, query: &str) -> Found {
        let phrase = squeeze(query).to_lowercase();
        let words: Vec<&str> = phrase.split(' ').filter(|word| !word.is_empty()).collect();
        let texts: Vec<String> =
            snapshot.lines.iter().map(|line| plain(line).to_lowercase()).collect();
        let hits = |test: &dyn Fn(&str) -> bool| -> Vec<usize> {
            (0..texts.len()).filter(|at| test(&texts[*at])).collect()
        };
        let mut apart = false;
        let mut found = Vec::new();
        if !words.is_empty() {
            found = hits(&|text| text.contains(&phrase));
            if found.is_empty() && words.len() > 1 {
                apart = true;
                found = hits(&|text| words.iter().all(|word| text.contains(word)));
            }
        }
        let mut answer = Found {
            text: String::new(),
            matches: found.len(),
            shown: 0,
            apart,
            unread: snapshot.unread(),
        };
        let mut left = FIND_TOKENS;
        let mut last_place = String::new();
        for at in found.into_iter().take(MATCHES) {
            let place = place_of(&snapshot.lines, at);
            let short = texts[at].len() <= 2 * AROUND_BYTES;
            let mut line = if short {
                self.show(snapshot, &with_cells(&snapshot.lines[at]))
            } else {
                self.show(snapshot, &snapshot.lines[at])
            };
            let mut pointed = String::new();
            if let (true, Some(words)) = (line.refs.is_empty(), snapshot.lines[at].words) {
                // Plain text can be what a page wants clicked or dragged.
                let piece = Line { pieces: vec![Piece::Ref(words)], ..Line::new(0, true) };
                let piece = self.show(snapshot, &piece);
                pointed = piece.text.trim_start_matches('-').to_owned();
                line.refs.extend(piece.refs);
            }
            let mut text = line.text.trim_start().to_owned();
            if line.refs.is_empty() || !pointed.is_empty() {
                text = around(&text, &phrase);
                text.push_str(&pointed);
            }
            let mut said = String::new();
            if place != last_place && !place.is_empty() {
                said.push_str(&format!("({place})\n"));
            }
            said.push_str(&text);
            let cost = estimate_tokens(&said) + 1;
            if cost > left {
                break;
            }
            left -= cost;
            last_place = place;
            if !answer.text.is_empty() {
                answer.text.push('\n');
            }
            answer.text.push_str(&said);
            answer.shown += 1;
        }
        answer
    }
}

/// A row of a table, whose cells can be pointed at too.
fn with_cells(line: &Line) -> Line {
    let mut pieces = Vec::new();
    for piece in &line.pieces {
        match piece {
            Piece::Cell(element) => {
                if !matches!(pieces.last(), Some(Piece::Bar)) {
                    pieces.push(Piece::Prose(" ".to_owned()));
                }
                pieces.push(Piece::Ref(*element));
            }
            other => pieces.push(other.clone()),
        }
    }
    Line { pieces, ..line.clone() }
}

fn plain(line: &Line) -> String {
    line.render(&|_| None).trim_start().to_owned()
}

/// Where a line stands: the nearest heading before it, else the container around it.
fn place_of(lines: &[Line], at: usize) -> String {
    let depth = lines[at].depth;
    for line in lines[..at].iter().rev() {
        let heading =
            matches!(line.pieces.first(), Some(Piece::Prose(text)) if text.starts_with('#'));
        if heading || (line.container && line.depth < depth) {
            let text = plain(line);
            let text = text.strip_prefix("- ").unwrap_or(&text);
            return text.chars().take(100).collect();
        }
    }
    String::new()
}

/// The part of a long text around the match.
fn around(text: &str, phrase: &str) -> String {
    if text.len() <= 2 * AROUND_BYTES {
        return text.to_owned();
    }
    let lower = text.to_lowercase();
    // Lower-casing can move bytes in a few scripts; the place is only where to cut.
    let hit = lower.find(phrase).unwrap_or(0).min(text.len());
    let boundary = |at: usize| (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    let begin = boundary(hit.saturating_sub(AROUND_BYTES));
    let end = boundary((hit + phrase.len() + AROUND_BYTES).min(text.len()));
    let before = if begin > 0 { "- …" } else { "" };
    let after = if end < text.len() { "…" } else { "" };
    format!("{before}{}{after}", &text[begin..end])
}
