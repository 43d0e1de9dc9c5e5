//! Making the calls of one browser session, for a door that knows nothing of who else uses it.

use crate::run::{RunTool, one_session};
use futures_util::future::BoxFuture;
use reins_control::{Answerer, CallRequest, Control, ControlError, Reply, Tool, tools};
use reins_core::{OwnerId, SessionId};
use serde_json::Value;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Makes the calls of one browser session: past whoever drives it, down the street, and into what is
/// kept of it.
pub trait SessionCalls: Send + Sync + 'static {
    /// The tools there are.
    fn tools(&self) -> Vec<RunTool> {
        tools().iter().map(|tool| RunTool { tool, schema: one_session(tool) }).collect()
    }

    /// Makes one call. Changing calls wait while a person drives, as long as that is worth it.
    fn call<'a>(
        &'a self,
        tool: &'static Tool,
        arguments: Value,
        cancel: CancellationToken,
    ) -> BoxFuture<'a, Result<Reply, NotMade>>;
}

/// Why a call did nothing.
#[derive(Debug)]
pub enum NotMade {
    /// The street's own reasons.
    Control(ControlError),
    /// A person drives and did not hand back in time (S-069).
    Held(HeldBy),
    /// The browser is stopping (S-072).
    Stopping,
}

impl From<ControlError> for NotMade {
    fn from(error: ControlError) -> Self {
        Self::Control(error)
    }
}

/// Who drives, as the error's `_meta` tells it (S-071).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldBy {
    /// The person's name, as other viewers see it.
    pub held_by: String,
    /// Since when: RFC 3339, UTC.
    pub since: String,
    /// How long the call waited, in milliseconds.
    pub waited_ms: u64,
}

/// The calls of one session on a control, without anything in between.
pub struct ControlCalls {
    control: Control,
    owner: OwnerId,
    session: SessionId,
    cards: Arc<dyn Answerer>,
}

impl ControlCalls {
    /// Calls of this owner in this session; cards go to `cards`.
    pub fn new(
        control: Control,
        owner: OwnerId,
        session: SessionId,
        cards: Arc<dyn Answerer>,
    ) -> Self {
        Self { control, owner, session, cards }
    }
}

impl SessionCalls for ControlCalls {
    fn call<'a>(
        &'a self,
        tool: &'static Tool,
        arguments: Value,
        cancel: CancellationToken,
    ) -> BoxFuture<'a, Result<Reply, NotMade>> {
        let request = CallRequest {
            tool,
            arguments,
            owner: &self.owner,
            session: &self.session,
            cards: &*self.cards,
            cancel,
        };
        Box::pin(async move { Ok(self.control.call(request).await?) })
    }
}
