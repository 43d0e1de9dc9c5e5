//! Finding words in what was on the screen.

use crate::error::RecordError;
use crate::event::{KindName, Seq, StoredEvent};
use crate::limits::{AROUND, HITS};
use crate::reader::Reader;
use serde::Serialize;
use serde_json::Value;

/// A place where words were found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Hit {
    /// The event that brought them.
    pub seq: Seq,
    /// Milliseconds since 1970.
    pub at_ms: u64,
    /// In which tab.
    pub tab: String,
    /// The words with what stands around them.
    pub text: String,
}

/// Elements whose text is not shown.
const UNSEEN: &[&str] = &["script", "style", "noscript", "template", "head"];

/// Elements that do not end a line.
const INLINE: &[&str] = &[
    "a", "abbr", "b", "bdi", "bdo", "cite", "code", "em", "font", "i", "kbd", "label", "mark", "q",
    "s", "small", "span", "strong", "sub", "sup", "u", "var",
];

pub(crate) fn search(reader: &Reader, words: &str) -> Result<Vec<Hit>, RecordError> {
    let words = plain(words);
    let mut hits = Vec::new();
    if words.is_empty() {
        return Ok(hits);
    }
    reader.each(Seq(0), |event| {
        for text in texts(&event) {
            let Some(around) = find(&plain(&text), &words) else { continue };
            let StoredEvent { seq, at_ms, tab, .. } = &event;
            hits.push(Hit { seq: *seq, at_ms: *at_ms, tab: tab.clone(), text: around });
            break;
        }
        hits.len() < HITS
    })?;
    Ok(hits)
}

/// One space between words.
fn plain(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The first place of the words, whatever their case, with what stands around it.
fn find(text: &str, words: &str) -> Option<String> {
    let lower = |text: &str| text.chars().flat_map(char::to_lowercase).collect::<Vec<_>>();
    let (all, wanted) = (lower(text), lower(words));
    let at = all.windows(wanted.len()).position(|part| part == wanted)?;
    // Lower case may have another length in a few letters; what is shown is then a little beside.
    let begin = at.saturating_sub(AROUND);
    Some(text.chars().skip(begin).take(wanted.len() + (at - begin) + AROUND).collect())
}

/// The texts of an event.
fn texts(event: &StoredEvent) -> Vec<String> {
    // What cannot be read, such as half a surrogate that a page wrote, has no text.
    let Ok(data) = serde_json::from_str::<Value>(event.data.get()) else { return Vec::new() };
    let text = |value: &Value| value.as_str().map(str::to_owned);
    match event.kind {
        KindName::Rrweb => shown(&data["event"]),
        KindName::Console => text(&data["text"]).into_iter().collect(),
        KindName::Marker => text(&data["url"]).or(text(&data["text"])).into_iter().collect(),
        KindName::Action => [&data["label"], &data["tool"], &data["error"]]
            .into_iter()
            .filter_map(text)
            .chain([data["arguments"].to_string()])
            .collect(),
        KindName::Takeover | KindName::Frame | KindName::Placed => Vec::new(),
    }
}

/// What an rrweb event brings to the screen: full pictures and changes of the document.
fn shown(event: &Value) -> Vec<String> {
    const FULL: u64 = 2;
    const CHANGE: u64 = 3;
    const DOCUMENT: u64 = 0;
    let data = &event["data"];
    let mut out = Vec::new();
    match event["type"].as_u64() {
        Some(FULL) => {
            let mut text = String::new();
            collect(&data["node"], &mut text);
            out.push(text);
        }
        Some(CHANGE) if data["source"].as_u64() == Some(DOCUMENT) => {
            // Elements come one by one, each with its texts beside it.
            let mut text = String::new();
            for add in data["adds"].as_array().into_iter().flatten() {
                collect(&add["node"], &mut text);
                text.push(' ');
            }
            out.push(text);
            let changed = data["texts"].as_array().into_iter().flatten();
            out.extend(changed.filter_map(|text| text["value"].as_str().map(str::to_owned)));
        }
        _ => {}
    }
    out
}

fn collect(node: &Value, text: &mut String) {
    const TEXT: u64 = 3;
    if node["type"].as_u64() == Some(TEXT) {
        text.push_str(node["textContent"].as_str().unwrap_or_default());
        return;
    }
    let tag = node["tagName"].as_str().unwrap_or_default();
    if UNSEEN.contains(&tag) {
        return;
    }
    for child in node["childNodes"].as_array().into_iter().flatten() {
        collect(child, text);
    }
    if !INLINE.contains(&tag) {
        text.push(' ');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_across_elements_and_in_any_case() {
        assert_eq!(
            find("Put it into the Basket now", "the basket").unwrap(),
            "Put it into the Basket now"
        );
        assert_eq!(find("short", "much longer than that"), None);
        assert_eq!(find("ÄPFEL und Birnen", "äpfel").unwrap(), "ÄPFEL und Birnen");
        let long = format!("{} needle {}", "x".repeat(500), "y".repeat(500));
        assert!(find(&long, "needle").unwrap().len() < 200);
    }
}
