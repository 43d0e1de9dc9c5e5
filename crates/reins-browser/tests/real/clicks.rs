//! Clicks reach what was approved, at the moment of the event.

use crate::support::{Page, World, click_with, done, refused};
use reins_core::{Modifiers, MouseButton};

const CLICKS: &str = r#"<h1>Clicks</h1>
<div style="position:relative;width:300px;height:40px"><button style="position:absolute;left:0;top:0;width:200px;height:40px" onclick="hit('covered')">Covered button</button>
<div onclick="hit('overlay')" style="position:absolute;left:0;top:0;width:300px;height:40px;background:rgba(0,0,0,.5);z-index:5"></div></div>
<button disabled onclick="hit('disabled')">Disabled button</button>
<div inert><button onclick="hit('inert')">Inert button</button></div>
<div style="height:100px;width:300px;overflow:auto;border:1px solid"><div style="height:1500px"></div><button onclick="hit('scroller')">Scroller button</button></div>
<div id=stalebox><button onclick="hit('stale_old')">Stale button</button></div>
<button onclick="stalebox.innerHTML='<button onclick=&quot;hit(\'stale_new\')&quot;>Stale button</button>';hit('rerendered')">Re-render button</button>
<button id=mv style="position:relative" onclick="hit('moving')">Moving button</button>
<div role=button tabindex=0 onclick="hit('divbutton')">Div button</div>
<span id=plainspan style="cursor:pointer">Plain clickable span</span>
<div style="height:6000px"></div><button onclick="hit('below')">Below fold button</button>
<script>plainspan.addEventListener('click',()=>hit('plainspan'));
var x=0;setInterval(()=>{x=(x+7)%400;mv.style.left=x+'px'},16);</script>"#;

#[tokio::test]
async fn elements_are_reached_wherever_they_are() {
    let world = World::start([("/", Page::html(CLICKS))]).await;
    done(&world.go("/").await);
    for (name, key) in [
        ("Scroller button", "scroller"),
        ("Below fold button", "below"),
        ("Moving button", "moving"),
        ("Div button", "divbutton"),
        ("Plain clickable span", "plainspan"),
    ] {
        done(&world.click(name).await);
        assert!(world.hit(key).await, "{name}");
        assert_eq!(world.site.hits(key), 1, "{name}");
    }
}

#[tokio::test]
async fn what_a_click_cannot_reach_is_refused_at_once_with_the_reason() {
    let world = World::start([("/", Page::html(CLICKS))]).await;
    done(&world.go("/").await);
    let acted = world.click("Covered button").await;
    refused(&acted, "covered");
    assert!(acted.effects.covering.is_some(), "what covers is named");
    refused(&world.click("Disabled button").await, "disabled");
    // The page never saw any of it.
    done(&world.click("Div button").await);
    assert!(world.hit("divbutton").await);
    for key in ["covered", "overlay", "disabled", "inert"] {
        assert_eq!(world.site.hits(key), 0, "{key}");
    }
}

/// R-130: a ref of an element that was rendered anew does not retarget.
#[tokio::test]
async fn r130_a_rerendered_element_is_stale() {
    let world = World::start([("/", Page::html(CLICKS))]).await;
    done(&world.go("/").await);
    let old = world.record("Stale button").await;
    done(&world.click("Re-render button").await);
    assert!(world.hit("rerendered").await);
    refused(&world.act(crate::support::click(old)).await, "detached");
    assert_eq!(world.site.hits("stale_new") + world.site.hits("stale_old"), 0);
}

#[tokio::test]
async fn every_kind_of_click_makes_its_trusted_events() {
    let page = r#"<button id=b style="width:200px">Target</button><script>
const log=[];for(const k of ['mousedown','mouseup','click','dblclick','auxclick','contextmenu'])
 b.addEventListener(k,e=>{e.preventDefault();log.push(k+e.button+e.detail+(e.isTrusted?'':'!')+(e.ctrlKey?'C':'')+(e.shiftKey?'S':''))});
document.title='x'</script>"#;
    let world = World::start([("/", Page::html(page))]).await;
    done(&world.go("/").await);
    let shift = Modifiers { shift: true, control: true, ..Modifiers::default() };
    for (button, count, modifiers, expected) in [
        (MouseButton::Left, 1, Modifiers::default(), "mousedown01 mouseup01 click01"),
        (
            MouseButton::Left,
            2,
            Modifiers::default(),
            "mousedown01 mouseup01 click01 mousedown02 mouseup02 click02 dblclick02",
        ),
        (
            MouseButton::Left,
            3,
            Modifiers::default(),
            "mousedown01 mouseup01 click01 mousedown02 mouseup02 click02 dblclick02 mousedown03 mouseup03 click03",
        ),
        (MouseButton::Middle, 1, Modifiers::default(), "mousedown11 mouseup11 auxclick11"),
        (
            MouseButton::Right,
            1,
            Modifiers::default(),
            "mousedown21 contextmenu20 mouseup21 auxclick21",
        ),
        (MouseButton::Left, 1, shift, "mousedown01CS mouseup01CS click01CS"),
    ] {
        world.eval("log.length=0").await;
        let target = world.record("Target").await;
        done(&world.act(click_with(target, button, count, modifiers)).await);
        assert_eq!(world.eval("log.join(' ')").await, expected);
    }
}

/// Pages open a menu of their own where a right click was pressed, under the pointer. The click is
/// done then, and the menu has seen nothing of it.
#[tokio::test]
async fn a_menu_that_comes_up_under_a_right_click_is_no_failure() {
    let page = "<button id=row>Row</button><script>row.oncontextmenu=e=>{e.preventDefault();const m=document.createElement('div');\
        m.style.cssText=`position:fixed;left:${e.clientX-9}px;top:${e.clientY-9}px;width:90px;height:40px;background:#ddd`;\
        m.innerHTML='<button id=hold>Hold</button>';m.onmouseup=()=>hit('menu');\
        document.body.append(m);document.getElementById('hold').onclick=()=>hit('hold')}</script>";
    let world = World::start([("/", Page::html(page))]).await;
    done(&world.go("/").await);
    let target = world.record("Row").await;
    done(&world.act(click_with(target, MouseButton::Right, 1, Modifiers::default())).await);
    assert_eq!(world.site.hits("menu"), 0);
    done(&world.click("Hold").await);
    assert!(world.site.wait_hit("hold", std::time::Duration::from_secs(10)).await);
}

/// A link in a closed shadow root whose caption the page slots in is hit where its caption is.
#[tokio::test]
async fn a_slotted_caption_belongs_to_the_link_in_the_closed_root() {
    let page = "<div id=host><span>Terms</span></div><script>const r=host.attachShadow({mode:'closed'});\
        r.innerHTML='<a href=/terms><slot></slot></a>'</script>";
    let world =
        World::start([("/", Page::html(page)), ("/terms", Page::html("<h1>TERMS</h1>"))]).await;
    done(&world.go("/").await);
    done(&world.click("link:Terms").await);
    assert!(world.text().await.contains("TERMS"));
}
