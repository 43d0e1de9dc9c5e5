//! What the daemon says of itself.

use super::{Access, Answer, Ask, Operation, answer};
use crate::error::ServeError;
use crate::openapi;
use crate::scope::Scope;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use schemars::JsonSchema;
use serde::Serialize;

pub(super) const OPERATIONS: &[Operation] = &[
    Operation {
        method: "GET",
        path: "/healthz",
        id: "health",
        about: "Whether the daemon answers and its database does.",
        access: Access::Open,
        query: &[],
        body: None,
        good: 200,
        answer: Answer::Json(|g| g.subschema_for::<Health>()),
        bad: &[],
        handle: |ask| Box::pin(health(ask)),
    },
    Operation {
        method: "GET",
        path: "/metrics",
        id: "metrics",
        about: "Counters of the whole daemon in Prometheus' text form.",
        access: Access::Scope(Scope::Metrics),
        query: &[],
        body: None,
        good: 200,
        answer: Answer::Other("text/plain; version=0.0.4"),
        bad: &[],
        handle: |ask| Box::pin(metrics(ask)),
    },
    Operation {
        method: "GET",
        path: "/v1/openapi.json",
        id: "openapi",
        about: "This document.",
        access: Access::Known,
        query: &[],
        body: None,
        good: 200,
        answer: Answer::Other("application/json"),
        bad: &[],
        handle: |ask| Box::pin(document(ask)),
    },
];

/// Whether the daemon answers.
#[derive(Debug, Serialize, JsonSchema)]
struct Health {
    /// Always `ok`; anything else is an error.
    status: &'static str,
    /// The daemon's version.
    version: String,
}

async fn health(ask: Ask) -> Result<Response, ServeError> {
    ask.app.store.flush().await?;
    Ok(answer(200, &Health { status: "ok", version: ask.app.version.clone() }))
}

async fn metrics(ask: Ask) -> Result<Response, ServeError> {
    let sandboxes = ask.app.store.all_sandboxes().await?.len();
    let text = ask.app.metrics.text(&ask.app, sandboxes);
    Ok(([(header::CONTENT_TYPE, "text/plain; version=0.0.4")], text).into_response())
}

async fn document(ask: Ask) -> Result<Response, ServeError> {
    Ok(answer(200, &openapi::document(&ask.app.version)))
}
