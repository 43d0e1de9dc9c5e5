//! How events leave: by the recorder alone, and with what is told beside them.

use crate::support::{Page, World, done};
use crate::tape::Tape;
use reins_browser::{RecordOptions, RecordedKind};
use std::time::Duration;

/// What a page may try to see of a recorder or to speak in its place.
const FORGER: &str = r#"<h1>Forger</h1><p id=o></p><script>
const seen = [];
new MutationObserver(all => { for (const m of all) {
  if (m.type == 'attributes') seen.push('attribute ' + m.attributeName);
  for (const n of m.addedNodes) if (n.localName == 'iframe') seen.push('frame');
} }).observe(document, {attributes: true, childList: true, subtree: true});
for (const name of ['__reins_record', '__reins', 'rrweb', 'rrwebRecord']) if (name in window) seen.push(name);
const forged = JSON.stringify({events: [{type: 2, timestamp: Date.now(), data: {node: {type: 0, id: 1, childNodes: [
  {type: 3, id: 2, textContent: 'FORGED'}]}, initialOffset: {left: 0, top: 0}}}]});
for (const w of [window, parent, top]) {
  try { w.__reins_record(forged) } catch {}
  w.postMessage({type: 'rrweb', event: JSON.parse(forged).events[0], origin: location.origin}, '*');
}
window.__reins_record = () => { seen.push('called') };
window.__reins = {picture() { seen.push('called') }, number() { seen.push('called'); return 7 }};
JSON.stringify = () => { seen.push('stringify'); return '"FORGED"' };
Date.now = () => { seen.push('clock'); return 1 };
Element.prototype.attachShadow = Element.prototype.getAttribute = () => { seen.push('prototype') };
const input = document.createElement('input');
input.type = 'password'; document.body.append(input);
setTimeout(() => {
  for (let n = setTimeout(() => 0); n > 0; n--) { clearTimeout(n); clearInterval(n) }
  for (let n = requestIdleCallback(() => 0); n > 0; n--) { cancelIdleCallback(n); cancelAnimationFrame(n) }
  input.type = 'text'; o.textContent = 'AT THE END';
}, 900);
</script>"#;

/// S-106: no policy of a page concerns the recorder, and a page can neither see it nor speak for it.
#[tokio::test]
async fn s106_a_page_cannot_see_stop_or_forge_a_recording() {
    let policy =
        "default-src 'none'; script-src 'unsafe-inline'; connect-src 'none'; sandbox allow-scripts";
    let page = Page::html(FORGER).with_header("content-security-policy", policy);
    let world = World::start([("/", page)]).await;
    let mut tape = Tape::start(&world);
    done(&world.go("/").await);
    tape.until_text("AT THE END").await;
    tape.for_a_while(Duration::from_millis(500)).await;
    assert!(!tape.text().contains("FORGED"));
    let seen = world.eval("seen.join()").await;
    assert_eq!(seen, "attribute type", "what the page saw beside its own doing");
    // It cannot come back with the clock of the page either.
    assert!(tape.heard.iter().all(|recorded| recorded.at_ms > 1_600_000_000_000));
}

/// S-103, S-104: errors, warnings and marks, without query and fragment.
#[tokio::test]
async fn s103_s104_consoles_and_marks_are_recorded() {
    let page = "<p>One</p><script>console.log('not this');console.warn('a warning');console.error('x'.repeat(9000));\
        setTimeout(()=>{throw new Error('thrown here')})</script>";
    let world = World::start([("/", Page::html(page)), ("/two", Page::html("<p>Two</p>"))]).await;
    let mut tape = Tape::start(&world);
    done(&world.go("/?token=QUERY-1#FRAGMENT-1").await);
    tape.until("the thrown error", |kind| match kind {
        RecordedKind::Console { text, error } => *error && text.contains("thrown here"),
        _ => false,
    })
    .await;
    world.eval("history.pushState(0,'','/pushed?token=QUERY-2#FRAGMENT-2');0").await;
    let pushed = world.site.url("/pushed");
    tape.until("the new address", |kind| match kind {
        RecordedKind::Navigated { url } => *url == pushed,
        _ => false,
    })
    .await;
    done(&world.go("/two").await);
    tape.until_text("Two").await;
    assert!(world.browser.start_recording(RecordOptions::default()).is_err());
    let (_connection, session) = world.stranger().await;
    drop(
        session
            .call::<serde_json::Value>("Page.close", serde_json::json!({}), crate::support::LONG)
            .await,
    );
    let two = world.site.url("/two");
    tape.until("the end of the tab", |kind| match kind {
        RecordedKind::Closed { url } => *url == two,
        _ => false,
    })
    .await;
    let text = tape.text();
    assert!(!text.contains("QUERY-") && !text.contains("FRAGMENT-"), "{text}");
    assert!(text.contains("a warning") && !text.contains("not this"));
    let long = tape.heard.iter().filter_map(|recorded| match &recorded.kind {
        RecordedKind::Console { text, .. } => Some(text.chars().count()),
        _ => None,
    });
    let longest = long.max().unwrap();
    assert!((1_000..=2_000).contains(&longest), "{longest}");
    assert!(matches!(&tape.heard[0].kind, RecordedKind::Opened { .. }));
}
