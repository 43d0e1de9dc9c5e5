//! Browser minutes.

use super::{Access, Answer, Ask, Operation, Param, answer};
use crate::clock::{minutes, month_begin, read, stamp};
use crate::error::ServeError;
use crate::hooks::used_this_month;
use crate::limits;
use crate::scope::Scope;
use axum::response::Response;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::time::SystemTime;

pub(super) const OPERATIONS: &[Operation] = &[Operation {
    method: "GET",
    path: "/v1/usage",
    id: "usage",
    about: "The tenant's browser minutes by browser, each rounded up; this calendar month if nothing is said.",
    access: Access::Scope(Scope::Read),
    query: &[
        Param { name: "from", about: "RFC 3339, in UTC.", kind: "string" },
        Param { name: "to", about: "RFC 3339, in UTC.", kind: "string" },
    ],
    body: None,
    good: 200,
    answer: Answer::Json(|g| g.subschema_for::<UsageShape>()),
    bad: &[400],
    handle: |ask| Box::pin(usage(ask)),
}];

#[derive(Debug, Deserialize)]
struct Span {
    from: Option<String>,
    to: Option<String>,
}

/// A tenant's browser minutes.
#[derive(Debug, Serialize, JsonSchema)]
struct UsageShape {
    tenant: String,
    /// RFC 3339.
    from: String,
    /// RFC 3339.
    to: String,
    /// Of all browsers that were started in this span.
    browser_minutes: u64,
    /// The oldest first; at most 1000.
    sessions: Vec<SessionShape>,
    /// What this calendar month may be used, where there is a limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    quota: Option<Quota>,
}

/// One browser.
#[derive(Debug, Serialize, JsonSchema)]
struct SessionShape {
    session_id: String,
    sandbox_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    recording_id: Option<String>,
    status: String,
    started_at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    ended_at: Option<String>,
    /// Rounded up.
    minutes: u64,
}

/// A month's limit.
#[derive(Debug, Serialize, JsonSchema)]
struct Quota {
    browser_minutes: u64,
    used: u64,
}

async fn usage(ask: Ask) -> Result<Response, ServeError> {
    let Span { from, to } = ask.query()?;
    let tenant = ask.caller()?.tenant.clone();
    let now = ask.app.clock.now();
    let from = time("from", from)?.unwrap_or_else(|| month_begin(now));
    let to = time("to", to)?.unwrap_or(now + std::time::Duration::from_secs(1));
    let store = &ask.app.store;
    let rows = store.sessions_between(tenant.clone(), from, to, limits::USAGE_ROWS).await?;
    let sessions = rows.into_iter().map(|row| SessionShape {
        session_id: row.id.to_string(),
        sandbox_id: row.sandbox.to_string(),
        recording_id: row.recording,
        status: row.phase.word().to_owned(),
        started_at: stamp(row.started_at),
        ended_at: row.ended_at.map(stamp),
        minutes: minutes(row.ran),
    });
    let sessions = sessions.collect();
    let browser_minutes = store.minutes_between(tenant.clone(), from, to).await?;
    let quota = match ask.app.config.quota.minutes(&tenant) {
        None => None,
        Some(limit) => {
            let used = used_this_month(&ask.app, &tenant).await?;
            Some(Quota { browser_minutes: limit, used })
        }
    };
    let (from, to) = (stamp(from), stamp(to));
    let tenant = tenant.to_string();
    Ok(answer(200, &UsageShape { tenant, from, to, browser_minutes, sessions, quota }))
}

fn time(name: &str, text: Option<String>) -> Result<Option<SystemTime>, ServeError> {
    let Some(text) = text else { return Ok(None) };
    let at = read(&text);
    at.map(Some).ok_or_else(|| {
        ServeError::Bad(format!("{name} must be RFC 3339 in UTC, such as 2026-12-01T00:00:00Z"))
    })
}
