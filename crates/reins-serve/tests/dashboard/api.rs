//! A daemon that answers from `fixtures.json`, and remembers every request and everything a viewer says.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a failed step must stop the test")]

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::ws::{Message, WebSocket, WebSocketUpgrade};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::sse::{Event, Sse};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use futures_util::{SinkExt, Stream, StreamExt, stream};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::sync::{broadcast, watch};

const FIXTURES: &str = include_str!("fixtures.json");
const COOKIE: &str = "reins=signed-in";
pub(crate) const CSRF: &str = "csrf-of-the-session";

/// A request as it arrived.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    /// `POST /v1/login`.
    pub(crate) what: String,
    pub(crate) query: String,
    pub(crate) body: Value,
    pub(crate) csrf: Option<String>,
    pub(crate) cookie: bool,
}

/// What a viewer gets.
#[derive(Clone, Debug)]
pub(crate) enum Tell {
    Text(Value),
    /// The connection breaks.
    Break,
}

struct Inner {
    origin: String,
    seen: Mutex<Vec<Seen>>,
    said: Mutex<Vec<Value>>,
    changed: watch::Sender<u64>,
    answers: Mutex<HashMap<String, (u16, Value)>>,
    events: Mutex<Vec<(&'static str, Value)>>,
    more: broadcast::Sender<(&'static str, Value)>,
    viewers: broadcast::Sender<Tell>,
    driver: Mutex<Value>,
    picture: Vec<u8>,
}

/// The scripted daemon.
#[derive(Clone)]
pub(crate) struct Api(Arc<Inner>);

impl Api {
    pub(crate) async fn start() -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let mut picture = Vec::new();
        let grey = image::RgbImage::from_pixel(1280, 800, image::Rgb([90, 120, 90]));
        grey.write_to(&mut std::io::Cursor::new(&mut picture), image::ImageFormat::Jpeg).unwrap();
        let api = Self(Arc::new(Inner {
            origin: format!("http://{}", listener.local_addr().unwrap()),
            seen: Mutex::default(),
            said: Mutex::default(),
            changed: watch::Sender::new(0),
            answers: Mutex::default(),
            events: Mutex::default(),
            more: broadcast::Sender::new(64),
            viewers: broadcast::Sender::new(64),
            driver: Mutex::new(Value::Null),
            picture,
        }));
        let routes = Router::new()
            .route("/live/{session}", get(live))
            .fallback(answer)
            .with_state(api.clone())
            .merge(reins_serve::dashboard());
        tokio::spawn(async move { axum::serve(listener, routes).await.unwrap() });
        api
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("{}{path}", self.0.origin)
    }

    /// Answers `GET /v1/…` otherwise from now on.
    pub(crate) fn answers(&self, what: &str, status: u16, body: Value) {
        self.0.answers.lock().unwrap().insert(what.to_owned(), (status, body));
    }

    /// Happens in every sandbox whose page is open, and in those that open later.
    pub(crate) fn happens(&self, name: &'static str, data: Value) {
        self.0.events.lock().unwrap().push((name, data.clone()));
        let _ = self.0.more.send((name, data));
    }

    /// Reaches every viewer.
    pub(crate) fn tell(&self, tell: Tell) {
        let _ = self.0.viewers.send(tell);
    }

    /// Who drives from now on, told to every viewer and to those that come.
    pub(crate) fn drives(&self, driver: Value) {
        *self.0.driver.lock().unwrap() = driver.clone();
        self.tell(Tell::Text(json!({"type": "driver", "driver": driver})));
    }

    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.0.seen.lock().unwrap().clone()
    }

    /// What viewers said, tickets left out.
    pub(crate) fn said(&self) -> Vec<Value> {
        self.0.said.lock().unwrap().clone()
    }

    /// Waits until a request came.
    pub(crate) async fn request(&self, what: &str) -> Seen {
        self.until(what, || self.seen().into_iter().rfind(|seen| seen.what == what)).await
    }

    /// Waits until a request with this in its query came.
    pub(crate) async fn until_query(&self, what: &str, query: &str) -> Seen {
        let fits = |seen: &Seen| seen.what == what && seen.query.contains(query);
        self.until(query, || self.seen().into_iter().rfind(fits)).await
    }

    /// Waits until a request with such a body came.
    pub(crate) async fn heard_body(&self, what: &str, fits: impl Fn(&Value) -> bool) -> Seen {
        self.until(what, || {
            self.seen().into_iter().rfind(|seen| seen.what == what && fits(&seen.body))
        })
        .await
    }

    /// Waits until a viewer said something that fits.
    pub(crate) async fn heard(&self, what: &str, fits: impl Fn(&Value) -> bool) -> Value {
        self.until(what, || self.said().into_iter().rfind(|said| fits(said))).await
    }

    async fn until<T>(&self, what: &str, found: impl Fn() -> Option<T>) -> T {
        let mut changed = self.0.changed.subscribe();
        let look = async {
            loop {
                if let Some(found) = found() {
                    return found;
                }
                changed.changed().await.unwrap();
            }
        };
        match tokio::time::timeout(Duration::from_secs(30), look).await {
            Ok(found) => found,
            Err(_) => {
                panic!("{what} did not come; there were {:#?} and {:#?}", self.seen(), self.said())
            }
        }
    }

    fn note(&self) {
        self.0.changed.send_modify(|n| *n += 1);
    }
}

/// `"@+60"` in the fixtures is a minute from now.
fn fixtures() -> Value {
    fn dated(value: Value, now: u64) -> Value {
        match value {
            Value::String(text) => match text.strip_prefix('@').and_then(|n| n.parse::<i64>().ok())
            {
                Some(offset) => json!(rfc3339(now.saturating_add_signed(offset))),
                None => Value::String(text),
            },
            Value::Array(list) => list.into_iter().map(|one| dated(one, now)).collect(),
            Value::Object(map) => map.into_iter().map(|(k, v)| (k, dated(v, now))).collect(),
            other => other,
        }
    }
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    dated(serde_json::from_str(FIXTURES).unwrap(), now)
}

/// Civil time from seconds, by Howard Hinnant's `civil_from_days`.
pub(crate) fn rfc3339(seconds: u64) -> String {
    let (days, rest) = (seconds / 86_400 + 719_468, seconds % 86_400);
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let shifted = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = year + era * 400 + u64::from(month <= 2);
    let (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

fn error(status: u16, code: &str, message: &str) -> Response {
    let body = json!({"error": {"code": code, "message": message}});
    (StatusCode::from_u16(status).unwrap(), axum::Json(body)).into_response()
}

fn signed_in(headers: &HeaderMap) -> bool {
    headers.get(header::COOKIE).is_some_and(|value| value.to_str().unwrap().contains(COOKIE))
}

async fn answer(State(api): State<Api>, request: Request<Body>) -> Response {
    let (parts, body) = request.into_parts();
    let body = to_bytes(body, 1 << 20).await.unwrap();
    let what = format!("{} {}", parts.method, parts.uri.path());
    let cookie = signed_in(&parts.headers);
    let csrf = parts.headers.get("x-reins-csrf").map(|v| v.to_str().unwrap().to_owned());
    let body = serde_json::from_slice(&body).unwrap_or(Value::Null);
    api.0.seen.lock().unwrap().push(Seen {
        what: what.clone(),
        query: parts.uri.query().unwrap_or("").to_owned(),
        body: body.clone(),
        csrf: csrf.clone(),
        cookie,
    });
    api.note();
    let fixtures = fixtures();
    if what == "POST /v1/login" {
        if body["code"] != "one-time" {
            return error(401, "wrong_code", "This link was used before, or it is too old.");
        }
        let cookie = format!("{COOKIE}; Path=/; HttpOnly; SameSite=Strict");
        return ([(header::SET_COOKIE, cookie)], axum::Json(&fixtures["GET /v1/me"]))
            .into_response();
    }
    if !cookie {
        return error(401, "unauthorized", "Sign in first.");
    }
    if parts.method != "GET" && csrf.as_deref() != Some(CSRF) {
        return error(403, "csrf", "The change does not come from the dashboard.");
    }
    let known = api.0.answers.lock().unwrap().get(&what).cloned();
    if let Some((status, body)) = known {
        return (StatusCode::from_u16(status).unwrap(), axum::Json(body)).into_response();
    }
    let path = parts.uri.path();
    if path.starts_with("/v1/sandboxes/") && path.ends_with("/events") {
        return happenings(&api).into_response();
    }
    if path.ends_with("/browser/tickets") {
        let url = format!("{}/live/b1", api.0.origin);
        let ticket =
            json!({"ticket": "once", "mode": body["mode"], "expires_at": rfc3339(0), "url": url});
        return axum::Json(ticket).into_response();
    }
    if let Some(id) = path.strip_prefix("/v1/sandboxes/").filter(|id| !id.contains('/')) {
        let all = fixtures["GET /v1/sandboxes"]["sandboxes"].as_array().unwrap();
        return match all.iter().find(|one| one["id"] == id) {
            Some(one) => axum::Json(one).into_response(),
            None => error(404, "unknown_sandbox", "There is no such sandbox."),
        };
    }
    match fixtures.get(&what) {
        Some(known) => axum::Json(known).into_response(),
        None if parts.method == "GET" => error(404, "unknown", "There is nothing here."),
        None => axum::Json(json!({})).into_response(),
    }
}

fn happenings(api: &Api) -> Sse<impl Stream<Item = Result<Event, Infallible>> + use<>> {
    let more = api.0.more.subscribe();
    let before = api.0.events.lock().unwrap().clone();
    let more = stream::unfold(more, async |mut more| Some((more.recv().await.ok()?, more)));
    let all = stream::iter(before).chain(more);
    Sse::new(all.map(|(name, data)| Ok(Event::default().event(name).data(data.to_string()))))
}

async fn live(State(api): State<Api>, headers: HeaderMap, upgrade: WebSocketUpgrade) -> Response {
    assert_eq!(headers.get(header::ORIGIN).unwrap().to_str().unwrap(), api.0.origin);
    upgrade.on_upgrade(async move |socket| view(api, socket).await)
}

async fn view(api: Api, socket: WebSocket) {
    let (mut to, mut from) = socket.split();
    let mut told = api.0.viewers.subscribe();
    loop {
        tokio::select! {
            message = from.next() => {
                let Some(Ok(message)) = message else { return };
                let Message::Text(text) = message else { continue };
                let said: Value = serde_json::from_str(&text).unwrap();
                if said["type"] == "ticket" {
                    let driver = api.0.driver.lock().unwrap().clone();
                    let welcome = json!({"type": "welcome", "viewer": "v", "mode": "view", "css_width": 1280, "css_height": 800, "driver": driver});
                    to.send(Message::text(welcome.to_string())).await.unwrap();
                    if picture(&api, &mut to).await.is_err() { return }
                }
                api.0.said.lock().unwrap().push(said);
                api.note();
            }
            tell = told.recv() => {
                let sent = match tell.unwrap() {
                    Tell::Text(value) => to.send(Message::text(value.to_string())).await,
                    Tell::Break => return,
                };
                if sent.is_err() { return }
            }
        }
    }
}

async fn picture(
    api: &Api,
    to: &mut (impl SinkExt<Message, Error = axum::Error> + Unpin),
) -> Result<(), axum::Error> {
    let about = json!({"type": "frame_about", "css_width": 1280, "css_height": 800, "at": rfc3339(0), "tab": "A",
        "url": "http://127.0.0.1:3000/<script>document.title='ran'</script>", "title": "<img src=x onerror=\"document.title='ran'\">"});
    to.send(Message::text(about.to_string())).await?;
    to.send(Message::binary(api.0.picture.clone())).await
}
