//! Slow viewers: skipped, caught up, and no burden to the others.

use crate::stage::{Got, Stage};
use bytes::Bytes;
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// A picture of a size, with a number in front.
fn picture(number: u32, size: usize) -> Bytes {
    let mut bytes = number.to_be_bytes().to_vec();
    bytes.resize(size, 0);
    bytes.into()
}

fn number(picture: &Bytes) -> u32 {
    u32::from_be_bytes(picture[..4].try_into().unwrap())
}

/// S-X03: of eight viewers one takes nothing. The others get every frame at once, and the stalled one is sent
/// no more than its bound; when it reads again, it has the newest right after what was on its way.
#[tokio::test(start_paused = true)]
async fn s_x03_one_stalled_viewer_costs_the_others_nothing() {
    const SIZE: usize = 500_000;
    let stage = Stage::start();
    let (mut stalled, _) = stage.watch("stalled").await;
    stalled.sees("one").await;
    let mut others = Vec::new();
    for n in 0..7 {
        let (mut other, _) = stage.watch(&format!("p{n}")).await;
        other.sees("one").await;
        others.push(other);
    }
    for n in 1..=60 {
        stage.script.paint("t1", picture(n, SIZE));
        let painted = Instant::now();
        for other in &mut others {
            assert_eq!(number(&other.frame().await), n, "every frame arrives");
        }
        assert!(painted.elapsed() < Duration::from_millis(1), "{:?}", painted.elapsed());
        // The stalled one would be looked at again meanwhile.
        sleep(Duration::from_millis(100)).await;
    }
    let mut got = Vec::new();
    while let Some(Got::Frame(frame)) = next_frame(&mut stalled).await {
        got.push(number(&frame));
        if got.last() == Some(&60) {
            break;
        }
    }
    assert_eq!(got.last(), Some(&60));
    assert!(got.len() * SIZE <= 3 * 1024 * 1024, "{got:?}");
    assert!(got.windows(2).all(|pair| pair[0] < pair[1]), "{got:?}");
}

async fn next_frame(client: &mut crate::stage::Client<tokio::io::DuplexStream>) -> Option<Got> {
    loop {
        match client.within(Duration::from_secs(5)).await {
            Some(Got::Text(_)) => {}
            other => return other,
        }
    }
}

/// S-X03: a viewer that reads without answering pings is behind as well, whatever the pipe between holds.
#[tokio::test(start_paused = true)]
async fn s_x03_a_viewer_is_behind_by_what_it_has_not_answered() {
    let stage = Stage::start();
    let (mut ann, _) = stage.watch("ann").await;
    ann.sees("one").await;
    // Small frames: the pipe takes them all, and only the answers say that nobody looks.
    for n in 1..=200 {
        stage.script.paint("t1", picture(n, 100));
        sleep(Duration::from_millis(10)).await;
    }
    let mut got = Vec::new();
    while let Some(Got::Frame(frame)) = next_frame(&mut ann).await {
        got.push(number(&frame));
        if got.last() == Some(&200) {
            break;
        }
    }
    assert!(got.len() < 20, "{got:?}");
    assert_eq!(got.last(), Some(&200));
}

/// A viewer that takes nothing for long is let go, and its place is free.
#[tokio::test(start_paused = true)]
async fn s_x03_a_viewer_that_takes_nothing_is_let_go() {
    let stage = Stage::start();
    let (_stalled, _) = stage.watch("stalled").await;
    sleep(Duration::from_secs(19)).await;
    assert_eq!(stage.live.viewers(), 1);
    sleep(Duration::from_secs(3)).await;
    assert_eq!(stage.live.viewers(), 0);
}
