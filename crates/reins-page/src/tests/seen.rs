//! What counts as hidden, and what does not (R-036…R-040).

use crate::testing::{check, lines, snapshot};
use crate::text::{TextOptions, page_text};

/// R-036: invisible, transparent, tiny and moved-away text is dropped.
#[test]
fn r036_hidden_text_is_dropped() {
    check(&[
        (r#"<p>Seen</p><p :flags="invisible">HIDDEN</p>"#, "- Seen"),
        (r#"<p>Seen <span :flags="transparent">HIDDEN</span></p>"#, "- Seen"),
        (r#"<p>Seen <span :flags="tiny-font">HIDDEN</span></p>"#, "- Seen"),
        (r#"<p>Seen</p><div :flags="clips" :box="8 8 1 1">HIDDEN</div>"#, "- Seen"),
        (r#"<p>Seen</p><div :flags="clips" :box="8 8 300 0"><p>HIDDEN</p></div>"#, "- Seen"),
        (r#"<p>Seen</p><p :box="-9999 8 200 20">HIDDEN</p>"#, "- Seen"),
        (r#"<p>Seen</p><p :flags="indented">HIDDEN</p>"#, "- Seen"),
        // A child can be visible inside an invisible parent.
        (r#"<p :flags="invisible">HIDDEN <b>Seen</b></p>"#, "- Seen"),
    ]);
}

/// R-038, R-039: off screen is not hidden, and R-037: what is pushed above the page stays in.
#[test]
fn r038_off_screen_text_stays() {
    check(&[
        (r#"<p :off :box="8 9000 200 20">Below</p>"#, "- Below"),
        (r#"<p :off :box="1500 8 200 20">Right</p>"#, "- Right"),
        (r#"<p :off :box="8 -9000 200 20">Above</p>"#, "- Above"),
        // Scrolled away inside its own box, so it can be scrolled back.
        (
            r#"<div :flags="scrolls" :box="0 0 600 100"><p :off :box="-700 0 300 100">Earlier</p></div>"#,
            "- Earlier",
        ),
    ]);
}

/// R-040: names follow the same filter, and off-screen elements keep their refs.
#[test]
fn r040_names_follow_the_filter() {
    check(&[
        (
            r#"<a href="/x">Visible <span :flags="transparent">HIDDEN</span></a>"#,
            r#"- link "Visible" [ref=e1] /x"#,
        ),
        (r#"<button :off :box="8 9000 90 20">Below</button>"#, r#"- button "Below" [ref=e1]"#),
        // A control whose whole label is visually hidden would be nameless without it.
        (
            r#"<button><span :display=block :flags="clips" :box="8 8 1 1">Close</span></button>"#,
            r#"- button "Close" [ref=e1]"#,
        ),
        // A checkbox hidden behind a styled label stays usable.
        (
            r#"<label><input type=checkbox :flags="clips" :box="8 8 1 1"> Wifi</label>"#,
            r#"- checkbox "Wifi" [ref=e1]"#,
        ),
    ]);
}

/// Hidden text does not come back as page text or as a search result.
#[test]
fn r036_hidden_text_does_not_come_back() {
    let html = r#"<p>Seen</p><p :flags="invisible">HIDDEN</p><p :box="-9999 8 200 20">HIDDEN</p>"#;
    let snapshot = snapshot(vec![crate::testing::capture(html)]);
    assert_eq!(page_text(&snapshot, &TextOptions::default()).parts, ["Seen"]);
    assert_eq!(crate::RefRegistry::new().find(&snapshot, "hidden").matches, 0);
}

/// Characters that show nothing can carry hidden words or turn text around.
#[test]
fn r036_invisible_characters_are_dropped() {
    assert_eq!(lines("<p>a\u{200b}b\u{202e}c\u{e0041}\u{ad}d\u{2066}</p>"), "- abcd");
    assert_eq!(lines("<button>O\u{2063}K</button>"), r#"- button "OK" [ref=e1]"#);
    // Joiners that emoji and Indic scripts need stay.
    assert_eq!(
        lines("<p>👨\u{200d}👩 क\u{94d}\u{200d}ष ❤\u{fe0f}</p>"),
        "- 👨\u{200d}👩 क\u{94d}\u{200d}ष ❤\u{fe0f}"
    );
}
