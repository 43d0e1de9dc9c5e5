//! What goes along with a running browser: its recording, its live view. The daemon gives each browser one
//! companion of each kind it was made with, and asks them before a changing call.

use crate::error::ServeError;
use crate::events::{EventLog, Step};
use axum::extract::Request;
use axum::response::Response;
use futures_util::future::BoxFuture;
use reins_browser::Browser;
use reins_control::{Control, Tool};
use reins_core::{SandboxId, Secret, SessionId, TenantId};
use serde_json::Value;
use std::fmt::Debug;
use std::sync::Arc;
use std::time::SystemTime;
use tokio_util::sync::CancellationToken;

/// A browser that has just started.
#[derive(Clone, Debug)]
pub struct Begun {
    /// Its session.
    pub session: SessionId,
    /// Where it belongs.
    pub sandbox: SandboxId,
    /// Whose it is.
    pub tenant: TenantId,
    /// The app's address.
    pub app_url: String,
    /// The street to it.
    pub control: Control,
    /// The browser itself.
    pub browser: Browser,
    /// The secret of this start: what signs tickets derives from it (S-085).
    pub token: Secret<String>,
    /// Which kinds are recorded, as the start asked for.
    pub record: Value,
    /// Whether it has a window, at which someone may act by hand.
    pub window: bool,
    /// Values of `Host` that are the daemon's own (S-088).
    pub hosts: Vec<String>,
    /// Origins whose pages may open a live view (S-088).
    pub origins: Vec<String>,
    /// The live view's address, if one is offered; none where the daemon has no port.
    pub live_url: Option<String>,
    /// Tells whoever watches the sandbox: `takeover`, `refusal`.
    pub tell: Tell,
}

/// Puts an event among those of the sandbox. Never waits.
#[derive(Clone)]
pub struct Tell(pub(crate) Arc<EventLog>);

impl Tell {
    /// Tells.
    pub fn event(&self, name: &'static str, data: &Value) {
        self.0.push(name, data);
    }
}

impl std::fmt::Debug for Tell {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Tell")
    }
}

/// Makes companions.
pub trait Companions: Send + Sync + Debug {
    /// Begins to go along with a browser, before its first page is opened.
    fn begin(&self, begun: Begun) -> BoxFuture<'_, Result<Arc<dyn Companion>, ServeError>>;
}

/// Who wants to watch or to drive (S-081, S-085).
#[derive(Clone, Debug)]
pub struct TicketWish {
    /// Who, stable across their tickets.
    pub subject: String,
    /// What others see of them.
    pub name: String,
    /// Whether they want to drive.
    pub control: bool,
    /// Now.
    pub at: SystemTime,
}

/// A ticket (S-084).
#[derive(Clone, Debug)]
pub struct TicketGiven {
    /// What the first message carries.
    pub ticket: Secret<String>,
    /// Until when it is accepted.
    pub expires_at: SystemTime,
    /// The live view's address.
    pub url: String,
}

/// Lets one changing call through; the person cannot take over while it lives.
pub trait Passage: Send {}

/// Someone else drives, and the call waited long enough (S-069, S-071).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    /// Who.
    pub held_by: String,
    /// Since when, RFC 3339.
    pub since: String,
    /// How long the call waited.
    pub waited_ms: u64,
}

/// Why a changing call may not go ahead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoPassage {
    /// A person drives.
    Held(Held),
    /// The browser ends (S-072).
    Ending,
}

/// Goes along with one browser.
pub trait Companion: Send + Sync + Debug {
    /// The id of what is recorded of it.
    fn recording_id(&self) -> Option<String> {
        None
    }

    /// Where it can be watched.
    fn live_url(&self) -> Option<String> {
        None
    }

    /// A ticket for the live view; `None` where there is none.
    fn ticket(&self, _wish: &TicketWish) -> Option<Result<TicketGiven, ServeError>> {
        None
    }

    /// Answers an upgrade to the live view, or gives the request back where there is none. It checks where the request comes from by
    /// itself: pages of more origins than the daemon's own may watch (S-088), and the ticket is the first message.
    ///
    /// # Errors
    ///
    /// Gives the request back if this companion has no live view.
    fn connect(&self, request: Request) -> Result<BoxFuture<'static, Response>, Box<Request>> {
        Err(Box::new(request))
    }

    /// Waits until a changing call may go ahead.
    fn pass(
        &self,
        _tool: &'static Tool,
        _cancel: CancellationToken,
    ) -> BoxFuture<'_, Result<Option<Box<dyn Passage>>, NoPassage>> {
        Box::pin(std::future::ready(Ok(None)))
    }

    /// A step began or ended.
    fn step(&self, _step: &Step) {}

    /// The browser ends, for this reason. Waited for, within the drain.
    fn end<'a>(&'a self, _reason: &'a str) -> BoxFuture<'a, ()> {
        Box::pin(std::future::ready(()))
    }
}
