//! States of controls, as short marks behind their line.

use crate::keys::Key;
use crate::role::input_type;
use crate::tree::{Id, Tree};

fn is_true(tree: &Tree, id: Id, key: Key) -> bool {
    tree.fact(id, key).is_some_and(|value| value.trim().eq_ignore_ascii_case("true"))
}

/// Whether the control is disabled, natively or by `aria-disabled` on itself or a group around it.
pub(crate) fn is_disabled(tree: &Tree, id: Id) -> bool {
    tree.flags(id).disabled()
        || is_true(tree, id, Key::AriaDisabled)
        || tree.ancestors(id).take(30).any(|at| is_true(tree, at, Key::AriaDisabled))
}

/// `checked` of a checkbox, radio or switch: None for other roles.
pub(crate) fn checked(tree: &Tree, id: Id, role: &str) -> Option<&'static str> {
    if !matches!(
        role,
        "checkbox"
            | "radio"
            | "switch"
            | "menuitemcheckbox"
            | "menuitemradio"
            | "option"
            | "treeitem"
    ) {
        return None;
    }
    let flags = tree.flags(id);
    if tree.tag(id) == "input" {
        if flags.indeterminate() {
            return Some("mixed");
        }
        return flags.checked().then_some("checked");
    }
    match tree.fact(id, Key::AriaChecked).map(str::trim) {
        Some("true") => Some("checked"),
        Some("mixed") if role != "radio" && role != "switch" => Some("mixed"),
        _ => None,
    }
}

/// All marks of an element with this role, in a fixed order.
pub(crate) fn marks(tree: &Tree, id: Id, role: &str) -> Vec<&'static str> {
    let flags = tree.flags(id);
    let mut marks = Vec::new();
    if flags.submits() {
        marks.push("submit");
    }
    if tree.tag(id) == "input" && input_type(tree, id) == "password" {
        marks.push("password");
    }
    marks.extend(checked(tree, id, role));
    match tree.fact(id, Key::AriaPressed).map(str::trim) {
        Some("true") if role == "button" => marks.push("pressed"),
        Some("mixed") if role == "button" => marks.push("half pressed"),
        _ => {}
    }
    let selectable = matches!(
        role,
        "option" | "tab" | "row" | "gridcell" | "treeitem" | "columnheader" | "rowheader"
    );
    if selectable && (flags.selected() || is_true(tree, id, Key::AriaSelected)) {
        marks.push("selected");
    }
    match expanded(tree, id) {
        Some(true) => marks.push("expanded"),
        Some(false) => marks.push("collapsed"),
        None => {}
    }
    if is_disabled(tree, id) {
        marks.push("disabled");
    }
    if flags.required() || is_true(tree, id, Key::AriaRequired) {
        marks.push("required");
    }
    if flags.read_only() || is_true(tree, id, Key::AriaReadOnly) {
        marks.push("readonly");
    }
    if tree.text_fact(id, Key::AriaInvalid).is_some_and(|value| value != "false") {
        marks.push("invalid");
    }
    if tree.text_fact(id, Key::AriaCurrent).is_some_and(|value| value != "false") {
        marks.push("current");
    }
    if role == "button" || role == "link" || role == "menuitem" {
        match tree.text_fact(id, Key::AriaHasPopup) {
            None | Some("false") => {}
            Some("dialog") => marks.push("opens dialog"),
            Some(_) => marks.push("opens menu"),
        }
    }
    if tree.has(id, Key::Multiple) || is_true(tree, id, Key::AriaMultiselectable) {
        marks.push("multiple");
    }
    if role == "link" {
        if tree.has(id, Key::Download) {
            marks.push("download");
        }
        if tree.fact(id, Key::Target).is_some_and(|name| name.eq_ignore_ascii_case("_blank")) {
            marks.push("new tab");
        }
    }
    if is_true(tree, id, Key::AriaBusy) {
        marks.push("busy");
    }
    if flags.focused() {
        marks.push("focused");
    }
    marks
}

/// Whether the element is expanded, if it can be.
pub(crate) fn expanded(tree: &Tree, id: Id) -> Option<bool> {
    if tree.tag(id) == "summary" {
        let details = tree.parent(id).filter(|at| tree.tag(*at) == "details")?;
        return Some(tree.has(details, Key::Open));
    }
    match tree.fact(id, Key::AriaExpanded).map(str::trim) {
        Some("true") => Some(true),
        Some("false") => Some(false),
        _ => None,
    }
}
