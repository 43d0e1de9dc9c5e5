//! Keys, hovering, dragging and scrolling.

use crate::support::{Page, World, done, refused};
use reins_core::{Action, Gesture, ScrollBy};

/// W-351: press_key.
#[tokio::test]
async fn chords_do_what_a_keyboard_does() {
    let page = "<input id=a aria-label=A value='some words'><input id=b aria-label=B><button onclick=\"hit('go')\">Go</button>\
        <script>window.keys=[];addEventListener('keydown',e=>keys.push(e.key+'/'+e.code+'/'+e.keyCode))</script>";
    let world = World::start([("/", Page::html(page))]).await;
    done(&world.go("/").await);
    world.eval("a.focus()").await;
    done(&world.press("Control+A").await);
    done(&world.press("x").await);
    assert_eq!(world.eval("a.value").await, "x", "Control+A selected all of it");
    done(&world.press("Backspace").await);
    assert_eq!(world.eval("a.value").await, "");
    done(&world.press("Shift+ë").await);
    assert_eq!(world.eval("a.value").await, "ë");
    done(&world.press("Tab").await);
    assert_eq!(world.eval("document.activeElement.id").await, "b");
    done(&world.press("Tab").await);
    done(&world.press("Enter").await);
    assert!(world.hit("go").await);
    done(&world.press("Space").await);
    done(&world.press("Escape").await);
    let keys = world.eval("keys.join(' ')").await;
    let keys = keys.as_str().unwrap();
    for key in ["a/KeyA/65", "Tab/Tab/9", "Enter/Enter/13", " /Space/32", "Escape/Escape/27"] {
        assert!(keys.contains(key), "{key} in {keys}");
    }
}

#[tokio::test]
async fn keys_go_to_the_page_when_nothing_has_the_focus() {
    let page = "<p>text</p><script>addEventListener('keydown',e=>hit('key'+e.key))</script>";
    let world = World::start([("/", Page::html(page))]).await;
    done(&world.go("/").await);
    done(&world.press("j").await);
    assert!(world.hit("keyj").await);
}

#[tokio::test]
async fn keys_reach_the_focused_element_of_an_inner_frame() {
    let world = World::start([(
        "/in",
        Page::html("<input id=i aria-label=Inner onkeydown=\"hit('in'+event.key)\"><script>i.focus()</script>"),
    )])
    .await;
    let page = format!("<iframe src='http://localhost:{}/in'></iframe>", world.site.port());
    world.site.set("/", Page::html(&page));
    done(&world.go("/").await);
    done(&world.click("Inner").await);
    done(&world.press("k").await);
    assert!(world.hit("ink").await);
}

/// W-350: hover.
#[tokio::test]
async fn hovering_opens_what_opens_on_hover() {
    let page = "<style>#m{display:none}#t:hover+#m,#m:hover{display:block}</style><button id=t onmouseenter=\"hit('enter')\">Menu</button><div id=m><a href='#x'>Entry</a></div>";
    let world = World::start([("/", Page::html(page))]).await;
    done(&world.go("/").await);
    let target = world.record("Menu").await;
    done(&world.act(Action::Pointer { target, gesture: Gesture::Hover }).await);
    assert!(world.hit("enter").await);
    assert!(world.text().await.contains("Entry"));
}

#[tokio::test]
async fn drags_work_with_native_and_with_mouse_made_dragging() {
    let page = r#"<div role=button aria-label=Native draggable=true style="width:60px;height:60px;background:red" ondragstart="event.dataTransfer.setData('text/plain','cargo')"></div>
<div role=button aria-label=Drop style="width:90px;height:90px;background:blue" ondragover="event.preventDefault()" ondrop="event.preventDefault();hit('drop_'+event.dataTransfer.getData('text/plain'))"></div>
<div role=button aria-label=Handle id=h style="width:40px;height:40px;background:green;position:absolute;left:10px;top:300px"></div><div role=button aria-label=Goal style="width:80px;height:80px;background:gray;position:absolute;left:300px;top:400px"></div>
<script>let on=false;h.onmousedown=e=>{on=true;e.preventDefault()};onmousemove=e=>{if(on){h.style.left=e.clientX-60+'px';h.style.top=e.clientY-60+'px'}};onmouseup=e=>{if(on){on=false;hit('released_'+(e.clientX>290))}}</script>"#;
    let world = World::start([("/", Page::html(page))]).await;
    done(&world.go("/").await);
    let drag = async |from: &str, to: &str| {
        let (from, to) = (world.record(from).await, world.record(to).await);
        world.act(Action::Drag { from: Box::new(from), to: Box::new(to) }).await
    };
    done(&drag("Native", "Drop").await);
    assert!(world.hit("drop_cargo").await);
    done(&drag("Handle", "Goal").await);
    assert!(world.hit("released_true").await);
}

/// Pages that sort by dragging move the item itself, so the release is on the item.
#[tokio::test]
async fn what_is_dragged_may_stay_under_the_pointer() {
    let page = r#"<button id=h style="width:60px;height:40px;position:absolute;left:10px;top:50px">Item</button><button id=t style="width:90px;height:90px;position:absolute;left:300px;top:200px">Place</button><button id=o style="position:absolute;left:-200px">Other</button>
<script>let on=false;h.onmousedown=e=>{on=true;e.preventDefault()};onmousemove=e=>{if(on){const what=h.dataset.other?o:h;what.style.zIndex=9;what.style.left=e.clientX-30+'px';what.style.top=e.clientY-20+'px'}};
h.onmouseup=e=>{on=false;hit('carried_'+(e.clientX>290))};o.onmouseup=()=>hit('other')</script>"#;
    let world = World::start([("/", Page::html(page))]).await;
    done(&world.go("/").await);
    let drag = async || {
        let (from, to) = (world.record("Item").await, world.record("Place").await);
        world.act(Action::Drag { from: Box::new(from), to: Box::new(to) }).await
    };
    done(&drag().await);
    assert!(world.hit("carried_true").await);
    // Anything else under the pointer gets nothing.
    world.eval("h.style.left='10px';h.style.top='50px';h.dataset.other=1").await;
    refused(&drag().await, "covered");
    assert_eq!(world.site.hits("other"), 0);
}

/// W-351: scroll.
#[tokio::test]
async fn scrolling_every_way() {
    let page = r#"<div role=button aria-label=Pane tabindex=0 id=p style="height:100px;overflow:auto"><div style="height:900px">tall</div></div>
<canvas role=button tabindex=0 aria-label=Map id=map width=200 height=100 onwheel="event.preventDefault();hit('wheel'+Math.sign(event.deltaY))"></canvas><div style="height:5000px"></div><button>Last</button>"#;
    let world = World::start([("/", Page::html(page))]).await;
    done(&world.go("/").await);
    let at = &world;
    let scroll = |target, by| {
        let tab = at.tab.clone();
        async move { at.act(Action::Scroll { tab, target, by }).await }
    };
    done(&scroll(None, ScrollBy::Pixels { x: 0, y: 300 }).await);
    assert_eq!(world.eval("scrollY").await, 300);
    done(&scroll(None, ScrollBy::Bottom).await);
    assert_eq!(
        world.eval("scrollY+innerHeight>=document.documentElement.scrollHeight-1").await,
        true
    );
    let effects = scroll(None, ScrollBy::Screens(1)).await;
    assert!(done(&effects).notes.join("").contains("further"), "{effects:?}");
    done(&scroll(None, ScrollBy::Top).await);
    assert_eq!(world.eval("scrollY").await, 0);
    let pane = world.record("Pane").await;
    done(&scroll(Some(pane), ScrollBy::Screens(2)).await);
    assert_eq!(world.eval("p.scrollTop>0&&scrollY==0").await, true);
    let last = world.record("Last").await;
    done(&scroll(Some(last), ScrollBy::IntoView).await);
    assert_eq!(world.eval("scrollY>0").await, true);
    done(&scroll(None, ScrollBy::Top).await);
    let gone = world.record("Last").await;
    world.eval("document.querySelector('button').remove()").await;
    refused(&scroll(Some(gone), ScrollBy::IntoView).await, "detached");
}

/// A page that scrolls nothing and listens to the wheel gets a wheel, and it is not the person's.
#[tokio::test]
async fn what_cannot_be_scrolled_gets_the_wheel() {
    let page = "<body style='overflow:hidden;margin:0'><canvas role=button tabindex=0 aria-label=Map id=map width=400 height=300 style='display:block'></canvas>\
        <script>map.addEventListener('wheel',e=>hit('wheel'+Math.sign(e.deltaY)))</script></body>";
    let world = World::start([("/", Page::html(page))]).await;
    done(&world.go("/").await);
    let target = Some(world.record("Map").await);
    let tab = world.tab.clone();
    done(&world.act(Action::Scroll { tab, target, by: ScrollBy::Pixels { x: 0, y: 120 } }).await);
    assert!(world.hit("wheel1").await);
}
