//! `reins mcp --names playwright` as an agent written for Playwright MCP uses it, in real Chromium.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a failed step must stop the test")]

mod support;

use reins_testing::{Page, Site};
use serde_json::json;
use std::time::Duration;
use support::{Client, find_ref};

const SOON: Duration = Duration::from_secs(30);

const SHOP: &str = "<title>Shop</title><h1>Shop</h1>\
    <form action=/search><input aria-label=Search name=q></form>\
    <label>Name <input id=name></label><label>Gift <input type=checkbox id=gift></label>\
    <label>Colour <select id=colour><option>Red<option>Blue</select></label>\
    <button onclick=\"hit('made-'+name_.value+'-'+gift.checked+'-'+colour.value)\">Make</button>\
    <button onclick=\"document.title=prompt('Who?')\">Ask</button>\
    <input type=file aria-label=Photo onchange=\"hit('got-'+this.files[0].name)\">\
    <ul><li>Apples<li>Pears</ul><script>const name_=document.getElementById('name');console.error('oops')</script>";

/// The ref of the element of this name, whatever its role.
fn named(text: &str, name: &str) -> String {
    let at = text.find(&format!("\"{name}\" [ref=")).unwrap_or_else(|| panic!("no {name}: {text}"));
    let start = at + text[at..].find("[ref=").unwrap() + "[ref=".len();
    text[start..].split(']').next().unwrap().to_owned()
}

async fn site() -> Site {
    Site::start([
        ("/", Page::html(SHOP)),
        ("/search?q=two+words", Page::html("<title>Found</title><h1>Results</h1>")),
        ("/other", Page::html("<title>Other</title><h1>Other page</h1>")),
    ])
    .await
    .unwrap()
}

/// S-034, S-054: the everyday tools work with their names, arguments and refs, and what an action changes
/// comes back with its result.
#[tokio::test(flavor = "multi_thread")]
async fn s034_s054_the_core_tools_work_as_their_agents_call_them() {
    let (site, data) = (site().await, tempfile::tempdir().unwrap());
    let files = tempfile::tempdir().unwrap();
    let photo = files.path().join("me.txt");
    std::fs::write(&photo, "x").unwrap();
    let app = format!("--app=http://127.0.0.1:{}", site.port());
    let root = format!("--upload-root={}", files.path().display());
    let mut client =
        Client::start(data.path(), &[&app, &root, "--names", "playwright"], json!({})).await;
    // A path is resolved against the app (S-152).
    let page = client.call("browser_navigate", json!({"url": "/"})).await;
    assert!(page.text.contains("# Shop"), "{}", page.text);
    let name = named(&page.text, "Name");
    let gift = named(&page.text, "Gift");
    let colour = named(&page.text, "Colour");
    let filled = client
        .call(
            "browser_fill_form",
            json!({"fields": [
                {"name": "Name", "type": "textbox", "target": name, "value": "Ada"},
                {"name": "Gift", "type": "checkbox", "target": gift, "value": "true"},
                {"name": "Colour", "type": "combobox", "target": colour, "value": "Blue"},
            ]}),
        )
        .await;
    assert!(!filled.failed && filled.facts["filled"] == 3, "{}", filled.text);
    assert!(filled.text.contains("[checked]"), "{}", filled.text);
    let make = find_ref(&page.text, "button", "Make");
    client.call("browser_click", json!({"element": "Make", "target": make})).await;
    assert!(site.wait_hit("made-Ada-true-Blue", SOON).await);
    let ask = find_ref(&page.text, "button", "Ask");
    let asked = client.call("browser_click", json!({"element": "Ask", "ref": ask})).await;
    assert!(asked.text.contains("browser_handle_dialog"), "{}", asked.text);
    client.call("browser_handle_dialog", json!({"accept": true, "promptText": "Me"})).await;
    let photo_field = named(&page.text, "Photo");
    client.call("browser_click", json!({"element": "Photo", "target": photo_field})).await;
    let gave = client.call("browser_file_upload", json!({"paths": [photo]})).await;
    assert!(!gave.failed, "{}", gave.text);
    assert!(site.wait_hit("got-me.txt", SOON).await);
    let console = client.call("browser_console_messages", json!({"level": "error"})).await;
    assert!(console.text.contains("oops"), "{}", console.text);
    let search = named(&page.text, "Search");
    let typed = client
        .call("browser_type", json!({"target": search, "text": "two words", "submit": true}))
        .await;
    assert!(typed.text.contains("# Results"), "{}", typed.text);
    let requests = client.call("browser_network_requests", json!({"static": false})).await;
    assert!(requests.text.contains("/search"), "{}", requests.text);
    let back = client.call("browser_navigate_back", json!({})).await;
    assert!(back.text.contains("# Shop"), "{}", back.text);
    client.call("browser_tabs", json!({"action": "new", "url": "/other"})).await;
    let tabs = client.call("browser_tabs", json!({"action": "list"})).await;
    assert!(tabs.text.contains("- 0: [tab=") && tabs.text.contains("- 1: [tab="), "{}", tabs.text);
    let first = client.call("browser_tabs", json!({"action": "select", "index": 0})).await;
    assert!(first.text.contains("# Shop"), "{}", first.text);
    client.call("browser_tabs", json!({"action": "close", "index": 1})).await;
    let waited = client.call("browser_wait_for", json!({"text": "Pears"})).await;
    assert!(!waited.failed, "{}", waited.text);
    let resized = client.call("browser_resize", json!({"width": 400, "height": 700})).await;
    assert!(resized.text.contains("400 x 700"), "{}", resized.text);
    let shot = client.call("browser_take_screenshot", json!({"type": "png"})).await;
    assert_eq!(shot.raw["result"]["content"][1]["type"], "image");
    let pressed = client.call("browser_press_key", json!({"key": "ArrowDown"})).await;
    assert!(!pressed.failed, "{}", pressed.text);
    let gone = client.call("browser_run_code_unsafe", json!({"code": "1"})).await;
    assert_eq!(gone.facts["error"], "unknown_tool");
    client.close().await;
}

/// S-033: assertions, where they were asked for: they hold or fail as errors, and read no secret.
#[tokio::test(flavor = "multi_thread")]
async fn s033_assertions_hold_or_fail_as_errors() {
    let (site, data) = (site().await, tempfile::tempdir().unwrap());
    let app = format!("--app=http://127.0.0.1:{}", site.port());
    let flags = [app.as_str(), "--names=playwright", "--tools=core,testing,pdf"];
    let mut client = Client::start(data.path(), &flags, json!({})).await;
    let page = client.call("browser_navigate", json!({"url": "/"})).await;
    let name = named(&page.text, "Name");
    let gift = named(&page.text, "Gift");
    client.call("browser_type", json!({"target": name, "text": "Ada"})).await;
    for (tool, arguments, holds) in [
        ("browser_verify_text_visible", json!({"text": "pears"}), true),
        ("browser_verify_text_visible", json!({"text": "Plums"}), false),
        (
            "browser_verify_element_visible",
            json!({"role": "button", "accessibleName": "Make"}),
            true,
        ),
        (
            "browser_verify_element_visible",
            json!({"role": "heading", "accessibleName": "Shop"}),
            true,
        ),
        (
            "browser_verify_element_visible",
            json!({"role": "link", "accessibleName": "Make"}),
            false,
        ),
        (
            "browser_verify_value",
            json!({"type": "textbox", "element": "Name", "target": name, "value": "Ada"}),
            true,
        ),
        (
            "browser_verify_value",
            json!({"type": "textbox", "element": "Name", "target": name, "value": "Bob"}),
            false,
        ),
        (
            "browser_verify_value",
            json!({"type": "checkbox", "element": "Gift", "target": gift, "value": "false"}),
            true,
        ),
    ] {
        let answer = client.call(tool, arguments.clone()).await;
        assert_eq!(answer.failed, !holds, "{tool} {arguments}: {}", answer.text);
        if !holds {
            assert_eq!(answer.facts["error"], "not_verified");
        }
    }
    let locator = client.call("browser_generate_locator", json!({"target": name})).await;
    assert_eq!(locator.text, "page.getByRole(\"textbox\", { name: \"Name\", exact: true })");
    let pdf = client.call("browser_pdf_save", json!({"filename": "a.pdf"})).await;
    assert!(
        pdf.text.contains("saved") && pdf.text.contains("filename was not used"),
        "{}",
        pdf.text
    );
    client.close().await;
}
