//! For tests: the browser's end of a connection in memory, a real browser on a debugging port, and
//! the check of protocol names.
//!
//! ```
//! # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
//! let (connection, mut peer) = reins_cdp::testing::pair();
//! let root = connection.root();
//! let asked = root.send::<serde_json::Value>("Browser.getVersion", (), std::time::Duration::from_secs(1));
//! let request = peer.request().await.unwrap();
//! assert_eq!(request.method, "Browser.getVersion");
//! peer.answer(&request, serde_json::json!({"product": "Test"})).await;
//! assert_eq!(asked.await.unwrap()["product"], "Test");
//! # });
//! ```

mod browser;
mod names;

pub use browser::{Chromium, chrome};
pub use names::{check, is_known, named_in};

use crate::Connection;
use crate::framing::{Frame, Frames};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex, split};

/// What a connection holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Footprint {
    /// Calls whose answer is awaited.
    pub calls: usize,
    /// Commands that wait to be written.
    pub queued: usize,
    /// Their size in bytes.
    pub queued_bytes: usize,
    /// Attached sessions.
    pub sessions: usize,
    /// Subscriptions, counted once for each session they cover.
    pub subscriptions: usize,
}

/// A command as the browser sees it.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Request {
    /// The number the answer must carry.
    pub id: u64,
    /// The protocol method.
    pub method: String,
    /// The session it is for. `None` is the browser.
    pub session_id: Option<String>,
    /// The parameters; always an object.
    pub params: Value,
}

/// The browser's end.
pub struct Peer {
    stream: DuplexStream,
    frames: Frames,
}

/// Room in each direction before a write waits, as in a Linux pipe.
const PIPE_BYTES: usize = 64 * 1024;

/// A connection and its other end.
pub fn pair() -> (Connection, Peer) {
    pair_with(PIPE_BYTES)
}

/// The same, where a write waits once `capacity` bytes are unread.
pub fn pair_with(capacity: usize) -> (Connection, Peer) {
    let (ours, stream) = duplex(capacity);
    let (reader, writer) = split(ours);
    (Connection::pipe(reader, writer), Peer { stream, frames: Frames::new() })
}

#[expect(clippy::expect_used, reason = "a broken test peer must stop the test")]
impl Peer {
    /// The next command, or `None` when the connection is closed.
    pub async fn request(&mut self) -> Option<Request> {
        loop {
            if let Some(Frame::Message(bytes)) = self.frames.next() {
                return Some(serde_json::from_slice(&bytes).expect("a command is JSON"));
            }
            match self.stream.read_buf(self.frames.space()).await {
                Ok(0) | Err(_) => return None,
                Ok(_) => {}
            }
        }
    }

    /// Answers a command.
    pub async fn answer(&mut self, request: &Request, result: Value) {
        self.message(&json!({"id": request.id, "result": result, "sessionId": request.session_id}))
            .await;
    }

    /// Answers a command with an error.
    pub async fn refuse(&mut self, request: &Request, code: i64, message: &str) {
        let error = json!({"code": code, "message": message});
        self.message(&json!({"id": request.id, "error": error})).await;
    }

    /// Takes the next command, which must be `method`, and answers it.
    pub async fn serve(&mut self, method: &str, result: Value) -> Request {
        let request = self.request().await.expect("a command comes");
        assert_eq!(request.method, method);
        self.answer(&request, result).await;
        request
    }

    /// Sends an event.
    pub async fn event(&mut self, session: Option<&str>, method: &str, params: Value) {
        let mut message = json!({"method": method, "params": params});
        if let Some(session) = session {
            message["sessionId"] = session.into();
        }
        self.message(&message).await;
    }

    /// Announces a session, as `Target.attachedToTarget` does.
    pub async fn attach(&mut self, parent: Option<&str>, session: &str, target: &str) {
        let info = json!({"targetId": target, "type": "page", "title": "", "url": "about:blank",
            "attached": true, "canAccessOpener": false});
        let params = json!({"sessionId": session, "targetInfo": info, "waitingForDebugger": false});
        self.event(parent, "Target.attachedToTarget", params).await;
    }

    /// Ends a session, as `Target.detachedFromTarget` does.
    pub async fn detach(&mut self, parent: Option<&str>, session: &str) {
        self.event(parent, "Target.detachedFromTarget", json!({"sessionId": session})).await;
    }

    /// Sends one message.
    pub async fn message(&mut self, message: &Value) {
        let mut bytes = message.to_string().into_bytes();
        bytes.push(0);
        self.raw(&bytes).await;
    }

    /// Sends one message if the other end still reads. Whether it did.
    pub async fn try_message(&mut self, message: &Value) -> bool {
        let mut bytes = message.to_string().into_bytes();
        bytes.push(0);
        self.stream.write_all(&bytes).await.is_ok()
    }

    /// Sends bytes as they are. A message ends with a zero.
    pub async fn raw(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).await.expect("the connection reads");
    }

    /// Closes this end, as a browser that quits does.
    pub fn close(self) {}
}
