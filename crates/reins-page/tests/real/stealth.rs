//! Hostile pages: they can neither see the script nor bend what it reads.

#![allow(clippy::unwrap_used, reason = "a failed step must stop the test")]

use crate::world::World;
use serde_json::Value;

/// Every property that the script reads, as the name of a form's field or of an image.
const NAMES: &[&str] = &[
    "getAttribute",
    "hasAttribute",
    "getAttributeNames",
    "attributes",
    "localName",
    "tagName",
    "nodeType",
    "nodeName",
    "parentNode",
    "firstChild",
    "nextSibling",
    "previousSibling",
    "childNodes",
    "children",
    "firstElementChild",
    "shadowRoot",
    "assignedSlot",
    "textContent",
    "innerText",
    "isConnected",
    "getRootNode",
    "contains",
    "closest",
    "matches",
    "querySelector",
    "querySelectorAll",
    "getBoundingClientRect",
    "checkVisibility",
    "scrollHeight",
    "clientHeight",
    "action",
    "method",
    "target",
    "enctype",
    "elements",
    "submit",
    "length",
    "namespaceURI",
    "data",
    "isContentEditable",
    "ownerDocument",
    "style",
    "id",
    "title",
    "body",
    "documentElement",
    "activeElement",
    "getElementById",
    "getElementsByTagName",
    "baseURI",
    "location",
    "readyState",
    "scrollingElement",
    "evaluate",
    "createTreeWalker",
    "createNodeIterator",
    "defaultView",
];

#[tokio::test]
async fn a_page_cannot_clobber_what_is_read() {
    let fields: String =
        NAMES.iter().map(|name| format!("<input name={name} aria-label=x>")).collect();
    let images: String =
        NAMES.iter().map(|name| format!("<img name={name}><form name={name}></form>")).collect();
    let world = World::open(&format!(
        r#"{images}<form id=f action=/real aria-label=Order>{fields}<button>Send</button></form><p>THE END</p>"#
    ))
    .await;
    let text = world.lines().await;
    assert!(text.contains("- form \"Order\""), "{text}");
    assert!(text.contains("button \"Send\" [ref="), "{text}");
    assert!(text.ends_with("- THE END"), "{text}");
    assert_eq!(text.matches("textbox \"x\"").count(), NAMES.len(), "{text}");
    let send = world.record("#f button").await;
    assert_eq!(send.submission.unwrap().action, world.site.url("/real"));
}

/// Replaced built-ins are the page's own problem.
#[tokio::test]
async fn a_page_cannot_replace_what_we_call() {
    let world = World::open(
        r#"<button>Real</button><script>
        window.calls = [];
        for (const proto of [Element.prototype, Node.prototype, Document.prototype, HTMLElement.prototype])
          for (const name of Object.getOwnPropertyNames(proto)) {
            const d = Object.getOwnPropertyDescriptor(proto, name);
            if (typeof d.value === 'function' && name !== 'constructor')
              proto[name] = function () { calls.push(name); return null; };
          }
        window.getComputedStyle = () => { calls.push('getComputedStyle'); return {}; };
        Array.prototype.push = function () { throw new Error('no'); };
        JSON.stringify = () => 'forged';
        </script>"#,
    )
    .await;
    assert_eq!(world.lines().await, r#"- button "Real" [ref=e1]"#);
    assert_eq!(world.page("calls.length").await, Value::from(0));
}

/// Reading leaves no trace: no global, no attribute, no event, no mutation, no change of the focus.
#[tokio::test]
async fn reading_leaves_no_trace() {
    let world = World::open(
        r#"<input id=i><div id=d style="overflow:auto;height:50px"><p style="height:900px">x</p></div><script>
        window.seen = [];
        new MutationObserver(list => seen.push(...list.map(m => m.type))).observe(document, {subtree: true, childList: true, attributes: true, characterData: true});
        for (const type of ['focus', 'blur', 'scroll', 'resize', 'selectionchange', 'slotchange', 'mousemove', 'click'])
          addEventListener(type, e => seen.push(type), true);
        document.getElementById('i').focus();
        window.before = 0;
        window.before = [Object.getOwnPropertyNames(window).length, document.documentElement.outerHTML, scrollY, getSelection().rangeCount];
        </script>"#,
    )
    .await;
    world.page("new Promise(r => setTimeout(() => { seen.length = 0; r(0) }, 50))").await;
    for _ in 0..3 {
        world.lines().await;
        world.record("#i").await;
    }
    let trace = world
        .page("new Promise(r => setTimeout(() => r([typeof __reins, seen, [Object.getOwnPropertyNames(window).length, document.documentElement.outerHTML, scrollY, getSelection().rangeCount].every((v, i) => v === before[i])]), 50))")
        .await;
    assert_eq!(trace, serde_json::json!(["undefined", [], true]));
}
