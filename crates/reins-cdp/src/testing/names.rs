//! Protocol names against a browser's own description of its protocol.

use crate::wire::{Kind, Named};
use serde_json::Value;

/// Compares declared names with a browser's own description of its protocol (what
/// `/json/protocol` of a debugging port answers). Returns one line for each name it does not have.
pub fn check(names: &[Named], description: &Value) -> Vec<String> {
    let mut problems = Vec::new();
    for named in names {
        let Some(entry) = entry(named, description) else {
            problems.push(format!("{:?} {} does not exist", named.kind, named.name));
            continue;
        };
        let (fields, answer) = match named.kind {
            Kind::Command => ("parameters", "returns"),
            Kind::Event => ("parameters", ""),
            Kind::Type => ("properties", ""),
        };
        for (list, wanted) in [(fields, named.fields), (answer, named.answer)] {
            let has = |name: &str| {
                entry[list].as_array().is_some_and(|all| all.iter().any(|f| f["name"] == name))
            };
            for field in wanted.iter().map(|f| camel_case(f)).filter(|f| !has(f)) {
                problems.push(format!("{} has no {field} in its {list}", named.name));
            }
        }
    }
    problems
}

/// Whether a browser has a command, event or type of this name.
pub fn is_known(name: &str, description: &Value) -> bool {
    [Kind::Command, Kind::Event, Kind::Type]
        .iter()
        .any(|kind| find(*kind, name, description).is_some())
}

fn entry<'a>(named: &Named, description: &'a Value) -> Option<&'a Value> {
    find(named.kind, named.name, description)
}

fn find<'a>(kind: Kind, name: &str, description: &'a Value) -> Option<&'a Value> {
    let (domain, name) = name.split_once('.')?;
    let domains = description["domains"].as_array()?;
    let domain = domains.iter().find(|d| d["domain"] == domain)?;
    let (list, key) = match kind {
        Kind::Command => ("commands", "name"),
        Kind::Event => ("events", "name"),
        Kind::Type => ("types", "id"),
    };
    domain[list].as_array()?.iter().find(|e| e[key] == name)
}

/// The rule serde follows for `rename_all = "camelCase"`.
fn camel_case(field: &str) -> String {
    let mut out = String::with_capacity(field.len());
    let mut upper = false;
    for c in field.trim_start_matches("r#").chars() {
        match c {
            '_' => upper = true,
            c if upper => {
                out.extend(c.to_uppercase());
                upper = false;
            }
            c => out.push(c),
        }
    }
    out
}

/// The string literals in Rust source that look like names of commands, events or types of the
/// protocol: a domain of `description`, a dot, a word.
pub fn named_in<'a>(source: &'a str, description: &Value) -> Vec<&'a str> {
    let domains: Vec<&str> = description["domains"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|d| d["domain"].as_str())
        .collect();
    source
        .split('"')
        .filter(|text| {
            text.split_once('.').is_some_and(|(domain, name)| {
                domains.contains(&domain)
                    && !name.is_empty()
                    && name.bytes().all(|b| b.is_ascii_alphanumeric())
            })
        })
        .collect()
}
