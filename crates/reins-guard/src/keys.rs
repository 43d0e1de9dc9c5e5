//! What a key press does, as far as the browser's own behaviour tells.

use reins_core::{Key, KeyChord, TargetRecord};

/// The effect of a key press.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeyEffect {
    /// Moves the caret, the focus or the view, or closes something.
    View,
    /// Moves within a control, which can change its value.
    Move,
    /// Changes the text of the field that has the focus.
    Edit,
    /// Does what a click on the element does.
    Activate,
    /// Enter: always a possible submit.
    Enter,
    /// Copies from or pastes the person's clipboard.
    Clipboard,
    /// Only the page knows.
    Unknown,
}

/// Keys that move the focus or the view, or close something, with or without Shift.
const VIEWING: &[&str] =
    &["Tab", "Escape", "PageUp", "PageDown", "Shift", "Control", "Alt", "Meta"];

/// Keys that move the caret or the view, or the value of a control.
const MOVING: &[&str] = &["ArrowLeft", "ArrowUp", "ArrowRight", "ArrowDown", "Home", "End"];

/// Input types whose value arrows change.
const STEPPING: &[&str] =
    &["number", "range", "date", "time", "datetime-local", "month", "week", "radio", "color"];

/// The effect of a chord on the element that gets it.
pub(crate) fn key_effect(chord: &KeyChord, target: Option<&TargetRecord>) -> KeyEffect {
    let held = chord.modifiers;
    let editable = target.is_some_and(|target| target.editable);
    let commanded = held.control || held.meta;
    match &chord.key {
        Key::Named("Enter", ..) => KeyEffect::Enter,
        Key::Character('\n' | '\r') => KeyEffect::Enter,
        Key::Named("Insert", ..) if commanded || held.shift => KeyEffect::Clipboard,
        Key::Named("Delete", ..) if held.shift && editable => KeyEffect::Clipboard,
        // Alt reaches access keys, which click whatever the page bound to them.
        _ if held.alt => KeyEffect::Unknown,
        Key::Character(c) if commanded => match c.to_ascii_lowercase() {
            'a' => KeyEffect::View,
            'c' | 'x' | 'v' => KeyEffect::Clipboard,
            'z' | 'y' if editable => KeyEffect::Edit,
            _ => KeyEffect::Unknown,
        },
        Key::Named("Backspace" | "Delete", ..) if editable => KeyEffect::Edit,
        // Outside a field, a held key makes a command of the browser or the page of it.
        Key::Named(..) if commanded && !editable => KeyEffect::Unknown,
        Key::Named(name, ..) if VIEWING.contains(name) => KeyEffect::View,
        Key::Named(name, ..) if MOVING.contains(name) => {
            if target.is_none_or(is_text) {
                KeyEffect::View
            } else {
                KeyEffect::Move
            }
        }
        Key::Named(..) => KeyEffect::Unknown,
        Key::Character(_) if editable => KeyEffect::Edit,
        Key::Character(' ') => match target {
            None => KeyEffect::View,
            Some(_) => KeyEffect::Activate,
        },
        // Without a field to type into, a character is the page's own shortcut.
        Key::Character(_) => KeyEffect::Unknown,
    }
}

/// Whether arrows move a caret there and nothing else.
fn is_text(target: &TargetRecord) -> bool {
    let steps = target.input_type.as_deref().is_some_and(|kind| STEPPING.contains(&kind));
    target.editable && !steps
}
