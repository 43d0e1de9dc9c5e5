//! What sends and cannot be held: pages of a browser that Reins starts have none of it, in any realm.

use super::support::{Page, World, done};
use reins_browser::{Containment, Unheld};

/// Every realm that a page can get hold of, asked for the interfaces before anything else runs there. The
/// page puts them together, so that one that never answers is seen as well.
const REALMS: &str = r#"
<script>
const asks = "[typeof WebTransport, typeof RTCPeerConnection, typeof webkitRTCPeerConnection].join()"
const of = w => [typeof w.WebTransport, typeof w.RTCPeerConnection, typeof w.webkitRTCPeerConnection].join()
const frame = set => { const f = document.createElement('iframe'); set(f); document.body.append(f); return f }
const said = (w, what) => new Promise(r => w.addEventListener('message', e => e.data.startsWith?.(what) && r(e.data.slice(what.length))))
const tell = what => `(self.port || parent).postMessage('${what}' + ${asks}, ...(self.port ? [] : ['*']))`
const worker = (make, code) => new Promise(r => { const w = make(code); (w.port || w).onmessage = e => r(e.data) })
const blob = code => URL.createObjectURL(new Blob([code]))
async function ask() {
  const found = { page: of(window) }
  found.empty = of(frame(() => 0).contentWindow)
  const gone = frame(() => 0); const kept = gone.contentWindow; found.kept = of(kept)
  found.srcdoc = await (frame(f => f.srcdoc = `<script>${tell('srcdoc ')}<\/script>`), said(window, 'srcdoc '))
  found.data = await (frame(f => f.src = `data:text/html,<script>${tell('data ')}<\/script>`), said(window, 'data '))
  found.sandboxed = await (frame(f => { f.sandbox = 'allow-scripts'; f.src = `data:text/html,<script>${tell('sandboxed ')}<\/script>` }), said(window, 'sandboxed '))
  found.other = await (frame(f => f.src = OTHER), said(window, 'other '))
  const w = window.open(''); found.window = of(w); w.close()
  found.worker = await worker(c => new Worker(blob(c)), `postMessage(${asks})`)
  found.nested = await worker(c => new Worker(blob(c)), `new Worker(URL.createObjectURL(new Blob(["postMessage(${asks})"]))).onmessage = e => postMessage(e.data)`)
  found.shared = await worker(c => new SharedWorker(blob(c)), `onconnect = e => e.ports[0].postMessage(${asks})`)
  const registered = await navigator.serviceWorker.register('/sw.js'); await navigator.serviceWorker.ready
  found.service = await new Promise(r => { const c = new MessageChannel(); c.port1.onmessage = e => r(e.data); registered.active.postMessage(0, [c.port2]) })
  return found
}
let result
</script><button type=button onclick="result = ask()">Ask</button>"#;

fn pages(other: &str) -> [(&'static str, Page); 3] {
    let asks =
        "[typeof WebTransport, typeof RTCPeerConnection, typeof webkitRTCPeerConnection].join()";
    [
        ("/", Page::html(&REALMS.replace("OTHER", &format!("'{other}'")))),
        (
            "/other",
            Page::html(&format!("<script>parent.postMessage('other ' + {asks}, '*')</script>")),
        ),
        (
            "/sw.js",
            Page::raw(
                "text/javascript",
                format!("onmessage = e => e.ports[0].postMessage({asks})"),
            ),
        ),
    ]
}

/// What each realm has, as `realm types`.
async fn realms(unheld: Unheld) -> Vec<String> {
    let world = World::contained(pages(""), Containment { unheld, ..Containment::default() }).await;
    let other = world.site.other_url("/other");
    for (path, page) in pages(&other) {
        world.site.set(path, page);
    }
    done(&world.go("/").await);
    // A window opens only for a click.
    done(&world.click("Ask").await);
    let found = world.eval("result.catch(String)").await;
    let realms = found.as_object().unwrap_or_else(|| panic!("not every realm answered: {found}"));
    realms
        .iter()
        .map(|(realm, types)| format!("{realm} {}", types.as_str().unwrap_or_default()))
        .collect()
}

/// R-221: calls and WebTransport go past every check, so no realm of a browser that Reins starts has them, not the
/// empty ones that a page gets before anything was loaded into them, and no worker.
#[tokio::test]
async fn r221_no_realm_has_what_nothing_can_hold() {
    let left = realms(Unheld::Left).await;
    assert_eq!(left.len(), 12, "{left:?}");
    // This machine's browser has them, so that the rest of the test shows something.
    assert!(left.contains(&"page function,function,function".to_owned()), "{left:?}");
    assert!(left.contains(&"worker function,undefined,undefined".to_owned()), "{left:?}");
    for realm in realms(Unheld::Taken).await {
        assert!(realm.ends_with(" undefined,undefined,undefined"), "{realm}");
    }
}
