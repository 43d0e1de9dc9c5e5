//! Reads answers of the page script's `facts`, one a line, and writes role and name of each.

#![allow(clippy::print_stdout, clippy::expect_used, reason = "a tool")]

use reins_core::{DocumentId, DocumentOrigin, FrameId, TabId};
use reins_page::{FrameMeta, record};
use std::io::{BufRead, Write};

fn main() {
    let meta = FrameMeta {
        frame: FrameId::new("f"),
        document: DocumentId::new("d"),
        url: String::new(),
        origin: DocumentOrigin::ScriptBuilt,
        owner: None,
    };
    for line in std::io::stdin().lock().lines() {
        let line = line.expect("readable input");
        let answer = match record(&TabId::new("t"), &meta, &DocumentOrigin::ScriptBuilt, &line) {
            Ok(record) => serde_json::json!({ "role": record.role, "label": record.name }),
            Err(error) => {
                serde_json::json!({ "role": "", "label": "", "error": error.to_string() })
            }
        };
        println!("{answer}");
        std::io::stdout().flush().expect("a reader");
    }
}
