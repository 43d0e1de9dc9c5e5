//! The tools of one browser session over streamable HTTP (S-142, S-145, S-X10).
//!
//! Whoever serves HTTP mounts one [`HttpDoor`] for each session and hands it the requests of that
//! session's address. The door checks who asks before it reads a body; the calls themselves, and
//! what is recorded of them, belong to the [`SessionCalls`] it is given.

mod limits;
mod refuse;
mod session;

pub use limits::HttpLimits;

use crate::calls::SessionCalls;
use crate::listing::ToolChoice;
use crate::offer::Names;
use bytes::Bytes;
use futures_util::future::BoxFuture;
use http::{HeaderMap, Method, Request, Response, StatusCode, Uri, header};
use http_body::Body;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use reins_core::Secret;
use rmcp::transport::streamable_http_server::session::local::{LocalSessionManager, SessionConfig};
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use serde::Deserialize;
use session::{SessionServer, Shared};
use std::convert::Infallible;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

/// The body of an answer.
pub type HttpBody = BoxBody<Bytes, Infallible>;

/// Says whether a bearer token may use this session. It must compare in constant time.
pub type Bearer = dyn Fn(&Secret<String>) -> bool + Send + Sync;

/// Who gets in. A request that carries an `Origin` never does (S-145).
pub enum HttpAccess {
    /// Whoever shows the right token to the right host.
    Own {
        /// Asked at every request.
        bearer: Arc<Bearer>,
        /// The `Host` values that are this service, such as `127.0.0.1:7080`.
        hosts: Vec<String>,
    },
    /// Whoever is handed over: host and token were checked by who serves HTTP.
    Checked,
}

/// How one session's door is made.
pub struct HttpOptions {
    /// Makes the calls, and says which tools there are.
    pub calls: Arc<dyn SessionCalls>,
    /// Which of them are listed.
    pub tools: ToolChoice,
    /// Under which names.
    pub names: Names,
    /// Who gets in.
    pub access: HttpAccess,
    /// The product's version, as shown to clients.
    pub version: String,
    /// Bounds; [`HttpLimits::default`] holds the documented ones.
    pub limits: HttpLimits,
}

/// One session's MCP endpoint. Cheap to clone; all clones are one.
#[derive(Clone)]
pub struct HttpDoor {
    inner: Arc<Inner>,
}

struct Inner {
    access: HttpAccess,
    limits: HttpLimits,
    sessions: Arc<LocalSessionManager>,
    /// Handshakes come one after the other, so that the number of sessions is exact.
    handshakes: Semaphore,
    service: StreamableHttpService<SessionServer, LocalSessionManager>,
    closed: CancellationToken,
}

impl std::fmt::Debug for HttpDoor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HttpDoor").field("limits", &self.inner.limits).finish_non_exhaustive()
    }
}

impl HttpDoor {
    /// Opens the door.
    pub fn new(options: HttpOptions) -> Self {
        let HttpOptions { calls, tools, names, access, version, limits } = options;
        let closed = CancellationToken::new();
        let mut sessions = LocalSessionManager::default();
        let mut timing = SessionConfig::default();
        timing.keep_alive = Some(limits.idle);
        sessions.session_config = timing;
        let sessions = Arc::new(sessions);
        let shared = Arc::new(Shared::new(calls, tools, names, version, limits, closed.clone()));
        // Host, Origin and body are checked here, before anything is parsed.
        let config = StreamableHttpServerConfig::default()
            .disable_allowed_hosts()
            .with_max_request_body_bytes(limits.body_bytes)
            .with_cancellation_token(closed.clone());
        let service = StreamableHttpService::new(
            move || Ok(SessionServer::new(shared.clone())),
            sessions.clone(),
            config,
        );
        let handshakes = Semaphore::new(1);
        let inner = Inner { access, limits, sessions, handshakes, service, closed };
        Self { inner: Arc::new(inner) }
    }

    /// Answers one request. Whatever its path says, it means this session.
    pub async fn handle<B>(&self, request: Request<B>) -> Response<HttpBody>
    where
        B: Body<Data = Bytes> + Send + 'static,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let inner = &self.inner;
        if let Some(refused) = inner.refusal(request.uri(), request.headers(), request.method()) {
            return refused;
        }
        tokio::select! {
            answer = tokio::time::timeout(inner.limits.request, inner.pass_on(request)) => {
                answer.unwrap_or_else(|_| refuse::too_slow(inner.limits.request))
            }
            () = inner.closed.cancelled() => refuse::closed(),
        }
    }

    /// How many protocol sessions are open.
    pub async fn sessions(&self) -> usize {
        self.inner.sessions.sessions.read().await.len()
    }

    /// Ends every protocol session and answers nothing more. Calls under way are cancelled.
    pub fn close(&self) {
        self.inner.closed.cancel();
    }
}

impl Inner {
    /// Host, Origin and token, in this order: a page's request is refused whatever it knows.
    fn refusal(
        &self,
        uri: &Uri,
        headers: &HeaderMap,
        method: &Method,
    ) -> Option<Response<HttpBody>> {
        if let HttpAccess::Own { hosts, .. } = &self.access {
            let host = match headers.get(header::HOST) {
                Some(host) => host.to_str().ok(),
                None => uri.authority().map(|authority| authority.as_str()),
            };
            let own =
                host.is_some_and(|host| hosts.iter().any(|own| own.eq_ignore_ascii_case(host)));
            if !own || headers.get_all(header::HOST).iter().count() > 1 {
                return Some(refuse::wrong_host());
            }
        }
        if headers.contains_key(header::ORIGIN) {
            return Some(refuse::from_a_page());
        }
        if let HttpAccess::Own { bearer, .. } = &self.access {
            let mut given = headers.get_all(header::AUTHORIZATION).iter();
            let token = match (given.next(), given.next()) {
                (Some(one), None) => one.to_str().ok().and_then(token_of),
                _ => None,
            };
            if !token.is_some_and(|token| bearer(&token)) {
                return Some(refuse::no_token());
            }
        }
        if self.closed.is_cancelled() {
            return Some(refuse::closed());
        }
        if ![Method::GET, Method::POST, Method::DELETE].contains(method) {
            return Some(refuse::method());
        }
        None
    }

    async fn pass_on<B>(&self, request: Request<B>) -> Response<HttpBody>
    where
        B: Body<Data = Bytes> + Send + 'static,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let (parts, body) = request.into_parts();
        let body = match Limited::new(body, self.limits.body_bytes).collect().await {
            Ok(body) => body.to_bytes(),
            Err(error) if error.is::<LengthLimitError>() => {
                return refuse::too_large(self.limits.body_bytes);
            }
            Err(error) => {
                tracing::debug!(%error, "a request broke off");
                return refuse::broken();
            }
        };
        let begins = parts.method == Method::POST && begins_a_session(&body);
        let request = Request::from_parts(parts, Full::new(body));
        if !begins {
            return self.service.handle(request).await;
        }
        let Ok(_one) = self.handshakes.acquire().await else {
            return refuse::closed();
        };
        if self.sessions.sessions.read().await.len() >= self.limits.sessions {
            return refuse::too_many(self.limits.sessions);
        }
        self.service.handle(request).await
    }
}

/// The token of an `Authorization` header.
fn token_of(header: &str) -> Option<Secret<String>> {
    let (scheme, token) = header.split_once(' ')?;
    let token = token.trim();
    (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty())
        .then(|| Secret::new(token.to_owned()))
}

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow)]
    method: Option<std::borrow::Cow<'a, str>>,
}

/// Whether a message is the handshake that opens a protocol session.
fn begins_a_session(body: &[u8]) -> bool {
    serde_json::from_slice::<Envelope<'_>>(body)
        .is_ok_and(|message| message.method.as_deref() == Some("initialize"))
}

impl<B> tower_service::Service<Request<B>> for HttpDoor
where
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    type Response = Response<HttpBody>;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let door = self.clone();
        Box::pin(async move { Ok(door.handle(request).await) })
    }
}

/// An answer that never depends on the request's content.
fn answer(status: StatusCode, body: String) -> Response<HttpBody> {
    let mut response = Response::new(Full::new(Bytes::from(body)).boxed());
    *response.status_mut() = status;
    response
        .headers_mut()
        .insert(header::CONTENT_TYPE, header::HeaderValue::from_static("application/json"));
    response
}
