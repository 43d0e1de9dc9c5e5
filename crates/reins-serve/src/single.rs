//! One browser alone: what runs in a container (S-173). Its settings are read once; when it is ready, one line says
//! where; when the browser ends, so does everything.

use crate::app::GivenToken;
use crate::auth::{Caller, Via};
use crate::backend::{Capability, Mode, SessionBackend};
use crate::clock::{self, Clock};
use crate::config::Config;
use crate::error::ServeError;
use crate::keys;
use crate::limits;
use crate::mcp_door::McpDoor;
use crate::scope::Scope;
use crate::serve::{Alone, Serve, ServeOptions};
use crate::session::{End, LiveSession};
use crate::start::{Wish, start};
use reins_control::Level;
use reins_core::{SandboxId, Secret, TenantId, web_url};
use reins_store::{SandboxPhase, StoredSandbox};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

/// The settings of one browser (S-171).
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Order {
    /// What requests must carry: at least 32 characters (S-X01).
    token: String,
    /// The one app it may open.
    app_url: String,
    /// `testing`, `vision`, `pdf`.
    #[serde(default)]
    capabilities: Vec<String>,
    /// When it stops by itself at the latest, RFC 3339.
    stop_at: String,
    /// Further values of `Host` that are its own: how others reach the container.
    #[serde(default)]
    hosts: Vec<String>,
    /// Origins whose dashboards may open the live view.
    #[serde(default)]
    origins: Vec<String>,
    /// Which kinds are recorded.
    #[serde(default)]
    record: Value,
}

impl std::fmt::Debug for Order {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Its token is not shown.
        f.debug_struct("Order").field("app_url", &self.app_url).finish_non_exhaustive()
    }
}

impl Order {
    /// Reads settings.
    ///
    /// # Errors
    ///
    /// Fails with what does not fit, and never repeats the token.
    pub fn parse(text: &str) -> Result<Self, ServeError> {
        let order: Self = serde_json::from_str(text).map_err(|error| {
            ServeError::Order(format!(
                "line {}, column {}: they do not fit; token, app_url and stop_at are needed",
                error.line(),
                error.column()
            ))
        })?;
        if order.token.len() < MIN_TOKEN {
            return Err(ServeError::Order(format!("token needs at least {MIN_TOKEN} characters")));
        }
        Ok(order)
    }
}

/// A token this long cannot be guessed (S-X01).
const MIN_TOKEN: usize = 32;

/// Whose the one sandbox is.
const TENANT: &str = "session";

/// What one browser is made with.
#[derive(Debug)]
pub struct SingleOptions {
    /// Where it keeps what it needs; removed by nobody.
    pub data_dir: PathBuf,
    /// Where it listens.
    pub listen: SocketAddr,
    /// The product's version.
    pub version: String,
    /// Where the browser runs.
    pub backend: Arc<dyn SessionBackend>,
    /// Who serves MCP over HTTP.
    pub mcp: Option<Arc<dyn McpDoor>>,
    /// What time it is.
    pub clock: Arc<dyn Clock>,
}

/// One browser that runs alone.
#[derive(Debug)]
pub struct Single {
    serve: Serve,
    session: Arc<LiveSession>,
    ready: Value,
}

impl Single {
    /// Starts it.
    ///
    /// # Errors
    ///
    /// Fails if the settings cannot be used or the browser does not start; nothing is left behind.
    pub async fn start(order: Order, options: SingleOptions) -> Result<Self, ServeError> {
        let url = web_url(&order.app_url).map_err(|error| ServeError::Order(error.to_string()))?;
        let stop_at = clock::read(&order.stop_at)
            .ok_or_else(|| ServeError::Order("stop_at must be RFC 3339 in UTC".into()))?;
        let mut capabilities = BTreeSet::new();
        for word in &order.capabilities {
            capabilities.insert(word.parse::<Capability>()?);
        }
        let token = Secret::new(order.token);
        let caller = Caller {
            tenant: TenantId::new(TENANT),
            name: "session".into(),
            scopes: [Scope::Read, Scope::Act, Scope::TakeOver].into_iter().collect(),
            owner: false,
            via: Via::Token,
        };
        let mut config = Config::default();
        config.server.hosts = order.hosts;
        config.server.origins = order.origins;
        let clock = options.clock.clone();
        let has_mcp = options.mcp.is_some();
        let given = GivenToken { hash: keys::hash(token.expose()), caller: caller.clone() };
        let serve = Serve::open(
            ServeOptions {
                config,
                data_dir: options.data_dir,
                socket: None,
                port: true,
                version: options.version,
                backend: options.backend,
                mcp: options.mcp,
                runner: None,
                clock: options.clock,
            },
            Some(Alone { given, listen: options.listen }),
        )
        .await?;
        let sandbox = StoredSandbox {
            id: SandboxId::new(keys::id("sb")?),
            tenant: caller.tenant.clone(),
            name: url.host_str().unwrap_or("app").chars().take(limits::NAME_CHARS).collect(),
            app_url: url.to_string(),
            guarded: false,
            command: None,
            cwd: None,
            ready_url: None,
            phase: SandboxPhase::Ready,
            error: None,
            created_at: clock.now(),
            expires_at: stop_at + limits::STOP_BEFORE_EXPIRY,
        };
        let wish = Wish {
            mode: Mode::Headless,
            capabilities,
            level: Level::default(),
            rules: Vec::new(),
            record: order.record,
            token: Some(token),
        };
        match Self::begin(&serve, &caller, sandbox, wish).await {
            Ok((session, id)) => {
                let address = serve.app().address().unwrap_or_default();
                let mut ready = json!({"api_url": address, "sandbox_id": id.as_str()});
                if has_mcp {
                    ready["mcp_url"] = json!(format!("{address}/v1/sandboxes/{id}/mcp"));
                }
                if let Some(live_url) = session.live_url() {
                    ready["live_url"] = json!(live_url);
                }
                Ok(Self { serve, session, ready })
            }
            Err(error) => {
                serve.stop().await;
                Err(error)
            }
        }
    }

    async fn begin(
        serve: &Serve,
        caller: &Caller,
        sandbox: StoredSandbox,
        wish: Wish,
    ) -> Result<(Arc<LiveSession>, SandboxId), ServeError> {
        let app = serve.app();
        app.store.add_sandbox(sandbox.clone()).await?;
        let id = sandbox.id.clone();
        let room = app.room(&sandbox);
        start(app, caller, sandbox, wish).await?;
        let ended = || ServeError::Internal("the browser ended as soon as it ran".into());
        Ok((room.running().ok_or_else(ended)?, id))
    }

    /// The one line that says where it is (S-X14). It holds no token.
    pub fn ready(&self) -> String {
        self.ready.to_string()
    }

    /// Until the browser ended, at its deadline or by itself; answers why.
    pub async fn ended(&self) -> String {
        self.session.ended().await.reason.unwrap_or_default()
    }

    /// Stops it.
    pub async fn stop(self) {
        self.session.end(End::Shutdown);
        self.serve.stop().await;
    }
}
