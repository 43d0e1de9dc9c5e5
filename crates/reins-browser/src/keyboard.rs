//! Key presses as a US keyboard sends them: code, virtual key, text.

use reins_core::{Key, KeyChord, Modifiers};

/// One key, ready to be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KeyPress {
    /// `KeyboardEvent.key`.
    pub(crate) key: String,
    /// `KeyboardEvent.code`; empty for characters that no key of this keyboard has.
    pub(crate) code: &'static str,
    /// The Windows virtual key code.
    pub(crate) virtual_key: u16,
    /// What it writes, if anything.
    pub(crate) text: Option<String>,
    /// The protocol's bit set.
    pub(crate) modifiers: u8,
    /// Editing commands that some platforms do not derive from the keys.
    pub(crate) commands: &'static [&'static str],
}

/// Keys whose shifted character is another one: plain, shifted, code, virtual key.
const SYMBOLS: &[(char, char, &str, u16)] = &[
    ('1', '!', "Digit1", 49),
    ('2', '@', "Digit2", 50),
    ('3', '#', "Digit3", 51),
    ('4', '$', "Digit4", 52),
    ('5', '%', "Digit5", 53),
    ('6', '^', "Digit6", 54),
    ('7', '&', "Digit7", 55),
    ('8', '*', "Digit8", 56),
    ('9', '(', "Digit9", 57),
    ('0', ')', "Digit0", 48),
    ('-', '_', "Minus", 189),
    ('=', '+', "Equal", 187),
    ('[', '{', "BracketLeft", 219),
    (']', '}', "BracketRight", 221),
    ('\\', '|', "Backslash", 220),
    (';', ':', "Semicolon", 186),
    ('\'', '"', "Quote", 222),
    (',', '<', "Comma", 188),
    ('.', '>', "Period", 190),
    ('/', '?', "Slash", 191),
    ('`', '~', "Backquote", 192),
];

const LETTERS: [&str; 26] = [
    "KeyA", "KeyB", "KeyC", "KeyD", "KeyE", "KeyF", "KeyG", "KeyH", "KeyI", "KeyJ", "KeyK", "KeyL",
    "KeyM", "KeyN", "KeyO", "KeyP", "KeyQ", "KeyR", "KeyS", "KeyT", "KeyU", "KeyV", "KeyW", "KeyX",
    "KeyY", "KeyZ",
];

/// The protocol's bit set of held keys.
pub(crate) fn modifier_bits(held: Modifiers) -> u8 {
    u8::from(held.alt)
        | u8::from(held.control) << 1
        | u8::from(held.meta) << 2
        | u8::from(held.shift) << 3
}

/// The press of a character, with Shift held where it takes Shift.
pub(crate) fn character(c: char) -> KeyPress {
    press(&KeyChord {
        key: match c {
            '\n' | '\r' => Key::Named("Enter", "Enter", 13),
            '\t' => Key::Named("Tab", "Tab", 9),
            c => Key::Character(c),
        },
        modifiers: Modifiers { shift: needs_shift(c), ..Modifiers::default() },
    })
}

fn needs_shift(c: char) -> bool {
    c.is_ascii_uppercase() || SYMBOLS.iter().any(|(_, shifted, ..)| *shifted == c)
}

/// The press of a chord.
pub(crate) fn press(chord: &KeyChord) -> KeyPress {
    let held = chord.modifiers;
    // With Control, Alt or Meta held a key writes nothing, except AltGr-like pairs that we never send.
    let writes = !(held.control || held.meta || held.alt);
    let (key, code, virtual_key, text) = match &chord.key {
        Key::Named(name, code, virtual_key) => {
            let text = match *name {
                "Enter" => Some("\r".to_owned()),
                "Tab" => None,
                _ => None,
            };
            ((*name).to_owned(), *code, *virtual_key, text)
        }
        Key::Character(' ') => (" ".to_owned(), "Space", 32, Some(" ".to_owned())),
        Key::Character(c) => {
            // `Control+A` names the key and not the capital: Shift is only held when it is named.
            let c = match c {
                c if held.shift => shifted(*c),
                c if !writes => c.to_ascii_lowercase(),
                c => *c,
            };
            let (code, virtual_key) = place(c);
            (c.to_string(), code, virtual_key, Some(c.to_string()))
        }
    };
    KeyPress {
        commands: commands(chord),
        key,
        code,
        virtual_key,
        text: text.filter(|_| writes),
        modifiers: modifier_bits(held),
    }
}

fn shifted(c: char) -> char {
    if c.is_ascii_lowercase() {
        return c.to_ascii_uppercase();
    }
    SYMBOLS.iter().find(|(plain, ..)| *plain == c).map_or(c, |(_, shifted, ..)| *shifted)
}

fn place(c: char) -> (&'static str, u16) {
    let lower = c.to_ascii_lowercase();
    if lower.is_ascii_lowercase() {
        let index = usize::from(lower as u8 - b'a');
        return (LETTERS[index], u16::from(lower.to_ascii_uppercase() as u8));
    }
    SYMBOLS
        .iter()
        .find(|(plain, shifted, ..)| *plain == c || *shifted == c)
        .map_or(("", 0), |(_, _, code, virtual_key)| (*code, *virtual_key))
}

/// macOS derives editing commands above the page, so they are sent along there.
fn commands(chord: &KeyChord) -> &'static [&'static str] {
    if !cfg!(target_os = "macos") || !chord.modifiers.meta {
        return &[];
    }
    match chord.key {
        Key::Character('a' | 'A') => &["selectAll"],
        Key::Character('c' | 'C') => &["copy"],
        Key::Character('x' | 'X') => &["cut"],
        Key::Character('v' | 'V') => &["paste"],
        Key::Character('z' | 'Z') if chord.modifiers.shift => &["redo"],
        Key::Character('z' | 'Z') => &["undo"],
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chord(text: &str) -> KeyPress {
        press(&text.parse().unwrap())
    }

    #[test]
    fn chords_have_the_codes_of_a_us_keyboard() {
        for (text, key, code, virtual_key, writes, modifiers) in [
            ("a", "a", "KeyA", 65, Some("a"), 0),
            ("Shift+a", "A", "KeyA", 65, Some("A"), 8),
            ("Control+a", "a", "KeyA", 65, None, 2),
            ("Control+A", "a", "KeyA", 65, None, 2),
            ("Control+Shift+K", "K", "KeyK", 75, None, 10),
            ("1", "1", "Digit1", 49, Some("1"), 0),
            ("Shift+1", "!", "Digit1", 49, Some("!"), 8),
            ("?", "?", "Slash", 191, Some("?"), 0),
            ("Enter", "Enter", "Enter", 13, Some("\r"), 0),
            ("Control+Enter", "Enter", "Enter", 13, None, 2),
            ("Tab", "Tab", "Tab", 9, None, 0),
            ("Space", " ", "Space", 32, Some(" "), 0),
            ("Alt+ArrowLeft", "ArrowLeft", "ArrowLeft", 37, None, 1),
            ("ë", "ë", "", 0, Some("ë"), 0),
        ] {
            let got = chord(text);
            assert_eq!(
                (got.key.as_str(), got.code, got.virtual_key, got.text.as_deref(), got.modifiers),
                (key, code, virtual_key, writes, modifiers),
                "{text}"
            );
        }
    }

    #[test]
    fn typed_characters_hold_shift_where_the_keyboard_needs_it() {
        for (c, shift) in [('a', false), ('A', true), ('1', false), ('!', true), ('ß', false)] {
            assert_eq!(character(c).modifiers == 8, shift, "{c}");
            assert_eq!(character(c).text.as_deref(), Some(c.to_string().as_str()));
        }
        assert_eq!(character('\n').key, "Enter");
    }
}
