//! The saved sign-in of a sandbox's app.

mod support;

use reins_testing::{Page, Site};
use serde_json::json;
use std::time::Duration;
use support::{code, daemon};

/// S-028, S-029: a sign-in is saved for its app alone, the next browser begins with it, and one made inside
/// is read back. No other tenant sees it.
#[tokio::test(flavor = "multi_thread")]
async fn s028_s029_browsers_begin_with_the_saved_sign_in() {
    let site = Site::start([(
        "/",
        Page::html(
            "<title>App</title><script>hit('token-'+localStorage.getItem('token')+'-'+document.cookie.includes('sid=7'));\
             localStorage.setItem('made','inside')</script>",
        ),
    )])
    .await
    .unwrap();
    let mut daemon = daemon().await;
    let client = daemon.client("one").await;
    let id = client.sandbox(&site.url("/")).await;
    let path = format!("/v1/sandboxes/{id}/storage-state");
    let (status, body) = client.get(&path).await;
    assert_eq!((status, code(&body)), (404, "not_found"), "{body}");
    let origin = format!("http://127.0.0.1:{}", site.port());
    let state = json!({
        "cookies": [
            {"name": "sid", "value": "7", "domain": "127.0.0.1", "path": "/", "expires": -1},
            {"name": "other", "value": "x", "domain": "bank.example", "path": "/"},
        ],
        "origins": [{"origin": origin, "localStorage": [{"name": "token", "value": "t0ken"}]}],
    });
    let (status, saved) = client.send(reqwest::Method::PUT, &path, Some(state)).await;
    assert_eq!((status, saved), (200, json!({"cookies": 1, "local_storage": 1, "left_out": 1})));
    let (status, _) = daemon.client("two").await.get(&path).await;
    assert_eq!(status, 404);
    let (status, started) = client.post(&format!("/v1/sandboxes/{id}/browser"), json!({})).await;
    assert_eq!(status, 201, "{started}");
    assert!(site.wait_hit("token-t0ken-true", Duration::from_secs(40)).await);
    let (status, read) = client.get(&path).await;
    assert_eq!(status, 200, "{read}");
    let items = read["origins"][0]["localStorage"].as_array().unwrap();
    assert!(items.contains(&json!({"name": "made", "value": "inside"})), "{read}");
    assert!(!read.to_string().contains("bank.example"));
    client.delete(&format!("/v1/sandboxes/{id}/browser")).await;
    assert_eq!(client.delete(&path).await.0, 204);
    assert_eq!(client.get(&path).await.0, 404);
    daemon.stop().await;
}
