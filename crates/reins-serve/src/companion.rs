//! What goes along with a running browser: its recording, its live view. The daemon gives each browser one
//! companion of each kind it was made with, and asks them before a changing call.

use crate::error::ServeError;
use crate::events::Step;
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

    /// Waits until a changing call may go ahead.
    fn pass(
        &self,
        _tool: &'static Tool,
        _cancel: CancellationToken,
    ) -> BoxFuture<'_, Result<Option<Box<dyn Passage>>, Held>> {
        Box::pin(std::future::ready(Ok(None)))
    }

    /// A step began or ended.
    fn step(&self, _step: &Step) {}

    /// The browser ends, for this reason. Waited for, within the drain.
    fn end<'a>(&'a self, _reason: &'a str) -> BoxFuture<'a, ()> {
        Box::pin(std::future::ready(()))
    }
}
