//! Prints what a click and a navigation cost with everything armed, beside the same over the bare
//! protocol: medians in milliseconds, taken in turn on one machine. Argument: how often.
//!
//! The bare click finds the element's box, sends the same three input events and waits for one frame. It
//! checks nothing. A navigation is told twice: by the page's own clock, from its start to the end of its
//! load event, which is what arming and interception cost; and until the answer, which for Reins has the
//! wait for the page to come to rest in it.

#![allow(clippy::print_stdout, reason = "this is what it is for")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a measurement that fails must stop")]

#[path = "../tests/real/support.rs"]
mod support;

use reins_cdp::testing::{Chromium, chrome};
use reins_cdp::{Connection, Session};
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use support::{LONG, Page, World, done};

const PAGE: &str = "<h1>Page</h1><button onclick=\"n.textContent=1+ +n.textContent\">Add</button><output id=n>0</output>";
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

fn median(mut times: Vec<Duration>) -> f64 {
    times.sort();
    times[times.len() / 2].as_secs_f64() * 1e3
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    let times: usize = std::env::args().nth(1).map_or(50, |n| n.parse().unwrap());
    let world = World::start([("/", Page::html(PAGE))]).await;
    let bare = Bare::start().await;
    let url = world.site.url("/");
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    let (mut our_loads, mut their_loads) = (Vec::new(), Vec::new());
    for _ in 0..=times {
        let began = Instant::now();
        done(&world.go("/").await);
        ours.push(began.elapsed());
        theirs.push(bare.go(&url).await);
        our_loads.push(load(&world.eval(LOAD).await));
        their_loads.push(load(&bare.eval(LOAD).await));
    }
    // The first of each warms up.
    let navigation = (median(ours.split_off(1)), median(theirs.split_off(1)));
    let loading = (median(our_loads.split_off(1)), median(their_loads.split_off(1)));
    let target = world.record("button:Add").await;
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..=times {
        let target = target.clone();
        let began = Instant::now();
        done(&world.act(support::click(target)).await);
        ours.push(began.elapsed());
        theirs.push(bare.click().await);
    }
    let click = (median(ours.split_off(1)), median(theirs.split_off(1)));
    assert_eq!(
        world.eval("n.textContent").await,
        (times + 1).to_string(),
        "every click arrived once"
    );
    for (name, (ours, bare)) in [
        ("navigation, by the page's clock", loading),
        ("navigation, to the answer", navigation),
        ("click", click),
    ] {
        println!(
            "{name}: armed {ours:.1} ms, bare {bare:.1} ms, {:+.1} ms, x {:.2}",
            ours - bare,
            ours / bare
        );
    }
}
