//! The step itself, as the question on a card.

use crate::facts::Facts;
use crate::plain::{clip_middle, plain_text};
use reins_core::{Action, Gesture, HistoryStep, Key, KeyChord, MouseButton, TargetRecord};
use std::path::Path;

/// Bytes of a caption, an option, a file name or a dialog's text on a card.
const QUOTED_BYTES: usize = 80;

/// Bytes of a role on a card.
const ROLE_BYTES: usize = 24;

/// The step as a question. What was typed never becomes part of it.
pub(crate) fn title(action: &Action, facts: &Facts<'_>) -> String {
    match action {
        Action::Navigate { .. } => "Open an address?".to_owned(),
        Action::OpenTab { url: Some(_) } => "Open an address in a new tab?".to_owned(),
        Action::OpenTab { url: None } => "Open an empty tab?".to_owned(),
        Action::History { step: HistoryStep::Back, .. } => "Go back?".to_owned(),
        Action::History { step: HistoryStep::Forward, .. } => "Go forward?".to_owned(),
        Action::Reload { .. } => "Load the page again?".to_owned(),
        Action::SwitchTab { .. } => "Switch to another tab?".to_owned(),
        Action::CloseTab { .. } => "Close a tab?".to_owned(),
        Action::Pointer { target, gesture } => format!("{} {}?", pointing(*gesture), named(target)),
        Action::Drag { from, to } => format!("Drag {} onto {}?", named(from), named(to)),
        Action::Type { target, kept, enter, .. } => {
            let what = kept.as_ref().map_or(String::new(), |name| format!(" the secret {name}"));
            let enter = if *enter { " and press Enter" } else { "" };
            format!("Type{what} into {}{enter}?", named(target))
        }
        Action::Select { target, options } => {
            format!("Choose {} in {}?", listed(options, "nothing"), named(target))
        }
        Action::Check { target, checked: true } => format!("Check {}?", named(target)),
        Action::Check { target, checked: false } => format!("Uncheck {}?", named(target)),
        Action::Press { target: Some(target), chord, .. } => {
            format!("Press {} in {}?", pressed(chord, target.editable), named(target))
        }
        Action::Press { target: None, chord, .. } => format!("Press {}?", pressed(chord, false)),
        Action::Scroll { .. } => "Scroll?".to_owned(),
        Action::Upload { target, files } => {
            let names: Vec<String> = files.iter().map(|file| file_name(file)).collect();
            format!("Give {} to {}?", listed(&names, "no file"), named(target))
        }
        Action::AnswerDialog { accept, .. } => {
            let answer = if *accept { "Accept" } else { "Dismiss" };
            match &facts.tab.dialog {
                Some(dialog) => format!("{answer} the page's dialog {}?", quoted(&dialog.message)),
                None => format!("{answer} the page's dialog?"),
            }
        }
    }
}

fn pointing(gesture: Gesture) -> &'static str {
    match gesture {
        Gesture::Hover => "Point at",
        Gesture::Click { button: MouseButton::Right, .. } => "Right-click",
        Gesture::Click { button: MouseButton::Middle, .. } => "Middle-click",
        Gesture::Click { count: 2.., .. } => "Double-click",
        Gesture::Click { .. } => "Click",
    }
}

/// An element by role and name.
fn named(target: &TargetRecord) -> String {
    let role = role(&target.role);
    if plain_text(&target.name).is_empty() {
        format!("the {role} without a name")
    } else {
        format!("the {role} {}", quoted(&target.name))
    }
}

/// A role stands on the card without quotes, so only what can be a role's name is one.
fn role(role: &str) -> &str {
    let is_word = role.len() <= ROLE_BYTES && role.bytes().all(|byte| byte.is_ascii_lowercase());
    match role {
        "" | "generic" | "none" | "presentation" => "element",
        role if is_word => role,
        _ => "element",
    }
}

/// A text from outside in quotes that it cannot close itself.
fn quoted(text: &str) -> String {
    let plain: String = plain_text(text)
        .chars()
        .map(|c| match c {
            '"' | '“' | '”' | '„' | '‟' | '«' | '»' | '〝' | '〞' | '＂' => '\'',
            _ => c,
        })
        .collect();
    format!("“{}”", clip_middle(&plain, QUOTED_BYTES))
}

fn listed(names: &[String], none: &str) -> String {
    match names {
        [] => none.to_owned(),
        [one] => quoted(one),
        [first, rest @ ..] => format!("{} and {} more", quoted(first), rest.len()),
    }
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

/// A chord. A character that goes into a field is typed text.
fn pressed(chord: &KeyChord, editable: bool) -> String {
    let held = chord.modifiers;
    let typed = matches!(chord.key, Key::Character(_)) && !held.control && !held.meta && !held.alt;
    if typed && editable { "a character".to_owned() } else { plain_text(&chord.to_string()) }
}
