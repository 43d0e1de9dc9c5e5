//! The daemon's one state: what its requests, its sessions and its keepers share.

use crate::auth::Caller;
use crate::backend::SessionBackend;
use crate::clock::Clock;
use crate::config::Config;
use crate::error::ServeError;
use crate::hooks::Hooks;
use crate::limits;
use crate::mcp_door::McpDoor;
use crate::metrics::Metrics;
use crate::rate::Rates;
use crate::room::{Room, Slot};
use crate::runs::Runs;
use crate::session::{End, LiveSession, lock};
use crate::sign_in::SignIns;
use crate::usage::Usage;
use crate::witness::Witnesses;
use reins_core::{Origin, SandboxId, SessionId};
use reins_store::{BrowserSession, Store, StoredSandbox};
use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// Sessions' own folders, inside the data directory.
const SESSIONS: &str = "sessions";

/// A token that only this process knows.
#[derive(Debug)]
pub(crate) struct GivenToken {
    pub(crate) hash: [u8; 32],
    pub(crate) caller: Caller,
}

/// Everything that is shared.
#[derive(Debug)]
pub(crate) struct App {
    pub(crate) config: Config,
    pub(crate) version: String,
    pub(crate) data_dir: PathBuf,
    pub(crate) store: Store,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) backend: Arc<dyn SessionBackend>,
    /// What goes along with each browser, and the library of what was recorded.
    pub(crate) witnesses: Witnesses,
    pub(crate) mcp: Option<Arc<dyn McpDoor>>,
    pub(crate) runs: Runs,
    pub(crate) given: Vec<GivenToken>,
    pub(crate) hooks: Hooks,
    pub(crate) http: reqwest::Client,
    pub(crate) rates: Rates,
    /// Wrong tokens and codes, over all callers.
    pub(crate) wrong: Rates,
    pub(crate) sign_ins: SignIns,
    pub(crate) metrics: Metrics,
    pub(crate) usage: Usage,
    /// Browsers whose end could not be written yet: on a full disk they would seem to run for ever.
    pub(crate) unkept: Mutex<HashMap<SessionId, BrowserSession>>,
    /// Cancelled when the daemon ends.
    pub(crate) stop: CancellationToken,
    /// Every task but those of single requests.
    pub(crate) tasks: TaskTracker,
    pub(crate) rooms: Mutex<HashMap<SandboxId, Arc<Room>>>,
    pub(crate) own: OnceLock<Own>,
}

/// As what the daemon answers.
#[derive(Debug, Default)]
pub(crate) struct Own {
    /// Values of `Host`, in lower case.
    pub(crate) hosts: HashSet<String>,
    /// Origins of its own pages.
    pub(crate) origins: HashSet<Origin>,
    /// Where people find it.
    pub(crate) address: String,
}

impl Own {
    /// That of a loopback port, and what the configuration adds.
    pub(crate) fn at(port: u16, hosts: &[String]) -> Self {
        let local = ["127.0.0.1", "localhost"].map(|host| format!("{host}:{port}"));
        let hosts: HashSet<String> =
            local.into_iter().chain(hosts.iter().map(|host| host.to_ascii_lowercase())).collect();
        let origins = hosts
            .iter()
            .flat_map(|host| [format!("http://{host}"), format!("https://{host}")])
            .filter_map(|origin| Origin::parse(&origin).ok())
            .collect();
        Self { hosts, origins, address: format!("http://127.0.0.1:{port}") }
    }
}

impl App {
    /// Whether a `Host` is ours. Before a port is open, none is.
    pub(crate) fn is_own_host(&self, host: &str) -> bool {
        self.own.get().is_some_and(|own| own.hosts.contains(&host.to_ascii_lowercase()))
    }

    /// Whether a page of this origin is ours.
    pub(crate) fn is_own_origin(&self, origin: &Origin) -> bool {
        self.own.get().is_some_and(|own| own.origins.contains(origin))
    }

    /// Where people find it, if it has a port.
    pub(crate) fn address(&self) -> Option<&str> {
        self.own.get().map(|own| own.address.as_str())
    }

    /// Every `Host` that is ours.
    pub(crate) fn hosts(&self) -> Vec<String> {
        self.own.get().map(|own| own.hosts.iter().cloned().collect()).unwrap_or_default()
    }

    /// Origins whose pages may open a live view: our own and the configured ones (S-088).
    pub(crate) fn live_origins(&self) -> Vec<String> {
        let own = self.own.get().into_iter().flat_map(|own| own.origins.iter());
        let own = own.map(Origin::to_string);
        own.chain(self.config.server.origins.iter().cloned()).collect()
    }

    /// Where a browser would be watched.
    pub(crate) fn live_url(&self, session: &SessionId) -> Option<String> {
        let host = self.address()?.strip_prefix("http://")?;
        Some(format!("ws://{host}/live/{session}"))
    }

    /// The running browser with this session id.
    pub(crate) fn session(&self, id: &str) -> Option<Arc<LiveSession>> {
        self.running().into_iter().find(|session| session.id.as_str() == id)
    }

    /// A folder for one browser alone.
    pub(crate) fn folder(&self, session: &SessionId) -> PathBuf {
        self.sessions_folder().join(session.as_str())
    }

    /// Where those folders are.
    pub(crate) fn sessions_folder(&self) -> PathBuf {
        self.data_dir.join(SESSIONS)
    }

    /// What is in memory of a sandbox.
    pub(crate) fn room(&self, sandbox: &StoredSandbox) -> Arc<Room> {
        let make = || Arc::new(Room::new());
        lock(&self.rooms).entry(sandbox.id.clone()).or_insert_with(make).clone()
    }

    /// The same, if there is anything.
    pub(crate) fn known_room(&self, id: &SandboxId) -> Option<Arc<Room>> {
        lock(&self.rooms).get(id).cloned()
    }

    /// Writes down how a browser ended, now or as soon as the disk takes it.
    pub(crate) async fn keep_end(&self, row: &BrowserSession) {
        if let Err(error) = self.store.keep_session(row.clone()).await {
            tracing::error!(%error, session = %row.id, "the end of a browser could not be kept; it is tried again");
            lock(&self.unkept).insert(row.id.clone(), row.clone());
        }
    }

    /// Writes down the ends that could not be.
    pub(crate) async fn keep_ends(&self) {
        let unkept: Vec<BrowserSession> = lock(&self.unkept).values().cloned().collect();
        for row in unkept {
            let id = row.id.clone();
            if self.store.keep_session(row).await.is_err() {
                return;
            }
            lock(&self.unkept).remove(&id);
            self.usage.wake();
        }
    }

    /// Every browser that runs.
    pub(crate) fn running(&self) -> Vec<Arc<LiveSession>> {
        lock(&self.rooms).values().filter_map(|room| room.running()).collect()
    }

    /// Ends what runs in a sandbox, and forgets what is in memory of it. Answers the browser that is ending.
    pub(crate) fn end_room(&self, id: &SandboxId, why: End) -> Option<Arc<LiveSession>> {
        let room = lock(&self.rooms).remove(id)?;
        room.boot.cancel();
        let slot = room.slot().clone();
        match slot {
            Slot::Empty => None,
            Slot::Starting(cancel) => {
                cancel.cancel();
                None
            }
            Slot::Running(session) => {
                session.end(why);
                Some(session)
            }
        }
    }

    /// Ends everything and waits for it, within the drain and what the browsers take.
    pub(crate) async fn shut_down(&self) {
        self.stop.cancel();
        for session in self.running() {
            session.end(End::Shutdown);
        }
        self.tasks.close();
        if tokio::time::timeout(limits::DRAIN * 3, self.tasks.wait()).await.is_err() {
            tracing::warn!("some work did not end in time");
        }
        if let Err(error) = self.store.flush().await {
            tracing::error!(%error, "the last could not be written");
        }
    }
}

/// A client that follows no redirect and asks no proxy.
pub(crate) fn http_client() -> Result<reqwest::Client, ServeError> {
    // An error only says that one is installed already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder()
        .redirect(reqwest::redirect::Policy::none())
        .no_proxy()
        .user_agent(concat!("reins/", env!("CARGO_PKG_VERSION")))
        .build()
        .map_err(|error| ServeError::Internal(format!("no HTTP client: {error}")))
}
