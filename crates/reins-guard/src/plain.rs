//! Text from pages and models made safe to show: plain, visible, bounded.

/// What stands for the part that was cut out.
const GAP: char = '…';

/// Marks on one letter that are kept. More than two only serve to paint over other text.
const MARKS_KEPT: usize = 2;

/// Makes a text plain: white space becomes single spaces, and control characters, direction
/// overrides, zero-width and other invisible characters go away.
pub fn plain_text(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut marks = 0;
    for c in text.chars() {
        if c.is_whitespace() || is_blank(c) {
            if !plain.is_empty() && !plain.ends_with(' ') {
                plain.push(' ');
            }
            marks = 0;
        } else if is_invisible(c) {
            continue;
        } else if is_mark(c) {
            marks += 1;
            if marks <= MARKS_KEPT && !plain.is_empty() && !plain.ends_with(' ') {
                plain.push(c);
            }
        } else {
            marks = 0;
            plain.push(c);
        }
    }
    if plain.ends_with(' ') {
        plain.pop();
    }
    plain
}

/// Cuts the middle out of a text that is longer than `max` bytes, so that both ends can be read.
pub fn clip_middle(text: &str, max: usize) -> String {
    if text.len() <= max {
        return text.to_owned();
    }
    let room = max.saturating_sub(GAP.len_utf8());
    let head = floor_boundary(text, room.div_ceil(2));
    let tail = ceil_boundary(text, text.len() - room / 2);
    format!("{}{GAP}{}", &text[..head], &text[tail..])
}

fn floor_boundary(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

fn ceil_boundary(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at += 1;
    }
    at
}

/// Characters that look like a space, or like nothing, without being white space.
fn is_blank(c: char) -> bool {
    matches!(
        c,
        '\u{2800}' | '\u{3164}' | '\u{115F}' | '\u{1160}' | '\u{FFA0}' | '\u{17B4}' | '\u{17B5}'
    )
}

/// Characters that are not seen, or that change how others are seen.
fn is_invisible(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{00AD}' | '\u{034F}' | '\u{061C}' | '\u{180B}'..='\u{180F}'
            | '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{206F}'
            | '\u{FE00}'..='\u{FE0F}' | '\u{FEFF}' | '\u{FFF0}'..='\u{FFFB}'
            | '\u{E000}'..='\u{F8FF}' | '\u{1BCA0}'..='\u{1BCA3}' | '\u{1D173}'..='\u{1D17A}'
            | '\u{E0000}'..='\u{E0FFF}' | '\u{F0000}'..='\u{10FFFF}')
        || (c as u32) & 0xFFFE == 0xFFFE
}

/// Combining marks of the blocks that are used to stack marks.
fn is_mark(c: char) -> bool {
    matches!(c,
        '\u{0300}'..='\u{036F}' | '\u{0483}'..='\u{0489}' | '\u{1AB0}'..='\u{1AFF}'
        | '\u{1DC0}'..='\u{1DFF}' | '\u{20D0}'..='\u{20FF}' | '\u{FE20}'..='\u{FE2F}')
}
