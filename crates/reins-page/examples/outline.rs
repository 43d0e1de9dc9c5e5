//! Prints the snapshot of one captured frame: `cargo run --example outline CAPTURE.json [URL] [full | text | ?QUERY]`.

#![allow(clippy::print_stdout, clippy::print_stderr, clippy::expect_used, reason = "a tool")]

use reins_core::{DocumentId, DocumentOrigin, FrameId, Origin, TabId};
use reins_page::{
    FrameMeta, PublishOptions, RefRegistry, TextOptions, assemble, page_text, parse_capture,
};

fn main() {
    let mut args = std::env::args().skip(1);
    let path = args.next().expect("a file with what the page script's capture returned");
    let url = args.next().unwrap_or_else(|| "http://127.0.0.1/".to_owned());
    let how = args.next().unwrap_or_default();
    let full = how == "full";
    let json = std::fs::read_to_string(path).expect("a readable file");
    let origin = Origin::parse(&url).map_or(DocumentOrigin::ScriptBuilt, DocumentOrigin::Web);
    let meta = FrameMeta {
        frame: FrameId::new("f"),
        document: DocumentId::new("d"),
        url: url.clone(),
        origin,
        owner: None,
    };
    let begin = std::time::Instant::now();
    let capture = parse_capture(meta, &json).expect("a capture");
    let parsed = begin.elapsed();
    let snapshot = assemble(TabId::new("t"), url, capture.title.clone(), vec![capture], Vec::new());
    let assembled = begin.elapsed();
    if how == "text" {
        let text = page_text(&snapshot, &TextOptions::default());
        println!("{}", text.parts.join("\n=====\n"));
        return;
    }
    if let Some(query) = how.strip_prefix('?') {
        println!("{:#?}", RefRegistry::new().find(&snapshot, query));
        return;
    }
    let options = PublishOptions { full, hard_bytes: usize::MAX, ..PublishOptions::default() };
    let published = RefRegistry::new().publish(&snapshot, &options);
    println!("{}", published.text);
    eprintln!(
        "{} bytes, about {} tokens, {} lines, {} left out; parse {parsed:?}, assemble {assembled:?}, publish {:?}",
        published.bytes,
        published.tokens,
        published.shown,
        published.left_out,
        begin.elapsed()
    );
}
