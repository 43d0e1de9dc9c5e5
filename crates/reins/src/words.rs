//! The model's words on the screen while they come: rendered where a terminal shows them, exact
//! where a file or a pipe takes them.

use crate::markdown::{Look, Markdown};
use console::Term;

/// What is on the screen of the words that come just now.
#[derive(Debug, Default)]
pub(crate) struct Words {
    markdown: Option<Markdown>,
    /// The text as it came.
    text: String,
    /// Rows of it on the screen.
    rows: usize,
}

impl Words {
    /// Shows more of them.
    pub(crate) fn push(&mut self, text: &str, look: Look, out: &Term) {
        self.text.push_str(text);
        let rows = self.markdown.get_or_insert_with(|| Markdown::new(look)).push(text);
        self.show(&rows, out);
    }

    /// Shows what is left and gives back the text; the next words are others.
    pub(crate) fn finish(&mut self, out: Option<&Term>) -> String {
        if let (Some(mut markdown), Some(out)) = (self.markdown.take(), out) {
            let rows = markdown.finish();
            self.show(&rows, out);
        }
        self.rows = 0;
        std::mem::take(&mut self.text)
    }

    /// Takes back what was shown, or says that it is void where a terminal cannot do so.
    pub(crate) fn void(&mut self, out: Option<&Term>, can_move: bool) {
        let rows = std::mem::take(&mut self.rows);
        self.markdown = None;
        self.text.clear();
        let Some(out) = out.filter(|_| rows > 0) else { return };
        let height = usize::from(out.size_checked().map_or(0, |(rows, _)| rows));
        // A terminal that is gone cannot be told anything.
        let _ = if can_move && rows < height {
            out.clear_last_lines(rows)
        } else {
            out.write_line("(That is void; the answer comes again.)")
        };
    }

    fn show(&mut self, rows: &[String], out: &Term) {
        for row in rows {
            // Blank rows before the first word only push it down.
            if self.rows > 0 || !row.is_empty() {
                let _ = out.write_line(row);
                self.rows += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOOK: Look = Look { width: 40, colour: false, unicode: false };

    #[test]
    fn words_are_given_back_whole_once() {
        let out = Term::buffered_stderr();
        let mut words = Words::default();
        for part in ["\n\none\n", "tw", "o"] {
            words.push(part, LOOK, &out);
        }
        assert_eq!(words.rows, 1, "blank rows at the beginning are left out");
        assert_eq!(words.finish(Some(&out)), "\n\none\ntwo");
        assert_eq!(words.finish(Some(&out)), "");
        words.push("void\n", LOOK, &out);
        words.void(Some(&out), false);
        assert_eq!(words.finish(Some(&out)), "");
        out.clear_line().ok();
    }
}
