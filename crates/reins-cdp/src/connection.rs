//! Connections and sessions: what the rest of Reins holds.

use crate::error::{CallError, CloseReason, ConnectError, NotSentCause};
use crate::events::{Events, Queue};
use crate::message::Reply;
use crate::pending::{Pending, RawPending};
use crate::router::{Handle, Router, SessionKey};
use crate::wire::Command;
use crate::{pipe, websocket};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::future::poll_fn;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::Instant;

/// A connection to one browser. Clones share it; it closes when the last clone and everything made
/// from it (sessions, subscriptions, pending calls) is gone, or by [`Connection::close`].
#[derive(Clone)]
pub struct Connection {
    handle: Arc<Handle>,
}

impl Connection {
    /// Speaks over a pair of byte streams, one NUL after each message: Chromium's
    /// `--remote-debugging-pipe`. Must be called within a tokio runtime.
    pub fn pipe(
        reader: impl AsyncRead + Send + Unpin + 'static,
        writer: impl AsyncWrite + Send + Unpin + 'static,
    ) -> Self {
        let router = Router::new();
        tokio::spawn(pipe::read(router.clone(), reader));
        tokio::spawn(pipe::write(router.clone(), writer));
        Self { handle: Arc::new(Handle { router }) }
    }

    /// Speaks over a WebSocket at a `ws://` address.
    ///
    /// # Errors
    /// Nothing answers there, or not within the deadline.
    pub async fn websocket(url: &str, deadline: Duration) -> Result<Self, ConnectError> {
        let stream = websocket::open(url, deadline).await?;
        let router = Router::new();
        websocket::run(&router, stream);
        Ok(Self { handle: Arc::new(Handle { router }) })
    }

    /// The browser's own session.
    pub fn root(&self) -> Session {
        Session { handle: self.handle.clone(), key: None }
    }

    /// A session that `Target.attachedToTarget` has announced. One that was not announced, or is
    /// detached by now, refuses every call as `NotSent`.
    pub fn session(&self, id: &str) -> Session {
        Session { handle: self.handle.clone(), key: Some(Arc::from(id)) }
    }

    /// Waits until the connection has ended.
    pub async fn closed(&self) -> CloseReason {
        self.handle.router.closed().await
    }

    /// Why the connection ended, or `None` while it is open.
    pub fn close_reason(&self) -> Option<CloseReason> {
        self.handle.router.close_reason()
    }

    /// Whether the connection has ended.
    pub fn is_closed(&self) -> bool {
        self.close_reason().is_some()
    }

    /// Closes it now. Calls under way end as `Lost`, queued ones as `NotSent`, subscriptions end.
    pub fn close(&self) {
        self.handle.router.close(CloseReason::Closed);
    }

    /// What the connection holds now. For tests that nothing is left behind.
    #[cfg(feature = "testing")]
    pub fn footprint(&self) -> crate::testing::Footprint {
        self.handle.router.footprint()
    }
}

/// One flat session: the browser, or one attached tab, frame or worker. Cheap to clone.
#[derive(Clone)]
pub struct Session {
    handle: Arc<Handle>,
    key: SessionKey,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Envelope<'a, P> {
    id: u64,
    method: &'a str,
    params: P,
    #[serde(skip_serializing_if = "Option::is_none")]
    session_id: Option<&'a str>,
}

/// Far enough that no deadline is meant by it, near enough for a clock to hold.
const NO_DEADLINE: Duration = Duration::from_secs(365 * 24 * 3600);

impl Session {
    /// The protocol's id of the session. `None` is the browser itself.
    pub fn id(&self) -> Option<&str> {
        self.key.as_deref()
    }

    /// Whether the session is attached and the connection open.
    pub fn is_attached(&self) -> bool {
        self.handle.router.is_attached(&self.key)
    }

    /// The connection it belongs to.
    pub fn connection(&self) -> Connection {
        Connection { handle: self.handle.clone() }
    }

    /// Sends a command and waits for its answer. Use [`crate::Ignored`] for `R` where the answer
    /// says nothing. Parameters are a map or a struct, or `()` for none. Dropping the future
    /// takes the command back if it was not written yet.
    ///
    /// # Errors
    /// See [`CallError`].
    pub async fn call<R: DeserializeOwned>(
        &self,
        method: &'static str,
        params: impl Serialize,
        deadline: Duration,
    ) -> Result<R, CallError> {
        self.call_raw(method, params, deadline).await?.parse()
    }

    /// As [`Session::call`], with the answer unparsed.
    ///
    /// # Errors
    /// See [`CallError`].
    pub async fn call_raw(
        &self,
        method: &'static str,
        params: impl Serialize,
        deadline: Duration,
    ) -> Result<Reply, CallError> {
        let mut pending = self.queue(method, params, deadline).withdraw_on_drop();
        poll_fn(|cx| pending.poll_reply(cx)).await
    }

    /// Queues a command at once, behind those queued before it, and waits for the answer later or
    /// never. Several in a row leave in one write.
    pub fn send<R: DeserializeOwned>(
        &self,
        method: &'static str,
        params: impl Serialize,
        deadline: Duration,
    ) -> Pending<R> {
        Pending::new(self.queue(method, params, deadline))
    }

    /// As [`Session::call`], for a command that [`protocol!`](crate::protocol!) declared.
    ///
    /// # Errors
    /// See [`CallError`].
    pub async fn run<C: Command>(
        &self,
        command: C,
        deadline: Duration,
    ) -> Result<C::Answer, CallError> {
        self.call(C::METHOD, command, deadline).await
    }

    /// As [`Session::send`], for a command that [`protocol!`](crate::protocol!) declared.
    pub fn post<C: Command>(&self, command: C, deadline: Duration) -> Pending<C::Answer> {
        self.send(C::METHOD, command, deadline)
    }

    fn queue(
        &self,
        method: &'static str,
        params: impl Serialize,
        deadline: Duration,
    ) -> RawPending {
        let deadline = Instant::now() + deadline.min(NO_DEADLINE);
        let queued = self.handle.router.enqueue(self.key.clone(), deadline, |id| {
            let session_id = self.key.as_deref();
            serde_json::to_string(&Envelope { id, method, params: Params(params), session_id })
                .map_err(|e| NotSentCause::Encode(format!("{:?} error", e.classify())))
        });
        RawPending::new(method, self.handle.clone(), deadline, queued)
    }

    /// The session's events of these methods (none named: all of them), from now on.
    pub fn events(&self, methods: &'static [&'static str]) -> Events {
        self.subscribe(methods, false)
    }

    /// As [`Session::events`], and those of every session attached below it from now on (frames in
    /// other processes, workers), in one queue and in wire order. Nothing that such a session
    /// says first is missed.
    pub fn tree_events(&self, methods: &'static [&'static str]) -> Events {
        self.subscribe(methods, true)
    }

    fn subscribe(&self, methods: &'static [&'static str], tree: bool) -> Events {
        let queue = Arc::new(Queue::new(methods));
        self.handle.router.subscribe_as(&self.key, &queue, true, tree);
        Events { queue, handle: self.handle.clone() }
    }

    pub(crate) fn key(&self) -> &SessionKey {
        &self.key
    }
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Session({})", self.id().unwrap_or("browser"))
    }
}

impl std::fmt::Debug for Connection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Connection({:?})", self.close_reason())
    }
}

/// Chromium wants an object where parameters are named, and `()` is null in JSON.
struct Params<P>(P);

impl<P: Serialize> Serialize for Params<P> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if std::mem::size_of::<P>() == 0 {
            return serializer.collect_map(std::iter::empty::<((), ())>());
        }
        self.0.serialize(serializer)
    }
}
