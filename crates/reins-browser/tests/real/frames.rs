//! Frames and shadow roots are one tree: nothing is switched.

use crate::support::{Page, World, done};
use reins_core::Outcome;

fn leaf(kind: &str) -> Page {
    let upper = kind.to_uppercase();
    let name = format!("{}{kind}", kind[..1].to_uppercase(), kind = &kind[1..]);
    Page::html(&format!(
        "<h2>{upper}_TEXT</h2><button onclick=\"hit('{kind}')\">{name} button</button>"
    ))
}

/// W-369: nor do frames.
#[tokio::test]
async fn sibling_frames_of_every_kind_are_read_and_clicked() {
    let page = r#"<h1>Sibling frames</h1><iframe title=Same width=600 height=120 src="/same"></iframe><br><iframe id=x title=Cross width=600 height=120></iframe><br>
<iframe title=Srcdoc width=600 height=120 srcdoc="<h2>SRCDOC_TEXT</h2><button onclick=&quot;fetch('/hit?srcdoc',{method:'POST'})&quot;>Srcdoc button</button>"></iframe><br>
<iframe title=Sandboxed sandbox="allow-scripts" width=600 height=120 src="/sandboxed"></iframe>
<script>x.src='http://localhost:'+location.port+'/cross'</script>"#;
    let world = World::start([
        ("/", Page::html(page)),
        ("/same", leaf("same")),
        ("/cross", leaf("cross")),
        ("/sandboxed", leaf("sandboxed")),
    ])
    .await;
    done(&world.go("/").await);
    let text = world.text().await;
    for (kind, name) in [
        ("same", "Same button"),
        ("cross", "Cross button"),
        ("srcdoc", "Srcdoc button"),
        ("sandboxed", "Sandboxed button"),
    ] {
        assert!(text.contains(&format!("{}_TEXT", kind.to_uppercase())), "{kind} in {text}");
        done(&world.click(name).await);
        assert!(world.hit(kind).await, "{kind}");
        assert_eq!(world.site.hits(kind), 1, "{kind}");
    }
}

fn frame(depth: usize, port: u16) -> Page {
    let hosts = ["", "127.0.0.1", "localhost", "localhost", "127.0.0.1", "localhost"];
    let inner = hosts.get(depth + 1).map_or(String::new(), |host| {
        format!(
            "<div style='height:500px'></div><iframe width=900 height=500 src='http://{host}:{port}/f{}'></iframe>",
            depth + 1
        )
    });
    Page::html(&format!(
        "<h2>FRAME_{depth}_TEXT</h2><button onclick=\"hit('frame{depth}')\">Frame {depth} button</button> \
         <label>Frame {depth} input <input oninput=\"if(this.value.length==5)hit('input{depth}')\"></label>{inner}"
    ))
}

/// Five frames inside each other, on two sites in turn; the inner ones are scrolled out of sight.
#[tokio::test]
async fn nested_frames_are_read_clicked_and_typed_into_at_every_depth() {
    let world = World::start([]).await;
    let port = world.site.port();
    for depth in 1..=5 {
        world.site.set(&format!("/f{depth}"), frame(depth, port));
    }
    world.site.set(
        "/",
        Page::html(&format!(
            "<h1>Frames</h1><div style='height:900px'></div><iframe width=1000 height=800 src='http://127.0.0.1:{port}/f1'></iframe>"
        )),
    );
    done(&world.go("/").await);
    let text = world.text().await;
    for depth in 1..=5 {
        assert!(text.contains(&format!("FRAME_{depth}_TEXT")), "{depth} in {text}");
    }
    for depth in [5, 1, 4, 2, 3] {
        done(&world.click(&format!("Frame {depth} button")).await);
        assert!(world.hit(&format!("frame{depth}")).await, "click at depth {depth}");
        done(&world.fill(&format!("Frame {depth} input"), "hello").await);
        assert!(world.hit(&format!("input{depth}")).await, "text at depth {depth}");
    }
}

/// Scaled, zoomed, scrolled and turned frames: the point is still the element's.
#[tokio::test]
async fn transformed_frames_are_clicked_where_they_are() {
    let inner = "<div style='height:40px'></div><button onclick=\"hit(location.hash.slice(1))\">Inner button</button>";
    let world = World::start([("/in", Page::html(inner))]).await;
    let port = world.site.port();
    for (name, style) in [
        ("scaled", "transform:scale(.5);transform-origin:0 0"),
        ("zoomed", "zoom:1.5"),
        ("padded", "border:7px solid;padding:11px;margin:30px"),
        ("turned", "transform:rotate(25deg);margin:120px"),
        ("skewed", "transform:skewX(20deg);margin:120px"),
    ] {
        for host in ["127.0.0.1", "localhost"] {
            let page = format!(
                "<div style='height:70px'></div><iframe style='{style}' width=400 height=200 src='http://{host}:{port}/in#{name}{host}'></iframe>"
            );
            world.site.set("/", Page::html(&page));
            done(&world.go("/").await);
            let acted = world.click("Inner button").await;
            assert!(matches!(acted.outcome, Outcome::Completed), "{name} on {host}: {acted:?}");
            assert!(world.hit(&format!("{name}{host}")).await, "{name} on {host}");
        }
    }
}

const SHADOW: &str = r#"<h1>Shadow roots</h1><div id=open></div><div id=closed></div><div id=nested></div>
<slot-card><button onclick="hit('slotted')">Slotted button</button></slot-card><script>
function fill(r,k){r.innerHTML='<h2>'+k.toUpperCase()+'_SHADOW_TEXT</h2><button>'+k[0].toUpperCase()+k.slice(1)+' shadow button</button> <label>'+k+' field <input></label>';
 r.querySelector('button').addEventListener('click',()=>hit(k+'_shadow'));
 r.querySelector('input').addEventListener('input',e=>{if(e.target.value.length==5)hit(k+'_input')});}
fill(document.getElementById('open').attachShadow({mode:'open'}),'open');
fill(document.getElementById('closed').attachShadow({mode:'closed'}),'closed');
var r=document.getElementById('nested').attachShadow({mode:'open'});r.innerHTML='<section><div id=in></div></section>';
fill(r.getElementById('in').attachShadow({mode:'closed'}),'nested');
customElements.define('slot-card',class extends HTMLElement{constructor(){super();this.attachShadow({mode:'open'}).innerHTML='<article><h3>SLOT_TEXT</h3><slot></slot></article>'}});
</script>"#;

/// W-369: shadow roots need no tools of their own.
#[tokio::test]
async fn w620_shadow_roots_open_closed_and_nested_are_read_clicked_and_typed_into() {
    let world = World::start([("/", Page::html(SHADOW))]).await;
    done(&world.go("/").await);
    let text = world.text().await;
    assert!(text.contains("SLOT_TEXT"), "{text}");
    for kind in ["open", "closed", "nested"] {
        assert!(text.contains(&format!("{}_SHADOW_TEXT", kind.to_uppercase())), "{kind} in {text}");
        let name = format!("{}{} shadow button", kind[..1].to_uppercase(), &kind[1..]);
        done(&world.click(&name).await);
        assert!(world.hit(&format!("{kind}_shadow")).await, "{kind}");
        done(&world.fill(&format!("{kind} field"), "hello").await);
        assert!(world.hit(&format!("{kind}_input")).await, "{kind}");
    }
    done(&world.click("Slotted button").await);
    assert!(world.hit("slotted").await);
}
