//! Everything that can be done with what a page script sent.

use reins_core::{DocumentId, DocumentOrigin, FrameId, TabId};
use reins_page::{
    CaptureOptions, FrameMeta, PublishOptions, RefRegistry, TextOptions, View, assemble, page_text,
    parse_capture, record,
};

const URL: &str = "https://shop.example/";

/// A budget that cuts off almost everything.
const SMALL: usize = 300;

fn meta() -> FrameMeta {
    FrameMeta {
        frame: FrameId::new("f"),
        document: DocumentId::new("d"),
        url: URL.to_owned(),
        origin: DocumentOrigin::ScriptBuilt,
        owner: None,
    }
}

/// Reads a capture and shows it whole, cut short, as a delta and as text. None of it may panic, and
/// no limit may be passed.
pub fn with(json: &str) {
    let (tab, url) = (TabId::new("tab"), URL.to_owned());
    // The facts of one element come by the same way.
    let _ = record(&tab, &meta(), &DocumentOrigin::ScriptBuilt, json);
    let Ok(capture) = parse_capture(meta(), json) else { return };
    let again = capture.clone();
    let first = assemble(tab.clone(), url.clone(), "t".to_owned(), vec![capture], Vec::new());
    let mut refs = RefRegistry::new();
    let small = PublishOptions { budget_tokens: 60, hard_bytes: SMALL, full: false };
    let shown = refs.publish(&first, &small);
    assert!(shown.text.len() <= SMALL, "the hard cap holds");
    let _ = refs.publish(&first, &PublishOptions { full: true, ..PublishOptions::default() });
    let second = assemble(tab, url, "t".to_owned(), vec![again], Vec::new());
    let delta = refs.delta(&shown, &second, &PublishOptions::default());
    let _ = refs.delta(&delta.snapshot, &first, &PublishOptions::default());
    let text = page_text(&first, &TextOptions { everything: true, hard_bytes: SMALL });
    let _ = (text, refs.find(&first, "a b"), CaptureOptions::full().to_json(), View::default());
}
