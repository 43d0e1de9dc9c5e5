//! Records: what a click or Enter would start (R-170), and what must stay the same (the seal).

#![allow(clippy::unwrap_used, reason = "a failed step must stop the test")]

use crate::world::World;
use reins_core::FormMethod;

#[tokio::test]
async fn r170_submissions_are_effective() {
    let world = World::open(
        r#"
        <form id=f action="/save" method=post target=_blank enctype="multipart/form-data">
          <input id=name name=action>
          <button id=plain>Save</button>
          <button id=other formaction="https://pay.example/go" formmethod=get formtarget=_self formenctype="text/plain">Pay now</button>
          <button id=button type=button>Nothing</button>
          <button id=reset type=reset>Reset</button>
          <input id=image type=image alt="Go" src="data:,">
          <fieldset disabled><button id=off>Off</button></fieldset>
          <label id=label>Label <input id=labelled type=submit value="By label"></label>
        </form>
        <button id=outside form=f formmethod=dialog>Outside</button>
        <form id=bare><input id=alone></form>
        <form id=two><input id=first><input id=second></form>
        <form id=image-first><input id=enter><input type=image alt="Picture" formaction="/by-image"><button formaction="/by-button">B</button></form>
        <form id=off-form><input id=blocked><button disabled>Off</button></form>
        <button id=no-form>Loose</button>"#,
    )
    .await;
    let submission = async |id: &str| world.record(id).await.submission;
    let saved = submission("#plain").await.unwrap();
    // `<input name=action>` hides the form's own property from careless readers.
    assert_eq!(saved.action, world.site.url("/save"));
    assert_eq!((saved.method, saved.target.as_str()), (FormMethod::Post, "_blank"));
    assert_eq!(saved.enctype, "multipart/form-data");
    assert_eq!(saved.submitter.as_deref(), Some("Save"));
    let paid = submission("#other").await.unwrap();
    assert_eq!(paid.action, "https://pay.example/go");
    assert_eq!((paid.method, paid.target.as_str()), (FormMethod::Get, "_self"));
    assert_eq!(paid.enctype, "text/plain");
    for id in ["#button", "#reset", "#off", "#no-form", "#name"] {
        assert_eq!(submission(id).await, None, "{id}");
    }
    assert_eq!(submission("#image").await.unwrap().submitter.as_deref(), Some("Go"));
    assert_eq!(submission("#outside").await.unwrap().method, FormMethod::Dialog);
    // A label hands its click on.
    assert_eq!(submission("#label").await.unwrap().submitter.as_deref(), Some("By label"));

    let enter = async |id: &str| world.record(id).await.enter;
    assert_eq!(enter("#name").await.unwrap().submitter.as_deref(), Some("Save"));
    assert_eq!(enter("#alone").await.unwrap().submitter, None);
    assert_eq!(enter("#first").await, None);
    assert_eq!(enter("#enter").await.unwrap().action, world.site.url("/by-image"));
    assert_eq!(enter("#blocked").await, None);
}

#[tokio::test]
async fn r170_links_of_every_kind() {
    let world = World::open(
        r#"
        <a id=a href="/x#y" target=pop><span id=inner>Inside</span></a>
        <a id=d href="/r.csv" download>Report</a>
        <svg width=90 height=30><a id=s href="/svg"><text y=20 id=t>Drawn</text></a></svg>
        <svg width=90 height=30><a id=x xlink:href="/old"><text y=20>Old</text></a></svg>
        <img usemap="&#35;m" src="data:,"><map name=m><area id=area href="/area" shape=rect coords="0,0,9,9" alt=Region></map>
        <p id=none>Text</p>"#,
    )
    .await;
    let inner = world.record("#inner").await.link.unwrap();
    assert_eq!((inner.url, inner.target.as_str()), (world.site.url("/x#y"), "pop"));
    assert!(world.record("#d").await.link.unwrap().download);
    assert_eq!(world.record("#t").await.link.unwrap().url, world.site.url("/svg"));
    assert_eq!(world.record("#x").await.link.unwrap().url, world.site.url("/old"));
    let area = world.record("#area").await;
    assert_eq!((area.role.as_str(), area.name.as_str()), ("link", "Region"));
    assert_eq!(area.link.unwrap().url, world.site.url("/area"));
    assert_eq!(world.record("#none").await.link, None);
}

/// R-171: the seal breaks when where a click leads changes, and not when text does.
#[tokio::test]
async fn r171_the_seal_covers_where_it_leads() {
    let world = World::open(
        r#"<base target=_self><a id=a href="/x">Go</a>
        <form id=f action=/one><input id=i><button id=b>Send</button></form>"#,
    )
    .await;
    for (target, change, breaks) in [
        ("#a", "document.getElementById('a').href='/y'", true),
        ("#a", "document.getElementById('a').target='_blank'", true),
        ("#a", "document.getElementById('a').download='z'", true),
        ("#a", "document.querySelector('base').target='_top'", false),
        ("#a", "document.getElementById('a').textContent='Other'", false),
        ("#b", "document.getElementById('f').action='https://evil.example/'", true),
        ("#b", "document.getElementById('f').method='post'", true),
        ("#b", "document.getElementById('b').setAttribute('formaction','/two')", true),
        ("#b", "document.getElementById('b').type='button'", true),
        ("#b", "document.getElementById('b').type='submit'", true),
        ("#b", "document.getElementById('b').disabled=true", true),
        ("#i", "document.getElementById('i').value='typed'", false),
        ("#i", "document.getElementById('b').disabled=false", true),
        ("#i", "document.getElementById('i').type='password'", true),
        ("#i", "document.getElementById('b').remove()", true),
    ] {
        let before = world.record(target).await.seal;
        world.page(&format!("{change}; 0")).await;
        let after = world.record(target).await.seal;
        assert_eq!(before != after, breaks, "{change}\n{before}\n{after}");
    }
}

#[tokio::test]
async fn a_record_says_what_an_element_is() {
    let world = World::open(
        r#"<p>Text with a <span id=plain onclick="0">plain word</span></p>
        <div id=edit contenteditable>x</div><input id=read readonly><input id=check type=checkbox checked>
        <fieldset disabled><input id=off></fieldset><table><tr><th>A</th><th id=h>B</th></tr><tr><td>1</td><td>2</td></tr></table>
        <label for=q>Quantity</label><input id=q type=number>"#,
    )
    .await;
    let plain = world.record("#plain").await;
    assert_eq!((plain.role.as_str(), plain.name.as_str()), ("generic", "plain word"));
    assert!(world.record("#edit").await.editable);
    assert!(!world.record("#read").await.editable);
    assert!(world.record("#off").await.disabled);
    let check = world.record("#check").await;
    assert_eq!((check.role.as_str(), check.input_type.as_deref()), ("checkbox", Some("checkbox")));
    assert_eq!(world.record("#h").await.role, "columnheader");
    let quantity = world.record("#q").await;
    assert_eq!((quantity.role.as_str(), quantity.name.as_str()), ("spinbutton", "Quantity"));
}
