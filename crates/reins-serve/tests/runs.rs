//! Runs of an agent in a sandbox, with an agent that does what the test says.
#![allow(clippy::unwrap_used, reason = "tests")]

mod support;

use futures_util::future::BoxFuture;
use reins_serve::{RunOrder, RunOutcome, Runner, Serve, SystemClock};
use reins_testing::{Page, Site};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use support::{Client, code};
use tokio_util::sync::CancellationToken;

/// Looks at the page once; a task "wait" then waits until it is stopped.
#[derive(Debug, Default)]
struct Looker {
    asked: Arc<AtomicUsize>,
}

impl Runner for Looker {
    fn run(&self, order: RunOrder) -> BoxFuture<'static, RunOutcome> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        Box::pin(async move {
            order.calls.begin_turn(&order.task, Some(25));
            let tool = reins_control::tool("navigate").unwrap();
            let url = order.task.split(' ').next_back().unwrap();
            let opened =
                order.calls.call(tool, json!({"url": url}), None, CancellationToken::new());
            let seen = opened.await.map(|reply| reply.whole_text());
            if order.task.starts_with("wait") {
                order.cancel.cancelled().await;
                return RunOutcome { status: "stopped", ..RunOutcome::default() };
            }
            RunOutcome {
                status: "done",
                answer: seen.ok(),
                tokens: Some(7),
                ..RunOutcome::default()
            }
        })
    }
}

/// A run acts in the browser by the same way as everyone, one at a time, is seen by its tenant alone, is stopped by
/// hand, and with its browser.
#[tokio::test(flavor = "multi_thread")]
async fn s053_runs_act_are_told_are_stopped_and_need_their_browser() {
    let site = Site::start([("/", Page::html("<h1>What the run saw</h1>"))]).await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("data");
    let looker = Looker::default();
    let asked = looker.asked.clone();
    let mut options = support::options(&dir, support::config(""), Arc::new(SystemClock));
    options.runner = Some(Arc::new(looker));
    let serve = Serve::start(options).await.unwrap();
    let mut daemon = support::adopt(serve, &dir);
    let (client, other) = (daemon.client("acme").await, daemon.client("other").await);
    let id = client.sandbox(&site.url("/")).await;
    let runs = format!("/v1/sandboxes/{id}/runs");
    let task = |word: &str| json!({"task": format!("{word} {}", site.url("/"))});
    let (status, body) = client.post(&runs, task("look at")).await;
    assert_eq!((status, code(&body)), (409, "no_browser"));
    assert_eq!(asked.load(Ordering::SeqCst), 0, "S-053: no model is asked");
    let start = format!("/v1/sandboxes/{id}/browser");
    assert_eq!(client.post(&start, json!({})).await.0, 201);

    let (status, made) = client.post(&runs, task("look at")).await;
    assert_eq!((status, &made["status"]), (201, &json!("running")));
    let path = format!("/v1/runs/{}", made["id"].as_str().unwrap());
    let done = ended(&client, &path).await;
    assert_eq!((&done["status"], &done["tokens"]), (&json!("done"), &json!(7)), "{done}");
    assert!(done["answer"].as_str().unwrap().contains("What the run saw"), "{done}");
    assert_eq!(
        (&done["steps"][0]["tool"], &done["steps"][0]["run_id"]),
        (&json!("navigate"), &made["id"])
    );
    for (method, path) in [("GET", path.clone()), ("POST", format!("{path}/stop"))] {
        let (status, body) = other.send(method.parse().unwrap(), &path, None).await;
        assert_eq!((status, code(&body)), (404, "not_found"), "another tenant: {method} {path}");
    }
    assert_eq!(other.get("/v1/runs").await.1["runs"], json!([]));

    let (_, made) = client.post(&runs, task("wait at")).await;
    let path = format!("/v1/runs/{}", made["id"].as_str().unwrap());
    let (status, body) = client.post(&runs, task("look at")).await;
    assert_eq!((status, code(&body)), (409, "run_active"));
    assert_eq!(client.post(&format!("{path}/stop"), json!({})).await.0, 200);
    assert_eq!(ended(&client, &path).await["status"], "stopped");

    let (_, made) = client.post(&runs, task("wait at")).await;
    let path = format!("/v1/runs/{}", made["id"].as_str().unwrap());
    assert_eq!(client.delete(&start).await.0, 200);
    assert_eq!(ended(&client, &path).await["status"], "stopped", "it ends with its browser");
    assert_eq!(
        client.get(&format!("/v1/runs?sandbox={id}")).await.1["runs"].as_array().unwrap().len(),
        3
    );
    daemon.stop().await;
}

async fn ended(client: &Client, path: &str) -> Value {
    support::until("the run's end", async || {
        client.get(path).await.1["status"] != json!("running")
    })
    .await;
    client.get(path).await.1
}
