//! One live browser: its calls, its deadline, its end. One task watches over each.

use crate::app::App;
use crate::calls::Held;
use crate::clock::{minutes, stamp};
use crate::events::{Step, line};
use crate::limits;
use crate::live::{NoPassage, Passage};
use crate::room::{Room, Slot};
use crate::witness::Witness;
use crate::{
    backend::{Capability, Started},
    keys,
};
use reins_browser::{BrowserEvent, BrowserEvents};
use reins_control::{CallRequest, ControlError, Effect, Level, Reply, Tool, clean_answer};
use reins_core::{OwnerId, Secret, SessionId};
use reins_store::{BrowserSession, SessionPhase};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;
use thiserror::Error;
use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// A browser that runs.
#[derive(Debug)]
pub(crate) struct LiveSession {
    pub(crate) id: SessionId,
    pub(crate) started: Started,
    pub(crate) witness: Witness,
    pub(crate) guarded: bool,
    /// More tools than the core.
    pub(crate) capabilities: BTreeSet<Capability>,
    pub(crate) level: Level,
    /// The secret of its start. Taken out of what calls answer, should a page show it (S-144).
    token: Secret<String>,
    /// Its row, as it was when it began to run.
    row: BrowserSession,
    began: Instant,
    /// Cancelled when it is to end: no call begins any more.
    ending: CancellationToken,
    why: OnceLock<End>,
    /// Its row at the end, once there is one.
    ended: watch::Sender<Option<BrowserSession>>,
}

/// What a browser was started with.
#[derive(Clone, Debug)]
pub(crate) struct Asks {
    /// Whether it is on the open web with cards.
    pub(crate) guarded: bool,
    /// At which level.
    pub(crate) level: Level,
    /// More tools than the core (S-033).
    pub(crate) capabilities: BTreeSet<Capability>,
    /// The secret of its start.
    pub(crate) token: Secret<String>,
}

/// Why a browser ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// Someone stopped it.
    Stopped,
    /// Its sandbox was deleted.
    Deleted,
    /// Its time was over (S-108).
    Deadline,
    /// The reaper found its sandbox's time over (S-124).
    Reaped,
    /// The daemon ends.
    Shutdown,
    /// It ended by itself.
    Gone,
}

impl End {
    /// The word in rows and hooks.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Stopped => "stopped",
            Self::Deleted => "sandbox_deleted",
            Self::Deadline => "deadline",
            Self::Reaped => "sandbox_expired",
            Self::Shutdown => "daemon_stopped",
            Self::Gone => "browser_ended",
        }
    }
}

/// Why a call answered nothing.
#[derive(Debug, Error)]
pub(crate) enum CallFailure {
    /// The street's own errors.
    #[error("{0}")]
    Control(#[from] ControlError),
    /// A person drives (S-069).
    #[error(
        "{} has taken over this browser since {}; the call waited {} ms and nothing was done. Wait until they hand back, then try again",
        .0.held_by, .0.since, .0.waited_ms
    )]
    Held(Held),
    /// The browser ends (S-072).
    #[error("the browser is stopping, so nothing was done. Start it again if you still need it")]
    Ending,
}

impl CallFailure {
    /// The stable code.
    pub(crate) fn code(&self) -> &'static str {
        match self {
            Self::Control(error) => error.code(),
            Self::Held(_) => "held_by_person",
            Self::Ending => "browser_stopping",
        }
    }
}

/// One tool call.
#[derive(Debug)]
pub(crate) struct CallOrder {
    pub(crate) tool: &'static Tool,
    pub(crate) arguments: Value,
    pub(crate) owner: OwnerId,
    pub(crate) session: SessionId,
    pub(crate) run: Option<String>,
    pub(crate) cancel: CancellationToken,
}

/// The control session that calls mean if they name none.
pub(crate) const MAIN: &str = "main";

/// Who makes the calls that belong to no run. One for all, so that one standing turn serves every token.
pub(crate) const AGENT: &str = "agent";

impl LiveSession {
    pub(crate) fn new(row: BrowserSession, started: Started, witness: Witness, asks: Asks) -> Self {
        Self {
            id: row.id.clone(),
            started,
            witness,
            guarded: asks.guarded,
            level: asks.level,
            capabilities: asks.capabilities,
            token: asks.token,
            row,
            began: Instant::now(),
            ending: CancellationToken::new(),
            why: OnceLock::new(),
            ended: watch::Sender::new(None),
        }
    }

    /// Where it can be watched.
    pub(crate) fn live_url(&self) -> Option<String> {
        self.witness.live_url()
    }

    /// Tells it to end. The first reason counts.
    pub(crate) fn end(&self, why: End) {
        // A later reason changes nothing.
        let _ = self.why.set(why);
        self.ending.cancel();
    }

    /// Whether it is about to end.
    pub(crate) fn is_ending(&self) -> bool {
        self.ending.is_cancelled()
    }

    /// Cancelled when it is about to end.
    pub(crate) fn ending(&self) -> CancellationToken {
        self.ending.clone()
    }

    /// Its row once it ended.
    pub(crate) async fn ended(&self) -> BrowserSession {
        let mut ended = self.ended.subscribe();
        let row = ended.wait_for(Option::is_some).await.ok().and_then(|row| row.clone());
        row.unwrap_or_else(|| self.row.clone())
    }

    /// Its row now.
    pub(crate) fn row(&self) -> BrowserSession {
        let ended = self.ended.borrow().clone();
        ended.unwrap_or_else(|| BrowserSession { ran: self.began.elapsed(), ..self.row.clone() })
    }

    /// Walks the street with one call, and tells whoever watches.
    pub(crate) async fn call(
        &self,
        app: &App,
        room: &Room,
        order: CallOrder,
    ) -> Result<Reply, CallFailure> {
        let mut step = Step {
            id: room.next_step(),
            run_id: order.run.clone(),
            tool: order.tool.name.to_owned(),
            label: order.tool.title.to_owned(),
            outcome: "running".into(),
            started_at: stamp(app.clock.now()),
            ms: None,
            detail: None,
            error: None,
        };
        let began = Instant::now();
        let arguments = order.arguments.clone();
        self.tell(room, &step, &arguments);
        let answer = self.walk(room, order).await;
        step.ms = u64::try_from(began.elapsed().as_millis()).ok();
        match &answer {
            Ok(reply) => {
                let outcome = reply.outcome.as_ref().map_or("completed", |outcome| outcome.word());
                step.outcome = outcome.to_owned();
                // What an act says of itself never holds typed text; what a read says is the page's.
                if reply.outcome.is_some() {
                    step.detail = Some(line(&reply.text));
                }
            }
            Err(failure) => {
                step.outcome = "error".into();
                step.error = Some(failure.code().to_owned());
                step.detail = Some(line(&failure.to_string()));
            }
        }
        app.metrics.call(&step.tool, &step.outcome);
        self.tell(room, &step, &arguments);
        answer
    }

    fn tell(&self, room: &Room, step: &Step, arguments: &Value) {
        room.events.push("step", step);
        self.witness.step(step, arguments);
    }

    async fn walk(&self, room: &Room, order: CallOrder) -> Result<Reply, CallFailure> {
        if self.is_ending() {
            return Err(CallFailure::Ending);
        }
        let cancel = order.cancel.child_token();
        let _passage = self.pass(order.tool, &cancel).await?;
        let desk = room.desk();
        let call = self.started.control.call(CallRequest {
            tool: order.tool,
            arguments: order.arguments,
            owner: &order.owner,
            session: &order.session,
            cards: &desk,
            cancel: cancel.clone(),
        });
        tokio::pin!(call);
        let limit = if self.guarded { limits::CALL + limits::CARD } else { limits::CALL };
        let answer = tokio::select! {
            answer = &mut call => answer,
            () = tokio::time::sleep(limit) => {
                cancel.cancel();
                // It ends at once, and says how.
                call.await
            }
        };
        Ok(clean_answer(answer, std::slice::from_ref(&self.token))?)
    }

    /// Waits until nobody else drives, if the call changes anything.
    async fn pass(
        &self,
        tool: &'static Tool,
        cancel: &CancellationToken,
    ) -> Result<Option<Passage>, CallFailure> {
        if tool.effect == Effect::Read {
            return Ok(None);
        }
        let passed = tokio::select! {
            passed = self.witness.pass(tool, cancel) => passed,
            () = self.ending.cancelled() => return Err(CallFailure::Ending),
            () = cancel.cancelled() => return Err(ControlError::Cancelled.into()),
        };
        passed.map_err(|not| match not {
            NoPassage::HeldBy(held) => CallFailure::Held(held.into()),
            NoPassage::BrowserStopped => CallFailure::Ending,
            NoPassage::Cancelled => ControlError::Cancelled.into(),
        })
    }
}

/// Watches over a browser until it ended, and writes down how.
pub(crate) async fn watch_over(app: Arc<App>, room: Arc<Room>, session: Arc<LiveSession>) {
    let mut events = session.started.browser.events();
    // As it was at its start: whatever the wall clock was set to since then changes nothing.
    let left = session.row.stop_at.duration_since(session.row.started_at).unwrap_or_default();
    // On a clock that nobody can set: a browser never lives longer than it was given. That the wall clock
    // was set forward is seen by the reaper.
    let deadline = session.began + left;
    let mut pulse = tokio::time::interval_at(session.began + limits::HEARTBEAT, limits::HEARTBEAT);
    loop {
        tokio::select! {
            biased;
            () = session.ending.cancelled() => break,
            () = tokio::time::sleep_until(deadline) => session.end(End::Deadline),
            () = gone(&mut events) => session.end(End::Gone),
            _ = pulse.tick() => {
                let ran = session.began.elapsed();
                if let Err(error) = app.store.session_ran(session.id.clone(), ran).await {
                    tracing::warn!(%error, "the minutes of a browser could not be noted");
                }
            }
        }
    }
    let ran = session.began.elapsed();
    let why = session.why.get().copied().unwrap_or(End::Stopped);
    let ended = session.witness.end(why.word());
    if tokio::time::timeout(limits::DRAIN, ended).await.is_err() {
        tracing::warn!(session = %session.id, "what went along with a browser did not end in time");
    }
    if tokio::time::timeout(limits::DRAIN, app.backend.stop(&session.started)).await.is_err() {
        // Its last handle ends it.
        tracing::warn!(session = %session.id, "a browser did not end in time");
    }
    finish(&app, &room, &session, why, ran).await;
}

async fn gone(events: &mut BrowserEvents) {
    while let Some(event) = events.next().await {
        if matches!(event, BrowserEvent::Gone { .. }) {
            return;
        }
    }
}

async fn finish(
    app: &Arc<App>,
    room: &Arc<Room>,
    session: &Arc<LiveSession>,
    why: End,
    ran: Duration,
) {
    let failed = why == End::Gone;
    let row = BrowserSession {
        phase: if failed { SessionPhase::Failed } else { SessionPhase::Stopped },
        ran,
        ended_at: Some(app.clock.now()),
        reason: Some(why.word().to_owned()),
        error: failed.then(|| "the browser ended by itself. Start it again".to_owned()),
        ..session.row.clone()
    };
    app.keep_end(&row).await;
    remove_folder(app, &session.id).await;
    app.metrics.ended(why.word(), minutes(ran));
    *room.slot() = Slot::Empty;
    session.ended.send_replace(Some(row.clone()));
    room.events.push("browser", &json!({"browser": crate::api::browsers::shape(&row, None)}));
    app.usage.wake();
}

/// Removes what a browser kept for itself.
pub(crate) async fn remove_folder(app: &App, session: &SessionId) {
    let folder = app.folder(session);
    if let Err(error) = tokio::fs::remove_dir_all(&folder).await
        && error.kind() != std::io::ErrorKind::NotFound
    {
        tracing::warn!(%error, folder = %folder.display(), "a session's folder could not be removed");
    }
}

/// A fresh secret for one start (S-143).
pub(crate) fn start_token() -> Result<Secret<String>, crate::error::ServeError> {
    keys::secret("rbt_")
}

/// What several tasks add to and nobody holds for long.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
