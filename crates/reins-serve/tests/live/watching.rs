//! Watching: who is let in, and what they see.

use crate::stage::{Got, HOST, LONG, ORIGIN, Stage};
use reins_serve::live::Mode;
use reins_serve::live::limits::VIEWERS;
use serde_json::json;
use std::time::Duration;
use tokio::time::{advance, sleep};
use tokio_tungstenite::tungstenite::{Error, Message};

/// S-081, S-062, S-061: a viewer is welcomed, sees the last frame of a still page at once, and what changes.
#[tokio::test(start_paused = true)]
async fn s062_a_late_viewer_sees_the_last_frame_at_once() {
    let stage = Stage::start();
    let (mut early, welcome) = stage.watch("ann").await;
    assert_eq!(welcome["mode"], "view");
    assert_eq!(welcome["driver"], json!(null));
    let about = early.text("frame_about").await;
    assert_eq!((about["tab"].as_str(), about["css_width"].as_f64()), (Some("t1"), Some(1280.0)));
    assert_eq!(about["url"], "http://app.example/t1");
    assert_eq!(early.next().await, Got::Frame("one".into()), "a picture follows its words");
    sleep(Duration::from_secs(10)).await;
    let (mut late, welcome) = stage.watch("bob").await;
    assert_eq!(welcome["css_width"], 1280.0);
    late.text("frame_about").await;
    assert_eq!(late.next().await, Got::Frame("one".into()));
    stage.script.paint("t1", "two");
    early.sees("two").await;
    late.sees("two").await;
    // A still page sends nothing.
    assert_eq!(early.within(Duration::from_secs(600)).await, None);
}

/// S-087, S-X04: a valid ticket is the first message, in time, or nothing at all is told.
#[tokio::test(start_paused = true)]
async fn s087_without_a_valid_ticket_nothing_is_told() {
    let stage = Stage::start();
    let mut silent = stage.knock().await;
    assert_eq!(silent.next().await, Got::Closed(Some(4408)));

    let used = stage.ticket("ann", Mode::View);
    stage.knock().await.show_ticket(&used).await;
    let old = stage.ticket("ann", Mode::View);
    advance(Duration::from_secs(36)).await;
    let other = Stage::with(|options| options.token = reins_core::Secret::new("another".into()));
    let others = other.ticket("ann", Mode::Control);
    let good = stage.ticket("ann", Mode::View);
    let (payload, signature) = good.split_once('.').unwrap();
    let forged = format!("{payload}.{}", signature.chars().rev().collect::<String>());
    for bad in [used, old, others, forged, String::new(), "x".repeat(5_000)] {
        let mut client = stage.knock().await;
        client.show_ticket(&bad).await;
        assert_eq!(client.next().await, Got::Closed(Some(4401)), "{bad}");
    }
    for first in [
        Message::text(json!({"type": "hand_back"}).to_string()),
        Message::text(json!({"type": "take_over", "ticket": good}).to_string()),
        Message::text("ticket"),
        Message::binary(b"ticket".to_vec()),
        Message::text(json!({"type":"input","input":{"kind":"text","text":"x"}}).to_string()),
    ] {
        let mut client = stage.knock().await;
        client.raw(first).await;
        assert_eq!(client.next().await, Got::Closed(Some(4401)));
    }
    // None of that used the good one up.
    let mut client = stage.knock().await;
    client.show_ticket(&good).await;
    client.text("welcome").await;
    assert!(stage.script.inputs().is_empty());
}

/// S-088, S-155: other origins, hosts and any query are refused before the upgrade.
#[tokio::test(start_paused = true)]
async fn s088_s155_other_origins_hosts_and_queries_are_not_upgraded() {
    let stage = Stage::start();
    for (host, origin, path, status) in [
        (HOST, Some("http://evil.example"), "/live/s1", 403),
        (HOST, None, "/live/s1", 403),
        (HOST, Some("null"), "/live/s1", 403),
        ("evil.example:7777", Some(ORIGIN), "/live/s1", 421),
        (HOST, Some(ORIGIN), "/live/s1?ticket=abc", 400),
    ] {
        match stage.knock_as(host, origin, path).await {
            Err(Error::Http(response)) => {
                assert_eq!(response.status(), status, "{host} {origin:?}")
            }
            other => panic!("{host} {origin:?} {path}: {:?}", other.map(drop)),
        }
    }
    stage.knock().await;
}

/// S-X02: eight watch; the ninth is told that there is no room, and has it when one leaves.
#[tokio::test(start_paused = true)]
async fn s_x02_eight_viewers_and_no_more() {
    let stage = Stage::start();
    let mut all = Vec::new();
    for n in 0..VIEWERS {
        all.push(stage.watch(&format!("p{n}")).await.0);
    }
    let ticket = stage.ticket("late", Mode::View);
    let mut ninth = stage.knock().await;
    ninth.show_ticket(&ticket).await;
    assert_eq!(ninth.next().await, Got::Closed(Some(4429)));
    stage.script.paint("t1", "two");
    for client in &mut all {
        client.sees("two").await;
    }
    all.pop().unwrap().socket.close(None).await.unwrap();
    sleep(Duration::from_secs(1)).await;
    assert_eq!(stage.live.viewers(), VIEWERS - 1);
    stage.watch("late").await;
}

/// S-061: the view follows the agent's tab, and finds another where that one is closed.
#[tokio::test(start_paused = true)]
async fn s061_the_view_follows_the_agents_tab() {
    let stage = Stage::start();
    let (mut ann, _) = stage.watch("ann").await;
    ann.sees("one").await;
    stage.script.open("t2");
    stage.script.paint("t2", "second tab");
    stage.live.follow(&reins_core::TabId::new("t2"));
    let about = ann.text("frame_about").await;
    assert_eq!((about["tab"].as_str(), about["title"].as_str()), (Some("t2"), Some("Tab t2")));
    ann.sees("second tab").await;
    assert!(!stage.script.watched("t1"));
    stage.script.close("t2");
    ann.sees("one").await;
}

/// Nobody looks: nothing is asked of the browser.
#[tokio::test(start_paused = true)]
async fn s060_a_browser_that_nobody_watches_draws_for_nobody() {
    let stage = Stage::start();
    sleep(Duration::from_secs(1)).await;
    assert!(!stage.script.watched("t1"));
    let (mut ann, _) = stage.watch("ann").await;
    ann.sees("one").await;
    assert!(stage.script.watched("t1"));
    drop(ann);
    sleep(Duration::from_secs(3)).await;
    assert!(stage.script.watched("t1"), "a reload costs no new start");
    sleep(Duration::from_secs(3)).await;
    assert!(!stage.script.watched("t1"));
    let (mut again, _) = stage.watch("ann").await;
    again.sees("one").await;
}

/// S-X04: viewers are told that the browser stops, nothing is left, and nobody comes in any more.
#[tokio::test(start_paused = true)]
async fn s_x04_stopping_tells_every_viewer() {
    let stage = Stage::start();
    let (mut ann, _) = stage.watch("ann").await;
    let mut bob = stage.drive("bob").await;
    let mut silent = stage.knock().await;
    let ((), a, b, c) =
        tokio::join!(stage.live.stop(), ann.closed(), bob.closed(), silent.closed());
    assert_eq!((a, b, c), (Some(1001), Some(1001), Some(1001)));
    assert_eq!(stage.live.viewers(), 0);
    assert!(matches!(
        stage.knock_as(HOST, Some(ORIGIN), "/live/s1").await,
        Err(Error::Http(response)) if response.status() == 409
    ));
    assert_eq!(stage.told(), ["BOB began", "BOB browser_stopped"]);

    // The browser that goes away by itself ends it as well.
    let stage = Stage::start();
    let (mut ann, _) = stage.watch("ann").await;
    stage.script.tell(reins_serve::live::SourceEvent::Gone);
    assert_eq!(ann.closed().await, Some(1001));
    tokio::time::timeout(LONG, stage.live.stop()).await.unwrap();
}
