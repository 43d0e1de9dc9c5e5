//! How a door or a run makes calls in one browser, without a way around what every call passes.

use crate::app::App;
use crate::clock::stamp;
use crate::live::HeldBy;
use crate::room::Room;
use crate::session::{AGENT, CallFailure, CallOrder, LiveSession, MAIN};
use reins_control::{ControlError, Reply, ShownElement, Tool};
use reins_core::{OwnerId, SessionId, TurnId};
use serde_json::Value;
use std::sync::Arc;
use thiserror::Error;
use tokio_util::sync::CancellationToken;

/// Makes calls in one browser. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Calls {
    app: Arc<App>,
    room: Arc<Room>,
    session: Arc<LiveSession>,
    run: Option<String>,
}

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

impl From<HeldBy> for Held {
    fn from(HeldBy { held_by, since, waited_ms }: HeldBy) -> Self {
        Self { held_by, since: stamp(since), waited_ms }
    }
}

/// Why a call did nothing.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum NotCalled {
    /// The street's own errors.
    #[error("{0}")]
    Control(#[from] ControlError),
    /// A person drives, and did not hand back in time (S-069).
    #[error("{said}")]
    Held {
        /// Who, since when, and how long the call waited (S-071).
        held: Held,
        /// The same for a model.
        said: String,
    },
    /// The browser ends (S-072).
    #[error("the browser is stopping, so nothing was done. Start it again if you still need it")]
    Ending,
}

impl NotCalled {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Control(error) => error.code(),
            Self::Held { .. } => "held_by_person",
            Self::Ending => "browser_stopping",
        }
    }
}

impl From<CallFailure> for NotCalled {
    fn from(failure: CallFailure) -> Self {
        let said = failure.to_string();
        match failure {
            CallFailure::Control(error) => Self::Control(error),
            CallFailure::Held(held) => Self::Held { held, said },
            CallFailure::Ending => Self::Ending,
        }
    }
}

impl Calls {
    pub(crate) fn new(
        app: Arc<App>,
        room: Arc<Room>,
        session: Arc<LiveSession>,
        run: Option<String>,
    ) -> Self {
        Self { app, room, session, run }
    }

    /// Who makes them: a run for itself, everyone else as one.
    fn names(&self) -> (OwnerId, SessionId) {
        match &self.run {
            Some(run) => (OwnerId::new(run.as_str()), SessionId::new(run.as_str())),
            None => (OwnerId::new(AGENT), SessionId::new(MAIN)),
        }
    }

    /// Begins the turn of a run: the person's words, and how many calls it has.
    pub fn begin_turn(&self, message: &str, cap: Option<u32>) -> TurnId {
        let (owner, session) = self.names();
        let start =
            reins_control::TurnStart { message: Some(message.to_owned()), urls: Vec::new(), cap };
        self.session.started.control.begin_turn(&session, &owner, start)
    }

    /// Stops a turn of a run.
    pub fn stop_turn(&self, turn: TurnId) {
        self.session.started.control.stop(&self.names().1, turn);
    }

    /// The element that a call's arguments name, as it was last shown.
    pub fn shown(&self, arguments: &Value) -> Option<ShownElement> {
        let reference = arguments.get("ref")?.as_str()?;
        self.session.started.control.shown(&self.names().1, reference)
    }

    /// The element that Enter goes to in a call, with what that sends.
    pub async fn entered(&self, arguments: &Value) -> Option<ShownElement> {
        let reference = arguments.get("ref").and_then(Value::as_str);
        self.session.started.control.entered(&self.names().1, reference).await
    }

    /// Walks the street with one call. It is made to its end also when this future is dropped: `cancel` ends it.
    ///
    /// # Errors
    ///
    /// Fails where nothing was done; an act's own end is in the reply.
    pub async fn call(
        &self,
        tool: &'static Tool,
        arguments: Value,
        session: Option<SessionId>,
        cancel: CancellationToken,
    ) -> Result<Reply, NotCalled> {
        let (owner, own) = self.names();
        let order = CallOrder {
            tool,
            arguments,
            owner,
            session: session.unwrap_or(own),
            run: self.run.clone(),
            cancel: cancel.clone(),
        };
        let this = self.clone();
        // Whoever asked may go away in the middle; the call still ends as one of three, and is told.
        let made = self
            .app
            .tasks
            .spawn(async move { this.session.call(&this.app, &this.room, order).await });
        let _gone = cancel.drop_guard();
        match made.await {
            Ok(answer) => answer.map_err(NotCalled::from),
            Err(error) => {
                tracing::error!(%error, "a call's task failed");
                Err(NotCalled::Ending)
            }
        }
    }
}
