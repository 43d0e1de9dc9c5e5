//! Refusals before anything is done, in the form that the whole API uses.

use super::{HttpBody, answer};
use http::header::{ALLOW, HeaderValue, WWW_AUTHENTICATE};
use http::{Response, StatusCode};
use serde_json::json;
use std::time::Duration;

fn refused(status: StatusCode, code: &str, message: &str) -> Response<HttpBody> {
    answer(status, json!({"error": {"code": code, "message": message}}).to_string())
}

pub(super) fn wrong_host() -> Response<HttpBody> {
    refused(
        StatusCode::MISDIRECTED_REQUEST,
        "wrong_host",
        "this service has another address; use the one it was started with, or add it with --host",
    )
}

pub(super) fn from_a_page() -> Response<HttpBody> {
    refused(
        StatusCode::FORBIDDEN,
        "foreign_origin",
        "requests of web pages are not answered here; call from a program",
    )
}

pub(super) fn no_token() -> Response<HttpBody> {
    let mut response = refused(
        StatusCode::UNAUTHORIZED,
        "no_token",
        "send the token of this service as Authorization: Bearer …",
    );
    response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    response
}

pub(super) fn method() -> Response<HttpBody> {
    let mut response =
        refused(StatusCode::METHOD_NOT_ALLOWED, "method", "use POST, GET or DELETE, as MCP does");
    response.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, POST, DELETE"));
    response
}

pub(super) fn closed() -> Response<HttpBody> {
    refused(
        StatusCode::CONFLICT,
        "browser_stopped",
        "the browser of this session has stopped; start it again and connect anew",
    )
}

pub(super) fn too_many(most: usize) -> Response<HttpBody> {
    refused(
        StatusCode::TOO_MANY_REQUESTS,
        "too_many_sessions",
        &format!("{most} clients are connected to this browser; end one of them first"),
    )
}

pub(super) fn too_large(most: usize) -> Response<HttpBody> {
    refused(
        StatusCode::PAYLOAD_TOO_LARGE,
        "too_large",
        &format!("a request holds at most {most} bytes"),
    )
}

pub(super) fn broken() -> Response<HttpBody> {
    refused(StatusCode::BAD_REQUEST, "broken_request", "the request broke off; send it again")
}

pub(super) fn too_slow(limit: Duration) -> Response<HttpBody> {
    refused(
        StatusCode::REQUEST_TIMEOUT,
        "too_slow",
        &format!("the request was not done within {} s", limit.as_secs()),
    )
}
