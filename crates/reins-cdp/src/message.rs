//! The envelope of a message, borrowed from the bytes it came in.

use crate::error::CallError;
use bytes::Bytes;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// A string that borrows where it can. `Option<Cow<str>>` alone would always copy.
#[derive(Deserialize)]
#[serde(transparent)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

/// Fields we do not know are skipped; what we know is only located, not parsed.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Envelope<'a> {
    id: Option<u64>,
    #[serde(borrow)]
    method: Option<Text<'a>>,
    #[serde(borrow)]
    session_id: Option<Text<'a>>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

/// What the browser says when it refuses a command.
#[derive(Deserialize, Default)]
pub(crate) struct Refused {
    #[serde(default)]
    pub(crate) code: i64,
    #[serde(default)]
    pub(crate) message: String,
}

/// One message of the browser.
pub(crate) enum Message {
    Answer { id: u64, result: Result<Bytes, Refused> },
    Event { method: Box<str>, session: Option<Box<str>>, params: Bytes },
}

/// Why a message could not be routed. Never holds any of its content.
#[derive(Debug)]
pub(crate) struct Unreadable {
    pub(crate) line: usize,
    pub(crate) column: usize,
}

impl Message {
    /// Reads the envelope. The parts share the allocation of `bytes`.
    pub(crate) fn read(bytes: Bytes) -> Result<Self, Unreadable> {
        let bytes = whole_text(bytes);
        let envelope: Envelope<'_> = serde_json::from_slice(&bytes)
            .map_err(|e| Unreadable { line: e.line(), column: e.column() })?;
        let part = |raw: Option<&RawValue>| match raw {
            Some(raw) => bytes.slice_ref(raw.get().as_bytes()),
            None => Bytes::from_static(b"{}"),
        };
        if let Some(method) = envelope.method {
            return Ok(Message::Event {
                method: method.0.into(),
                session: envelope.session_id.map(|s| s.0.into()),
                params: part(envelope.params),
            });
        }
        let Some(id) = envelope.id else { return Err(Unreadable { line: 0, column: 0 }) };
        let result = match envelope.error {
            None => Ok(part(envelope.result)),
            Some(raw) => Err(serde_json::from_str(raw.get()).unwrap_or_default()),
        };
        Ok(Message::Answer { id, result })
    }
}

/// The id of an answer of which only the beginning was kept. Chromium writes the id first.
pub(crate) fn id_of_head(head: &[u8]) -> Option<u64> {
    let rest = head.strip_prefix(br#"{"id":"#)?;
    let digits = rest.iter().take_while(|b| b.is_ascii_digit()).count();
    std::str::from_utf8(&rest[..digits]).ok()?.parse().ok()
}

/// Replaces lone surrogates, which a page can put into any string and JSON can carry as
/// `\ud800`, but Rust's strings cannot. Text without them is returned untouched.
fn whole_text(bytes: Bytes) -> Bytes {
    let escape = memchr::memmem::Finder::new(b"\\u");
    let next_surrogate = |from| next_surrogate(&escape, &bytes, from);
    let Some(first) = next_surrogate(0) else { return bytes };
    let mut fixed: Option<Vec<u8>> = None;
    let mut at = Some(first);
    while let Some(i) = at {
        let unit = hex_unit(&bytes, i);
        let pair = unit.is_some_and(|u| (0xd800..0xdc00).contains(&u))
            && bytes.get(i + 6..i + 8) == Some(b"\\u")
            && hex_unit(&bytes, i + 6).is_some_and(|u| (0xdc00..0xe000).contains(&u));
        if pair {
            at = next_surrogate(i + 12);
            continue;
        }
        if unit.is_some() {
            let out = fixed.get_or_insert_with(|| bytes.to_vec());
            out[i + 2..i + 6].copy_from_slice(b"fffd");
        }
        at = next_surrogate(i + 6);
    }
    fixed.map_or(bytes, Bytes::from)
}

/// The next escape at or after `from` that names a surrogate.
fn next_surrogate(escape: &memchr::memmem::Finder<'_>, bytes: &[u8], from: usize) -> Option<usize> {
    let mut from = from;
    loop {
        let at = from + escape.find(bytes.get(from..)?)?;
        // An escaped backslash before a `u` is no escape of a unit.
        let backslashes = bytes[..at].iter().rev().take_while(|b| **b == b'\\').count();
        let high = bytes.get(at + 2).is_some_and(|b| matches!(b, b'd' | b'D'));
        let half = bytes.get(at + 3).is_some_and(|b| b.is_ascii_hexdigit() && *b >= b'8');
        if high && half && backslashes % 2 == 0 {
            return Some(at);
        }
        from = at + 2;
    }
}

fn hex_unit(bytes: &[u8], at: usize) -> Option<u16> {
    let digits = std::str::from_utf8(bytes.get(at + 2..at + 6)?).ok()?;
    u16::from_str_radix(digits, 16).ok()
}

/// The answer to one command, unparsed.
#[derive(Clone)]
pub struct Reply {
    pub(crate) method: &'static str,
    pub(crate) result: Bytes,
    pub(crate) seq: u64,
}

impl Reply {
    /// Parses the result. `T` may borrow from the reply.
    ///
    /// # Errors
    /// [`CallError::Malformed`] if the answer does not have the form of `T`.
    pub fn parse<'a, T: Deserialize<'a>>(&'a self) -> Result<T, CallError> {
        serde_json::from_slice(&self.result).map_err(|e| malformed(self.method, &e))
    }

    /// The result as the browser wrote it.
    pub fn bytes(&self) -> &Bytes {
        &self.result
    }

    /// The position on the wire. Comparable with [`crate::Event::seq`] of the same connection.
    pub fn seq(&self) -> u64 {
        self.seq
    }
}

impl std::fmt::Debug for Reply {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The content may be a person's, so only its size is shown.
        write!(f, "Reply({}, {} bytes)", self.method, self.result.len())
    }
}

/// `serde_json`'s own message may quote a value, so only kind and place are kept.
pub(crate) fn malformed(method: &'static str, e: &serde_json::Error) -> CallError {
    CallError::Malformed {
        method,
        detail: format!("{:?} error at line {} column {}", e.classify(), e.line(), e.column()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(text: &str) -> Option<String> {
        match Message::read(Bytes::copy_from_slice(text.as_bytes())).unwrap() {
            Message::Answer { result: Ok(bytes), .. } => {
                let reply = Reply { method: "Test.it", result: bytes, seq: 0 };
                reply.parse::<String>().ok()
            }
            _ => None,
        }
    }

    #[test]
    fn lone_surrogates_of_a_page_do_not_make_an_answer_unreadable() {
        let cases = [
            (r#""a\ud83d""#, "a\u{fffd}"),
            (r#""\ude00b""#, "\u{fffd}b"),
            (r#""\uD83Dx\uDE00""#, "\u{fffd}x\u{fffd}"),
            (r#""\ud83d\ud83d\ude00""#, "\u{fffd}😀"),
            (r#""\ud83d\ude00""#, "😀"),
            (r#""\\ud83d""#, "\\ud83d"),
            (r#""\\\ud83d""#, "\\\u{fffd}"),
            (r#""é\u00e9""#, "éé"),
        ];
        for (json, text) in cases {
            let whole = format!(r#"{{"id":1,"result":{json}}}"#);
            assert_eq!(answer(&whole).as_deref(), Some(text), "{json}");
        }
    }

    #[test]
    fn the_parts_share_the_bytes_of_the_message() {
        let bytes = Bytes::from_static(br#"{"id":3,"result":{"a":[1,2]},"new":{"x":1}}"#);
        let range = bytes.as_ptr_range();
        let Ok(Message::Answer { id: 3, result: Ok(result) }) = Message::read(bytes) else {
            panic!("a plain answer")
        };
        assert_eq!(&result[..], br#"{"a":[1,2]}"#);
        assert!(range.contains(&result.as_ptr()));
    }

    #[test]
    fn an_error_in_an_unknown_form_is_still_an_error() {
        for text in [r#"{"id":3,"error":"no"}"#, r#"{"id":3,"error":{"code":"x"}}"#] {
            let Ok(Message::Answer { result: Err(_), .. }) =
                Message::read(Bytes::copy_from_slice(text.as_bytes()))
            else {
                panic!("{text}")
            };
        }
    }

    #[test]
    fn the_id_is_read_from_the_head_of_a_cut_answer() {
        assert_eq!(id_of_head(br#"{"id":42,"result":{"#), Some(42));
        assert_eq!(id_of_head(br#"{"method":"Test.x""#), None);
        assert_eq!(id_of_head(br#"{"id":"#), None);
    }

    #[test]
    fn what_does_not_fit_is_reported_without_its_content() {
        let reply = Reply { method: "Test.it", result: Bytes::from_static(b"\"hunter2\""), seq: 0 };
        let error = reply.parse::<u32>().unwrap_err();
        assert!(!error.to_string().contains("hunter2"), "{error}");
        assert_eq!(error.code(), "malformed_answer");
    }
}
