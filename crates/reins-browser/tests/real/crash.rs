//! Crashes end what was under way at once, say so, and are recovered from.

use crate::support::{LONG, Page, World, done, refused};
use reins_browser::BrowserEvent;
use reins_core::{Outcome, UnknownCause};

const PAGE: &str = "<h1>Alive</h1><button onclick=\"hit('b')\">Press</button>";

pub(crate) async fn crash(world: &World) {
    let mut events = world.browser.events();
    let (_connection, session) = world.stranger().await;
    // The page's process ends; there is no answer.
    drop(session.send::<serde_json::Value>("Page.crash", (), LONG));
    let seen = async {
        loop {
            if let BrowserEvent::TabCrashed { tab } = events.next().await.unwrap() {
                return tab;
            }
        }
    };
    assert_eq!(tokio::time::timeout(LONG, seen).await.unwrap(), world.tab);
}

#[tokio::test]
async fn a_crashed_renderer_is_told_at_once_and_recovered_by_navigating() {
    let world = World::start([("/", Page::html(PAGE))]).await;
    for way in ["navigate", "reload"] {
        done(&world.go("/").await);
        let target = world.record("Press").await;
        crash(&world).await;
        assert!(world.info().unwrap().crashed);
        let text = world.text().await;
        assert!(text.contains("crashed"), "{text}");
        refused(&world.act(crate::support::click(target.clone())).await, "page_crashed");
        assert_eq!(world.browser.record(&target.node).await.unwrap_err().code(), "page_crashed");
        let url = world.site.url("/");
        if way == "reload" {
            let tab = world.tab.clone();
            done(&world.act(reins_core::Action::Reload { tab, url }).await);
        } else {
            done(&world.open(&url).await);
        }
        let text = world.text().await;
        assert!(text.contains("Alive"), "{way}: {text} {:?}", world.info());
        done(&world.click("Press").await);
        assert!(world.hit("b").await);
    }
}

/// An act that was under way is unknown, not refused and not done.
#[tokio::test]
async fn a055_an_act_under_way_in_a_crash_is_unknown() {
    let page = "<button onmousedown=\"hit('down');const t=Date.now()+20000;while(Date.now()<t);\">Press</button>";
    let world = World::start([("/", Page::html(page))]).await;
    done(&world.go("/").await);
    let (_connection, session) = world.stranger().await;
    let target = world.record("Press").await;
    let end = async {
        let arrived = world.site.wait_for(LONG, |s| s.path == "/hit?down").await;
        assert!(arrived);
        drop(session.send::<serde_json::Value>("Page.crash", (), LONG));
    };
    let (acted, ()) = tokio::join!(world.act(crate::support::click(target)), end);
    match acted.outcome {
        Outcome::Unknown(unknown) => assert_eq!(unknown.cause, UnknownCause::RendererCrashed),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_browser_that_is_gone_refuses_everything_as_not_sent() {
    let world = World::start([("/", Page::html(PAGE))]).await;
    done(&world.go("/").await);
    let target = world.record("Press").await;
    let mut events = world.browser.events();
    let pid = world.chromium.pid().unwrap();
    std::process::Command::new("kill").args(["-9", &pid.to_string()]).status().unwrap();
    let gone = async {
        loop {
            match events.next().await {
                Some(BrowserEvent::Gone { .. }) | None => return,
                Some(_) => {}
            }
        }
    };
    tokio::time::timeout(LONG, gone).await.unwrap();
    assert!(world.browser.is_gone());
    refused(&world.act(crate::support::click(target.clone())).await, "browser_gone");
    refused(&world.go("/").await, "browser_gone");
    assert_eq!(world.browser.record(&target.node).await.unwrap_err().code(), "browser_gone");
}

/// Closing does not wait for a page that is stuck.
#[tokio::test]
async fn close_does_not_queue_behind_page_work() {
    let page = "<button onclick='const t=Date.now()+30000;while(Date.now()<t);'>Loop</button>";
    let world = World::start([("/", Page::html(page))]).await;
    done(&world.go("/").await);
    let target = world.record("Loop").await;
    let started = std::time::Instant::now();
    done(&world.act(crate::support::click(target)).await);
    world.browser.close().await;
    assert!(world.browser.is_gone());
    assert!(started.elapsed() < LONG);
}
