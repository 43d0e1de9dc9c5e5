//! Server-sent events out of a byte stream, with a limit on one event.

use crate::error::ModelError;
use crate::limits::EVENT_BYTES;
use serde_json::Value;

/// One event. Ids and retry hints mean nothing to model providers.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct SseEvent {
    /// The event's name, usually empty.
    pub(crate) name: String,
    /// Its data lines, joined.
    pub(crate) data: String,
}

impl SseEvent {
    /// The data as JSON.
    ///
    /// # Errors
    /// [`ModelError::Malformed`] if it is none.
    pub(crate) fn json(&self) -> Result<Value, ModelError> {
        serde_json::from_str(self.data.trim())
            .map_err(|error| ModelError::Malformed { what: format!("event: {error}") })
    }
}

/// Takes bytes in any portions and gives whole events.
#[derive(Debug, Default)]
pub(crate) struct SseReader {
    line: Vec<u8>,
    event: SseEvent,
    has_data: bool,
    after_return: bool,
    begun: bool,
}

impl SseReader {
    /// Takes the next bytes; complete events are appended to `out`.
    pub(crate) fn push(&mut self, bytes: &[u8], out: &mut Vec<SseEvent>) -> Result<(), ModelError> {
        for &byte in bytes {
            let after_return = std::mem::take(&mut self.after_return);
            match byte {
                b'\n' if after_return => {}
                b'\n' => self.end_line(out),
                b'\r' => {
                    self.after_return = true;
                    self.end_line(out);
                }
                _ => self.line.push(byte),
            }
            if self.line.len() + self.event.data.len() > EVENT_BYTES {
                return Err(ModelError::TooLarge { limit: EVENT_BYTES });
            }
        }
        Ok(())
    }

    /// The stream is over. Some servers leave out the last blank line; a whole line of data counts
    /// as an event then. A line that was cut counts for nothing.
    pub(crate) fn finish(&mut self, out: &mut Vec<SseEvent>) {
        self.line.clear();
        self.dispatch(out);
    }

    fn end_line(&mut self, out: &mut Vec<SseEvent>) {
        let line = std::mem::take(&mut self.line);
        let mut line = String::from_utf8_lossy(&line).into_owned();
        if !std::mem::replace(&mut self.begun, true) && line.starts_with('\u{feff}') {
            line.remove(0);
        }
        if line.is_empty() {
            return self.dispatch(out);
        }
        let (field, value) = line.split_once(':').unwrap_or((&line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "data" => {
                if std::mem::replace(&mut self.has_data, true) {
                    self.event.data.push('\n');
                }
                self.event.data.push_str(value);
            }
            "event" => value.clone_into(&mut self.event.name),
            _ => {}
        }
    }

    fn dispatch(&mut self, out: &mut Vec<SseEvent>) {
        let event = std::mem::take(&mut self.event);
        if std::mem::take(&mut self.has_data) {
            out.push(event);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pieces: &[&[u8]]) -> Vec<(String, String)> {
        let mut reader = SseReader::default();
        let mut out = Vec::new();
        for piece in pieces {
            reader.push(piece, &mut out).expect("within the limit");
        }
        reader.finish(&mut out);
        out.into_iter().map(|event| (event.name, event.data)).collect()
    }

    #[test]
    fn any_portions_and_line_ends_give_the_same_events() {
        let text = "\u{feff}: hello\nevent: a\ndata: {\"é\":1}\ndata:two\n\nid: 7\ndata: last\n\n";
        let expected = read(&[text.as_bytes()]);
        assert_eq!(
            expected,
            [("a".to_owned(), "{\"é\":1}\ntwo".to_owned()), (String::new(), "last".to_owned())]
        );
        for end in ["\n", "\r\n", "\r"] {
            let text = text.replace('\n', end);
            for size in 1..text.len() {
                let pieces: Vec<_> = text.as_bytes().chunks(size).collect();
                assert_eq!(read(&pieces), expected, "{end:?} in portions of {size}");
            }
        }
    }

    #[test]
    fn a_cut_line_is_no_event_but_a_missing_blank_line_is_forgiven() {
        assert_eq!(read(&[b"data: [DONE]\n"]).len(), 1);
        assert!(read(&[b"data: {\"cu"]).is_empty());
        assert!(read(&[b": ping\n\n: ping\n\n"]).is_empty());
    }

    #[test]
    fn an_endless_event_is_refused() {
        let mut reader = SseReader::default();
        let mut out = Vec::new();
        let line = format!("data: {}\n", "x".repeat(1000));
        let failed = (0..2000).any(|_| reader.push(line.as_bytes(), &mut out).is_err());
        assert!(failed && out.is_empty());
    }
}
