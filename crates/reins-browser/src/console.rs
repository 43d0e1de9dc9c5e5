//! What the documents and workers of a tab logged, bounded and counted.

use crate::protocol::inspect::{
    CallFrame, ConsoleCalled, EntryAdded, Logged, Preview, Property, Stack, Thrown,
};
use reins_page::conceal;
use serde_json::Value;
use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash, Hasher};

/// How serious a message is, the least serious first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ConsoleLevel {
    /// `console.debug` and verbose entries of the browser.
    Debug,
    /// `console.log`, `console.info` and what prints like them.
    Info,
    /// Warnings.
    Warning,
    /// Errors, failed assertions, uncaught exceptions.
    Error,
}

/// One message. All of it is the page's own words: data, never an instruction.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ConsoleEntry {
    /// How serious it is.
    pub level: ConsoleLevel,
    /// What was logged, as the console would print it.
    pub text: String,
    /// Where in the source, as `address:line:column`.
    pub place: Option<String>,
    /// The innermost calls of an error.
    pub stack: Vec<String>,
    /// The frame or worker, where it is not the main document.
    pub from: Option<String>,
}

/// What a tab has logged since its main document began.
#[derive(Clone, Debug, Default)]
pub struct ConsoleLog {
    /// Each different message once with how often it came, the newest last.
    pub entries: Vec<(ConsoleEntry, u32)>,
    /// Messages that had to make room.
    pub dropped: u64,
    /// The page logged faster than could be read, so some are missing.
    pub gaps: bool,
}

/// Different messages kept for one document. A person reads the last few; more only costs memory.
const KEPT: usize = 300;

/// A message is cut here: longer ones are dumps of data.
const TEXT: usize = 2_000;

/// Lines of one message.
const LINES: usize = 20;

/// Calls kept of a stack; the innermost tell where to look.
const CALLS: usize = 5;

/// The source of a function, a regular expression or the like is cut here.
const DESCRIPTION: usize = 100;

/// Addresses in places are cut in the middle beyond this many bytes.
const ADDRESS: usize = 200;

/// The messages of one tab.
#[derive(Debug, Default)]
pub(crate) struct Console {
    kept: VecDeque<Kept>,
    dropped: u64,
}

#[derive(Debug)]
struct Kept {
    entry: ConsoleEntry,
    hash: u64,
    count: u32,
    /// The exception it tells of, by session and number: it may be taken back.
    exception: Option<(String, i64)>,
}

impl Console {
    /// Adds a message, or counts it if it came before.
    pub(crate) fn add(&mut self, entry: ConsoleEntry, exception: Option<(String, i64)>) {
        let mut hasher = DefaultHasher::new();
        entry.hash(&mut hasher);
        let hash = hasher.finish();
        // A loop that logs finds its message at the end.
        let known = self.kept.iter().rposition(|kept| kept.hash == hash && kept.entry == entry);
        let count = match known.and_then(|at| self.kept.remove(at)) {
            Some(before) => before.count.saturating_add(1),
            None => 1,
        };
        if self.kept.len() >= KEPT
            && let Some(oldest) = self.kept.pop_front()
        {
            self.dropped += u64::from(oldest.count);
        }
        self.kept.push_back(Kept { entry, hash, count, exception });
    }

    /// A rejected promise got its handler after all.
    pub(crate) fn revoke(&mut self, session: &str, exception: i64) {
        let revoked = |kept: &Kept| {
            kept.exception.as_ref().is_some_and(|(s, id)| s == session && *id == exception)
        };
        self.kept.retain(|kept| kept.count > 1 || !revoked(kept));
    }

    /// Another document begins.
    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    pub(crate) fn log(&self, gaps: bool) -> ConsoleLog {
        let entries = self.kept.iter().map(|kept| (kept.entry.clone(), kept.count)).collect();
        ConsoleLog { entries, dropped: self.dropped, gaps }
    }
}

/// A call of the console API. `None`: it prints nothing.
pub(crate) fn called(call: &ConsoleCalled, from: Option<String>) -> Option<ConsoleEntry> {
    let level = match call.r#type.as_str() {
        "error" | "assert" => ConsoleLevel::Error,
        "warning" => ConsoleLevel::Warning,
        "debug" => ConsoleLevel::Debug,
        // A page that clears its console hides nothing from who inspects it.
        "clear" | "endGroup" | "profile" | "profileEnd" => return None,
        _ => ConsoleLevel::Info,
    };
    let mut text = message(&call.args);
    if call.r#type == "assert" {
        text.insert_str(0, "Assertion failed: ");
    }
    let error = call.args.iter().find(|arg| arg.subtype.as_deref() == Some("error"));
    let own = error.and_then(|error| error.description.as_deref()).map(calls_of);
    let stack = match own {
        Some(calls) if !calls.is_empty() => calls,
        _ if level == ConsoleLevel::Error || call.r#type == "trace" => {
            calls(call.stack_trace.as_ref())
        }
        _ => Vec::new(),
    };
    let place = call.stack_trace.as_ref().and_then(|stack| stack.call_frames.first()).map(place);
    let stack = beyond(stack, place.as_deref());
    Some(ConsoleEntry { level, text: clean(&text), place, stack, from })
}

/// An exception that nothing caught.
pub(crate) fn thrown(thrown: &Thrown, from: Option<String>) -> ConsoleEntry {
    let mut text = thrown.text.clone();
    let mut own = Vec::new();
    if let Some(exception) = &thrown.exception {
        text.push(' ');
        show(exception, &mut text);
        own = exception.description.as_deref().map(calls_of).unwrap_or_default();
    }
    let first = thrown.stack_trace.as_ref().and_then(|stack| stack.call_frames.first());
    let place = match (&thrown.url, first) {
        (Some(url), _) if !url.is_empty() => {
            Some(at(url, thrown.line_number, Some(thrown.column_number)))
        }
        (_, Some(frame)) => Some(place(frame)),
        _ => None,
    };
    let stack = if own.is_empty() { calls(thrown.stack_trace.as_ref()) } else { own };
    let stack = beyond(stack, place.as_deref());
    ConsoleEntry { level: ConsoleLevel::Error, text: clean(&text), place, stack, from }
}

/// An entry that the browser itself logged.
pub(crate) fn entry(added: &EntryAdded, from: Option<String>) -> Option<ConsoleEntry> {
    let entry = &added.entry;
    // Workers are attached and say it themselves.
    if entry.worker_id.is_some() && entry.source == "worker" {
        return None;
    }
    let level = match entry.level.as_str() {
        "error" => ConsoleLevel::Error,
        "warning" => ConsoleLevel::Warning,
        "verbose" => ConsoleLevel::Debug,
        _ => ConsoleLevel::Info,
    };
    let place = entry.url.as_deref().filter(|url| !url.is_empty()).map(|url| {
        match entry.line_number.filter(|_| entry.source != "network") {
            Some(line) => at(url, line, None),
            None => shown(url),
        }
    });
    let text = format!("({}) {}", entry.source, entry.text);
    Some(ConsoleEntry { level, text: clean(&text), place, stack: Vec::new(), from })
}

/// A message that is too large to be read at all.
pub(crate) fn too_large(bytes: usize, from: Option<String>) -> ConsoleEntry {
    ConsoleEntry {
        level: ConsoleLevel::Info,
        text: format!("(a message of {bytes} bytes, too large to keep)"),
        place: None,
        stack: Vec::new(),
        from,
    }
}

/// An address as a place or a source is told.
pub(crate) fn shown(url: &str) -> String {
    reins_guard::clip_middle(&conceal(&reins_guard::plain_text(url)), ADDRESS)
}

/// The innermost call of a script, for who asks why something was loaded.
pub(crate) fn innermost(stack: Option<&Stack>) -> Option<String> {
    stack?.call_frames.iter().find(|frame| !frame.url.is_empty()).map(place)
}

fn place(frame: &CallFrame) -> String {
    at(&frame.url, frame.line_number, Some(frame.column_number))
}

/// The protocol counts from 0, people and editors from 1.
fn at(url: &str, line: i64, column: Option<i64>) -> String {
    let url = if url.is_empty() { "<anonymous>".to_owned() } else { shown(url) };
    match column {
        Some(column) => format!("{url}:{}:{}", line + 1, column + 1),
        None => format!("{url}:{}", line + 1),
    }
}

fn calls(stack: Option<&Stack>) -> Vec<String> {
    let frames = stack.map(|stack| stack.call_frames.as_slice()).unwrap_or_default();
    let line = |frame: &CallFrame| match frame.function_name.as_str() {
        "" => place(frame),
        name => format!("{} ({})", reins_guard::clip_middle(name, DESCRIPTION), place(frame)),
    };
    frames.iter().take(CALLS).map(|frame| clean(&line(frame))).collect()
}

/// The calls in what an error says of itself.
fn calls_of(description: &str) -> Vec<String> {
    let lines = description.lines().filter_map(|line| line.trim_start().strip_prefix("at "));
    lines.take(CALLS).map(|line| reins_guard::clip_middle(&clean(line), ADDRESS)).collect()
}

/// A stack of one call says no more than its place.
fn beyond(stack: Vec<String>, place: Option<&str>) -> Vec<String> {
    match (stack.as_slice(), place) {
        ([only], Some(place)) if only == place => Vec::new(),
        _ => stack,
    }
}

/// What an error says of itself, without its calls.
fn head(description: &str) -> &str {
    description.find("\n    at ").map_or(description, |end| &description[..end])
}

/// Arguments as the console prints them.
fn message(args: &[Logged]) -> String {
    let mut text = String::new();
    let mut rest = args.iter();
    if let [first, _, ..] = args
        && let Some(Value::String(format)) = &first.value
    {
        rest.next();
        substitute(format, &mut rest, &mut text);
    }
    for arg in rest {
        if !text.is_empty() {
            text.push(' ');
        }
        show(arg, &mut text);
        if text.len() > TEXT {
            break;
        }
    }
    text
}

/// Puts arguments in place of `%s` and its like.
fn substitute<'a>(format: &str, args: &mut impl Iterator<Item = &'a Logged>, text: &mut String) {
    let mut chars = format.char_indices().peekable();
    while let Some((_, c)) = chars.next() {
        let directive = match chars.peek() {
            Some((_, next)) if c == '%' => *next,
            _ => {
                text.push(c);
                continue;
            }
        };
        match directive {
            '%' => text.push('%'),
            // Only colours and fonts.
            'c' => drop(args.next()),
            's' | 'd' | 'i' | 'f' | 'o' | 'O' => match args.next() {
                Some(arg) => show(arg, text),
                None => text.extend(['%', directive]),
            },
            _ => {
                text.push('%');
                continue;
            }
        }
        chars.next();
    }
}

fn show(value: &Logged, text: &mut String) {
    let description = value.description.as_deref();
    match (value.r#type.as_str(), value.subtype.as_deref()) {
        ("string", _) => match &value.value {
            Some(Value::String(string)) => push(text, string, TEXT),
            _ => push(text, description.unwrap_or_default(), TEXT),
        },
        ("undefined", _) => text.push_str("undefined"),
        (_, Some("null")) => text.push_str("null"),
        (_, Some("error")) => push(text, head(description.unwrap_or("Error")), TEXT),
        ("object", _) if value.preview.is_some() => {
            if let Some(preview) = &value.preview {
                show_preview(preview, text);
            }
        }
        _ => match (&value.unserializable_value, description, &value.value) {
            (Some(number), ..) => push(text, number, DESCRIPTION),
            (_, Some(description), _) => push(text, description, DESCRIPTION),
            (_, _, Some(plain)) => push(text, &plain.to_string(), DESCRIPTION),
            _ => push(text, &value.r#type, DESCRIPTION),
        },
    }
}

fn show_preview(preview: &Preview, text: &mut String) {
    let description = preview.description.as_deref().unwrap_or("Object");
    let kind = preview.subtype.as_deref();
    if matches!(kind, Some("node" | "date" | "regexp" | "error")) {
        push(text, head(description), DESCRIPTION);
        return;
    }
    let list = matches!(kind, Some("array" | "typedarray"));
    if !list && description != "Object" {
        push(text, description, DESCRIPTION);
        text.push(' ');
    }
    text.push(if list { '[' } else { '{' });
    let mut parts: Vec<String> = Vec::new();
    for entry in preview.entries.iter().flatten() {
        let value = entry.value.description.as_deref().unwrap_or_default();
        parts.push(match entry.key.as_ref().and_then(|key| key.description.as_deref()) {
            Some(key) => format!("{key} => {value}"),
            None => value.to_owned(),
        });
    }
    if preview.entries.is_none() {
        parts.extend(preview.properties.iter().map(|property| match (list, property) {
            (true, property) if property.name.parse::<u64>().is_ok() => property_value(property),
            (_, property) => format!("{}: {}", property.name, property_value(property)),
        }));
    }
    if preview.overflow {
        parts.push("…".to_owned());
    }
    push(text, &parts.join(", "), TEXT);
    text.push(if list { ']' } else { '}' });
}

fn property_value(property: &Property) -> String {
    let value = property.value.as_deref().unwrap_or_default();
    match property.r#type.as_str() {
        "string" => format!("\"{value}\""),
        "function" => "function".to_owned(),
        "accessor" => "(getter)".to_owned(),
        _ => value.to_owned(),
    }
}

fn push(text: &mut String, part: &str, limit: usize) {
    let mut end = part.len().min(limit);
    while !part.is_char_boundary(end) {
        end -= 1;
    }
    text.push_str(&part[..end]);
    if end < part.len() {
        text.push('…');
    }
}

/// Without invisible characters, credentials and excess.
fn clean(text: &str) -> String {
    let mut cut = String::new();
    push(&mut cut, text, TEXT);
    let lines: Vec<String> = cut
        .lines()
        .map(reins_guard::plain_text)
        .filter(|line| !line.is_empty())
        .take(LINES)
        .collect();
    conceal(&lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn log(args: Value) -> String {
        let call = json!({"type": "log", "args": args, "executionContextId": 1});
        called(&serde_json::from_value(call).unwrap(), None).unwrap().text
    }

    #[test]
    fn a005_arguments_read_as_the_console_prints_them() {
        let string = |text: &str| json!({"type": "string", "value": text});
        for (args, wanted) in [
            (json!([string("a"), {"type": "number", "value": 1.5, "description": "1.5"}]), "a 1.5"),
            (
                json!([string("%s of %d%% %x %c!"), string("5"), {"type": "number", "value": 7}, string("color:red")]),
                "5 of 7% %x !",
            ),
            (json!([string("%s and %s"), string("one")]), "one and %s"),
            (json!([string("50%")]), "50%"),
            (
                json!([{"type": "undefined"}, {"type": "object", "subtype": "null", "value": null}, {"type": "bigint", "unserializableValue": "10n"}]),
                "undefined null 10n",
            ),
            (
                json!([{"type": "object", "description": "Object", "preview": {"description": "Object", "overflow": true, "properties": [{"name": "a", "type": "number", "value": "1"}, {"name": "b", "type": "string", "value": "x"}]}}]),
                r#"{a: 1, b: "x", …}"#,
            ),
            (
                json!([{"type": "object", "subtype": "array", "description": "Array(2)", "preview": {"subtype": "array", "description": "Array(2)", "overflow": false, "properties": [{"name": "0", "type": "number", "value": "1"}, {"name": "1", "type": "object", "value": "Object"}]}}]),
                "[1, Object]",
            ),
            (
                json!([{"type": "object", "subtype": "map", "description": "Map(1)", "preview": {"subtype": "map", "description": "Map(1)", "overflow": false, "properties": [], "entries": [{"key": {"description": "k", "overflow": false, "properties": []}, "value": {"description": "v", "overflow": false, "properties": []}}]}}]),
                "Map(1) {k => v}",
            ),
            (
                json!([{"type": "object", "subtype": "error", "description": "TypeError: no\n    at f (a.js:1:2)"}]),
                "TypeError: no",
            ),
            (json!([string("a\u{202e}b"), string("password=hunter2-1")]), "ab password=[redacted]"),
        ] {
            assert_eq!(log(args.clone()), wanted, "{args}");
        }
        assert!(log(json!([string(&"x".repeat(TEXT * 2))])).len() < TEXT + 10);
    }

    #[test]
    fn a005_a_page_that_logs_without_end_costs_a_bounded_list() {
        let entry = |text: String| ConsoleEntry {
            level: ConsoleLevel::Info,
            text,
            place: None,
            stack: Vec::new(),
            from: None,
        };
        let mut console = Console::default();
        for _ in 0..5 {
            console.add(entry("same".into()), None);
        }
        console.add(entry("once".into()), Some(("s".into(), 1)));
        console.add(entry("same".into()), None);
        let log = console.log(false);
        let told: Vec<_> = log.entries.iter().map(|(e, n)| (e.text.as_str(), *n)).collect();
        assert_eq!(told, [("once", 1), ("same", 6)]);
        console.revoke("s", 1);
        assert_eq!(console.log(false).entries.len(), 1);
        for number in 0..KEPT * 3 {
            console.add(entry(number.to_string()), None);
        }
        let log = console.log(false);
        assert_eq!(log.entries.len(), KEPT);
        assert_eq!(log.dropped, 6 + KEPT as u64 * 2);
        assert_eq!(log.entries[KEPT - 1].0.text, (KEPT * 3 - 1).to_string());
    }
}
