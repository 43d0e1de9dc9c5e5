//! Results that were too long for one answer, kept for paging.

use crate::reply::Stored;
use std::collections::VecDeque;

/// Kept results together stay below this; the oldest go first. A daemon that lives for days must
/// not grow with what it once read.
const KEPT_BYTES: usize = 8 * 1024 * 1024;

/// Bounded store of long results.
#[derive(Debug, Default)]
pub(crate) struct Results {
    bytes: usize,
    kept: VecDeque<Kept>,
}

#[derive(Debug)]
struct Kept {
    about: Stored,
    body: Vec<u8>,
}

impl Results {
    /// Keeps a result under a number that no other result has, and says its address.
    pub(crate) fn keep(
        &mut self,
        number: u64,
        name: &str,
        mime: &'static str,
        body: Vec<u8>,
    ) -> Stored {
        let about = Stored {
            uri: format!("reins://result/{number}"),
            name: name.to_owned(),
            mime,
            bytes: body.len(),
        };
        self.bytes += body.len();
        self.kept.push_back(Kept { about: about.clone(), body });
        while self.bytes > KEPT_BYTES && self.kept.len() > 1 {
            if let Some(old) = self.kept.pop_front() {
                self.bytes -= old.body.len();
            }
        }
        about
    }

    /// A kept result.
    pub(crate) fn get(&self, uri: &str) -> Option<(&Stored, &[u8])> {
        self.kept.iter().find(|kept| kept.about.uri == uri).map(|k| (&k.about, k.body.as_slice()))
    }

    /// All that is kept, newest last.
    pub(crate) fn list(&self) -> Vec<Stored> {
        self.kept.iter().map(|kept| kept.about.clone()).collect()
    }
}

/// The longest piece of a text that starts at `offset`, fits `limit` bytes and cuts no character;
/// whole lines where there is one.
pub(crate) fn piece(text: &str, offset: usize, limit: usize) -> &str {
    let mut start = offset.min(text.len());
    while !text.is_char_boundary(start) {
        start += 1;
    }
    let mut end = start.saturating_add(limit).min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let piece = &text[start..end];
    if end == text.len() {
        return piece;
    }
    match piece.rfind('\n') {
        Some(line) if line > 0 => &piece[..=line],
        _ => piece,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_join_to_the_whole_text() {
        let text = "aé\nbb\n\nccc\u{1f600}ddd\nend";
        for limit in 4..20 {
            let (mut offset, mut joined) = (0, String::new());
            while offset < text.len() {
                let part = piece(text, offset, limit);
                assert!(!part.is_empty(), "limit {limit} stuck at {offset}");
                joined.push_str(part);
                offset += part.len();
            }
            assert_eq!(joined, text);
        }
    }

    #[test]
    fn the_oldest_results_go_first() {
        let mut results = Results::default();
        let first = results.keep(1, "a", "text/plain", vec![0; KEPT_BYTES / 2]);
        let second = results.keep(2, "b", "text/plain", vec![0; KEPT_BYTES / 2]);
        let third = results.keep(3, "c", "text/plain", vec![0; 10]);
        assert!(results.get(&first.uri).is_none());
        assert!(results.get(&second.uri).is_some() && results.get(&third.uri).is_some());
    }
}
