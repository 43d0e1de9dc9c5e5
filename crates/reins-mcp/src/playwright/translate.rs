//! Arguments that need more than another name.

use super::{Arguments, Plan, Wrong};
use reins_control::Reply;
use serde_json::{Map, Value, json};

/// The longest wait of one call; ours ends before its own deadline.
const LONGEST_WAIT: f64 = 25.0;

pub(super) fn same(ours: Arguments, _: Arguments) -> Result<Plan, Wrong> {
    Ok(Plan::Call(ours))
}

pub(super) fn click(mut ours: Arguments, own: Arguments) -> Result<Plan, Wrong> {
    if own.get("doubleClick") == Some(&Value::Bool(true)) {
        ours.insert("count".into(), json!(2));
    }
    if let Some(Value::Array(held)) = ours.get_mut("modifiers") {
        let key = if cfg!(target_os = "macos") { "Meta" } else { "Control" };
        held.iter_mut().filter(|key| *key == "ControlOrMeta").for_each(|one| *one = json!(key));
    }
    Ok(Plan::Call(ours))
}

pub(super) fn fields(_: Arguments, own: Arguments) -> Result<Plan, Wrong> {
    let Some(Value::Array(fields)) = own.get("fields") else {
        return Err(Wrong("fields is no list".into()));
    };
    let fields: Result<Vec<Value>, Wrong> = fields
        .iter()
        .map(|field| {
            let target = field.get("target").or_else(|| field.get("ref"));
            match (target, field.get("value")) {
                (Some(target), Some(value)) => Ok(json!({"ref": target, "value": value})),
                _ => Err(Wrong("a field needs target and value".into())),
            }
        })
        .collect();
    Ok(Plan::Call(Map::from_iter([("fields".to_owned(), Value::Array(fields?))])))
}

pub(super) fn tabs(_: Arguments, own: Arguments) -> Result<Plan, Wrong> {
    let index = match own.get("index") {
        None => None,
        Some(index) => Some(
            index
                .as_f64()
                .filter(|index| (0.0..1e6).contains(index) && index.fract() == 0.0)
                .map(|index| index as usize)
                .ok_or_else(|| Wrong("index is no whole number from 0".into()))?,
        ),
    };
    match (own.get("action").and_then(Value::as_str), index) {
        (Some("list"), _) => Ok(Plan::Tabs),
        (Some("new"), _) => {
            let url = own.get("url").map(|url| ("url".to_owned(), url.clone()));
            Ok(Plan::Calls(vec![("open_tab", url.into_iter().collect())]))
        }
        (Some("close"), None) => Ok(Plan::Calls(vec![("close_tab", Map::new())])),
        (Some("close"), Some(index)) => Ok(Plan::OnTab("close_tab", index)),
        (Some("select"), Some(index)) => Ok(Plan::OnTab("switch_tab", index)),
        (Some("select"), None) => Err(Wrong("index is missing".into())),
        _ => Err(Wrong("action is list, new, close or select".into())),
    }
}

pub(super) fn wait(mut ours: Arguments, own: Arguments) -> Result<Plan, Wrong> {
    let time = own.get("time").and_then(Value::as_f64);
    let seconds = time.map(|seconds| json!(seconds.min(LONGEST_WAIT)));
    // Theirs waits for the time first, then for the text; ours for one of them.
    let both = (ours.remove("text"), ours.remove("gone"));
    let (text, gone) = both;
    let mut calls = Vec::new();
    let waits = [("seconds", seconds), ("gone", gone), ("text", text)];
    for (name, value) in waits {
        if let Some(value) = value {
            let mut call = ours.clone();
            call.insert(name.to_owned(), value);
            calls.push(("wait_for", call));
        }
    }
    if calls.is_empty() {
        return Err(Wrong("nothing to wait for is given".into()));
    }
    Ok(Plan::Calls(calls))
}

pub(super) fn requests(mut ours: Arguments, own: Arguments) -> Result<Plan, Wrong> {
    if own.get("static") != Some(&Value::Bool(true)) {
        ours.insert("assets".into(), json!(false));
    }
    let pattern = |c: char| "^$*+?()[]{}|\\".contains(c);
    if ours.get("text").and_then(Value::as_str).is_some_and(|text| text.contains(pattern)) {
        return Err(Wrong("filter is a part of the address here, no regular expression".into()));
    }
    Ok(Plan::Call(ours))
}

pub(super) fn request(mut ours: Arguments, own: Arguments) -> Result<Plan, Wrong> {
    let number = own.get("index").and_then(Value::as_f64).filter(|number| number.fract() == 0.0);
    let Some(number) = number.filter(|number| (1.0..4e9).contains(number)) else {
        return Err(Wrong("index is no whole number from 1".into()));
    };
    ours.insert("number".into(), json!(number as u32));
    Ok(Plan::Call(ours))
}

pub(super) fn resize(mut ours: Arguments, own: Arguments) -> Result<Plan, Wrong> {
    for name in ["width", "height"] {
        let side = own.get(name).and_then(Value::as_f64).filter(|side| (1.0..1e6).contains(side));
        let Some(side) = side else {
            return Err(Wrong(format!("{name} is no size in CSS pixels")));
        };
        ours.insert(name.to_owned(), json!(side.round() as u32));
    }
    Ok(Plan::Call(ours))
}

pub(super) fn media(mut ours: Arguments, own: Arguments) -> Result<Plan, Wrong> {
    if let Some(scheme) = own.get("colorScheme") {
        ours.insert("color_scheme".into(), scheme.clone());
    }
    if let Some(motion) = own.get("reducedMotion") {
        ours.insert("reduced_motion".into(), json!(motion == "reduce"));
    }
    Ok(Plan::Call(ours))
}

pub(super) fn wheel(ours: Arguments, own: Arguments) -> Result<Plan, Wrong> {
    let delta = |name: &str| own.get(name).and_then(Value::as_f64).unwrap_or(0.0).round() as i32;
    let mut calls = Vec::new();
    for (pixels, forth, back) in
        [(delta("deltaX"), "right", "left"), (delta("deltaY"), "down", "up")]
    {
        if pixels != 0 {
            let mut call = ours.clone();
            call.insert("to".into(), json!(if pixels > 0 { forth } else { back }));
            call.insert("pixels".into(), json!(pixels.saturating_abs()));
            calls.push(("scroll", call));
        }
    }
    if calls.is_empty() {
        return Err(Wrong("deltaX and deltaY are both 0".into()));
    }
    Ok(Plan::Calls(calls))
}

/// A list of tabs with the numbers that `index` means. Titles and addresses hold no line breaks, so a line
/// that begins as a tab is one.
pub(super) fn numbered(mut reply: Reply) -> Reply {
    let mut count = 0;
    let lines: Vec<String> = reply
        .text
        .split('\n')
        .map(|line| {
            if !line.starts_with("[tab=") {
                return line.to_owned();
            }
            count += 1;
            format!("- {}: {line}", count - 1)
        })
        .collect();
    reply.text = lines.join("\n");
    reply
}
