//! Waits, to the millisecond: a scripted transport under a clock that stands still.

use super::*;
use crate::client::{Model, ModelClient, Timing};
use crate::provider::Endpoint;
use crate::table::CUSTOM;
use crate::transport::{Http, HttpRequest, Transport};
use futures_util::future::BoxFuture;
use futures_util::stream;
use reqwest::header::{HeaderMap, HeaderValue};
use std::sync::{Arc, Mutex};
use tokio::time::Instant;

/// What happens to one request.
enum Act {
    /// An answer, and for how long each of its portions lets wait.
    Answer(u16, Vec<(Duration, &'static str)>),
    /// A status with `Retry-After`.
    Limited(&'static str),
    /// No connection.
    Nothing,
    /// Not even a head.
    Silence,
}

struct Script(Mutex<VecDeque<Act>>);

impl Transport for Script {
    fn send(&self, _: HttpRequest) -> BoxFuture<'_, Result<HttpAnswer, TransportError>> {
        let act = self.0.lock().expect("script").pop_front().expect("one more act");
        let mut headers = HeaderMap::new();
        let (status, portions) = match act {
            Act::Answer(status, portions) => (status, portions),
            Act::Limited(wait) => {
                headers.insert("retry-after", HeaderValue::from_static(wait));
                (429, Vec::new())
            }
            Act::Nothing => {
                return Box::pin(async { Err(TransportError::Connect("refused".into())) });
            }
            Act::Silence => return Box::pin(std::future::pending()),
        };
        let body = stream::iter(portions).then(|(wait, text)| async move {
            tokio::time::sleep(wait).await;
            Ok(Bytes::from_static(text.as_bytes()))
        });
        let answer = HttpAnswer { status, headers, body: body.boxed() };
        Box::pin(async { Ok(answer) })
    }
}

const MS: Duration = Duration::from_millis(1);
const TEXT: &str = "data: {\"choices\":[{\"delta\":{\"content\":\"hi\"}}]}\n\n";
const STOP: &str = "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n";

/// Runs a script; gives the last error's code, and the time it all took.
async fn run(script: Vec<Act>) -> (&'static str, Duration) {
    let http = Http(Arc::new(Script(Mutex::new(script.into()))));
    let endpoint = Endpoint::at(&CUSTOM, "http://localhost:1/v1", None).expect("endpoint");
    let client = ModelClient::new(&http, endpoint, "m");
    assert_eq!(client.timing.first_byte, Timing::default().first_byte);
    let begin = Instant::now();
    let mut events = client.stream(ChatRequest::default());
    let mut code = "none";
    while let Some(item) = events.next().await {
        if let Err(error) = item {
            code = error.code();
        }
    }
    (code, begin.elapsed())
}

fn ok() -> Act {
    Act::Answer(
        200,
        vec![(Duration::ZERO, TEXT), (Duration::ZERO, STOP), (Duration::ZERO, "data: [DONE]\n\n")],
    )
}

fn busy() -> Act {
    Act::Answer(503, Vec::new())
}

#[tokio::test(start_paused = true)]
async fn waits_double_and_are_bounded() {
    assert_eq!(run(vec![busy(), Act::Nothing, busy(), ok()]).await, ("none", 3500 * MS));
    assert_eq!(run(vec![Act::Nothing, busy(), busy(), busy()]).await, ("server_failed", 3500 * MS));
}

#[tokio::test(start_paused = true)]
async fn retry_after_is_honoured() {
    assert_eq!(run(vec![Act::Limited("7"), ok()]).await, ("none", 7000 * MS));
    assert_eq!(run(vec![Act::Limited("30"), ok()]).await, ("none", 30_000 * MS));
    assert_eq!(run(vec![Act::Limited("31")]).await, ("rate_limited", Duration::ZERO));
}

#[tokio::test(start_paused = true)]
async fn slow_is_no_stall() {
    let slow = limits::STALL - MS;
    let portions = vec![(slow, ": ping\n\n"), (slow, TEXT), (slow, STOP), (MS, "data: [DONE]\n\n")];
    assert_eq!(run(vec![Act::Answer(200, portions)]).await, ("none", slow * 3 + MS));
    let portions = vec![(slow, TEXT), (limits::STALL + MS, STOP)];
    assert_eq!(run(vec![Act::Answer(200, portions)]).await, ("stalled", slow + limits::STALL));
}

#[tokio::test(start_paused = true)]
async fn a_server_that_never_begins() {
    assert_eq!(run(vec![Act::Silence]).await, ("stalled", limits::FIRST_BYTE));
}

#[tokio::test(start_paused = true)]
async fn usage_may_come_late_but_is_not_waited_for_long() {
    let late = vec![(MS, TEXT), (MS, STOP), (limits::STALL, "data: [DONE]\n\n")];
    assert_eq!(run(vec![Act::Answer(200, late)]).await, ("none", 2 * MS + limits::AFTER_END));
}
