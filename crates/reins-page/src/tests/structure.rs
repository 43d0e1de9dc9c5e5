//! Text, headings, lists, tables, landmarks.

use crate::testing::check;

/// Better than R-041: the level comes from the tag or `aria-level`, not from font sizes.
#[test]
fn r041_headings_have_their_real_level() {
    check(&[
        ("<h1>One</h1><h2>Two</h2><h3>Three</h3>", "\n- # One\n- ## Two\n- ### Three"),
        (r#"<div role=heading aria-level=4>Four</div>"#, "- #### Four"),
        (r#"<h2><a href="/x">Linked</a></h2>"#, r#"- ## {link "Linked" [ref=e1] /x}"#),
    ]);
}

#[test]
fn running_text_stays_one_line() {
    check(&[
        ("<p>One <b>two</b>\n   three</p><p>Four</p>", "\n- One two three\n- Four"),
        (
            r#"<p>See the <a href="/d">manual</a>, page 4.</p>"#,
            r#"- See the {link "manual" [ref=e1] /d}, page 4."#,
        ),
        (
            r#"<p><a href="/a">A</a> | <a href="/b">B</a></p>"#,
            "
            - link \"A\" [ref=e1] /a
            - link \"B\" [ref=e2] /b",
        ),
        ("<div><div>a</div><div>b</div></div>", "\n- a\n- b"),
        ("<p>a<br>b</p>", "- a b"),
        ("<ul><li>x</li><li>y</li></ul>", "\n- x\n- y"),
        ("<ol start=3><li>x</li><li>y</li></ol>", "\n- 3. x\n- 4. y"),
        ("<p><img alt=\"A lamp\"> is lit</p>", r#"- {img "A lamp"} is lit"#),
        ("<p>Price<span :display=inline-block>9</span>.</p>", "- Price 9."),
    ]);
}

#[test]
fn code_keeps_its_lines() {
    check(&[(
        "<pre>fn main() {\n    run();\n}\n</pre>",
        "
        - ```
          fn main() {
              run();
          }
          ```",
    )]);
}

#[test]
fn tables_are_readable_rows() {
    check(&[
        (
            "<table><caption>Invoices</caption><tr><th>No</th><th>State</th></tr><tr><td>1</td><td>Paid</td></tr></table>",
            "
            - table \"Invoices\"
              - | No | State |
              - | 1 | Paid |",
        ),
        (
            r#"<table><tr><th>No</th><th></th></tr><tr><td>1</td><td><a href="/1">Open</a> <button>Delete</button></td></tr></table>"#,
            "
            - table
              - | No | |
              - | 1 | {link \"Open\" [ref=e1] /1} {button \"Delete\" [ref=e2]} |",
        ),
        // A row that can be clicked as a whole.
        (
            r#"<table><tr><th>No</th></tr><tr :flags="pointer"><td>1</td></tr></table>"#,
            "
            - table
              - | No |
              - [ref=e1] | 1 |",
        ),
        // A gap in the rows is counted.
        (
            "<table><tr><th>No</th></tr><tr :gap=4990><td>1</td></tr></table>",
            "
            - table [4992 rows]
              - | No |
              - | 1 |
              … 4990 more",
        ),
        // A table that only lays out the page is no table.
        ("<table><tr><td><h1>Title</h1></td></tr></table>", "- # Title"),
    ]);
}

/// Landmarks nest their content; what says nothing is flattened.
#[test]
fn landmarks_and_groups() {
    check(&[
        (
            r#"<nav aria-label=Main><a href="/a">A</a><a href="/b">B</a></nav>"#,
            "
            - navigation \"Main\"
              - link \"A\" [ref=e1] /a
              - link \"B\" [ref=e2] /b",
        ),
        (r#"<nav><a href="/a">A</a></nav>"#, r#"- link "A" [ref=e1] /a"#),
        (
            "<fieldset><legend>Size</legend><label><input type=radio>S</label><label><input type=radio>M</label></fieldset>",
            "
            - group \"Size\"
              - radio \"S\" [ref=e1]
              - radio \"M\" [ref=e2]",
        ),
        (
            r#"<div role=dialog aria-labelledby=t><h2 id=t>Delete it?</h2><button>Yes</button><button>No</button></div>"#,
            "
            - dialog \"Delete it?\"
              - button \"Yes\" [ref=e1]
              - button \"No\" [ref=e2]",
        ),
        // A section named by a heading inside it: the heading says it.
        (
            r#"<section aria-labelledby=t><h2 id=t>News</h2><p>a</p><p>b</p><p>c</p></section>"#,
            "
            - ## News
            - a
            - b
            - c",
        ),
        ("<div role=alert>Saved</div>", "- alert: Saved"),
        ("<p><output>Count: 1</output></p>", "- status: Count: 1"),
        (
            r#"<progress aria-label=Upload :value=3 max=10></progress>"#,
            r#"- progressbar "Upload": 3 of 10"#,
        ),
    ]);
}

/// Two columns of a board with a card each: which card stands where is what the page is about.
#[test]
fn a_part_with_a_name_keeps_it_around_a_single_thing() {
    check(&[
        (
            "<section aria-label=Open><button>Paint</button></section><section aria-label=Done><button>Print</button></section>",
            r#"
            - region "Open"
              - button "Paint" [ref=e1]
            - region "Done"
              - button "Print" [ref=e2]"#,
        ),
        // The name says nothing new.
        (
            "<section aria-label=Print><button>Print</button></section>",
            r#"- button "Print" [ref=e1]"#,
        ),
    ]);
}
