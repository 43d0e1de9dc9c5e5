//! Who may use the daemon, and from where: without a browser.
#![allow(clippy::unwrap_used, reason = "tests")]

mod support;

use reins_serve::{Scope, SystemClock};
use reqwest::Method;
use serde_json::{Value, json};
use std::sync::Arc;
use support::{Client, answer, code, daemon, daemon_with, http};

#[tokio::test(flavor = "multi_thread")]
async fn a_token_opens_what_its_scopes_say_and_no_token_nothing() {
    let mut daemon = daemon().await;
    let base = format!("http://127.0.0.1:{}", daemon.port);
    let (status, health) = answer(http().get(format!("{base}/healthz"))).await;
    assert_eq!((status, &health["status"]), (200, &json!("ok")));
    for path in ["/v1/me", "/v1/sandboxes", "/metrics", "/v1/openapi.json"] {
        let (status, body) = answer(http().get(format!("{base}{path}"))).await;
        assert_eq!((status, code(&body)), (401, "unauthorized"), "{path}");
    }
    let wrong = Client::new(daemon.port, "rst_wrong");
    assert_eq!(wrong.get("/v1/me").await.0, 401);
    let reader = Client::new(daemon.port, &daemon.token("acme", "reader", &[Scope::Read]).await);
    let (status, me) = reader.get("/v1/me").await;
    assert_eq!(status, 200);
    assert_eq!(me, json!({"tenant": "acme", "name": "reader", "scopes": ["read"]}));
    assert_eq!(reader.get("/v1/sandboxes").await.0, 200);
    for (method, path) in [(Method::POST, "/v1/sandboxes"), (Method::GET, "/metrics")] {
        let (status, body) = reader.send(method, path, None).await;
        assert_eq!((status, code(&body)), (403, "missing_scope"), "{path}");
    }
    daemon.stop().await;
}

/// S-145: a Host that is not ours, or an Origin that is not ours, is refused; at every path.
#[tokio::test(flavor = "multi_thread")]
async fn s145_foreign_hosts_and_origins_are_refused_everywhere() {
    let mut daemon =
        daemon_with("[server]\nhosts = ['reins.example']\n", Arc::new(SystemClock)).await;
    let client = daemon.client("acme").await;
    let own = format!("http://127.0.0.1:{}", daemon.port);
    for path in ["/healthz", "/v1/me", "/v1/nowhere"] {
        for host in ["evil.example", "127.0.0.1:1", "", "localhost"] {
            let request = client.request(Method::GET, path).header("host", host);
            let (status, body) = answer(request).await;
            assert_eq!((status, code(&body)), (421, "wrong_host"), "{host} {path}");
        }
        for origin in ["https://evil.example", "null", "http://127.0.0.1:1", "file://"] {
            let request = client.request(Method::GET, path).header("origin", origin);
            let (status, body) = answer(request).await;
            assert_eq!((status, code(&body)), (403, "foreign_origin"), "{origin} {path}");
        }
        let request = client.request(Method::GET, path).header("sec-fetch-site", "cross-site");
        assert_eq!(answer(request).await.0, 403, "{path}");
    }
    for (name, value) in [("host", "reins.example"), ("host", "REINS.example"), ("origin", &own)] {
        let request = client.request(Method::GET, "/v1/me").header(name, value);
        assert_eq!(answer(request).await.0, 200, "{name}: {value}");
    }
    daemon.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dashboard_signs_in_once_by_a_code_and_changes_need_its_own_word() {
    let mut daemon = daemon().await;
    let client = daemon.client("acme").await;
    let (status, made) = client.post("/v1/codes", json!({})).await;
    assert_eq!(status, 201);
    let url = made["url"].as_str().unwrap();
    assert!(url.starts_with(&format!("http://127.0.0.1:{}/#code=", daemon.port)), "{url}");
    let plain = http();
    let login =
        || plain.post(format!("{}/v1/login", client.base)).json(&json!({"code": made["code"]}));
    let answered = login().send().await.unwrap();
    assert_eq!(answered.status(), 200);
    let cookie = answered.headers()["set-cookie"].to_str().unwrap().to_owned();
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"), "{cookie}");
    let cookie = cookie.split(';').next().unwrap().to_owned();
    let me: Value = answered.json().await.unwrap();
    assert_eq!((&me["tenant"], &me["name"]), (&json!("acme"), &json!("test")));
    let csrf = me["csrf"].as_str().unwrap().to_owned();

    let (status, body) = answer(login()).await;
    assert_eq!((status, code(&body)), (401, "wrong_code"), "a code works once");

    let with_cookie = |method: Method, path: &str| {
        plain.request(method, format!("{}{path}", client.base)).header("cookie", &cookie)
    };
    let (status, again) = answer(with_cookie(Method::GET, "/v1/me")).await;
    assert_eq!((status, &again["csrf"]), (200, &me["csrf"]));
    let change =
        || with_cookie(Method::POST, "/v1/sandboxes").json(&json!({"app_url": "http://a.example"}));
    let (status, body) = answer(change()).await;
    assert_eq!((status, code(&body)), (403, "csrf"));
    let (status, body) = answer(change().header("x-reins-csrf", "guess")).await;
    assert_eq!((status, code(&body)), (403, "csrf"));
    let (status, _) = answer(change().header("x-reins-csrf", &csrf)).await;
    assert_eq!(status, 201);

    let out = with_cookie(Method::POST, "/v1/logout").header("x-reins-csrf", &csrf);
    assert_eq!(answer(out).await.0, 204);
    assert_eq!(answer(with_cookie(Method::GET, "/v1/me")).await.0, 401);
    daemon.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn oversized_malformed_and_misdirected_requests_are_told_so() {
    let mut daemon = daemon().await;
    let client = daemon.client("acme").await;
    let post = || client.request(Method::POST, "/v1/sandboxes");
    let json_text =
        |text: &str| post().header("content-type", "application/json").body(text.to_owned());
    for (what, request, expected) in [
        ("too large", post().json(&json!({"name": "x".repeat(5 << 20)})), (413, "too_large")),
        ("not JSON", post().body("app_url=http://a.example"), (415, "not_json")),
        ("broken", json_text("{\"app_url\":"), (400, "bad_request")),
        ("an array", json_text("[]"), (400, "bad_request")),
        ("deep", json_text(&"[".repeat(100_000)), (400, "bad_request")),
        ("unknown word", post().json(&json!({"app": "http://a.example"})), (400, "bad_request")),
        ("no app", post().json(&json!({})), (400, "bad_request")),
        (
            "not the web",
            post().json(&json!({"app_url": "file:///etc/passwd"})),
            (400, "bad_request"),
        ),
        (
            "a password",
            post().json(&json!({"app_url": "http://a:b@c.example"})),
            (400, "bad_request"),
        ),
        (
            "too long a life",
            post().json(&json!({"app_url": "http://a.example", "expires_in_s": 10_000_000})),
            (422, "bad_expiry"),
        ),
        (
            "a command by a token",
            post().json(&json!({"app_url": "http://a.example", "command": "true"})),
            (403, "commands_off"),
        ),
        ("no such address", client.request(Method::GET, "/v1/nothing"), (404, "no_route")),
        ("no such method", client.request(Method::PUT, "/v1/me"), (405, "wrong_method")),
        ("a bad time", client.request(Method::GET, "/v1/usage?from=soon"), (400, "bad_request")),
    ] {
        let (status, body) = answer(request).await;
        assert_eq!((status, code(&body)), expected, "{what}: {body}");
        assert!(body["error"]["message"].as_str().unwrap().len() > 10, "{what}");
    }
    daemon.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_that_asks_too_often_waits_and_others_do_not() {
    let mut daemon =
        daemon_with("[requests]\nper_second = 1\nburst = 5\n", Arc::new(SystemClock)).await;
    let (busy, calm) = (daemon.client("acme").await, daemon.client("other").await);
    let mut refused = 0;
    for _ in 0..20 {
        let answered = busy.request(Method::GET, "/v1/me").send().await.unwrap();
        if answered.status() == 429 {
            assert!(answered.headers().contains_key("retry-after"));
            refused += 1;
        }
    }
    assert!(refused >= 10, "{refused}");
    assert_eq!(calm.get("/v1/me").await.0, 200);
    daemon.stop().await;
}

/// Every id of one tenant is unknown to another, on every route that takes one.
#[tokio::test(flavor = "multi_thread")]
async fn no_tenant_reaches_anything_of_another() {
    let mut daemon = daemon().await;
    let (mine, theirs) = (daemon.client("acme").await, daemon.client("other").await);
    let id = mine.sandbox("http://a.example").await;
    let (_, document) = mine.get("/v1/openapi.json").await;
    let mut crossed = 0;
    for (path, methods) in document["paths"].as_object().unwrap() {
        if !path.contains("{id}") {
            continue;
        }
        let path = path.replace("{id}", &id).replace("{card}", "c1");
        for method in methods.as_object().unwrap().keys() {
            let method: Method = method.to_uppercase().parse().unwrap();
            let body = (method != Method::GET).then(|| json!({}));
            let (status, body) = theirs.send(method.clone(), &path, body).await;
            assert_eq!((status, code(&body)), (404, "not_found"), "{method} {path}");
            crossed += 1;
        }
    }
    assert!(crossed > 30, "{crossed} operations were tried");
    let (_, list) = theirs.get("/v1/sandboxes").await;
    assert_eq!(list["sandboxes"], json!([]));
    assert_eq!(mine.get(&format!("/v1/sandboxes/{id}")).await.0, 200, "and it is still there");
    daemon.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_owners_socket_needs_no_token_and_gives_dashboard_links() {
    let mut daemon = daemon().await;
    let socket = daemon.serve.as_ref().unwrap().socket().to_owned();
    let mode =
        std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(&socket).unwrap().permissions());
    assert_eq!(mode & 0o777, 0o600);
    let client = reqwest::Client::builder().unix_socket(socket.clone()).no_proxy().build().unwrap();
    let (status, me) = answer(client.get("http://anything/v1/me")).await;
    assert_eq!((status, &me["name"]), (200, &json!("owner")));
    let link = reins_serve::dashboard_link(&socket).await.unwrap();
    let login = link.split_once("#code=").unwrap().1;
    let url = format!("http://127.0.0.1:{}/v1/login", daemon.port);
    let (status, me) = answer(http().post(url).json(&json!({"code": login}))).await;
    assert_eq!((status, &me["tenant"]), (200, &json!("local")));
    daemon.stop().await;
    assert!(!socket.exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn two_daemons_do_not_share_a_directory_and_a_removed_token_opens_nothing() {
    let mut first = daemon().await;
    let options = support::options(&first.dir, support::config(""), Arc::new(SystemClock));
    let error = reins_serve::Serve::start(options).await.unwrap_err();
    assert_eq!(error.code(), "serve_running");
    let client = first.client("acme").await;
    assert_eq!(client.get("/v1/me").await.0, 200);
    let book = reins_serve::TokenBook::open(&first.dir).unwrap();
    assert!(book.remove("acme", "test").await.unwrap());
    assert_eq!(client.get("/v1/me").await.0, 401);
    first.stop().await;
}
