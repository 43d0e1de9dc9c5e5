//! The one entry for tool calls.

use crate::call::Call;
use crate::cards::Answerer;
use crate::confided::Confidant;
use crate::critic::Critic;
use crate::error::ControlError;
use crate::host::{GivenBrowser, Host};
use crate::kept;
use crate::reply::{Reply, Stored};
use crate::report;
use crate::session::Session;
use crate::tool::{Effect, Tool};
use crate::turn;
use crate::way_out::Beyond;
use reins_core::{Origin, OriginPattern, OwnerId, Rule, SessionId, TurnId};
use reins_egress::Refusals;
use reins_guard::{Level, Policy, SiteRules};
use reins_store::{Receipt, Store, StoredSecret};
use serde_json::Value;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;
use tokio_util::sync::CancellationToken;

/// Which browser to use.
#[derive(Clone, Debug)]
pub enum BrowserSource {
    /// Start one at the first call that needs it.
    Launch {
        /// The program, or the usual places.
        binary: Option<PathBuf>,
        /// Without a window.
        headless: bool,
        /// A profile to keep, or a fresh one that is removed afterwards.
        profile: Option<PathBuf>,
        /// Without Chromium's own sandbox, as root must.
        no_sandbox: bool,
    },
    /// Attach to the dedicated browser with this profile (A-010…A-016).
    Dedicated(PathBuf),
    /// One that someone else keeps, for tests of the street.
    #[doc(hidden)]
    Given(GivenBrowser),
}

/// What a control is made of.
#[derive(Clone, Debug)]
pub struct ControlOptions {
    /// Which browser.
    pub source: BrowserSource,
    /// How much is asked.
    pub level: Level,
    /// The app a pinned browser may open; empty means guarded.
    pub app: Vec<OriginPattern>,
    /// What a pinned browser may reach beside its app. Without an app it says nothing.
    pub beyond: Beyond,
    /// Origins named on the command line.
    pub named: Vec<Origin>,
    /// Whether a click that nothing can be told about asks before, instead of what it sends.
    pub strict_clicks: bool,
    /// Where downloads may go; `None` refuses them.
    pub downloads: Option<PathBuf>,
    /// Directories that uploads may take files from, links resolved.
    pub upload_roots: Vec<PathBuf>,
    /// Whether pages of a guarded browser that is started here have calls (WebRTC) and WebTransport, which nothing
    /// can hold to the sites they know.
    pub calls: bool,
    /// Whether what pages log and load is kept for the tools that show it.
    pub inspect: bool,
    /// Where receipts and saved files live.
    pub data_dir: PathBuf,
    /// Who answers the safety check of level careful. Without one the person is asked.
    pub critic: Option<Arc<dyn Critic>>,
}

/// How a turn begins.
#[derive(Clone, Debug, Default)]
pub struct TurnStart {
    /// The person's own words, if this door sees them.
    pub message: Option<String>,
    /// Addresses the person gave beside their words.
    pub urls: Vec<String>,
    /// The step cap. `None` where the caller runs its own loop.
    pub cap: Option<u32>,
}

/// One tool call.
pub struct CallRequest<'a> {
    /// The tool.
    pub tool: &'static Tool,
    /// Its arguments; `tab` may be among them.
    pub arguments: Value,
    /// Who calls.
    pub owner: &'a OwnerId,
    /// In which session.
    pub session: &'a SessionId,
    /// Who can be asked.
    pub cards: &'a dyn Answerer,
    /// The caller's own cancellation.
    pub cancel: CancellationToken,
}

/// The street's gatekeeper. Cheap to clone; all clones are one.
#[derive(Clone, Debug)]
pub struct Control {
    pub(crate) inner: Arc<Inner>,
}

#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) options: ControlOptions,
    pub(crate) policy: Policy,
    pub(crate) host: Host,
    pub(crate) store: Store,
    rules: Mutex<SiteRules>,
    /// Rules set on a card that could not be written.
    unkept: Mutex<Vec<(Origin, Rule)>>,
    /// What secrets are kept, without their values.
    secrets: Mutex<Vec<StoredSecret>>,
    interrupted: Mutex<Vec<Receipt>>,
    pub(crate) confidant: Mutex<Option<Arc<dyn Confidant>>>,
    pub(crate) numbers: AtomicU64,
    sessions: Mutex<HashMap<SessionId, Arc<Session>>>,
    pub(crate) turns: AtomicU64,
}

impl Control {
    /// Opens the durable record and gets ready; no browser is started yet. Acts that a dead
    /// process left without an end are told once by the next reply.
    ///
    /// # Errors
    ///
    /// Fails if the data directory cannot be written, because then no act could be recorded.
    pub async fn open(options: ControlOptions) -> Result<Self, ControlError> {
        let store = Store::open(options.data_dir.join(STORE_FILE)).map_err(not_recorded)?;
        let interrupted = store.interrupted().await.map_err(not_recorded)?;
        let policy = if options.app.is_empty() {
            Policy::Guarded
        } else {
            Policy::Pinned(options.app.clone())
        };
        let inner = Inner {
            host: Host::new(&options),
            policy,
            store,
            rules: Mutex::default(),
            unkept: Mutex::default(),
            secrets: Mutex::default(),
            interrupted: Mutex::new(interrupted),
            confidant: Mutex::default(),
            options,
            sessions: Mutex::default(),
            turns: AtomicU64::new(0),
            numbers: AtomicU64::new(0),
        };
        inner.read_kept().await?;
        Ok(Self { inner: Arc::new(inner) })
    }

    /// Walks the street with one call.
    ///
    /// # Errors
    ///
    /// Returns a typed error when nothing was done; an act's own end is in the reply.
    pub async fn call(&self, request: CallRequest<'_>) -> Result<Reply, ControlError> {
        let session = self.session(request.session);
        if session.state().turn.is_none() {
            // A door without user messages has one standing turn per session.
            self.begin_turn(request.session, request.owner, TurnStart::default());
        }
        let (ends, step) = turn::admit(&session, request.owner)?;
        let line = tokio::select! {
            line = session.line.acquire() => line.map_err(|_| ControlError::Stopped)?,
            () = request.cancel.cancelled() => return Err(ControlError::Cancelled),
            () = ends.ended.cancelled() => return Err(ControlError::Stopped),
        };
        if request.tool.effect != Effect::Read {
            self.inner.read_kept().await?;
        }
        let mut call =
            Call::new(self, session.clone(), request.cards, request.cancel, (ends, step));
        let mut answer = call.run(request.tool, request.arguments).await;
        drop(line);
        if let Ok(reply) = &mut answer
            && reply.page.as_ref().is_some_and(|page| page.whole)
            && let Some(url) = reply.facts.get("url").and_then(Value::as_str)
            && let Some(offer) = kept::offer(&lock(&self.inner.secrets), url)
        {
            if !reply.text.is_empty() {
                reply.text.push('\n');
            }
            reply.text.push_str(&offer);
        }
        let answer = kept::clean_answer(answer, &session.state().typed);
        let mut told = match &answer {
            Ok(_) => self.interrupted().await.join("\n"),
            Err(_) => String::new(),
        };
        answer.map(|mut reply| {
            if !told.is_empty() {
                told.push('\n');
                reply.text.insert_str(0, &told);
            }
            reply
        })
    }

    /// Acts whose end nobody heard, because Reins died meanwhile. Told once, never
    /// repeated.
    pub async fn interrupted(&self) -> Vec<String> {
        let receipts = std::mem::take(&mut *lock(&self.inner.interrupted));
        if receipts.is_empty() {
            return Vec::new();
        }
        if let Err(error) = self.inner.store.acknowledge(&receipts).await {
            tracing::warn!(%error, "these acts will be told again at the next start");
        }
        receipts.iter().map(report::interrupted).collect()
    }

    /// Long results kept for paging, all sessions.
    pub fn results(&self) -> Vec<Stored> {
        self.all_sessions().iter().flat_map(|session| session.state().results.list()).collect()
    }

    /// One kept result.
    pub fn result(&self, uri: &str) -> Option<(Stored, Vec<u8>)> {
        self.all_sessions().iter().find_map(|session| {
            let state = session.state();
            let (about, body) = state.results.get(uri)?;
            let body = match std::str::from_utf8(body) {
                Ok(text) => kept::clean_text(text, &state.typed).into_bytes(),
                Err(_) => body.to_vec(),
            };
            Some((about.clone(), body))
        })
    }

    /// The browser, started if there is none: for who shows its screen, records it or relays the person's
    /// own input. Nothing can be done with it that the guard has not approved.
    ///
    /// # Errors
    ///
    /// Fails if it does not start, with what is in the way.
    pub async fn browser(&self) -> Result<reins_browser::Browser, ControlError> {
        self.inner.host.browser(self).await
    }

    /// What a pinned browser's pages tried to reach and may not, for people to read (S-147).
    pub fn refusals(&self) -> Refusals {
        self.inner.host.refusals()
    }

    /// Stops every turn and closes the browser. Never queues behind page work.
    pub async fn close(&self) {
        for session in self.all_sessions() {
            if let Some(turn) = session.state().turn.take() {
                turn.stop.cancel();
            }
        }
        self.inner.host.close().await;
        if let Err(error) = self.inner.store.flush().await {
            tracing::warn!(%error, "the last ends of acts could not be recorded");
        }
    }

    /// The tab that calls of a session mean if they name none.
    pub fn current_tab(&self, session: &SessionId) -> Option<reins_core::TabId> {
        self.session(session).state().current.clone()
    }

    /// The turn under way in a session.
    pub fn current_turn(&self, session: &SessionId) -> Option<TurnId> {
        self.session(session).state().turn.as_ref().map(|turn| turn.id)
    }

    pub(crate) fn session(&self, id: &SessionId) -> Arc<Session> {
        let mut sessions = lock(&self.inner.sessions);
        sessions.entry(id.clone()).or_insert_with(|| Arc::new(Session::new(id.clone()))).clone()
    }

    pub(crate) fn all_sessions(&self) -> Vec<Arc<Session>> {
        lock(&self.inner.sessions).values().cloned().collect()
    }
}

impl Inner {
    /// A path of the one app that a pinned browser opens, made absolute (S-152).
    pub(crate) fn within_app(&self, path: &str) -> Option<String> {
        let [app] = self.options.app.as_slice() else { return None };
        // A pattern for any port names no address.
        app.port()?;
        url::Url::parse(&app.to_string()).ok()?.join(path).ok().map(String::from)
    }

    /// The person's site rules at this moment.
    pub(crate) fn rules(&self) -> SiteRules {
        lock(&self.rules).clone()
    }

    /// Reads the rules and which secrets there are: the person may have set one by hand meanwhile.
    async fn read_kept(&self) -> Result<(), ControlError> {
        let mut rules = SiteRules::new();
        for stored in self.store.rules().await.map_err(not_kept)? {
            rules.set(stored.origin, stored.rule);
        }
        for (origin, sends) in self.store.sends().await.map_err(not_kept)? {
            rules.set_sends(origin, sends);
        }
        for (origin, rule) in lock(&self.unkept).iter() {
            rules.set(origin.clone(), *rule);
        }
        *lock(&self.rules) = rules;
        *lock(&self.secrets) = self.store.secrets().await.map_err(crate::secret_book::failed)?;
        Ok(())
    }

    /// Keeps a rule that the person set on a card.
    pub(crate) async fn set_rule(&self, origin: Origin, rule: Rule) {
        lock(&self.rules).set(origin.clone(), rule);
        if let Err(error) = self.store.set_rule(origin.clone(), rule, SystemTime::now()).await {
            lock(&self.unkept).push((origin, rule));
            tracing::warn!(%error, "the rule holds for this run only: it could not be kept");
        }
    }
}

/// The one file of durable state.
pub const STORE_FILE: &str = "reins.db";

fn not_recorded(error: reins_store::StoreError) -> ControlError {
    ControlError::Record(error.to_string())
}

pub(crate) fn not_kept(error: reins_store::StoreError) -> ControlError {
    ControlError::Rules(error.to_string())
}

/// Every section under these locks is one statement, so a poisoned one still holds whole values.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
