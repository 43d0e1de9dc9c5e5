//! How an act is told: what was done, how it ended, what else was seen.

use crate::call::short;
use reins_browser::{Dialog, Download, DownloadState, Effects, Navigation};
use reins_core::{Action, Gesture, HistoryStep, MouseButton, Outcome, TargetRecord};
use reins_store::Receipt;
use std::fmt::Write as _;

/// An act in words, as something done: `clicked button "Save"`. Only said so when it completed
/// . Typed text is never part of it.
pub(crate) fn done(action: &Action) -> String {
    match action {
        Action::Navigate { url, .. } => format!("opened {url}"),
        Action::History { step: HistoryStep::Back, .. } => "went back".into(),
        Action::History { step: HistoryStep::Forward, .. } => "went forward".into(),
        Action::Reload { .. } => "reloaded the page".into(),
        Action::OpenTab { url: Some(url) } => format!("opened a tab with {url}"),
        Action::OpenTab { url: None } => "opened a tab".into(),
        Action::SwitchTab { .. } => "switched to the tab".into(),
        Action::CloseTab { .. } => "closed the tab".into(),
        Action::Pointer { target, gesture } => {
            let verb = match gesture {
                Gesture::Hover => "hovered over",
                Gesture::Click { button: MouseButton::Right, .. } => "right-clicked",
                Gesture::Click { button: MouseButton::Middle, .. } => "middle-clicked",
                Gesture::Click { count: 2, .. } => "double-clicked",
                Gesture::Click { count: 3, .. } => "triple-clicked",
                Gesture::Click { .. } => "clicked",
            };
            format!("{verb} {}", element(target))
        }
        Action::Drag { from, to } => format!("dragged {} to {}", element(from), element(to)),
        Action::Type { target, enter: true, .. } => {
            format!("typed into {} and pressed Enter", element(target))
        }
        Action::Type { target, .. } => format!("typed into {}", element(target)),
        Action::Select { target, options } => {
            format!("selected {} in {}", options.join(", "), element(target))
        }
        Action::Check { target, checked: true } => format!("checked {}", element(target)),
        Action::Check { target, checked: false } => format!("unchecked {}", element(target)),
        Action::Press { target: Some(target), chord, .. } => {
            format!("pressed {chord} at {}", element(target))
        }
        Action::Press { target: None, chord, .. } => format!("pressed {chord}"),
        Action::Scroll { target: Some(target), .. } => format!("scrolled {}", element(target)),
        Action::Scroll { target: None, .. } => "scrolled the page".into(),
        Action::Upload { target, files } => {
            format!("gave {} file(s) to {}", files.len(), element(target))
        }
        Action::AnswerDialog { accept: true, .. } => "accepted the dialog".into(),
        Action::AnswerDialog { accept: false, .. } => "dismissed the dialog".into(),
    }
}

/// Names longer than this are cut in a headline; the snapshot has the whole.
const NAME_IN_HEADLINE: usize = 60;

/// `button "Save"`: role and name, as data in quotes.
pub(crate) fn element(target: &TargetRecord) -> String {
    let role = if target.role.is_empty() { target.tag.as_str() } else { target.role.as_str() };
    words(role, &target.name)
}

pub(crate) fn words(role: &str, name: &str) -> String {
    let name = reins_guard::clip_middle(&reins_guard::plain_text(name), NAME_IN_HEADLINE);
    if name.is_empty() { role.to_owned() } else { format!("{role} \"{name}\"") }
}

/// The first line of an act's answer: the outcome first, in a word that never lies.
pub(crate) fn headline(done: &str, outcome: &Outcome) -> String {
    match outcome {
        Outcome::Completed => format!("completed: {}", done),
        Outcome::Refused(refusal) => format!(
            "refused ({}): {}. {}",
            refusal.code,
            refusal.message.trim_end_matches('.'),
            refusal.next
        ),
        Outcome::Unknown(unknown) => format!(
            "unknown ({}): it may or may not have happened that I {}: {}. Look with snapshot before trying again",
            unknown.cause.code(),
            done,
            unknown.message.trim_end_matches('.')
        ),
    }
}

/// What else was seen, one line each. Nothing is said about what went as expected.
pub(crate) fn effects(effects: &Effects) -> String {
    let mut text = String::new();
    // Writing to a String cannot fail.
    match &effects.navigation {
        Some(Navigation::Failed { url, message }) => {
            let _ = writeln!(text, "navigation failed: {url} ({message})");
        }
        Some(Navigation::Pending { url }) => {
            let _ = writeln!(text, "still waiting for an answer from {url}");
        }
        Some(Navigation::Document { loaded: false, .. }) => {
            text.push_str("the page is still loading\n");
        }
        Some(Navigation::Download) => text.push_str("the address is a download; the page stays\n"),
        Some(Navigation::Document { .. } | Navigation::SameDocument { .. }) | None => {}
    }
    if let Some(dialog) = &effects.dialog {
        let _ = writeln!(text, "{}", dialog_line(dialog));
    }
    for tab in &effects.opened {
        let _ = writeln!(text, "new tab [tab={}]: {}", short(&tab.id), tab.url);
    }
    for download in &effects.downloads {
        let _ = writeln!(text, "{}", download_line(download));
    }
    for line in effects.refused.iter().chain(&effects.notes) {
        let _ = writeln!(text, "{line}");
    }
    if effects.tab_closed {
        text.push_str("the tab closed\n");
    }
    text
}

/// A download as a line.
pub(crate) fn download_line(download: &Download) -> String {
    let name = &download.name;
    match (download.state, &download.path) {
        (DownloadState::Finished, Some(path)) => {
            format!("downloaded {name} ({} bytes) to {}", download.bytes, path.display())
        }
        (DownloadState::Finished, None) => format!("downloaded {name}"),
        (DownloadState::Running, _) => {
            format!("download of {name} is running: wait_for download")
        }
        (DownloadState::Failed, _) => format!("download of {name} failed"),
        (DownloadState::Refused, _) => format!(
            "download of {name} was refused: downloads are off (--downloads DIR allows them)"
        ),
    }
}

/// A dialog as a line; its text is the page's and stands in quotes.
pub(crate) fn dialog_line(dialog: &Dialog) -> String {
    let message = reins_guard::plain_text(&dialog.message);
    format!(
        "dialog open ({}): the page says \"{}\". Answer it with handle_dialog",
        dialog.kind.name(),
        reins_guard::clip_middle(&message, DIALOG_BYTES)
    )
}

/// A dialog's text is page text; this much of it is enough to decide.
const DIALOG_BYTES: usize = 400;

/// An act that a dead process left without an end.
pub(crate) fn interrupted(receipt: &Receipt) -> String {
    let element = receipt.element.as_deref().map(|e| format!(" {e}")).unwrap_or_default();
    let origin = receipt.origin.as_deref().map(|o| format!(" on {o}")).unwrap_or_default();
    format!(
        "unknown (interrupted): Reins ended in the middle of {}{element}{origin}; it may or may not have happened and is not repeated. Look before trying again",
        receipt.tool
    )
}
