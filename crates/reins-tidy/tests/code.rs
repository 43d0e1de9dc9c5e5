//! Rules about the code itself.

use reins_tidy::{RustFile, assert_none, files, rust_files};

/// Above this a file holds two things; 400 is the aim.
const MAX_LINES: usize = 700;

/// Rooms without a name: whatever lies in them belongs to something else.
const NAMELESS: &[&str] =
    &["util", "utils", "helper", "helpers", "common", "misc", "stuff", "shared"];

/// What says nothing about where a thing belongs must not be the name of a file or folder.
#[test]
fn files_have_names_that_say_what_they_hold() {
    let mut findings = Vec::new();
    for file in files(&["rs", "ts", "tsx", "js", "mjs", "css", "py", "sh"]) {
        for part in file.path.split('/') {
            let stem = part.split('.').next().unwrap_or(part);
            if NAMELESS.contains(&stem) {
                findings.push(format!("{}: `{part}` says nothing", file.path));
            }
        }
    }
    assert_none("Name the file after the one thing it holds:", &findings);
}

#[test]
fn no_file_is_longer_than_700_lines() {
    let findings: Vec<String> = files(&["rs", "ts", "tsx", "js", "mjs", "css", "py", "sh"])
        .iter()
        .map(|f| (f.text.lines().count(), &f.path))
        .filter(|(lines, _)| *lines > MAX_LINES)
        .map(|(lines, path)| format!("{path}: {lines} lines"))
        .collect();
    assert_none("A long file hides a second concept; give that one a file of its own:", &findings);
}

/// Errors are enums with stable codes; a string cannot be matched on.
#[test]
fn no_error_is_a_bare_string() {
    let mut findings = Vec::new();
    for file in rust_files() {
        for (at, _) in file.code.match_indices("Result<") {
            let error = second_argument(&file.code[at + "Result<".len()..]);
            if matches!(error.as_str(), "String" | "&str" | "&'static str" | "std::string::String")
            {
                findings.push(format!("{}:{}: Result<_, {error}>", file.path, file.line_at(at)));
            }
        }
    }
    assert_none("Make it a variant of the crate's error enum:", &findings);
}

/// The second of the generic arguments at the start of `rest`; empty when there is only one.
fn second_argument(rest: &str) -> String {
    let (mut depth, mut arguments) = (0i32, vec![String::new()]);
    for c in rest.chars() {
        match c {
            '>' if depth == 0 => break,
            ',' if depth == 0 => {
                arguments.push(String::new());
                continue;
            }
            '<' | '(' | '[' => depth += 1,
            '>' | ')' | ']' => depth -= 1,
            '{' | ';' => break,
            _ => {}
        }
        if let Some(last) = arguments.last_mut() {
            last.push(c);
        }
    }
    arguments.get(1).map(|a| a.trim().to_owned()).unwrap_or_default()
}

/// Clippy refuses `unwrap` and `expect` outside tests; an exception needs its reason beside it,
/// and `expect` instead of `allow` so that it goes when it is no longer needed.
#[test]
fn exceptions_from_lints_give_their_reason() {
    let mut findings = Vec::new();
    for file in rust_files() {
        for mark in
            ["#[allow(", "#![allow(", "#[expect(", "#![expect(", "allow(clippy", "expect(clippy"]
        {
            for (at, _) in file.code.match_indices(mark) {
                let end = file.code[at..].find(']').map_or(file.code.len(), |n| at + n);
                if !file.code[at..end].contains("reason") {
                    findings.push(format!(
                        "{}:{}: {mark}… without `reason = \"…\"`",
                        file.path,
                        file.line_at(at)
                    ));
                }
            }
        }
    }
    findings.sort();
    findings.dedup();
    assert_none("Say why the rule does not hold here:", &findings);
}

/// Outside tests a panic is an exception that gives its reason.
#[test]
fn product_code_does_not_panic_on_purpose() {
    let mut findings = Vec::new();
    for file in rust_files().iter().filter(|f| f.krate() != "reins-tidy") {
        for word in ["panic!(", "todo!(", "unimplemented!(", "unreachable!("] {
            for (line, text) in file.lines_with(word) {
                let lint = format!("clippy::{}", word.trim_end_matches("!("));
                let excepted = file
                    .code
                    .lines()
                    .take(line)
                    .collect::<Vec<_>>()
                    .iter()
                    .rev()
                    .take(60)
                    .any(|l| l.contains(&lint));
                if !file.is_test(line) && !excepted && !text.contains("debug_assert") {
                    findings.push(format!("{}:{line}: {}", file.path, text.trim()));
                }
            }
        }
    }
    assert_none(
        "Return an error, or state the reason with #[expect(clippy::…, reason = \"…\")]:",
        &findings,
    );
}

/// A test that is switched off holds nothing.
#[test]
fn no_test_is_switched_off() {
    let mut findings = Vec::new();
    for file in rust_files() {
        for mark in ["#[ignore", "#[cfg(any())]", "#[cfg(false)]", "#[should_panic"] {
            findings.extend(
                file.lines_with(mark).map(|(line, _)| format!("{}:{line}: {mark}", file.path)),
            );
        }
    }
    for file in files(&["ts", "tsx", "js", "mjs"]) {
        for (number, line) in file.text.lines().enumerate() {
            if [".skip(", ".only(", ".todo("]
                .iter()
                .any(|m| line.contains(&format!("test{m}")) || line.contains(&format!("it{m}")))
            {
                findings.push(format!("{}:{}: {}", file.path, number + 1, line.trim()));
            }
        }
    }
    assert_none("Mend the test or delete it:", &findings);
}

/// Tests wait for events. A paused clock is exact; where a test's own server is slow on purpose,
/// the comment above the sleep says so.
#[test]
fn tests_do_not_sleep_without_a_stated_reason() {
    let mut findings = Vec::new();
    for file in rust_files() {
        for word in ["thread::sleep(", "time::sleep(", " sleep("] {
            for (line, text) in file.lines_with(word).filter(|(line, _)| file.is_test(*line)) {
                let paused =
                    file.code.contains("start_paused") || file.code.contains("time::pause(");
                if !paused && !text.contains("fn sleep(") && !has_comment_near(&file, line) {
                    findings.push(format!("{}:{line}: {}", file.path, text.trim()));
                }
            }
        }
    }
    findings.sort();
    findings.dedup();
    assert_none(
        "Wait for the event instead, or say in the comment above why time passes here:",
        &findings,
    );
}

fn has_comment_near(file: &RustFile, line: usize) -> bool {
    let lines: Vec<&str> = file.text.lines().collect();
    let from = line.saturating_sub(4);
    lines[from..line.min(lines.len())].iter().any(|l| l.contains("//"))
}

#[test]
fn comments_hold_no_open_work_and_no_banners() {
    let mut findings = Vec::new();
    for file in files(&["rs", "ts", "tsx", "css"])
        .iter()
        .filter(|f| !f.path.starts_with("crates/reins-tidy/"))
    {
        for (number, line) in file.text.lines().enumerate() {
            let comment = line
                .split_once("//")
                .or_else(|| line.split_once("/*"))
                .map_or("", |(_, c)| c.trim());
            let words = comment.split(|c: char| !c.is_ascii_alphanumeric());
            let open = words.into_iter().any(|w| ["TODO", "FIXME", "XXX", "HACK"].contains(&w));
            let banner = ["----", "====", "****", "####"].iter().any(|b| comment.starts_with(b));
            if open || banner {
                findings.push(format!("{}:{}: {}", file.path, number + 1, line.trim()));
            }
        }
    }
    assert_none("Do the work or file it; let the code's shape show its sections:", &findings);
}

#[test]
fn page_scripts_are_typed() {
    let mut findings = Vec::new();
    for file in files(&["ts", "tsx"]) {
        for (number, line) in file.text.lines().enumerate() {
            let code = line.split("//").next().unwrap_or(line);
            let untyped = [": any", "as any", "<any>", "any[]", "@ts-ignore", "@ts-nocheck"];
            if let Some(mark) = untyped
                .iter()
                .find(|m| is_word(code, m) || (m.starts_with('@') && line.contains(**m)))
            {
                findings.push(format!("{}:{}: {mark}", file.path, number + 1));
            }
        }
    }
    assert_none("TypeScript is strict here; give it its type:", &findings);
}

/// Whether `mark` stands in `code` and does not go on as a longer word.
fn is_word(code: &str, mark: &str) -> bool {
    code.match_indices(mark).any(|(at, _)| {
        let after = code[at + mark.len()..].chars().next();
        !after.is_some_and(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}

#[test]
fn the_rules_see_what_they_forbid() {
    assert_eq!(second_argument("Vec<(u8, String)>, String> {"), "String");
    assert_eq!(second_argument("HashMap<String, String>, PageError>"), "PageError");
    assert_eq!(second_argument("String>"), "");
    assert!(is_word("let x: any = 1", ": any") && !is_word("let x: anything", ": any"));
}
