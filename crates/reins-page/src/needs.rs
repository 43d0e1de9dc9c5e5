//! What the page script cannot see, and how the browser is asked for it.
//!
//! A script in an isolated world does not see **closed shadow roots**, declarative ones included, nor
//! what a custom element says through its **internals**. Both are fetched for just the elements
//! concerned. All calls go to the session that owns the frame; `context` is the id of the frame's
//! execution context named [`crate::WORLD`].
//!
//! # Closed shadow roots
//!
//! 1. `Runtime.callFunctionOn` with [`CAPTURE`] in each frame: the capture.
//! 2. Together with it, once per session, `DOM.performSearch { query: "<" }` (after one `DOM.enable`
//!    per session; `DOM.discardSearchResults` may be sent without waiting). The browser's search
//!    goes through every shadow tree, closed ones included, and `<` matches exactly the elements
//!    and the texts and comments that hold that character. [`excess`] compares its count with
//!    what the scripts of the session's frames have counted. Nothing in excess: done, and this is
//!    what happens on most pages.
//! 3. Else, or when a document is too big to be counted: `Runtime.callFunctionOn` with [`SUSPECTS`],
//!    the excess (-1 if unknown) as its argument and [`serialization`] as `serializationOptions`.
//!    The answer lists elements with their shadow roots; [`closed_roots`] reads it.
//! 4. `DOM.resolveNode { backendNodeId, executionContextId: context }` for each root, pipelined, and
//!    one `Runtime.callFunctionOn` with [`ADOPT`] and the objects as arguments, by value. It
//!    returns how many were new. If any was, begin again at 1, at most [`ROUNDS`] times: a closed
//!    root can hold another.
//!
//! The script remembers adopted roots for the life of the document, so the next capture needs the
//! count only.
//!
//! Measured on Chromium 156 (two busy cores): the search takes 0.6 ms in a document of 250
//! elements, 0.8 ms in one of 800, 1.4 ms in one of 1,400, 4 ms in one of 6,000, 12–20 ms in
//! one of 19,000–40,000, hence the script's limit of 8,000. Listing suspects takes 35–100 µs each,
//! `DOM.describeNode` 230 µs each; describing a whole document takes 6 ms for 250 elements and
//! 700–950 ms for the big ones.
//!
//! What this does not find: a closed root that holds bare text and no element at all, unless its
//! host is a suspect for another reason; and in documents of more than 8,000 elements a closed
//! root attached to an ordinary element with content after that element was read once.
//!
//! # Element internals
//!
//! For each of [`crate::FrameCapture::internals_wanted`]: `Runtime.callFunctionOn` with [`NODE`] for an
//! object, then `Accessibility.getPartialAXTree { objectId, fetchRelatives: false }`; the first node's
//! role and name go back through [`TELL_INTERNALS`] as `[[n, role, label], …]`, an empty label where
//! the name comes from the element's content. Then capture again. Each element is asked about once.
//!
//! # Listeners
//!
//! That a script listens for clicks on an element is to be seen nowhere in the document. Where
//! [`crate::FrameCapture::listeners_wanted`] says so, `DOMSnapshot.captureSnapshot` without styles tells
//! for all frames of one session; [`Listeners`] reads it. The elements are resolved as closed roots are,
//! handed over with [`TELL_LISTENERS`] (also when there are none), and the page is captured again if any
//! was new. The script wants it only in documents of up to 600 elements, when it has met elements
//! that were not there the last time, and in documents of up to 500 after a second.

use serde::Deserialize;
use serde_json::{Value, json};

/// Function for a capture; its argument is [`crate::CaptureOptions::to_json`] as an object.
pub const CAPTURE: &str = "options => __reins.capture(options)";
/// Function that lists the elements which may host a closed root.
pub const SUSPECTS: &str = "excess => __reins.suspects(excess)";
/// Function that takes over resolved roots.
pub const ADOPT: &str = "(...roots) => __reins.adoptRoots(...roots)";
/// Function for the element with a number.
pub const NODE: &str = "n => __reins.node(n)";
/// Function for the facts of the element with a number; its answer is what [`crate::record`] reads.
pub const FACTS: &str = "n => __reins.facts(n)";
/// Function that takes over roles and labels known through internals.
pub const TELL_INTERNALS: &str = "told => __reins.tellInternals(told)";

/// Function that takes over elements that listen for clicks; it returns how many were new.
pub const TELL_LISTENERS: &str = "(...found) => __reins.tellListeners(...found)";

/// Captures in a row for one reading: a closed root within a closed root needs one more.
pub const ROUNDS: usize = 4;

/// The `serializationOptions` for [`SUSPECTS`]: each element with its shadow root, nothing below.
pub fn serialization() -> Value {
    json!({
        "serialization": "deep",
        "maxDepth": 1,
        "additionalParameters": { "maxNodeDepth": 0, "includeShadowTree": "all" },
    })
}

/// By how much the browser's count is above the scripts' own; None when it was not counted.
///
/// `counted` holds [`crate::FrameCapture::searchable`] of every frame of one session.
pub fn excess(found: u32, counted: &[Option<u32>]) -> Option<u32> {
    let ours = counted.iter().try_fold(0u32, |sum, count| Some(sum.saturating_add((*count)?)))?;
    Some(found.saturating_sub(ours))
}

/// Backend node ids of the closed roots in the answer to [`SUSPECTS`]: the `result` of
/// `Runtime.callFunctionOn`, as it came.
pub fn closed_roots(result: &str) -> Vec<i64> {
    serde_json::from_str::<Answer>(result)
        .map(|answer| answer.result.deep.value)
        .unwrap_or_default()
        .into_iter()
        .filter_map(|element| element.value?.shadow?.value)
        .filter(|root| root.mode.as_deref() == Some("closed"))
        .filter_map(|root| root.backend)
        .collect()
}

/// Elements of one frame that are handed over at most; each costs the browser a call.
const LISTENERS: usize = 256;

/// Elements that are clickable without any listener, and those that hold the whole page.
const NATIVE: &[&str] = &[
    "HTML", "BODY", "BUTTON", "INPUT", "SELECT", "TEXTAREA", "LABEL", "OPTION", "OPTGROUP",
    "SUMMARY", "AREA", "FORM", "FIELDSET", "IFRAME", "FRAME",
];

/// The answer to `DOMSnapshot.captureSnapshot`, as far as it is about clicks.
#[derive(Debug, Deserialize)]
pub struct Listeners {
    #[serde(default)]
    documents: Vec<Document>,
    #[serde(default)]
    strings: Vec<String>,
}

impl Listeners {
    /// Backend node ids of the elements of a frame that listen for clicks and are not clickable by
    /// themselves, in document order.
    pub fn of(&self, frame: &str) -> Vec<i64> {
        let text = |index: i64| {
            usize::try_from(index)
                .ok()
                .and_then(|at| self.strings.get(at))
                .map_or("", String::as_str)
        };
        let Some(document) = self.documents.iter().find(|document| text(document.frame) == frame)
        else {
            return Vec::new();
        };
        let nodes = &document.nodes;
        let own = |at: &&usize| {
            let name = nodes.names.get(**at).map_or("", |name| text(*name));
            // Attributes come as names and values in turn.
            let linked = || {
                let attributes = nodes.attributes.get(**at);
                attributes
                    .is_some_and(|all| all.iter().step_by(2).any(|name| text(*name) == "href"))
            };
            let is_link = name.eq_ignore_ascii_case("a") && linked();
            !is_link && !NATIVE.contains(&name)
        };
        let clickable = nodes.clickable.index.iter().filter(own);
        clickable.filter_map(|at| nodes.backend.get(*at).copied()).take(LISTENERS).collect()
    }
}

#[derive(Debug, Deserialize)]
struct Document {
    #[serde(rename = "frameId")]
    frame: i64,
    nodes: Nodes,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Nodes {
    #[serde(rename = "nodeName")]
    names: Vec<i64>,
    #[serde(rename = "backendNodeId")]
    backend: Vec<i64>,
    attributes: Vec<Vec<i64>>,
    #[serde(rename = "isClickable")]
    clickable: Rare,
}

/// What few nodes have: their positions.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Rare {
    index: Vec<usize>,
}

#[derive(Deserialize)]
struct Answer {
    result: Object,
}

#[derive(Deserialize)]
struct Object {
    #[serde(rename = "deepSerializedValue")]
    deep: List,
}

#[derive(Deserialize)]
struct List {
    #[serde(default)]
    value: Vec<Element>,
}

#[derive(Deserialize)]
struct Element {
    value: Option<ElementValue>,
}

#[derive(Deserialize)]
struct ElementValue {
    #[serde(rename = "shadowRoot")]
    shadow: Option<Root>,
}

#[derive(Deserialize)]
struct Root {
    value: Option<RootValue>,
}

#[derive(Deserialize)]
struct RootValue {
    mode: Option<String>,
    #[serde(rename = "backendNodeId")]
    backend: Option<i64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_closed_roots_are_asked_for() {
        let root = |mode: &str, id: i64| json!({"type": "node", "value": {"nodeType": 11, "mode": mode, "backendNodeId": id}});
        let element = |shadow: Value| json!({"type": "node", "value": {"shadowRoot": shadow}});
        let list = [element(Value::Null), element(root("open", 1)), element(root("closed", 2))];
        let answer = json!({"result": {"type": "object",
            "deepSerializedValue": {"type": "array", "value": list}}});
        assert_eq!(closed_roots(&answer.to_string()), [2]);
        assert_eq!(closed_roots("{}"), Vec::<i64>::new());
    }

    #[test]
    fn listening_elements_are_those_that_nothing_else_makes_clickable() {
        let answer = json!({
            "documents": [
                {"frameId": 0, "layout": {}, "nodes": {
                    "nodeName": [1, 2, 3, 3, 4], "backendNodeId": [10, 11, 12, 13, 14],
                    "attributes": [[], [], [5, 0], [0, 5], []], "isClickable": {"index": [1, 2, 3, 4]}}},
                {"frameId": 6, "nodes": {"nodeName": [4], "backendNodeId": [20], "isClickable": {"index": [0, 9]}}},
                {"frameId": -1, "nodes": {}},
            ],
            "strings": ["main", "HTML", "BODY", "A", "circle", "href", "inner"],
        });
        let listeners: Listeners = serde_json::from_value(answer).expect("an answer");
        assert_eq!(listeners.of("main"), [13, 14]);
        assert_eq!(listeners.of("inner"), [20]);
        assert_eq!(listeners.of("other"), Vec::<i64>::new());
    }

    #[test]
    fn excess_is_known_only_if_every_frame_was_counted() {
        assert_eq!(excess(10, &[Some(4), Some(6)]), Some(0));
        assert_eq!(excess(12, &[Some(4), Some(6)]), Some(2));
        assert_eq!(excess(9, &[Some(4), Some(6)]), Some(0));
        assert_eq!(excess(9, &[Some(4), None]), None);
    }
}
