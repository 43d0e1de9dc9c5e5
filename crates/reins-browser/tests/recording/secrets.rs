//! What is typed leaves no page.

use crate::support::{Page, World, done};
use crate::tape::Tape;
use reins_cdp::Session;
use serde_json::json;
use std::time::Duration;

/// Every kind of field, in the document, in open and closed shadow roots, and in frames.
const PAGE: &str = r#"<h1>Fields</h1>
<form id=f>
<input id=text><input id=password type=password><input id=email type=email><input id=search type=search>
<input id=tel type=tel><input id=url type=url><input id=number type=number>
<input id=attr value="SECRET-attr-0"><input id=hidden type=hidden value="SECRET-hidden-0">
<input type=checkbox value="SECRET-check-0"><input type=radio name=r value="SECRET-radio-0">
<input id=toggled type=password><input id=turned type=text>
<textarea id=area>SECRET-default-0</textarea>
<select id=select><option value=1>One</option></select>
<input type=submit value="Send it">
</form>
<div id=edit contenteditable><p>Edit me</p></div>
<div id=plain contenteditable=plaintext-only></div>
<div id=ended contenteditable></div>
<div id=user style="-webkit-user-modify:read-write">x</div>
<div id=open></div><div id=closed></div>
<iframe id=design srcdoc="<body>Design</body>"></iframe>
<p id=echo></p><p id=said></p>
<script>
for (const mode of ['open', 'closed']) {
  const root = document.getElementById(mode).attachShadow({mode});
  root.innerHTML = '<input><div contenteditable></div><slot></slot>';
  window['_' + mode] = root;
}
design.onload = () => { design.contentDocument.designMode = 'on' };
// A framework that keeps values in attributes, and a page that shows a password again.
f.addEventListener('input', e => e.target.setAttribute('value', e.target.value));
password.addEventListener('input', () => { echo.textContent = 'You typed ' + password.value });
</script>"#;

/// Types into whatever has the focus after `focus` ran.
async fn types(world: &World, session: &Session, focus: &str, text: &str) {
    world.eval(focus).await;
    let answer: Result<serde_json::Value, _> =
        session.call("Input.insertText", json!({"text": text}), crate::support::LONG).await;
    answer.unwrap();
}

/// S-102: adversarial; nothing typed and no value of a field is anywhere in the recording.
#[tokio::test]
async fn s102_nothing_typed_leaves_the_page() {
    let world = World::start([("/", Page::html(PAGE))]).await;
    let mut tape = Tape::start(&world);
    done(&world.go("/").await);
    tape.until_text("Fields").await;
    let (_connection, session) = world.stranger().await;
    let fields = [
        ("text.focus()", "text"),
        ("password.focus()", "password"),
        ("email.focus()", "email"),
        ("search.focus()", "search"),
        ("tel.focus()", "tel"),
        ("url.focus()", "url"),
        ("attr.focus()", "attr"),
        ("toggled.focus()", "toggled"),
        ("turned.focus()", "turned"),
        ("area.focus()", "area"),
        ("edit.focus()", "edit"),
        ("plain.focus()", "plain"),
        ("ended.focus()", "ended"),
        ("user.focus();getSelection().selectAllChildren(user)", "user"),
        ("_open.querySelector('input').focus()", "open"),
        ("_open.querySelector('div').focus()", "openedit"),
        ("_closed.querySelector('input').focus()", "closed"),
        ("_closed.querySelector('div').focus()", "closededit"),
        ("design.contentWindow.focus();design.contentDocument.body.focus()", "design"),
    ];
    for (n, (focus, name)) in fields.iter().enumerate() {
        types(&world, &session, focus, &format!("SECRET-{name}-{n}")).await;
    }
    types(&world, &session, "number.focus()", "73517351").await;
    // It was all typed indeed.
    let typed = world
        .eval("[text.value,password.value,edit.textContent,_closed.querySelector('input').value,design.contentDocument.body.textContent,user.textContent].join()")
        .await;
    assert_eq!(typed.as_str().unwrap().matches("SECRET-").count(), 6, "{typed}");
    // Fields become something else afterwards, and what was edited is edited no more.
    world
        .eval(
            "toggled.type='text';turned.type='button';area.defaultValue='SECRET-late-1';\
             ended.removeAttribute('contenteditable');ended.append(' SECRET-after-1');\
             document.body.append(edit);text.value='SECRET-script-1';text.dispatchEvent(new Event('input',{bubbles:true}));\
             select.options[0].value='own';0",
        )
        .await;
    // A full picture of everything as it is now.
    world.eval("const x=document.createElement('div');x.attachShadow({mode:'open'}).innerHTML='<p>Late root</p>';document.body.append(x);0").await;
    tape.until_text("Late root").await;
    world.eval("document.querySelector('h1').attachShadow({mode:'open'}).innerHTML='<b>In the heading</b>';0").await;
    tape.until_text("In the heading").await;
    world.eval("said.textContent='ALL-DONE';0").await;
    tape.until_text("ALL-DONE").await;
    tape.for_a_while(Duration::from_millis(600)).await;

    let text = tape.text();
    let left = text.find("SECRET-").or_else(|| text.find("73517351"));
    if let Some(at) = left {
        let begin = (0..=at.saturating_sub(300)).rev().find(|at| text.is_char_boundary(*at));
        panic!("left the page: …{}", text[begin.unwrap()..].chars().take(500).collect::<String>());
    }
    // What is the page's own stays, and typing is seen as such.
    assert!(text.contains("Send it") && text.contains("You typed ********"), "{text}");
    assert!(text.contains("****"));
    let search = reins_record::Library::open(tape.dir.path());
    tape.recorder.settle();
    assert!(search.search(&crate::tape::id(), "SECRET-").unwrap().is_empty());
    assert!(!search.search(&crate::tape::id(), "All-done").unwrap().is_empty());
}
