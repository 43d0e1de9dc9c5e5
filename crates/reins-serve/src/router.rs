//! Requests to operations: one way for all, so that none forgets a check.

use crate::api::{self, Access, Ask, Operation};
use crate::app::App;
use crate::assets;
use crate::auth::{self, Way};
use crate::error::ServeError;
use crate::limits;
use crate::mcp_door;
use axum::body::Body;
use axum::extract::{Path, Request};
use axum::http::{HeaderMap, HeaderValue, Method, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodFilter, MethodRouter, on};
use axum::{RequestPartsExt, Router};
use bytes::Bytes;
use futures_util::StreamExt;
use std::collections::HashMap;
use std::sync::Arc;

/// The daemon's routes, as they are reached by one way.
pub(crate) fn routes(app: &Arc<App>, way: Way) -> Router {
    let mut paths: HashMap<&'static str, MethodRouter> = HashMap::new();
    for operation in api::operations() {
        let app = app.clone();
        let handler = on(filter(operation.method), move |request: Request| {
            serve(app.clone(), operation, way, request)
        });
        let at = paths.remove(operation.path).unwrap_or_default();
        paths.insert(operation.path, at.merge(handler));
    }
    let mut router = Router::new();
    for (path, methods) in paths {
        router = router.route(path, methods);
    }
    if let Some(door) = app.mcp.clone() {
        let app = app.clone();
        let handler = move |Path(id): Path<String>, request: Request| {
            let (app, door) = (app.clone(), door.clone());
            async move {
                let answered = mcp_door::serve(app.clone(), door, id, way, request).await;
                finished(&app, answered)
            }
        };
        let methods = MethodFilter::GET.or(MethodFilter::POST).or(MethodFilter::DELETE);
        router = router.route("/v1/sandboxes/{id}/mcp", on(methods, handler));
    }
    let live = app.clone();
    let watch = move |Path(session): Path<String>, request: Request| {
        let app = live.clone();
        async move { watch(app, &session, request).await }
    };
    router = router.route("/live/{session}", on(MethodFilter::GET, watch));
    for asset in assets::ASSETS.iter() {
        let app = app.clone();
        let answer = async move |request: Request| {
            let placed = auth::host(&app, request.headers(), way);
            finished(&app, placed.map(|()| asset.answer(request.headers())))
        };
        router = router.route(asset.path, on(MethodFilter::GET, answer));
    }
    let (lost, wrong) = (app.clone(), app.clone());
    router
        .fallback(move |request: Request| stray(lost.clone(), way, request, ServeError::NoRoute))
        .method_not_allowed_fallback(move |request: Request| {
            stray(wrong.clone(), way, request, ServeError::Method)
        })
}

/// An upgrade to a browser's live view. Who may watch is shown by the ticket in its first message.
async fn watch(app: Arc<App>, session: &str, request: Request) -> Response {
    let answer = match app.session(session) {
        Some(session) => session.witness.connect(request).await,
        None => None,
    };
    answer.unwrap_or_else(|| finished(&app, Err(ServeError::NotFound("live view"))))
}

fn filter(method: &str) -> MethodFilter {
    match method {
        "POST" => MethodFilter::POST,
        "PUT" => MethodFilter::PUT,
        "DELETE" => MethodFilter::DELETE,
        _ => MethodFilter::GET,
    }
}

/// A request that no operation takes.
async fn stray(app: Arc<App>, way: Way, request: Request, error: ServeError) -> Response {
    let error = auth::place(&app, request.headers(), way).err().unwrap_or(error);
    finished(&app, Err(error))
}

async fn serve(
    app: Arc<App>,
    operation: &'static Operation,
    way: Way,
    request: Request,
) -> Response {
    let answered = handle(&app, operation, way, request).await;
    finished(&app, answered)
}

/// Counts an answer and adds what all carry.
fn finished(app: &App, answered: Result<Response, ServeError>) -> Response {
    let mut response = answered.unwrap_or_else(IntoResponse::into_response);
    app.metrics.answered(response.status().as_u16());
    let headers = response.headers_mut();
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    response
}

async fn handle(
    app: &Arc<App>,
    operation: &'static Operation,
    way: Way,
    request: Request,
) -> Result<Response, ServeError> {
    auth::place(app, request.headers(), way)?;
    let (mut parts, body) = request.into_parts();
    let who = match operation.access {
        Access::Open => None,
        Access::Known | Access::Scope(_) => {
            Some(auth::caller(app, &parts.headers, &parts.method, way).await?)
        }
    };
    if let (Access::Scope(scope), Some(caller)) = (operation.access, &who) {
        caller.may(scope)?;
    }
    let path = parts.extract::<Path<HashMap<String, String>>>().await;
    // A part that is no text names nothing.
    let Path(path) = path.map_err(|_| ServeError::NotFound("thing"))?;
    let body = if operation.body.is_some() {
        read(&parts.headers, &parts.method, body).await?
    } else {
        Bytes::new()
    };
    let (uri, headers) = (parts.uri, parts.headers);
    (operation.handle)(Ask { app: app.clone(), who, path, uri, headers, body }).await
}

/// The body, within bounds and as JSON.
async fn read(headers: &HeaderMap, method: &Method, body: Body) -> Result<Bytes, ServeError> {
    let mut parts = body.into_data_stream();
    let (mut bytes, mut taken) = (Vec::new(), 0);
    while let Some(part) = parts.next().await {
        let part = part.map_err(|_| ServeError::Bad("the body broke off".into()))?;
        taken += part.len();
        if taken <= limits::BODY_BYTES {
            bytes.extend_from_slice(&part);
        }
        // What is too large is still taken, within bounds: an answer to one who sends on is lost with the connection.
        if taken > limits::OVERSIZED_BYTES {
            break;
        }
    }
    if taken > limits::BODY_BYTES {
        return Err(ServeError::TooLarge(limits::BODY_BYTES));
    }
    let bytes = Bytes::from(bytes);
    if bytes.is_empty() || method == Method::GET {
        return Ok(bytes);
    }
    let kind = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let kind = kind.and_then(|kind| kind.split(';').next()).unwrap_or("").trim();
    if kind.eq_ignore_ascii_case("application/json") {
        Ok(bytes)
    } else {
        Err(ServeError::MediaType)
    }
}
