//! Prints what a click and a navigation cost, beside the same over the bare protocol: medians in
//! milliseconds, taken in turn on one machine. Argument: how often.
//!
//! `guarded`: as in a guarded session whose person agreed. Documents that steps led to are held, the clicked one
//! is touched, every request of it waits for a word, sockets and workers have rules. `armed`: as in a pinned
//! session, where nothing is held to anything. `first`: the first click in a document, which widens what is held
//! and asks for what its markup names. The page loads three more files, so that this costs something.
//!
//! The bare click finds the element's box, sends the same three input events and waits for one frame. It
//! checks nothing. A navigation is told twice: by the page's own clock, from its start to the end of its
//! load event, which is what arming and interception cost; and until the answer, which for Reins has the
//! wait for the page to come to rest in it.

#![allow(clippy::print_stdout, reason = "this is what it is for")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a measurement that fails must stop")]

#[path = "../tests/real/support.rs"]
mod support;

use reins_browser::Acted;
use reins_core::{Action, StepId, TargetRecord, TurnId};
use reins_guard::{
    Answer, CriticState, Decision, Downloads, Facts, Holding, Level, Moment, Policy, SiteRules,
    TabFacts, TurnFacts, evaluate,
};
use tokio_util::sync::CancellationToken;

use reins_cdp::testing::{Chromium, chrome};
use reins_cdp::{Connection, Session};
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use support::{LONG, Page, World, done};

const PAGE: &str = "<link rel=stylesheet href=/style><h1>Page</h1><img src=/picture alt=''>\
    <button type=button onclick=\"n.textContent=1+ +n.textContent\">Add</button><output id=n>0</output>\
    <script src=/script></script>";
const FRAME: &str = "new Promise(r=>requestAnimationFrame(()=>setTimeout(r)))";

const LOAD: &str = "performance.getEntriesByType('navigation')[0].duration";

fn load(milliseconds: &Value) -> Duration {
    Duration::from_secs_f64(milliseconds.as_f64().unwrap() / 1e3)
}

/// A tab over the bare protocol.
struct Bare {
    session: Session,
    _connection: Connection,
    _chromium: Chromium,
}

impl Bare {
    async fn start() -> Self {
        let chromium = Chromium::start(&chrome().expect("a Chromium")).await.unwrap();
        let connection = Connection::websocket(&chromium.url(), LONG).await.unwrap();
        let root = connection.root();
        let made: Value =
            root.call("Target.createTarget", json!({"url": "about:blank"}), LONG).await.unwrap();
        let params = json!({"targetId": made["targetId"], "flatten": true});
        let attached: Value = root.call("Target.attachToTarget", params, LONG).await.unwrap();
        let session = connection.session(attached["sessionId"].as_str().unwrap());
        let _: Value = session.call("Page.enable", json!({}), LONG).await.unwrap();
        Self { session, _connection: connection, _chromium: chromium }
    }

    async fn eval(&self, expression: &str) -> Value {
        let params = json!({"expression": expression, "returnByValue": true, "awaitPromise": true});
        let answer: Value = self.session.call("Runtime.evaluate", params, LONG).await.unwrap();
        answer["result"]["value"].clone()
    }

    async fn go(&self, url: &str) -> Duration {
        let began = Instant::now();
        let mut events = self.session.events(&["Page.loadEventFired"]);
        let _: Value = self.session.call("Page.navigate", json!({"url": url}), LONG).await.unwrap();
        events.next().await.unwrap();
        self.eval(FRAME).await;
        began.elapsed()
    }

    async fn click(&self) -> Duration {
        let began = Instant::now();
        let at = self
            .eval("(()=>{const b=document.querySelector('button').getBoundingClientRect();return [b.x+b.width/2,b.y+b.height/2]})()")
            .await;
        for (kind, count) in [("mouseMoved", 0), ("mousePressed", 1), ("mouseReleased", 1)] {
            let button = if count == 0 { "none" } else { "left" };
            let params = json!({"type": kind, "x": at[0], "y": at[1], "button": button, "clickCount": count});
            let _: Value =
                self.session.call("Input.dispatchMouseEvent", params, LONG).await.unwrap();
        }
        self.eval(FRAME).await;
        began.elapsed()
    }
}

/// Acts as in a guarded session whose person agrees to each card.
async fn guarded(world: &World, action: Action) -> Acted {
    let mut turn = TurnFacts::default();
    turn.approve_url(&world.site.url("/"));
    let origin = reins_browser::document_origin(&world.site.url("/"));
    let facts = Facts {
        policy: &Policy::Guarded,
        level: Level::Auto,
        rules: &SiteRules::default(),
        turn: &turn,
        tab: TabFacts::agents(origin),
        published: None,
        downloads: Downloads::Refused,
        user_message_visible: true,
        critic: CriticState::Missing,
        holding: Holding::Never,
        moment: Moment { turn: TurnId(1), step: StepId(1), stops: 0 },
    };
    let approved = match evaluate(action, &facts) {
        Decision::Allow(approved) => Some(approved),
        Decision::Confirm(pending) | Decision::Plan(pending) => {
            pending.answer(Answer::Allow).ok().map(|consent| consent.approved)
        }
        Decision::Block(_) | Decision::Check(_) => None,
    };
    let approved = approved.expect("the guard allows it");
    world.browser.act(approved, CancellationToken::new()).await
}

/// How a session acts.
#[derive(Clone, Copy)]
enum Way {
    Guarded,
    Armed,
}

async fn act(world: &World, way: Way, action: Action) -> Duration {
    let began = Instant::now();
    let acted = match way {
        Way::Guarded => guarded(world, action).await,
        Way::Armed => world.act(action).await,
    };
    done(&acted);
    began.elapsed()
}

fn home(world: &World) -> Action {
    Action::Navigate { tab: world.tab.clone(), url: world.site.url("/") }
}

async fn button(world: &World) -> TargetRecord {
    world.record("button:Add").await
}

fn median(mut times: Vec<Duration>) -> f64 {
    // The first warms up.
    times.remove(0);
    times.sort();
    times[times.len() / 2].as_secs_f64() * 1e3
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    let times: usize = std::env::args().nth(1).map_or(50, |n| n.parse().unwrap());
    let files = [
        ("/", Page::html(PAGE)),
        ("/style", Page::raw("text/css", "h1{color:#222}")),
        (
            "/picture",
            Page::raw(
                "image/svg+xml",
                "<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'/>",
            ),
        ),
        ("/script", Page::raw("text/javascript", "document.title='Page'")),
    ];
    let bare = Bare::start().await;
    let (world, pinned) = (World::start(files.clone()).await, World::start(files).await);
    let url = world.site.url("/");
    let sessions = [(Way::Guarded, "guarded", &world), (Way::Armed, "armed", &pinned)];
    let mut bare_times: [Vec<Duration>; 4] = std::array::from_fn(|_| Vec::new());
    let mut all = Vec::new();
    for _ in sessions {
        all.push(bare_times.clone());
    }
    for _ in 0..=times {
        let [loads, goes, firsts, clicks] = &mut bare_times;
        goes.push(bare.go(&url).await);
        loads.push(load(&bare.eval(LOAD).await));
        firsts.push(bare.click().await);
        clicks.push(bare.click().await);
        for ((way, _, world), times) in sessions.iter().zip(&mut all) {
            let [loads, goes, firsts, clicks] = times;
            goes.push(act(world, *way, home(world)).await);
            loads.push(load(&world.eval(LOAD).await));
            let target = button(world).await;
            firsts.push(act(world, *way, support::click(target)).await);
            let target = button(world).await;
            clicks.push(act(world, *way, support::click(target)).await);
            assert_eq!(world.eval("n.textContent").await, "2", "every click arrived once");
        }
    }
    let names =
        ["navigation, by the page's clock", "navigation, to the answer", "first click", "click"];
    let bare_times = bare_times.map(median);
    for ((_, session, _), ours) in sessions.iter().zip(all) {
        for ((name, ours), bare) in names.iter().zip(ours.map(median)).zip(bare_times) {
            println!(
                "{session}, {name}: {ours:.1} ms, bare {bare:.1} ms, {:+.1} ms, x {:.2}",
                ours - bare,
                ours / bare
            );
        }
    }
}
