//! Tells Rust code from comments, strings and tests, well enough for rules about words.

use crate::File;
use std::collections::HashSet;

/// One string literal of a file.
#[derive(Debug)]
pub struct StringLiteral {
    /// Line, from 1.
    pub line: usize,
    /// Where its first character stands, in bytes from the start of the file.
    pub at: usize,
    /// What stands between the quotes, escapes as written.
    pub text: String,
}

/// One Rust file.
#[derive(Debug)]
pub struct RustFile {
    /// Path from the root of the repository.
    pub path: String,
    /// The text as written.
    pub text: String,
    /// The text with comments and the insides of strings blanked out; same length, same lines.
    pub code: String,
    /// All string literals.
    pub strings: Vec<StringLiteral>,
    /// All lines (from 1) that belong to tests.
    test_lines: HashSet<usize>,
    all_test: bool,
}

impl RustFile {
    /// The crate the file belongs to; empty outside `crates/`.
    pub fn krate(&self) -> &str {
        self.path.strip_prefix("crates/").and_then(|p| p.split('/').next()).unwrap_or("")
    }

    /// Whether a line (from 1) is test code.
    pub fn is_test(&self, line: usize) -> bool {
        self.all_test || self.test_lines.contains(&line)
    }

    /// Lines of code that hold `needle`, with their numbers.
    pub fn lines_with<'a>(&'a self, needle: &'a str) -> impl Iterator<Item = (usize, &'a str)> {
        self.code
            .lines()
            .enumerate()
            .filter(move |(_, l)| l.contains(needle))
            .map(|(i, l)| (i + 1, l))
    }

    /// The line (from 1) of a byte offset.
    pub fn line_at(&self, offset: usize) -> usize {
        self.code.as_bytes()[..offset].iter().filter(|b| **b == b'\n').count() + 1
    }
}

/// Parses all files; modules declared as `#[cfg(test)] mod name;` are tests as a whole.
pub(crate) fn parse_all(files: Vec<File>) -> Vec<RustFile> {
    let mut parsed: Vec<RustFile> = files.into_iter().map(parse).collect();
    let mut test_modules = HashSet::new();
    for file in &parsed {
        for name in outline_test_modules(&file.code) {
            let (folder, stem) = folder_and_stem(&file.path);
            let base = match stem {
                "lib" | "main" | "mod" => folder.to_owned(),
                _ => format!("{folder}{stem}/"),
            };
            test_modules.insert(format!("{base}{name}.rs"));
            test_modules.insert(format!("{base}{name}/mod.rs"));
        }
    }
    for file in &mut parsed {
        file.all_test |= test_modules.contains(&file.path);
    }
    parsed
}

fn folder_and_stem(path: &str) -> (&str, &str) {
    let cut = path.rfind('/').map_or(0, |i| i + 1);
    (&path[..cut], path[cut..].trim_end_matches(".rs"))
}

fn outline_test_modules(code: &str) -> Vec<String> {
    let mut names = Vec::new();
    for (at, _) in code.match_indices("#[cfg(test)]") {
        let rest = code[at + "#[cfg(test)]".len()..].trim_start();
        let Some(rest) = rest.strip_prefix("mod ") else { continue };
        if let Some(end) = rest.find([';', '{'])
            && rest[end..].starts_with(';')
        {
            names.push(rest[..end].trim().to_owned());
        }
    }
    names
}

fn parse(file: File) -> RustFile {
    let (code, strings) = mask(&file.text);
    let test_lines = inline_test_lines(&code);
    let all_test = file.path.contains("/tests/") || file.path.contains("/benches/");
    RustFile { path: file.path, text: file.text, code, strings, test_lines, all_test }
}

/// Lines of everything that follows a `#[cfg(test)]` or `#[test]` up to its closing brace.
fn inline_test_lines(code: &str) -> HashSet<usize> {
    let mut lines = HashSet::new();
    for mark in ["#[cfg(test)]", "#[test]", "#[tokio::test"] {
        for (at, _) in code.match_indices(mark) {
            let Some(open) = code[at..].find(['{', ';']).map(|i| at + i) else { continue };
            let end = if code.as_bytes()[open] == b'{' { closing_brace(code, open) } else { open };
            let first = code[..at].matches('\n').count() + 1;
            let last = first + code[at..end].matches('\n').count();
            lines.extend(first..=last);
        }
    }
    lines
}

fn closing_brace(code: &str, open: usize) -> usize {
    let mut depth = 0usize;
    for (i, b) in code.bytes().enumerate().skip(open) {
        match b {
            b'{' => depth += 1,
            b'}' => {
                depth -= 1;
                if depth == 0 {
                    return i;
                }
            }
            _ => {}
        }
    }
    code.len()
}

/// Blanks comments and the insides of strings and chars, keeping lengths and line breaks.
fn mask(text: &str) -> (String, Vec<StringLiteral>) {
    let bytes = text.as_bytes();
    let mut out = bytes.to_vec();
    let mut strings = Vec::new();
    let mut i = 0;
    while i < bytes.len() {
        let (end, inner) = match bytes[i] {
            b'/' if bytes.get(i + 1) == Some(&b'/') => (line_end(bytes, i), None),
            b'/' if bytes.get(i + 1) == Some(&b'*') => (block_comment_end(bytes, i), None),
            b'"' => {
                let end = quoted_end(bytes, i + 1, b'"');
                (end, Some((i + 1, end.saturating_sub(1))))
            }
            b'r' if starts_raw(bytes, i) => raw_string(bytes, i),
            b'\'' => match char_end(bytes, i) {
                Some(end) => (end, None),
                None => (i + 1, None),
            },
            _ => {
                i += 1;
                continue;
            }
        };
        if let Some((from, to)) = inner {
            let line = bytes[..from].iter().filter(|b| **b == b'\n').count() + 1;
            strings.push(StringLiteral {
                line,
                at: from,
                text: text.get(from..to).unwrap_or("").to_owned(),
            });
        }
        let (from, to) = inner.unwrap_or((i, end));
        if end > i + 1 {
            for b in &mut out[from..to] {
                if *b != b'\n' {
                    *b = b' ';
                }
            }
        }
        i = end.max(i + 1);
    }
    (String::from_utf8_lossy(&out).into_owned(), strings)
}

fn line_end(bytes: &[u8], from: usize) -> usize {
    bytes[from..].iter().position(|b| *b == b'\n').map_or(bytes.len(), |n| from + n)
}

fn block_comment_end(bytes: &[u8], from: usize) -> usize {
    let (mut i, mut depth) = (from + 2, 1);
    while i < bytes.len() && depth > 0 {
        match (bytes[i], bytes.get(i + 1)) {
            (b'/', Some(b'*')) => (depth, i) = (depth + 1, i + 1),
            (b'*', Some(b'/')) => (depth, i) = (depth - 1, i + 1),
            _ => {}
        }
        i += 1;
    }
    i.min(bytes.len())
}

/// The offset just after the closing quote.
fn quoted_end(bytes: &[u8], mut i: usize, quote: u8) -> usize {
    while i < bytes.len() {
        match bytes[i] {
            b'\\' => i += 1,
            b if b == quote => return i + 1,
            _ => {}
        }
        i += 1;
    }
    bytes.len()
}

fn starts_raw(bytes: &[u8], i: usize) -> bool {
    let before_is_word = i > 0
        && (bytes[i - 1].is_ascii_alphanumeric() || bytes[i - 1] == b'_')
        && bytes[i - 1] != b'b';
    let after = bytes[i + 1..].iter().find(|b| **b != b'#');
    !before_is_word && after == Some(&b'"')
}

fn raw_string(bytes: &[u8], i: usize) -> (usize, Option<(usize, usize)>) {
    let hashes = bytes[i + 1..].iter().take_while(|b| **b == b'#').count();
    let from = i + 2 + hashes;
    let mut close = vec![b'"'];
    close.resize(1 + hashes, b'#');
    let to = bytes[from..]
        .windows(close.len())
        .position(|w| w == close.as_slice())
        .map_or(bytes.len(), |n| from + n);
    ((to + close.len()).min(bytes.len()), Some((from, to)))
}

/// The end of a char literal, or `None` for a lifetime.
fn char_end(bytes: &[u8], i: usize) -> Option<usize> {
    match bytes.get(i + 1)? {
        b'\\' => Some(quoted_end(bytes, i + 1, b'\'')),
        _ => (2..=5).find(|n| bytes.get(i + n) == Some(&b'\'')).map(|n| i + n + 1).filter(|end| {
            // A lifetime pair such as `<'a, 'b>` also has a quote near by: a char is one character.
            std::str::from_utf8(&bytes[i + 1..end - 1]).is_ok_and(|s| s.chars().count() == 1)
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(text: &str) -> RustFile {
        parse(File { path: "crates/x/src/lib.rs".into(), text: text.into() })
    }

    #[test]
    fn comments_strings_and_chars_are_blanked_and_lines_stay() {
        let source = "let a = \"x // y\"; // say \"hi\"\nlet b = r#\"q\"uote\"#;\nlet c = '\"'; let d: &'a str;\n/* a\n b */ end";
        let f = file(source);
        assert_eq!(f.code.len(), source.len());
        assert_eq!(f.code.lines().count(), 5);
        assert!(!f.code.contains("//") && !f.code.contains("uote") && f.code.contains("end"));
        assert!(f.code.contains("&'a str"), "a lifetime is no char: {}", f.code);
        assert_eq!(
            f.strings.iter().map(|s| (s.line, s.text.as_str())).collect::<Vec<_>>(),
            [(1, "x // y"), (2, "q\"uote")]
        );
    }

    #[test]
    fn test_code_ends_at_its_closing_brace() {
        let f = file("fn a() {}\n#[cfg(test)]\nmod tests {\n fn b() { \"}\" }\n}\nfn c() {}\n");
        assert_eq!((1..=6).filter(|l| f.is_test(*l)).collect::<Vec<_>>(), [2, 3, 4, 5]);
    }

    #[test]
    fn a_module_declared_for_tests_is_test_code_in_its_own_file() {
        let all = parse_all(vec![
            File {
                path: "crates/x/src/lib.rs".into(),
                text: "fn z() {}\n#[cfg(test)]\nmod cases;\n".into(),
            },
            File { path: "crates/x/src/cases.rs".into(), text: "fn a() {}\n".into() },
            File { path: "crates/x/src/other.rs".into(), text: "fn a() {}\n".into() },
        ]);
        assert_eq!(all.iter().map(|f| f.is_test(1)).collect::<Vec<_>>(), [false, true, false]);
    }
}
