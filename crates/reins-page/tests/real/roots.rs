//! Shadow roots of every kind, and element internals.

use crate::world::World;
use reins_page::CaptureOptions;
use serde_json::json;

/// Open, closed, nested, slotted and declarative roots are one tree, in the order they are seen.
#[tokio::test]
async fn closed_shadow_roots_are_read() {
    let world = World::open(
        r#"
        <div id=open></div><div id=closed></div><div id=nested></div>
        <div id=slotted><button>Slotted</button></div>
        <div id=unslotted><p>NEVER SHOWN</p></div>
        <div id=declared><template shadowrootmode=closed><h2>DECLARED</h2><slot></slot></template><i>light</i></div>
        <div id=late></div>
        <script>
        const fill = (id, mode, html) => { const r = document.getElementById(id).attachShadow({mode}); r.innerHTML = html; return r; };
        fill('open', 'open', '<p>OPEN</p>');
        fill('closed', 'closed', '<button>CLOSED</button>');
        fill('nested', 'open', '<div id=in></div>').getElementById('in').attachShadow({mode:'closed'}).innerHTML =
          '<section id=deep></section><p>NESTED</p>';
        fill('slotted', 'closed', '<p>before</p><slot></slot><p>after</p>');
        fill('unslotted', 'closed', '<p>instead</p>');
        window.later = () => fill('late', 'closed', '<p>LATE</p>');
        </script>"#,
    )
    .await;
    let text = world.lines().await;
    assert_eq!(
        text,
        "- OPEN\n- button \"CLOSED\" [ref=e1]\n- NESTED\n- before\n- button \"Slotted\" [ref=e2]\n- after\n- instead\n- ## DECLARED\n- light"
    );
    world.page("later(); 0").await;
    assert!(world.lines().await.ends_with("- LATE"));
}

/// A closed root inside a closed root takes one more round.
#[tokio::test]
async fn closed_roots_nest() {
    let world = World::open(
        r#"<div id=a></div><script>
        const r = document.getElementById('a').attachShadow({mode:'closed'});
        r.innerHTML = '<div></div>';
        const s = r.firstChild.attachShadow({mode:'closed'});
        s.innerHTML = '<div></div>';
        s.firstChild.attachShadow({mode:'closed'}).innerHTML = '<button>Deep</button>';
        </script>"#,
    )
    .await;
    assert_eq!(world.lines().await, r#"- button "Deep" [ref=e1]"#);
}

/// The count that makes asking unnecessary is exact, whatever the page's text holds.
#[tokio::test]
async fn nothing_is_asked_where_nothing_is_closed() {
    let world = World::open(
        r#"<!-- a < b --><p>1 &lt; 2</p><div id=o></div><div></div><span></span><template><p>&lt;</p></template>
        <svg><text>x &lt; y</text></svg><script>
        const r = document.getElementById('o').attachShadow({mode:'open'});
        r.innerHTML = '<style>a > b {}</style><p>3 &lt; 4</p><!-- < -->'; if (1 < 2) {}
        </script>"#,
    )
    .await;
    let counted = world.capture(&CaptureOptions::bounded(8_192)).await.searchable();
    let found = world.call("DOM.performSearch", json!({"query": "<"})).await;
    assert_eq!(found["resultCount"].as_u64(), counted.map(u64::from));
}

#[tokio::test]
async fn internals_give_a_role() {
    let world = World::open(
        r#"<x-switch tabindex=0>Wifi</x-switch><script>
        customElements.define('x-switch', class extends HTMLElement {
          static formAssociated = true;
          constructor() { super(); this.attachInternals().role = 'switch'; }
        });</script>"#,
    )
    .await;
    let capture = world.capture(&CaptureOptions::bounded(8_192)).await;
    let wanted = capture.internals_wanted();
    assert_eq!(wanted.len(), 1);
    world
        .ours("told => __reins.tellInternals(told)", &[json!([[wanted[0].0, "switch", ""]])])
        .await;
    assert_eq!(world.lines().await, r#"- switch "Wifi" [ref=e1]"#);
    assert!(world.capture(&CaptureOptions::bounded(8_192)).await.internals_wanted().is_empty());
}

/// The focus is found inside closed roots as well.
#[tokio::test]
async fn the_focus_is_deep() {
    let world = World::open(
        r#"<div id=h></div><script>
        const r = document.getElementById('h').attachShadow({mode:'closed'});
        r.innerHTML = '<input aria-label=Inner>'; window.focusIt = () => r.firstChild.focus();
        </script>"#,
    )
    .await;
    world.page("focusIt(); 0").await;
    assert_eq!(world.lines().await, r#"- textbox "Inner" [ref=e1] [focused]"#);
    let focused = world.ours("() => __reins.focused()", &[]).await;
    let role = world.ours("n => __reins.node(n).localName", &[focused]).await;
    assert_eq!(role, "input");
}
