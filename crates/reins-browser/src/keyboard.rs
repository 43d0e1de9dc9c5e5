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

/// A key as the person's own keyboard named it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Typed {
    /// The Windows virtual key code; 0 where none is known.
    pub(crate) virtual_key: u16,
    /// What it writes, if anything.
    pub(crate) text: Option<String>,
    /// The protocol's bit set.
    pub(crate) modifiers: u8,
    /// 1 left, 2 right, 3 on the number pad.
    pub(crate) location: u8,
    pub(crate) commands: &'static [&'static str],
}

/// What `KeyboardEvent.key` and `.code` stand for, on whatever keyboard.
pub(crate) fn typed(key: &str, code: &str, held: Modifiers) -> Typed {
    let mut characters = key.chars();
    let single = match (characters.next(), characters.next()) {
        (Some(c), None) if !c.is_control() => Some(c),
        _ => None,
    };
    let text = match single {
        Some(c) => writes(c, held).then(|| key.to_owned()),
        None => (key == "Enter" && !(held.control || held.alt || held.meta)).then(|| "\r".into()),
    };
    let location = match code {
        _ if code.starts_with("Numpad") => 3,
        _ if code.ends_with("Left") && code != "ArrowLeft" && !code.starts_with("Br") => 1,
        _ if code.ends_with("Right") && code != "ArrowRight" && !code.starts_with("Br") => 2,
        _ => 0,
    };
    let chord = single.map(|c| KeyChord { key: Key::Character(c), modifiers: held });
    Typed {
        virtual_key: virtual_key(key, code, single),
        // What AltGr makes is plain text: with the two keys held, shortcuts would take it.
        modifiers: match &text {
            Some(_) if held.control || held.alt => {
                modifier_bits(Modifiers { shift: held.shift, ..Modifiers::default() })
            }
            _ => modifier_bits(held),
        },
        text,
        location,
        commands: chord.as_ref().map_or(&[], commands),
    }
}

/// Whether a character is written and not a shortcut. AltGr comes as Control and Alt on some systems,
/// and Option makes other characters on a Mac.
fn writes(c: char, held: Modifiers) -> bool {
    match (held.control, held.alt) {
        _ if held.meta => false,
        (true, true) => !c.is_ascii_alphanumeric(),
        (true, false) => false,
        (false, true) => !c.is_ascii(),
        (false, false) => true,
    }
}

fn virtual_key(key: &str, code: &str, single: Option<char>) -> u16 {
    const PAD: &[(&str, u16)] =
        &[("Multiply", 106), ("Add", 107), ("Subtract", 109), ("Decimal", 110), ("Divide", 111)];
    if let Some(pad) = code.strip_prefix("Numpad") {
        if let Some(digit) = pad.bytes().next().filter(|b| b.is_ascii_digit() && single.is_some()) {
            return 96 + u16::from(digit - b'0');
        }
        if let Some((_, number)) = PAD.iter().find(|(name, _)| *name == pad && single.is_some()) {
            return *number;
        }
    }
    // Shortcuts go by the letter where there is one, by the place of the key where there is none.
    if let Some(letter) = single.filter(char::is_ascii_alphabetic) {
        return u16::from(letter.to_ascii_uppercase() as u8);
    }
    if let Some(letter) = code.strip_prefix("Key").and_then(|rest| rest.bytes().next()) {
        return u16::from(letter);
    }
    if let Some((.., number)) = SYMBOLS.iter().find(|(.., name, _)| *name == code) {
        return *number;
    }
    match single {
        Some(' ') => 32,
        Some(_) => 0,
        None => match key.parse::<KeyChord>().map(|chord| chord.key) {
            Ok(Key::Named(_, _, number)) => number,
            _ => match key {
                "CapsLock" => 20,
                "AltGraph" => 18,
                _ => 0,
            },
        },
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

    /// S-156: keys arrive as the person's keyboard names them, whatever its layout.
    #[test]
    fn s156_keys_of_any_keyboard_are_told_apart() {
        let none = Modifiers::default();
        let control = Modifiers { control: true, ..none };
        let alt = Modifiers { alt: true, ..none };
        let alt_gr = Modifiers { control: true, alt: true, ..none };
        let shift = Modifiers { shift: true, ..none };
        for (key, code, held, text, virtual_key, modifiers, location) in [
            ("a", "KeyA", none, Some("a"), 65, 0, 0),
            // A French keyboard.
            ("a", "KeyQ", none, Some("a"), 65, 0, 0),
            ("ф", "KeyA", none, Some("ф"), 65, 0, 0),
            ("A", "KeyA", shift, Some("A"), 65, 8, 0),
            ("c", "KeyC", control, None, 67, 2, 0),
            ("с", "KeyC", control, None, 67, 2, 0),
            ("@", "KeyQ", alt_gr, Some("@"), 81, 0, 0),
            ("å", "KeyA", alt, Some("å"), 65, 0, 0),
            ("a", "KeyA", alt, None, 65, 1, 0),
            ("Enter", "Enter", none, Some("\r"), 13, 0, 0),
            ("Enter", "NumpadEnter", none, Some("\r"), 13, 0, 3),
            ("5", "Numpad5", none, Some("5"), 101, 0, 3),
            ("Home", "Numpad7", none, None, 36, 0, 3),
            ("ArrowLeft", "ArrowLeft", none, None, 37, 0, 0),
            ("Shift", "ShiftRight", shift, None, 16, 8, 2),
            ("[", "BracketLeft", none, Some("["), 219, 0, 0),
            (" ", "Space", none, Some(" "), 32, 0, 0),
            ("Dead", "BracketLeft", none, None, 219, 0, 0),
            ("\u{7}", "", none, None, 0, 0, 0),
        ] {
            let got = typed(key, code, held);
            assert_eq!(
                (got.text.as_deref(), got.virtual_key, got.modifiers, got.location),
                (text, virtual_key, modifiers, location),
                "{key} {code} {held:?}"
            );
        }
    }
}
