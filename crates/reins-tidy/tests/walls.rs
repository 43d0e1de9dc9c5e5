//! Which crate may know what (the table in `ARCHITECTURE.md`, "Rooms").

use reins_tidy::{assert_none, crates, read, rust_files, toml};
use std::collections::{BTreeMap, BTreeSet};

/// Crate, the crates of this workspace it may use, and outside crates only it may name.
/// A crate that decides (`reins-guard`) and one that dispatches (`reins-browser`) meet in
/// `reins-control` only.
const ROOMS: &[(&str, &[&str], &[&str])] = &[
    ("reins-core", &[], &[]),
    ("reins-page", &["reins-core"], &["dom_smoothie"]),
    ("reins-guard", &["reins-core"], &[]),
    ("reins-cdp", &[], &["tokio-tungstenite"]),
    (
        "reins-browser",
        &["reins-core", "reins-child", "reins-page", "reins-guard", "reins-cdp"],
        &["process-wrap", "command-fds"],
    ),
    // No DevTools protocol and no browser: a session's policy is data to it.
    ("reins-egress", &["reins-core"], &["hyper", "hyper-util", "http-body-util", "ipnet"]),
    ("reins-store", &["reins-core"], &["rusqlite", "keyring", "keyring-core"]),
    (
        "reins-control",
        &[
            "reins-core",
            "reins-page",
            "reins-guard",
            "reins-browser",
            "reins-egress",
            "reins-store",
        ],
        &[],
    ),
    // axum only for the scripted server behind the feature `testing`.
    ("reins-models", &["reins-core"], &["reqwest", "rustls", "axum"]),
    ("reins-agent", &["reins-core", "reins-models"], &[]),
    // Knows nothing but processes.
    ("reins-child", &[], &[]),
    ("reins-acp", &["reins-core", "reins-child"], &["process-wrap"]),
    ("reins-mcp", &["reins-core", "reins-control"], &["rmcp"]),
    // What is recorded is data to it: no browser, no protocol.
    ("reins-record", &["reins-core"], &["zstd"]),
    // The browser itself only for the screen and the person's own input; every step of an agent goes through control.
    (
        "reins-serve",
        &[
            "reins-core",
            "reins-control",
            "reins-browser",
            "reins-mcp",
            "reins-record",
            "reins-store",
        ],
        &["axum", "tower-http"],
    ),
    (
        "reins",
        &[
            "reins-core",
            "reins-control",
            "reins-browser",
            "reins-acp",
            "reins-agent",
            "reins-models",
            "reins-mcp",
            "reins-serve",
            "reins-store",
        ],
        &[
            "clap",
            "clap_complete",
            "clap_mangen",
            "anyhow",
            "dialoguer",
            "console",
            "axum",
            "tracing-subscriber",
        ],
    ),
    ("reins-testing", &[], &["axum"]),
    ("reins-tidy", &[], &[]),
];

/// Crates that only compute: no runtime, no sockets, no database, no protocol.
const PURE: &[&str] = &["reins-core", "reins-page", "reins-guard"];

/// What must not even be somewhere under a pure crate.
const IMPURE: &[&str] = &[
    "tokio",
    "async-std",
    "smol",
    "mio",
    "hyper",
    "reqwest",
    "tungstenite",
    "rusqlite",
    "rmcp",
    "reins-cdp",
    "reins-browser",
    "reins-store",
];

/// Domains of the DevTools protocol; a string `Domain.method` is a protocol word.
const DOMAINS: &[&str] = &[
    "Accessibility",
    "Animation",
    "Audits",
    "Autofill",
    "Browser",
    "CSS",
    "CacheStorage",
    "Cast",
    "Console",
    "DOM",
    "DOMDebugger",
    "DOMSnapshot",
    "DOMStorage",
    "Debugger",
    "DeviceOrientation",
    "Emulation",
    "Extensions",
    "Fetch",
    "FileSystem",
    "HeapProfiler",
    "IO",
    "IndexedDB",
    "Input",
    "Inspector",
    "Log",
    "Media",
    "Memory",
    "Network",
    "Overlay",
    "PWA",
    "Page",
    "Performance",
    "PerformanceTimeline",
    "Preload",
    "Profiler",
    "Runtime",
    "Schema",
    "Security",
    "ServiceWorker",
    "Storage",
    "SystemInfo",
    "Target",
    "Tethering",
    "Tracing",
    "WebAudio",
    "WebAuthn",
];

fn dependencies(krate: &str, tables: &[&str]) -> BTreeSet<String> {
    let manifest = toml(&format!("crates/{krate}/Cargo.toml"));
    let mut names = BTreeSet::new();
    for table in tables {
        names.extend(
            manifest
                .get(*table)
                .and_then(|t| t.as_table())
                .into_iter()
                .flat_map(|t| t.keys().cloned()),
        );
    }
    names
}

#[test]
fn every_crate_stands_in_the_table_of_rooms() {
    let known: BTreeSet<String> = ROOMS.iter().map(|(name, ..)| (*name).to_owned()).collect();
    let present: BTreeSet<String> = crates().into_iter().collect();
    assert_eq!(present, known, "keep crates/ and the table ROOMS of this test in step");
}

#[test]
fn crates_use_only_the_rooms_they_may_know() {
    let mut findings = Vec::new();
    for (krate, allowed, _) in ROOMS {
        for used in dependencies(krate, &["dependencies", "build-dependencies"]) {
            if used.starts_with("reins") && !allowed.contains(&used.as_str()) {
                findings.push(format!("crates/{krate}/Cargo.toml: {krate} must not know {used}"));
            }
        }
    }
    assert_none("A wall between crates is broken (see ARCHITECTURE.md, Rooms):", &findings);
}

/// W-463: traces stay on this machine: the rooms that write and read them can send nothing.
#[test]
fn heavy_libraries_are_named_only_by_the_rooms_that_hide_them() {
    let mut findings = Vec::new();
    for (krate, _, own) in ROOMS {
        for used in dependencies(krate, &["dependencies", "build-dependencies"]) {
            let rooms: Vec<&str> = ROOMS
                .iter()
                .filter(|(.., o)| o.contains(&used.as_str()))
                .map(|(room, ..)| *room)
                .collect();
            if !rooms.is_empty() && !own.contains(&used.as_str()) {
                findings.push(format!(
                    "crates/{krate}/Cargo.toml: {used} belongs behind {}",
                    rooms.join(", ")
                ));
            }
        }
    }
    assert_none("A library is used outside the room that hides it:", &findings);
}

#[test]
fn pure_crates_have_no_runtime_anywhere_beneath_them() {
    let below = closures(PURE);
    let mut findings = Vec::new();
    for krate in PURE {
        for bad in IMPURE.iter().filter(|bad| below[*krate].contains(**bad)) {
            findings.push(format!("{krate} reaches {bad} through its dependencies"));
        }
    }
    assert_none("A pure crate must only compute:", &findings);
}

/// Everything each crate reaches, by the lock file; tests' own dependencies of ours left out.
fn closures(starts: &[&str]) -> BTreeMap<String, BTreeSet<String>> {
    let lock = toml("Cargo.lock");
    let mut edges: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for package in lock.get("package").and_then(|p| p.as_array()).into_iter().flatten() {
        let name = package.get("name").and_then(|n| n.as_str()).unwrap_or("").to_owned();
        let uses = package.get("dependencies").and_then(|d| d.as_array()).into_iter().flatten();
        let uses =
            uses.filter_map(|d| d.as_str()).map(|d| d.split(' ').next().unwrap_or(d).to_owned());
        edges.entry(name).or_default().extend(uses);
    }
    starts
        .iter()
        .map(|start| {
            let mut seen = BTreeSet::new();
            let mut todo: Vec<String> =
                dependencies(start, &["dependencies", "build-dependencies"]).into_iter().collect();
            while let Some(next) = todo.pop() {
                if seen.insert(next.clone()) {
                    todo.extend(edges.get(&next).into_iter().flatten().cloned());
                }
            }
            ((*start).to_owned(), seen)
        })
        .collect()
}

#[test]
fn pure_crates_touch_no_file_clock_process_or_socket() {
    const WORDS: &[&str] = &[
        "std::fs",
        "std::net",
        "std::process",
        "std::thread",
        "Instant::now",
        "SystemTime",
        "std::env::",
        "getrandom",
    ];
    let mut findings = Vec::new();
    for file in
        rust_files().iter().filter(|f| PURE.contains(&f.krate()) && f.path.contains("/src/"))
    {
        for word in WORDS {
            for (line, _) in file.lines_with(word).filter(|(line, _)| !file.is_test(*line)) {
                findings.push(format!("{}:{line}: {word}", file.path));
            }
        }
    }
    assert_none("A pure crate gets clock, files and randomness as arguments:", &findings);
}

#[test]
fn protocol_words_stay_in_the_wire_and_the_browser() {
    let mut findings = Vec::new();
    for file in rust_files() {
        if ["reins-cdp", "reins-browser", "reins-tidy"].contains(&file.krate()) {
            continue;
        }
        for string in
            file.strings.iter().filter(|s| is_protocol_method(&s.text) && !file.is_test(s.line))
        {
            findings.push(format!("{}:{}: \"{}\"", file.path, string.line, string.text));
        }
    }
    assert_none(
        "Methods of the DevTools protocol are named in reins-cdp and reins-browser only:",
        &findings,
    );
}

fn is_protocol_method(text: &str) -> bool {
    let Some((domain, method)) = text.split_once('.') else { return false };
    DOMAINS.contains(&domain)
        && method.starts_with(|c: char| c.is_ascii_lowercase())
        && method.len() > 2
        && method.chars().all(|c| c.is_ascii_alphanumeric())
}

#[test]
fn an_approval_is_built_by_the_guard_alone_and_used_once() {
    let mut findings = Vec::new();
    let mut defined = 0;
    for file in rust_files() {
        for (line, text) in file.lines_with("ApprovedAction {") {
            if text.contains("struct ApprovedAction {") && file.krate() == "reins-guard" {
                defined += 1;
                findings.extend(
                    leaks_of(&file.code, line)
                        .into_iter()
                        .map(|l| format!("{}:{line}: {l}", file.path)),
                );
            } else if file.krate() != "reins-guard"
                && !text.contains("impl")
                && !text.contains("->")
            {
                findings.push(format!("{}:{line}: {}", file.path, text.trim()));
            }
        }
        for leak in ["impl Clone for ApprovedAction", "impl Default for ApprovedAction"] {
            findings.extend(
                file.lines_with(leak).map(|(line, _)| format!("{}:{line}: {leak}", file.path)),
            );
        }
    }
    assert_none("Only the guard's answer may become an ApprovedAction, and only once:", &findings);
    let guard_is_written = read("crates/reins-guard/src/lib.rs").lines().count() > 1;
    assert!(
        defined == 1 || !guard_is_written,
        "struct ApprovedAction is defined {defined} times in reins-guard"
    );
}

/// Ways in which the struct at `line` could be made or copied elsewhere.
fn leaks_of(code: &str, line: usize) -> Vec<String> {
    let lines: Vec<&str> = code.lines().collect();
    let mut leaks = Vec::new();
    for before in lines[..line - 1]
        .iter()
        .rev()
        .take_while(|l| l.trim_start().starts_with('#') || l.trim().is_empty())
    {
        for word in ["Clone", "Copy", "Default", "Deserialize"] {
            if before.contains("derive") && before.contains(word) {
                leaks.push(format!("derives {word}"));
            }
        }
    }
    for field in lines[line..].iter().take_while(|l| l.trim() != "}") {
        if field.trim_start().starts_with("pub ") {
            leaks.push(format!("public field `{}`", field.trim()));
        }
    }
    leaks
}

#[test]
fn one_version_of_each_heavy_library() {
    const HEAVY: &[&str] = &[
        "tokio",
        "hyper",
        "rustls",
        "reqwest",
        "axum",
        "rusqlite",
        "libsqlite3-sys",
        "rmcp",
        "tungstenite",
        "tokio-tungstenite",
        "schemars",
        "serde",
        "serde_json",
        "clap",
        "toml",
        "http",
        "url",
        "regex",
    ];
    let lock = toml("Cargo.lock");
    let mut versions: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for package in lock.get("package").and_then(|p| p.as_array()).into_iter().flatten() {
        let field = |key: &str| package.get(key).and_then(|v| v.as_str()).unwrap_or("");
        if let Some(name) = HEAVY.iter().find(|h| **h == field("name")) {
            versions.entry(name).or_default().push(field("version").to_owned());
        }
    }
    let findings: Vec<String> = versions
        .iter()
        .filter(|(_, v)| v.len() > 1)
        .map(|(name, v)| format!("{name}: {}", v.join(", ")))
        .collect();
    assert_none(
        "Cargo.lock holds several versions of a heavy library (find out who asks with `cargo tree -d`):",
        &findings,
    );
    assert!(versions.contains_key("tokio"), "Cargo.lock could not be read");
}

#[test]
fn every_crate_obeys_the_workspace_lints() {
    let mut findings = Vec::new();
    for krate in crates() {
        let manifest = toml(&format!("crates/{krate}/Cargo.toml"));
        let inherits =
            manifest.get("lints").and_then(|l| l.get("workspace")).and_then(|w| w.as_bool());
        if inherits != Some(true) {
            findings.push(format!("crates/{krate}/Cargo.toml: add `[lints] workspace = true`"));
        }
        for table in ["dependencies", "dev-dependencies", "build-dependencies"] {
            for (name, spec) in manifest.get(table).and_then(|t| t.as_table()).into_iter().flatten()
            {
                let shared = spec.get("workspace").and_then(|w| w.as_bool()) == Some(true);
                let local = spec.get("path").is_some();
                if !shared && !local {
                    findings.push(format!(
                        "crates/{krate}/Cargo.toml: {name} must come from [workspace.dependencies]"
                    ));
                }
            }
        }
    }
    assert_none("Lints and versions are set once, in the root Cargo.toml:", &findings);
}
