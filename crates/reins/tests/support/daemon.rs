//! Asking a daemon that was started as a process, and waiting for what it does.

#![allow(unreachable_pub, dead_code, reason = "each test binary uses a part")]

use serde_json::Value;
use std::time::Duration;

/// A client that uses no proxy of the machine's.
pub fn http() -> reqwest::Client {
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder().no_proxy().timeout(Duration::from_secs(120)).build().unwrap()
}

/// One request; the status and what came with it.
pub async fn ask(method: &str, url: String, token: &str, body: Value) -> (u16, Value) {
    let mut request = http().request(method.parse().unwrap(), url).bearer_auth(token);
    if method == "POST" {
        request = request.json(&body);
    }
    let answer = request.send().await.unwrap();
    (answer.status().as_u16(), answer.json().await.unwrap_or_default())
}

/// Processes whose arguments name this directory's temporary profiles would be Chromium's; they are found by their
/// parent instead: all that descend from a process.
pub fn descendants(of: u32) -> Vec<u32> {
    let mut found = Vec::new();
    let mut todo = vec![of];
    while let Some(parent) = todo.pop() {
        // Each thread has the children that it started.
        let Ok(threads) = std::fs::read_dir(format!("/proc/{parent}/task")) else { continue };
        for thread in threads.flatten() {
            let listed = std::fs::read_to_string(thread.path().join("children"));
            for child in listed.unwrap_or_default().split_whitespace() {
                let child = child.parse().unwrap();
                found.push(child);
                todo.push(child);
            }
        }
    }
    found
}

/// Waits until it holds, for a minute.
pub async fn until<F: Future<Output = bool>>(what: &str, mut holds: impl FnMut() -> F) {
    for _ in 0..600 {
        if holds().await {
            return;
        }
        // Another process does it, and tells nobody.
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("{what} never happened");
}
