//! Page text, search, token estimates.

use crate::testing::{capture, snapshot};
use crate::{RefRegistry, TextOptions, estimate_tokens, page_text};

fn text(html: &str) -> String {
    page_text(&snapshot(vec![capture(html)]), &TextOptions::default()).parts.join("\n=====\n")
}

#[test]
fn r034_page_text_is_markdown() {
    let html = r#"<h1>Report</h1><p>All <b>good</b>, see <a href="/x">details</a>.</p><ul><li>one</li><li>two</li></ul><ol><li>first</li></ol><table><tr><th>A</th><th>B</th></tr><tr><td>1</td><td>2</td></tr></table><pre>x = 1
y = 2</pre>"#;
    assert_eq!(
        text(html),
        "# Report\n\nAll good, see details.\n\n- one\n- two\n1. first\n\n| A | B |\n| 1 | 2 |\n\n```\nx = 1\ny = 2\n```"
    );
}

#[test]
fn r034_the_main_part_stands_for_the_page() {
    let story = "A long story. ".repeat(40);
    let html = format!(
        r#"<nav><a href="/1">One</a><a href="/2">Two</a><a href="/3">Three</a></nav><main><h1>Story</h1><p>{story}</p><p>End</p></main>"#
    );
    let snapshot = snapshot(vec![capture(&html)]);
    let main = page_text(&snapshot, &TextOptions::default());
    assert!(main.parts[0].starts_with("# Story\n\nA long story."), "{:?}", main.parts);
    assert!(main.left_out >= 3);
    let all = page_text(&snapshot, &TextOptions { everything: true, ..TextOptions::default() });
    assert!(all.parts[0].starts_with("One"), "{:?}", all.parts);
}

#[test]
fn r042_page_text_comes_in_parts() {
    let html: String = (0..100).map(|n| format!("<p>Paragraph number {n}</p>")).collect();
    let text = page_text(
        &snapshot(vec![capture(&html)]),
        &TextOptions { everything: false, hard_bytes: 300 },
    );
    assert!(text.parts.len() > 5);
    assert!(text.parts.iter().all(|part| part.len() <= 300));
    assert!(text.parts.concat().contains("Paragraph number 99"));
}

#[test]
fn r131_secrets_are_not_page_text() {
    let html = r#"<label>Password <input type=password :secret=password :value=""></label>"#;
    assert_eq!(text(html), "Password: [redacted]");
}

/// Plain text gets the ref of the element that it stands in.
#[test]
fn find_shows_lines_with_refs_and_where_they_stand() {
    let html = r#"<h2>Fruit</h2><p>Red apples</p><a href="/pear">Pears, not apples</a><h2>Trees</h2><p>An apple tree</p>"#;
    let mut refs = RefRegistry::new();
    let found = refs.find(&snapshot(vec![capture(html)]), "APPLE");
    assert_eq!(
        found.text,
        "(## Fruit)\n- Red apples [ref=e1]\n- link \"Pears, not apples\" [ref=e2] /pear\n(## Trees)\n- An apple tree [ref=e3]"
    );
    assert_eq!((found.matches, found.shown, found.apart), (3, 3, false));
    // What was found counts as seen.
    assert!(refs.published_links().contains("https://shop.example/pear"));
    let apart = refs.find(&snapshot(vec![capture(html)]), "tree apple");
    assert_eq!((apart.matches, apart.apart), (1, true));
    assert_eq!(refs.find(&snapshot(vec![capture(html)]), " ").matches, 0);
}

/// Tables whose cells are edited with a double click, rows with a menu of their own: a search gives
/// refs to cells without controls too, empty ones included. Snapshots stay as short as they are.
#[test]
fn find_gives_refs_to_the_cells_of_a_row() {
    let html = "<table><thead><tr><th>No</th><th>State</th><th>Note</th><th></th></tr></thead>\
        <tr><td>17</td><td>new</td><td></td><td><button>Ship</button></td></tr></table>";
    let mut refs = RefRegistry::new();
    let found = refs.find(&snapshot(vec![capture(html)]), "17");
    let row = "- | 17 [ref=e1] | new [ref=e2] | [ref=e3] | {button \"Ship\" [ref=e4]} |";
    assert_eq!(found.text.lines().last(), Some(row));
    assert!(!crate::testing::lines(html).contains("17 [ref"));
}

/// What scrolls, or what something is dropped on, often is a part with a name.
#[test]
fn find_gives_a_ref_to_a_part_with_a_name() {
    let html =
        "<section aria-label=Done><h2>Done</h2><p>Print posters</p><p>Buy paint</p></section>";
    let mut refs = RefRegistry::new();
    let found = refs.find(&snapshot(vec![capture(html)]), "done");
    assert_eq!(found.text, "- region \"Done\" [ref=e1]");
}

/// Fitted against `o200k_base`; the true counts are in the comments beside.
#[test]
fn tokens_are_estimated_within_a_fifth() {
    for (text, tokens) in [
        ("- button \"Sign in\" [ref=e6] [submit]", 13),
        ("- link \"Invoice Export Country 0\" [ref=e3] /trivial.html?l=0", 21),
        ("Slices are a view into a block of memory represented as a pointer and a length.", 17),
        ("", 0),
    ] {
        let estimate = estimate_tokens(text);
        assert!(estimate.abs_diff(tokens) * 5 <= tokens + 5, "{text}: {estimate} for {tokens}");
    }
}
