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

/// Lists that are sorted or dragged keep their elements: a new order is a change.
#[test]
fn r132_a_new_order_is_told() {
    let list = |order: &[u32]| -> String {
        let button = |n: &u32| {
            format!("<button :n={n}>{}</button>", ["A", "B", "C", "D", "E"][*n as usize - 1])
        };
        order.iter().map(button).collect()
    };
    for (before, after, said) in [
        ([1, 2, 3, 4, 5], [5, 1, 2, 3, 4], "> e5 button \"E\" is now before e1"),
        ([1, 2, 3, 4, 5], [1, 3, 4, 5, 2], "> e2 button \"B\" is now after e5"),
        (
            [1, 2, 3, 4, 5],
            [1, 5, 4, 3, 2],
            "> e5 button \"E\" is now before e4\n> e4 button \"D\" is now before e3\n> e3 button \"C\" is now before e2",
        ),
        ([1, 2, 3, 4, 5], [5, 4, 3, 2, 1], "> order now: e5 e4 e3 e2 e1"),
    ] {
        assert_eq!(change(&list(&before), &list(&after)), said);
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

/// What was read and had no room in the snapshot is no news when something else changes, on screen
/// or not; what came on screen since is.
#[test]
fn r132_lines_without_room_are_not_told_as_added() {
    let page = |count: u32| {
        let rows: String =
            (0..900).map(|n| format!("<p>Row {n} of a long list of rows</p>")).collect();
        format!("<output>Count: {count}</output>{rows}")
    };
    let mut refs = RefRegistry::new();
    let options = PublishOptions { budget_tokens: 500, ..PublishOptions::default() };
    let shown = refs.publish(&snapshot(vec![capture(&page(0))]), &options);
    assert!(shown.left_out > 800, "{}", shown.left_out);
    let mut before = shown;
    for count in 1..4 {
        let delta = refs.delta(&before, &snapshot(vec![capture(&page(count))]), &options);
        assert_eq!(delta.text, format!("~ status: Count: {count}"));
        before = delta.snapshot;
    }
    let more = format!("{}<p>Row of its own</p>", page(3));
    let delta = refs.delta(&before, &snapshot(vec![capture(&more)]), &options);
    assert!(delta.text.ends_with("+ Row of its own"), "{}", delta.text);
}

/// Refs of documents that are gone cost nothing, and are still told from refs never given.
#[test]
fn r130_refs_of_gone_documents_are_forgotten_and_stay_stale() {
    let mut refs = RefRegistry::new();
    let options = PublishOptions::default();
    for n in 0..50 {
        let document = format!("d{n}");
        let page = capture_with("<button>A</button>", "main", &document, 0, &json!({}));
        refs.publish(&snapshot(vec![page]), &options);
        assert!(refs.lookup(Ref(n + 1)).is_some());
        assert!(n == 0 || refs.lookup(Ref(n)).is_none());
    }
    assert!(refs.was_given(Ref(1)) && refs.was_given(Ref(50)));
    assert!(!refs.was_given(Ref(51)) && !refs.was_given(Ref(0)));
}
