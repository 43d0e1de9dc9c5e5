//! Viewers that mean harm: floods, oversized and malformed messages, connections without end.

use crate::stage::{Got, HOST, ORIGIN, Stage};
use reins_serve::live::Mode;
use serde_json::json;
use std::time::Duration;
use tokio::time::sleep;
use tokio_tungstenite::tungstenite::{Error, Message};

/// S-156: what is none of the messages is refused, and soon ends the connection. Nothing of it reaches the page.
#[tokio::test(start_paused = true)]
async fn s156_malformed_messages_reach_nothing_and_end_the_connection() {
    let stage = Stage::start();
    for bad in [
        Message::text("{"),
        Message::text("null"),
        Message::text(json!({"type": "evaluate", "expression": "alert(1)"}).to_string()),
        Message::text(
            json!({"type": "input", "input": {"kind": "script", "text": "x"}}).to_string(),
        ),
        Message::text(json!({"type": "input", "method": "Page.navigate"}).to_string()),
        Message::text(json!({"type": "ticket", "ticket": "again"}).to_string()),
        Message::text("[".repeat(60_000)),
        Message::binary(vec![0; 1_000]),
    ] {
        let mut ann = stage.drive("ann").await;
        ann.raw(bad.clone()).await;
        assert_eq!(ann.text("refused").await["what"], "message", "{bad:?}");
        for _ in 0..8 {
            ann.raw(bad.clone()).await;
        }
        assert_eq!(ann.closed().await, Some(1008));
    }
    assert!(stage.script.inputs().is_empty());
}

/// S-X02: a message over 64 KiB ends the connection, in one frame or in many.
#[tokio::test(start_paused = true)]
async fn s_x02_an_oversized_message_ends_the_connection() {
    let stage = Stage::start();
    let (mut other, _) = stage.watch("bob").await;
    let huge = json!({"type": "input", "input": {"kind": "text", "text": "x".repeat(70_000)}});
    let mut ann = stage.drive("ann").await;
    ann.say(huge.clone()).await;
    // What is too long is not read to its end, so the last word may be lost with it.
    assert!(matches!(ann.closed().await, Some(1009) | None));
    let mut guest = stage.knock().await;
    guest.say(huge).await;
    assert!(matches!(guest.closed().await, Some(1009) | None));
    assert_eq!(stage.live.viewers(), 1);
    assert!(stage.script.inputs().is_empty());
    stage.script.paint("t1", "two");
    other.sees("two").await;
}

/// A flood ends its connection and nobody else's.
#[tokio::test(start_paused = true)]
async fn s_x02_a_flood_ends_its_own_connection_only() {
    let stage = Stage::start();
    let (mut other, _) = stage.watch("bob").await;
    let mut ann = stage.drive("ann").await;
    for _ in 0..2_000 {
        ann.key("a").await;
    }
    assert_eq!(ann.closed().await, Some(4429));
    stage.script.paint("t1", "two");
    other.sees("two").await;
    let sent = stage.script.inputs().len();
    assert!(sent <= 400, "{sent}");
    // What a quick hand does is no flood.
    let mut cem = stage.knock().await;
    cem.show_ticket(&stage.ticket("ann", Mode::Control)).await;
    cem.text("welcome").await;
    for n in 0..1_000 {
        cem.key("a").await;
        if n % 100 == 99 {
            sleep(Duration::from_secs(1)).await;
        }
    }
    assert_eq!(stage.script.wait_inputs(sent + 900).await.len().min(sent + 900), sent + 900);
}

/// Connections that never show a ticket are bounded, and end.
#[tokio::test(start_paused = true)]
async fn s087_connections_without_a_ticket_are_bounded() {
    let stage = Stage::start();
    let mut open = Vec::new();
    for _ in 0..16 {
        open.push(stage.knock().await);
    }
    match stage.knock_as(HOST, Some(ORIGIN), "/live/s1").await {
        Err(Error::Http(response)) => assert_eq!(response.status(), 429),
        other => panic!("{:?}", other.map(drop)),
    }
    for guest in &mut open {
        assert_eq!(guest.next().await, Got::Closed(Some(4408)));
    }
    // Their last word is waited for, a moment.
    sleep(Duration::from_secs(2)).await;
    stage.watch("ann").await;
}
