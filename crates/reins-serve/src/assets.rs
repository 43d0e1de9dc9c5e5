//! The dashboard's files, embedded as they were built, and the rules a browser is to keep for them.

use axum::Router;
use axum::body::Bytes;
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::LazyLock;

/// One file.
pub(crate) struct Asset {
    /// Where it is asked for.
    pub(crate) path: &'static str,
    kind: &'static str,
    plain: Bytes,
    /// The same as gzip.
    packed: Option<Bytes>,
    policy: HeaderValue,
    tag: String,
}

/// The dashboard runs its own script and style, talks to this daemon only (`'self'` holds its WebSocket as well), and makes no
/// element from text.
const DASHBOARD: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
     frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
     require-trusted-types-for 'script'; trusted-types 'none'";

/// What only the dashboard's page loads.
const PART: &str = "default-src 'none'; frame-ancestors 'none'";

const HTML: &str = "text/html; charset=utf-8";

/// The page that shows recordings stands in a frame of the dashboard and nowhere else.
fn replay() -> Asset {
    let policy = format!("{}; frame-ancestors 'self'", reins_record::PLAYER_POLICY);
    Asset::new("/dashboard/replay.html", HTML, reins_record::player_page().into(), None, &policy)
}

macro_rules! asset {
    ($path:literal, $file:literal, $kind:expr, $policy:expr) => {
        Asset::new(
            $path,
            $kind,
            Bytes::from_static(include_bytes!(concat!("../../../web/dist/dashboard/", $file))),
            Some(Bytes::from_static(include_bytes!(concat!(
                "../../../web/dist/dashboard/",
                $file,
                ".gz"
            )))),
            $policy,
        )
    };
}

/// Every file, made when the first is asked for.
pub(crate) static ASSETS: LazyLock<Vec<Asset>> = LazyLock::new(|| {
    vec![
        asset!("/", "index.html", HTML, DASHBOARD),
        asset!("/dashboard/app.js", "app.js", "text/javascript; charset=utf-8", PART),
        asset!("/dashboard/app-style.css", "app-style.css", "text/css; charset=utf-8", PART),
        asset!("/dashboard/icon.svg", "icon.svg", "image/svg+xml", PART),
        replay(),
    ]
});

/// The routes of the dashboard's files, for a server that checks `Host` itself. They need no sign-in and hold nothing of anybody.
pub fn dashboard<S: Clone + Send + Sync + 'static>() -> Router<S> {
    ASSETS.iter().fold(Router::new(), |router, asset| {
        let answer = async |request: Request| asset.answer(request.headers());
        router.route(asset.path, get(answer))
    })
}

/// Changes when the file does. Nothing but caching rests on it.
fn tag(bytes: &[u8]) -> String {
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    format!("\"{:016x}\"", hasher.finish())
}

impl Asset {
    fn new(
        path: &'static str,
        kind: &'static str,
        plain: Bytes,
        packed: Option<Bytes>,
        policy: &str,
    ) -> Self {
        // Without a policy that can be sent nothing may run at all.
        let policy = HeaderValue::from_str(policy)
            .unwrap_or(HeaderValue::from_static("default-src 'none'; sandbox"));
        let tag = tag(&plain);
        Self { path, kind, plain, packed, policy, tag }
    }

    /// The answer to a request for it.
    pub(crate) fn answer(&self, asked: &HeaderMap) -> Response {
        let mut headers = HeaderMap::new();
        headers.insert(header::CONTENT_SECURITY_POLICY, self.policy.clone());
        let mut set =
            |name, value: &'static str| headers.insert(name, HeaderValue::from_static(value));
        set(header::CONTENT_TYPE, self.kind);
        set(header::X_CONTENT_TYPE_OPTIONS, "nosniff");
        set(header::REFERRER_POLICY, "no-referrer");
        set(header::VARY, "accept-encoding");
        // Asked for again each time: a daemon of another version may answer at the same address.
        set(header::CACHE_CONTROL, "no-cache");
        set(header::HeaderName::from_static("cross-origin-opener-policy"), "same-origin");
        set(header::HeaderName::from_static("cross-origin-resource-policy"), "same-origin");
        if let Ok(tag) = HeaderValue::from_str(&self.tag) {
            headers.insert(header::ETAG, tag);
        }
        if values(asked, &header::IF_NONE_MATCH).any(|known| known == self.tag || known == "*") {
            return (StatusCode::NOT_MODIFIED, headers).into_response();
        }
        if let Some(packed) = self.packed.as_ref().filter(|_| accepts_gzip(asked)) {
            headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
            return (headers, packed.clone()).into_response();
        }
        (headers, self.plain.clone()).into_response()
    }
}

/// The parts of a list header.
fn values<'a>(headers: &'a HeaderMap, name: &header::HeaderName) -> impl Iterator<Item = &'a str> {
    headers
        .get_all(name)
        .into_iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .map(|part| part.trim().trim_start_matches("W/"))
}

fn accepts_gzip(asked: &HeaderMap) -> bool {
    values(asked, &header::ACCEPT_ENCODING).any(|one| {
        let (name, weight) = one.split_once(';').unwrap_or((one, ""));
        let refused = weight.trim().strip_prefix("q=").and_then(|q| q.parse().ok()) == Some(0.0);
        name.trim().eq_ignore_ascii_case("gzip") && !refused
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(name: header::HeaderName, value: &str) -> HeaderMap {
        HeaderMap::from_iter(HeaderValue::from_str(value).ok().map(|value| (name, value)))
    }

    #[test]
    fn gzip_is_sent_to_those_who_take_it_only() {
        for yes in ["gzip", "br, GZIP;q=0.5", "deflate,gzip"] {
            assert!(accepts_gzip(&asked(header::ACCEPT_ENCODING, yes)), "{yes}");
        }
        for no in ["", "br", "gzip;q=0", "gzip; q=0.0", "xgzip"] {
            assert!(!accepts_gzip(&asked(header::ACCEPT_ENCODING, no)), "{no}");
        }
    }

    #[test]
    fn a_file_that_is_known_is_not_sent_again() {
        let asset = &ASSETS[1];
        let again = asset.answer(&asked(header::IF_NONE_MATCH, &format!("\"x\", W/{}", asset.tag)));
        assert_eq!(again.status(), StatusCode::NOT_MODIFIED);
        let other = asset.answer(&asked(header::IF_NONE_MATCH, "\"x\""));
        assert_eq!(other.status(), StatusCode::OK);
    }

    #[test]
    fn the_page_names_no_other_address_and_holds_no_inline_script_or_style() {
        let page = std::str::from_utf8(&ASSETS[0].plain).unwrap_or_default();
        assert!(page.contains("/dashboard/app.js"));
        for banned in ["http:", "https:", "//", "<style", "style=", " onload", "<script>"] {
            assert!(!page.contains(banned), "{banned}");
        }
        assert!(!DASHBOARD.contains("unsafe") && !DASHBOARD.contains('*'));
    }
}
