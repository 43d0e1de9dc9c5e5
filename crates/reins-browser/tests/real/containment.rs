//! What a page may open, send and download after an approved step, told by what the server saw.

use crate::support::{LONG, Page, World, click, done};
use reins_browser::{Acted, Navigation, WaitFor};
use reins_core::{Action, HistoryStep, Outcome, StepId, TurnId};
use reins_guard::{
    Answer, ApprovedAction, CriticState, Decision, Downloads, Facts, Holding, Level, Moment,
    Policy, Published, SiteRules, TabFacts, TurnFacts, evaluate,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio_util::sync::CancellationToken;

/// Approves as a person would who agrees to each card.
pub(crate) fn approve(world: &World, action: Action) -> ApprovedAction {
    approve_under(world, action, &SiteRules::default())
}

fn approve_under(world: &World, action: Action, rules: &SiteRules) -> ApprovedAction {
    let mut turn = TurnFacts::default();
    turn.approve_url(&world.site.url("/"));
    if let Action::Navigate { url, .. } | Action::OpenTab { url: Some(url) } = &action {
        turn.saw_link(url);
    }
    let tab = match action.tab().and_then(|tab| world.browser.tab_info(tab).ok()) {
        Some(info) => TabFacts::agents(
            action
                .target()
                .map_or_else(|| reins_browser::document_origin(&info.url), |t| t.top.clone()),
        ),
        None => TabFacts::none(),
    };
    let target = action.target().cloned();
    if let Some(link) = target.as_ref().and_then(|target| target.link.as_ref()) {
        turn.saw_link(&link.url);
    }
    let facts = Facts {
        policy: &Policy::Guarded,
        level: Level::Auto,
        rules,
        turn: &turn,
        tab,
        published: target.as_ref().map(|target| Published {
            link: target.link.as_ref().map(|link| link.url.as_str()),
            submission: target.submission.as_ref(),
        }),
        downloads: Downloads::Refused,
        user_message_visible: true,
        critic: CriticState::Missing,
        holding: Holding::Never,
        moment: Moment { turn: TurnId(1), step: StepId(1), stops: 0 },
    };
    match evaluate(action, &facts) {
        Decision::Allow(approved) => approved,
        Decision::Confirm(pending) | Decision::Plan(pending) => {
            pending.answer(Answer::Allow).expect("an approval").approved
        }
        other => panic!("the guard does not allow it: {other:?}"),
    }
}

impl World {
    /// Acts as in a guarded session whose person agrees to each card.
    pub(crate) async fn act_guarded(&self, action: Action) -> Acted {
        let approved = approve(self, action);
        self.browser.act(approved, CancellationToken::new()).await
    }

    pub(crate) async fn click_guarded(&self, name: &str) -> Acted {
        let target = self.record(name).await;
        self.act_guarded(click(target)).await
    }

    /// The same, where the person has rules.
    pub(crate) async fn click_under(&self, name: &str, rules: &SiteRules) -> Acted {
        let target = self.record(name).await;
        let approved = approve_under(self, click(target), rules);
        self.browser.act(approved, CancellationToken::new()).await
    }

    /// The page runs for a while: everything it was going to send by now has been sent.
    pub(crate) async fn page_waits(&self, milliseconds: u32) {
        self.eval(&format!("new Promise(done=>setTimeout(done,{milliseconds}))")).await;
    }

    pub(crate) fn arrived(&self, part: &str) -> Vec<String> {
        let seen = self.site.seen();
        seen.into_iter().map(|s| s.path).filter(|path| path.contains(part)).collect()
    }
}

/// Ways in which a page tries to go where nobody agreed to, all from the handler of a button.
const WAYS: &[(&str, &str)] = &[
    ("location", "location.href=EVIL"),
    ("replace", "location.replace(EVIL)"),
    ("navigation api", "navigation.navigate(EVIL)"),
    ("own site, cross-site redirect", "location.href='/hop'"),
    ("form", "f.action=EVIL;f.submit()"),
    ("post form", "f.method='post';f.action=EVIL;f.submit()"),
    ("link", "l.href=EVIL;l.click()"),
    ("link in a new window", "l.href=EVIL;l.target='_blank';l.click()"),
    ("link without opener", "l.href=EVIL;l.target='_blank';l.rel='noopener';l.click()"),
    ("window.open", "window.open(EVIL)"),
    ("window.open without opener", "window.open(EVIL,'_blank','noopener')"),
    ("empty window", "let w=window.open('');w&&(w.location=EVIL)"),
    ("named window", "window.open(EVIL,'name')"),
    ("form in a new window", "f.target='_blank';f.action=EVIL;f.submit()"),
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
    ("javascript address", "location.href='javascript:void(location.href=\"'+EVIL+'\")'"),
    ("timer", "setTimeout(()=>{location.href=EVIL},30)"),
    (
        "script in a data frame",
        "let i=document.createElement('iframe');i.src='data:text/html,<script>top.location.href=\"'+EVIL+'\"<\\/script>';document.body.append(i)",
    ),
    ("download attribute", "l.href=EVIL;l.download='x';l.click()"),
];

/// What comes to nothing by itself, comes later, or has no address to tell.
const UNTOLD: &[&str] = &["empty window", "timer", "script in a data frame"];

fn hostile(way: &str) -> String {
    // Tags in strings would end the script.
    format!(
        "<h1>Page</h1><form id=f><input type=hidden name=q value=1></form><a id=l></a>\
         <button onclick=\"go()\">Press</button>\
         <script>const EVIL='http://localhost:'+location.port+'/evil?x';function go(){{{way}}}</script>"
    )
}

/// one click on a button; whatever its handler tries, nothing arrives.
#[tokio::test]
async fn r175_a_click_leads_nowhere_that_was_not_approved() {
    let world = World::start([("/evil", Page::html("evil")), ("/own", Page::html("own"))]).await;
    world.site.set("/hop", Page::redirect(302, &world.site.other_url("/evil")));
    for (name, way) in WAYS {
        world.site.set("/", Page::html(&hostile(way)));
        done(
            &world
                .act_guarded(Action::Navigate { tab: world.tab.clone(), url: world.site.url("/") })
                .await,
        );
        let acted = world.click_guarded("Press").await;
        assert!(matches!(acted.outcome, Outcome::Completed), "{name} {acted:?}");
        world.page_waits(100).await;
        assert_eq!(world.arrived("evil"), Vec::<String>::new(), "{name} {acted:?}");
        // A window that is closed at once is there for a moment.
        let alone = async {
            while world.browser.tabs().len() > 1 {
                world.page_waits(1).await;
            }
        };
        tokio::time::timeout(LONG, alone).await.expect(name);
        assert!(world.info().unwrap().url.contains(&world.site.port().to_string()), "{name}");
        // What was refused keeps no page from coming to rest.
        let rests = world.browser.wait(&world.tab, &WaitFor::Settled, LONG).await;
        assert!(rests.is_ok(), "{name} {acted:?}");
        // What comes after the step is told with the next one.
        let next = world
            .act_guarded(Action::Navigate { tab: world.tab.clone(), url: world.site.url("/own") })
            .await;
        let told = [&acted.effects.refused[..], &next.effects.refused[..]].concat().join(" ");
        assert!(told.contains("/evil") || UNTOLD.contains(name), "{name}: {told:?} {acted:?}");
    }
}

/// the approved link itself is followed, once, also in its own window, and its page may go on
/// within its site.
#[tokio::test]
async fn r175_what_was_approved_arrives_and_goes_on_within_its_site() {
    let world = World::start([
        ("/", Page::html("<a href='/next?a=1#part'>Next</a> <a href='/next?new' target=_blank>Window</a> <form action='/sent' method=post><input name=q value=1><button>Send</button></form><form action='/found'><input name=q value=2><button>Find</button></form>")),
        ("/next", Page::redirect(302, "/landed")),
        ("/landed", Page::html("<script>if(!location.search)location.href='/landed?twice'</script>landed")),
        ("/sent", Page::redirect(303, "/landed?sent")),
        ("/found", Page::html("found")),
    ])
    .await;
    let home = || Action::Navigate { tab: world.tab.clone(), url: world.site.url("/") };
    for (name, arrives) in
        [("Next", "/landed?twice"), ("Send", "/landed?sent"), ("Find", "/found?q=2")]
    {
        done(&world.act_guarded(home()).await);
        let acted = world.click_guarded(name).await;
        assert_eq!(done(&acted).refused, Vec::<String>::new(), "{name}");
        assert!(world.info().unwrap().url.ends_with(arrives), "{name} {:?}", world.info());
    }
    done(&world.act_guarded(home()).await);
    let acted = world.click_guarded("Window").await;
    let effects = done(&acted);
    assert_eq!(effects.opened.len(), 1, "{acted:?}");
    assert!(effects.opened[0].url.ends_with("/landed?twice"), "{acted:?}");
    assert_eq!(effects.refused, Vec::<String>::new());
}

/// the form reached its server; only where its answer leads is refused.
#[tokio::test]
async fn r178_a_form_whose_answer_leads_to_another_site_is_told_as_sent() {
    let world = World::start([(
        "/",
        Page::html(
            "<form action='/pay' method=post><input name=q value=1><button>Pay</button></form>",
        ),
    )])
    .await;
    for status in [302, 303, 307] {
        world.site.set("/pay", Page::redirect(status, &world.site.other_url("/evil")));
        let before = world.site.requests("/pay");
        done(
            &world
                .act_guarded(Action::Navigate { tab: world.tab.clone(), url: world.site.url("/") })
                .await,
        );
        let acted = world.click_guarded("Pay").await;
        let told = done(&acted).refused.join(" ");
        assert!(told.contains("the form went out") && told.contains("/evil"), "{told}");
        assert_eq!(world.site.requests("/pay"), before + 1, "sent once");
        assert_eq!(world.site.requests("/evil"), 0);
    }
}

/// a timer that goes off long after the step still leads nowhere, until the person acts
/// there.
#[tokio::test]
async fn r181_touched_documents_stay_restricted_until_the_person_acts() {
    let page = "<h1>Page</h1><button onclick=\"armed=true\">Press</button> <a href='/other'>Away</a>\
        <script>let armed=false;function late(){if(armed)location.href='http://localhost:'+location.port+'/evil'}</script>";
    let world = World::start([
        ("/", Page::html(page)),
        ("/other", Page::html("<h1>Other</h1>")),
        ("/evil", Page::html("evil")),
    ])
    .await;
    let go = |path: &str| Action::Navigate { tab: world.tab.clone(), url: world.site.url(path) };
    done(&world.act_guarded(go("/")).await);
    done(&world.click_guarded("Press").await);
    world.eval("late()").await;
    world.page_waits(50).await;
    assert_eq!(world.site.requests("/evil"), 0);
    let acted = world.click_guarded("Away").await;
    assert!(acted.effects.refused.join(" ").contains("/evil"), "told with the next step {acted:?}");
    done(&world.act_guarded(go("/")).await);
    done(&world.click_guarded("Press").await);
    world.eval("late()").await;
    world.page_waits(50).await;
    assert_eq!(world.site.requests("/evil"), 0, "another document, the same rule");
    world.person_clicks().await;
    world.eval("late()").await;
    assert!(
        world.site.wait_for(LONG, |seen| seen.path == "/evil").await,
        "it is the person's page"
    );
}

/// what a page that was touched opens later is closed as well.
#[tokio::test]
async fn r176_windows_that_open_after_the_step_are_closed() {
    let page = "<button onclick=\"setTimeout(()=>window.open(E),400);setTimeout(()=>{l.href=E;l.click()},500)\">Press</button>\
        <a id=l target=_blank rel=noopener></a><script>const E='http://localhost:'+location.port+'/evil'</script>";
    let world = World::start([("/", Page::html(page)), ("/evil", Page::html("evil"))]).await;
    done(
        &world
            .act_guarded(Action::Navigate { tab: world.tab.clone(), url: world.site.url("/") })
            .await,
    );
    done(&world.click_guarded("Press").await);
    world.page_waits(900).await;
    assert_eq!(world.site.requests("/evil"), 0);
    assert_eq!(world.browser.tabs().len(), 1);
}

/// what an untouched page does by itself, and what the agent does next, is not restricted.
#[tokio::test]
async fn r177_untouched_pages_and_later_approved_steps_are_left_alone() {
    let world = World::start([
        ("/", Page::html("<button>Press</button>")),
        ("/free", Page::html("<h1>Free</h1>")),
    ])
    .await;
    let evil = world.site.other_url("/evil");
    let go = |path: &str| Action::Navigate { tab: world.tab.clone(), url: world.site.url(path) };
    done(&world.act_guarded(go("/")).await);
    done(&world.click_guarded("Press").await);
    let other = world.site.other_url("/free");
    done(&world.act_guarded(Action::Navigate { tab: world.tab.clone(), url: other }).await);
    assert_eq!(world.site.requests("/free"), 1);
    world.eval(&format!("void(location.href={evil:?})")).await;
    assert!(world.site.wait_for(LONG, |seen| seen.path == "/evil").await);
}

/// an address that leads to another site is told as failed, and the page stays.
#[tokio::test]
async fn r178_an_address_that_leads_to_another_site_is_not_followed() {
    let world = World::start([("/", Page::html("<h1>Home</h1>"))]).await;
    world.site.set("/hop", Page::redirect(302, &world.site.other_url("/evil")));
    let go = |path: &str| Action::Navigate { tab: world.tab.clone(), url: world.site.url(path) };
    done(&world.act_guarded(go("/")).await);
    let acted = world.act_guarded(go("/hop")).await;
    let effects = done(&acted);
    assert!(matches!(effects.navigation, Some(Navigation::Failed { .. })), "{acted:?}");
    assert!(effects.refused.join(" ").contains("/evil"), "{acted:?}");
    assert_eq!(world.site.requests("/evil"), 0);
    assert!(world.text().await.contains("Home"));
}

/// A site whose pages may wait in the back/forward cache.
pub(crate) async fn keepable(page: String) -> String {
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let page = page.clone();
            tokio::spawn(async move {
                let mut request = [0; 4096];
                while stream.read(&mut request).await.is_ok_and(|read| read > 0) {
                    let answer = format!(
                        "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {}\r\n\r\n{page}",
                        page.len()
                    );
                    if stream.write_all(answer.as_bytes()).await.is_err() {
                        break;
                    }
                }
            });
        }
    });
    format!("http://{address}/")
}

/// a touched document that waits in the back/forward cache comes back with its restrictions.
#[tokio::test]
async fn r181_a_touched_document_is_restricted_in_the_cache_as_well() {
    let world = World::start([("/", Page::html("<h1>Other</h1>"))]).await;
    let evil = world.site.other_url("/evil");
    let kept = keepable(format!(
        "<button onclick=\"armed=true\">Press</button><script>let armed=false;function late(){{if(armed)location.href='{evil}'}}</script>"
    ))
    .await;
    let go = |url: &str| Action::Navigate { tab: world.tab.clone(), url: url.to_owned() };
    done(&world.act_guarded(go(&kept)).await);
    done(&world.click_guarded("Press").await);
    done(&world.act_guarded(go(&world.site.url("/"))).await);
    let step = HistoryStep::Back;
    let back = Action::History { tab: world.tab.clone(), step, destination: Some(kept) };
    done(&world.act_guarded(back).await);
    assert_eq!(world.eval("armed").await, true, "it came from the cache");
    world.eval("late()").await;
    world.page_waits(100).await;
    assert_eq!(world.site.requests("/evil"), 0);
}

/// Regression: a window that was led away in the moment of its opening got its request out, since Chromium
/// lets go of what is held in a tab that closes. About one in four did.
#[tokio::test]
async fn r176_a_window_that_is_led_away_as_it_opens_sends_nothing() {
    let page = "<button onclick=\"open('').location=E\">Press</button>\
        <script>const E='http://localhost:'+location.port+'/evil'</script>";
    let world = World::start([("/", Page::html(page)), ("/evil", Page::html("evil"))]).await;
    for _ in 0..12 {
        done(&world.act_guarded(home(&world)).await);
        done(&world.click_guarded("Press").await);
    }
    world.page_waits(300).await;
    assert_eq!(world.site.requests("/evil"), 0);
    assert_eq!(world.browser.tabs().len(), 1);
}

fn home(world: &World) -> Action {
    Action::Navigate { tab: world.tab.clone(), url: world.site.url("/") }
}
