//! The fields of a form, in the three forms in which browsers send them.

use serde_json::{Map, Value, json};

/// Reads fields. A name that comes twice becomes a list.
pub(crate) fn fields(kind: &str, body: &[u8]) -> Map<String, Value> {
    if kind.starts_with("application/json") {
        return serde_json::from_slice(body).unwrap_or_default();
    }
    let mut fields = Map::new();
    if let Some((_, boundary)) = kind.split_once("boundary=") {
        for (name, value) in parts(body, boundary) {
            add(&mut fields, name, value);
        }
    } else {
        for pair in String::from_utf8_lossy(body).split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            add(&mut fields, decoded(name), Value::String(decoded(value)));
        }
    }
    fields
}

fn add(fields: &mut Map<String, Value>, name: String, value: Value) {
    match fields.get_mut(&name) {
        Some(Value::Array(list)) => list.push(value),
        Some(first) => *first = json!([first.take(), value]),
        None => {
            fields.insert(name, value);
        }
    }
}

/// The parts of a multipart body; a file becomes its name and its text.
fn parts(body: &[u8], boundary: &str) -> Vec<(String, Value)> {
    let text = String::from_utf8_lossy(body);
    let line = format!("--{}", boundary.trim_matches('"'));
    let mut found = Vec::new();
    for part in text.split(line.as_str()) {
        let Some((head, content)) = part.split_once("\r\n\r\n") else { continue };
        let content = content.strip_suffix("\r\n").unwrap_or(content);
        let Some(name) = quoted(head, " name=\"") else { continue };
        let value = match quoted(head, "filename=\"") {
            Some(file) => json!({"name": file, "text": content}),
            None => json!(content),
        };
        found.push((name, value));
    }
    found
}

fn quoted(head: &str, before: &str) -> Option<String> {
    let (_, rest) = head.split_once(before)?;
    Some(rest.split_once('"')?.0.to_owned())
}

/// A value of a query or a form without its escapes.
pub(crate) fn decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        let escaped = (*first == b'%')
            .then(|| after.get(..2).and_then(|two| std::str::from_utf8(two).ok()))
            .flatten()
            .and_then(|two| u8::from_str_radix(two, 16).ok());
        match (first, escaped) {
            (_, Some(byte)) => {
                bytes.push(byte);
                rest = after.get(2..).unwrap_or_default();
            }
            (b'+', _) => bytes.push(b' '),
            (other, _) => bytes.push(*other),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_read_in_all_three_forms() {
        let form = "application/x-www-form-urlencoded";
        let read = fields(form, b"name=Ada+L%C3%A9on&day=Mo&day=We&none=");
        assert_eq!(
            Value::Object(read),
            json!({"name": "Ada Léon", "day": ["Mo", "We"], "none": ""})
        );
        let body = "--x\r\nContent-Disposition: form-data; name=\"note\"\r\n\r\na\r\nb\r\n--x\r\n\
            Content-Disposition: form-data; name=\"cv\"; filename=\"cv.txt\"\r\n\
            Content-Type: text/plain\r\n\r\nHello\r\n--x--\r\n";
        let read = fields("multipart/form-data; boundary=x", body.as_bytes());
        let file = json!({"name": "cv.txt", "text": "Hello"});
        assert_eq!(Value::Object(read), json!({"note": "a\r\nb", "cv": file}));
        assert_eq!(fields("application/json", b"{\"a\":1}")["a"], 1);
    }
}
