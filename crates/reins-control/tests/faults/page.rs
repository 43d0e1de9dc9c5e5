//! The three small pages of the in-memory browser, as its page script would tell of them.

use serde_json::{Value, json};

/// Where the pages are.
pub const HOME: &str = "http://shop.example/";
const TEA: &str = "http://shop.example/tea";
const SIGN: &str = "http://shop.example/sign";

/// Numbers of the elements of the first page.
pub const FIELD: u64 = 4;
pub const BUTTON: u64 = 5;
pub const LINK: u64 = 6;

/// The height at which each element is hit.
pub fn height(number: u64) -> f64 {
    match number {
        BUTTON => 90.0,
        LINK => 109.0,
        _ => 80.0,
    }
}

/// The element at a height.
pub fn at(y: f64) -> Option<u64> {
    [FIELD, BUTTON, LINK].into_iter().find(|number| (height(*number) - y).abs() < 1.0)
}

/// Where an element leads, and how.
pub fn leads(number: u64) -> Option<(&'static str, &'static str)> {
    match number {
        BUTTON => Some((SIGN, "POST")),
        LINK => Some((TEA, "GET")),
        _ => None,
    }
}

/// How many nodes the browser counts in a page.
pub fn nodes(url: &str) -> u32 {
    match url {
        HOME => 11,
        TEA => 5,
        SIGN => 6,
        _ => 3,
    }
}

fn submission() -> Value {
    json!({"action": SIGN, "method": "post", "target": "",
        "enctype": "application/x-www-form-urlencoded", "submitter": BUTTON,
        "caption": "Sign up", "form": 2})
}

fn sealed_submission() -> Value {
    json!([SIGN, "post", "", "application/x-www-form-urlencoded", BUTTON, "Sign up", 2])
}

/// What `__reins.capture` gives.
pub fn capture(url: &str, value: &str) -> String {
    let (title, tags, list) = match url {
        HOME => {
            let mut list = json!([
                0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 3, 8, 21, 1264, 97, 0, 2, 2, 1, 0, 3, 8,
                21, 1264, 37, 0, -1, 3, "Shop", 3, 2, 2, 0, 3, 8, 80, 1264, 21, 0, 4, 3, 3, 1, 2,
                0, -1, 4, "Email ", 5, 4, FIELD, 2, 3, 50, 80, 177, 21
            ]);
            let rest = if value.is_empty() {
                json!([3, 42, "email", 43, "mail", 89, "3"])
            } else {
                json!([4, 42, "email", 43, "mail", 89, "3", 88, value])
            };
            append(&mut list, rest);
            append(
                &mut list,
                json!([
                    6,
                    3,
                    BUTTON,
                    2,
                    1_048_579,
                    227,
                    80,
                    61,
                    21,
                    1,
                    96,
                    submission().to_string(),
                    -1,
                    4,
                    "Sign up",
                    7,
                    2,
                    LINK,
                    1,
                    66,
                    1,
                    41,
                    TEA,
                    -1,
                    3,
                    "Tea"
                ]),
            );
            ("Shop", json!(["html", "body", "h1", "form", "label", "input", "button", "a"]), list)
        }
        TEA => (
            "Tea",
            json!(["html", "body", "h1"]),
            json!([
                0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 2, 2, 1, 0, 3, 8, 21,
                1264, 37, 0, -1, 3, "Tea"
            ]),
        ),
        SIGN => (
            "Thanks",
            json!(["html", "body", "h1", "a"]),
            json!([
                0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 3, 8, 21, 1264, 76, 0, 2, 2, 1, 0, 3, 8,
                21, 1264, 37, 0, -1, 3, "Thanks", 3, 2, 2, 1, 66, 1, 41, HOME, -1, 3, "Home"
            ]),
        ),
        _ => (
            "",
            json!(["html", "body"]),
            json!([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0]),
        ),
    };
    let visited = tags.as_array().map_or(0, Vec::len);
    json!({"v": 1, "url": url, "title": title, "ready": "complete",
        "view": [1280, 720, 0, 0, 1280, 720, 0], "focus": 0, "total": visited, "visited": visited,
        "withheld": 0, "short": false, "hosts": [], "internals": [], "nodes": nodes(url),
        "listeners": false, "gone": [], "tags": tags, "s": list})
    .to_string()
}

/// What `__reins.facts` gives for an element of the first page; nothing for any other.
pub fn facts(url: &str, number: u64) -> String {
    if url != HOME {
        return String::new();
    }
    let facts = match number {
        FIELD => json!({"v": 1, "n": FIELD, "type": "email", "link": null, "submission": null,
            "enter": submission(), "forwards": 0, "secret": "", "editable": true, "disabled": false,
            "seal": json!([FIELD, "input", "email", "", false, true, 0, null, null,
                sealed_submission()]).to_string(),
            "tags": ["html", "body", "form", "label", "input"],
            "s": [0, 0, 7, 0, 2_097_152, 0, 0, 0, 0, 0, 1, 1, 8, 0, 2_097_152, 0, 0, 0, 0, 0, 2, 2, 2, 0,
                2_097_152, 0, 0, 0, 0, 0, 3, 3, 3, 1, 2_097_152, 0, 4, 4, FIELD, 2, 3, 50, 80, 177, 21, 3,
                42, "email", 43, "mail", 89, "3", -3, 3, 0, 3, 1, 0, 0, -1, 1, "Email ", 4, 1, FIELD, 2, 0,
                0, 0, 0, 0, 3, 42, "email", 43, "mail", 89, "3"]}),
        BUTTON => json!({"v": 1, "n": BUTTON, "type": "submit", "link": null,
            "submission": submission(), "enter": submission(), "forwards": 0, "secret": "",
            "editable": false, "disabled": false,
            "seal": json!([BUTTON, "button", "submit", "", false, false, 0, null,
                sealed_submission(), sealed_submission()]).to_string(),
            "tags": ["html", "body", "form", "button"],
            "s": [0, 0, 7, 0, 2_097_152, 0, 0, 0, 0, 0, 1, 1, 8, 0, 2_097_152, 0, 0, 0, 0, 0, 2, 2, 2, 0,
                2_097_152, 0, 0, 0, 0, 0, 3, 3, BUTTON, 2, 1_048_579, 227, 80, 61, 21, 1, 96,
                submission().to_string(), -1, 4, "Sign up"]}),
        LINK => json!({"v": 1, "n": LINK, "type": "",
            "link": {"url": TEA, "target": "", "download": false}, "submission": null, "enter": null,
            "forwards": 0, "secret": "", "editable": false, "disabled": false,
            "seal": json!([LINK, "a", "", "", false, false, 0, [TEA, "", false], null, null]).to_string(),
            "tags": ["html", "body", "a"],
            "s": [0, 0, 7, 0, 2_097_152, 0, 0, 0, 0, 0, 1, 1, 8, 0, 2_097_152, 0, 0, 0, 0, 0, 2, 2, LINK, 1,
                66, 1, 41, TEA, -1, 3, "Tea"]}),
        _ => return String::new(),
    };
    facts.to_string()
}

fn append(list: &mut Value, more: Value) {
    if let (Value::Array(list), Value::Array(more)) = (list, more) {
        list.extend(more);
    }
}
