//! Who one is, and dashboards' sign-ins.

use super::{Access, Answer, Ask, Operation, answer, nothing};
use crate::auth::{self, COOKIE, Caller, Via};
use crate::clock::stamp;
use crate::error::ServeError;
use crate::limits;
use crate::scope::Scope;
use axum::http::{HeaderValue, header};
use axum::response::Response;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::time::Instant;

pub(super) const OPERATIONS: &[Operation] = &[
    Operation {
        method: "POST",
        path: "/v1/login",
        id: "login",
        about: "Signs a dashboard in with a one-time code; sets its cookie.",
        access: Access::Open,
        query: &[],
        body: Some(|g| g.subschema_for::<Login>()),
        good: 200,
        answer: Answer::Json(|g| g.subschema_for::<Me>()),
        bad: &[400, 401, 413, 415, 429],
        handle: |ask| Box::pin(login(ask)),
    },
    Operation {
        method: "POST",
        path: "/v1/logout",
        id: "logout",
        about: "Signs the dashboard out.",
        access: Access::Known,
        query: &[],
        body: None,
        good: 204,
        answer: Answer::Nothing,
        bad: &[],
        handle: |ask| Box::pin(logout(ask)),
    },
    Operation {
        method: "GET",
        path: "/v1/me",
        id: "me",
        about: "Who the token or cookie belongs to, and what it may do.",
        access: Access::Known,
        query: &[],
        body: None,
        good: 200,
        answer: Answer::Json(|g| g.subschema_for::<Me>()),
        bad: &[],
        handle: |ask| Box::pin(me(ask)),
    },
    Operation {
        method: "POST",
        path: "/v1/codes",
        id: "createCode",
        about: "A one-time code that signs a dashboard in with the caller's own rights.",
        access: Access::Known,
        query: &[],
        body: None,
        good: 201,
        answer: Answer::Json(|g| g.subschema_for::<Code>()),
        bad: &[],
        handle: |ask| Box::pin(code(ask)),
    },
];

/// A one-time code.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Login {
    /// From the link that `reins serve` prints or `POST /v1/codes` answers.
    code: String,
}

/// Who one is.
#[derive(Debug, Serialize, JsonSchema)]
struct Me {
    /// What a dashboard sends as `X-Reins-Csrf` with every change; only for dashboards.
    #[serde(skip_serializing_if = "Option::is_none")]
    csrf: Option<String>,
    /// Whose rows are seen.
    tenant: String,
    /// What others see of them.
    name: String,
    /// What they may do.
    scopes: Vec<Scope>,
}

impl Me {
    fn of(caller: &Caller) -> Self {
        Self {
            csrf: match &caller.via {
                Via::Cookie { csrf } => Some(csrf.expose().clone()),
                Via::Owner | Via::Token => None,
            },
            tenant: caller.tenant.to_string(),
            name: caller.name.clone(),
            scopes: caller.scopes.iter().copied().collect(),
        }
    }
}

/// A code for a dashboard.
#[derive(Debug, Serialize, JsonSchema)]
struct Code {
    /// Signs in once.
    code: String,
    /// The link that uses it; none where the daemon has no port.
    url: Option<String>,
    /// Until when, RFC 3339.
    expires_at: String,
}

async fn login(ask: Ask) -> Result<Response, ServeError> {
    let Login { code } = ask.json()?;
    ask.app.wrong.take("", Instant::now())?;
    let signed_in = ask.app.sign_ins.open(&code)?;
    let mut response = answer(200, &Me::of(&signed_in.caller));
    let seconds = limits::SIGNED_IN.as_secs();
    set_cookie(&mut response, signed_in.cookie.expose(), seconds)?;
    Ok(response)
}

async fn logout(ask: Ask) -> Result<Response, ServeError> {
    if let Some(cookie) = auth::cookie(&ask.headers) {
        ask.app.sign_ins.close(cookie);
    }
    let mut response = nothing();
    set_cookie(&mut response, "", 0)?;
    Ok(response)
}

fn set_cookie(response: &mut Response, value: &str, seconds: u64) -> Result<(), ServeError> {
    let cookie = format!("{COOKIE}={value}; Path=/; HttpOnly; SameSite=Strict; Max-Age={seconds}");
    let mut cookie = HeaderValue::from_str(&cookie)
        .map_err(|error| ServeError::Internal(format!("no cookie: {error}")))?;
    cookie.set_sensitive(true);
    response.headers_mut().insert(header::SET_COOKIE, cookie);
    Ok(())
}

async fn me(ask: Ask) -> Result<Response, ServeError> {
    Ok(answer(200, &Me::of(ask.caller()?)))
}

async fn code(ask: Ask) -> Result<Response, ServeError> {
    let code = ask.app.sign_ins.code(ask.caller()?.clone())?;
    let url = ask.app.address().map(|address| format!("{address}/#code={}", code.expose()));
    let expires_at = stamp(ask.app.clock.now() + limits::CODE_LIVES);
    Ok(answer(201, &Code { code: code.expose().clone(), url, expires_at }))
}
