//! No new destinations for sockets, and for workers that no tab owns, told by what another site saw.

use crate::support::{LONG, Page, World, done};
use reins_core::Action;

/// Ways of opening a socket to a site that the page never had to do with.
const WAYS: &[(&str, &str)] = &[
    ("socket", "new WebSocket(E)"),
    ("stream", "new WebSocketStream(E).opened.catch(()=>0)"),
    ("many", "for(let i=0;i<20;i++)new WebSocket(E+i)"),
    ("timer", "setTimeout(()=>new WebSocket(E),150)"),
    (
        "made frame",
        "let i=document.createElement('iframe');document.body.append(i);new i.contentWindow.WebSocket(E)",
    ),
    (
        "inside a made frame",
        "let i=document.createElement('iframe');i.srcdoc='<script>new WebSocket(\"'+E+'\")<\\/script>';document.body.append(i)",
    ),
    ("worker", "new Worker(URL.createObjectURL(new Blob(['new WebSocket(\"'+E+'\")'])))"),
    ("worker from before", "early.postMessage(E)"),
    (
        "document opened anew",
        "document.open();document.write('<script>new WebSocket(\"'+E+'\")<\\/script>');document.close()",
    ),
    (
        "blob page",
        "location.href=URL.createObjectURL(new Blob(['<script>new WebSocket(\"'+E+'\")<\\/script>'],{type:'text/html'}))",
    ),
    ("goodbye", "addEventListener('pagehide',()=>new WebSocket(E),true);location.href='/own'"),
    (
        "goodbye of a made frame",
        "let i=document.createElement('iframe');document.body.append(i);\
         i.contentWindow.addEventListener('pagehide',()=>new i.contentWindow.WebSocket(E),true);location.href='/own'",
    ),
    (
        "goodbye without a head",
        "document.head.remove();addEventListener('pagehide',()=>new WebSocket(E),true);location.href='/own'",
    ),
    (
        "goodbye of a document opened anew",
        "document.open();addEventListener('pagehide',()=>new WebSocket(E),true);document.write('x');document.close();setTimeout(()=>location.href='/own',50)",
    ),
];

fn hostile(way: &str) -> String {
    format!(
        "<h1>Page</h1><button onclick=\"go()\">Press</button>\
         <script>const early=new Worker(URL.createObjectURL(new Blob(['onmessage=e=>new WebSocket(e.data)'])));\
         const E='ws://localhost:'+location.port+'/evil?x';function go(){{{way}}}</script>"
    )
}

fn home(world: &World) -> Action {
    Action::Navigate { tab: world.tab.clone(), url: world.site.url("/") }
}

/// whatever opens a socket for the handler of an approved click, it does not reach a new site.
#[tokio::test]
async fn r221_a_touched_page_opens_no_socket_to_a_site_it_did_not_know() {
    let world = World::start([("/own", Page::html("own"))]).await;
    for (name, way) in WAYS {
        world.site.set("/", Page::html(&hostile(way)));
        done(&world.act_guarded(home(&world)).await);
        let acted = world.click_guarded("Press").await;
        done(&acted);
        world.page_waits(300).await;
        assert_eq!(world.arrived("evil"), Vec::<String>::new(), "{name} {acted:?}");
        let next = world.act_guarded(home(&world)).await;
        let told = [acted.effects.refused, next.effects.refused].concat().join(" ");
        // The page's own policy holds the last words, and says nothing.
        let tells = !name.starts_with("goodbye") && !name.contains("frame");
        assert!(!tells || told.contains("localhost"), "{name}: {told:?}");
    }
    world.page_waits(300).await;
    assert_eq!(world.arrived("evil"), Vec::<String>::new());
}

/// A chat goes on: the page's own site, and sites it had a socket to before. So does the next page, and
/// everything once the person acts in the page.
#[tokio::test]
async fn r221_sockets_to_known_sites_stay_open() {
    let page = |before: &str| {
        format!(
            "<h1>Page</h1><button onclick=\"new WebSocket(own+'again');new WebSocket(E+'again')\">Press</button>\
             <script>const own='ws://'+location.host+'/own-',E='ws://localhost:'+location.port+'/other-';{before}</script>"
        )
    };
    let world = World::start([]).await;
    world.site.set("/", Page::html(&page("new WebSocket(E+'before')")));
    done(&world.act_guarded(home(&world)).await);
    assert!(world.site.wait_for(LONG, |seen| seen.path == "/other-before").await);
    world.page_waits(100).await;
    let acted = world.click_guarded("Press").await;
    assert_eq!(done(&acted).refused, Vec::<String>::new());
    for path in ["/own-again", "/other-again"] {
        assert!(world.site.wait_for(LONG, |seen| seen.path == path).await, "{path}");
    }
    // Another page, which opens one at once.
    world.site.set("/", Page::html(&page("new WebSocket(E+'next')")));
    done(&world.act_guarded(home(&world)).await);
    assert!(world.site.wait_for(LONG, |seen| seen.path == "/other-next").await);
    world.site.set("/", Page::html(&page("")));
    done(&world.act_guarded(home(&world)).await);
    let before = world.arrived("/other-again").len();
    let acted = world.click_guarded("Press").await;
    assert!(done(&acted).refused.join(" ").contains("socket to http://localhost"), "{acted:?}");
    world.page_waits(300).await;
    assert_eq!(world.arrived("/other-again").len(), before);
    world.person_clicks().await;
    world.eval("void new WebSocket(E+'person')").await;
    assert!(world.site.wait_for(LONG, |seen| seen.path == "/other-person").await);
}

/// What a shared or a service worker is told by a touched page.
const SENDS: &str = "onmessage=onconnect=e=>{const go=e=>{for(const u of e.data)\
    u.startsWith('ws')?new WebSocket(u):fetch(u,{mode:'no-cors'}).catch(()=>0)};\
    if(e.ports&&e.ports[0]){e.ports[0].onmessage=go}else go(e)}";

/// a worker that the page had before, or makes now, sends nothing to a new site in its place.
#[tokio::test]
async fn r221_workers_send_nothing_for_a_touched_page_to_a_site_it_did_not_know() {
    let world = World::start([
        ("/worker.js", Page::raw("text/javascript", SENDS)),
        (
            "/service.js",
            Page::raw("text/javascript", format!("{SENDS};oninstall=()=>skipWaiting()")),
        ),
    ])
    .await;
    let both = "[E+'evil-'+n,E.replace('http','ws')+'evil-'+n,'/own-'+n]";
    for (name, ready, way) in [
        ("shared", "self.S=new SharedWorker('/worker.js').port", "S.postMessage(DATA)"),
        ("shared-now", "", "new SharedWorker('/worker.js?now').port.postMessage(DATA)"),
        (
            "service",
            "navigator.serviceWorker.register('/service.js')",
            "navigator.serviceWorker.ready.then(r=>r.active.postMessage(DATA))",
        ),
    ] {
        let way = way.replace("DATA", both);
        world.site.set(
            "/",
            Page::html(&format!(
                "<h1>Page</h1><button onclick=\"{way}\">Press</button><script>const n='{name}',\
                 E='http://localhost:'+location.port+'/';{ready}</script>"
            )),
        );
        done(&world.act_guarded(home(&world)).await);
        world.page_waits(300).await;
        let acted = world.click_guarded("Press").await;
        done(&acted);
        let own = format!("/own-{name}");
        assert!(world.site.wait_for(LONG, |seen| seen.path == own).await, "{name}");
        world.page_waits(300).await;
        assert_eq!(world.arrived("evil"), Vec::<String>::new(), "{name} {acted:?}");
        let next = world.act_guarded(home(&world)).await;
        let told = [acted.effects.refused, next.effects.refused].concat().join(" ");
        assert!(told.contains("a worker of this page tried to"), "{name}: {told:?}");
    }
    // The page is gone that was touched: what the worker does is its own business again.
    world.eval("navigator.serviceWorker.ready.then(r=>r.active.postMessage([E+'free']))").await;
    assert!(world.site.wait_for(LONG, |seen| seen.path == "/free").await);
}
