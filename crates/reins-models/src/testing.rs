//! A model server that answers by script, for tests: real HTTP on loopback, any status, headers and
//! portions, cuts and silences.

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, Method, Response, StatusCode, Uri};
use futures_util::stream::{self, Stream};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::convert::Infallible;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use tokio::sync::{Notify, Semaphore};

/// One portion of an answer's body.
#[derive(Clone, Debug)]
pub enum Piece {
    /// These bytes, as one chunk.
    Bytes(Vec<u8>),
    /// The connection is cut here.
    Cut,
    /// Nothing more comes, and the connection stays open.
    Hang,
}

/// One answer.
#[derive(Clone, Debug)]
pub struct Answer {
    status: u16,
    headers: Vec<(&'static str, String)>,
    pieces: Vec<Piece>,
}

impl Answer {
    /// Any status with a JSON body.
    pub fn json(status: u16, body: &Value) -> Self {
        let pieces = vec![Piece::Bytes(body.to_string().into_bytes())];
        Self { status, headers: vec![("content-type", "application/json".to_owned())], pieces }
    }

    /// A stream of these portions.
    pub fn pieces(pieces: Vec<Piece>) -> Self {
        Self {
            status: 200,
            headers: vec![("content-type", "text/event-stream".to_owned())],
            pieces,
        }
    }

    /// A stream of these events, each in a portion of its own.
    pub fn events(events: &[Value]) -> Self {
        Self::pieces(events.iter().map(event).collect())
    }

    /// A stream of the Chat format that says something.
    pub fn text(text: &str) -> Self {
        Self::chat(&[json!({"content": text})], "stop")
    }

    /// A stream of the Chat format that makes calls: names with arguments.
    pub fn calls(calls: &[(&str, Value)]) -> Self {
        let calls: Vec<_> =
            calls.iter().map(|(name, arguments)| (*name, arguments.to_string())).collect();
        Self::raw_calls(&calls)
    }

    /// The same with arguments that may be no JSON.
    pub fn raw_calls<A: AsRef<str>>(calls: &[(&str, A)]) -> Self {
        let mut deltas = Vec::new();
        for (index, (name, arguments)) in calls.iter().enumerate() {
            deltas.push(json!({"tool_calls": [{
                "index": index, "id": format!("call-{index}"), "type": "function",
                "function": {"name": name, "arguments": ""},
            }]}));
            let arguments: Vec<char> = arguments.as_ref().chars().collect();
            for portion in arguments.chunks(arguments.len().div_ceil(2).max(1)) {
                let portion: String = portion.iter().collect();
                deltas.push(json!({"tool_calls": [{
                    "index": index, "function": {"arguments": portion},
                }]}));
            }
        }
        Self::chat(&deltas, "tool_calls")
    }

    /// A stream of the Chat format out of deltas, with its end and some usage.
    pub fn chat(deltas: &[Value], finish: &str) -> Self {
        let mut pieces: Vec<_> = deltas.iter().map(chat_delta).collect();
        pieces
            .push(event(&json!({"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})));
        pieces.push(event(&json!({"choices": [], "usage": {
            "prompt_tokens": 100, "completion_tokens": 10,
            "prompt_tokens_details": {"cached_tokens": 60},
        }})));
        pieces.push(Piece::Bytes(b"data: [DONE]\n\n".to_vec()));
        Self::pieces(pieces)
    }

    /// Only the first portions, then this one.
    pub fn cut_after(mut self, portions: usize, last: Piece) -> Self {
        self.pieces.truncate(portions);
        self.pieces.push(last);
        self
    }

    /// With a header more, or another value of one.
    pub fn header(mut self, name: &'static str, value: &str) -> Self {
        self.headers.retain(|(known, _)| *known != name);
        self.headers.push((name, value.to_owned()));
        self
    }

    /// With another status.
    pub fn status(mut self, status: u16) -> Self {
        self.status = status;
        self
    }
}

/// An event of a stream.
pub fn event(data: &Value) -> Piece {
    Piece::Bytes(format!("data: {data}\n\n").into_bytes())
}

/// A delta of the Chat format.
pub fn chat_delta(delta: &Value) -> Piece {
    event(&json!({"choices": [{"index": 0, "delta": delta, "finish_reason": null}]}))
}

/// A request that was received.
#[derive(Clone, Debug)]
pub struct Seen {
    /// Such as `POST`.
    pub method: Method,
    /// The path with the query.
    pub path: String,
    /// The headers.
    pub headers: HeaderMap,
    /// The body, if it is JSON.
    pub body: Value,
}

/// A running server. It ends when dropped.
#[derive(Debug)]
pub struct ModelServer {
    address: String,
    shared: Arc<Shared>,
    task: tokio::task::JoinHandle<()>,
}

#[derive(Debug)]
struct Shared {
    script: Mutex<VecDeque<Answer>>,
    seen: Mutex<Vec<Seen>>,
    abandoned: Semaphore,
    asked: Notify,
}

impl ModelServer {
    /// Starts a server that gives these answers in order, whatever it is asked. Afterwards it
    /// refuses with 410.
    pub async fn start(script: Vec<Answer>) -> io::Result<Self> {
        let shared = Arc::new(Shared {
            script: Mutex::new(script.into()),
            seen: Mutex::default(),
            abandoned: Semaphore::new(0),
            asked: Notify::new(),
        });
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?.to_string();
        let app = axum::Router::new().fallback(answer).with_state(shared.clone());
        let task = tokio::spawn(async move {
            if let Err(error) = axum::serve(listener, app).await {
                tracing::error!(%error, "the scripted model server ended");
            }
        });
        Ok(Self { address, shared, task })
    }

    /// Its address with `/v1`.
    pub fn base(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// Host and port.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// What was asked so far.
    pub fn seen(&self) -> Vec<Seen> {
        lock(&self.shared.seen).clone()
    }

    /// Waits until it has been asked this often.
    pub async fn asked(&self, times: usize) {
        loop {
            let asked = self.shared.asked.notified();
            if lock(&self.shared.seen).len() >= times {
                return;
            }
            asked.await;
        }
    }

    /// Waits until one more answer was abandoned by the client before its end.
    pub async fn abandoned(&self) {
        if let Ok(permit) = self.shared.abandoned.acquire().await {
            permit.forget();
        }
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn answer(
    State(shared): State<Arc<Shared>>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Response<Body>, Infallible> {
    let body = serde_json::from_slice(&body).unwrap_or(Value::Null);
    lock(&shared.seen).push(Seen { method, path: uri.to_string(), headers, body });
    let next = lock(&shared.script).pop_front();
    shared.asked.notify_waiters();
    let over = || Answer::json(410, &json!({"error": {"message": "the script is over"}}));
    let answer = next.unwrap_or_else(over);
    let mut response = Response::builder().status(answer.status);
    for (name, value) in &answer.headers {
        response = response.header(*name, value);
    }
    let body = Body::from_stream(Watched { pieces: portions(answer.pieces), shared, ended: false });
    let failed = |_| {
        let mut response = Response::new(Body::empty());
        *response.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
        response
    };
    Ok(response.body(body).unwrap_or_else(failed))
}

type Portions = Pin<Box<dyn Stream<Item = io::Result<Bytes>> + Send>>;

fn portions(pieces: Vec<Piece>) -> Portions {
    Box::pin(stream::unfold(pieces.into_iter(), |mut pieces| async move {
        match pieces.next()? {
            Piece::Bytes(bytes) => Some((Ok(bytes.into()), pieces)),
            Piece::Cut => {
                // Lets what was written before the cut arrive first.
                tokio::task::yield_now().await;
                Some((Err(io::Error::other("cut by the script")), pieces))
            }
            Piece::Hang => std::future::pending().await,
        }
    }))
}

/// Tells when a body is dropped before its end.
struct Watched {
    pieces: Portions,
    shared: Arc<Shared>,
    ended: bool,
}

impl Stream for Watched {
    type Item = io::Result<Bytes>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let next = self.pieces.as_mut().poll_next(cx);
        self.ended |= matches!(next, Poll::Ready(None | Some(Err(_))));
        next
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        if !self.ended {
            self.shared.abandoned.add_permits(1);
        }
    }
}
