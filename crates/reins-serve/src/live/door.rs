//! Who may connect at all, before anything is said: pages of allowed origins, under our own name.

use axum::Json;
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use serde_json::json;

/// Which pages may connect.
#[derive(Debug)]
pub(crate) struct Door {
    origins: Vec<String>,
    hosts: Vec<String>,
}

/// Why a connection was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    Query,
    Host,
    Origin,
    Crowded,
    Stopped,
}

impl Door {
    pub(crate) fn new(origins: Vec<String>, hosts: Vec<String>) -> Self {
        Self { origins, hosts }
    }

    pub(crate) fn check(&self, headers: &HeaderMap, uri: &Uri) -> Result<(), Refused> {
        // Addresses are kept in logs and histories, so nothing is told in them (S-087).
        if uri.query().is_some() {
            return Err(Refused::Query);
        }
        if !one_of(headers, header::HOST, &self.hosts) {
            return Err(Refused::Host);
        }
        if !one_of(headers, header::ORIGIN, &self.origins) {
            return Err(Refused::Origin);
        }
        Ok(())
    }
}

/// Whether a header is there, once, with an allowed value. Names of hosts know no case.
fn one_of(headers: &HeaderMap, name: header::HeaderName, allowed: &[String]) -> bool {
    let mut values = headers.get_all(name).iter();
    let (Some(value), None) = (values.next(), values.next()) else { return false };
    let Ok(value) = value.to_str() else { return false };
    value != "null" && allowed.iter().any(|one| one.eq_ignore_ascii_case(value))
}

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        let (status, code, message) = match self {
            Self::Query => (
                StatusCode::BAD_REQUEST,
                "bad_request",
                "the live view takes no query. Send the ticket as the first message",
            ),
            Self::Host => (
                StatusCode::MISDIRECTED_REQUEST,
                "wrong_host",
                "this is not the address of this service. Use the one it printed at its start",
            ),
            Self::Origin => (
                StatusCode::FORBIDDEN,
                "foreign_origin",
                "pages of this origin may not watch. Add it to the allowed origins in the configuration",
            ),
            Self::Crowded => (
                StatusCode::TOO_MANY_REQUESTS,
                "too_many_requests",
                "too many connections without a ticket at once. Try again in some seconds",
            ),
            Self::Stopped => (
                StatusCode::CONFLICT,
                "browser_stopped",
                "this browser has stopped. Start it again to watch it",
            ),
        };
        (status, Json(json!({ "error": { "code": code, "message": message } }))).into_response()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// S-088, S-155: an allowed origin, our own name, no query.
    #[test]
    fn s088_s155_other_origins_hosts_and_queries_are_refused() {
        let door = Door::new(vec!["http://127.0.0.1:7".into()], vec!["127.0.0.1:7".into()]);
        let own = ("127.0.0.1:7", Some("http://127.0.0.1:7"));
        for (uri, host, origin, answer) in [
            ("/live/s", own.0, own.1, Ok(())),
            ("/live/s", "127.0.0.1:7", Some("HTTP://127.0.0.1:7"), Ok(())),
            ("/live/s?", own.0, own.1, Err(Refused::Query)),
            ("/live/s?ticket=x", own.0, own.1, Err(Refused::Query)),
            ("/live/s", "localhost:7", own.1, Err(Refused::Host)),
            ("/live/s", "127.0.0.1", own.1, Err(Refused::Host)),
            ("/live/s", "127.0.0.1:7.evil.example", own.1, Err(Refused::Host)),
            ("/live/s", own.0, None, Err(Refused::Origin)),
            ("/live/s", own.0, Some("null"), Err(Refused::Origin)),
            ("/live/s", own.0, Some("http://127.0.0.1:70"), Err(Refused::Origin)),
            ("/live/s", own.0, Some("https://127.0.0.1:7"), Err(Refused::Origin)),
            ("/live/s", own.0, Some("http://evil.example"), Err(Refused::Origin)),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(header::HOST, host.parse().unwrap());
            if let Some(origin) = origin {
                headers.insert(header::ORIGIN, origin.parse().unwrap());
            }
            let uri: Uri = uri.parse().unwrap();
            assert_eq!(door.check(&headers, &uri), answer, "{uri} {host} {origin:?}");
        }
        let mut twice = HeaderMap::new();
        twice.insert(header::HOST, "127.0.0.1:7".parse().unwrap());
        twice.append(header::ORIGIN, "http://127.0.0.1:7".parse().unwrap());
        twice.append(header::ORIGIN, "http://127.0.0.1:7".parse().unwrap());
        assert_eq!(door.check(&twice, &Uri::from_static("/live/s")), Err(Refused::Origin));
    }
}
