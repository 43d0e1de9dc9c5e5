//! What can go wrong, with a stable code, a status, and a message that says what to do next.

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use reins_control::ControlError;
use reins_store::StoreError;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::time::Duration;
use thiserror::Error;

/// A failure of the daemon or of one request.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ServeError {
    /// No token, or none that is known.
    #[error(
        "this request carries no valid token. Send `Authorization: Bearer …` with a token from `reins serve token add`, or sign in again"
    )]
    Unauthorized,
    /// The one-time code is wrong, used or too old.
    #[error("this code is not valid any more. `reins serve link` prints a new one")]
    WrongCode,
    /// The token lacks a scope.
    #[error("this token may not do that: it lacks the scope '{0}'")]
    Scope(&'static str),
    /// A change from a dashboard without its CSRF word.
    #[error("this change came without the dashboard's own word for it. Reload the dashboard")]
    Csrf,
    /// The request came from a page of another origin.
    #[error("pages of '{0}' may not use this service")]
    Origin(String),
    /// The request was meant for another host.
    #[error(
        "this service does not answer as '{0}'. Use the address it printed at its start, or list the name under `hosts`"
    )]
    Host(String),
    /// Something that is switched off, or that a checker denied.
    #[error("{message}")]
    Denied {
        /// The code.
        code: &'static str,
        /// What and how to allow it.
        message: String,
        /// The checker's own words (S-120).
        payload: Value,
    },
    /// The quota is used up, or its checker said no (S-120).
    #[error("{message}")]
    Quota {
        /// What the checker said.
        message: String,
        /// Its payload.
        payload: Value,
    },
    /// Nothing of this tenant has this id.
    #[error("there is no {0} with this id")]
    NotFound(&'static str),
    /// No operation has this address.
    #[error("there is nothing at this address. `/v1/openapi.json` lists what there is")]
    NoRoute,
    /// The address exists, but not with this method.
    #[error("this address does not take this method. `/v1/openapi.json` lists what there is")]
    Method,
    /// The request is not understood.
    #[error("{0}")]
    Bad(String),
    /// The body is too large.
    #[error("the body is larger than {0} bytes. Send less at once")]
    TooLarge(usize),
    /// The body is no JSON.
    #[error("the body must be JSON, with `Content-Type: application/json`")]
    MediaType,
    /// The thing is in another state.
    #[error("{message}")]
    State {
        /// The code.
        code: &'static str,
        /// What and what to do.
        message: String,
    },
    /// It cannot be done (S-031).
    #[error("{message}")]
    Impossible {
        /// The code.
        code: &'static str,
        /// What and what to do.
        message: String,
    },
    /// Too many requests.
    #[error("too many requests at once. Try again in {} ms", .0.as_millis())]
    Rate(Duration),
    /// The browser's start or a tool failed before anything was done.
    #[error("{0}")]
    Control(#[from] ControlError),
    /// The database could not be used.
    #[error("{0}")]
    Store(#[from] StoreError),
    /// The system gave no random numbers.
    #[error("the system gave no random numbers: {0}. Start the daemon again")]
    Randomness(String),
    /// The configuration cannot be used.
    #[error("the configuration {} can't be used: {reason}", path.display())]
    Config {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// Another daemon uses the data directory.
    #[error("another `reins serve` uses {}; stop it, or give this one another --data", .0.display())]
    Locked(PathBuf),
    /// The address or socket cannot be listened on.
    #[error("can't listen on {place}: {source}. Choose another with --port or --socket")]
    Listen {
        /// Where.
        place: String,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// The settings of a single session cannot be used.
    #[error("the session's settings can't be used: {0}")]
    Order(String),
    /// A part of the daemon ended before its time.
    #[error("{0}. Try again; the daemon's log says more")]
    Internal(String),
}

impl ServeError {
    /// A 422 with its code.
    pub(crate) fn impossible(code: &'static str, message: impl Into<String>) -> Self {
        Self::Impossible { code, message: message.into() }
    }

    /// A 409 with its code.
    pub(crate) fn state(code: &'static str, message: impl Into<String>) -> Self {
        Self::State { code, message: message.into() }
    }

    /// The stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Unauthorized => "unauthorized",
            Self::WrongCode => "wrong_code",
            Self::Scope(_) => "missing_scope",
            Self::Csrf => "csrf",
            Self::Origin(_) => "foreign_origin",
            Self::Host(_) => "wrong_host",
            Self::Denied { code, .. }
            | Self::State { code, .. }
            | Self::Impossible { code, .. } => code,
            Self::Quota { .. } => "quota",
            Self::NotFound(_) => "not_found",
            Self::NoRoute => "no_route",
            Self::Method => "wrong_method",
            Self::Bad(_) => "bad_request",
            Self::TooLarge(_) => "too_large",
            Self::MediaType => "not_json",
            Self::Rate(_) => "too_many_requests",
            Self::Control(error) => error.code(),
            Self::Store(error) => error.code(),
            Self::Randomness(_) => "no_randomness",
            Self::Config { .. } => "bad_config",
            Self::Locked(_) => "serve_running",
            Self::Listen { .. } => "cannot_listen",
            Self::Order(_) => "bad_settings",
            Self::Internal(_) => "internal",
        }
    }

    /// The HTTP status.
    pub(crate) fn status(&self) -> StatusCode {
        match self {
            Self::Unauthorized | Self::WrongCode => StatusCode::UNAUTHORIZED,
            Self::Scope(_) | Self::Csrf | Self::Origin(_) | Self::Denied { .. } => {
                StatusCode::FORBIDDEN
            }
            Self::Quota { .. } => StatusCode::PAYMENT_REQUIRED,
            Self::NotFound(_) | Self::NoRoute => StatusCode::NOT_FOUND,
            Self::Method => StatusCode::METHOD_NOT_ALLOWED,
            Self::Bad(_) => StatusCode::BAD_REQUEST,
            Self::TooLarge(_) => StatusCode::PAYLOAD_TOO_LARGE,
            Self::MediaType => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::State { .. } => StatusCode::CONFLICT,
            Self::Host(_) => StatusCode::MISDIRECTED_REQUEST,
            Self::Impossible { .. } => StatusCode::UNPROCESSABLE_ENTITY,
            Self::Rate(_) => StatusCode::TOO_MANY_REQUESTS,
            Self::Control(ControlError::Arguments { .. }) => StatusCode::BAD_REQUEST,
            Self::Control(ControlError::UnknownTool(_)) => StatusCode::NOT_FOUND,
            Self::Control(_) => StatusCode::UNPROCESSABLE_ENTITY,
            Self::Store(_)
            | Self::Randomness(_)
            | Self::Config { .. }
            | Self::Locked(_)
            | Self::Listen { .. }
            | Self::Order(_)
            | Self::Internal(_) => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    /// The error as an answer's body.
    pub(crate) fn body(&self) -> Value {
        let mut error = json!({"code": self.code(), "message": self.to_string()});
        if let Self::Quota { payload, .. } | Self::Denied { payload, .. } = self
            && !payload.is_null()
        {
            error["payload"] = payload.clone();
        }
        json!({"error": error})
    }
}

impl IntoResponse for ServeError {
    fn into_response(self) -> Response {
        let status = self.status();
        if status.is_server_error() {
            tracing::error!(code = self.code(), "{self}");
        }
        let mut response = (status, Json(self.body())).into_response();
        if let Self::Rate(after) = &self {
            let seconds = after.as_secs() + 1;
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        if matches!(self, Self::Unauthorized) {
            response
                .headers_mut()
                .insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}
