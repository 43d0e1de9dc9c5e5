//! HTTP, as far as providers need it: no redirects, no proxy unless told, keys never printed.

use crate::error::TransportError;
use crate::limits;
use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use futures_util::stream::BoxStream;
use reins_core::Secret;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use std::sync::Arc;
use url::Url;

/// Installs the process's TLS provider. Call it once, first thing in `main`; again does nothing.
pub fn install_crypto() {
    // An error only says that one is installed already.
    let _ = rustls::crypto::ring::default_provider().install_default();
}

/// Connections to providers, shared by all clients.
#[derive(Clone)]
pub struct Http(pub(crate) Arc<dyn Transport>);

impl std::fmt::Debug for Http {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Http")
    }
}

impl Http {
    /// Connections as the person configured them. The environment's proxy variables are not read:
    /// a key goes through a proxy only if the person says so here.
    pub fn new(proxy: Option<&Url>) -> Result<Self, TransportError> {
        install_crypto();
        let mut builder = reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .connect_timeout(limits::CONNECT)
            .user_agent(concat!("reins/", env!("CARGO_PKG_VERSION")))
            .no_proxy();
        if let Some(proxy) = proxy {
            let proxy = reqwest::Proxy::all(proxy.as_str()).map_err(broken)?;
            builder = builder.proxy(proxy);
        }
        let client = builder.build().map_err(broken)?;
        Ok(Self(Arc::new(Reqwest { client })))
    }
}

/// A request.
pub(crate) struct HttpRequest {
    /// Where to.
    pub(crate) url: Url,
    /// Header names and values that may be seen.
    pub(crate) headers: Vec<(&'static str, String)>,
    /// The header that carries the key.
    pub(crate) key: Option<(&'static str, Secret<String>)>,
    /// A JSON body makes it a POST.
    pub(crate) body: Option<Bytes>,
}

/// An answer whose body is still coming.
pub(crate) struct HttpAnswer {
    /// The status.
    pub(crate) status: u16,
    /// The headers.
    pub(crate) headers: HeaderMap,
    /// The body. Dropping it ends the request.
    pub(crate) body: BoxStream<'static, Result<Bytes, TransportError>>,
}

impl HttpAnswer {
    /// A header as text.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// The body up to a limit; `None` if there is more.
    pub(crate) async fn read(mut self, limit: usize) -> Result<Option<Vec<u8>>, TransportError> {
        let mut all = Vec::new();
        while let Some(piece) = self.body.next().await {
            all.extend_from_slice(&piece?);
            if all.len() > limit {
                return Ok(None);
            }
        }
        Ok(Some(all))
    }
}

/// What carries requests; tests put a scripted one in its place.
pub(crate) trait Transport: Send + Sync {
    /// Sends a request and waits for the answer's head.
    fn send(&self, request: HttpRequest) -> BoxFuture<'_, Result<HttpAnswer, TransportError>>;
}

struct Reqwest {
    client: reqwest::Client,
}

impl Transport for Reqwest {
    fn send(&self, request: HttpRequest) -> BoxFuture<'_, Result<HttpAnswer, TransportError>> {
        Box::pin(async move {
            let mut headers = HeaderMap::new();
            for (name, value) in &request.headers {
                let value = HeaderValue::from_str(value).map_err(broken)?;
                headers.insert(HeaderName::from_static(name), value);
            }
            if let Some((name, value)) = &request.key {
                let mut value = HeaderValue::from_str(value.expose()).map_err(broken)?;
                value.set_sensitive(true);
                headers.insert(HeaderName::from_static(name), value);
            }
            let builder = match request.body {
                Some(body) => {
                    headers.insert("content-type", HeaderValue::from_static("application/json"));
                    self.client.post(request.url).body(body)
                }
                None => self.client.get(request.url),
            };
            let answer = builder.headers(headers).send().await.map_err(|error| {
                if error.is_connect() {
                    TransportError::Connect(error.without_url().into())
                } else {
                    broken(error.without_url())
                }
            })?;
            Ok(HttpAnswer {
                status: answer.status().as_u16(),
                headers: answer.headers().clone(),
                body: answer
                    .bytes_stream()
                    .map(|piece| piece.map_err(|error| broken(error.without_url())))
                    .boxed(),
            })
        })
    }
}

fn broken(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> TransportError {
    TransportError::Broken(error.into())
}
