//! The one list of operations. Routes and the OpenAPI document are made from it.

pub(crate) mod browsers;
pub(crate) mod events;
pub(crate) mod me;
pub(crate) mod recordings;
pub(crate) mod runs;
pub(crate) mod sandboxes;
pub(crate) mod service;
pub(crate) mod settings;
pub(crate) mod storage_state;
pub(crate) mod tools;
pub(crate) mod usage;

use crate::app::App;
use crate::auth::Caller;
use crate::error::ServeError;
use crate::room::{Room, Slot};
use crate::scope::Scope;
use crate::session::LiveSession;
use axum::Json;
use axum::extract::Query;
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures_util::future::BoxFuture;
use reins_core::SandboxId;
use reins_store::StoredSandbox;
use schemars::{Schema, SchemaGenerator};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::HashMap;
use std::sync::Arc;

/// Who may use an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// Everybody who reaches the port.
    Open,
    /// Everybody who is known.
    Known,
    /// Those with a scope.
    Scope(Scope),
}

/// Makes a type's schema.
pub(crate) type Schematic = fn(&mut SchemaGenerator) -> Schema;

/// What comes back when it works.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Answer {
    /// JSON of a type.
    Json(Schematic),
    /// Another kind of body.
    Other(&'static str),
    /// No body.
    Nothing,
}

/// A query parameter.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Param {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) kind: &'static str,
}

/// One operation.
pub(crate) struct Operation {
    /// `GET`, `POST`, …
    pub(crate) method: &'static str,
    pub(crate) path: &'static str,
    pub(crate) id: &'static str,
    pub(crate) about: &'static str,
    pub(crate) access: Access,
    pub(crate) query: &'static [Param],
    pub(crate) body: Option<Schematic>,
    /// The status when it works.
    pub(crate) good: u16,
    pub(crate) answer: Answer,
    /// What else it may answer, beside what every operation may.
    pub(crate) bad: &'static [u16],
    pub(crate) handle: Handle,
}

impl std::fmt::Debug for Operation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.method, self.path)
    }
}

/// Answers one request.
pub(crate) type Handle = fn(Ask) -> BoxFuture<'static, Result<Response, ServeError>>;

/// One request that may be answered.
#[derive(Debug)]
pub(crate) struct Ask {
    pub(crate) app: Arc<App>,
    /// Who asks; `None` only where the operation is open.
    pub(crate) who: Option<Caller>,
    pub(crate) path: HashMap<String, String>,
    pub(crate) uri: Uri,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

/// Every operation, in the order of the document.
pub(crate) fn operations() -> impl Iterator<Item = &'static Operation> {
    [
        service::OPERATIONS,
        me::OPERATIONS,
        sandboxes::OPERATIONS,
        browsers::OPERATIONS,
        storage_state::OPERATIONS,
        tools::OPERATIONS,
        events::OPERATIONS,
        recordings::OPERATIONS,
        runs::OPERATIONS,
        usage::OPERATIONS,
        settings::OPERATIONS,
    ]
    .into_iter()
    .flatten()
}

impl Ask {
    /// Who asks.
    pub(crate) fn caller(&self) -> Result<&Caller, ServeError> {
        self.who.as_ref().ok_or(ServeError::Unauthorized)
    }

    /// A part of the address.
    pub(crate) fn part(&self, name: &str) -> &str {
        self.path.get(name).map_or("", String::as_str)
    }

    /// The sandbox that the address names, if it is the caller's.
    pub(crate) async fn sandbox(&self) -> Result<StoredSandbox, ServeError> {
        let id = SandboxId::new(self.part("id"));
        let found = self.app.store.sandbox(self.caller()?.tenant.clone(), id).await?;
        found.ok_or(ServeError::NotFound("sandbox"))
    }

    /// The query.
    pub(crate) fn query<T: DeserializeOwned>(&self) -> Result<T, ServeError> {
        let read = Query::<T>::try_from_uri(&self.uri);
        read.map(|query| query.0).map_err(|error| ServeError::Bad(error.body_text()))
    }

    /// The body as JSON; an empty one is an empty object.
    pub(crate) fn json<T: DeserializeOwned>(&self) -> Result<T, ServeError> {
        let body: &[u8] = if self.body.is_empty() { b"{}" } else { &self.body };
        serde_json::from_slice(body)
            .map_err(|error| ServeError::Bad(format!("the body does not fit: {error}")))
    }
}

/// The browser of a sandbox, if it runs.
pub(crate) fn running(
    app: &App,
    sandbox: &StoredSandbox,
) -> Result<(Arc<Room>, Arc<LiveSession>), ServeError> {
    let room = app.known_room(&sandbox.id);
    let slot = room.as_ref().map(|room| room.slot().clone()).unwrap_or_default();
    match (room, slot) {
        (Some(room), Slot::Running(session)) if !session.is_ending() => Ok((room, session)),
        (_, Slot::Running(_)) => {
            Err(ServeError::state("browser_stopping", "the browser is stopping; start it again"))
        }
        (_, Slot::Starting(_)) => Err(ServeError::state(
            "browser_starting",
            "the browser is still starting; try again in a moment",
        )),
        _ => Err(ServeError::state(
            "no_browser",
            "this sandbox has no running browser. Start it with POST …/browser",
        )),
    }
}

/// JSON with a status.
pub(crate) fn answer(status: u16, body: &impl Serialize) -> Response {
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::OK);
    (status, Json(body)).into_response()
}

/// No body.
pub(crate) fn nothing() -> Response {
    StatusCode::NO_CONTENT.into_response()
}
