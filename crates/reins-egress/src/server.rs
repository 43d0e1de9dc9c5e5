//! The proxy itself: a port on loopback, and what becomes of each request.

use crate::error::EgressError;
use crate::forward::{Kept, Lost, onward, strip};
use crate::limits::{CONNECTIONS, HEADERS, REQUEST_HEAD, REQUEST_HEAD_BYTES, STOP};
use crate::meter::{Allowance, Metered};
use crate::network::Network;
use crate::policy::Policy;
use crate::refusal::Reason;
use crate::session::{OpenSession, Session, read_basic};
use crate::target::Target;
use crate::tunnel;
use crate::way::{self, Stop};
use bytes::Bytes;
use http_body_util::{BodyExt, Full, combinators::BoxBody};
use hyper::body::Incoming;
use hyper::header::{self, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use std::collections::HashMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

type Answer = Response<BoxBody<Bytes, Box<dyn std::error::Error + Send + Sync>>>;

/// The connection to the browser is closed without an answer, as the server's was.
#[derive(Debug, thiserror::Error)]
#[error("the server closed its connection")]
struct Closed;

/// A running proxy on loopback. It ends with this value or with [`Egress::stop`].
#[derive(Debug)]
pub struct Egress {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    address: SocketAddr,
    network: Network,
    sessions: Mutex<HashMap<String, Arc<Session>>>,
    numbers: AtomicU64,
    over: CancellationToken,
    tasks: TaskTracker,
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session").field("login", self.login()).finish_non_exhaustive()
    }
}

impl Egress {
    /// Opens a port on loopback and serves it.
    ///
    /// # Errors
    /// No port can be opened.
    pub async fn start(network: Network) -> Result<Self, EgressError> {
        let listener =
            TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.map_err(EgressError::Listen)?;
        let address = listener.local_addr().map_err(EgressError::Listen)?;
        let shared = Arc::new(Shared {
            address,
            network,
            sessions: Mutex::default(),
            numbers: AtomicU64::new(1),
            over: CancellationToken::new(),
            tasks: TaskTracker::new(),
        });
        shared.tasks.spawn(accept(shared.clone(), listener));
        Ok(Self { shared })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.shared.address
    }

    /// Opens a session with credentials of its own.
    ///
    /// # Errors
    /// The system gives no randomness.
    pub fn open(&self, policy: Policy, allowance: Allowance) -> Result<OpenSession, EgressError> {
        let shared = &self.shared;
        let number = shared.numbers.fetch_add(1, Ordering::Relaxed);
        let over = shared.over.child_token();
        let session = Session::new(number, policy, allowance, shared.network.clone(), over)?;
        let session = Arc::new(session);
        shared.sessions().insert(session.login().user.clone(), session.clone());
        let all = Arc::downgrade(shared);
        let forget = Box::new(move |user: &str| {
            if let Some(shared) = all.upgrade() {
                shared.sessions().remove(user);
            }
        });
        Ok(OpenSession { session, forget })
    }

    /// Cuts every connection and returns once they are gone. It waits for no server and no browser.
    pub async fn stop(self) {
        self.shared.over.cancel();
        self.shared.tasks.close();
        if timeout(STOP, self.shared.tasks.wait()).await.is_err() {
            tracing::warn!("connections of the proxy are still ending");
        }
    }
}

impl Drop for Egress {
    fn drop(&mut self) {
        self.shared.over.cancel();
    }
}

impl Shared {
    fn sessions(&self) -> MutexGuard<'_, HashMap<String, Arc<Session>>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn session(&self, request: &Request<Incoming>) -> Option<Arc<Session>> {
        let given = request.headers().get(header::PROXY_AUTHORIZATION)?.to_str().ok()?;
        let (user, password) = read_basic(given)?;
        let session = self.sessions().get(&user).cloned()?;
        session.is_logged_in(&user, password.expose()).then_some(session)
    }
}

async fn accept(shared: Arc<Shared>, listener: TcpListener) {
    let places = Arc::new(Semaphore::new(CONNECTIONS));
    loop {
        let place = tokio::select! {
            place = places.clone().acquire_owned() => place,
            () = shared.over.cancelled() => return,
        };
        let Ok(place) = place else { return };
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = shared.over.cancelled() => return,
        };
        match accepted {
            Ok((stream, _)) => {
                let client = Arc::new(Client { shared: shared.clone(), kept: Mutex::default() });
                shared.tasks.spawn(async move {
                    client.serve(stream).await;
                    drop(place);
                });
            }
            Err(error) => {
                tracing::warn!(%error, "a connection to the proxy was not accepted");
                // The system is out of files: the next attempt would fail at once.
                tokio::time::sleep(crate::limits::NEXT_ADDRESS).await;
            }
        }
    }
}

/// One connection of a browser.
struct Client {
    shared: Arc<Shared>,
    kept: Mutex<Option<Kept>>,
}

impl Client {
    async fn serve(self: Arc<Self>, stream: TcpStream) {
        drop(stream.set_nodelay(true));
        let over = self.shared.over.clone();
        let service = service_fn(move |request| {
            let client = self.clone();
            async move { client.answer(request).await }
        });
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(REQUEST_HEAD)
            .max_buf_size(REQUEST_HEAD_BYTES)
            .max_headers(HEADERS)
            .preserve_header_case(true)
            .serve_connection(TokioIo::new(stream), service)
            .with_upgrades();
        tokio::select! {
            ended = connection => if let Err(error) = ended {
                tracing::debug!(%error, "a connection of the browser ended");
            },
            () = over.cancelled() => {}
        }
    }

    async fn answer(&self, request: Request<Incoming>) -> Result<Answer, Closed> {
        let Some(session) = self.shared.session(&request) else {
            return Ok(who_are_you());
        };
        let ended = tokio::select! {
            ended = self.pass(&session, request) => ended,
            () = session.over.cancelled() => return Err(Closed),
        };
        Ok(match ended {
            Ok(answer) => answer,
            Err(Trouble::Closed) => return Err(Closed),
            Err(Trouble::Refused(host, reason)) => {
                session.refuse(&host, reason);
                say(StatusCode::FORBIDDEN, format!("Reins refused this request: {reason}.\n"))
            }
            Err(Trouble::Failed(status, why)) => say(status, format!("Reins: {why}.\n")),
        })
    }

    async fn pass(
        &self,
        session: &Arc<Session>,
        request: Request<Incoming>,
    ) -> Result<Answer, Trouble> {
        let asked = asked(&request);
        let refused = |reason| Trouble::Refused(asked.clone(), reason);
        let target = target(&request).map_err(refused)?;
        if session.is_spent() {
            return Err(refused(Reason::Bytes));
        }
        let place = session.places.clone().try_acquire_owned();
        let place = place.map_err(|_| refused(Reason::Busy))?;
        if request.method() == Method::CONNECT {
            let server = self.connect(session, &target).await?;
            session.pass();
            let session = session.clone();
            self.shared.tasks.spawn(async move {
                let _place = place;
                let upgraded = tokio::select! {
                    upgraded = hyper::upgrade::on(request) => upgraded,
                    () = session.over.cancelled() => return,
                };
                match upgraded {
                    Ok(browser) => {
                        if let Err(error) =
                            tunnel::run(&session, TokioIo::new(browser), server).await
                        {
                            tracing::debug!(%error, "a tunnel ended");
                        }
                    }
                    Err(error) => tracing::debug!(%error, "a tunnel was not begun"),
                }
            });
            return Ok(Response::new(nothing()));
        }
        let answer = self.forward(session, &target, request).await?;
        session.pass();
        let (mut head, body) = answer.into_parts();
        strip(&mut head.headers);
        let body = Metered::new(body, session.clone(), Some(place));
        Ok(Response::from_parts(head, body.boxed()))
    }

    async fn connect(&self, session: &Session, target: &Target) -> Result<TcpStream, Trouble> {
        way::connect(session, self.shared.address, target).await.map_err(|stop| match stop {
            Stop::Refused(reason) => Trouble::Refused(target.to_string(), reason),
            Stop::Unresolved => Trouble::bad(format!("{} has no address", target.host)),
            Stop::Unreachable(error) => Trouble::bad(format!("{target} does not answer ({error})")),
            Stop::Late => Trouble::Failed(
                StatusCode::GATEWAY_TIMEOUT,
                format!("{target} did not answer in time"),
            ),
        })
    }

    async fn forward(
        &self,
        session: &Arc<Session>,
        target: &Target,
        request: Request<Incoming>,
    ) -> Result<Response<Incoming>, Trouble> {
        let mut request = onward(request, target, session);
        let kept = self.kept().take();
        if let Some(kept) = kept
            && let Some(mut kept) = kept.ready(target, session).await
        {
            match kept.send(request).await {
                Ok(answer) => {
                    *self.kept() = Some(kept);
                    return Ok(answer);
                }
                Err(Lost::NotSent(back)) => request = *back,
                // A server may close a kept connection at any time. Whether the request is sent again is the
                // browser's to say, as without a proxy.
                Err(Lost::Broken(_)) => return Err(Trouble::Closed),
                Err(lost) => return Err(Trouble::lost(lost, target)),
            }
        }
        let stream = self.connect(session, target).await?;
        let over = session.over.clone();
        let mut kept = Kept::open(target, session, stream, over)
            .await
            .map_err(|error| Trouble::bad(format!("{target} does not answer ({error})")))?;
        let answer = kept.send(request).await.map_err(|lost| Trouble::lost(lost, target))?;
        *self.kept() = Some(kept);
        Ok(answer)
    }

    fn kept(&self) -> MutexGuard<'_, Option<Kept>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Why a request has no answer of its server.
enum Trouble {
    Refused(String, Reason),
    Failed(StatusCode, String),
    Closed,
}

impl Trouble {
    fn bad(why: String) -> Self {
        Trouble::Failed(StatusCode::BAD_GATEWAY, why)
    }

    fn lost(lost: Lost, target: &Target) -> Self {
        match lost {
            Lost::NotSent(_) => Self::bad(format!("{target} closed its connection")),
            Lost::Broken(error) => Self::bad(format!("{target} gave no answer ({error})")),
            Lost::NotHttp => Self::bad(format!("{target} answered like a proxy")),
            Lost::Late => Trouble::Failed(
                StatusCode::GATEWAY_TIMEOUT,
                format!("{target} did not answer in time"),
            ),
        }
    }
}

/// Host and port as they were asked for, for the list of refusals.
fn asked(request: &Request<Incoming>) -> String {
    request.uri().authority().map_or_else(|| request.uri().to_string(), ToString::to_string)
}

fn target(request: &Request<Incoming>) -> Result<Target, Reason> {
    let authority = request.uri().authority().ok_or(Reason::Unreadable)?.as_str();
    if request.method() == Method::CONNECT {
        return Target::parse(authority, None);
    }
    match request.uri().scheme_str() {
        Some("http") => Target::parse(authority, Some(80)),
        _ => Err(Reason::Scheme),
    }
}

fn who_are_you() -> Answer {
    let mut answer = say(
        StatusCode::PROXY_AUTHENTICATION_REQUIRED,
        "Reins: this proxy serves its own browsers only.\n".to_owned(),
    );
    let basic = HeaderValue::from_static("Basic realm=\"reins\"");
    answer.headers_mut().insert(header::PROXY_AUTHENTICATE, basic);
    answer
}

fn say(status: StatusCode, text: String) -> Answer {
    let body = Full::new(Bytes::from(text)).map_err(|never| match never {}).boxed();
    let mut answer = Response::new(body);
    *answer.status_mut() = status;
    let headers = answer.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    answer
}

fn nothing() -> BoxBody<Bytes, Box<dyn std::error::Error + Send + Sync>> {
    Full::new(Bytes::new()).map_err(|never| match never {}).boxed()
}
