//! How calls end, against the in-memory browser and a paused clock.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a failed step must stop the test")]

use futures_util::FutureExt;
use proptest::prelude::*;
use reins_cdp::testing::{Footprint, pair, pair_with};
use reins_cdp::{
    CallError, CloseReason, Connection, Ignored, Lost, LostCause, NotSent, NotSentCause, Pending,
};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::AsyncWrite;
use tokio::time::Instant;

const SECOND: Duration = Duration::from_secs(1);
const LONG: Duration = Duration::from_secs(600);

fn lost(method: &'static str, cause: LostCause) -> CallError {
    Lost { method, cause }.into()
}

fn not_sent(method: &'static str, cause: NotSentCause) -> CallError {
    NotSent { method, cause }.into()
}

/// A command that fills a pipe of 64 bytes, so that whatever follows it stays queued.
fn stuff(connection: &Connection) -> Pending<Value> {
    connection.root().send("Test.stuff", json!({"text": "x".repeat(500)}), LONG)
}

#[tokio::test(start_paused = true)]
async fn a_written_call_past_its_deadline_is_lost_and_its_late_answer_is_thrown_away() {
    let (connection, mut peer) = pair();
    let root = connection.root();
    let pending = root.send::<Value>("Test.slow", (), SECOND);
    let request = peer.request().await.unwrap();
    let start = Instant::now();
    assert_eq!(pending.await.unwrap_err(), lost("Test.slow", LostCause::Deadline));
    assert_eq!(start.elapsed(), SECOND);
    assert_eq!(connection.footprint(), Footprint::default());

    peer.answer(&request, json!({"late": true})).await;
    let next = root.send::<Value>("Test.next", (), SECOND);
    peer.serve("Test.next", json!({"n": 2})).await;
    assert_eq!(next.await.unwrap(), json!({"n": 2}));
}

#[tokio::test(start_paused = true)]
async fn a_call_still_queued_at_its_deadline_was_not_sent_and_never_is() {
    let (connection, mut peer) = pair_with(64);
    let root = connection.root();
    let first = stuff(&connection);
    tokio::task::yield_now().await;
    assert!(first.is_written());
    let queued = root.send::<Value>("Test.queued", (), SECOND);
    assert!(!queued.is_written());
    assert_eq!(queued.await.unwrap_err(), not_sent("Test.queued", NotSentCause::Deadline));

    let last = root.send::<Value>("Test.last", (), LONG);
    peer.serve("Test.stuff", json!({})).await;
    peer.serve("Test.last", json!({})).await;
    first.await.unwrap();
    last.await.unwrap();
    assert_eq!(connection.footprint(), Footprint::default());
}

#[tokio::test(start_paused = true)]
async fn a_queued_call_that_nobody_polls_is_not_written_after_its_deadline() {
    let (connection, mut peer) = pair_with(64);
    let first = stuff(&connection);
    tokio::task::yield_now().await;
    let stale = connection.root().send::<Value>("Test.stale", (), SECOND);
    let fresh = connection.root().send::<Value>("Test.fresh", (), LONG);
    tokio::time::advance(2 * SECOND).await;
    peer.serve("Test.stuff", json!({})).await;
    peer.serve("Test.fresh", json!({})).await;
    assert_eq!(stale.await.unwrap_err(), not_sent("Test.stale", NotSentCause::Deadline));
    first.await.unwrap();
    fresh.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn an_answer_in_time_counts_even_if_it_is_read_late() {
    let (connection, mut peer) = pair();
    let pending = connection.root().send::<Value>("Test.it", (), SECOND);
    peer.serve("Test.it", json!(1)).await;
    tokio::time::sleep(5 * SECOND).await;
    assert_eq!(pending.await.unwrap(), json!(1));
}

#[tokio::test(start_paused = true)]
async fn a_dropped_call_is_taken_back_and_a_dropped_send_is_only_forgotten() {
    let (connection, mut peer) = pair_with(64);
    let root = connection.root();
    drop(stuff(&connection));
    tokio::task::yield_now().await;
    let mut called = Box::pin(root.call::<Value>("Test.called", (), LONG));
    assert!((&mut called).now_or_never().is_none());
    drop(called);
    drop(root.send::<Value>("Test.sent", (), LONG));
    assert_eq!(connection.footprint().calls, 0);
    peer.serve("Test.stuff", json!({})).await;
    peer.serve("Test.sent", json!({})).await;
    assert_eq!(connection.footprint(), Footprint::default());
}

#[tokio::test(start_paused = true)]
async fn withdrawing_says_exactly_what_is_known() {
    let (connection, mut peer) = pair_with(64);
    let root = connection.root();
    let written = stuff(&connection);
    tokio::task::yield_now().await;
    let queued = root.send::<Value>("Test.queued", (), LONG);
    assert_eq!(queued.withdraw().unwrap_err(), not_sent("Test.queued", NotSentCause::Withdrawn));
    assert_eq!(written.withdraw().unwrap_err(), lost("Test.stuff", LostCause::Withdrawn));
    peer.request().await.unwrap();

    let answered = root.send::<Value>("Test.answered", (), LONG);
    peer.serve("Test.answered", json!(7)).await;
    // The next round trip shows that the answer before it has arrived.
    let next = root.send::<Value>("Test.next", (), LONG);
    peer.serve("Test.next", json!(8)).await;
    next.await.unwrap();
    assert_eq!(answered.withdraw().unwrap(), json!(7));
    assert_eq!(connection.footprint(), Footprint::default());
}

#[tokio::test(start_paused = true)]
async fn when_the_browser_goes_written_calls_are_lost_and_queued_ones_were_not_sent() {
    let (connection, peer) = pair_with(64);
    let written = stuff(&connection);
    tokio::task::yield_now().await;
    let queued = connection.root().send::<Value>("Test.queued", (), LONG);
    peer.close();
    let reason = CloseReason::Ended;
    assert_eq!(connection.closed().await, reason);
    assert_eq!(written.await.unwrap_err(), lost("Test.stuff", LostCause::Closed(reason.clone())));
    let closed = NotSentCause::Closed(reason.clone());
    assert_eq!(queued.await.unwrap_err(), not_sent("Test.queued", closed.clone()));
    let after = connection.root().call::<Ignored>("Test.after", (), LONG).await;
    assert_eq!(after.unwrap_err(), not_sent("Test.after", closed));
    assert_eq!(connection.footprint(), Footprint::default());
}

#[tokio::test(start_paused = true)]
async fn closing_ends_every_call_with_the_reason_and_the_browser_sees_the_end() {
    let (connection, mut peer) = pair();
    let pending = connection.root().send::<Value>("Test.it", (), LONG);
    peer.request().await.unwrap();
    connection.close();
    let cause = LostCause::Closed(CloseReason::Closed);
    assert_eq!(pending.await.unwrap_err(), lost("Test.it", cause));
    assert!(peer.request().await.is_none());
    assert!(connection.is_closed());
}

#[tokio::test(start_paused = true)]
async fn the_connection_closes_with_its_last_handle() {
    let (connection, mut peer) = pair();
    let session = connection.root();
    drop(connection);
    let pending = session.send::<Value>("Test.it", (), LONG);
    drop(session);
    peer.serve("Test.it", json!(1)).await;
    assert_eq!(pending.await.unwrap(), json!(1));
    assert!(peer.request().await.is_none());
}

#[tokio::test(start_paused = true)]
async fn a_session_that_was_not_announced_gets_nothing_sent() {
    let (connection, mut peer) = pair();
    let stray = connection.session("S9");
    assert!(!stray.is_attached());
    let error = stray.call::<Value>("Page.reload", (), LONG).await.unwrap_err();
    assert_eq!(error, not_sent("Page.reload", NotSentCause::SessionGone));
    connection.close();
    assert!(peer.request().await.is_none());
}

#[tokio::test(start_paused = true)]
async fn a_detached_session_ends_its_calls_and_those_below_it_at_once() {
    let (connection, mut peer) = pair();
    let mut attached = connection.root().events(&["Target.attachedToTarget"]);
    peer.attach(None, "page", "T1").await;
    peer.attach(Some("page"), "frame", "T2").await;
    peer.attach(None, "other", "T3").await;
    let mut below = connection.session("page").events(&["Target.attachedToTarget"]);
    attached.next().await.unwrap();
    attached.next().await.unwrap();
    let start = Instant::now();
    let calls: Vec<_> = ["page", "frame", "other"]
        .map(|id| connection.session(id).send::<Value>("Test.it", (), LONG))
        .into();
    for _ in 0..3 {
        peer.request().await.unwrap();
    }
    peer.detach(None, "page").await;
    let mut calls = calls.into_iter();
    for _ in 0..2 {
        let error = calls.next().unwrap().await.unwrap_err();
        assert_eq!(error, lost("Test.it", LostCause::SessionGone));
        assert!(error.is_gone());
    }
    assert_eq!(start.elapsed(), Duration::ZERO);
    assert!(below.next().await.is_none());
    assert!(connection.session("other").is_attached());
    let error = connection.session("frame").call::<Value>("Test.it", (), LONG).await;
    assert_eq!(error.unwrap_err(), not_sent("Test.it", NotSentCause::SessionGone));
    drop((calls, attached, below));
    assert_eq!(connection.footprint(), Footprint { sessions: 1, ..Footprint::default() });
}

#[tokio::test(start_paused = true)]
async fn a_detached_session_gets_nothing_that_was_still_queued() {
    let (connection, mut peer) = pair_with(600);
    peer.attach(None, "page", "T1").await;
    let mut attached = connection.root().tree_events(&[]);
    peer.event(None, "Test.ready", json!({})).await;
    attached.next().await.unwrap();
    drop(connection.root().send::<Value>("Test.stuff", json!({"t": "x".repeat(2_000)}), LONG));
    tokio::task::yield_now().await;
    let queued = connection.session("page").send::<Value>("Test.it", (), LONG);
    peer.detach(None, "page").await;
    assert_eq!(queued.await.unwrap_err(), not_sent("Test.it", NotSentCause::SessionGone));
    assert_eq!(peer.request().await.unwrap().method, "Test.stuff");
    connection.close();
    assert!(peer.request().await.is_none());
}

#[tokio::test(start_paused = true)]
async fn a_crash_ends_what_was_written_and_the_session_stays() {
    for by_target in [false, true] {
        let (connection, mut peer) = pair();
        let mut events = connection.root().events(&["Target.attachedToTarget"]);
        peer.attach(None, "page", "T1").await;
        events.next().await.unwrap();
        let page = connection.session("page");
        let pending = page.send::<Value>("Runtime.evaluate", json!({"expression": "1"}), LONG);
        let other = connection.root().send::<Value>("Test.other", (), LONG);
        peer.request().await.unwrap();
        let request = peer.request().await.unwrap();
        if by_target {
            let params = json!({"targetId": "T1", "status": "crashed", "errorCode": 5});
            peer.event(None, "Target.targetCrashed", params).await;
        } else {
            peer.event(Some("page"), "Inspector.targetCrashed", json!({})).await;
        }
        assert_eq!(pending.await.unwrap_err(), lost("Runtime.evaluate", LostCause::Crashed));
        peer.answer(&request, json!(1)).await;
        other.await.unwrap();
        let reload = page.send::<Value>("Page.reload", (), LONG);
        peer.serve("Page.reload", json!({})).await;
        reload.await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn an_error_answer_is_passed_on_and_an_unknown_session_means_not_sent() {
    let (connection, mut peer) = pair();
    let root = connection.root();
    let pending = root.send::<Value>("Page.navigate", (), LONG);
    let request = peer.request().await.unwrap();
    peer.refuse(&request, -32602, "Invalid parameters").await;
    let CallError::Answered { method, code, message } = pending.await.unwrap_err() else {
        panic!("the browser answered")
    };
    assert_eq!((method, code, &*message), ("Page.navigate", -32602, "Invalid parameters"));

    let pending = root.send::<Value>("Page.navigate", (), LONG);
    let request = peer.request().await.unwrap();
    peer.refuse(&request, -32001, "Session with given id not found.").await;
    let expected = not_sent("Page.navigate", NotSentCause::SessionGone);
    assert_eq!(pending.await.unwrap_err(), expected);
}

#[tokio::test(start_paused = true)]
async fn malformed_and_unknown_messages_break_nothing() {
    let (connection, mut peer) = pair();
    let root = connection.root();
    let mut events = root.events(&[]);
    let pending = root.send::<Value>("Test.it", (), LONG);
    let request = peer.request().await.unwrap();
    for junk in [
        &b"\0"[..],
        b"not json\0",
        b"[]\0",
        b"{}\0",
        b"{\"id\":\"x\"}\0",
        b"{\"id\":99999,\"result\":{}}\0",
        b"{\"id\":-1}\0",
        b"\xff\xfe\0",
        b"{\"method\":7}\0",
        b"{\"method\":\"Target.attachedToTarget\",\"params\":{\"sessionId\":7}}\0",
        b"{\"method\":\"Target.detachedFromTarget\"}\0",
        b"{\"method\":\"New.thing\",\"params\":{\"a\":1},\"extra\":[{}],\"sessionId\":\"S7\"}\0",
        b"{\"method\":\"New\\u002ething\",\"future\":{}}\0",
    ] {
        peer.raw(junk).await;
    }
    peer.answer(&request, json!({"kind": "a new kind", "more": [1]})).await;
    assert_eq!(pending.await.unwrap()["kind"], "a new kind");
    let methods: Vec<String> =
        std::iter::from_fn(|| events.try_next()).map(|e| e.method().to_owned()).collect();
    assert_eq!(methods, ["Target.attachedToTarget", "Target.detachedFromTarget", "New.thing"]);
}

#[tokio::test(start_paused = true)]
async fn an_answer_in_another_form_is_malformed_and_names_the_method() {
    let (connection, mut peer) = pair();
    let pending = connection.root().send::<Vec<u32>>("Test.it", (), LONG);
    peer.serve("Test.it", json!({"not": "a list"})).await;
    let CallError::Malformed { method: "Test.it", detail } = pending.await.unwrap_err() else {
        panic!("it did not fit")
    };
    assert!(!detail.contains("list"), "{detail}");
}

/// A039: a message over 16 MB fails nothing here at all.
#[tokio::test]
async fn a039_a_message_of_100_mb_kills_nothing() {
    let (connection, mut peer) = pair();
    let root = connection.root();
    let pending = root.send::<Value>("Test.big", (), LONG);
    let after = root.send::<Value>("Test.after", (), LONG);
    let big = peer.request().await.unwrap();
    let small = peer.request().await.unwrap();
    let mut message = format!(r#"{{"id":{},"result":""#, big.id).into_bytes();
    let head = message.len();
    message.resize(head + 100 * 1024 * 1024, b'x');
    message.extend_from_slice(b"\"}\0");
    peer.raw(&message).await;
    peer.answer(&small, json!(2)).await;
    assert_eq!(after.await.unwrap(), json!(2));
    assert_eq!(pending.await.unwrap().as_str().unwrap().len(), 100 * 1024 * 1024);
}

#[tokio::test]
async fn commands_queued_together_leave_in_order_and_in_one_write() {
    struct Counting<W>(W, Arc<AtomicUsize>);
    impl<W: AsyncWrite + Unpin> AsyncWrite for Counting<W> {
        fn poll_write(
            mut self: Pin<&mut Self>,
            cx: &mut Context<'_>,
            buf: &[u8],
        ) -> Poll<io::Result<usize>> {
            self.1.fetch_add(1, Ordering::Relaxed);
            Pin::new(&mut self.0).poll_write(cx, buf)
        }
        fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
            Pin::new(&mut self.0).poll_flush(cx)
        }
        fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
            Pin::new(&mut self.0).poll_shutdown(cx)
        }
    }
    use tokio::io::AsyncReadExt;
    let (silent, _keep) = tokio::io::duplex(64);
    let (mut sent, writer) = tokio::io::duplex(64 * 1024);
    let writes = Arc::new(AtomicUsize::new(0));
    let connection = Connection::pipe(silent, Counting(writer, writes.clone()));
    let root = connection.root();
    for n in 0..20 {
        drop(root.send::<Value>("Test.it", json!({"n": n}), LONG));
    }
    let mut bytes = vec![0; 20 * 64];
    let n = sent.read(&mut bytes).await.unwrap();
    let order: Vec<u64> = bytes[..n]
        .split(|b| *b == 0)
        .filter(|m| !m.is_empty())
        .map(|m| serde_json::from_slice::<Value>(m).unwrap()["params"]["n"].as_u64().unwrap())
        .collect();
    assert_eq!(order, (0..20).collect::<Vec<_>>());
    assert_eq!(writes.load(Ordering::Relaxed), 1);
}

#[tokio::test(start_paused = true)]
async fn a_write_that_fails_midway_tells_sent_from_unsent() {
    /// Takes so many bytes, then breaks.
    struct Breaking(usize);
    impl AsyncWrite for Breaking {
        fn poll_write(
            mut self: Pin<&mut Self>,
            _: &mut Context<'_>,
            buf: &[u8],
        ) -> Poll<io::Result<usize>> {
            if self.0 == 0 {
                return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
            }
            let n = self.0.min(buf.len());
            self.0 -= n;
            Poll::Ready(Ok(n))
        }
        fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }
        fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }
    }
    let one = r#"{"id":1,"method":"Test.it","params":{}}"#.len() + 1;
    for (room, sent) in [(0, 0), (1, 1), (one, 1), (one + 1, 2), (2 * one, 2)] {
        let (silent, _keep) = tokio::io::duplex(64);
        let connection = Connection::pipe(silent, Breaking(room));
        let root = connection.root();
        let calls: Vec<_> = (0..3).map(|_| root.send::<Value>("Test.it", (), LONG)).collect();
        for (n, call) in calls.into_iter().enumerate() {
            let expected = if n < sent {
                lost("Test.it", LostCause::Closed(CloseReason::Ended))
            } else {
                not_sent("Test.it", NotSentCause::Closed(CloseReason::Ended))
            };
            assert_eq!(call.await.unwrap_err(), expected, "call {n} with room for {room}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_browser_that_does_not_read_fills_a_bounded_queue() {
    let (connection, _peer) = pair_with(64);
    let root = connection.root();
    let text = "x".repeat(8 * 1024 * 1024);
    let mut refused = None;
    let mut calls = Vec::new();
    for _ in 0..20 {
        let call = root.send::<Value>("Test.big", json!({"text": text}), SECOND);
        tokio::task::yield_now().await;
        calls.push(call);
    }
    for call in calls {
        let error = call.await.unwrap_err();
        if error == not_sent("Test.big", NotSentCause::QueueFull) {
            refused.get_or_insert(error);
        }
    }
    assert!(refused.is_some());
    assert_eq!(connection.footprint(), Footprint::default());
}

#[derive(Clone, Debug)]
enum Step {
    Call { deadline_ms: u64, size: usize },
    Forget(usize),
    Withdraw(usize),
    PeerReads,
    PeerAnswers(usize),
    Advance { ms: u64 },
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (1u64..2_000, 0usize..200)
            .prop_map(|(deadline_ms, size)| Step::Call { deadline_ms, size }),
        1 => any::<usize>().prop_map(Step::Forget),
        1 => any::<usize>().prop_map(Step::Withdraw),
        3 => Just(Step::PeerReads),
        3 => any::<usize>().prop_map(Step::PeerAnswers),
        2 => (1u64..700).prop_map(|ms| Step::Advance { ms }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// Whatever happens in whatever order: what was reported as not sent was never seen by the
    /// browser, what was reported as answered was answered, and nothing is left behind.
    #[test]
    fn no_order_of_things_makes_an_outcome_lie(steps in proptest::collection::vec(step(), 1..60)) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .unwrap();
        runtime.block_on(async {
            let (connection, mut peer) = pair_with(256);
            let root = connection.root();
            let mut calls: Vec<(u64, Pending<Value>)> = Vec::new();
            let (mut seen, mut answered) = (BTreeSet::new(), BTreeSet::new());
            let mut open = Vec::new();
            let mut ends: Vec<(u64, Result<Value, CallError>)> = Vec::new();
            let mut next = 0;
            for step in steps {
                match step {
                    Step::Call { deadline_ms, size } => {
                        next += 1;
                        let params = json!({"n": next, "fill": "x".repeat(size)});
                        let deadline = Duration::from_millis(deadline_ms);
                        calls.push((next, root.send("Test.it", params, deadline)));
                    }
                    Step::Forget(at) if !calls.is_empty() => {
                        drop(calls.remove(at % calls.len()));
                    }
                    Step::Withdraw(at) if !calls.is_empty() => {
                        let (n, call) = calls.remove(at % calls.len());
                        ends.push((n, call.withdraw()));
                    }
                    Step::PeerReads => {
                        // Nothing may come, so the clock bounds the wait.
                        let wait = Duration::from_millis(1);
                        if let Ok(Some(r)) = tokio::time::timeout(wait, peer.request()).await {
                            seen.insert(r.params["n"].as_u64().unwrap());
                            open.push(r);
                        }
                    }
                    Step::PeerAnswers(at) if !open.is_empty() => {
                        let request = open.remove(at % open.len());
                        let n = request.params["n"].clone();
                        answered.insert(n.as_u64().unwrap());
                        peer.answer(&request, n).await;
                    }
                    Step::Advance { ms } => {
                        tokio::time::sleep(Duration::from_millis(ms)).await;
                    }
                    _ => {}
                }
            }
            // The first half ends by deadline or answer, the rest by the close.
            let rest = calls.split_off(calls.len() / 2);
            for (n, call) in calls {
                ends.push((n, call.await));
            }
            connection.close();
            for (n, call) in rest {
                ends.push((n, call.await));
            }
            while let Some(request) = peer.request().await {
                seen.insert(request.params["n"].as_u64().unwrap());
            }
            for (n, end) in ends {
                match end {
                    Ok(value) => {
                        assert_eq!(value, json!(n));
                        assert!(answered.contains(&n));
                    }
                    Err(CallError::NotSent(_)) => assert!(!seen.contains(&n), "{n} was seen"),
                    Err(CallError::Lost(_)) => {}
                    Err(other) => panic!("{other}"),
                }
            }
            assert_eq!(connection.footprint(), Footprint::default());
        });
    }
}
