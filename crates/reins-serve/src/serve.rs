//! The daemon: opened, listening, stopped.

use crate::app::{self, App, GivenToken, Own};
use crate::auth::{Caller, Way};
use crate::backend::SessionBackend;
use crate::clock::Clock;
use crate::config::Config;
use crate::error::ServeError;
use crate::hooks::Hooks;
use crate::limits;
use crate::mcp_door::McpDoor;
use crate::rate::Rates;
use crate::recovery;
use crate::router::routes;
use crate::runs::{Runner, Runs};
use crate::witness::Witnesses;
use crate::{reaper, retain, usage};
use axum::serve::ListenerExt;
use reins_core::Secret;
use reins_record::Library;
use reins_store::Store;
use std::fs::File;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use tokio::net::{TcpListener, UnixListener};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// What a daemon is made of.
#[derive(Debug)]
pub struct ServeOptions {
    /// The configuration.
    pub config: Config,
    /// Where its database, its sessions' folders and its socket are; one daemon uses it at a time.
    pub data_dir: PathBuf,
    /// The owner's socket; `None` is `serve.sock` in the data directory.
    pub socket: Option<PathBuf>,
    /// Whether it listens on a loopback port as well.
    pub port: bool,
    /// The product's version.
    pub version: String,
    /// Where browsers run.
    pub backend: Arc<dyn SessionBackend>,
    /// Who serves MCP over HTTP.
    pub mcp: Option<Arc<dyn McpDoor>>,
    /// Who makes runs.
    pub runner: Option<Arc<dyn Runner>>,
    /// What time it is.
    pub clock: Arc<dyn Clock>,
}

/// The file that says which daemon uses the data directory.
const LOCK: &str = "serve.lock";

/// The owner's socket, if no other is named.
pub const SOCKET: &str = "serve.sock";

/// The database that `reins serve` shares with the rest of Reins.
pub const STORE: &str = reins_control::STORE_FILE;

/// What was recorded, in the data directory.
const RECORDINGS: &str = "recordings";

/// What one browser alone is opened with.
pub(crate) struct Alone {
    /// The one token.
    pub(crate) given: GivenToken,
    /// Where it listens: in a container that is not loopback.
    pub(crate) listen: SocketAddr,
}

/// A daemon that listens.
#[derive(Debug)]
pub struct Serve {
    app: Arc<App>,
    port: Option<u16>,
    socket: PathBuf,
    /// Held until the end.
    _lock: File,
}

impl Serve {
    /// Opens a daemon: takes the data directory, ends what a dead one left, and listens.
    ///
    /// # Errors
    ///
    /// Fails if another daemon uses the directory, or what it needs cannot be opened.
    pub async fn start(options: ServeOptions) -> Result<Self, ServeError> {
        Self::open(options, None).await
    }

    /// The same, with what one browser alone needs.
    pub(crate) async fn open(
        options: ServeOptions,
        alone: Option<Alone>,
    ) -> Result<Self, ServeError> {
        private(&options.data_dir)?;
        let lock = lock(&options.data_dir)?;
        let store = Store::open(options.data_dir.join(STORE))?;
        let hooks = Hooks::new(options.config.webhook.as_ref())?;
        let requests = &options.config.requests;
        let loopback = SocketAddr::from((Ipv4Addr::LOCALHOST, options.config.server.port));
        let (given, address, owned) = match alone {
            None => (Vec::new(), loopback, true),
            Some(alone) => (vec![alone.given], alone.listen, false),
        };
        let witnesses = Witnesses {
            library: Library::open(options.data_dir.join(RECORDINGS)),
            clock: options.clock.clone(),
        };
        let app = Arc::new(App {
            witnesses,
            rates: Rates::new(requests.per_second, requests.burst),
            wrong: Rates::new(limits::WRONG_PER_SECOND, limits::WRONG_PER_SECOND),
            version: options.version,
            data_dir: options.data_dir.clone(),
            store,
            clock: options.clock,
            backend: options.backend,
            mcp: options.mcp,
            runs: Runs { runner: options.runner, ..Runs::default() },
            given,
            hooks,
            http: app::http_client()?,
            sign_ins: Default::default(),
            metrics: Default::default(),
            usage: Default::default(),
            unkept: Default::default(),
            stop: CancellationToken::new(),
            tasks: TaskTracker::new(),
            rooms: Default::default(),
            own: OnceLock::new(),
            config: options.config,
        });
        recovery::recover(&app).await?;
        let port = if options.port { Some(listen(&app, address).await?) } else { None };
        let socket = options.socket.unwrap_or_else(|| options.data_dir.join(SOCKET));
        if owned {
            own_socket(&app, &socket)?;
        }
        app.tasks.spawn(reaper::reap(app.clone()));
        app.tasks.spawn(usage::tell(app.clone()));
        app.tasks.spawn(retain::retain(app.clone()));
        Ok(Self { app, port, socket, _lock: lock })
    }

    pub(crate) fn app(&self) -> &Arc<App> {
        &self.app
    }

    /// The loopback port.
    pub fn port(&self) -> Option<u16> {
        self.port
    }

    /// The owner's socket.
    pub fn socket(&self) -> &Path {
        &self.socket
    }

    /// A link that signs the owner's dashboard in once.
    ///
    /// # Errors
    ///
    /// Fails without random numbers.
    pub fn link(&self) -> Result<Option<Secret<String>>, ServeError> {
        let Some(address) = self.app.address() else { return Ok(None) };
        let owner = Caller::owner(&self.app.config.server.owner_tenant);
        let code = self.app.sign_ins.code(owner)?;
        Ok(Some(Secret::new(format!("{address}/#code={}", code.expose()))))
    }

    /// Stops: no new requests, browsers ended, usage told, everything written.
    pub async fn stop(self) {
        self.app.shut_down().await;
        // What the last browsers ran is told now, or at the next start.
        if tokio::time::timeout(limits::DRAIN, usage::once(&self.app)).await.is_err() {
            tracing::warn!("the last usage was not taken in time; it is told at the next start");
        }
        if let Err(error) = std::fs::remove_file(&self.socket) {
            tracing::debug!(%error, "the socket was gone already");
        }
    }
}

/// A directory that only the owner enters.
fn private(dir: &Path) -> Result<(), ServeError> {
    use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
    let failed = |error: std::io::Error| ServeError::Config {
        path: dir.to_owned(),
        reason: error.to_string(),
    };
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(dir).map_err(failed)?;
    let mode = std::fs::metadata(dir).map_err(failed)?.permissions().mode();
    if mode & 0o077 != 0 {
        return Err(ServeError::Config {
            path: dir.to_owned(),
            reason: "others may enter it; run chmod 700 on it".into(),
        });
    }
    Ok(())
}

fn lock(dir: &Path) -> Result<File, ServeError> {
    let failed = |error: std::io::Error| ServeError::Config {
        path: dir.to_owned(),
        reason: error.to_string(),
    };
    let file = File::options()
        .create(true)
        .truncate(false)
        .write(true)
        .open(dir.join(LOCK))
        .map_err(failed)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(std::fs::TryLockError::WouldBlock) => Err(ServeError::Locked(dir.to_owned())),
        Err(std::fs::TryLockError::Error(error)) => Err(failed(error)),
    }
}

/// Listens on a port.
async fn listen(app: &Arc<App>, address: SocketAddr) -> Result<u16, ServeError> {
    let failed = |source| ServeError::Listen { place: address.to_string(), source };
    let listener = TcpListener::bind(address).await.map_err(failed)?;
    let port = listener.local_addr().map_err(failed)?.port();
    // Nobody else sets it.
    let _ = app.own.set(Own::at(port, &app.config.server.hosts));
    let (routes, stop) = (routes(app, Way::Port), app.stop.clone());
    // Frames of a live view and events are small and must not wait for each other.
    let listener = listener.tap_io(|connection| {
        if let Err(error) = connection.set_nodelay(true) {
            tracing::debug!(%error, "a connection stays slow");
        }
    });
    app.tasks.spawn(async move {
        let served = axum::serve(listener, routes).with_graceful_shutdown(stop.cancelled_owned());
        if let Err(error) = served.await {
            tracing::error!(%error, "the port ended");
        }
    });
    Ok(port)
}

/// Listens on the owner's socket.
fn own_socket(app: &Arc<App>, path: &Path) -> Result<(), ServeError> {
    use std::os::unix::fs::PermissionsExt;
    let failed = |source| ServeError::Listen { place: path.display().to_string(), source };
    // What a dead daemon left: the lock says that no living one uses it.
    match std::fs::remove_file(path) {
        Ok(()) => {}
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(error) => return Err(failed(error)),
    }
    let listener = UnixListener::bind(path).map_err(failed)?;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600)).map_err(failed)?;
    let (routes, stop) = (routes(app, Way::Socket), app.stop.clone());
    app.tasks.spawn(async move {
        let served = axum::serve(listener, routes).with_graceful_shutdown(stop.cancelled_owned());
        if let Err(error) = served.await {
            tracing::error!(%error, "the owner's socket ended");
        }
    });
    Ok(())
}
