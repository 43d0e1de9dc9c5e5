//! Key chords such as `Enter`, `Control+Shift+K` or `ë`.

use crate::action::Modifiers;
use std::fmt;
use std::str::FromStr;
use thiserror::Error;

/// A key with the modifiers held meanwhile.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct KeyChord {
    /// The key itself.
    pub key: Key,
    /// Keys held meanwhile.
    pub modifiers: Modifiers,
}

/// One key, named as UI Events `KeyboardEvent.key` names it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Key {
    /// A key that makes this character.
    Character(char),
    /// A named key: its `key`, its `code` and its Windows virtual key code.
    Named(&'static str, &'static str, u16),
}

/// Why a text is no key chord.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum KeyError {
    /// The key is not known.
    #[error(
        "'{0}' is not a key; use names such as Enter, Escape, Tab, ArrowDown, F5, a single character, or a chord such as Control+A"
    )]
    UnknownKey(String),
}

/// key, code, Windows virtual key code, other accepted spellings (lower case).
const NAMED: &[(&str, &str, u16, &[&str])] = &[
    ("Enter", "Enter", 13, &["return", "numpadenter"]),
    ("Tab", "Tab", 9, &[]),
    ("Escape", "Escape", 27, &["esc"]),
    ("Backspace", "Backspace", 8, &[]),
    ("Delete", "Delete", 46, &["del"]),
    ("Insert", "Insert", 45, &["ins"]),
    ("ArrowLeft", "ArrowLeft", 37, &["left"]),
    ("ArrowUp", "ArrowUp", 38, &["up"]),
    ("ArrowRight", "ArrowRight", 39, &["right"]),
    ("ArrowDown", "ArrowDown", 40, &["down"]),
    ("Home", "Home", 36, &[]),
    ("End", "End", 35, &[]),
    ("PageUp", "PageUp", 33, &["pgup"]),
    ("PageDown", "PageDown", 34, &["pgdown", "pgdn"]),
    ("Control", "ControlLeft", 17, &["ctrl"]),
    ("Shift", "ShiftLeft", 16, &[]),
    ("Alt", "AltLeft", 18, &["option"]),
    ("Meta", "MetaLeft", 91, &["cmd", "command", "super", "win"]),
    ("ContextMenu", "ContextMenu", 93, &["menu"]),
    ("F1", "F1", 112, &[]),
    ("F2", "F2", 113, &[]),
    ("F3", "F3", 114, &[]),
    ("F4", "F4", 115, &[]),
    ("F5", "F5", 116, &[]),
    ("F6", "F6", 117, &[]),
    ("F7", "F7", 118, &[]),
    ("F8", "F8", 119, &[]),
    ("F9", "F9", 120, &[]),
    ("F10", "F10", 121, &[]),
    ("F11", "F11", 122, &[]),
    ("F12", "F12", 123, &[]),
];

impl FromStr for KeyChord {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<Self, KeyError> {
        let mut modifiers = Modifiers::default();
        let mut rest = text;
        // A trailing "+" is the key itself: "Control++".
        while let Some((head, tail)) =
            rest.split_once('+').filter(|(h, t)| !h.is_empty() && !t.is_empty())
        {
            match head.to_ascii_lowercase().as_str() {
                "control" | "ctrl" => modifiers.control = true,
                "shift" => modifiers.shift = true,
                "alt" | "option" => modifiers.alt = true,
                "meta" | "cmd" | "command" | "super" => modifiers.meta = true,
                // Playwright's spelling for "the platform's main modifier".
                "controlormeta" => {
                    if cfg!(target_os = "macos") {
                        modifiers.meta = true;
                    } else {
                        modifiers.control = true;
                    }
                }
                _ => return Err(KeyError::UnknownKey(text.to_owned())),
            }
            rest = tail;
        }
        let lower = rest.to_ascii_lowercase();
        if lower == "space" {
            return Ok(Self { key: Key::Character(' '), modifiers });
        }
        if let Some((key, code, vk, _)) = NAMED.iter().find(|(key, _, _, also)| {
            key.eq_ignore_ascii_case(rest) || also.contains(&lower.as_str())
        }) {
            return Ok(Self { key: Key::Named(key, code, *vk), modifiers });
        }
        let mut characters = rest.chars();
        match (characters.next(), characters.next()) {
            (Some(c), None) => Ok(Self { key: Key::Character(c), modifiers }),
            _ => Err(KeyError::UnknownKey(text.to_owned())),
        }
    }
}

impl KeyChord {
    /// Whether it is Enter, with or without modifiers: a possible submit.
    pub fn is_enter(&self) -> bool {
        matches!(self.key, Key::Named("Enter", ..))
    }
}

impl fmt::Display for KeyChord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (held, name) in [
            (self.modifiers.control, "Control+"),
            (self.modifiers.alt, "Alt+"),
            (self.modifiers.shift, "Shift+"),
            (self.modifiers.meta, "Meta+"),
        ] {
            if held {
                f.write_str(name)?;
            }
        }
        match &self.key {
            Key::Character(' ') => f.write_str("Space"),
            Key::Character(c) => write!(f, "{c}"),
            Key::Named(name, ..) => f.write_str(name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chords_parse_and_print() {
        for (text, shown) in [
            ("Enter", "Enter"),
            ("return", "Enter"),
            ("ctrl+shift+k", "Control+Shift+k"),
            ("Control+A", "Control+A"),
            ("ë", "ë"),
            ("Control++", "Control++"),
            ("+", "+"),
            ("Shift+Tab", "Shift+Tab"),
            ("space", "Space"),
            ("cmd+ArrowLeft", "Meta+ArrowLeft"),
            ("f5", "F5"),
        ] {
            assert_eq!(text.parse::<KeyChord>().expect(text).to_string(), shown);
        }
        for bad in ["", "Entr", "hyper+a", "ab"] {
            assert!(bad.parse::<KeyChord>().is_err(), "{bad}");
        }
    }
}
