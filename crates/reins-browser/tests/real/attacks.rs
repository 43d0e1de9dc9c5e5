//! Pages that exchange what was approved between reading and acting, or between two events.

use crate::support::{Page, World, click, done, refused};
use reins_browser::BrowserEvent;
use reins_core::{Action, Key, KeyChord, Modifiers, Outcome};

/// DESIGN 6.1: a link's address that is swapped on `mousedown` is caught before the click.
#[tokio::test]
async fn r171_a_link_swapped_on_mousedown_is_not_followed() {
    let page =
        "<a id=l href='/good'>The link</a><script>l.onmousedown=()=>{l.href='/evil'}</script>";
    let world = World::start([("/", Page::html(page))]).await;
    done(&world.go("/").await);
    refused(&world.click("The link").await, "stale_ref");
    assert_eq!(world.site.requests("/evil") + world.site.requests("/good"), 0);
}

/// After our own look the page can still swap it in the click itself; the navigation is looked at.
#[tokio::test]
async fn r175_a_link_swapped_in_its_own_click_is_not_followed() {
    let page = "<a id=l href='/good'>The link</a><script>l.onclick=()=>{l.href='/evil'}</script>";
    let world = World::start([("/", Page::html(page))]).await;
    done(&world.go("/").await);
    refused(&world.click("The link").await, "stale_ref");
    assert_eq!(world.site.requests("/evil") + world.site.requests("/good"), 0);
}

#[tokio::test]
async fn r170_a_submission_swapped_at_any_moment_is_not_sent() {
    for (how, script) in [
        ("formaction on mousedown", "b.onmousedown=()=>{b.formAction='/evil'}"),
        ("action on mousedown", "b.onmousedown=()=>{f.action='/evil'}"),
        ("method on mouseup", "b.onmouseup=()=>{f.method='get'}"),
        ("formaction on click", "b.onclick=()=>{b.formAction='/evil'}"),
        ("action on submit", "f.onsubmit=()=>{f.action='/evil'}"),
    ] {
        let page = format!(
            "<form id=f action='/good' method=post><input name=q value=1><button id=b>Send it</button></form><script>{script}</script>"
        );
        let world = World::start([("/", Page::html(&page))]).await;
        done(&world.go("/").await);
        refused(&world.click("Send it").await, "stale_ref");
        let sent: Vec<_> = world
            .site
            .seen()
            .into_iter()
            .filter(|s| s.path.contains("evil") || s.path.contains("good"))
            .collect();
        assert_eq!(sent, Vec::new(), "{how}");
    }
}

#[tokio::test]
async fn r170_enter_in_a_field_submits_only_where_it_was_approved() {
    let page = "<form id=f action='/good' method=post><label>Query <input id=i name=q></label><button>Go</button></form>\
        <script>if(location.search){i.onkeydown=()=>{f.action='/evil'}}</script>";
    let world = World::start([("/", Page::html(page)), ("/good", Page::html("sent"))]).await;
    let enter = KeyChord { key: Key::Named("Enter", "Enter", 13), modifiers: Modifiers::default() };
    for (path, refuses) in [("/?swap", true), ("/", false)] {
        done(&world.go(path).await);
        let target = world.record("Query").await;
        let press =
            Action::Press { tab: world.tab.clone(), target: Some(target), chord: enter.clone() };
        let acted = world.act(press).await;
        if refuses {
            refused(&acted, "stale_ref");
        } else {
            done(&acted);
            assert!(world.info().unwrap().url.ends_with("/good"));
        }
    }
    assert_eq!(world.site.requests("/evil"), 0);
    assert_eq!(world.site.requests("/good"), 1);
}

/// An overlay that slides in as soon as the pointer comes near.
#[tokio::test]
async fn an_overlay_between_aim_and_press_gets_nothing() {
    let page = "<button id=b onclick=\"hit('b')\">Target</button><div id=o style='display:none;position:fixed;inset:0' onmousedown=\"hit('o')\" onclick=\"hit('o')\"></div>\
        <script>b.onmousemove=()=>{o.style.display='block'};b.onpointerenter=b.onmousemove</script>";
    let world = World::start([("/", Page::html(page))]).await;
    done(&world.go("/").await);
    refused(&world.click("Target").await, "covered");
    done(&world.go("/?again").await);
    assert_eq!(world.site.hits("o") + world.site.hits("b"), 0);
}

/// The overlay is a frame of another site, so another process sees the event.
#[tokio::test]
async fn a_frame_that_slides_over_the_target_gets_nothing() {
    let page = "<button id=b onclick=\"hit('b')\">Target</button><iframe id=o style='display:none;position:fixed;inset:0;width:100%;height:100%'></iframe>\
        <script>o.src='http://localhost:'+location.port+'/over';b.onpointerenter=()=>{o.style.display='block'}</script>";
    let over =
        "<body onmousedown=\"hit('o')\" onclick=\"hit('o')\" style='height:100vh'>over</body>";
    let world = World::start([("/", Page::html(page)), ("/over", Page::html(over))]).await;
    done(&world.go("/").await);
    refused(&world.click("Target").await, "covered");
    done(&world.go("/?again").await);
    assert_eq!(world.site.hits("o") + world.site.hits("b"), 0);
}

/// A frame that is made in the last moment has no announcement; still nobody claims success.
#[tokio::test]
async fn a_frame_made_in_the_last_moment_is_not_taken_for_the_target() {
    let page = "<button id=b onclick=\"hit('b')\">Target</button><script>b.onpointerenter=()=>{const f=document.createElement('iframe');\
        f.style='position:fixed;inset:0;width:100%;height:100%';document.body.append(f);f.contentDocument.write('<body style=\"height:100vh\">over')}</script>";
    let world = World::start([("/", Page::html(page))]).await;
    done(&world.go("/").await);
    let acted = world.click("Target").await;
    assert!(!matches!(acted.outcome, Outcome::Completed), "{acted:?}");
    assert_eq!(world.site.hits("b"), 0);
}

#[tokio::test]
async fn a_target_that_moves_away_from_under_the_pointer_is_not_clicked_elsewhere() {
    let page = "<div style='position:relative;height:60px'><button onclick=\"hit('other')\" style='position:absolute;left:0;top:0;width:90px'>Other</button>\
        <button id=b onclick=\"hit('b')\" style='position:absolute;left:0;top:0;width:90px'>Target</button></div>\
        <script>let n=0;b.onpointerenter=()=>{b.style.left=(n=n?0:300)+'px'}</script>";
    let world = World::start([("/", Page::html(page))]).await;
    done(&world.go("/").await);
    let acted = world.click("Target").await;
    if matches!(acted.outcome, Outcome::Completed) {
        assert!(world.hit("b").await);
    }
    done(&world.go("/?again").await);
    assert_eq!(world.site.hits("other"), 0);
}

#[tokio::test]
async fn an_element_replaced_in_its_own_mousedown_is_stale() {
    let page = "<div id=box><button id=b onclick=\"hit('old')\">Target</button></div>\
        <script>b.onmousedown=()=>{box.innerHTML='<button onclick=\"hit(\\'new\\')\" onmouseup=\"hit(\\'new\\')\">Target</button>'}</script>";
    let world = World::start([("/", Page::html(page))]).await;
    done(&world.go("/").await);
    refused(&world.click("Target").await, "stale_ref");
    done(&world.go("/?again").await);
    assert_eq!(world.site.hits("new") + world.site.hits("old"), 0);
}

/// `document.open()` drops listeners, keeps the document's id, and takes every element away.
#[tokio::test]
async fn a_document_written_anew_between_reading_and_clicking_is_stale_and_stays_guarded() {
    let page = "<button onclick=\"hit('old')\">Target</button>";
    let world = World::start([("/", Page::html(page)), ("/evil", Page::html("evil"))]).await;
    done(&world.go("/").await);
    let old = world.record("Target").await;
    world
        .eval("document.open();document.write('<a id=l href=\"/good\">The link</a>');document.close();l.onmousedown=()=>{l.href='/evil'};1")
        .await;
    refused(&world.act(click(old)).await, "detached");
    // The listeners are put back by the next announcement.
    refused(&world.click("The link").await, "stale_ref");
    assert_eq!(world.site.requests("/evil"), 0);
}

#[tokio::test]
async fn a_card_is_not_the_button_inside_it() {
    let page = "<div id=card tabindex=0 role=link aria-label='The card' style='cursor:pointer;width:300px;padding:4px' onclick=\"hit('card')\">\
        <button style='width:100%;height:80px' onclick=\"event.stopPropagation();hit('delete')\">Delete</button></div>";
    let world = World::start([("/", Page::html(page))]).await;
    done(&world.go("/").await);
    let acted = world.click("The card").await;
    done(&world.go("/?again").await);
    assert_eq!(world.site.hits("delete"), 0, "{acted:?}");
}

/// text goes into the approved field or nowhere.
#[tokio::test]
async fn r172_text_does_not_follow_a_focus_that_moves_away() {
    let page = "<label>Name <input id=a></label><label>Other <input id=b></label>\
        <script>a.addEventListener('beforeinput',()=>b.focus());a.addEventListener('keydown',()=>b.focus())</script>";
    let world = World::start([("/", Page::html(page))]).await;
    done(&world.go("/").await);
    let target = world.record("Name").await;
    let acted = world
        .act(Action::Type {
            target,
            text: reins_core::Secret::new("secret".into()),
            kept: None,
            mode: reins_core::TypeMode::Replace,
            keys: true,
            enter: false,
        })
        .await;
    refused(&acted, "stale_ref");
    assert_eq!(world.eval("b.value").await, "");
}

/// input that nobody announced is the person's own.
#[tokio::test]
async fn r191_unannounced_trusted_input_is_reported_and_reaches_the_page() {
    let page = "<button style='position:fixed;inset:0' onclick=\"hit('person')\">Big</button>";
    let world = World::start([("/", Page::html(page))]).await;
    done(&world.go("/").await);
    let mut events = world.browser.events();
    let (_connection, person) = world.stranger().await;
    for kind in ["mousePressed", "mouseReleased"] {
        let params = serde_json::json!({"type": kind, "x": 200, "y": 200, "button": "left", "clickCount": 1});
        let _: serde_json::Value =
            person.call("Input.dispatchMouseEvent", params, crate::support::LONG).await.unwrap();
    }
    let seen = tokio::time::timeout(crate::support::LONG, async {
        loop {
            if let BrowserEvent::PersonInput { tab, .. } = events.next().await.unwrap() {
                return tab;
            }
        }
    });
    assert_eq!(seen.await.unwrap(), world.tab);
    assert!(world.hit("person").await);
    // Our own click is not taken for it.
    done(&world.click("Big").await);
    let mut fresh = world.browser.events();
    done(&world.click("Big").await);
    let none = tokio::time::timeout(std::time::Duration::from_millis(300), fresh.next()).await;
    assert!(none.is_err(), "{none:?}");
}

/// a gesture that is stopped half-way ends without a click.
#[tokio::test]
async fn r183_cancel_never_clicks() {
    let page = "<div id=d style='width:60px;height:60px;background:red' role=button aria-label=From onmousedown=\"tell()\" onclick=\"hit('click')\"></div>\
        <div role=button aria-label=To style='margin-top:300px;width:60px;height:60px;background:blue' onmouseup=\"hit('up')\"></div>\
        <script>function tell(){const x=new XMLHttpRequest();x.open('GET','/hit?down',false);x.send()}\
        document.onmousemove=e=>{if(!e.buttons)return;for(let said='';said!='open';){const x=new XMLHttpRequest();\
        x.open('GET','/gate',false);x.send();said=x.responseText}}</script>";
    // The page hangs in the first move until the step is over. What tells of the press must be out before that.
    let gate = Page::raw("text/plain", "shut").with_header("cache-control", "no-store");
    let world = World::start([("/", Page::html(page)), ("/gate", gate)]).await;
    done(&world.go("/").await);
    let (from, to) = (world.record("From").await, world.record("To").await);
    let cancel = tokio_util::sync::CancellationToken::new();
    let drag = Action::Drag { from: Box::new(from), to: Box::new(to) };
    let stop = async {
        assert!(world.site.wait_hit("down", crate::support::LONG).await);
        cancel.cancel();
    };
    let (acted, ()) = tokio::join!(world.act_until(drag, cancel.clone()), stop);
    world.site.set("/gate", Page::raw("text/plain", "open"));
    assert!(matches!(acted.outcome, Outcome::Unknown(_)), "{acted:?}");
    done(&world.go("/?again").await);
    assert_eq!(world.site.hits("up") + world.site.hits("click"), 0);
}
