//! Cutting texts.

/// Stands where something was cut out.
const CUT: &str = " … (cut) … ";

/// At most so many bytes, from the beginning and the end: a request says at its end what is wanted, and
/// a page what came of it.
pub(crate) fn clip_middle(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    let half = most.saturating_sub(CUT.len()) / 2;
    let head = (0..=half).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    let tail = text.len() - half;
    let tail = (tail..=text.len()).find(|start| text.is_char_boundary(*start));
    format!("{}{CUT}{}", &text[..head], &text[tail.unwrap_or(text.len())..])
}

/// Plain text for a person's screen and for a model's instructions: one line, without control
/// characters and without marks that turn the direction of writing around, at most so many characters.
pub(crate) fn plain_line(text: &str, most: usize) -> String {
    let hidden = |c: &char| {
        c.is_control()
            || matches!(*c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
    };
    let spaced: String = text.chars().map(|c| if c.is_whitespace() { ' ' } else { c }).collect();
    let shown: String = spaced.chars().filter(|c| !hidden(c)).collect();
    let line = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ends_of_a_long_text_stay() {
        assert_eq!(clip_middle("short", 5), "short");
        let long = format!("begin{}end", "é".repeat(500));
        let cut = clip_middle(&long, 100);
        assert!(cut.len() <= 100 && cut.starts_with("begin") && cut.ends_with("end"), "{cut}");
    }

    #[test]
    fn a_line_has_nothing_hidden_in_it() {
        assert_eq!(plain_line(" a\n\tb\u{202e}c\u{7}d ", 9), "a bcd");
        assert_eq!(plain_line("ééé", 2), "éé…");
    }
}
