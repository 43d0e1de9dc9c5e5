//! Deltas (R-132).

use crate::testing::{URL, capture, capture_with, numbers, snapshot};
use crate::{PublishOptions, RefRegistry, assemble};
use reins_core::{Ref, TabId};
use serde_json::json;

/// What a delta says between two bodies whose elements keep their numbers by position.
fn change(before: &str, after: &str) -> String {
    let mut refs = RefRegistry::new();
    let options = PublishOptions::default();
    let shown = refs.publish(&snapshot(vec![capture(before)]), &options);
    refs.delta(&shown, &snapshot(vec![capture(after)]), &options).text
}

#[test]
fn r132_a_delta_says_what_changed() {
    for (before, after, said) in [
        ("<p>a</p>", "<p>a</p>", ""),
        (
            "<button>Add</button><output>Count: 0</output>",
            "<button>Add</button><output>Count: 1</output>",
            "~ status: Count: 1",
        ),
        ("<p>Count: 0</p>", "<p>Count: 1</p>", "~ Count: 1"),
        (
            "<input type=checkbox aria-label=Wifi>",
            r#"<input type=checkbox aria-label=Wifi :flags="checked">"#,
            "~ checkbox \"Wifi\" [ref=e1] [checked]",
        ),
        (
            "<button>A</button><p>x</p>",
            "<button>A</button><p>x</p><p>y</p><button>B</button>",
            "(after e1)\n+ y\n+ button \"B\" [ref=e2]",
        ),
        (
            "<p>x</p><button>A</button><button>B</button>",
            "<p>x</p><button>A</button>",
            "- e2 button \"B\"",
        ),
        ("<p>x</p><p>gone soon</p>", "<p>x</p>", "- gone soon"),
        // Where the focus is, is no change of the page.
        ("<button>A</button>", r#"<button :flags="focused">A</button>"#, ""),
    ] {
        assert_eq!(change(before, after), said, "{before} -> {after}");
    }
}

/// One changed thing costs at most 600 bytes, however long the page is.
#[test]
fn r132_one_change_is_at_most_600_bytes() {
    let page = |count: u32| {
        let rows: String = (0..150).map(|n| format!("<p>Row {n}</p>")).collect();
        format!("<p>{} clicks {count} {}</p>{rows}", "words ".repeat(200), "more ".repeat(200))
    };
    let said = change(&page(1), &page(2));
    assert!(said.contains("clicks 2"), "{said}");
    assert!(said.len() <= 600, "{} bytes", said.len());
}

/// A bounded reading that leaves something out does not mean that it is gone.
#[test]
fn r132_left_out_is_not_removed() {
    let html = "<button>A</button><button id=b>B</button><button id=c>C</button>";
    let mut refs = RefRegistry::new();
    let options = PublishOptions::default();
    let shown = refs.publish(&snapshot(vec![capture(html)]), &options);
    let gone = numbers(html)["c"];
    let short = json!({"short": true, "total": 900, "visited": 3, "gone": [gone]});
    let now = capture_with("<button>A</button>", "main", "d1", 0, &short);
    let delta = refs.delta(&shown, &snapshot(vec![now]), &options);
    assert_eq!(delta.text, "- e3 button \"C\"");
    assert_eq!(delta.removed, [Ref(3)]);
    // What was not said to be gone is still known the next time.
    let two = "<button>A</button><button id=b>B</button>";
    let back = refs.delta(&delta.snapshot, &snapshot(vec![capture(two)]), &options);
    assert_eq!(back.text, "");
}

/// Another document is no change of this one: everything is shown anew.
#[test]
fn r132_a_new_document_is_shown_whole() {
    let mut refs = RefRegistry::new();
    let options = PublishOptions::default();
    let shown = refs.publish(&snapshot(vec![capture("<button>A</button>")]), &options);
    let next = capture_with("<button>A</button>", "main", "d2", 0, &json!({}));
    let delta = refs.delta(&shown, &snapshot(vec![next]), &options);
    assert!(delta.fresh);
    assert_eq!(delta.text, "- button \"A\" [ref=e2]");
}

#[test]
fn r132_address_and_title_are_told() {
    let mut refs = RefRegistry::new();
    let options = PublishOptions::default();
    let shown = refs.publish(&snapshot(vec![capture("<p>a</p>")]), &options);
    let now = assemble(
        TabId::new("tab"),
        format!("{URL}#x"),
        "Other".to_owned(),
        vec![capture("<p>a</p>")],
        Vec::new(),
    );
    let delta = refs.delta(&shown, &now, &options);
    assert_eq!(delta.text, "address: https://shop.example/list?q=1#x\ntitle: Other");
}

/// Too many changes are counted, and what was not told is told the next time.
#[test]
fn r132_a_delta_is_bounded() {
    let many: String = (0..900).map(|n| format!("<p>Paragraph number {n} of many</p>")).collect();
    let mut refs = RefRegistry::new();
    let options = PublishOptions::default();
    let shown = refs.publish(&snapshot(vec![capture("<p>start</p>")]), &options);
    let after = format!("<p>start</p>{many}");
    let delta = refs.delta(&shown, &snapshot(vec![capture(&after)]), &options);
    assert!(delta.tokens <= 2_200, "{}", delta.tokens);
    assert!(delta.text.ends_with("more changes: take a snapshot"), "{}", delta.text);
    let next = refs.delta(&delta.snapshot, &snapshot(vec![capture(&after)]), &options);
    assert!(next.text.contains("Paragraph number 899 of many") || next.left_out > 0);
}
