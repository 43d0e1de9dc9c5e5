//! Reads the repository for the tidy tests in `tests/`.
//!
//! The rules are tests so that breaking one fails like any other mistake, with the file, the
//! line and what to do. This library only finds files and tells Rust code from its comments,
//! strings and tests; it knows no rule.

mod rust;

pub use rust::{RustFile, StringLiteral};

use std::fs;
use std::path::{Path, PathBuf};

/// Folders that hold nothing written by hand.
const GENERATED: &[&str] = &["node_modules", "dist", "work", "__pycache__", "target"];

/// One file of the repository.
#[derive(Debug)]
pub struct File {
    /// Path from the root of the repository, with `/`.
    pub path: String,
    /// The whole text.
    pub text: String,
}

/// The root of the repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The text of one file, by its path from the root; empty when it is missing.
pub fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_default()
}

/// Every file under the root whose name ends in one of `extensions` (without dot), sorted.
/// Hidden and generated folders are left out.
pub fn files(extensions: &[&str]) -> Vec<File> {
    let mut found = Vec::new();
    walk(&root(), "", extensions, &mut found);
    found.sort_by(|a, b| a.path.cmp(&b.path));
    found
}

/// Every Rust file, with code, comments, strings and tests told apart.
pub fn rust_files() -> Vec<RustFile> {
    rust::parse_all(files(&["rs"]))
}

/// Names of all crates, which are also the names of their folders under `crates/`.
pub fn crates() -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(root().join("crates"))
        .into_iter()
        .flatten()
        .flatten()
        .filter(|entry| entry.path().join("Cargo.toml").exists())
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    names.sort();
    names
}

/// A manifest or lock file as a table; empty when it is missing or no TOML.
pub fn toml(path: &str) -> toml::Table {
    read(path).parse().unwrap_or_default()
}

/// Fails with all findings at once, so that one run shows everything there is to mend.
///
/// # Panics
/// When there is at least one finding.
#[track_caller]
#[expect(clippy::panic, reason = "this is how a tidy test fails")]
pub fn assert_none(rule: &str, findings: &[String]) {
    if !findings.is_empty() {
        panic!("{rule}\n  {}\n", findings.join("\n  "));
    }
}

fn walk(folder: &Path, prefix: &str, extensions: &[&str], found: &mut Vec<File>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let Ok(name) = entry.file_name().into_string() else { continue };
        let path = format!("{prefix}{name}");
        let Ok(kind) = entry.file_type() else { continue };
        if kind.is_dir() {
            let skip = name.starts_with('.')
                || GENERATED.contains(&name.as_str())
                || name.starts_with("target");
            if !skip {
                walk(&entry.path(), &format!("{path}/"), extensions, found);
            }
        } else if name.rsplit_once('.').is_some_and(|(_, end)| extensions.contains(&end))
            && let Ok(text) = fs::read_to_string(entry.path())
        {
            found.push(File { path, text });
        }
    }
}
