//! Text reaches fields as trusted input, and the page sees what a person's typing would show it.

use crate::support::{Page, World, done, fill, refused};
use reins_core::{Action, Secret, TypeMode};

fn typed(target: reins_core::TargetRecord, text: &str, mode: TypeMode, keys: bool) -> Action {
    Action::Type { target, text: Secret::new(text.into()), kept: None, mode, keys, enter: false }
}

#[tokio::test]
async fn fields_of_every_type_take_text() {
    let kinds = [
        ("text", "hello", "hello"),
        ("search", "q", "q"),
        ("email", "a@b.example", "a@b.example"),
        ("url", "https://a.example/", "https://a.example/"),
        ("tel", "+43 1", "+43 1"),
        ("password", "pa ss", "pa ss"),
        ("number", "42", "42"),
        ("date", "2026-11-30", "2026-11-30"),
        ("time", "13:05", "13:05"),
        ("month", "2026-11", "2026-11"),
        ("week", "2026-W48", "2026-W48"),
        ("datetime-local", "2026-11-30T13:05", "2026-11-30T13:05"),
        ("color", "#FF8000", "#ff8000"),
        ("range", "7", "7"),
    ];
    let fields: String = kinds
        .iter()
        .map(|(kind, ..)| {
            format!(
                "<p><label>Field {kind} <input id='f-{kind}' type={kind} min=0 max=9></label></p>"
            )
        })
        .collect();
    let page = format!(
        "{fields}<p><label>Area <textarea id=area></textarea></label></p><div id=edit contenteditable aria-label=Editor style='border:1px solid'>old <b>text</b></div>\
         <script>window.seen={{}};for(const k of ['input','change'])addEventListener(k,e=>{{(seen[e.target.id]??=[]).push(k)}})</script>"
    )
    .replace("min=0 max=9></label></p><p><label>Field search", "></label></p><p><label>Field search");
    let world = World::start([("/", Page::html(&page))]).await;
    done(&world.go("/").await);
    for (kind, text, value) in kinds {
        let acted = world.fill(&format!("Field {kind}"), text).await;
        if kind == "number" {
            // Out of bounds is the page's affair, not ours.
            done(&acted);
        }
        done(&acted);
        assert_eq!(
            world.eval(&format!("document.getElementById('f-{kind}').value")).await,
            value,
            "{kind}"
        );
        let seen = world.eval(&format!("seen['f-{kind}'].includes('input')")).await;
        assert_eq!(seen, true, "{kind}");
    }
    done(&world.fill("Area", "two\nlines").await);
    assert_eq!(world.eval("area.value").await, "two\nlines");
    done(&world.fill("Editor", "new words").await);
    assert_eq!(world.eval("edit.textContent").await, "new words");
}

#[tokio::test]
async fn replace_append_clear_and_single_keys() {
    let page = "<label>Name <input id=a value=old></label><label>Mail <input id=m type=email value=x@y></label>\
        <script>window.keys=[];a.onkeydown=e=>keys.push(e.key+(e.isTrusted?'':'!'));a.onkeyup=e=>keys.push('-'+e.code)</script>";
    let world = World::start([("/", Page::html(page))]).await;
    done(&world.go("/").await);
    let name = || async { world.record("Name").await };
    done(&world.act(typed(name().await, "new", TypeMode::Replace, false)).await);
    assert_eq!(world.eval("a.value").await, "new");
    done(&world.act(typed(name().await, "er", TypeMode::Append, false)).await);
    assert_eq!(world.eval("a.value").await, "newer");
    done(&world.act(typed(world.record("Mail").await, ".z", TypeMode::Append, false)).await);
    assert_eq!(world.eval("m.value").await, "x@y.z");
    done(&world.act(typed(name().await, "", TypeMode::Replace, false)).await);
    assert_eq!(world.eval("a.value").await, "");
    world.eval("keys.length=0").await;
    done(&world.act(typed(name().await, "aB!", TypeMode::Replace, true)).await);
    assert_eq!(world.eval("a.value").await, "aB!");
    assert_eq!(world.eval("keys.join(' ')").await, "a -KeyA B -KeyB ! -Digit1");
}

#[tokio::test]
async fn what_takes_no_text_is_refused_with_the_reason() {
    let page = "<button>A button</button><label>Fixed <input readonly value=x></label><label>Off <input disabled></label>\
        <label>Day <input type=date></label>";
    let world = World::start([("/", Page::html(page))]).await;
    done(&world.go("/").await);
    for (name, text, code) in [
        ("A button", "x", "not_editable"),
        ("Fixed", "x", "read_only"),
        ("Off", "x", "disabled"),
        ("Day", "tomorrow", "bad_value"),
    ] {
        let target = world.record(name).await;
        refused(&world.act(fill(target, text)).await, code);
    }
}

#[tokio::test]
async fn a_long_text_arrives_whole() {
    let page = "<label>Name <textarea id=a></textarea></label>";
    let world = World::start([("/", Page::html(page))]).await;
    done(&world.go("/").await);
    let text = "The quick brown fox – žluťoučký kůň 🐎. ".repeat(500);
    let effects = world.fill("Name", &text).await;
    assert_eq!(done(&effects).notes, Vec::<String>::new());
    assert_eq!(world.eval("a.value").await, text);
}

/// A field that cuts or changes what is typed is told, without the text.
#[tokio::test]
async fn a_field_that_changes_the_text_is_told() {
    let page = "<label>Code <input maxlength=4></label>";
    let world = World::start([("/", Page::html(page))]).await;
    done(&world.go("/").await);
    let acted = world.fill("Code", "secret-words").await;
    let notes = done(&acted).notes.join(" ");
    assert!(notes.contains("4 characters"), "{notes}");
    assert!(!notes.contains("secr"), "{notes}");
}

#[tokio::test]
async fn selects_and_boxes() {
    let page = r#"<label>Country <select id=c><option>Austria<option value=br>Brazil<option disabled>Chile</select></label>
<label>Many <select id=m multiple><option>One<option>Two<option>Three</select></label>
<label><input type=checkbox id=box> Accept</label><label><input type=radio name=r id=r1 checked> First</label><label><input type=radio name=r id=r2> Second</label>
<div role=switch aria-checked=false tabindex=0 onclick="this.setAttribute('aria-checked',this.getAttribute('aria-checked')!='true')">Dark</div>
<label style="position:relative;display:inline-block;width:90px;height:30px;background:#ccc"><input id=fancy type=checkbox style="opacity:0;width:1px;height:1px;position:absolute">Fancy</label>
<script>window.seen=[];for(const k of ['input','change'])addEventListener(k,e=>seen.push(k+':'+e.target.id))</script>"#;
    let world = World::start([("/", Page::html(page))]).await;
    done(&world.go("/").await);
    let select = async |name: &str, options: &[&str]| {
        let target = world.record(name).await;
        let options = options.iter().map(|o| (*o).to_owned()).collect();
        world.act(Action::Select { target, options }).await
    };
    done(&select("Country", &["Brazil"]).await);
    assert_eq!(world.eval("c.value+seen.join()").await, "brinput:c,change:c");
    done(&select("Country", &["Austria"]).await);
    refused(&select("Country", &["Denmark"]).await, "no_option");
    refused(&select("Country", &["Chile"]).await, "disabled");
    done(&select("Many", &["One", "Three"]).await);
    assert_eq!(world.eval("[...m.selectedOptions].map(o=>o.text).join()").await, "One,Three");
    let check = async |name: &str, checked: bool| {
        let target = world.record(name).await;
        world.act(Action::Check { target, checked }).await
    };
    done(&check("Accept", true).await);
    done(&check("Accept", true).await);
    assert_eq!(world.eval("box.checked").await, true);
    done(&check("Accept", false).await);
    assert_eq!(world.eval("box.checked").await, false);
    done(&check("Second", true).await);
    assert_eq!(world.eval("r2.checked").await, true);
    refused(&check("Second", false).await, "not_checkable");
    done(&check("Dark", true).await);
    done(&check("Fancy", true).await);
    assert_eq!(world.eval("fancy.checked").await, true, "drawn by its label");
}

/// The popup of a select does not swallow the next click.
#[tokio::test]
async fn a_select_that_was_clicked_open_is_in_nobodys_way() {
    let page = "<label>Pick <select id=s><option>One<option>Two</select></label><button onclick=\"hit('b')\">Press</button>";
    let world = World::start([("/", Page::html(page))]).await;
    done(&world.go("/").await);
    done(&world.click("Pick").await);
    done(&world.click("Press").await);
    assert!(world.hit("b").await);
    let target = world.record("Pick").await;
    done(&world.act(Action::Select { target, options: vec!["Two".into()] }).await);
    assert_eq!(world.eval("s.value").await, "Two");
}
