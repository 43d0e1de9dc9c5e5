//! MCP on stdin and stdout for a browser of a running daemon: `reins mcp --session`.
//!
//! Each message goes to the session's endpoint as it is; what comes back is written as lines. Nothing is
//! read into them but the protocol session and version that HTTP needs as headers.

use crate::error::ServeError;
use futures_util::StreamExt;
use reins_core::Secret;
use serde_json::{Value, json};
use sse_stream::SseStream;
use std::path::PathBuf;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

/// Longer than any call takes at the endpoint, so that its own answer comes first (S-X10).
const ANSWER: Duration = Duration::from_secs(150);

/// Answers that wait to be written.
const QUEUE: usize = 64;

/// Where the daemon is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerAddress {
    /// The owner's socket: who can open it needs no token.
    Socket(PathBuf),
    /// `http://127.0.0.1:PORT`, or another address that someone put in front of it.
    Http(String),
}

/// What the endpoint needs to know of the conversation.
#[derive(Debug, Default)]
struct Conversation {
    session: Option<String>,
    version: Option<String>,
}

#[derive(Debug, Clone)]
struct Endpoint {
    client: reqwest::Client,
    url: String,
    token: Option<Secret<String>>,
    conversation: Arc<Mutex<Conversation>>,
}

/// Why a message has no answer of the endpoint's own, for the client's reader.
struct Unanswered(String);

/// Hands messages over until stdin ends.
///
/// # Errors
///
/// Fails if the address is none, or stdin or stdout break. What the daemon refuses is answered to the
/// client, call by call.
pub async fn mcp_shim(
    server: &ServerAddress,
    token: Option<Secret<String>>,
    sandbox: &str,
    stdin: impl AsyncRead + Unpin,
    stdout: impl AsyncWrite + Unpin + Send + 'static,
) -> Result<(), ServeError> {
    // An error only says that one is installed already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let failed = |error: reqwest::Error| ServeError::Internal(format!("no HTTP client: {error}"));
    let client = reqwest::Client::builder().no_proxy().redirect(reqwest::redirect::Policy::none());
    let (client, base) = match server {
        ServerAddress::Socket(path) => {
            (client.unix_socket(path.clone()).build().map_err(failed)?, "http://reins".to_owned())
        }
        ServerAddress::Http(url) => {
            (client.build().map_err(failed)?, url.trim_end_matches('/').to_owned())
        }
    };
    let mut url = reqwest::Url::parse(&base)
        .map_err(|error| ServeError::Bad(format!("{base} is no address ({error})")))?;
    url.path_segments_mut()
        .map_err(|()| ServeError::Bad(format!("{base} is no address")))?
        .extend(["v1", "sandboxes", sandbox, "mcp"]);
    let endpoint = Endpoint { client, url: url.into(), token, conversation: Arc::default() };
    let (out, lines) = mpsc::channel(QUEUE);
    let writing = tokio::spawn(write(stdout, lines));
    let mut calls = JoinSet::new();
    let mut messages = BufReader::new(stdin).lines();
    while let Some(line) = messages.next_line().await.map_err(broken)? {
        if line.trim().is_empty() {
            continue;
        }
        let shakes_hands = is(&line, "initialize");
        let (endpoint, out) = (endpoint.clone(), out.clone());
        let call = async move { endpoint.pass_on(line, &out).await };
        if shakes_hands {
            // What follows needs the session that this one opens.
            call.await;
        } else {
            calls.spawn(call);
        }
        while calls.try_join_next().is_some() {}
    }
    // The client is gone: so are its calls.
    calls.shutdown().await;
    endpoint.end().await;
    drop(out);
    match writing.await {
        Ok(done) => done.map_err(broken),
        Err(_) => Ok(()),
    }
}

fn broken(error: std::io::Error) -> ServeError {
    ServeError::Internal(format!("stdin or stdout broke: {error}"))
}

async fn write(
    mut stdout: impl AsyncWrite + Unpin,
    mut lines: mpsc::Receiver<String>,
) -> std::io::Result<()> {
    while let Some(line) = lines.recv().await {
        stdout.write_all(line.as_bytes()).await?;
        stdout.write_all(b"\n").await?;
        stdout.flush().await?;
    }
    Ok(())
}

fn is(line: &str, method: &str) -> bool {
    serde_json::from_str::<Value>(line)
        .is_ok_and(|message| message.get("method").and_then(Value::as_str) == Some(method))
}

impl Endpoint {
    fn request(&self, method: reqwest::Method) -> reqwest::RequestBuilder {
        let mut request = self
            .client
            .request(method, &self.url)
            .header("accept", "application/json, text/event-stream")
            .timeout(ANSWER);
        if let Some(token) = &self.token {
            request = request.bearer_auth(token.expose());
        }
        let conversation = self.conversation.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(session) = &conversation.session {
            request = request.header("mcp-session-id", session);
        }
        if let Some(version) = &conversation.version {
            request = request.header("mcp-protocol-version", version);
        }
        request
    }

    /// One message there, and all that comes back for it.
    async fn pass_on(&self, line: String, out: &mpsc::Sender<String>) {
        let id = serde_json::from_str::<Value>(&line).ok().and_then(|m| m.get("id").cloned());
        let asked = self
            .request(reqwest::Method::POST)
            .header("content-type", "application/json")
            .body(line)
            .send()
            .await;
        let told = match asked {
            Ok(answer) => self.take(answer, out).await,
            Err(error) => Err(Unanswered(format!(
                "the daemon could not be reached ({error}); check that `reins serve` runs, and --server"
            ))),
        };
        if let (Err(Unanswered(why)), Some(id)) = (told, id) {
            let error =
                json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32000, "message": why}});
            // A reader that is gone needs no answer.
            let _ = out.send(error.to_string()).await;
        }
    }

    async fn take(
        &self,
        answer: reqwest::Response,
        out: &mpsc::Sender<String>,
    ) -> Result<(), Unanswered> {
        let status = answer.status();
        if !status.is_success() {
            let body = answer.text().await.unwrap_or_default();
            let said = serde_json::from_str::<Value>(&body).ok();
            let message = said.as_ref().and_then(|body| body["error"]["message"].as_str());
            return Err(Unanswered(match message {
                Some(message) => message.to_owned(),
                None => format!("the daemon answered {status}"),
            }));
        }
        if let Some(session) = answer.headers().get("mcp-session-id").and_then(|v| v.to_str().ok())
        {
            self.conversation.lock().unwrap_or_else(PoisonError::into_inner).session =
                Some(session.to_owned());
        }
        let streams = answer
            .headers()
            .get("content-type")
            .and_then(|kind| kind.to_str().ok())
            .is_some_and(|kind| kind.starts_with("text/event-stream"));
        if !streams {
            let body = answer.text().await.map_err(|error| Unanswered(error.to_string()))?;
            if !body.trim().is_empty() {
                self.hand_back(&body, out).await;
            }
            return Ok(());
        }
        let mut events = pin!(SseStream::from_bytes_stream(answer.bytes_stream()));
        while let Some(event) = events.next().await {
            let event =
                event.map_err(|error| Unanswered(format!("the answer broke off ({error})")))?;
            if let Some(data) = event.data.filter(|data| !data.trim().is_empty()) {
                self.hand_back(&data, out).await;
            }
        }
        Ok(())
    }

    /// Writes one message on one line, noting the version that was agreed on.
    async fn hand_back(&self, text: &str, out: &mpsc::Sender<String>) {
        let Ok(message) = serde_json::from_str::<Value>(text) else { return };
        if let Some(version) = message["result"]["protocolVersion"].as_str() {
            self.conversation.lock().unwrap_or_else(PoisonError::into_inner).version =
                Some(version.to_owned());
        }
        // A reader that is gone needs no answer.
        let _ = out.send(message.to_string()).await;
    }

    /// Says that the conversation is over, so that its place is free for the next client.
    async fn end(&self) {
        let open = {
            let conversation = self.conversation.lock().unwrap_or_else(PoisonError::into_inner);
            conversation.session.is_some()
        };
        if open && let Err(error) = self.request(reqwest::Method::DELETE).send().await {
            tracing::debug!(%error, "the session at the daemon ends by itself");
        }
    }
}
