//! What a request carries, by name: never a value.

use serde_json::Value;

/// A body is read up to here; names further on are not found.
const READ: usize = 64 << 10;

/// No more names than this; a card shows fewer.
const NAMES: usize = 64;

/// The names of the top-level fields of a form, of JSON, or of parts.
pub(crate) fn names(content_type: &str, body: &str) -> Vec<String> {
    let mut end = body.len().min(READ);
    while !body.is_char_boundary(end) {
        end -= 1;
    }
    let body = &body[..end];
    let kind = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let mut names: Vec<String> = match kind.as_str() {
        "application/x-www-form-urlencoded" => url::form_urlencoded::parse(body.as_bytes())
            .map(|(name, _)| name.into_owned())
            .collect(),
        "multipart/form-data" => body
            .lines()
            .filter(|line| line.to_ascii_lowercase().starts_with("content-disposition:"))
            .filter_map(|line| Some(line.split_once(" name=\"")?.1.split_once('"')?.0.to_owned()))
            .collect(),
        // Scripts often leave the type out.
        _ => match serde_json::from_str(body) {
            Ok(Value::Object(fields)) => fields.into_iter().map(|(name, _)| name).collect(),
            _ => Vec::new(),
        },
    };
    let mut seen = std::collections::HashSet::new();
    names.retain(|name| seen.insert(name.clone()));
    names.truncate(NAMES);
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r168_only_names_are_read() {
        let multipart = "--x\r\nContent-Disposition: form-data; name=\"mail\"\r\n\r\nsecret\r\n--x\r\n\
            Content-Disposition: form-data; name=\"file\"; filename=\"a.txt\"\r\n\r\nname=\"no\"\r\n--x--";
        for (kind, body, found) in [
            ("application/x-www-form-urlencoded", "a=secret&b=2&a=3", vec!["a", "b"]),
            ("application/json; charset=utf-8", r#"{"a":{"in":1},"b":"secret"}"#, vec!["a", "b"]),
            ("text/plain", r#"{"q":1}"#, vec!["q"]),
            ("multipart/form-data; boundary=x", multipart, vec!["mail", "file"]),
            ("text/plain", "secret=1", vec![]),
            ("application/json", "[1,2]", vec![]),
            ("", "", vec![]),
        ] {
            assert_eq!(names(kind, body), found, "{kind}");
        }
    }
}
