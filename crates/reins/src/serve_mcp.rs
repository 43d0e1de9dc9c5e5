//! The MCP endpoint of each browser of `reins serve`: one door for each session, made at its first request
//! and closed with its browser.

use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;
use futures_util::future::BoxFuture;
use reins_control::{Reply, Tool};
use reins_core::SessionId;
use reins_mcp::{
    HeldBy, HttpAccess, HttpDoor, HttpLimits, HttpOptions, Names, NotMade, SessionCalls, ToolChoice,
};
use reins_serve::{Calls, Capability, McpDoor, McpTarget, NotCalled};
use serde_json::Value;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio_util::sync::CancellationToken;

type Doors = Arc<Mutex<HashMap<SessionId, HttpDoor>>>;

/// The doors of all running browsers.
#[derive(Debug)]
pub(crate) struct SessionDoors {
    names: Names,
    open: Doors,
}

impl SessionDoors {
    pub(crate) fn new(names: Names) -> Self {
        Self { names, open: Doors::default() }
    }

    fn door(&self, target: McpTarget) -> HttpDoor {
        let mut open = lock(&self.open);
        if let Some(door) = open.get(&target.session) {
            return door.clone();
        }
        let door = HttpDoor::new(HttpOptions {
            tools: choice(&target, self.names),
            names: self.names,
            access: HttpAccess::Checked,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            limits: HttpLimits::default(),
            calls: Arc::new(SandboxCalls(target.calls)),
        });
        open.insert(target.session.clone(), door.clone());
        tokio::spawn(close(Arc::clone(&self.open), target.session, target.ending));
        door
    }
}

/// Closes a session's door when its browser ends.
async fn close(open: Doors, session: SessionId, ending: CancellationToken) {
    ending.cancelled().await;
    let door = lock(&open).remove(&session);
    if let Some(door) = door {
        door.close();
    }
}

/// The core, and the groups that the browser was started with (S-033, S-034).
fn choice(target: &McpTarget, names: Names) -> ToolChoice {
    let mut chosen = vec!["core".to_owned()];
    if names == Names::Reins {
        // Among Playwright's names the listings of console and network are in the core.
        chosen.push("inspect".to_owned());
    }
    chosen.extend(target.capabilities.iter().map(|capability| {
        let name = match capability {
            Capability::Testing => "testing",
            Capability::Vision => "vision",
            Capability::Pdf => "pdf",
        };
        name.to_owned()
    }));
    ToolChoice::Named(chosen)
}

impl McpDoor for SessionDoors {
    fn serve(&self, target: McpTarget, request: Request) -> BoxFuture<'_, Response> {
        let door = self.door(target);
        Box::pin(async move { door.handle(request).await.map(Body::new) })
    }
}

/// A session's calls, as the daemon makes them: held while a person drives, told and recorded.
struct SandboxCalls(Calls);

impl SessionCalls for SandboxCalls {
    fn call<'a>(
        &'a self,
        tool: &'static Tool,
        arguments: Value,
        cancel: CancellationToken,
    ) -> BoxFuture<'a, Result<Reply, NotMade>> {
        Box::pin(async move {
            self.0.call(tool, arguments, None, cancel).await.map_err(|failure| match failure {
                NotCalled::Control(error) => NotMade::Control(error),
                NotCalled::Held { held, .. } => NotMade::Held(HeldBy {
                    held_by: held.held_by,
                    since: held.since,
                    waited_ms: held.waited_ms,
                }),
                // What else keeps a call from being made keeps all of them.
                _ => NotMade::Stopping,
            })
        })
    }
}

/// Every section under this lock leaves whole values.
fn lock(doors: &Doors) -> MutexGuard<'_, HashMap<SessionId, HttpDoor>> {
    doors.lock().unwrap_or_else(PoisonError::into_inner)
}
