//! Lines of controls.

use crate::testing::{check, lines};

/// R-127: role, quoted name, ref and marks.
#[test]
fn r127_a_control_is_one_line() {
    check(&[
        ("<button>Save</button>", r#"- button "Save" [ref=e1]"#),
        (r#"<button :flags="submits">Sign in</button>"#, r#"- button "Sign in" [ref=e1] [submit]"#),
        (
            r#"<button :flags="submits" :submission="{&quot;action&quot;:&quot;https://pay.example/x&quot;,&quot;method&quot;:&quot;post&quot;,&quot;target&quot;:&quot;&quot;,&quot;enctype&quot;:&quot;&quot;}">Pay</button>"#,
            r#"- button "Pay" [ref=e1] [submit: to https://pay.example]"#,
        ),
        (
            r#"<button><span :display=block :flags="clips" :box="8 8 1 1">Find</span>🔍</button>"#,
            r#"- button "Find 🔍" [ref=e1]"#,
        ),
        (r#"<button :flags="disabled">Save</button>"#, r#"- button "Save" [ref=e1] [disabled]"#),
        (
            r#"<button aria-haspopup=menu aria-expanded=false>File</button>"#,
            r#"- button "File" [ref=e1] [collapsed] [opens menu]"#,
        ),
        (r#"<button aria-pressed=true>Bold</button>"#, r#"- button "Bold" [ref=e1] [pressed]"#),
        (r#"<div role=button>Go</div>"#, r#"- button "Go" [ref=e1]"#),
        (
            r#"<div role=switch aria-checked=true>Wifi</div>"#,
            r#"- switch "Wifi" [ref=e1] [checked]"#,
        ),
        (r#"<button>Say "hi"</button>"#, r#"- button "Say \"hi\"" [ref=e1]"#),
        (r#"<button aria-label=Close><img alt=""></button>"#, r#"- button "Close" [ref=e1]"#),
        (r#"<button><img alt="Print page"></button>"#, r#"- button "Print page" [ref=e1]"#),
        (
            r#"<details><summary>More</summary></details>"#,
            r#"- button "More" [ref=e1] [collapsed]"#,
        ),
        (
            r#"<details open><summary>More</summary><p>Text</p></details>"#,
            "
            - button \"More\" [ref=e1] [expanded]
            - Text",
        ),
    ]);
}

/// A-032, W-610: what only groups, lays out or splits text has no line; the tree stays flat.
#[test]
fn a032_nameless_parts_fold_into_their_parents() {
    check(&[(
        "<div><div><span>One </span><b>word</b></div><div><div><button><span><span>Go</span></span></button></div></div></div>",
        "
        - One word
        - button \"Go\" [ref=e1]",
    )]);
}

/// Link addresses are short within the site and whole beyond it.
#[test]
fn r127_links_show_where_they_lead() {
    check(&[
        (r#"<a href="/cart">Cart</a>"#, r#"- link "Cart" [ref=e1] /cart"#),
        (r##"<a href="#top">Top</a>"##, r#"- link "Top" [ref=e1] #top"#),
        (
            r#"<a href="https://pay.example/x?y=1" target=_blank>Pay</a>"#,
            r#"- link "Pay" [ref=e1] [new tab] https://pay.example/x?y=1"#,
        ),
        (
            r#"<a href="/r.csv" download>Report</a>"#,
            r#"- link "Report" [ref=e1] [download] /r.csv"#,
        ),
        (r#"<a>No address</a>"#, "- No address"),
        (r#"<a href="/a" aria-current=page>Here</a>"#, r#"- link "Here" [ref=e1] [current] /a"#),
    ]);
}

#[test]
fn r127_a_label_is_said_once() {
    check(&[
        ("<label>Email <input type=email></label>", r#"- textbox "Email" [ref=e1]"#),
        (
            r#"<label for=a>Email</label><input id=a type=email :flags="required">"#,
            r#"- textbox "Email" [ref=e1] [required]"#,
        ),
        (
            "<label><input type=checkbox :flags=\"checked\"> I accept the <a href=\"/t\">terms</a></label>",
            "
            - checkbox \"I accept the terms\" [ref=e1] [checked]
            - link \"terms\" [ref=e2] /t",
        ),
        // A label that names nothing stays text.
        ("<label>Just text</label>", "- Just text"),
        ("<p>Name: <input></p>", "- Name: {textbox [ref=e1]}"),
    ]);
}

#[test]
fn r127_fields_show_values_and_hints() {
    check(&[
        (
            r#"<input type=text aria-label=Name :value="Ada L.">"#,
            r#"- textbox "Name" [ref=e1]: Ada L."#,
        ),
        (
            r#"<input type=text aria-label=Date placeholder=YYYY-MM-DD>"#,
            r#"- textbox "Date" [ref=e1] [hint: YYYY-MM-DD]"#,
        ),
        (r#"<input type=text placeholder=Search>"#, r#"- textbox "Search" [ref=e1]"#),
        (r#"<input type=range aria-label=Volume :value=5>"#, r#"- slider "Volume" [ref=e1]: 5"#),
        (r#"<input type=file aria-label=Photo>"#, r#"- file "Photo" [ref=e1]: no file"#),
        (
            r#"<input type=text aria-label=Mail aria-invalid=true aria-errormessage=m :value=x><p id=m>No address</p>"#,
            "
            - textbox \"Mail\" [ref=e1] [invalid] [error: No address]: x
            - No address",
        ),
        (
            r#"<div :flags="editable" contenteditable aria-label=Note>Dear all</div>"#,
            r#"- textbox "Note" [ref=e1]: Dear all"#,
        ),
        (
            r#"<textarea aria-label=Note :flags="read-only"></textarea>"#,
            r#"- textbox "Note" [ref=e1] [readonly]"#,
        ),
    ]);
}

/// R-131: what the script kept back is shown as `[redacted]`; an empty field is shown empty.
#[test]
fn r131_secrets_are_redacted() {
    check(&[
        (
            r#"<input type=password aria-label=Password :secret=password :value="">"#,
            r#"- textbox "Password" [ref=e1] [password]: [redacted]"#,
        ),
        (
            r#"<input type=password aria-label=Password :secret=password>"#,
            r#"- textbox "Password" [ref=e1] [password]"#,
        ),
        (
            r#"<input type=text aria-label="Card number" :secret=payment :value="">"#,
            r#"- textbox "Card number" [ref=e1]: [redacted]"#,
        ),
        // Even if a script of ours ever sent one along.
        (
            r#"<input type=text aria-label=Code :secret=otp :value=123456>"#,
            r#"- textbox "Code" [ref=e1]: [redacted]"#,
        ),
    ]);
}

#[test]
fn r127_selects_show_choice_and_options() {
    let months: String = (1..=14).map(|n| format!("<option>M{n}</option>")).collect();
    check(&[
        (
            r#"<select aria-label=Size><option>S</option><option :flags="selected">M</option></select>"#,
            r#"- combobox "Size" [ref=e1] [choices: S | M]: M"#,
        ),
        (
            r#"<select aria-label=A><option :flags="selected">x</option><option>y</option></select><select aria-label=B><option>x</option><option :flags="selected">y</option></select>"#,
            "
            - combobox \"A\" [ref=e1] [choices: x | y]: x
            - combobox \"B\" [ref=e2] [choices as e1]: y",
        ),
        (
            &format!("<select aria-label=M>{months}</select>"),
            r#"- combobox "M" [ref=e1] [choices: M1 | M2 | M3 | M4 | M5 | M6 | M7 | M8 | M9 | M10 | M11 | M12 | +2 more]"#,
        ),
        (
            r#"<div role=listbox aria-label=Fruit><div role=option aria-selected=true>Apple</div><div role=option>Pear</div></div>"#,
            "
            - listbox \"Fruit\" [ref=e1]
              - option \"Apple\" [ref=e2] [selected]
              - option \"Pear\" [ref=e3]",
        ),
    ]);
}

/// What can be clicked though no role says so: a hand, a tab stop, a handler.
#[test]
fn r127_clickable_without_a_role() {
    check(&[
        (
            r#"<span :flags="pointer">Plain clickable span</span>"#,
            r#"- clickable "Plain clickable span" [ref=e1]"#,
        ),
        (r#"<div onclick="x()">Open</div>"#, r#"- clickable "Open" [ref=e1]"#),
        (r#"<div tabindex=0>Cell</div>"#, r#"- clickable "Cell" [ref=e1]"#),
        (r#"<div tabindex=-1>Not by Tab</div>"#, "- Not by Tab"),
        // A hand over a label is the label's.
        (r#"<label :flags="pointer"><input type=radio> One</label>"#, r#"- radio "One" [ref=e1]"#),
        // Around other controls: both can be acted on.
        (
            r#"<div :flags="pointer"><h3>Lamp</h3><button>Buy</button></div>"#,
            "
            - clickable [ref=e1]
              - ### Lamp
              - button \"Buy\" [ref=e2]",
        ),
        (r#"<i :flags="pointer" :display=block :box="5 5 16 16"></i>"#, "- clickable [ref=e1]"),
        (r#"<i :flags="pointer" :display=block :box="5 5 0 0"></i>"#, ""),
    ]);
}

/// What only a script's listener makes clickable: the innermost element, not what holds others.
#[test]
fn listeners_make_the_innermost_element_clickable() {
    check(&[
        (r#"<td :flags="listens">+</td>"#, r#"- clickable "+" [ref=e1]"#),
        (
            r#"<div :flags="listens"><span :flags="listens">A</span> <span :flags="listens">B</span></div>"#,
            "
            - clickable \"A\" [ref=e1]
            - clickable \"B\" [ref=e2]",
        ),
        // A slider's track listens, its handle takes the focus.
        (
            r#"<div :flags="listens"><span tabindex=0 :display=block :box="5 5 9 9"></span></div>"#,
            "- clickable [ref=e1]",
        ),
        // One listener for a whole part of the page.
        (
            r#"<div :flags="listens"><p>Text</p><button>Buy</button></div>"#,
            "- Text\n- button \"Buy\" [ref=e1]",
        ),
        (r#"<nav :flags="listens">Here</nav>"#, "- Here"),
        (r#"<div :flags="listens" :box="0 0 1280 700">The whole page</div>"#, "- The whole page"),
        (r#"<canvas :flags="listens" :box="0 0 1280 700"></canvas>"#, "- clickable [ref=e1]"),
        // Shapes of a drawing.
        (
            r#"<svg><g><circle :flags="listens" :display=inline-block :box="5 5 9 9"></circle></g><text :flags="listens">4</text></svg>"#,
            "
            - clickable [ref=e1]
            - clickable \"4\" [ref=e2]",
        ),
        // A hand stays a hand, and what is inside can be acted on as well.
        (
            r#"<div :flags="pointer listens">Row <span :flags="listens">x</span></div>"#,
            "
            - clickable [ref=e1]
              - Row {clickable \"x\" [ref=e2]}",
        ),
        (
            r#"<div :flags="pointer">Row <span :flags="listens">x</span></div>"#,
            r#"- Row {clickable "x" [ref=e1]}"#,
        ),
        (r#"<i :flags="listens" :display=block :box="5 5 0 0"></i>"#, ""),
        (
            r#"<i :flags="listens" :display=inline-block :box="5 5 14 14"></i>"#,
            "- clickable [ref=e1]",
        ),
    ]);
}

/// A tab that is nothing but a link to its own panel is one thing, not two.
#[test]
fn a_tab_and_its_own_link_are_one_line() {
    check(&[
        (
            r##"<ul role=tablist><li role=tab><a href="https://shop.example/list?q=1#two">Two</a></li></ul>"##,
            r#"- tab "Two" [ref=e1]"#,
        ),
        (
            r#"<ul role=tablist><li role=tab><a href="https://shop.example/other">Two</a></li></ul>"#,
            "
            - tab \"Two\" [ref=e1]
            - link \"Two\" [ref=e2] /other",
        ),
    ]);
}

/// A tree's items are named by themselves, not by all below them.
#[test]
fn trees_and_menus_nest() {
    check(&[(
        "<ul role=tree><li role=treeitem aria-expanded=true>Fruit<ul role=group><li role=treeitem>Apple</li></ul></li></ul>",
        "
        - treeitem \"Fruit\" [ref=e1] [expanded]
          - treeitem \"Apple\" [ref=e2]",
    )]);
}

/// A-033: a name, a value and an address show their first 400 bytes, cut between characters.
#[test]
fn a033_names_values_and_addresses_are_clipped() {
    let long = "\u{e4}".repeat(300);
    let html = format!(
        r#"<button>{long}</button><input aria-label=Field :value="{long}"><a href="/{}">Link</a>"#,
        "p".repeat(600)
    );
    let shown = lines(&html);
    let clipped = "\u{e4}".repeat(200) + "\u{2026}";
    assert!(shown.contains(&format!("button \"{clipped}\"")), "{shown}");
    assert!(shown.contains("textbox \"Field\"") && shown.matches(&clipped).count() == 2);
    assert!(shown.contains("/ppp") && !shown.contains(&"p".repeat(401)), "{shown}");
}
