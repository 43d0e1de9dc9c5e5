//! Holding the effect instead of the click: what reached the test's server before and after the answer.

use crate::support::{LONG, Page, World, click, done};
use reins_browser::{Acted, TurnEnds};
use reins_core::{Action, HeldId, HeldKind, HeldRequest, Outcome, StepId, TurnId};
use reins_guard::{
    AgreedSending, Answer, ApprovedAction, Basis, CriticState, Decision, Downloads, Facts, Holding,
    Level, Moment, PendingSending, Policy, SiteRules, TabFacts, TurnFacts, evaluate,
};
use tokio_util::sync::CancellationToken;

const MOMENT: Moment = Moment { turn: TurnId(1), step: StepId(1), stops: 0 };

/// What level auto makes of things where both names of the test's server are named.
fn with_facts<T>(world: &World, holding: Holding, then: impl FnOnce(&Facts<'_>) -> T) -> T {
    let mut turn = TurnFacts::default();
    turn.approve_url(&world.site.url("/"));
    let origin = reins_browser::document_origin(&world.info().unwrap().url);
    then(&Facts {
        policy: &Policy::Guarded,
        level: Level::Auto,
        rules: &SiteRules::default(),
        turn: &turn,
        tab: TabFacts::agents(origin),
        published: None,
        downloads: Downloads::Refused,
        user_message_visible: true,
        critic: CriticState::Missing,
        holding,
        moment: MOMENT,
    })
}

async fn holdable(world: &World) -> bool {
    world.browser.holdable(&world.tab).await.is_some()
}

/// An approval that holds what the click sends.
async fn approve(world: &World, name: &str) -> ApprovedAction {
    let target = world.record(name).await;
    let shown = world.browser.holdable(&world.tab).await.expect("it can be held");
    let decided = with_facts(world, Holding::Over(shown), |facts| evaluate(click(target), facts));
    match decided {
        Decision::Allow(approved) if approved.basis() == Basis::Held => approved,
        other => panic!("{other:?}"),
    }
}

async fn press(world: &World, name: &str) -> Acted {
    let approved = approve(world, name).await;
    world.browser.act(approved, CancellationToken::new()).await
}

fn agreed(world: &World, held: &[HeldRequest]) -> Vec<AgreedSending> {
    with_facts(world, Holding::Never, |facts| {
        let questions = PendingSending::each(held, facts).into_iter();
        questions.map(|(_, one)| one.unwrap().answer(Answer::Allow, MOMENT).unwrap()).collect()
    })
}

pub(crate) async fn allow(world: &World, held: &[HeldRequest]) -> Acted {
    let agreed = agreed(world, held);
    world.browser.answer_held(&world.tab, agreed, &[], CancellationToken::new()).await
}

pub(crate) async fn deny(world: &World, held: &[HeldRequest]) -> Acted {
    let ids: Vec<HeldId> = held.iter().map(|one| one.id).collect();
    world.browser.answer_held(&world.tab, Vec::new(), &ids, CancellationToken::new()).await
}

async fn open(world: &World, body: &str) {
    world.site.set("/", Page::html(body));
    let url = world.site.url("/");
    done(&world.act_guarded(Action::Navigate { tab: world.tab.clone(), url }).await);
}

fn page(way: &str) -> String {
    format!(
        "<h1>Page</h1><form id=f action=/do method=post><input type=hidden name=item value=secret></form>\
         <button type=button onclick=\"go()\">Press</button><p id=p></p><script>function go(){{{way}}}</script>"
    )
}

/// Ways of sending something that can change something, and what a card says of them.
const WAYS: &[(&str, &str, HeldKind, &[&str])] = &[
    (
        "post",
        "fetch('/do',{method:'POST',body:new URLSearchParams({item:1,n:2})})",
        HeldKind::Script,
        &["item", "n"],
    ),
    (
        "json",
        "fetch('/do',{method:'PUT',headers:{'content-type':'application/json'},body:'{\"a\":1}'})",
        HeldKind::Script,
        &["a"],
    ),
    (
        "parts",
        "let d=new FormData();d.append('q','x');fetch('/do',{method:'POST',body:d})",
        HeldKind::Script,
        &["q"],
    ),
    ("delete", "fetch('/do',{method:'DELETE'})", HeldKind::Script, &[]),
    ("keepalive", "fetch('/do',{method:'POST',keepalive:true,body:'x'})", HeldKind::Script, &[]),
    ("xhr", "let x=new XMLHttpRequest();x.open('POST','/do');x.send('x')", HeldKind::Script, &[]),
    (
        "synchronous xhr",
        "let x=new XMLHttpRequest();x.open('POST','/do',false);x.send('x')",
        HeldKind::Script,
        &[],
    ),
    ("beacon", "navigator.sendBeacon('/do','x')", HeldKind::Beacon, &[]),
    ("form", "f.submit()", HeldKind::Form, &["item"]),
    (
        "form into a frame",
        "let i=document.createElement('iframe');i.name='t';document.body.append(i);f.target='t';f.submit()",
        HeldKind::Form,
        &["item"],
    ),
    (
        "worker",
        "new Worker(URL.createObjectURL(new Blob(['fetch(\"'+location.origin+'/do\",{method:\"POST\"})'])))",
        HeldKind::Script,
        &[],
    ),
    (
        "made frame",
        "let i=document.createElement('iframe');document.body.append(i);i.contentWindow.fetch(location.origin+'/do',{method:'POST'})",
        HeldKind::Script,
        &[],
    ),
];

/// whatever the handler uses, nothing of it arrives before the person agreed, and it arrives once
/// after that; it never arrives where they did not.
#[tokio::test]
async fn r153_what_a_click_sends_waits_for_the_answer() {
    let world = World::start([("/do", Page::html("<h1>Done</h1>"))]).await;
    for (name, way, kind, fields) in WAYS {
        for agrees in [false, true] {
            // Each has an address of its own.
            let path = format!("/do?{}-{agrees}", name.replace(' ', "-"));
            let page = page(way).replace("/do", &path);
            open(&world, &page).await;
            let mut acted = press(&world, "Press").await;
            done(&acted);
            if acted.effects.held.is_empty() {
                // A worker takes its time.
                world.page_waits(500).await;
                acted = deny(&world, &[]).await;
            }
            let held = acted.effects.held.clone();
            assert_eq!(held.len(), 1, "{name}: {acted:?}");
            assert_eq!(held[0].kind, *kind, "{name}");
            assert_eq!(held[0].fields, *fields, "{name}");
            assert_eq!(held[0].url, world.site.url(&path), "{name}");
            assert_eq!(world.arrived(&path).len(), 0, "{name}");
            if agrees {
                let after = allow(&world, &held).await;
                assert_eq!(done(&after).held, [], "{name}");
                let arrived = world.site.wait_for(LONG, |seen| seen.path == path);
                assert!(arrived.await, "{name}: {after:?}");
                assert_eq!(world.arrived(&path).len(), 1, "{name}");
                if *name == "form" {
                    assert!(world.text().await.contains("Done"), "{after:?}");
                }
            } else {
                let after = deny(&world, &held).await;
                assert_eq!(done(&after).held, [], "{name}");
                assert!(world.text().await.contains("Press"), "the page stays: {name}");
                world.page_waits(200).await;
                assert_eq!(world.arrived(&path).len(), 0, "{name}");
            }
        }
    }
}

/// What only reads passes, and so does all that a free page sends.
#[tokio::test]
async fn what_reads_passes_and_a_step_that_was_agreed_to_is_whole() {
    let world = World::start([("/do", Page::html("done")), ("/read", Page::html("read"))]).await;
    open(&world, &page("fetch('/read?get');fetch('/read?head',{method:'HEAD'});f.method='get'"))
        .await;
    let acted = press(&world, "Press").await;
    assert_eq!(done(&acted).held, []);
    for path in ["/read?get", "/read?head"] {
        assert!(world.site.wait_for(LONG, |seen| seen.path == path).await, "{path}");
    }
    open(&world, &page("fetch('/do',{method:'POST'})")).await;
    let acted = world.click_guarded("Press").await;
    assert_eq!(done(&acted).held, []);
    assert!(world.site.wait_for(LONG, |seen| seen.path == "/do").await);
}

/// Identical ones are one question; more at once than can be asked are refused and told; an id is good
/// for one answer.
#[tokio::test]
async fn identical_requests_are_one_question_and_many_are_refused() {
    let world = World::start([("/do", Page::html("done"))]).await;
    open(&world, &page("fetch('/do?a',{method:'POST'});fetch('/do?a',{method:'POST'})")).await;
    let held = press(&world, "Press").await.effects.held;
    assert_eq!(held.len(), 2);
    assert_eq!(agreed(&world, &held).len(), 1, "one question");
    done(&allow(&world, &held).await);
    assert_eq!(world.arrived("/do?a").len(), 2);
    let again = allow(&world, &held).await;
    assert!(
        matches!(&again.outcome, Outcome::Refused(no) if no.code == "request_gone"),
        "{again:?}"
    );
    assert_eq!(world.arrived("/do?a").len(), 2);

    open(&world, &page("for(let i=0;i<9;i++)fetch('/do?n'+i,{method:'POST'})")).await;
    let acted = press(&world, "Press").await;
    assert_eq!(done(&acted).held.len(), 8);
    let told = acted.effects.refused.join(" ");
    assert!(told.contains("more than can be asked at once"), "{told}");
    done(&allow(&world, &acted.effects.held[..1]).await);
    done(&deny(&world, &acted.effects.held[1..]).await);
    assert!(world.site.wait_for(LONG, |seen| seen.path.contains("/do?n")).await);
    assert_eq!(world.arrived("/do?n").len(), 1);
}

/// What comes after the step waits as well and is told with the next one, whatever became of the call of that step;
/// a stop ends it.
#[tokio::test]
async fn a_timer_after_the_step_waits_too() {
    let world = World::start([("/do", Page::html("done"))]).await;
    for (stops, what) in [(false, "next step"), (true, "stop")] {
        open(&world, &page("setTimeout(()=>fetch('/do',{method:'POST'}),400)")).await;
        let approved = approve(&world, "Press").await;
        let (call, stop) = (CancellationToken::new(), CancellationToken::new());
        let ends = TurnEnds { ended: stop.clone(), stopped: CancellationToken::new() };
        let acted = world.browser.act_in_turn(approved, call.clone(), ends).await;
        assert_eq!(done(&acted).held, [], "{what}");
        call.cancel();
        world.page_waits(700).await;
        if stops {
            stop.cancel();
            world.page_waits(300).await;
        }
        let next = deny(&world, &[]).await;
        assert_eq!(next.effects.held.len(), usize::from(!stops), "{next:?}");
        done(&deny(&world, &next.effects.held).await);
        assert_eq!(world.arrived("/do"), Vec::<String>::new(), "{what}");
        let told = next.effects.refused.join(" ");
        assert_eq!(told.contains("it was not sent: the request ended"), stops, "{told}");
    }
}

/// Last words of a page that the click leaves.
#[tokio::test]
async fn a_beacon_of_a_page_that_goes_away_waits() {
    let world =
        World::start([("/do", Page::html("done")), ("/next", Page::html("<h1>Next</h1>"))]).await;
    let way =
        "addEventListener('pagehide',()=>navigator.sendBeacon('/do','x'));location.href='/next'";
    for agrees in [false, true] {
        open(&world, &page(way)).await;
        let acted = press(&world, "Press").await;
        let held = done(&acted).held.clone();
        assert_eq!(held.len(), 1, "{acted:?}");
        assert!(world.text().await.contains("Next"));
        assert_eq!(world.arrived("/do"), Vec::<String>::new());
        if agrees {
            done(&allow(&world, &held).await);
            assert!(world.site.wait_for(LONG, |seen| seen.path == "/do").await);
        } else {
            done(&deny(&world, &held).await);
        }
    }
}

/// Chromium lets go of what waits when its page closes: it is failed before that.
#[tokio::test]
async fn nothing_is_sent_when_the_tab_or_the_browser_closes() {
    let mut world = World::start([("/do", Page::html("done"))]).await;
    let way = "fetch('/do',{method:'POST',keepalive:true});navigator.sendBeacon('/do','x');f.target='_self'";
    open(&world, &page(way)).await;
    let other = world.browser.blank_tab().await.unwrap();
    assert_eq!(done(&press(&world, "Press").await).held.len(), 2);
    done(&world.act_guarded(Action::CloseTab { tab: world.tab.clone() }).await);
    world.tab = other;
    open(&world, &page(way)).await;
    world.page_waits(500).await;
    assert_eq!(world.arrived("/do"), Vec::<String>::new(), "the tab closed");
    assert_eq!(done(&press(&world, "Press").await).held.len(), 2);
    world.browser.close().await;
    let late = world.site.wait_for(std::time::Duration::from_secs(1), |seen| seen.path == "/do");
    assert!(!late.await, "the browser closed");
}

/// What the page did by itself before it was touched passes to its own site, and to no other.
#[tokio::test]
async fn what_the_page_did_before_is_its_own_business() {
    let world =
        World::start([("/poll", Page::html("polled")), ("/else", Page::html("else"))]).await;
    let other = world.site.other_url("/poll?");
    let way = format!(
        "fetch('/poll?later',{{method:'POST'}});fetch('{other}later',{{method:'POST',mode:'no-cors'}});fetch('/else',{{method:'POST'}})"
    );
    let before = format!(
        "<script>fetch('/poll?early',{{method:'POST'}});fetch('{other}early',{{method:'POST',mode:'no-cors'}})</script>"
    );
    open(&world, &(before + &page(&way))).await;
    assert!(world.site.wait_for(LONG, |seen| seen.path == "/poll?early").await);
    world.page_waits(300).await;
    let acted = press(&world, "Press").await;
    let mut held: Vec<&str> = done(&acted).held.iter().map(|one| one.url.as_str()).collect();
    held.sort_unstable();
    let mut wanted = [world.site.url("/else"), world.site.other_url("/poll?later")];
    wanted.sort_unstable();
    assert_eq!(held, wanted);
    assert!(world.site.wait_for(LONG, |seen| seen.path == "/poll?later").await);
    assert_eq!(world.arrived("/poll?later").len(), 1);
}

/// Where something can be sent past the network's hold, the person is asked before the click.
#[tokio::test]
async fn a_page_with_a_channel_that_cannot_be_held_is_not_holdable() {
    let world = World::start([("/worker.js", Page::raw("text/javascript", ""))]).await;
    let socket = "new WebSocket('ws://127.0.0.1:'+location.port+'/socket')";
    for (name, script, can) in [
        ("plain", String::new(), true),
        ("socket", socket.to_owned(), false),
        ("plain again", String::new(), true),
        (
            "socket of a worker",
            format!(
                "new Worker(URL.createObjectURL(new Blob([`{}`])))",
                socket.replace("location.port", &world.site.port().to_string())
            ),
            false,
        ),
        ("shared worker", "new SharedWorker('/worker.js')".to_owned(), false),
    ] {
        open(&world, &format!("<h1>Page</h1><script>{script}</script>")).await;
        world.page_waits(500).await;
        assert_eq!(holdable(&world).await, can, "{name}");
    }
    open(&world, "<h1>Page</h1>").await;
    assert!(holdable(&world).await);
    world.eval("navigator.serviceWorker.register('/worker.js').then(()=>1)").await;
    assert!(!holdable(&world).await, "a service worker");
}

/// A shared worker that a held click brings up sends nothing in its place.
#[tokio::test]
async fn a_shared_worker_made_by_a_held_click_sends_nothing() {
    let world = World::start([
        ("/do", Page::html("done")),
        ("/worker.js", Page::raw("text/javascript", "fetch('/do',{method:'POST'})")),
    ])
    .await;
    open(&world, &page("new SharedWorker('/worker.js')")).await;
    done(&press(&world, "Press").await);
    world.page_waits(800).await;
    assert_eq!(world.arrived("/do"), Vec::<String>::new());
    let next = deny(&world, &[]).await;
    assert!(next.effects.refused.join(" ").contains("a worker of this page"), "{next:?}");
}
