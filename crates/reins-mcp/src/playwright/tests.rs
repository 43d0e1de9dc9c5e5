//! Calls as a client written for Playwright MCP 0.0.83 makes them, and what becomes of them.

#![allow(clippy::unwrap_used, reason = "a failed step must stop the test")]

use super::*;
use std::sync::Mutex;

/// What an alias calls, with three tabs open.
async fn made(name: &str, arguments: Value) -> Result<Vec<(&'static str, Value)>, NotMade> {
    let choice = ToolChoice::parse("all").unwrap();
    let alias = offered(&choice).find(|alias| alias.name == name).unwrap();
    let calls = Mutex::new(Vec::new());
    let make = |tool: &'static reins_control::Tool,
                arguments: Value|
     -> futures_util::future::BoxFuture<'_, _> {
        calls.lock().unwrap().push((tool.name, arguments));
        let mut reply = Reply::text("done");
        if tool.name == "list_tabs" {
            reply = Reply::text("[tab=AAAA] a\n[tab=BBBB] b\n[tab=CCCC] c")
                .with("tabs", json!([{"tab": "AAAA"}, {"tab": "BBBB"}, {"tab": "CCCC"}]));
        }
        Box::pin(async move { Ok::<Reply, NotMade>(reply) })
    };
    let Value::Object(arguments) = arguments else { panic!("no arguments") };
    alias.call(arguments, &make).await?;
    Ok(calls.into_inner().unwrap())
}

/// What a call that was not made says.
fn said(why: &NotMade) -> String {
    match why {
        NotMade::Control(error) => error.to_string(),
        other => format!("{other:?}"),
    }
}

/// S-034, S-054: each call of theirs becomes one of ours, refs in their syntax, old names included.
#[tokio::test]
async fn s034_calls_in_their_form_become_ours() {
    let cases = [
        ("browser_navigate", json!({"url": "/login"}), json!([["navigate", {"url": "/login"}]])),
        ("browser_navigate_back", json!({}), json!([["go_back", {}]])),
        (
            "browser_snapshot",
            json!({"filename": "a.yml", "boxes": true}),
            json!([["snapshot", {}]]),
        ),
        (
            "browser_click",
            json!({"element": "Save button", "target": "e12", "doubleClick": true, "button": "left"}),
            json!([["click", {"ref": "e12", "count": 2, "button": "left"}]]),
        ),
        (
            "browser_click",
            json!({"element": "Save", "ref": "e12"}),
            json!([["click", {"ref": "e12"}]]),
        ),
        (
            "browser_type",
            json!({"target": "e3", "text": "hello", "submit": true, "slowly": true}),
            json!([["type", {"ref": "e3", "text": "hello", "submit": true, "keys": true}]]),
        ),
        (
            "browser_fill_form",
            json!({"fields": [
                {"name": "Name", "type": "textbox", "target": "e1", "value": "Ada"},
                {"name": "Gift", "type": "checkbox", "ref": "e2", "value": "true", "element": "x"},
            ]}),
            json!([["fill_form", {"fields": [{"ref": "e1", "value": "Ada"}, {"ref": "e2", "value": "true"}]}]]),
        ),
        (
            "browser_select_option",
            json!({"target": "e4", "values": ["Red"]}),
            json!([["select_option", {"ref": "e4", "options": ["Red"]}]]),
        ),
        ("browser_hover", json!({"target": "e4"}), json!([["hover", {"ref": "e4"}]])),
        (
            "browser_drag",
            json!({"startElement": "a", "startTarget": "e1", "endElement": "b", "endRef": "e2"}),
            json!([["drag", {"from": "e1", "to": "e2"}]]),
        ),
        (
            "browser_press_key",
            json!({"key": "ArrowLeft"}),
            json!([["press_key", {"key": "ArrowLeft"}]]),
        ),
        ("browser_file_upload", json!({"paths": ["/a"]}), json!([["upload", {"paths": ["/a"]}]])),
        (
            "browser_handle_dialog",
            json!({"accept": true, "promptText": "yes"}),
            json!([["handle_dialog", {"accept": true, "text": "yes"}]]),
        ),
        ("browser_tabs", json!({"action": "list"}), json!([["list_tabs", {}]])),
        (
            "browser_tabs",
            json!({"action": "new", "url": "/a"}),
            json!([["open_tab", {"url": "/a"}]]),
        ),
        (
            "browser_tabs",
            json!({"action": "select", "index": 1}),
            json!([["list_tabs", {}], ["switch_tab", {"tab": "BBBB"}]]),
        ),
        (
            "browser_tabs",
            json!({"action": "close", "index": 2.0}),
            json!([["list_tabs", {}], ["close_tab", {"tab": "CCCC"}]]),
        ),
        ("browser_tabs", json!({"action": "close"}), json!([["close_tab", {}]])),
        ("browser_wait_for", json!({"text": "Saved"}), json!([["wait_for", {"text": "Saved"}]])),
        (
            "browser_wait_for",
            json!({"time": 30, "textGone": "Loading"}),
            json!([["wait_for", {"seconds": 25.0}], ["wait_for", {"gone": "Loading"}]]),
        ),
        (
            "browser_take_screenshot",
            json!({"type": "png", "fullPage": true, "scale": "css", "filename": "a.png"}),
            json!([["screenshot", {"full_page": true}]]),
        ),
        (
            "browser_console_messages",
            json!({"level": "error", "all": true}),
            json!([["console_messages", {"level": "error"}]]),
        ),
        (
            "browser_network_requests",
            json!({"static": false, "filter": "/api/"}),
            json!([["network_requests", {"assets": false, "text": "/api/"}]]),
        ),
        (
            "browser_network_request",
            json!({"index": 4}),
            json!([["network_requests", {"number": 4}]]),
        ),
        (
            "browser_resize",
            json!({"width": 390.4, "height": 844}),
            json!([["emulate", {"width": 390, "height": 844}]]),
        ),
        (
            "browser_mouse_wheel",
            json!({"deltaX": 0, "deltaY": -120}),
            json!([["scroll", {"to": "up", "pixels": 120}]]),
        ),
        ("browser_close", json!({}), json!([["close_tab", {}]])),
        ("browser_pdf_save", json!({"filename": "a.pdf"}), json!([["save_pdf", {}]])),
        (
            "browser_verify_value",
            json!({"type": "textbox", "element": "Name", "target": "e1", "value": "Ada"}),
            json!([["verify_value", {"ref": "e1", "value": "Ada"}]]),
        ),
        (
            "browser_verify_element_visible",
            json!({"role": "button", "accessibleName": "Save"}),
            json!([["verify_element", {"role": "button", "name": "Save"}]]),
        ),
    ];
    for (name, arguments, expected) in cases {
        let calls = made(name, arguments.clone()).await;
        let calls = calls.unwrap_or_else(|why| panic!("{name} {arguments}: {}", said(&why)));
        assert_eq!(json!(calls), expected, "{name} {arguments}");
    }
}

/// What does not fit is told with their names, before anything is called.
#[tokio::test]
async fn what_does_not_fit_is_told_in_their_words() {
    for (name, arguments, says) in [
        ("browser_click", json!({"selector": "#a"}), "no argument 'selector'"),
        ("browser_tabs", json!({"index": 1}), "action is missing"),
        ("browser_tabs", json!({"action": "select", "index": 9}), "no tab has the index 9"),
        ("browser_tabs", json!({"action": "select", "index": -1}), "index is no whole number"),
        ("browser_wait_for", json!({}), "nothing to wait for"),
        ("browser_network_requests", json!({"filter": "a.*b"}), "no regular expression"),
        ("browser_resize", json!({"width": 300}), "height is missing"),
    ] {
        let error = said(&made(name, arguments).await.unwrap_err());
        assert!(error.contains(says) && error.contains(name), "{error}");
    }
}

/// The schemas are made from our own: what is needed there is needed here, under their names.
#[test]
fn schemas_come_from_the_tools() {
    let choice = ToolChoice::parse("all").unwrap();
    let click = offered(&choice).find(|alias| alias.name == "browser_click").unwrap();
    let schema = click.schema(click.tool().unwrap());
    assert_eq!(schema["required"], json!(["target"]));
    assert_eq!(schema["properties"]["button"]["enum"], json!(["left", "middle", "right"]));
    for alias in TABLE.iter() {
        let Some(tool) = alias.tool() else { continue };
        let ours = tool.input_schema();
        for takes in alias.takes {
            if let Takes::As(_, name) = takes {
                assert!(ours["properties"].get(name).is_some(), "{}: {name}", alias.name);
            }
        }
    }
}

/// The numbers of the list are those that `index` means.
#[tokio::test]
async fn tabs_are_numbered_as_index_means_them() {
    let reply = translate::numbered(Reply::text("head\n[tab=A] x\nno tab\n[tab=B] y"));
    assert_eq!(reply.text, "head\n- 0: [tab=A] x\nno tab\n- 1: [tab=B] y");
}
