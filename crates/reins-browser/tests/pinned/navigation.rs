//! The top level opens the app and nothing else, whoever leads it elsewhere and by whatever way (S-152, S-153).
//!
//! The other site could be reached by the proxy here, so what holds is the navigation itself.

use crate::world::{LONG, Other, World};
use reins_core::Outcome;
use reins_testing::{Page, Site};

/// Ways in which a page of the app leads elsewhere, from the handler of a button. `EVIL` is the other site.
const WAYS: &[(&str, &str)] = &[
    ("location", "location.href=EVIL"),
    ("assign", "location.assign(EVIL)"),
    ("replace", "location.replace(EVIL)"),
    ("navigation api", "navigation.navigate(EVIL)"),
    ("scheme-relative", "location.href=EVIL.slice(5)"),
    ("redirect", "location.href='/hop?302'"),
    ("redirect, kept method", "f.method='post';f.action='/hop?307';f.submit()"),
    ("redirect, two steps", "location.href='/hop?first'"),
    ("redirect by header", "location.href='/refresh-header'"),
    ("redirect by element", "location.href='/refresh'"),
    ("redirect by script", "location.href='/by-script'"),
    ("form", "f.action=EVIL;f.submit()"),
    ("post form", "f.method='post';f.action=EVIL;f.submit()"),
    ("form in a new window", "f.target='_blank';f.action=EVIL;f.submit()"),
    ("form that redirects in a new window", "f.target='_blank';f.action='/hop?302';f.submit()"),
    ("link", "l.href=EVIL;l.click()"),
    ("link that redirects", "l.href='/hop?302';l.click()"),
    ("link in a new window", "l.href=EVIL;l.target='_blank';l.click()"),
    ("link without opener", "l.href=EVIL;l.target='_blank';l.rel='noopener';l.click()"),
    (
        "link under a base",
        "let b=document.createElement('base');b.href=EVIL;document.head.append(b);l.href='/based';l.click()",
    ),
    ("download", "l.href=EVIL;l.download='x';l.click()"),
    ("download that redirects", "l.href='/hop?302';l.download='x';l.click()"),
    ("window.open", "window.open(EVIL)"),
    ("window.open that redirects", "window.open('/hop?302')"),
    ("window.open without opener", "window.open(EVIL,'_blank','noopener')"),
    ("empty window", "let w=window.open('');w&&(w.location=EVIL)"),
    ("named window", "window.open(EVIL,'name')"),
    (
        "window that writes itself",
        "let w=window.open('');w&&(w.document.write('<meta http-equiv=refresh content=\"0;url='+EVIL+'\">'),w.document.close())",
    ),
    (
        "meta refresh",
        "let m=document.createElement('meta');m.httpEquiv='refresh';m.content='0;url='+EVIL;document.head.append(m)",
    ),
    (
        "blob",
        "location.href=URL.createObjectURL(new Blob(['<script>location.href=\"'+EVIL+'\"<\\/script>'],{type:'text/html'}))",
    ),
    (
        "frame that leads the top",
        "let i=document.createElement('iframe');i.srcdoc='<script>top.location.href=\"'+EVIL+'\"<\\/script>';document.body.append(i)",
    ),
    (
        "frame whose form leads the top",
        "let i=document.createElement('iframe');i.srcdoc='<form target=_top action=\"'+EVIL+'\"></form><script>document.forms[0].submit()<\\/script>';document.body.append(i)",
    ),
    ("script address", "location.href='javascript:void(location.href=\"'+EVIL+'\")'"),
    ("timer", "setTimeout(()=>{location.href=EVIL},20)"),
    ("user info", "location.href=EVIL.replace('//','//app:80@')"),
    ("other name of this machine", "location.href=EVIL.replace('127.0.0.1','localhost')"),
    ("ping", "l.href='#x';l.ping=EVIL;l.click()"),
    (
        "prerender",
        "let s=document.createElement('script');s.type='speculationrules';s.textContent=JSON.stringify({prerender:[{source:'list',urls:[EVIL]}]});document.head.append(s)",
    ),
];

fn pages(other: &Site) -> Vec<(String, Page)> {
    let evil = other.url("/evil");
    let mut pages = vec![
        ("/hop?302".to_owned(), Page::redirect(302, &evil)),
        ("/hop?307".to_owned(), Page::redirect(307, &evil)),
        ("/hop?first".to_owned(), Page::redirect(302, "/hop?302")),
        (
            "/refresh-header".to_owned(),
            Page::html("moving").with_header("refresh", format!("0;url={evil}")),
        ),
        (
            "/refresh".to_owned(),
            Page::html(&format!("<meta http-equiv=refresh content='0;url={evil}'>moving")),
        ),
        ("/by-script".to_owned(), Page::html(&format!("<script>location='{evil}'</script>"))),
        ("/".to_owned(), Page::html("<h1>The app</h1><p id=p>here</p>")),
    ];
    // The last one leads nowhere.
    for (number, (_, way)) in WAYS.iter().chain(&[("", "")]).enumerate() {
        let control = other.url(&format!("/hit?control-{number}"));
        let body = format!(
            "<img src='{control}'><a id=l href='#'>link</a><form id=f><input name=q value=1></form>\
             <button onclick='go()'>Go</button>\
             <script>const EVIL='{evil}?{number}';function go(){{{way}}}</script>"
        );
        pages.push((format!("/way/{number}"), Page::html(&body)));
    }
    pages
}

/// Shows the page of a way, with its picture from the other site. What the page before leads to later may come between.
async fn shows(world: &World, number: usize) {
    let control = format!("/hit?control-{number}");
    for _ in 0..5 {
        let url = world.browser.tab_info(&world.tab).unwrap().url;
        if world.other.requests(&control) == 0 || !url.contains(&format!("/way/{number}")) {
            world.go(&format!("/way/{number}")).await;
        }
        if world.other.wait_for(LONG / 5, |seen| seen.path == control).await {
            return;
        }
    }
    panic!("the page of way {number} did not load");
}

/// S-152, S-153: no request of the top level reaches another origin, redirects included; the page's own resources do.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s152_s153_no_way_of_a_page_leads_to_another_origin() {
    let world = World::start(pages, Other::Open).await;
    for (number, (way, _)) in WAYS.iter().enumerate() {
        shows(&world, number).await;
        world.click("Go").await;
        // Everything goes through the same proxy: what the page sent before arrives before this.
        shows(&world, number + 1).await;
        assert_eq!(world.leaked(), [] as [String; 0], "{way}");
    }
    assert_eq!(world.session.refusals().total(), 0, "{:?}", world.session.refusals());
    world.end().await;
}

/// S-152, S-153: an address outside the app, and one inside that redirects outside, are refused for the agent too.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s152_s153_an_agent_is_led_nowhere_else_either() {
    let world = World::start(pages, Other::Open).await;
    let elsewhere = world.other.url("/evil");
    let named = world.other.other_url("/evil");
    let hops = ["/hop?302", "/hop?307", "/hop?first"].map(|hop| world.app.url(hop));
    for url in [elsewhere, named].iter().chain(&hops) {
        let acted = world.open(url).await;
        match &acted.outcome {
            Outcome::Refused(refusal) => assert_eq!(refusal.code, "outside_app", "{url}"),
            other => panic!("{url}: {other:?} {:?}", acted.effects),
        }
    }
    for path in ["/refresh-header", "/refresh", "/by-script", "/"] {
        world.go(path).await;
    }
    assert_eq!(world.leaked(), [] as [String; 0]);
    assert!(world.app.requests("/hop?302") >= 2, "the app itself was asked");
    world.end().await;
}
