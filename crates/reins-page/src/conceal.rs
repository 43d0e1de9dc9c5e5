//! Credentials in texts that are not read from fields: addresses, headers, logs, answers of servers.

/// What stands where a credential was.
const REDACTED: &str = "[redacted]";

/// A text without what looks like a credential (R-131): values of fields and parameters that are named
/// as one, what follows `Bearer` and `Basic`, and signed tokens, wherever they stand.
pub fn conceal(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        let word = word(rest);
        if word.is_empty() {
            let next = rest.chars().next().map_or(1, char::len_utf8);
            out.push_str(&rest[..next]);
            at += next;
            continue;
        }
        if is_signed(rest) {
            out.push_str(REDACTED);
            at += run(rest, |c| c == '.' || is_token(c));
            continue;
        }
        out.push_str(word);
        at += word.len();
        let after = &text[at..];
        let value = if names_a_credential(word) {
            let parameter = out[..out.len() - word.len()].ends_with(['?', '&', '#', ';']);
            value_after(after, parameter)
        } else if ["bearer", "basic"].iter().any(|scheme| word.eq_ignore_ascii_case(scheme)) {
            scheme_value(after)
        } else {
            None
        };
        if let Some((before, value)) = value {
            out.push_str(&after[..before]);
            out.push_str(REDACTED);
            at += before + value;
        }
    }
    out
}

/// The value of a header, with the names of cookies and their attributes but no credential.
pub fn conceal_header(name: &str, value: &str) -> String {
    let name = name.to_ascii_lowercase();
    match name.as_str() {
        "cookie" => value.split(';').map(cookie).collect::<Vec<_>>().join("; "),
        // Several are joined by line breaks.
        "set-cookie" => value.lines().map(set_cookie).collect::<Vec<_>>().join("\n"),
        "authorization" | "proxy-authorization" | "authentication-info" => {
            match value.split_once(' ') {
                Some((scheme, _)) => format!("{scheme} {REDACTED}"),
                None => REDACTED.to_owned(),
            }
        }
        _ if names_a_credential(&name) => REDACTED.to_owned(),
        _ => conceal(value),
    }
}

fn cookie(pair: &str) -> String {
    match pair.trim().split_once('=') {
        Some((name, _)) => format!("{name}={REDACTED}"),
        None => REDACTED.to_owned(),
    }
}

fn set_cookie(line: &str) -> String {
    match line.split_once(';') {
        Some((pair, attributes)) => format!("{};{attributes}", cookie(pair)),
        None => cookie(line),
    }
}

/// Names whose values are credentials, without separators.
const NAMES: &[&str] = &[
    "password",
    "passwd",
    "pwd",
    "passphrase",
    "secret",
    "token",
    "apikey",
    "accesskey",
    "privatekey",
    "secretkey",
    "authorization",
    "credential",
    "credentials",
    "sessionid",
    "sid",
    "jwt",
    "otp",
    "cvv",
    "cvc",
    "cardnumber",
    "sig",
    "signature",
    "xamzsignature",
    "xamzcredential",
];

/// Longer names that end with these are credentials too.
const ENDINGS: &[&str] = &["password", "token", "secret", "apikey", "sessionid"];

/// Tokens that only say where a list goes on.
const PLACES: &[&str] =
    &["pagetoken", "nexttoken", "continuationtoken", "canceltoken", "synctoken"];

fn names_a_credential(name: &str) -> bool {
    let plain: String =
        name.chars().filter(|c| !matches!(c, '-' | '_')).map(|c| c.to_ascii_lowercase()).collect();
    NAMES.contains(&plain.as_str())
        || (ENDINGS.iter().any(|end| plain.ends_with(end))
            && !PLACES.iter().any(|place| plain.ends_with(place)))
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_')
}

fn is_token(c: char) -> bool {
    is_word(c) || matches!(c, '.' | '~' | '+' | '/' | '=' | '%')
}

fn run(text: &str, is: impl Fn(char) -> bool) -> usize {
    text.find(|c| !is(c)).unwrap_or(text.len())
}

fn word(text: &str) -> &str {
    &text[..run(text, is_word)]
}

/// Three parts of base64, of which the first is an object: a signed token.
fn is_signed(text: &str) -> bool {
    // Looked at first: a text of dots would be measured again at each of them.
    if !text.starts_with("eyJ") {
        return false;
    }
    let token = &text[..run(text, |c| is_word(c) || c == '.')];
    token.len() >= 40 && token.matches('.').count() >= 2
}

/// The value that follows the name of a credential: bytes before it, and its length. Code that only
/// names one (`token = read()`) is left readable.
fn value_after(after: &str, parameter: bool) -> Option<(usize, usize)> {
    let mut at = run(after, |c| matches!(c, '"' | '\'' | '\\'));
    at += run(&after[at..], |c| c == ' ');
    let sign = after[at..].chars().next().filter(|c| matches!(c, ':' | '='))?;
    at += 1;
    at += run(&after[at..], |c| c == ' ');
    let rest = &after[at..];
    let quote = rest.trim_start_matches('\\').chars().next().filter(|c| matches!(c, '"' | '\''));
    if let Some(quote) = quote {
        let open = rest.find(quote)? + 1;
        let escaped = open > 1;
        let length = closing(&rest[open..], quote, escaped);
        return (length > 0).then_some((at + open, length));
    }
    if parameter && sign == '=' {
        let length = run(rest, |c| !c.is_whitespace() && !"&;#\"'<>)".contains(c));
        return (length > 0).then_some((at, length));
    }
    let start = rest.char_indices().take(TELLING).take_while(|(_, c)| is_token(*c));
    let telling = start.clone().count() >= 6 && start.clone().any(|(_, c)| c.is_ascii_digit());
    telling.then(|| (at, run(rest, is_token)))
}

/// A credential shows that it is one within this. Names that follow names would otherwise be measured to
/// the end of the text again and again.
const TELLING: usize = 256;

/// Up to the closing quote. In JSON within a string the quotes themselves are escaped.
fn closing(text: &str, quote: char, escaped: bool) -> usize {
    let mut before = None;
    for (at, c) in text.char_indices() {
        if c == quote && (before != Some('\\') || escaped) {
            return if escaped && before == Some('\\') { at - 1 } else { at };
        }
        if c == '\n' {
            return at;
        }
        before = if c == '\\' && before == Some('\\') { None } else { Some(c) };
    }
    text.len()
}

fn scheme_value(after: &str) -> Option<(usize, usize)> {
    let space = run(after, |c| c == ' ');
    let length = run(&after[space..], is_token);
    (space > 0 && length >= 8).then_some((space, length))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIGNED: &str = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abcDEF-_123";

    #[test]
    fn r131_credentials_are_redacted_wherever_they_stand() {
        for (text, wanted) in [
            ("/a?token=abc&x=1", "/a?token=[redacted]&x=1"),
            ("/a#access_token=a.b-c&state=9", "/a#access_token=[redacted]&state=9"),
            (r#"{"password":"p\"w","user":"ada"}"#, r#"{"password":"[redacted]","user":"ada"}"#),
            (r#"{"apiKey": "k", "n": 1}"#, r#"{"apiKey": "[redacted]", "n": 1}"#),
            (r#""{\"token\":\"abc\",\"x\":\"y\"}""#, r#""{\"token\":\"[redacted]\",\"x\":\"y\"}""#),
            ("Authorization: Bearer abcdefgh12", "Authorization: Bearer [redacted]"),
            ("client_secret=s3cr3t99 next", "client_secret=[redacted] next"),
            ("secret: 'é…'", "secret: '[redacted]'"),
        ] {
            assert_eq!(conceal(text), wanted, "{text}");
        }
        assert_eq!(conceal(&format!("got {SIGNED}, thanks")), "got [redacted], thanks");
    }

    /// A server can send what it likes: the time grows with the length and no faster.
    #[test]
    fn hostile_texts_cost_what_they_are_long() {
        for part in ["token=", "a.", "eyJ.", "token:\"", "bearer ", "?sid=", "\\\"token\\\":"] {
            let text = part.repeat((1 << 18) / part.len());
            assert!(conceal(&text).len() <= text.len() * 3, "{part}");
        }
    }

    #[test]
    fn what_only_names_a_credential_stays_readable() {
        for text in [
            "const token = readToken(); if (password) { go(token) }",
            r#"{"nextPageToken":"CAUQAA","token_type":"x"}"#,
            "the password field is empty",
            r#"{"password":"","token":null}"#,
            "basic auth, bearer of news",
            "a=1&b=2 é \u{1f600}",
            "",
        ] {
            assert_eq!(conceal(text), text);
        }
    }

    #[test]
    fn r131_headers_keep_names_and_attributes_only() {
        for (name, value, wanted) in [
            ("Cookie", "a=b; sid=xyz", "a=[redacted]; sid=[redacted]"),
            (
                "set-cookie",
                "a=b; Path=/; HttpOnly\nc=d",
                "a=[redacted]; Path=/; HttpOnly\nc=[redacted]",
            ),
            ("AUTHORIZATION", "Bearer abc", "Bearer [redacted]"),
            ("x-api-key", "k", "[redacted]"),
            ("X-CSRF-Token", "k", "[redacted]"),
            ("location", "/in?token=abc", "/in?token=[redacted]"),
            ("content-type", "text/html", "text/html"),
        ] {
            assert_eq!(conceal_header(name, value), wanted, "{name}");
        }
    }
}
