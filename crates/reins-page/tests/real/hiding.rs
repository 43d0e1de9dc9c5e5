//! Hidden text, as pages really hide it (R-035…R-040).

use crate::world::World;

/// R-036: each of these ways of hiding is noticed; R-037: the known holes are no more than these.
#[tokio::test]
async fn r036_ways_of_hiding() {
    let world = World::open(
        r#"
        <p>SEEN 1</p>
        <p style="display:none">HIDDEN display</p>
        <p hidden>HIDDEN attribute</p>
        <p style="visibility:hidden">HIDDEN visibility <b style="visibility:visible">SEEN 2</b></p>
        <p style="visibility:collapse">HIDDEN collapse</p>
        <p aria-hidden=true>HIDDEN aria</p>
        <p inert>HIDDEN inert</p>
        <div style="content-visibility:hidden"><p>HIDDEN content-visibility</p></div>
        <div hidden=until-found><p>HIDDEN until found</p></div>
        <details><summary>SEEN 3</summary><p>HIDDEN details</p></details>
        <p style="color:transparent">HIDDEN transparent</p>
        <p style="color:#12345600">HIDDEN alpha</p>
        <p style="color:oklch(50% .1 20 / 0)">HIDDEN oklch</p>
        <p style="-webkit-text-fill-color:transparent">HIDDEN fill</p>
        <p style="-webkit-text-fill-color:transparent;background:linear-gradient(red,blue);-webkit-background-clip:text">SEEN 4</p>
        <p style="font-size:0">HIDDEN font</p>
        <p style="font-size:1px">HIDDEN tiny font</p>
        <div style="font-size:0"><span style="font-size:14px">SEEN 5</span></div>
        <div style="position:absolute;width:1px;height:1px;overflow:hidden;clip:rect(0,0,0,0)">HIDDEN sr-only</div>
        <div style="height:0;overflow:hidden"><p>HIDDEN collapsed</p></div>
        <div style="width:0;overflow:hidden"><p>HIDDEN narrow</p></div>
        <p style="position:absolute;left:-9999px">HIDDEN left</p>
        <p style="position:fixed;left:-9999px;top:0">HIDDEN fixed left</p>
        <p style="margin-left:-9999px">HIDDEN margin</p>
        <p style="transform:translateX(-9999px)">HIDDEN transform</p>
        <p style="text-indent:-9999px">HIDDEN indent</p>
        <p style="opacity:0">HOLE opacity</p>
        <p style="position:absolute;top:-9999px">HOLE above</p>
        <p style="color:#fff;background:#fff">HOLE same colour</p>
        <template><p>HIDDEN template</p></template>
        <script type=text/plain>HIDDEN script</script>
        <noscript>HIDDEN noscript</noscript>
        <div style="height:0"><p>SEEN 6</p></div>
        <div style="height:5000px"></div><p>SEEN 7 below</p>
        <div style="position:absolute;left:3000px;top:0">SEEN 8 right</div>
        "#,
    )
    .await;
    let text = world.lines().await;
    assert!(!text.contains("HIDDEN"), "{text}");
    for n in 1..=8 {
        assert!(text.contains(&format!("SEEN {n}")), "SEEN {n} in:\n{text}");
    }
    // Stated, not papered over (R-037).
    assert_eq!(text.matches("HOLE").count(), 3, "{text}");
}

/// R-038, R-039: what is scrolled away stays, and what is on screen is known to be.
#[tokio::test]
async fn r038_scrolled_away_is_not_hidden() {
    let world = World::open(
        r#"
        <div style="width:300px;overflow-x:auto;white-space:nowrap" id=row>
          <div style="display:inline-block;width:400px">FIRST</div><div style="display:inline-block;width:400px">SECOND</div><div style="display:inline-block;width:400px">THIRD</div>
        </div>
        <div style="height:4000px"></div><button>Below fold</button>"#,
    )
    .await;
    world.page("document.getElementById('row').scrollLeft = 800; 0").await;
    world.page("scrollTo(0, 100000); 0").await;
    let text = world.lines().await;
    for word in ["FIRST", "SECOND", "THIRD", "button \"Below fold\" [ref="] {
        assert!(text.contains(word), "{word} in:\n{text}");
    }
}

/// A right-to-left page scrolls to the left: what is there is not moved away.
#[tokio::test]
async fn r036_right_to_left_pages_go_left() {
    let world = World::open(
        r#"<script>document.documentElement.dir='rtl'</script>
        <div style="width:4000px"><p style="position:absolute;right:3000px;top:9px">SEEN far left</p></div>
        <p style="position:absolute;right:90000px">HIDDEN</p>"#,
    )
    .await;
    world.page("document.querySelector('p:last-of-type').style.right = '-9999px'; 0").await;
    let text = world.lines().await;
    assert!(text.contains("SEEN far left"), "{text}");
}

/// A page that hides what has the focus made a mistake; browsers ignore it, and so do we.
#[tokio::test]
async fn aria_hidden_around_the_focus_is_ignored() {
    let world =
        World::open(r#"<div aria-hidden=true><button id=b>Focused</button></div><div aria-hidden=true>HIDDEN</div>"#)
            .await;
    assert!(!world.lines().await.contains("Focused"));
    world.page("document.getElementById('b').focus(); 0").await;
    assert_eq!(world.lines().await, r#"- button "Focused" [ref=e1] [focused]"#);
}
