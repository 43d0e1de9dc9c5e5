//! Loading, settling, and pages that are busy or never finish: every call answers and says why.

use crate::support::{LONG, Page, World, done, refused};
use reins_browser::{Navigation, WaitFor};
use reins_core::{Action, HistoryStep};
use std::time::Duration;

/// A-050, A-054: one navigation a call, and its end as what it was.
#[tokio::test]
async fn a054_a_navigation_is_told_as_what_it_was() {
    let world = World::start([
        ("/", Page::html("<h1 id=x>One</h1>")),
        ("/to", Page::redirect(302, "/")),
        ("/file", Page::download("f.bin", "abc")),
    ])
    .await;
    let acted = world.go("/to").await;
    let url = world.site.url("/");
    assert_eq!(done(&acted).navigation, Some(Navigation::Document { url, loaded: true }));
    let acted = world.go("/#x").await;
    let url = world.site.url("/#x");
    assert_eq!(done(&acted).navigation, Some(Navigation::SameDocument { url }));
    let acted = world.go("/file").await;
    assert_eq!(done(&acted).navigation, Some(Navigation::Download));
    let acted = world.open("http://127.0.0.1:1/").await;
    assert!(
        matches!(&done(&acted).navigation, Some(Navigation::Failed { message, .. }) if message.contains("ERR_")),
        "{acted:?}"
    );
    assert_eq!(
        world.info().unwrap().url,
        "http://127.0.0.1:1/",
        "the address, not the error page's"
    );
    // The browser works on, and a link that leads nowhere is told the same way.
    world.site.set("/", Page::html("<h1>One</h1><a href='http://127.0.0.1:1/dead'>Dead link</a>"));
    done(&world.go("/").await);
    assert!(world.text().await.contains("One"));
    let acted = world.click("Dead link").await;
    assert!(
        matches!(&done(&acted).navigation, Some(Navigation::Failed { url, .. }) if url.ends_with("/dead")),
        "{acted:?}"
    );
}

#[tokio::test]
async fn r180_back_forward_and_reload() {
    let world = World::start([
        ("/a", Page::html("<h1>Page A</h1><script>hit('a')</script>")),
        ("/b", Page::html("<h1>Page B</h1>")),
    ])
    .await;
    let history = async |step| {
        let tab = world.tab.clone();
        let destination = world.browser.history_destination(&world.tab, step).await.unwrap();
        (destination.clone(), world.act(Action::History { tab, step, destination }).await)
    };
    done(&world.go("/a").await);
    done(&world.go("/b").await);
    let (destination, acted) = history(HistoryStep::Back).await;
    assert_eq!(destination, Some(world.site.url("/a")));
    assert!(matches!(done(&acted).navigation, Some(Navigation::Document { loaded: true, .. })));
    assert!(world.text().await.contains("Page A"));
    let (_, acted) = history(HistoryStep::Forward).await;
    done(&acted);
    assert!(world.text().await.contains("Page B"));
    done(&world.go("/a").await);
    let before = world.site.requests("/a");
    done(&world.act(Action::Reload { tab: world.tab.clone(), url: world.site.url("/a") }).await);
    assert_eq!(world.site.requests("/a"), before + 1);
    let (destination, _) = history(HistoryStep::Back).await;
    assert!(destination.is_some());
}

/// R-139: the act ends when what it began has ended.
#[tokio::test]
async fn r139_an_act_waits_for_what_it_began() {
    let page = r#"<button onclick="fetch('/data').then(r=>r.text()).then(t=>out.textContent=t)">Fetch</button>
<a href="/next">Next</a><form action="/sent" method=post><input name=q><button>Send</button></form>
<button onclick="setTimeout(()=>out.textContent='RAF_'+1)">Timer</button><p id=out></p>
<button onclick="fetch('/data').then(()=>location.href='/next')">Fetch and go</button>"#;
    let world = World::start([
        ("/", Page::html(page)),
        ("/data", Page::raw("text/plain", "DATA_TEXT")),
        ("/next", Page::html("<h1>Next page</h1>")),
        ("/sent", Page::redirect(303, "/next?sent")),
    ])
    .await;
    done(&world.go("/").await);
    let acted = world.click("Fetch").await;
    assert!(done(&acted).settled && acted.effects.changed, "{acted:?}");
    assert_eq!(world.eval("out.textContent").await, "DATA_TEXT");
    for (name, end) in
        [("link:Next", "/next"), ("button:Send", "/next?sent"), ("Fetch and go", "/next")]
    {
        done(&world.go("/").await);
        let acted = world.click(name).await;
        let url = world.site.url(end);
        assert_eq!(
            done(&acted).navigation,
            Some(Navigation::Document { url, loaded: true }),
            "{name}"
        );
        assert!(world.text().await.contains("Next page"), "{name}");
    }
}

/// R-139: what the page itself says is unfinished belongs to the act: a part marked busy, a list
/// emptied to be filled again; by a click and by a chosen option.
#[tokio::test]
async fn r139_an_act_waits_for_parts_that_say_they_are_unfinished() {
    let page = r#"<button id=b onclick="fill(true)">Busy</button><button onclick="fill(false)">Empty</button>
<label>Sort <select onchange="fill(this.value=='Price')"><option>Name<option>Price<option>Age</select></label>
<button onclick="l.setAttribute('aria-busy','true')">Forever</button><ul id=l><li>old</ul><script>
let n=0;function fill(busy){n++;l.textContent='';if(busy)l.setAttribute('aria-busy','true');let i=0;
const t=setInterval(()=>{l.insertAdjacentHTML('beforeend','<li>item '+n+'.'+(++i)+'</li>');if(i==5){clearInterval(t);l.removeAttribute('aria-busy')}},90)}</script>"#;
    let world = World::start([("/", Page::html(page))]).await;
    done(&world.go("/").await);
    let items = async |nth: u32| {
        let text = world.text().await;
        assert!(text.contains(&format!("item {nth}.5")), "{nth}: {text}");
    };
    for (nth, name) in [(1, "Busy"), (2, "Empty")] {
        assert!(done(&world.click(name).await).settled, "{name}");
        items(nth).await;
    }
    for (nth, option) in [(3, "Price"), (4, "Age")] {
        let target = world.record("combobox:Sort").await;
        let options = vec![option.to_owned()];
        assert!(done(&world.act(Action::Select { target, options }).await).settled, "{option}");
        items(nth).await;
    }
    let acted = world.click("Forever").await;
    assert!(!done(&acted).settled);
    assert!(acted.effects.notes.iter().any(|note| note.contains("busy")), "{acted:?}");
}

const SPA: &str = r#"<div id=app><h1>Shop</h1><span id=s>Loading</span><ul id=l></ul></div><script>
fetch('/items').then(r=>r.json()).then(async n=>{for(let i=0;i<n;i+=40){for(let k=i;k<i+40;k++)l.insertAdjacentHTML('beforeend','<li><button>Add '+k+' to cart</button></li>');await new Promise(r=>setTimeout(r,60))}s.textContent='SPA_READY_TEXT'})</script>"#;

/// No peer does: the first snapshot after navigating shows the application rendered.
#[tokio::test]
async fn an_application_that_renders_in_steps_is_shown_rendered() {
    let world = World::start([
        ("/", Page::html(SPA)),
        ("/items", Page::raw("application/json", "200").after(Duration::from_millis(400))),
    ])
    .await;
    done(&world.go("/").await);
    let text = world.text().await;
    assert_eq!(text.matches("to cart\"").count(), 200, "{}", text.len());
    assert!(text.contains("SPA_READY_TEXT"));
}

/// Code that a page loads in parts belongs to it: what the last part shows is there when the navigation answers. One
/// that never comes is not waited for beyond its time.
#[tokio::test]
async fn code_that_a_loaded_page_still_fetches_shows_itself() {
    let page = |path: &str| {
        let load = format!("addEventListener('load',()=>import('{path}'))");
        Page::html(&format!("<h1>Early</h1><script type=module>{load}</script>"))
    };
    let part = "document.body.insertAdjacentHTML('beforeend','<h2>LAZY_TEXT</h2>')";
    let world = World::start([
        ("/", page("/part.js")),
        ("/never", page("/hang.js")),
        ("/part.js", Page::raw("text/javascript", part).after(Duration::from_millis(250))),
        ("/hang.js", Page::raw("text/javascript", "").never_answering()),
    ])
    .await;
    done(&world.go("/").await);
    assert!(world.text().await.contains("LAZY_TEXT"));
    done(&world.go("/never").await);
    assert!(world.text().await.contains("Early"));
}

#[tokio::test]
async fn pages_that_never_finish_are_shown_with_a_note() {
    let hang = Page::raw("text/plain", "").never_answering();
    let world = World::start([
        (
            "/img",
            Page::html(
                "<h1>IMG_TEXT</h1><img src=/hang><button onclick=\"hit('img')\">Press</button>",
            ),
        ),
        (
            "/body",
            Page::html("<h1>BODY_TEXT</h1><button onclick=\"hit('body')\">Press</button>")
                .never_ending(),
        ),
        ("/hang", hang),
        ("/", Page::html("<h1>Fine</h1>")),
    ])
    .await;
    for (path, text, hit) in [("/img", "IMG_TEXT", "img"), ("/body", "BODY_TEXT", "body")] {
        let acted = world.go(path).await;
        let effects = done(&acted);
        assert!(!effects.settled && !effects.notes.is_empty(), "{path} {effects:?}");
        assert!(world.text().await.contains(text), "{path}");
        done(&world.click("Press").await);
        assert!(world.hit(hit).await, "{path}");
    }
    let acted = world.go("/hang").await;
    assert!(matches!(done(&acted).navigation, Some(Navigation::Pending { .. })), "{acted:?}");
    done(&world.go("/").await);
    assert!(world.text().await.contains("Fine"));
}

// The loops outlast the test on any machine: nothing here can pass by waiting for their end.
const BUSY: &str = r#"<h1>Busy page</h1><button onclick="hit('start').then(()=>setTimeout(()=>{hit('looping');setTimeout(()=>{const t=Date.now()+120000;while(Date.now()<t);})},50))">Start busy loop</button>
<button onclick="hit('looping');const t=Date.now()+120000;while(Date.now()<t);">Loop inside</button><button onclick="hit('plain')">Plain button</button>"#;

/// A look at a page that never answers takes all of this.
const LOOK: Duration = Duration::from_secs(3);

/// What all peers fail: every call answers within its own time and says what is going on.
#[tokio::test]
async fn a_busy_page_holds_nobody_up() {
    let world =
        World::start([("/", Page::html(BUSY)), ("/else", Page::html("<h1>Elsewhere</h1>"))]).await;
    for (nth, button, other_site) in [(1, "Start busy loop", true), (2, "Loop inside", false)] {
        done(&world.go("/").await);
        let plain = world.record("Plain button").await;
        let acted = world.click(button).await;
        done(&acted);
        // The one that begins a moment later leaves the page at rest until then.
        assert!(!acted.effects.settled || button == "Start busy loop", "{acted:?}");
        world.site.wait_for(LONG, |s| s.path == "/hit?looping").await;
        while world.site.hits("looping") < nth {
            tokio::task::yield_now().await;
        }
        // The loop begins a task later than the request that tells of it.
        let busy = async {
            while !world.text_within(&world.tab, LOOK).await.contains("did not answer") {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(LONG, busy).await.unwrap();
        refused(&world.act(crate::support::click(plain.clone())).await, "page_busy");
        assert!(world.browser.record(&plain.node).await.unwrap_err().code() == "page_busy");
        let url = if other_site { world.site.other_url("/else") } else { world.site.url("/else") };
        let acted = world.open(&url).await;
        done(&acted);
        // The page is there; on a busy machine it may need a moment until it answers.
        let there = async {
            while !world.text().await.contains("Elsewhere") {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(LONG, there).await.expect("the page elsewhere");
    }
    assert_eq!(world.site.hits("plain"), 0);
}

#[tokio::test]
async fn waiting_for_texts_addresses_and_rest() {
    let page = r#"<p id=p>LOADING</p><button onclick="setTimeout(()=>{p.textContent='READY';history.pushState(0,'','/done')},300)">Go</button>"#;
    let world = World::start([("/", Page::html(page))]).await;
    done(&world.go("/").await);
    done(&world.click("Go").await);
    for what in [
        WaitFor::Text("READY".into()),
        WaitFor::TextGone("LOADING".into()),
        WaitFor::Url("/done".into()),
        WaitFor::Settled,
    ] {
        world.browser.wait(&world.tab, &what, LONG).await.unwrap();
    }
    let error = world
        .browser
        .wait(&world.tab, &WaitFor::Text("NEVER".into()), Duration::from_millis(300))
        .await
        .unwrap_err();
    assert_eq!(error.code(), "not_seen");
}

/// Loading again sends a form again only where the document came by POST, and that is known.
#[tokio::test]
async fn a_reload_resubmits_only_what_was_posted() {
    let form = "<form action=/kept method=post><button>Keep</button></form><form action=/moved method=post><button>Move</button></form>";
    let world = World::start([
        ("/", Page::html(form)),
        ("/kept", Page::html("<h1>Kept</h1><a href=/>Back to start</a>")),
        ("/moved", Page::redirect(303, "/after")),
        ("/after", Page::html("<h1>After</h1>")),
    ])
    .await;
    let resubmits = || world.info().unwrap().reload_resubmits;
    assert!(!resubmits(), "an empty tab");
    done(&world.go("/").await);
    assert!(!resubmits(), "a plain page");
    done(&world.click("Keep").await);
    assert!(resubmits(), "a posted page");
    done(&world.click("link:Back to start").await);
    assert!(!resubmits(), "a link leads on");
    done(&world.click("Move").await);
    assert!(world.text().await.contains("After"));
    assert!(!resubmits(), "post, redirect, get");
}
