//! Starting a sandbox's browser: every check, then the start itself, in a task that no client can cut short.

use crate::app::App;
use crate::auth::Caller;
use crate::backend::{Capability, Mode, StartOrder, Started};
use crate::clock::stamp;
use crate::error::ServeError;
use crate::hooks::Permission;
use crate::keys;
use crate::limits;
use crate::room::{Room, Slot};
use crate::session::{self, AGENT, Asks, CallOrder, End, LiveSession, MAIN};
use crate::witness::Begun;
use reins_control::Level;
use reins_core::{Origin, OwnerId, Rule, Secret, SessionId, TenantId};
use reins_store::{BrowserSession, SandboxPhase, SessionPhase, StoredSandbox};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// What a start asks for.
#[derive(Clone, Debug)]
pub(crate) struct Wish {
    pub(crate) mode: Mode,
    pub(crate) capabilities: BTreeSet<Capability>,
    pub(crate) level: Level,
    /// Rules for sites.
    pub(crate) rules: Vec<(Origin, Rule)>,
    /// Which kinds are recorded.
    pub(crate) record: Value,
    /// The secret of this start, if it was given from outside.
    pub(crate) token: Option<Secret<String>>,
}

/// Starts the browser of a sandbox, if everything allows it, and answers its row.
pub(crate) async fn start(
    app: &Arc<App>,
    caller: &Caller,
    sandbox: StoredSandbox,
    wish: Wish,
) -> Result<(BrowserSession, Option<String>), ServeError> {
    may_run(app)?;
    if !app.backend.modes().contains(&wish.mode) {
        return Err(ServeError::impossible(
            "no_display",
            "no window can be shown here: there is no display (neither DISPLAY nor WAYLAND_DISPLAY is set). Start it headless, or start the daemon where there is a display",
        ));
    }
    if sandbox.phase != SandboxPhase::Ready {
        let word = sandbox.phase.word();
        return Err(ServeError::impossible(
            "sandbox_not_ready",
            format!("a browser starts only in a ready sandbox, and this one is {word}"),
        ));
    }
    let now = app.clock.now();
    let stop_at = sandbox.expires_at - limits::STOP_BEFORE_EXPIRY;
    if stop_at <= now {
        return Err(ServeError::impossible(
            "expires_soon",
            "the sandbox expires within 30 seconds, so it gets no browser. Make a new one",
        ));
    }
    let room = app.room(&sandbox);
    let cancel = app.stop.child_token();
    if !room.reserve(&cancel) {
        return Err(ServeError::impossible(
            "browser_running",
            "this sandbox has a browser already; stop it first",
        ));
    }
    let seat = Seat { room: room.clone(), kept: false };
    let browsers = app.running().len();
    if browsers >= app.config.browsers.at_once {
        return Err(ServeError::impossible(
            "too_many_browsers",
            format!("{browsers} browsers run already, and more may not; stop one first"),
        ));
    }
    app.hooks.permit(app, caller, Permission::StartBrowser, &sandbox.id).await?;
    app.hooks.quota(app, &caller.tenant, &sandbox.id).await?;
    let job = Job { app: app.clone(), room, sandbox, wish, stop_at, cancel };
    let started = app.tasks.spawn(job.run(seat));
    started.await.map_err(|error| ServeError::Internal(format!("the start ended: {error}")))?
}

/// Whether browsers may be started and driven (S-032).
pub(crate) fn may_run(app: &App) -> Result<(), ServeError> {
    if app.config.browsers.execution {
        return Ok(());
    }
    Err(ServeError::Denied {
        code: "execution_off",
        message: "browsers are switched off here (`execution = false` under [browsers])".into(),
        payload: Value::Null,
    })
}

/// Holds the place of the one browser until it runs; gives it back otherwise.
struct Seat {
    room: Arc<Room>,
    kept: bool,
}

impl Drop for Seat {
    fn drop(&mut self) {
        if !self.kept {
            *self.room.slot() = Slot::Empty;
        }
    }
}

struct Job {
    app: Arc<App>,
    room: Arc<Room>,
    sandbox: StoredSandbox,
    wish: Wish,
    stop_at: std::time::SystemTime,
    cancel: CancellationToken,
}

impl Job {
    async fn run(self, mut seat: Seat) -> Result<(BrowserSession, Option<String>), ServeError> {
        let mut row = BrowserSession {
            id: SessionId::new(keys::id("bs")?),
            tenant: self.sandbox.tenant.clone(),
            sandbox: self.sandbox.id.clone(),
            mode: self.wish.mode.word().to_owned(),
            phase: SessionPhase::Starting,
            recording: None,
            started_at: self.app.clock.now(),
            stop_at: self.stop_at,
            ran: Duration::ZERO,
            ended_at: None,
            reason: None,
            error: None,
            told: false,
        };
        self.app.store.keep_session(row.clone()).await?;
        self.tell(&row, None);
        match self.begin(&mut row).await {
            Ok(session) => {
                self.app.metrics.started(true);
                seat.kept = true;
                *self.room.slot() = Slot::Running(session.clone());
                if self.cancel.is_cancelled() {
                    session.end(End::Stopped);
                }
                let live_url = session.live_url();
                self.tell(&row, live_url.as_deref());
                self.open_app(&session);
                self.app.tasks.spawn(session::watch_over(
                    self.app.clone(),
                    self.room.clone(),
                    session,
                ));
                Ok((row, live_url))
            }
            Err(error) => {
                self.app.metrics.started(false);
                row.phase = SessionPhase::Failed;
                row.ended_at = Some(self.app.clock.now());
                row.reason = Some("not_started".into());
                row.error = Some(error.to_string());
                // Nothing ran, so there is nothing to tell the usage hook.
                row.told = true;
                self.app.store.keep_session(row.clone()).await?;
                session::remove_folder(&self.app, &row.id).await;
                self.tell(&row, None);
                Err(error)
            }
        }
    }

    async fn begin(&self, row: &mut BrowserSession) -> Result<Arc<LiveSession>, ServeError> {
        let app = if self.sandbox.guarded {
            None
        } else {
            let origin = Origin::parse(&self.sandbox.app_url);
            Some(origin.map_err(|error| ServeError::Internal(error.to_string()))?)
        };
        let token = match &self.wish.token {
            Some(token) => token.clone(),
            None => session::start_token()?,
        };
        let order = StartOrder {
            session: row.id.clone(),
            token: token.clone(),
            app,
            mode: self.wish.mode,
            capabilities: self.wish.capabilities.clone(),
            level: self.wish.level,
            rules: self.wish.rules.clone(),
            stop_at: self.stop_at,
            folder: self.app.folder(&row.id),
        };
        let started = tokio::select! {
            biased;
            () = self.cancel.cancelled() => {
                return Err(ServeError::state("start_cancelled", "the start was stopped before the browser ran"));
            }
            started = self.app.backend.start(order) => started?,
        };
        if let Err(error) = self.signed_in(&row.tenant, &started).await {
            self.app.backend.stop(&started).await;
            return Err(error);
        }
        let begun = Begun {
            session: row.id.clone(),
            sandbox: row.sandbox.clone(),
            tenant: row.tenant.clone(),
            app_url: self.sandbox.app_url.clone(),
            control: started.control.clone(),
            browser: started.browser.clone(),
            token: token.clone(),
            record: self.wish.record.clone(),
            window: self.wish.mode == Mode::Headed,
            hosts: self.app.hosts(),
            origins: self.app.live_origins(),
            live_url: self.app.live_url(&row.id),
            events: self.room.events.clone(),
        };
        let witness = match self.app.witnesses.begin(begun).await {
            Ok(witness) => witness,
            Err(error) => {
                self.app.backend.stop(&started).await;
                return Err(error);
            }
        };
        row.recording = witness.recording_id();
        row.phase = SessionPhase::Running;
        row.started_at = self.app.clock.now();
        if let Err(error) = self.settle(row).await {
            witness.end("not_started").await;
            self.app.backend.stop(&started).await;
            return Err(error);
        }
        let asks = Asks {
            guarded: self.sandbox.guarded,
            level: self.wish.level,
            capabilities: self.wish.capabilities.clone(),
            token,
        };
        Ok(Arc::new(LiveSession::new(row.clone(), started, witness, asks)))
    }

    /// Keeps that it runs, if its sandbox was not deleted meanwhile.
    async fn settle(&self, row: &BrowserSession) -> Result<(), ServeError> {
        let store = &self.app.store;
        let sandbox = store.sandbox(row.tenant.clone(), row.sandbox.clone()).await?;
        if sandbox.is_none() {
            return Err(ServeError::NotFound("sandbox"));
        }
        Ok(store.keep_session(row.clone()).await?)
    }

    /// Gives the browser the app's saved sign-in, before its first page (S-028).
    async fn signed_in(&self, tenant: &TenantId, started: &Started) -> Result<(), ServeError> {
        if self.sandbox.guarded {
            return Ok(());
        }
        let app = Origin::parse(&self.sandbox.app_url)
            .map_err(|error| ServeError::Internal(error.to_string()))?;
        if let Some(saved) = self.app.store.sign_in(tenant.as_str(), &app).await? {
            started.control.set_sign_in(&app, &saved).await?;
        }
        Ok(())
    }

    /// Opens the app. Nobody waits for it: calls stand in line behind it, and an app that does not answer is
    /// told by the page.
    fn open_app(&self, session: &Arc<LiveSession>) {
        let (Some(tool), false) = (reins_control::tool("navigate"), self.sandbox.guarded) else {
            return;
        };
        let order = CallOrder {
            tool,
            arguments: json!({"url": self.sandbox.app_url}),
            owner: OwnerId::new(AGENT),
            session: SessionId::new(MAIN),
            run: None,
            cancel: session.ending(),
        };
        let (app, room, session) = (self.app.clone(), self.room.clone(), session.clone());
        self.app.tasks.spawn(async move {
            if let Err(error) = session.call(&app, &room, order).await {
                tracing::info!(%error, session = %session.id, "the app could not be opened");
            }
        });
    }

    fn tell(&self, row: &BrowserSession, live_url: Option<&str>) {
        tracing::info!(session = %row.id, phase = row.phase.word(), at = stamp(row.started_at), "browser");
        let shape = crate::api::browsers::shape(row, live_url);
        self.room.events.push("browser", &json!({"browser": shape}));
    }
}
