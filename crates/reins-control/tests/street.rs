//! The street in a real Chromium, judged by what reached the pages' server.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a failed step must stop the test")]

mod support;

use reins_control::CardAnswer;
use reins_core::{OwnerId, SessionId};
use reins_testing::{Page, Site};
use serde_json::json;
use std::time::Duration;
use support::{Desk, Person, find_ref};

const SOON: Duration = Duration::from_secs(5);

async fn shop() -> Site {
    Site::start([
        (
            "/",
            Page::html(
                "<title>Shop</title><h1>Shop</h1><button type=button id=b onclick=\"hit('more');p.textContent='three items'\">Show more</button>\
                 <p id=p>two items</p><a href='/tea'>Tea</a> <a href='http://elsewhere.example/'>Elsewhere</a>\
                 <form action=/sign method=post><label>Email <input type=email name=mail></label><button>Sign up</button></form>\
                 <label><input type=checkbox name=c> Gift wrap</label>",
            ),
        ),
        ("/tea", Page::html("<title>Tea</title><h1>Tea</h1>")),
        ("/sign", Page::html("<title>Thanks</title><h1>Thanks</h1>")),
    ])
    .await
    .unwrap()
}

/// an act ends with what changed; R-132: as a delta, small.
/// W-350: snapshot and click by ref.
#[tokio::test(flavor = "multi_thread")]
async fn r139_a_click_answers_with_its_delta() {
    let site = shop().await;
    let desk = Desk::pinned(&site).await;
    let page = desk.ok("navigate", json!({"url": site.url("/")})).await;
    assert!(page.contains("# Shop"), "{page}");
    let button = find_ref(&page, "button", "Show more");
    let reply = desk.call("click", json!({"ref": button})).await.unwrap();
    let text = reply.whole_text();
    assert!(text.starts_with("completed: clicked button \"Show more\""), "{text}");
    assert!(text.contains("three items") && !text.contains("Gift wrap"), "{text}");
    assert!(text.len() <= 600, "{} bytes: {text}", text.len());
    assert!(site.wait_hit("more", SOON).await);
    desk.control.close().await;
}

/// a native submit asks at every level; R-164: a no sends nothing and says so.
#[tokio::test(flavor = "multi_thread")]
async fn r149_r164_a_submit_asks_and_a_no_sends_nothing() {
    let site = shop().await;
    let desk = Desk::guarded(Person::saying([CardAnswer::Deny, CardAnswer::Allow])).await;
    desk.says(&format!("sign up at {} with a@b.example", site.url("/")));
    let page = desk.ok("navigate", json!({"url": site.url("/")})).await;
    let field = find_ref(&page, "textbox", "Email");
    desk.ok("type", json!({"ref": field, "text": "a@b.example"})).await;
    let button = find_ref(&page, "button", "Sign up");
    assert_eq!(desk.code("click", json!({"ref": button})).await, "not_allowed");
    assert_eq!(site.requests("/sign"), 0);
    let thanks = desk.ok("click", json!({"ref": button})).await;
    assert!(thanks.contains("Thanks"), "{thanks}");
    assert_eq!(site.requests("/sign"), 1);
    let cards = desk.person.asked();
    assert_eq!(cards.len(), 2, "{cards:?}");
    assert!(cards[0].contains(&format!("127.0.0.1:{}", site.port())), "{}", cards[0]);
    assert!(!cards[0].contains("a@b.example"), "R-168: {}", cards[0]);
    desk.control.close().await;
}

/// addresses the person never gave are not opened; shown links are.
/// W-352: navigate.
#[tokio::test(flavor = "multi_thread")]
async fn r146_r147_only_known_addresses_open() {
    let site = shop().await;
    let desk = Desk::guarded(Person::default()).await;
    desk.says(&format!("look at {}", site.url("/")));
    desk.ok("navigate", json!({"url": site.url("/")})).await;
    assert_eq!(
        desk.code("navigate", json!({"url": site.url("/secret?leak=1")})).await,
        "unknown_url"
    );
    for url in
        ["file:///etc/passwd", "javascript:alert(1)", "data:text/html,x", "chrome://settings"]
    {
        assert_eq!(desk.code("navigate", json!({"url": url})).await, "blocked_url_scheme", "{url}");
    }
    let tea = desk.ok("navigate", json!({"url": site.url("/tea")})).await;
    assert!(tea.contains("# Tea"), "{tea}");
    assert_eq!(site.requests("/secret?leak=1"), 0);
    desk.control.close().await;
}

/// a ref of a replaced document is stale, and is not another element.
#[tokio::test(flavor = "multi_thread")]
async fn r130_a_ref_of_a_replaced_document_is_stale() {
    let site = shop().await;
    let desk = Desk::pinned(&site).await;
    let page = desk.ok("navigate", json!({"url": site.url("/")})).await;
    let button = find_ref(&page, "button", "Show more");
    let again = desk.ok("reload", json!({})).await;
    assert_eq!(desk.code("click", json!({"ref": button})).await, "stale_ref");
    assert_ne!(find_ref(&again, "button", "Show more"), button);
    assert_eq!(desk.code("click", json!({"ref": "e9999"})).await, "unknown_ref");
    assert_eq!(site.hits("more"), 0);
    desk.control.close().await;
}

/// another owner's turn takes the session, and the losing side is told.
#[tokio::test(flavor = "multi_thread")]
async fn r121_the_losing_owner_is_told() {
    let site = shop().await;
    let desk = Desk::pinned(&site).await;
    desk.ok("navigate", json!({"url": site.url("/")})).await;
    let other = OwnerId::new("other");
    desk.control.begin_turn(&desk.session, &other, Default::default());
    assert_eq!(desk.code("snapshot", json!({})).await, "turn_lost");
    assert!(desk.call_as(&other, &desk.session, "snapshot", json!({})).await.is_ok());
    desk.control.close().await;
}

/// after the cap nothing more runs in this turn.
#[tokio::test(flavor = "multi_thread")]
async fn r195_the_step_cap_holds() {
    let site = shop().await;
    let desk = Desk::pinned(&site).await;
    let start = reins_control::TurnStart { cap: Some(2), ..Default::default() };
    desk.control.begin_turn(&desk.session, &desk.owner, start);
    desk.ok("navigate", json!({"url": site.url("/")})).await;
    desk.ok("snapshot", json!({})).await;
    assert_eq!(desk.code("snapshot", json!({})).await, "step_cap");
    desk.control.close().await;
}

/// a stop ends the turn; a stop that names an older turn does nothing.
#[tokio::test(flavor = "multi_thread")]
async fn r194_r099_stop_names_its_turn() {
    let site = shop().await;
    let desk = Desk::pinned(&site).await;
    let old = desk.control.begin_turn(&desk.session, &desk.owner, Default::default());
    let turn = desk.control.begin_turn(&desk.session, &desk.owner, Default::default());
    desk.control.stop(&desk.session, old);
    desk.ok("navigate", json!({"url": site.url("/")})).await;
    desk.control.stop(&desk.session, turn);
    assert_eq!(desk.code("snapshot", json!({})).await, "stopped");
    desk.control.close().await;
}

/// sessions use their own tabs only, and each has its own current tab.
#[tokio::test(flavor = "multi_thread")]
async fn r125_sessions_never_touch_each_others_tabs() {
    let site = shop().await;
    let desk = Desk::pinned(&site).await;
    let (one, two) = (SessionId::new("one"), SessionId::new("two"));
    let at = |path: &str| json!({"url": site.url(path)});
    desk.call_as(&desk.owner, &one, "navigate", at("/")).await.unwrap();
    let tea = desk.call_as(&desk.owner, &two, "navigate", at("/tea")).await.unwrap();
    let still = desk.call_as(&desk.owner, &one, "snapshot", json!({})).await.unwrap();
    assert!(still.whole_text().contains("# Shop"), "{}", still.whole_text());
    let foreign = json!({"tab": tea.facts["tab"]});
    let error = desk.call_as(&desk.owner, &one, "snapshot", foreign).await.unwrap_err();
    assert_eq!(error.code(), "closed_tab");
    desk.control.close().await;
}

#[tokio::test]
async fn wrong_arguments_say_what_fits() {
    let site = shop().await;
    let desk = Desk::pinned(&site).await;
    let error = desk.call("click", json!({"selector": "#b"})).await.unwrap_err();
    assert_eq!(error.code(), "wrong_argument");
    assert!(error.to_string().contains("ref (string)"), "{error}");
    // a model cannot say that the person agreed.
    let error = desk.call("click", json!({"ref": "e1", "confirmed": true})).await.unwrap_err();
    assert_eq!(error.code(), "wrong_argument");
    assert_eq!(desk.code("snapshot", json!({})).await, "no_page");
}

/// Models choose a radio button by its own name as they would an option of a select.
#[tokio::test(flavor = "multi_thread")]
async fn select_option_on_a_radio_button_of_that_name_checks_it() {
    let page = "<label><input type=radio name=c onchange=\"hit('blue')\"> Blue</label><label><input type=radio name=c> Red</label>";
    let site = Site::start([("/", Page::html(page))]).await.unwrap();
    let desk = Desk::pinned(&site).await;
    let page = desk.ok("navigate", json!({"url": site.url("/")})).await;
    let blue = find_ref(&page, "radio", "Blue");
    assert_eq!(
        desk.code("select_option", json!({"ref": blue, "options": "Red"})).await,
        "not_a_select"
    );
    let said = desk.ok("select_option", json!({"ref": blue, "options": " blue"})).await;
    assert!(said.contains("checked radio \"Blue\""), "{said}");
    assert!(site.wait_hit("blue", SOON).await);
    desk.control.close().await;
}

/// W-625: a site that asks for a name and a password by HTTP is given none, and that is said; what it
/// shows instead is read as any page.
#[tokio::test(flavor = "multi_thread")]
async fn w625_a_site_that_asks_for_a_password_by_http_is_told() {
    let staff = Page::html("<h1>Staff only</h1>")
        .with_status(401)
        .with_header("www-authenticate", "Basic realm=\"Staff\"");
    let frame = "<h1>Home</h1><a href='/staff'>Staff</a><button onclick=\"f.src='/staff'\">Frame</button><iframe id=f></iframe>";
    let site = Site::start([("/", Page::html(frame)), ("/staff", staff)]).await.unwrap();
    let desk = Desk::pinned(&site).await;
    let page = desk.ok("navigate", json!({"url": site.url("/")})).await;
    for (role, name) in [("button", "Frame"), ("link", "Staff")] {
        let said = desk.ok("click", json!({"ref": find_ref(&page, role, name)})).await;
        assert!(
            said.contains("asks for a name and a password") && said.contains("Staff"),
            "{said}"
        );
    }
    let said = desk.ok("navigate", json!({"url": site.url("/staff")})).await;
    assert!(said.contains("it was given none"), "{said}");
    desk.control.close().await;
}
