//! Plain http: the request is sent on over a connection that was judged, without what is meant for the proxy.

use crate::limits::{ANSWER_HEAD, ANSWER_HEAD_BYTES, HEADERS, READY};
use crate::meter::Metered;
use crate::session::Session;
use crate::target::Target;
use hyper::body::Incoming;
use hyper::client::conn::http1::{Builder, SendRequest};
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use hyper::http::uri::PathAndQuery;
use hyper::{Request, Response, StatusCode, Uri};
use hyper_util::rt::TokioIo;
use std::sync::Arc;
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

type Sender = SendRequest<Metered<Incoming>>;

/// A server's connection that may be used again by the same connection of the browser.
pub(crate) struct Kept {
    target: Target,
    /// Whose it is: two sessions never share one.
    user: String,
    sender: Sender,
}

/// How a request that was sent on ended without an answer.
pub(crate) enum Lost {
    /// Nothing of it was sent: it can be sent on a new connection.
    NotSent(Box<Request<Metered<Incoming>>>),
    /// It may have arrived.
    Broken(hyper::Error),
    /// No answer began in time.
    Late,
    /// The answer is none that may be passed on.
    NotHttp,
}

impl Kept {
    /// The kept connection, if it leads where this request goes and is ready.
    pub(crate) async fn ready(self, target: &Target, session: &Session) -> Option<Self> {
        let mut kept = self;
        if kept.target != *target || kept.user != session.login().user || kept.sender.is_closed() {
            return None;
        }
        match timeout(READY, kept.sender.ready()).await {
            Ok(Ok(())) => Some(kept),
            Ok(Err(_)) | Err(_) => None,
        }
    }

    /// Speaks http over a new connection.
    pub(crate) async fn open(
        target: &Target,
        session: &Session,
        stream: TcpStream,
        over: CancellationToken,
    ) -> hyper::Result<Self> {
        let (sender, connection) = Builder::new()
            .max_buf_size(ANSWER_HEAD_BYTES)
            .max_headers(HEADERS)
            .preserve_header_case(true)
            .handshake(TokioIo::new(stream))
            .await?;
        tokio::spawn(async move {
            tokio::select! {
                ended = connection => if let Err(error) = ended {
                    tracing::debug!(%error, "a server's connection ended");
                },
                () = over.cancelled() => {}
            }
        });
        Ok(Self { target: target.clone(), user: session.login().user.clone(), sender })
    }

    pub(crate) async fn send(
        &mut self,
        request: Request<Metered<Incoming>>,
    ) -> Result<Response<Incoming>, Lost> {
        let answer = match timeout(ANSWER_HEAD, self.sender.try_send_request(request)).await {
            Err(_) => return Err(Lost::Late),
            Ok(Ok(answer)) => answer,
            Ok(Err(mut error)) => {
                return Err(match error.take_message() {
                    Some(request) => Lost::NotSent(Box::new(request)),
                    None => Lost::Broken(error.into_error()),
                });
            }
        };
        // An answer in the proxy's own name would make the browser give it the session's password, and a tunnel was
        // not asked for.
        let own = [StatusCode::PROXY_AUTHENTICATION_REQUIRED, StatusCode::SWITCHING_PROTOCOLS];
        if own.contains(&answer.status()) { Err(Lost::NotHttp) } else { Ok(answer) }
    }
}

/// The request as the server gets it: its own path, its own host, nothing of the proxy's.
pub(crate) fn onward(
    request: Request<Incoming>,
    target: &Target,
    session: &Arc<Session>,
) -> Request<Metered<Incoming>> {
    let (mut head, body) = request.into_parts();
    let path = head.uri.path_and_query().cloned();
    head.uri = Uri::from(path.unwrap_or_else(|| PathAndQuery::from_static("/")));
    head.version = hyper::Version::HTTP_11;
    strip(&mut head.headers);
    // Whatever the request says its host is: the one that was judged (RFC 9112, 3.2.2).
    let host = match (target.port, target.rooted) {
        (80, false) => target.host.to_string(),
        (80, true) => format!("{}.", target.host),
        (port, false) => format!("{}:{port}", target.host),
        (port, true) => format!("{}.:{port}", target.host),
    };
    if let Ok(host) = HeaderValue::from_str(&host) {
        head.headers.insert(header::HOST, host);
    }
    Request::from_parts(head, Metered::new(body, session.clone(), None))
}

/// What is meant for the next hop only (RFC 9110, 7.6.1), and for proxies.
const HOPS: &[HeaderName] = &[
    header::CONNECTION,
    header::PROXY_AUTHORIZATION,
    header::PROXY_AUTHENTICATE,
    header::TE,
    header::TRAILER,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
];

const HOP_NAMES: &[&str] = &["keep-alive", "proxy-connection", "proxy-authentication-info"];

pub(crate) fn strip(headers: &mut HeaderMap) {
    let named: Vec<HeaderName> = headers
        .get_all(header::CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|name| name.trim().parse().ok())
        // Its length frames a message; nobody may have it taken away.
        .filter(|name| *name != header::CONTENT_LENGTH && *name != header::HOST)
        .collect();
    for name in HOPS.iter().chain(&named) {
        headers.remove(name);
    }
    for name in HOP_NAMES {
        headers.remove(*name);
    }
}
