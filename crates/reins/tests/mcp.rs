//! `reins mcp` as a coding agent uses it: the program itself, over stdin and stdout.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a failed step must stop the test")]

mod support;

use reins_testing::{Page, Site};
use serde_json::json;
use std::time::Duration;
use support::{Client, find_ref};

const SOON: Duration = Duration::from_secs(10);

async fn site() -> Site {
    Site::start([
        (
            "/",
            Page::html(
                "<title>Desk</title><h1>Desk</h1><form action=/send method=post><label>Note <input name=n></label><button>Send</button></form>\
                 <form action=/slow method=post><button>Book</button></form>",
            ),
        ),
        ("/send", Page::html("<title>Sent</title><h1>Sent</h1>")),
        ("/slow", Page::html("never").never_answering()),
    ])
    .await
    .unwrap()
}

/// killed between the write of a click and its answer, the next start says unknown,
/// and nothing is repeated.
#[tokio::test(flavor = "multi_thread")]
async fn a056_kill_9_in_mid_click_is_told_as_unknown_and_not_repeated() {
    let (site, data) = (site().await, tempfile::tempdir().unwrap());
    let app = format!("--app=http://127.0.0.1:{}", site.port());
    let mut client = Client::start(data.path(), &[&app], json!({})).await;
    let page = client.call("navigate", json!({"url": site.url("/")})).await;
    let book = find_ref(&page.text, "button", "Book");
    client.send("tools/call", json!({"name": "click", "arguments": {"ref": book}})).await;
    assert!(site.wait_for(SOON, |seen| seen.path == "/slow").await);
    client.kill().await;

    let mut client = Client::start(data.path(), &[&app], json!({})).await;
    let first = client.call("navigate", json!({"url": site.url("/")})).await;
    assert!(first.text.starts_with("unknown (interrupted)"), "{}", first.text);
    assert!(first.text.contains("button \"Book\""), "{}", first.text);
    let second = client.call("snapshot", json!({})).await;
    assert!(!second.text.contains("interrupted"), "told once: {}", second.text);
    assert_eq!(site.requests("/slow"), 1);
    client.close().await;
}

/// a risky step is put through the client's elicitation, with no answer preset.
#[tokio::test(flavor = "multi_thread")]
async fn r149_r165_cards_go_through_elicitation() {
    let (site, data) = (site().await, tempfile::tempdir().unwrap());
    let mut client = Client::start(data.path(), &[], json!({"elicitation": {}})).await;
    client.answers = vec![
        json!({"action": "accept", "content": {"answer": "Allow"}}),
        json!({"action": "accept", "content": {"answer": "Don't allow"}}),
        json!({"action": "accept", "content": {}}),
        json!({"action": "accept", "content": {"answer": "Allow"}}),
    ];
    // Nothing named this address, so this door asks once with the address itself.
    let page = client.call("navigate", json!({"url": site.url("/")})).await;
    assert!(!page.failed, "{}", page.text);
    let send = find_ref(&page.text, "button", "Send");
    for _ in 0..2 {
        let no = client.call("click", json!({"ref": send})).await;
        assert!(no.failed && no.facts["code"] == "not_allowed", "{}", no.text);
    }
    assert_eq!(site.requests("/send"), 0);
    let yes = client.call("click", json!({"ref": send})).await;
    assert!(yes.text.contains("# Sent"), "{}", yes.text);
    assert_eq!(site.requests("/send"), 1);
    assert_eq!(client.asked.len(), 4, "{:?}", client.asked);
    client.close().await;
}

/// Codex gives its model the structured part of a result instead of the text, so it gets text alone.
#[tokio::test(flavor = "multi_thread")]
async fn codex_gets_the_text_of_a_result_and_not_its_structure_instead() {
    let (site, data) = (site().await, tempfile::tempdir().unwrap());
    let app = format!("--app=http://127.0.0.1:{}", site.port());
    for (name, structured) in [("codex-mcp-client", false), ("claude-code", true)] {
        let mut client = Client::named(name, data.path(), &[&app], json!({})).await;
        let page = client.call("navigate", json!({"url": site.url("/")})).await;
        assert!(page.text.contains("# Desk"), "{}", page.text);
        assert_eq!(page.raw["result"].get("structuredContent").is_some(), structured, "{name}");
        client.close().await;
    }
}

/// Where nobody can be asked, the step is refused with how to allow it.
#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_cannot_ask_is_told_how_to_allow_the_step() {
    let (site, data) = (site().await, tempfile::tempdir().unwrap());
    let mut client = Client::start(data.path(), &[], json!({})).await;
    let refused = client.call("navigate", json!({"url": site.url("/")})).await;
    assert!(refused.failed && refused.facts["code"] == "needs_confirmation", "{}", refused.text);
    assert!(refused.text.contains("--site") && refused.text.contains("--app"), "{}", refused.text);
    assert_eq!(site.requests("/"), 0);
    client.close().await;
}

/// the tools that read and those that act, each of which says what it does to the
/// world; the list stays within its budget.
#[tokio::test]
async fn the_tool_list_is_small_and_annotated() {
    let data = tempfile::tempdir().unwrap();
    let mut client = Client::start(data.path(), &[], json!({})).await;
    let listed = client.request("tools/list", json!({})).await;
    let tools = listed["result"]["tools"].as_array().unwrap();
    let core =
        reins_control::tools().iter().filter(|tool| tool.group == reins_control::Group::Core);
    assert_eq!(tools.len(), core.count());
    for tool in tools {
        assert!(tool["annotations"]["readOnlyHint"].is_boolean(), "{tool}");
        assert_eq!(tool["inputSchema"]["type"], "object", "{tool}");
    }
    // 3,000 tokens is the budget; JSON of this kind has about 3.6 bytes a token by o200k.
    let bytes = listed["result"]["tools"].to_string().len();
    assert!(bytes < 10_500, "{bytes} bytes");
    let unknown = client.call("click_everything", json!({})).await;
    assert!(unknown.failed && unknown.facts["error"] == "unknown_tool", "{:?}", unknown.raw);
    client.close().await;
}

/// A client that goes away takes the browser and its profile along.
#[tokio::test(flavor = "multi_thread")]
async fn the_browser_never_outlives_its_client() {
    let (site, data) = (site().await, tempfile::tempdir().unwrap());
    let app = format!("--app=http://127.0.0.1:{}", site.port());
    let mut client = Client::start(data.path(), &[&app], json!({})).await;
    client.call("navigate", json!({"url": site.url("/")})).await;
    let children = descendants(client.pid());
    assert!(!children.is_empty());
    client.close().await;
    let left: Vec<u32> = children.into_iter().filter(|pid| alive(*pid)).collect();
    assert!(left.is_empty(), "still running: {left:?}");
}

/// Processes below one, by the parent named in `/proc`.
fn descendants(root: u32) -> Vec<u32> {
    let mut parents: Vec<(u32, u32)> = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let Ok(pid) = entry.file_name().to_string_lossy().parse::<u32>() else { continue };
        let Ok(stat) = std::fs::read_to_string(entry.path().join("stat")) else { continue };
        let Some((_, rest)) = stat.rsplit_once(')') else { continue };
        if let Some(parent) = rest.split_whitespace().nth(1).and_then(|p| p.parse().ok()) {
            parents.push((pid, parent));
        }
    }
    let mut found: Vec<u32> = vec![root];
    let mut at = 0;
    while at < found.len() {
        let next = found[at];
        found.extend(parents.iter().filter(|(_, parent)| *parent == next).map(|(pid, _)| *pid));
        at += 1;
    }
    found.split_off(1)
}

fn alive(pid: u32) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| {
        stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim().starts_with('Z'))
    })
}
