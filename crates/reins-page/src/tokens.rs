//! An estimate of how many tokens a text costs a model (`o200k_base` is what it was fitted to).

/// Estimates the tokens of a text without any vocabulary.
///
/// Words of letters count one token per seven letters or part of it, digits one per three,
/// punctuation one per two marks, other scripts by character. Against the true counts of eight
/// measured snapshots it was between 2 % too low (a table of 5,000 rows) and 14 % too high
/// (documentation with many signatures).
pub fn estimate_tokens(text: &str) -> usize {
    let mut tokens = 0usize;
    let mut class = Class::Space;
    let mut length = 0usize;
    for c in text.chars() {
        let next = Class::of(c);
        if next == class {
            length += 1;
            continue;
        }
        tokens += class.cost(length);
        class = next;
        length = 1;
    }
    tokens + class.cost(length)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Space,
    Line,
    Letter,
    Digit,
    Mark,
    Accented,
    Wide,
}

impl Class {
    fn of(c: char) -> Self {
        match c {
            '\n' => Class::Line,
            c if c.is_whitespace() => Class::Space,
            'a'..='z' | 'A'..='Z' => Class::Letter,
            '0'..='9' => Class::Digit,
            c if c.is_ascii() => Class::Mark,
            '\u{2e80}'..='\u{9fff}' | '\u{ac00}'..='\u{d7ff}' | '\u{f900}'..='\u{faff}' => {
                Class::Wide
            }
            c if c.is_alphabetic() => Class::Accented,
            _ => Class::Wide,
        }
    }

    fn cost(self, length: usize) -> usize {
        match self {
            Class::Space => usize::from(length > 1),
            Class::Line => length.div_ceil(2),
            Class::Letter => length.div_ceil(7),
            Class::Digit => length.div_ceil(3),
            Class::Mark => length.div_ceil(2),
            Class::Accented => length.div_ceil(2),
            Class::Wide => length,
        }
    }
}
