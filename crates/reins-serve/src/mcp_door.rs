//! The MCP endpoint of a running browser, served by whoever the daemon was given for it.

use crate::app::App;
use crate::auth::{self, Way};
use crate::error::ServeError;
use crate::scope::Scope;
use axum::extract::Request;
use axum::http::header;
use axum::response::Response;
use futures_util::future::BoxFuture;
use reins_control::Control;
use reins_core::{SandboxId, SessionId};
use std::fmt::Debug;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// The browser that an MCP request means.
#[derive(Clone, Debug)]
pub struct McpTarget {
    /// Its session: the endpoint is this one's alone.
    pub session: SessionId,
    /// The street to it.
    pub control: Control,
    /// Cancelled when the browser ends.
    pub ending: CancellationToken,
    /// How calls are made, so that they are told, held and counted like all others.
    pub calls: crate::calls::Calls,
}

/// Serves MCP over HTTP for browsers.
pub trait McpDoor: Send + Sync + Debug {
    /// Answers one request that may act in this browser.
    fn serve(&self, target: McpTarget, request: Request) -> BoxFuture<'_, Response>;
}

/// One request: bearer token with scope `act`, and no Origin at all (S-142, S-145).
pub(crate) async fn serve(
    app: Arc<App>,
    door: Arc<dyn McpDoor>,
    sandbox: String,
    way: Way,
    request: Request,
) -> Result<Response, ServeError> {
    auth::place(&app, request.headers(), way)?;
    if let Some(origin) = request.headers().get(header::ORIGIN) {
        let origin = origin.to_str().unwrap_or("").chars().take(80).collect();
        return Err(ServeError::Origin(origin));
    }
    let caller = auth::caller(&app, request.headers(), request.method(), way).await?;
    caller.may(Scope::Act)?;
    let id = SandboxId::new(sandbox);
    let found = app.store.sandbox(caller.tenant.clone(), id).await?;
    let sandbox = found.ok_or(ServeError::NotFound("sandbox"))?;
    let (room, session) = crate::api::running(&app, &sandbox)?;
    let target = McpTarget {
        session: session.id.clone(),
        control: session.started.control.clone(),
        ending: session.ending(),
        calls: crate::calls::Calls::new(app.clone(), room, session, None),
    };
    Ok(door.serve(target, request).await)
}
