//! For tests only: a site on loopback that serves pages and remembers every request.
//!
//! What a test claims is judged by what reached this server, not by what our own code says.

pub mod attacks;
pub mod command;
pub mod tasks;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderName, HeaderValue, Method, StatusCode, header};
use axum::response::Response;
use std::collections::HashMap;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// How one path answers.
#[derive(Clone, Debug)]
pub struct Page {
    status: u16,
    headers: Vec<(&'static str, String)>,
    body: String,
    never_ends: bool,
    never_answers: bool,
    after: Duration,
}

impl Page {
    /// An HTML document; `hit('key')` is defined in it and tells the server.
    pub fn html(body: &str) -> Self {
        Self::raw(
            "text/html; charset=utf-8",
            format!(
                "<!doctype html><meta charset=utf-8><script>function hit(k){{return fetch('/hit?'+k,{{method:'POST',keepalive:true}})}}</script>{body}"
            ),
        )
    }

    /// Any body with its type.
    pub fn raw(kind: &str, body: impl Into<String>) -> Self {
        Self {
            status: 200,
            headers: vec![("content-type", kind.to_owned())],
            body: body.into(),
            never_ends: false,
            never_answers: false,
            after: Duration::ZERO,
        }
    }

    /// A redirect.
    pub fn redirect(status: u16, to: &str) -> Self {
        let mut page = Self::raw("text/plain", "");
        page.status = status;
        page.headers.push(("location", to.to_owned()));
        page
    }

    /// A file that the browser saves instead of showing.
    pub fn download(name: &str, body: impl Into<String>) -> Self {
        let mut page = Self::raw("application/octet-stream", body);
        page.headers.push(("content-disposition", format!("attachment; filename=\"{name}\"")));
        page
    }

    /// The head and body come, the end never does.
    #[must_use]
    pub fn never_ending(mut self) -> Self {
        self.never_ends = true;
        self
    }

    /// Nothing ever comes.
    #[must_use]
    pub fn never_answering(mut self) -> Self {
        self.never_answers = true;
        self
    }

    /// The answer comes this much later.
    #[must_use]
    pub fn after(mut self, wait: Duration) -> Self {
        self.after = wait;
        self
    }

    /// Another status than 200.
    #[must_use]
    pub fn with_status(mut self, status: u16) -> Self {
        self.status = status;
        self
    }

    /// One more header.
    #[must_use]
    pub fn with_header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }
}

/// One request as it arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// `GET`, `POST`, …
    pub method: String,
    /// Path and query.
    pub path: String,
    /// The body as text.
    pub body: String,
    /// The `Host` header: which of several names was used.
    pub host: String,
}

/// A running site. It ends with this value.
#[derive(Debug)]
pub struct Site {
    address: SocketAddr,
    shared: Arc<Shared>,
    task: JoinHandle<()>,
}

#[derive(Debug)]
struct Shared {
    pages: Mutex<HashMap<String, Page>>,
    seen: Mutex<Vec<Seen>>,
    count: watch::Sender<usize>,
}

impl Drop for Site {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Site {
    /// Serves pages by path on a free port of 127.0.0.1. `localhost` names the same server as
    /// another site.
    ///
    /// # Errors
    ///
    /// Fails if no port can be had.
    pub async fn start<'a>(pages: impl IntoIterator<Item = (&'a str, Page)>) -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared {
            pages: Mutex::new(
                pages.into_iter().map(|(path, page)| (path.to_owned(), page)).collect(),
            ),
            seen: Mutex::default(),
            count: watch::Sender::new(0),
        });
        let router = Router::new().fallback(answer).with_state(shared.clone());
        let task = tokio::spawn(async move {
            // The task ends with the site; an error here shows as a refused connection.
            let _ = axum::serve(listener, router).await;
        });
        Ok(Self { address, shared, task })
    }

    /// The address of a path under `127.0.0.1`.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// The address of a path under `localhost`: another site with the same pages.
    pub fn other_url(&self, path: &str) -> String {
        format!("http://localhost:{}{path}", self.address.port())
    }

    /// The port.
    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// Adds or replaces a page.
    pub fn set(&self, path: &str, page: Page) {
        lock(&self.shared.pages).insert(path.to_owned(), page);
    }

    /// Every request so far.
    pub fn seen(&self) -> Vec<Seen> {
        lock(&self.shared.seen).clone()
    }

    /// How often `hit('key')` arrived.
    pub fn hits(&self, key: &str) -> usize {
        self.requests(&format!("/hit?{key}"))
    }

    /// How often a path with its query was asked for.
    pub fn requests(&self, path: &str) -> usize {
        lock(&self.shared.seen).iter().filter(|seen| seen.path == path).count()
    }

    /// Waits until `hit('key')` arrived; false if it did not within the limit.
    pub async fn wait_hit(&self, key: &str, limit: Duration) -> bool {
        self.wait_for(limit, |seen| seen.path == format!("/hit?{key}")).await
    }

    /// Waits until a request fits; false if none did within the limit.
    pub async fn wait_for(&self, limit: Duration, fits: impl Fn(&Seen) -> bool) -> bool {
        let mut count = self.shared.count.subscribe();
        let waited = tokio::time::timeout(limit, async {
            loop {
                count.mark_unchanged();
                if lock(&self.shared.seen).iter().any(&fits) {
                    return;
                }
                if count.changed().await.is_err() {
                    std::future::pending::<()>().await;
                }
            }
        });
        waited.await.is_ok()
    }
}

async fn answer(State(shared): State<Arc<Shared>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let body = axum::body::to_bytes(body, LARGEST_BODY).await.unwrap_or_default();
    let path = parts.uri.path_and_query().map_or("/", |p| p.as_str()).to_owned();
    let host = parts.headers.get(header::HOST).and_then(|h| h.to_str().ok()).unwrap_or_default();
    let seen = Seen {
        method: parts.method.to_string(),
        path: path.clone(),
        body: String::from_utf8_lossy(&body).into_owned(),
        host: host.to_owned(),
    };
    lock(&shared.seen).push(seen);
    shared.count.send_modify(|count| *count += 1);
    if parts.uri.path() == "/hit" || parts.method == Method::OPTIONS {
        return response(StatusCode::NO_CONTENT, &[], Body::empty());
    }
    let page = {
        let pages = lock(&shared.pages);
        pages.get(&path).or_else(|| pages.get(parts.uri.path())).cloned()
    };
    let Some(page) = page else {
        return response(StatusCode::NOT_FOUND, &[], Body::from("not found"));
    };
    if page.never_answers {
        std::future::pending::<()>().await;
    }
    if !page.after.is_zero() {
        tokio::time::sleep(page.after).await;
    }
    let status = StatusCode::from_u16(page.status).unwrap_or(StatusCode::OK);
    let body = if page.never_ends {
        Body::new(Unending(Some(Bytes::from(page.body))))
    } else {
        Body::from(page.body)
    };
    response(status, &page.headers, body)
}

/// No test sends more.
const LARGEST_BODY: usize = 16 * 1024 * 1024;

fn response(status: StatusCode, headers: &[(&'static str, String)], body: Body) -> Response {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    let map = response.headers_mut();
    map.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    map.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    for (name, value) in headers {
        if let Ok(value) = HeaderValue::from_str(value) {
            map.append(HeaderName::from_static(name), value);
        }
    }
    response
}

/// A body whose first piece comes and whose end does not.
struct Unending(Option<Bytes>);

impl axum::body::HttpBody for Unending {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: std::pin::Pin<&mut Self>,
        _: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Result<http_body::Frame<Bytes>, Self::Error>>> {
        match self.0.take() {
            Some(piece) => std::task::Poll::Ready(Some(Ok(http_body::Frame::data(piece)))),
            None => std::task::Poll::Pending,
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A test that panicked while holding it has failed already.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
