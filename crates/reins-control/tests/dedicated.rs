//! The street through the dedicated browser, which somebody else started and uses.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a failed step must stop the test")]

mod support;

use reins_cdp::testing::{Chromium, chrome};
use reins_cdp::{Connection, Session};
use reins_control::{BrowserSource, CardAnswer, Reply};
use reins_core::limits::CALL_DEADLINE;
use reins_testing::{Page, Site};
use serde_json::{Value, json};
use std::time::Duration;
use support::{Desk, Person, find_ref};
use tempfile::TempDir;

const LONG: Duration = Duration::from_secs(30);

/// over the loopback endpoint of a browser that runs already, the
/// agent opens a page of its own, reads it with its frames, gets a picture and acts by ref. A-025: the
/// person's tab is not taken for the agent's, though it shows the same; it stays when we let go.
#[tokio::test(flavor = "multi_thread")]
async fn a001_a003_the_dedicated_browser_is_listed_navigated_read_and_used() {
    let site = Site::start([
        (
            "/",
            Page::html(
                "<title>Notes</title><h1>Notes</h1><iframe src=/part></iframe>\
                 <button onclick=\"hit('added')\">Add</button>",
            ),
        ),
        ("/part", Page::html("<p>inside the frame</p>")),
    ])
    .await
    .unwrap();
    let profile = tempfile::tempdir().unwrap();
    let chromium = Chromium::start_on(&chrome().unwrap(), profile.path()).await.unwrap();
    let hands = Connection::websocket(&chromium.url(), LONG).await.unwrap().root();
    let own: Value = hands
        .call("Target.createTarget", json!({"url": site.url("/"), "newWindow": true}), LONG)
        .await
        .unwrap();
    let own = own["targetId"].as_str().unwrap().to_owned();

    let desk = Desk::new(Person::saying([CardAnswer::Allow]), |options| {
        options.source = BrowserSource::Dedicated(profile.path().to_owned());
    })
    .await;
    desk.says(&format!("open {}", site.url("/")));
    let opened = desk.ok("open_tab", json!({"url": site.url("/")})).await;
    assert!(opened.contains("# Notes") && opened.contains("inside the frame"), "{opened}");
    let listed = desk.ok("list_tabs", json!({})).await;
    let theirs = listed.lines().find(|line| line.contains(&own[..8])).unwrap_or_default();
    assert!(theirs.contains("person") || theirs.is_empty(), "A-025: {listed}");
    let picture = desk.call("screenshot", json!({})).await.unwrap();
    assert_eq!(picture.pictures.len(), 1, "{}", picture.whole_text());
    let add = find_ref(&opened, "button", "Add");
    desk.ok("click", json!({"ref": add})).await;
    assert!(site.wait_hit("added", LONG).await);
    assert_eq!(site.hits("added"), 1, "A-X02: done once");

    desk.control.close().await;
    let left: Value = hands.call("Target.getTargets", (), LONG).await.unwrap();
    let pages = left["targetInfos"].as_array().unwrap();
    assert!(
        pages.iter().any(|target| target["targetId"] == own.as_str()),
        "the person's tab stays"
    );
}

/// The agent's desk at a browser that runs already.
struct Attached {
    desk: Desk,
    site: Site,
    hands: Session,
    _profile: TempDir,
    _chromium: Chromium,
}

impl Attached {
    async fn to<'a>(pages: impl IntoIterator<Item = (&'a str, Page)>) -> Self {
        let site = Site::start(pages).await.unwrap();
        let profile = tempfile::tempdir().unwrap();
        let chromium = Chromium::start_on(&chrome().unwrap(), profile.path()).await.unwrap();
        let hands = Connection::websocket(&chromium.url(), LONG).await.unwrap().root();
        let desk = Desk::new(Person::default(), |options| {
            options.source = BrowserSource::Dedicated(profile.path().to_owned());
        })
        .await;
        desk.says(&format!("look at {} and {}", site.url("/"), site.other_url("/")));
        Self { desk, site, hands, _profile: profile, _chromium: chromium }
    }

    /// A session of the test's own on the tab that shows this address.
    async fn tab(&self, url: &str) -> Session {
        let targets: Value = self.hands.call("Target.getTargets", (), LONG).await.unwrap();
        let targets = targets["targetInfos"].as_array().unwrap();
        let tab =
            targets.iter().find(|tab| tab["url"] == url).expect("the tab")["targetId"].clone();
        let attach = json!({"targetId": tab, "flatten": true});
        let attached: Value = self.hands.call("Target.attachToTarget", attach, LONG).await.unwrap();
        self.hands.connection().session(attached["sessionId"].as_str().unwrap())
    }
}

/// Evaluates in the page's own world.
async fn eval(tab: &Session, expression: &str) -> Value {
    let ask = json!({"expression": expression, "returnByValue": true});
    let answer: Value = tab.call("Runtime.evaluate", ask, LONG).await.unwrap();
    answer["result"]["value"].clone()
}

/// looking moves nothing: no tab is shown or hidden, focused, scrolled or resized by it. The
/// picture says where the viewport is, and both it and the snapshot say which document they are of.
#[tokio::test(flavor = "multi_thread")]
async fn a030_a035_looking_changes_nothing_and_says_of_what_it_is() {
    let page = "<body style='height:3000px'><h1>Long</h1><script>window.saw=[];scrollTo(0,500);\
        requestAnimationFrame(()=>requestAnimationFrame(()=>{for(const e of ['visibilitychange','focus','blur','resize','scroll'])\
        addEventListener(e,()=>saw.push(e),true);document.title='watched'}))</script>";
    let there = Attached::to([("/", Page::html(page)), ("/two", Page::html("<h1>Two</h1>"))]).await;
    let (desk, url) = (&there.desk, there.site.url("/"));
    desk.ok("open_tab", json!({"url": url})).await;
    let tab = there.tab(&url).await;
    while eval(&tab, "document.title").await != "watched" {
        tokio::task::yield_now().await;
    }
    // Opening it may have told the page that it has the focus.
    eval(&tab, "saw.length=0").await;
    let read = desk.call("snapshot", json!({})).await.unwrap();
    let picture = desk.call("screenshot", json!({})).await.unwrap();
    desk.ok("snapshot", json!({"full": true})).await;
    desk.ok("get_page_text", json!({})).await;
    desk.ok("find_in_page", json!({"text": "Long"})).await;
    desk.ok("list_tabs", json!({})).await;
    assert_eq!(eval(&tab, "saw.join()+' '+scrollY").await, " 500");

    let view = &picture.facts["viewport"];
    assert_eq!((view["scroll_y"].as_f64(), view["zoom"].as_f64()), (Some(500.0), Some(1.0)));
    assert!(view["width"].as_f64() > Some(100.0) && view["height"].as_f64() > Some(100.0));
    let document = read.facts["document"].as_str().unwrap();
    assert_eq!(picture.facts["document"], document);
    // Another document came without our doing: the picture says so, since its refs are not in the last snapshot.
    let _: Value = tab.call("Page.enable", (), LONG).await.unwrap();
    let mut loaded = tab.events(&["Page.loadEventFired"]);
    let two = json!({"url": there.site.url("/two")});
    let _: Value = tab.call("Page.navigate", two, LONG).await.unwrap();
    loaded.next().await;
    let picture = desk.call("screenshot", json!({})).await.unwrap();
    assert_ne!(picture.facts["document"], document);
    assert!(picture.text.contains("another document"), "{}", picture.text);
}

/// a document that is replaced while it is read. The page is stuck, so the reading waits for it; then
/// another document takes its place, and what is told is the new one, with a word that it is.
#[tokio::test(flavor = "multi_thread")]
async fn a036_a_document_that_was_replaced_while_it_was_read_is_told() {
    let stuck = "<h1>OLD_TEXT</h1><script>function hang(){const x=new XMLHttpRequest();x.open('GET','/hang',false);x.send()}</script>";
    let there = Attached::to([
        ("/", Page::html(stuck)),
        ("/hang", Page::raw("text/plain", "").never_answering()),
        ("/new", Page::html("<h1>NEW_TEXT</h1>")),
    ])
    .await;
    let (desk, url) = (&there.desk, there.site.url("/"));
    desk.ok("open_tab", json!({"url": url})).await;
    let tab = there.tab(&url).await;
    let hang = json!({"expression": "setTimeout(hang)"});
    let _: Value = tab.call("Runtime.evaluate", hang, LONG).await.unwrap();
    assert!(there.site.wait_for(LONG, |seen| seen.path == "/hang").await);
    // The reading asks the stuck page first: it was begun before the other document is asked for.
    let elsewhere = json!({"url": there.site.other_url("/new")});
    let read = desk.call("snapshot", json!({}));
    let go = async {
        tokio::task::yield_now().await;
        tab.call::<Value>("Page.navigate", elsewhere, LONG).await.unwrap()
    };
    let (read, _) = tokio::join!(read, go);
    let read = read.unwrap();
    assert!(read.whole_text().contains("NEW_TEXT"), "{}", read.whole_text());
    assert!(read.text.contains("replaced while it was read"), "{}", read.text);
}

/// a tab that paints nothing gives no picture, and a frame that is stuck cannot be read. Each
/// is told within the deadline of a call, and takes nothing else away.
#[tokio::test(flavor = "multi_thread")]
async fn a037_a038_what_cannot_be_had_is_told_and_takes_nothing_else_away() {
    let inner = "<h1>INNER_TEXT</h1><script>function hang(){const x=new XMLHttpRequest();x.open('GET','/hang',false);x.send()}\
        addEventListener('message',()=>setTimeout(hang))</script>";
    let there = Attached::to([
        ("/in", Page::html(inner)),
        ("/hang", Page::raw("text/plain", "").never_answering()),
    ])
    .await;
    let (desk, url) = (&there.desk, there.site.url("/"));
    let outer = format!(
        "<h1>OUTER_TEXT</h1><iframe src='{}'></iframe><script>{}</script>",
        there.site.other_url("/in"),
        "function hang(){const x=new XMLHttpRequest();x.open('GET','/hang',false);x.send()}"
    );
    there.site.set("/", Page::html(&outer));
    desk.ok("open_tab", json!({"url": url})).await;
    let tab = there.tab(&url).await;
    eval(&tab, "frames[0].postMessage(1,'*')").await;
    assert!(there.site.wait_for(LONG, |seen| seen.path == "/hang").await);
    let read = tokio::time::timeout(CALL_DEADLINE, desk.ok("snapshot", json!({}))).await.unwrap();
    assert!(read.contains("OUTER_TEXT") && !read.contains("INNER_TEXT"), "{read}");
    assert!(read.contains("did not answer in time"), "{read}");

    let hang = json!({"expression": "setTimeout(hang)"});
    let _: Value = tab.call("Runtime.evaluate", hang, LONG).await.unwrap();
    while there.site.requests("/hang") < 2 {
        tokio::task::yield_now().await;
    }
    let picture = desk.call("screenshot", json!({}));
    let picture = tokio::time::timeout(CALL_DEADLINE, picture).await.unwrap();
    assert!(picture.as_ref().map_or(true, Reply::failed), "{picture:?}");
    let read = desk.call("snapshot", json!({}));
    let read = tokio::time::timeout(CALL_DEADLINE, read).await.unwrap().unwrap();
    assert!(read.whole_text().contains("did not answer"), "{}", read.whole_text());
    assert!(desk.ok("list_tabs", json!({})).await.contains(&url));
}

/// whatever a page says, one result stays far under 2 MB.
#[tokio::test(flavor = "multi_thread")]
async fn a040_no_result_is_larger_than_a_message_may_be() {
    let page = "<h1>Long</h1><script>for(let i=0;i<6000;i++)document.body.append(Object.assign(document.createElement('p'),{textContent:i+' '+'word '.repeat(30)}))</script>";
    let there = Attached::to([("/", Page::html(page))]).await;
    let desk = &there.desk;
    let url = there.site.url("/");
    desk.ok("open_tab", json!({"url": url})).await;
    desk.ok("wait_for_settle", json!({})).await;
    for (tool, arguments) in [
        ("snapshot", json!({"full": true})),
        ("get_page_text", json!({})),
        ("find_in_page", json!({"text": "word"})),
    ] {
        let reply = desk.call(tool, arguments).await.unwrap();
        let size = reply.whole_text().len();
        assert!(size > 1_000 && size < 128 * 1024, "{tool}: {size}");
    }
}

/// one request to the server for each call, for absolute web addresses only; two calls at once are made
/// one after the other.
#[tokio::test(flavor = "multi_thread")]
async fn a050_a051_each_navigation_is_sent_once_and_after_the_one_before() {
    let there = Attached::to([
        ("/", Page::html("<h1>First</h1><script>hit('first')</script>")),
        ("/b", Page::html("<h1>Second</h1>")),
    ])
    .await;
    let (desk, site) = (&there.desk, &there.site);
    desk.says(&format!("open {} and {}", site.url("/"), site.url("/b")));
    desk.ok("open_tab", json!({})).await;
    let (first, second) = (json!({"url": site.url("/")}), json!({"url": site.url("/b")}));
    let (first, second) = tokio::join!(desk.ok("navigate", first), desk.ok("navigate", second));
    assert!(first.contains("First") && second.contains("Second"), "{first}\n{second}");
    let order: Vec<String> = site.seen().into_iter().map(|seen| seen.path).collect();
    let at = |path: &str| order.iter().position(|seen| seen == path);
    assert!(at("/hit?first") < at("/b") && at("/hit?first").is_some(), "{order:?}");
    assert_eq!((site.requests("/"), site.requests("/b")), (1, 1));
    for url in ["/b", "b", "javascript:fetch('/b')", "file:///etc/passwd", "chrome://settings"] {
        desk.code("navigate", json!({"url": url})).await;
    }
    assert_eq!(site.requests("/b"), 1);
}
