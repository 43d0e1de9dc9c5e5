//! The walk: what is collected, in which order, at which cost.

use crate::world::World;
use reins_core::NodeNumber;
use reins_page::{CaptureOptions, PublishOptions, RefRegistry};

fn table(rows: u32) -> String {
    let rows: String = (0..rows)
        .map(|n| {
            format!("<tr><td>{n}</td><td>Customer {n}</td><td><a href='#r{n}'>Open</a></td></tr>")
        })
        .collect();
    format!(
        "<h1>Invoices</h1><table><thead><tr><th>No</th><th>Name</th><th>Do</th></tr></thead><tbody>{rows}</tbody></table><p>THE END</p>"
    )
}

/// The cost grows with what is said: of 5,000 rows a few hundred are gone through, wherever the page
/// is scrolled to, and what is on screen is among them.
#[tokio::test]
async fn a_long_page_is_not_walked_to_its_end() {
    let world = World::open(&table(5_000)).await;
    let options = CaptureOptions::bounded(8_192);
    let capture = world.capture(&options).await;
    assert!(capture.short && capture.visited < 4_000, "{}", capture.visited);
    assert!(capture.total > 20_000);
    world.page("document.querySelector('tr:nth-child(2500)').scrollIntoView(); 0").await;
    let snapshot = world.snapshot(&options).await;
    let visited = snapshot.frames()[0].visited;
    assert!(visited < 5_000, "{visited}");
    let shown = RefRegistry::new().publish(&snapshot, &PublishOptions::default());
    for row in ["| 0 | Customer 0 |", "| 2505 | Customer 2505 |", "… "] {
        assert!(shown.text.contains(row), "{row} in:\n{}", shown.text);
    }
    assert!(!shown.text.contains("| 4000 |"));
    assert!(shown.text.contains("[5001 rows]"), "{}", &shown.text[..200]);
}

/// R-132: everything, if everything is asked for.
#[tokio::test]
async fn r132_full_walks_everything() {
    let world = World::open(&table(1_000)).await;
    let snapshot = world.snapshot(&CaptureOptions::full()).await;
    let options = PublishOptions { full: true, ..PublishOptions::default() };
    let shown = RefRegistry::new().publish(&snapshot, &options);
    let all = format!("{}\n{}", shown.text, shown.rest.join("\n"));
    assert!(all.contains("| 999 | Customer 999 |") && all.ends_with("THE END"));
    assert_eq!(shown.unread, 0);
}

/// What floats above a long page is on screen though it stands at its end.
#[tokio::test]
async fn what_covers_a_long_page_is_read() {
    let world = World::open(&format!(
        r#"{}<div><div role=dialog aria-label=Cookies style="position:fixed;inset:auto 0 0 0;height:90px;background:#fff"><p>We use cookies</p><button>Fine</button></div></div>"#,
        table(5_000)
    ))
    .await;
    let text = world.lines().await;
    assert!(
        text.contains("- dialog \"Cookies\"\n  - We use cookies\n  - button \"Fine\" [ref="),
        "{text}"
    );
}

/// R-128: numbers stay with their elements and are never given twice.
#[tokio::test]
async fn r128_numbers_stay_with_their_elements() {
    let mut world = World::open("<button id=a>A</button><button id=b>B</button>").await;
    let options = CaptureOptions::bounded(8_192);
    world.capture(&options).await;
    let (a, b) = (world.number("#a").await, world.number("#b").await);
    world.page("document.getElementById('a').remove(); document.body.append(document.createElement('input')); 0").await;
    let known = CaptureOptions { known: vec![NodeNumber(a), NodeNumber(b)], ..options };
    let raw = world.raw(&known).await;
    assert!(raw.contains(&format!("\"gone\":[{a}]")), "{raw}");
    assert_eq!(world.number("#b").await, b);
    assert!(world.number("input").await > b);
    world.go("/").await;
    let fresh = world.ours("n => String(__reins.node(n)?.id)", &[9_999.into()]).await;
    assert_eq!(fresh, "undefined");
}

/// Very deep, very wide and very long content neither breaks the script nor the core.
#[tokio::test]
async fn extreme_pages_are_read() {
    let world = World::open(
        r#"<p id=long></p><div id=wide></div><div id=deep></div><button>Still here</button><script>
        document.getElementById('long').textContent = 'word '.repeat(400000) + '\ud83d';
        let at = document.getElementById('deep');
        for (let i = 0; i < 2000; i++) at = at.appendChild(document.createElement('div'));
        at.textContent = 'bottom';
        document.getElementById('wide').append(...Array.from({length: 12000}, () => document.createElement('span')));
        </script>"#,
    )
    .await;
    let bounded = world.capture(&CaptureOptions::bounded(8_192)).await;
    assert!(bounded.visited < 7_000, "{}", bounded.visited);
    let text = world.lines().await;
    assert!(text.contains("word word"), "{}", &text[..200.min(text.len())]);
    let full = world.snapshot(&CaptureOptions::full()).await;
    let options = PublishOptions { full: true, ..PublishOptions::default() };
    let shown = RefRegistry::new().publish(&full, &options);
    let all = format!("{}\n{}", shown.text, shown.rest.join("\n"));
    assert!(all.contains("Still here"));
}

/// Generated text, letter case and references are part of names, as on screen.
#[tokio::test]
async fn names_are_what_is_seen() {
    let world = World::open(
        r#"<style>.new::after{content:" (new)"}.up{text-transform:uppercase}.icon::before{content:"\f101"}</style>
        <button class=new>Offers</button><button class=up>send</button><button class=icon aria-label=Menu></button>
        <button aria-labelledby="x y">z</button><p id=x>Delete</p><p id=y hidden>for ever</p>
        <button><svg width=9 height=9><title>Print</title></svg></button>"#,
    )
    .await;
    assert_eq!(
        world.lines().await,
        "- button \"Offers (new)\" [ref=e1]\n- button \"SEND\" [ref=e2]\n- button \"Menu\" [ref=e3]\n- button \"Delete for ever\" [ref=e4]\n- Delete\n- button \"Print\" [ref=e5]"
    );
}
