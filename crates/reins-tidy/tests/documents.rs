//! The documents and the code say the same.

use reins_tidy::{RustFile, assert_none, crates, files, read, rust_files};
use std::collections::BTreeSet;

#[test]
fn every_crate_has_its_sentence() {
    let readme = read("crates/README.md");
    let mut findings = Vec::new();
    for krate in crates() {
        let row = readme.lines().find(|line| line.starts_with(&format!("| `{krate}` |")));
        let sentence = row.and_then(|r| r.split('|').nth(2)).unwrap_or("").trim();
        if sentence.split_whitespace().count() < 4 {
            findings.push(format!("crates/README.md: no sentence for {krate}"));
        }
    }
    assert_none("Each crate is told in one sentence:", &findings);
}

/// The rows of the table under "Invariants": what holds, and the tests that hold it.
fn invariants() -> Vec<(String, Vec<String>)> {
    let text = read("ARCHITECTURE.md");
    let section = text.split("\n## Invariants").nth(1).unwrap_or("");
    let section = section.split("\n## ").next().unwrap_or("");
    let rows = section.lines().filter(|l| l.starts_with("| ")).skip(1);
    rows.map(|row| {
        let cells: Vec<&str> = row.trim_matches('|').split('|').collect();
        let tests =
            cells.last().unwrap_or(&"").split('`').skip(1).step_by(2).map(str::to_owned).collect();
        (cells[0].trim().to_owned(), tests)
    })
    .collect()
}

#[test]
fn every_invariant_names_a_test_that_exists() {
    let known = test_names();
    let rows = invariants();
    let mut findings = Vec::new();
    for (invariant, tests) in &rows {
        if tests.is_empty() {
            findings.push(format!("no test for: {invariant}"));
        }
        findings.extend(
            tests.iter().filter(|t| !known.contains(*t)).map(|t| format!("no such test: {t}")),
        );
    }
    assert_none("ARCHITECTURE.md promises what no test holds:", &findings);
    assert!(rows.len() >= 5, "ARCHITECTURE.md has no table of invariants");
}

/// Names of all functions in test code, as `crate::name` and as `name`.
fn test_names() -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for file in rust_files() {
        for (line, text) in file.lines_with("fn ").filter(|(line, _)| file.is_test(*line)) {
            let name = text.split("fn ").nth(1).unwrap_or("");
            let name = name.split(['(', '<']).next().unwrap_or("").trim();
            let marked = file.code.lines().take(line - 1).collect::<Vec<_>>();
            let marked =
                marked.iter().rev().take(6).any(|l| l.contains("test") && l.contains("#["));
            if !name.is_empty() && marked {
                names.insert(format!("{}::{name}", file.krate()));
                names.insert(name.to_owned());
            }
        }
    }
    names
}

/// A link to a file of this repository leads somewhere.
#[test]
fn links_between_documents_lead_somewhere() {
    let mut findings = Vec::new();
    for file in files(&["md"]) {
        let folder = file.path.rfind('/').map_or("", |i| &file.path[..=i]);
        for (at, _) in file.text.match_indices("](") {
            let target = file.text[at + 2..].split([')', ' ']).next().unwrap_or("");
            let target = target.split('#').next().unwrap_or("");
            if target.is_empty() || target.contains("://") || target.starts_with("mailto:") {
                continue;
            }
            if !reins_tidy::root().join(folder).join(target).exists() {
                findings.push(format!("{}: {target}", file.path));
            }
        }
    }
    assert_none("Broken links:", &findings);
}

/// Commands that the documents tell people to type exist.
#[test]
fn make_targets_in_documents_exist() {
    let makefile = read("Makefile");
    let mut findings = Vec::new();
    for file in files(&["md"]) {
        for command in file.text.split('`').skip(1).step_by(2).flat_map(str::lines) {
            let mut words = command.split_whitespace();
            let (Some("make"), Some(target)) = (words.next(), words.next()) else { continue };
            if target.starts_with(|c: char| c.is_ascii_lowercase())
                && !makefile.lines().any(|l| l.starts_with(&format!("{target}:")))
            {
                findings.push(format!("{}: make {target}", file.path));
            }
        }
    }
    assert_none("The Makefile has no such target:", &findings);
}

/// Numbers are quoted from a measurement, never typed.
#[test]
fn figures_in_the_readme_are_those_of_the_last_measurement() {
    let readme = read("README.md");
    let quoted = readme.split("<!-- figures: quoted from bench/results.md -->").nth(1);
    let quoted = quoted.and_then(|rest| rest.split("<!-- end of figures -->").next());
    let measured = read("bench/results.md");
    let findings: Vec<String> = quoted
        .unwrap_or("the README has lost its marks for the figures")
        .lines()
        .filter(|line| !line.is_empty() && !measured.lines().any(|m| m == *line))
        .map(str::to_owned)
        .collect();
    assert_none(
        "These lines of the README are not in bench/results.md (`make bench` writes both):",
        &findings,
    );
}

/// Every stable code that a person or a model may meet is explained.
#[test]
fn every_error_code_is_explained() {
    let guide = read("docs/troubleshooting.md");
    let mut findings = Vec::new();
    for file in rust_files().iter().filter(|f| f.path.contains("/src/")) {
        for string in file.strings.iter().filter(|s| is_code(&s.text) && !file.is_test(s.line)) {
            if names_a_code(file, string.at) && !guide.contains(&format!("`{}`", string.text)) {
                findings.push(format!("{}:{}: {}", file.path, string.line, string.text));
            }
        }
    }
    assert_none("docs/troubleshooting.md does not say what to do about these:", &findings);
}

fn is_code(text: &str) -> bool {
    text.len() > 2 && text.chars().all(|c| c.is_ascii_lowercase() || c == '_')
}

/// Whether the string at `at` is a code: the result of an arm in a file about errors, or the first
/// argument of a refusal.
fn names_a_code(file: &RustFile, at: usize) -> bool {
    let before = file.code[..at].trim_end_matches('"').trim_end();
    let name = file.path.rsplit('/').next().unwrap_or("");
    let about_errors = name.contains("error") || ["refuse.rs", "outcome.rs"].contains(&name);
    before.ends_with("Refusal::new(")
        || before.ends_with("refused(")
        || (about_errors && before.ends_with("=>"))
}
