//! A recording is shown by its own file, and shows what was there.

use crate::bench_pages;
use crate::support::{LONG, Page, World, done};
use crate::tape::Tape;
use serde_json::Value;
use std::time::Duration;

/// The text of a document with its open shadow roots and the frames it may look into.
const TEXT: &str = r"function text(n){
  if(n.nodeType===3)return n.data;
  const tag=n.localName||'';let out='';
  if(['script','style','noscript','template','textarea','head','option'].includes(tag))return '';
  if(tag==='iframe'){let d=null;try{d=n.contentDocument}catch{}return d&&d.documentElement?' '+text(d.documentElement)+' ':''}
  if(n.shadowRoot)for(const c of n.shadowRoot.childNodes)out+=' '+text(c);
  for(const c of n.childNodes)out+=text(c)+(c.nodeType===1?' ':'');
  return out}
const textOf=d=>d?.documentElement?text(d.documentElement).replace(/\s+/g,' ').trim():'';";

/// On a busy machine a page loads for longer than an act waits.
const LOADED: &str =
    "document.readyState==='complete'||new Promise(done=>addEventListener('load',()=>done(true)))";

pub(crate) async fn text(world: &World) -> String {
    world
        .eval(&format!("(()=>{{{TEXT}return textOf(document)}})()"))
        .await
        .as_str()
        .unwrap()
        .to_owned()
}

/// Shows a recording's file to its end, and gives the text of what it shows once it is `wanted`, or after
/// a while what it is then.
pub(crate) async fn shown(world: &World, html: String, fits: &str) -> String {
    world.site.set("/replay", Page::raw("text/html; charset=utf-8", html));
    done(&world.go("/replay").await);
    let expression = format!(
        "new Promise(done=>{{{TEXT}
          const until=Date.now()+25000;let sought=0;
          const look=()=>{{
            const slider=document.querySelector('input[type=range]');
            const frame=document.querySelector('.place:not([hidden]) iframe');
            let now='nothing is shown';
            if(document.body.dataset.ready&&frame){{
              if(Date.now()>sought+3000){{sought=Date.now();slider.value=slider.max;slider.dispatchEvent(new Event('input'))}}
              now=textOf(frame.contentDocument);
            }}
            if(({fits})(now)||Date.now()>until)done(now);else setTimeout(look,100);
          }};look()}})"
    );
    world.eval(&expression).await.as_str().unwrap_or_default().to_owned()
}

/// What a file holds, cut.
fn events_of(html: &str) -> String {
    let (_, events) = html.split_once("\"events\":").unwrap_or_default();
    events.chars().take(6_000).collect()
}

pub(crate) fn same(wanted: &str) -> String {
    format!("now=>now==={}", serde_json::to_string(wanted).unwrap())
}

/// The recording of each page ends with the text that the page ended with.
#[tokio::test]
async fn s101_the_replay_of_every_page_shows_the_text_it_ended_with() {
    let world = World::start(bench_pages::all()).await;
    for (path, act) in bench_pages::ACTS {
        let mut tape = Tape::start(&world);
        done(&world.go(path).await);
        world.eval(LOADED).await;
        world.eval(act).await;
        world.eval("const z=document.createElement('i');z.textContent='THE-END';document.body.append(z);0").await;
        tape.until_text("THE-END").await;
        let wanted = text(&world).await;
        let html = tape.export();
        let got = shown(&world, html.clone(), &same(&wanted)).await;
        assert_eq!(got, wanted, "{path}: {}", events_of(&html));
    }
}

/// Frames of other processes, nested and changing, closed roots, and roots that came late.
#[tokio::test]
async fn s101_frames_of_other_processes_and_closed_roots_are_shown() {
    let outer = r#"<h1>Outer</h1><iframe id=x></iframe><iframe src=/same></iframe><iframe sandbox=allow-scripts src=/boxed></iframe>
<div id=shut></div><late-one></late-one><my-box>light</my-box>
<script>x.src='http://localhost:'+location.port+'/cross';
shut.attachShadow({mode:'closed'}).innerHTML='<p>CLOSED-ROOT</p>';
customElements.define('my-box',class extends HTMLElement{constructor(){super();const r=this.attachShadow({mode:'closed'});r.innerHTML='<b>CLOSED-BOX</b><slot></slot>';setTimeout(()=>r.append(' CLOSED-LATER'),2500)}});
setTimeout(()=>customElements.define('late-one',class extends HTMLElement{constructor(){super();this.attachShadow({mode:'open'}).innerHTML='<b>LATE-ROOT</b>'}}),800);
</script>"#;
    let cross = r#"<h2>Cross</h2><iframe id=y></iframe><p id=p></p><script>
y.src='http://127.0.0.1:'+location.port+'/inner';setTimeout(()=>p.textContent='CROSS-CHANGED',700)</script>"#;
    let world = World::start([
        ("/", Page::html(outer)),
        ("/cross", Page::html(cross)),
        ("/inner", Page::html("<p>INNER-TEXT</p><script>setTimeout(()=>document.body.append('INNER-CHANGED'),900)</script>")),
        ("/same", Page::html("<p>SAME-TEXT</p>")),
        ("/boxed", Page::html("<p>BOXED-TEXT</p>")),
    ])
    .await;
    let mut tape = Tape::start(&world);
    done(&world.go("/").await);
    tape.until_text("CLOSED-LATER").await;
    tape.for_a_while(Duration::from_secs(1)).await;
    let wanted = [
        "CLOSED-ROOT",
        "CLOSED-BOX",
        "CLOSED-LATER",
        "LATE-ROOT",
        "CROSS-CHANGED",
        "INNER-TEXT",
        "INNER-CHANGED",
        "SAME-TEXT",
        "BOXED-TEXT",
    ];
    let fits =
        format!("now=>{}.every(part=>now.includes(part))", serde_json::to_string(&wanted).unwrap());
    let got = shown(&world, tape.export(), &fits).await;
    for part in wanted {
        assert_eq!(got.matches(part).count(), 1, "{part} in {got}");
    }
}

/// The file runs and loads nothing of the page, even where the page tries.
#[tokio::test]
async fn nothing_of_the_page_runs_or_loads_in_the_export() {
    let hostile = r#"<link rel=preconnect href=/leak-preconnect><link rel=stylesheet href=/leak.css>
<style>body{background:url(/leak-background)}@import url(/leak-import);@font-face{font-family:x;src:url(/leak-font)}</style>
<base href="/leak-base/"><meta http-equiv=refresh content="0;url=/leak-refresh">
<h1 style="font-family:x">Hostile</h1><img src=/leak-img onerror="fetch('/leak-onerror')" srcset="/leak-srcset 2x">
<iframe srcdoc="<img src=/leak-srcdoc><script>parent.fetch('/leak-srcdoc-script')</script>"></iframe>
<svg><image href=/leak-svg /><script>fetch('/leak-svg-script')</script></svg>
<object data=/leak-object></object><embed src=/leak-embed><video poster=/leak-poster src=/leak-video autoplay></video>
<audio src=/leak-audio autoplay></audio><a href="javascript:fetch('/leak-href')" ping=/leak-ping>Link</a>
<form action=/leak-form><button id=b>Go</button></form>
<div id=s></div><script>s.attachShadow({mode:'open'}).innerHTML='<img src=/leak-shadow onerror=fetch("/leak-shadow-run")>';
document.body.insertAdjacentHTML('beforeend','<p></script><script>fetch("/leak-script")<\/script>');</script>"#;
    let hostile =
        hostile.replace("content=\"0;url=/leak-refresh\"", "content=\"600;url=/leak-refresh\"");
    let world = World::start([("/", Page::html(&hostile))]).await;
    let mut tape = Tape::start(&world);
    done(&world.go("/").await);
    world.eval("document.body.append('THE-END');0").await;
    tape.until_text("THE-END").await;
    let html = tape.export();
    let before = world.site.seen().len();
    let got = shown(&world, html, "now=>now.includes('Hostile')&&now.includes('THE-END')").await;
    assert!(got.contains("Hostile") && got.contains("THE-END"), "{got}");
    // A click in what is shown leads nowhere either.
    let ran: Value = world
        .eval("(()=>{const d=document.querySelector('.place:not([hidden]) iframe').contentDocument;d.querySelector('a').click();d.querySelector('button')?.click();return location.pathname})()")
        .await;
    assert_eq!(ran, "/replay");
    // What it would load takes its way before this answer.
    world.eval("fetch('/asked').catch(()=>0)").await;
    let seen = world.site.seen();
    let after: Vec<&str> = seen[before..].iter().map(|seen| seen.path.as_str()).collect();
    assert!(after.iter().all(|path| ["/replay", "/favicon.ico"].contains(path)), "{after:?}");
}

/// The same page in a frame of a dashboard, told what to show by messages.
#[tokio::test]
async fn the_players_page_shows_what_it_is_told() {
    let world = World::start([("/", Page::html("<h1>Recorded</h1>"))]).await;
    let mut tape = Tape::start(&world);
    done(&world.go("/").await);
    tape.until_text("Recorded").await;
    tape.recorder.settle();
    let library = reins_record::Library::open(tape.dir.path());
    let page = library.events(&crate::tape::id(), reins_record::Seq(0), 1_000).unwrap();
    let events = serde_json::to_string(&page.events).unwrap().replace('<', "\\u003c");
    let dashboard = format!(
        "<iframe id=p sandbox='allow-scripts allow-same-origin'></iframe><script>const heard=[];\
         addEventListener('message',e=>{{heard.push(e.data.type);\
         if(e.data.type==='ready'){{p.contentWindow.postMessage({{type:'events',events:{events}}},location.origin);\
         p.contentWindow.postMessage({{type:'seek',at_ms:9e12}},location.origin)}}}});p.src='/player'</script>"
    );
    let player = Page::raw("text/html; charset=utf-8", reins_record::player_page())
        .with_header("content-security-policy", reins_record::PLAYER_POLICY);
    drop(tape);
    world.site.set("/player", player);
    world.site.set("/dashboard", Page::html(&dashboard));
    done(&world.go("/dashboard").await);
    let look = "new Promise(done=>{const until=Date.now()+15000;const look=()=>{const inner=p.contentDocument?.querySelector('iframe');\
        const text=inner?.contentDocument?.body?.textContent??'';if(text.includes('Recorded')&&heard.includes('time')||Date.now()>until)done(text+' '+[...new Set(heard)]);else setTimeout(look,100)};look()})";
    let told = tokio::time::timeout(LONG, world.eval(look)).await.unwrap();
    let told = told.as_str().unwrap();
    for part in ["Recorded", "ready", "tabs", "time"] {
        assert!(told.contains(part), "{part} in {told}");
    }
}
