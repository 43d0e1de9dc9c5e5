//! What the dashboard must never do: run what a page or a model wrote, ask anybody but its daemon, or change something without proof.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a failed step must stop the test")]

use crate::api::{Api, CSRF};
use crate::browser::Dashboard;
use serde_json::json;

#[tokio::test]
async fn a_link_signs_in_once_and_leaves_the_address() {
    let dashboard = Dashboard::open("").await;
    assert!(!dashboard.run("location.href").await.as_str().unwrap().contains("one-time"));
    assert_eq!(
        dashboard.run("history.length").await,
        2,
        "about:blank and this page, none with the code"
    );
    let login = dashboard.api.request("POST /v1/login").await;
    assert_eq!(login.body, json!({"code": "one-time"}));
    assert_eq!(dashboard.run("document.cookie").await, "", "no script reads the cookie");

    dashboard.press("Sign out").await;
    let out = dashboard.api.request("POST /v1/logout").await;
    assert_eq!(out.csrf.as_deref(), Some(CSRF));
    dashboard.shows("Sign in to Reins").await;
    dashboard.run("document.querySelector('#code').focus()").await;
    dashboard
        .call("Input.insertText", json!({"text": format!("{}/#code=used", dashboard.api.url(""))}))
        .await;
    dashboard.press("Sign in").await;
    dashboard.shows("This link was used before").await;
    assert_eq!(dashboard.api.request("POST /v1/login").await.body, json!({"code": "used"}));
}

/// S-027: every change carries the cookie and the word that only the dashboard knows.
#[tokio::test]
async fn changes_carry_the_cookie_and_the_csrf_word() {
    let dashboard = Dashboard::open("#/sandboxes/s4").await;
    dashboard.press("Start a browser").await;
    let start = dashboard.api.request("POST /v1/sandboxes/s4/browser").await;
    assert_eq!(start.body["mode"], "headless");
    assert_eq!(start.body["record"], json!({"rrweb": true, "frames": false, "console": true}));
    for seen in dashboard.api.seen() {
        let login = seen.what == "POST /v1/login";
        let me = seen.what == "GET /v1/me";
        assert!(seen.cookie || login || me, "{seen:?}");
        let changes = !seen.what.starts_with("GET") && !login;
        assert_eq!(seen.csrf.is_some(), changes, "{seen:?}");
    }
}

/// labels, titles, addresses, errors, answers and log lines are only ever text.
#[tokio::test]
async fn r203_what_pages_and_models_wrote_never_runs_and_nobody_else_is_asked() {
    let api = Api::start().await;
    let hostile = "<script>document.title='ran'</script><img src=\"http://127.0.0.1:1/leak\" onerror=\"document.title='ran'\">";
    api.happens(
        "card",
        json!({"id": "c1", "title": hostile, "lines": [hostile], "offers_always": true}),
    );
    api.happens("step", json!({"id": 90, "tool": hostile, "label": hostile, "outcome": "error", "started_at": "2026-12-01T00:00:00Z", "error": hostile}));
    let dashboard = Dashboard::with(api, "").await;
    let origin = dashboard.api.url("");
    let places = [
        ("#/sandboxes", "<img src=x onerror="),
        ("#/sandboxes/s3", "<img src=x onerror="),
        ("#/sandboxes/s1", "<script>document.title='ran'</script><img"),
        ("#/runs/run2", "<b onmouseover="),
        ("#/recordings/r2", "<script>document.title='ran'</script>"),
        ("#/settings", "careful"),
        ("#/%3Cscript%3Edocument.title='ran'%3C/script%3E", "Nothing here"),
    ];
    for (place, text) in places {
        dashboard.go(place).await;
        dashboard.shows(text).await;
        assert_ne!(dashboard.run("document.title").await, "ran", "{place}");
    }
    dashboard.go("#/sandboxes/s1").await;
    dashboard
        .until("document.querySelector('canvas').getAttribute('aria-label').includes('<img src=x')")
        .await;
    let asked = dashboard.asked();
    assert!(
        asked.iter().any(|url| url.contains("/live/b1")),
        "the live view was opened: {asked:?}"
    );
    let ours =
        |url: &String| url.starts_with(&origin) || url.starts_with(&origin.replace("http", "ws"));
    let others: Vec<&String> = asked.iter().filter(|url| !ours(url)).collect();
    assert!(others.is_empty(), "{others:?}");
}

/// The policy forbids what the pages do not need: scripts in the page, text that becomes markup, other servers.
#[tokio::test]
async fn the_policy_of_the_page_holds() {
    let dashboard = Dashboard::open("").await;
    let tries = "(async () => {
        const seen = [];
        document.addEventListener('securitypolicyviolation', e => seen.push(e.effectiveDirective));
        const inline = document.createElement('script'); inline.append(`document.title = 'ran'`);
        try { document.body.append(inline) } catch { seen.push('inline') }
        try { document.body.insertAdjacentHTML('beforeend', '<b>x</b>'); seen.push('markup was made') } catch { seen.push('markup') }
        await fetch('http://127.0.0.1:1/').catch(() => seen.push('fetch'));
        const style = document.createElement('style'); style.append('body { color: red }'); document.head.append(style);
        await new Promise(done => setTimeout(done, 50));
        return [...new Set(seen)].sort();
    })()";
    let seen = dashboard.run(&tries.replace('\n', " ")).await;
    let seen: Vec<&str> = seen.as_array().unwrap().iter().map(|v| v.as_str().unwrap()).collect();
    for blocked in ["connect-src", "fetch", "markup", "style-src-elem"] {
        assert!(seen.contains(&blocked), "{blocked} in {seen:?}");
    }
    assert!(!seen.contains(&"markup was made"));
    assert_ne!(dashboard.run("document.title").await, "ran");
    // Nobody may show the dashboard inside a page of their own.
    let policy =
        dashboard.run("fetch('/').then(a => a.headers.get('content-security-policy'))").await;
    assert!(policy.as_str().unwrap().contains("frame-ancestors 'none'"));
}
