//! Refs, what was published, budgets.

use crate::testing::{capture, capture_with, key, numbers, snapshot};
use crate::{PublishOptions, RefRegistry};
use reins_core::{FormMethod, Ref};
use serde_json::json;

const SHORT: PublishOptions =
    PublishOptions { budget_tokens: 200, hard_bytes: 32_768, full: false };

/// R-128, R-129: a ref names one node of one document, and no number is used twice.
#[test]
fn r128_a_ref_is_a_tab_a_document_and_a_node() {
    let html = "<button>A</button><button>B</button>";
    let mut refs = RefRegistry::new();
    let options = PublishOptions::default();
    let first = refs.publish(&snapshot(vec![capture(html)]), &options);
    let again = refs.publish(&snapshot(vec![capture(html)]), &options);
    assert_eq!(first.text, again.text);
    let other = capture_with(html, "main", "d2", 0, &json!({}));
    let moved = refs.publish(&snapshot(vec![other]), &options);
    assert_eq!(moved.text, "- button \"A\" [ref=e3]\n- button \"B\" [ref=e4]");
    // R-130: the old ref means nothing else, and is told from one that was never given.
    assert!(refs.lookup(Ref(1)).is_none() && refs.was_given(Ref(1)));
    assert!(refs.lookup(Ref(5)).is_none() && !refs.was_given(Ref(5)));
}

/// R-134, R-147: what counts as seen is what was published, exactly.
#[test]
fn r134_only_published_links_count_as_seen() {
    let html: String = (0..300)
        .map(|n| format!(r#"<p :off><a :off href="/item?id={n}">Item number {n}</a></p>"#))
        .collect();
    let mut refs = RefRegistry::new();
    let shown = refs.publish(&snapshot(vec![capture(&html)]), &SHORT);
    assert!(shown.left_out > 200, "{}", shown.left_out);
    assert!(refs.published_links().contains("https://shop.example/item?id=0"));
    assert!(!refs.published_links().contains("https://shop.example/item?id=299"));
    refs.begin_turn();
    assert!(refs.published_links().is_empty());
}

/// R-170: with a submitting control its whole submission is published.
#[test]
fn r134_a_submission_is_published_with_its_button() {
    let submission = json!({"action": "https://pay.example/", "method": "post", "target": "",
        "enctype": "text/plain", "caption": "Pay"});
    let escaped = submission.to_string().replace('"', "&quot;");
    let html = format!(r#"<button :flags="submits" :submission="{escaped}">Pay</button>"#);
    let mut refs = RefRegistry::new();
    refs.publish(&snapshot(vec![capture(&html)]), &PublishOptions::default());
    let seen = refs.lookup(Ref(1)).and_then(|seen| seen.submission.clone()).expect("published");
    assert_eq!((seen.action.as_str(), seen.method), ("https://pay.example/", FormMethod::Post));
    assert_eq!(seen.submitter.as_deref(), Some("Pay"));
}

/// R-042: whole lines within the budget; what is on screen comes first, wherever it is.
#[test]
fn r042_what_is_on_screen_has_priority() {
    let mut html: String =
        (0..200).map(|n| format!("<p :off>Paragraph number {n} of many</p>")).collect();
    html.push_str("<p>On screen now</p>");
    html.push_str(&"<p :off>Further below</p>".repeat(50));
    let shown = RefRegistry::new().publish(&snapshot(vec![capture(&html)]), &SHORT);
    assert!(shown.tokens <= 200, "{}", shown.tokens);
    assert!(shown.text.starts_with("- Paragraph number 0 of many\n"), "{}", shown.text);
    assert!(
        shown.text.contains("lines not shown\n- On screen now\n… 50 lines not shown"),
        "{}",
        shown.text
    );
    assert!(shown.text.lines().all(|line| !line.is_empty()));
}

#[test]
fn r132_full_shows_everything_in_pages() {
    let html: String =
        (0..400).map(|n| format!("<p :off>Paragraph number {n} of many</p>")).collect();
    let options = PublishOptions { full: true, hard_bytes: 4_000, ..SHORT };
    let shown = RefRegistry::new().publish(&snapshot(vec![capture(&html)]), &options);
    assert_eq!(shown.left_out, 0);
    assert!(shown.bytes <= 4_000 && shown.rest.iter().all(|page| page.len() <= 4_000));
    let all = format!("{}\n{}", shown.text, shown.rest.join("\n"));
    assert_eq!(all.lines().count(), 400);
    assert!(all.ends_with("Paragraph number 399 of many"));
}

/// Containers come with the lines chosen from them.
#[test]
fn r042_a_line_brings_its_container() {
    let mut html = String::from("<nav aria-label=Side>");
    html.push_str(&r#"<a href="/x" :off :display=block>Some entry of the menu</a>"#.repeat(60));
    html.push_str(
        r#"</nav><div role=dialog aria-label=Ask><p>Really?</p><button>Yes</button></div>"#,
    );
    let shown = RefRegistry::new().publish(&snapshot(vec![capture(&html)]), &SHORT);
    assert!(
        shown.text.contains("- dialog \"Ask\"\n  - Really?\n  - button \"Yes\""),
        "{}",
        shown.text
    );
}

/// R-043: the hash changes with the content and with nothing else.
#[test]
fn r043_the_hash_follows_the_content() {
    let hash = |html: &str| snapshot(vec![capture(html)]).hash();
    assert_eq!(hash("<p>a</p>"), hash("<p>a</p>"));
    assert_ne!(hash("<p>a</p>"), hash("<p>b</p>"));
    assert_ne!(hash("<button>a</button>"), hash(r#"<button :flags="disabled">a</button>"#));
}

#[test]
fn nodes_that_were_shown_are_known_to_the_next_capture() {
    let html = "<button id=a>A</button><p>t</p>";
    let mut refs = RefRegistry::new();
    let shown = refs.publish(&snapshot(vec![capture(html)]), &PublishOptions::default());
    let nodes = shown.nodes(&refs);
    let wanted = key("main", "d1", numbers(html)["a"]);
    assert_eq!(nodes[&wanted.document], [wanted.node]);
    assert_eq!(refs.ref_of(&wanted), Some(Ref(1)));
}
