//! A conversation as it was kept, shown, followed and exported.

use crate::record::Note;
use anyhow::{Context, Result};
use reins_agent::{JournalEvent, StepEnded};
use reins_models::ToolCall;
use reins_store::{StoredConversation, StoredEntry};
use serde_json::{Map, Value, json};
use std::fmt::Write as _;
use std::time::{Duration, SystemTime};

/// How much of a conversation leaves with an export.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Privacy {
    /// Words, calls and results, without the text of pages and without attached files
    #[default]
    Words,
    /// Everything that was kept
    Full,
    /// Kinds, tools, outcomes, times and numbers; nothing that anybody wrote
    Counts,
}

/// The shape of exports. Raised when a reader of the old shape would misread the new one.
pub(crate) const SCHEMA: u32 = 1;

/// An entry, read.
pub(crate) enum Entry {
    Event(Box<JournalEvent>),
    Note(Note),
    /// Of a newer version.
    Unknown,
}

pub(crate) fn read(entry: &StoredEntry) -> Entry {
    if let Ok(event) = serde_json::from_str::<JournalEvent>(&entry.payload) {
        return Entry::Event(Box::new(event));
    }
    serde_json::from_str::<Note>(&entry.payload).map_or(Entry::Unknown, Entry::Note)
}

/// An entry as one JSON object.
pub(crate) fn json_of(entry: &StoredEntry, privacy: Privacy) -> Value {
    let mut fields = match serde_json::from_str(&entry.payload) {
        Ok(Value::Object(fields)) => fields,
        _ => Map::new(),
    };
    match privacy {
        Privacy::Full => {}
        Privacy::Words => {
            fields.remove("page");
            if entry.kind == "attached" {
                fields.remove("content");
            }
        }
        Privacy::Counts => fields.retain(|name, value| is_count(name, value)),
    }
    fields.insert("kind".to_owned(), entry.kind.clone().into());
    let mut all = Map::new();
    all.insert("seq".to_owned(), entry.seq.into());
    all.insert("at".to_owned(), stamp(entry.at).into());
    all.extend(fields);
    Value::Object(all)
}

/// Fields in which nobody's words can be: numbers, truth values, and words of ours.
fn is_count(name: &str, value: &Value) -> bool {
    match value {
        Value::Number(_) | Value::Bool(_) => true,
        Value::String(_) => matches!(name, "outcome" | "how" | "variant" | "cost" | "mime"),
        Value::Object(fields) => fields.iter().all(|(name, value)| is_count(name, value)),
        Value::Null | Value::Array(_) => false,
    }
}

/// The whole conversation as JSON, with the versions that recorded and exported it (W-462).
pub(crate) fn as_json(
    about: &StoredConversation,
    entries: &[StoredEntry],
    privacy: Privacy,
) -> Value {
    let words = privacy != Privacy::Counts;
    json!({
        "format": "reins-conversation",
        "schema": SCHEMA,
        "exported_by": format!("reins {}", env!("CARGO_PKG_VERSION")),
        "recorded_by": recorder(about),
        "privacy": privacy_word(privacy),
        "id": about.id.as_str(),
        "name": about.name.as_ref().filter(|_| words).map(ToString::to_string),
        "task": words.then_some(about.task.as_str()),
        "phase": about.phase.word(),
        "created_at": stamp(about.created_at),
        "updated_at": stamp(about.updated_at),
        "entries": entries.iter().map(|entry| json_of(entry, privacy)).collect::<Vec<_>>(),
    })
}

/// A run of a version that did not say which it was is told as such (W-462).
fn recorder(about: &StoredConversation) -> String {
    match &about.version {
        Some(version) => format!("reins {version}"),
        None => "unknown version".to_owned(),
    }
}

fn privacy_word(privacy: Privacy) -> &'static str {
    match privacy {
        Privacy::Words => "words",
        Privacy::Full => "full",
        Privacy::Counts => "counts",
    }
}

/// The whole conversation as Markdown.
pub(crate) fn as_markdown(
    about: &StoredConversation,
    entries: &[StoredEntry],
    privacy: Privacy,
) -> String {
    let mut text = String::new();
    let title = if privacy == Privacy::Counts { about.id.as_str() } else { &about.task };
    // Writing to a String cannot fail.
    let _ = write!(
        text,
        "# {}\n\n- run {}{}, {}\n- begun {}, last entry {}\n- recorded by {}, exported by reins {} (privacy: {})\n",
        first_line(title),
        about.id,
        about
            .name
            .as_ref()
            .filter(|_| privacy != Privacy::Counts)
            .map(|name| format!(" ({name})"))
            .unwrap_or_default(),
        about.phase.word(),
        stamp(about.created_at),
        stamp(about.updated_at),
        recorder(about),
        env!("CARGO_PKG_VERSION"),
        privacy_word(privacy),
    );
    for entry in entries {
        markdown_of(entry, privacy, &mut text);
    }
    text
}

fn markdown_of(entry: &StoredEntry, privacy: Privacy, text: &mut String) {
    if privacy == Privacy::Counts {
        let _ = write!(text, "\n- {}", json_of(entry, privacy));
        return;
    }
    let _ = match read(entry) {
        Entry::Event(event) => match *event {
            JournalEvent::Person { text: said, .. } => {
                write!(text, "\n## You\n\n{}\n", quoted(&said))
            }
            JournalEvent::CorrectionQueued { text: said, .. } => {
                write!(text, "\n## You, while it ran\n\n{}\n", quoted(&said))
            }
            JournalEvent::MessageQueued { text: said, .. } => {
                write!(text, "\n## You, for afterwards\n\n{}\n", quoted(&said))
            }
            JournalEvent::Resumed { .. } => write!(text, "\n*Taken up again.*\n"),
            JournalEvent::Plan { text: plan } => write!(text, "\n## Plan\n\n{plan}\n"),
            JournalEvent::Reply { text: said, .. } if !said.trim().is_empty() => {
                write!(text, "\n## Model\n\n{}\n", said.trim())
            }
            JournalEvent::StepEnded(ended) => {
                let page = ended.page.as_ref().filter(|_| privacy == Privacy::Full);
                let page = page.map(|page| fenced(page)).unwrap_or_default();
                write!(text, "\n{}\n{page}", step_line(&ended))
            }
            JournalEvent::StepSkipped { text: why, .. } => {
                write!(text, "\n- not done: {}\n", first_line(&why))
            }
            JournalEvent::End { how, text: said, .. } => {
                write!(text, "\n## End: {how}\n\n{}\n", said.trim())
            }
            _ => Ok(()),
        },
        Entry::Note(Note::Attached(file)) => {
            write!(text, "\n*Attached: {} ({})*\n", file.name, file.mime)
        }
        Entry::Note(Note::Bill { requests, input, cached, output, cost }) => {
            let cost = cost.map(|cost| format!(", {cost}")).unwrap_or_default();
            write!(
                text,
                "\n*{requests} requests, {input} tokens in ({cached} cached), {output} out{cost}*\n"
            )
        }
        Entry::Note(Note::Place { .. } | Note::Request(_)) | Entry::Unknown => Ok(()),
    };
}

fn step_line(ended: &StepEnded) -> String {
    let seconds = Duration::from_millis(ended.took_ms).as_secs_f64();
    let line = first_line(&ended.text);
    let line = line.strip_prefix("completed: ").unwrap_or(line);
    format!("{}. **{}** {} ({}, {seconds:.1} s)", ended.step, ended.tool, line, ended.outcome)
}

fn quoted(text: &str) -> String {
    text.lines().map(|line| format!("> {line}")).collect::<Vec<_>>().join("\n")
}

/// A fence longer than any within.
fn fenced(text: &str) -> String {
    let mut fence = "```".to_owned();
    while text.contains(&fence) {
        fence.push('`');
    }
    format!("\n{fence}\n{text}\n{fence}\n")
}

pub(crate) fn first_line(text: &str) -> &str {
    text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default().trim()
}

/// What the calls of a conversation typed without anybody hearing how it ended: it may have gone into
/// a field for secrets.
pub(crate) fn typed_without_end(events: &[JournalEvent]) -> Vec<String> {
    let mut open: Vec<&str> = Vec::new();
    let mut calls: &[ToolCall] = &[];
    for event in events {
        match event {
            // Ids are those of the newest reply only.
            JournalEvent::Reply { calls: made, .. } => {
                calls = made;
                open.clear();
            }
            JournalEvent::StepBegun { call, .. } => open.push(call),
            JournalEvent::StepEnded(ended) => open.retain(|call| *call != ended.call),
            _ => {}
        }
    }
    let texts = calls.iter().filter(|call| open.contains(&call.id.as_str())).filter_map(|call| {
        let arguments: Value = serde_json::from_str(&call.arguments).ok()?;
        Some(arguments.get("text")?.as_str()?.to_owned())
    });
    texts.filter(|text| !text.is_empty()).collect()
}

/// A moment as `2026-01-31T12:00:00Z`.
pub(crate) fn stamp(at: SystemTime) -> String {
    let seconds = at.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    let (year, month, day) = date(days);
    let (hour, minute, second) = (rest / 3_600, rest / 60 % 60, rest % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// Year, month and day of a day counted from 1970.
fn date(mut days: u64) -> (u64, u64, u64) {
    let leap = |year: u64| {
        year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
    };
    let mut year = 1970;
    while days >= 365 + u64::from(leap(year)) {
        days -= 365 + u64::from(leap(year));
        year += 1;
    }
    let february = 28 + u64::from(leap(year));
    let mut month = 1;
    for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] {
        if days < length {
            break;
        }
        days -= length;
        month += 1;
    }
    (year, month, days + 1)
}

/// Reads a file of a conversation for the person.
pub(crate) fn write_out(path: Option<&std::path::Path>, text: &str) -> Result<()> {
    use std::io::Write;
    match path {
        None => std::io::stdout().lock().write_all(text.as_bytes()).context("nobody reads it"),
        Some(path) => std::fs::write(path, text)
            .with_context(|| format!("{} could not be written", path.display())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use reins_agent::RunId;
    use reins_core::ConversationId;
    use reins_store::Phase;

    fn entries(events: Vec<Value>) -> Vec<StoredEntry> {
        let entry = |(at, value): (usize, Value)| StoredEntry {
            seq: at as u64 + 1,
            at: SystemTime::UNIX_EPOCH,
            kind: value["kind"].as_str().unwrap_or_default().to_owned(),
            payload: value.to_string(),
        };
        events.into_iter().enumerate().map(entry).collect()
    }

    fn sample() -> (StoredConversation, Vec<StoredEntry>) {
        let person = JournalEvent::Person { run: RunId(1), text: "buy\na mug".to_owned() };
        let ended = StepEnded {
            step: 1,
            call: "c1".to_owned(),
            tool: "click".to_owned(),
            outcome: "completed".to_owned(),
            worked: true,
            text: "completed: clicked button \"Buy\"".to_owned(),
            page: Some("```PAGE".to_owned()),
            took_ms: 1_234,
            ..StepEnded::default()
        };
        let end =
            JournalEvent::End { run: RunId(1), how: "done".to_owned(), text: "Bought.".to_owned() };
        let value = |event| serde_json::to_value(event).expect("json");
        let events = vec![
            value(person),
            json!({"kind": "attached", "name": "list.txt", "mime": "text/plain", "content": "MUGS"}),
            value(JournalEvent::StepEnded(Box::new(ended))),
            json!({"kind": "of_a_newer_version", "text": "x"}),
            json!({"kind": "bill", "requests": 2, "input": 100, "cached": 60, "output": 9}),
            value(end),
        ];
        let about = StoredConversation {
            id: ConversationId::new("bcdfghjk"),
            name: None,
            task: "buy\na mug".to_owned(),
            version: None,
            settings: "{}".to_owned(),
            phase: Phase::Done,
            created_at: SystemTime::UNIX_EPOCH,
            updated_at: SystemTime::UNIX_EPOCH,
            entries: 6,
        };
        (about, entries(events))
    }

    /// W-462: who recorded and who exported stands in each export, and a run that does not say is told
    /// as unknown.
    #[test]
    fn w462_exports_name_the_versions() {
        let (mut about, entries) = sample();
        let json = as_json(&about, &entries, Privacy::Words);
        assert_eq!(json["recorded_by"], "unknown version");
        assert_eq!(json["exported_by"], format!("reins {}", env!("CARGO_PKG_VERSION")));
        about.version = Some("0.0.7".to_owned());
        let text = as_markdown(&about, &entries, Privacy::Words);
        assert!(text.contains("recorded by reins 0.0.7, exported by reins "), "{text}");
    }

    /// W-460: each mode lets out just what it says.
    #[test]
    fn w460_privacy_modes_let_out_what_they_say() {
        let (about, entries) = sample();
        for (privacy, words, pages) in [
            (Privacy::Full, true, true),
            (Privacy::Words, true, false),
            (Privacy::Counts, false, false),
        ] {
            let json = as_json(&about, &entries, privacy).to_string();
            let text = as_markdown(&about, &entries, privacy);
            for shown in [&json, &text] {
                assert_eq!(shown.contains("a mug"), words, "{privacy:?}: {shown}");
                assert_eq!(shown.contains("Bought"), words, "{privacy:?}: {shown}");
                assert_eq!(shown.contains("PAGE"), pages, "{privacy:?}: {shown}");
            }
            assert_eq!(json.contains("MUGS"), pages, "{privacy:?}");
            assert!(
                json.contains("\"took_ms\":1234") && json.contains("\"outcome\":\"completed\"")
            );
        }
    }

    #[test]
    fn the_markdown_reads_like_the_run() {
        let (about, entries) = sample();
        let text = as_markdown(&about, &entries, Privacy::Full);
        for part in [
            "# buy\n",
            "## You\n\n> buy\n> a mug\n",
            "*Attached: list.txt (text/plain)*",
            "1. **click** clicked button \"Buy\" (completed, 1.2 s)",
            "````\n```PAGE\n````",
            "*2 requests, 100 tokens in (60 cached), 9 out*",
            "## End: done\n\nBought.",
        ] {
            assert!(text.contains(part), "{part}:\n{text}");
        }
    }

    /// R-131: of a step whose end nobody heard, the typed text may be a secret.
    #[test]
    fn what_was_typed_without_an_end_is_found() {
        let call = |id: &str, text: &str| ToolCall {
            id: id.to_owned(),
            name: "type".to_owned(),
            arguments: json!({"ref": "e1", "text": text}).to_string(),
            kept: Vec::new(),
        };
        let calls = vec![call("c1", "ended"), call("c2", "open"), call("c3", "never begun")];
        let begun = |id: &str| JournalEvent::StepBegun {
            step: 1,
            call: id.to_owned(),
            tool: "type".to_owned(),
            arguments: String::new(),
            element: None,
            acts: true,
            commitment: None,
        };
        let ended = StepEnded { call: "c1".to_owned(), ..StepEnded::default() };
        let events = [
            JournalEvent::Reply { text: String::new(), calls, kept: Vec::new() },
            begun("c1"),
            JournalEvent::StepEnded(Box::new(ended)),
            begun("c2"),
        ];
        assert_eq!(typed_without_end(&events), ["open"]);
    }

    #[test]
    fn moments_are_told_in_utc() {
        for (seconds, told) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
            (1_796_083_199, "2026-11-30T23:59:59Z"),
        ] {
            assert_eq!(stamp(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)), told);
        }
    }
}
