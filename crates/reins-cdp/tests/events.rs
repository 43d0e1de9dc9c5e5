//! Delivery of events, against the in-memory browser.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a failed step must stop the test")]

use futures_util::FutureExt;
use reins_cdp::testing::{Footprint, Peer, pair};
use reins_cdp::{CloseReason, Connection, End, Event, Events, QUEUE_BYTES};
use serde_json::{Value, json};
use std::time::Duration;

const LONG: Duration = Duration::from_secs(600);

/// One round trip: afterwards everything that the peer sent before has been routed.
async fn settle(connection: &Connection, peer: &mut Peer) {
    let asked = connection.root().send::<Value>("Test.settle", (), LONG);
    peer.serve("Test.settle", json!({})).await;
    asked.await.unwrap();
}

fn numbers(events: &mut Events) -> Vec<u64> {
    std::iter::from_fn(|| events.try_next()).map(|e| number(&e)).collect()
}

fn number(event: &Event) -> u64 {
    event.parse::<Value>().unwrap()["n"].as_u64().unwrap()
}

#[tokio::test]
async fn events_come_in_wire_order_and_are_here_before_the_answer_that_followed_them() {
    let (connection, mut peer) = pair();
    let mut some = connection.root().events(&["Test.a", "Test.b"]);
    let mut all = connection.root().events(&[]);
    let asked = connection.root().send::<Value>("Test.it", (), LONG);
    let request = peer.request().await.unwrap();
    for n in 0..300 {
        let method = ["Test.a", "Test.b", "Test.c"][n % 3];
        peer.event(None, method, json!({"n": n})).await;
    }
    peer.answer(&request, json!({})).await;
    asked.await.unwrap();
    assert_eq!(numbers(&mut all), (0..300).collect::<Vec<_>>());
    assert_eq!(numbers(&mut some), (0..300).filter(|n| n % 3 < 2).collect::<Vec<_>>());
}

#[tokio::test]
async fn positions_on_the_wire_compare_across_sessions_and_answers() {
    let (connection, mut peer) = pair();
    peer.attach(None, "page", "T1").await;
    settle(&connection, &mut peer).await;
    let mut root = connection.root().events(&[]);
    let mut page = connection.session("page").events(&[]);
    let call = connection.root();
    let asked = call.call_raw("Test.it", (), LONG);
    let serve = async {
        peer.event(None, "Test.first", json!({})).await;
        peer.serve("Test.it", json!({})).await;
        peer.event(Some("page"), "Test.last", json!({})).await;
    };
    let (reply, ()) = tokio::join!(asked, serve);
    let (first, last) = (root.next().await.unwrap(), page.next().await.unwrap());
    let reply = reply.unwrap();
    assert!(first.seq() < reply.seq() && reply.seq() < last.seq());
    assert_eq!((first.session(), last.session()), (None, Some("page")));
}

#[tokio::test]
async fn a_slow_consumer_never_holds_up_the_answer_it_waits_for() {
    let (connection, mut peer) = pair();
    let mut events = connection.root().events(&["Test.flood"]);
    let asked = connection.root().send::<Value>("Test.it", (), LONG);
    let request = peer.request().await.unwrap();
    for n in 0..20_000 {
        peer.event(None, "Test.flood", json!({"n": n})).await;
    }
    peer.answer(&request, json!("here")).await;
    assert_eq!(asked.await.unwrap(), json!("here"));
    assert_eq!(numbers(&mut events).len(), 20_000);
    assert_eq!(events.end(), None);
}

#[tokio::test]
async fn a_queue_over_its_bound_ends_by_name_and_only_itself() {
    let (connection, mut peer) = pair();
    let mut flooded = connection.root().events(&["Test.flood"]);
    let mut calm = connection.root().events(&["Test.calm"]);
    let text = "x".repeat(4 * 1024 * 1024);
    let fits = QUEUE_BYTES / text.len();
    for n in 0..fits + 5 {
        peer.event(None, "Test.flood", json!({"n": n, "text": text})).await;
    }
    peer.event(None, "Test.calm", json!({"n": 7})).await;
    settle(&connection, &mut peer).await;

    assert_eq!(flooded.end(), Some(End::Overflowed));
    let mut got = 0;
    while let Some(event) = flooded.next().await {
        assert_eq!(number(&event), got, "what was kept is whole and in order");
        got += 1;
    }
    assert_eq!(got as usize, fits);
    assert_eq!(number(&calm.next().await.unwrap()), 7);
    assert_eq!(calm.end(), None);
    let mut fresh = connection.root().events(&["Test.flood"]);
    peer.event(None, "Test.flood", json!({"n": 1})).await;
    assert_eq!(number(&fresh.next().await.unwrap()), 1);
}

#[tokio::test]
async fn one_event_larger_than_the_bound_is_delivered() {
    let (connection, mut peer) = pair();
    let mut events = connection.root().events(&[]);
    peer.event(None, "Test.small", json!({"n": 1})).await;
    peer.event(None, "Test.huge", json!({"text": "x".repeat(QUEUE_BYTES + 1)})).await;
    settle(&connection, &mut peer).await;
    assert_eq!(events.next().await.unwrap().method(), "Test.small");
    assert!(events.next().await.unwrap().bytes().len() > QUEUE_BYTES);
    peer.event(None, "Test.small", json!({"n": 2})).await;
    assert_eq!(number(&events.next().await.unwrap()), 2);
}

#[tokio::test]
async fn only_unread_screencast_frames_coalesce_and_say_how_many() {
    let (connection, mut peer) = pair();
    for session in ["one", "two"] {
        peer.attach(None, session, session).await;
    }
    settle(&connection, &mut peer).await;
    let mut events = connection.session("one").events(&[]);
    events.follow(&connection.session("two"));
    for n in 0..4 {
        peer.event(Some("one"), "Page.screencastFrame", json!({"n": n})).await;
        peer.event(Some("one"), "Page.other", json!({"n": 10 + n})).await;
    }
    peer.event(Some("two"), "Page.screencastFrame", json!({"n": 20})).await;
    settle(&connection, &mut peer).await;
    let got: Vec<_> =
        std::iter::from_fn(|| events.try_next()).map(|e| (number(&e), e.replaced())).collect();
    assert_eq!(got, [(10, 0), (11, 0), (12, 0), (3, 3), (13, 0), (20, 0)]);
    peer.event(Some("one"), "Page.screencastFrame", json!({"n": 5})).await;
    let frame = events.next().await.unwrap();
    assert_eq!((number(&frame), frame.replaced()), (5, 0));
}

#[tokio::test]
async fn a_subscription_ends_with_its_session_after_what_it_still_holds() {
    let (connection, mut peer) = pair();
    peer.attach(None, "page", "T1").await;
    settle(&connection, &mut peer).await;
    let mut events = connection.session("page").events(&[]);
    peer.event(Some("page"), "Test.it", json!({"n": 1})).await;
    peer.detach(None, "page").await;
    settle(&connection, &mut peer).await;
    assert_eq!(number(&events.next().await.unwrap()), 1);
    assert!(events.next().await.is_none());
    assert_eq!(events.end(), Some(End::SessionGone));
    let mut late = connection.session("page").events(&[]);
    assert!(late.next().await.is_none());
}

#[tokio::test]
async fn a_subscription_ends_with_the_connection_and_its_reason() {
    let (connection, mut peer) = pair();
    let mut events = connection.root().events(&[]);
    peer.event(None, "Test.it", json!({"n": 1})).await;
    peer.close();
    assert_eq!(number(&events.next().await.unwrap()), 1);
    assert!(events.next().await.is_none());
    assert_eq!(events.end(), Some(End::Closed(CloseReason::Ended)));
}

#[tokio::test]
async fn a_tree_misses_nothing_that_a_new_child_says_first() {
    let (connection, mut peer) = pair();
    peer.attach(None, "page", "T1").await;
    settle(&connection, &mut peer).await;
    let mut tree = connection.session("page").tree_events(&["Test.it"]);
    peer.attach(Some("page"), "frame", "T2").await;
    peer.event(Some("frame"), "Test.it", json!({"n": 1})).await;
    peer.attach(Some("frame"), "inner", "T3").await;
    peer.event(Some("inner"), "Test.it", json!({"n": 2})).await;
    peer.attach(None, "elsewhere", "T4").await;
    peer.event(Some("elsewhere"), "Test.it", json!({"n": 3})).await;
    peer.detach(Some("page"), "frame").await;
    peer.event(Some("page"), "Test.it", json!({"n": 4})).await;
    settle(&connection, &mut peer).await;
    assert_eq!(numbers(&mut tree), [1, 2, 4]);
    assert_eq!(tree.end(), None);
    peer.detach(None, "page").await;
    assert!(tree.next().await.is_none());
}

#[tokio::test]
async fn a_dropped_subscription_and_a_dropped_wait_leave_nothing_behind() {
    let (connection, mut peer) = pair();
    let mut events = connection.root().events(&["Test.it"]);
    {
        let mut next = Box::pin(events.next());
        assert!((&mut next).now_or_never().is_none());
        peer.event(None, "Test.it", json!({"n": 1})).await;
        settle(&connection, &mut peer).await;
        // Dropped although its event is here.
    }
    assert_eq!(number(&events.next().await.unwrap()), 1);
    drop(events);
    assert_eq!(connection.footprint(), Footprint::default());
}

/// Regression: a subscription ended a moment before the connection counted as closed, so whoever
/// asked for the reason in between was told there was none. Many at once make that moment long.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn when_events_end_the_connection_already_counts_as_closed() {
    for _ in 0..20 {
        let (connection, peer) = pair();
        let watchers: Vec<_> = (0..500)
            .map(|_| {
                let mut events = connection.root().events(&[]);
                let watching = connection.clone();
                tokio::spawn(async move {
                    assert!(events.next().await.is_none());
                    watching.close_reason()
                })
            })
            .collect();
        tokio::task::yield_now().await;
        peer.close();
        for watcher in watchers {
            assert_eq!(watcher.await.unwrap(), Some(CloseReason::Ended));
        }
    }
}
