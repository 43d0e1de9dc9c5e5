//! What a click sends is asked before it goes out, in a real Chromium, judged by the pages' server.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a failed step must stop the test")]

mod support;

use reins_control::CardAnswer;
use reins_testing::{Page, Site};
use serde_json::json;
use support::{Desk, Person, find_ref};

async fn page(way: &str) -> Site {
    let body = format!(
        "<title>Post</title><h1>Post</h1><form id=f action=/like method=post><input type=hidden name=post value=secret></form>\
         <button type=button onclick=\"{way}\">♥</button><button type=button onclick=\"p.textContent='open'\">Open</button><p id=p>closed</p>"
    );
    Site::start([
        ("/", Page::html(&body)),
        ("/like", Page::html("<title>Thanks</title><h1>Thanks</h1>")),
    ])
    .await
    .unwrap()
}

async fn start(site: &Site, person: Person, strict: bool) -> (Desk, String) {
    let desk = Desk::new(person, |options| options.strict_clicks = strict).await;
    desk.says(&format!("like the post at {}", site.url("/")));
    let page = desk.ok("navigate", json!({"url": site.url("/")})).await;
    (desk, page)
}

const SENDS: &str = "fetch('/like',{method:'POST',body:new URLSearchParams({post:'secret'})}).then(()=>p.textContent='liked',()=>p.textContent='failed')";

/// a click that sends nothing brings no card; with `--strict-clicks` it does.
/// W-110, W-112: looking and preparing are free; only what commits something is asked about.
#[tokio::test(flavor = "multi_thread")]
async fn r153_a_click_that_sends_nothing_asks_nothing() {
    let site = page(SENDS).await;
    for strict in [false, true] {
        let (desk, page) = start(&site, Person::saying([CardAnswer::Allow]), strict).await;
        let open = find_ref(&page, "button", "Open");
        let said = desk.ok("click", json!({"ref": open})).await;
        assert!(said.contains("open"), "{said}");
        let asked = desk.person.asked();
        assert_eq!(asked.len(), usize::from(strict), "{asked:?}");
        desk.control.close().await;
    }
}

/// what it sends is one card that shows exactly that, and the answer decides.
#[tokio::test(flavor = "multi_thread")]
async fn r153_what_a_click_sends_is_asked_and_the_answer_decides() {
    let site = page(SENDS).await;
    for (answer, arrives, told) in [
        (CardAnswer::Allow, 1, "sent, as the person agreed: POST http://"),
        (CardAnswer::Deny, 0, "not sent: POST http://"),
        (CardAnswer::NoOne("use a terminal".into()), 0, "nobody could be asked: use a terminal"),
        (CardAnswer::Later, 0, "the person has to be asked first"),
        (CardAnswer::Stop, 0, "the person stopped the turn"),
    ] {
        let before = site.requests("/like");
        let stops = answer == CardAnswer::Stop;
        let (desk, page) = start(&site, Person::saying([answer]), false).await;
        let like = find_ref(&page, "button", "♥");
        let reply = desk.call("click", json!({"ref": like})).await.unwrap();
        let text = reply.whole_text();
        assert!(text.contains(told), "{text}");
        assert_eq!(text.contains("liked"), arrives == 1, "{text}");
        assert_eq!(site.requests("/like"), before + arrives, "{told}");
        assert_eq!(reply.approved, Some(arrives == 1), "{told}");
        let cards = desk.person.asked();
        assert_eq!(cards.len(), 1, "{cards:?}");
        let host = site.url("");
        assert!(cards[0].starts_with(&format!("Let the page send data to {host}?")), "{cards:?}");
        assert!(cards[0].contains(&format!("POST {host}/like. It carries “post”")), "{cards:?}");
        assert!(!cards[0].contains("secret"), "R-168: {cards:?}");
        if stops {
            assert_eq!(desk.code("snapshot", json!({})).await, "stopped");
        }
        desk.control.close().await;
        assert_eq!(site.requests("/like"), before + arrives, "{told}: after closing");
    }
}

/// A form that script sends leads the tab elsewhere only after a yes.
#[tokio::test(flavor = "multi_thread")]
async fn r153_a_form_that_script_sends_waits() {
    let site = page("f.submit()").await;
    let person = Person::saying([CardAnswer::Deny, CardAnswer::Allow]);
    let (desk, page) = start(&site, person, false).await;
    let like = find_ref(&page, "button", "♥");
    let said = desk.ok("click", json!({"ref": like})).await;
    assert!(said.contains("not sent: POST"), "{said}");
    assert_eq!(site.requests("/like"), 0);
    let said = desk.ok("click", json!({"ref": like})).await;
    assert!(said.contains("# Thanks"), "{said}");
    assert_eq!(site.requests("/like"), 1);
    assert_eq!(desk.person.asked().len(), 2);
    desk.control.close().await;
}

/// What a timer sends after the step is asked with the next call.
#[tokio::test(flavor = "multi_thread")]
async fn r153_what_comes_after_the_step_is_asked_with_the_next() {
    let site =
        page("setTimeout(()=>fetch('/like',{method:'POST'}).then(()=>p.textContent='liked'),300)")
            .await;
    let (desk, page) = start(&site, Person::saying([CardAnswer::Allow]), false).await;
    let like = find_ref(&page, "button", "♥");
    desk.ok("click", json!({"ref": like})).await;
    assert_eq!(desk.person.asked(), Vec::<String>::new());
    desk.ok("wait_for", json!({"seconds": 1})).await;
    let said = desk.ok("snapshot", json!({})).await;
    assert!(said.contains("sent, as the person agreed: POST"), "{said}");
    assert_eq!(desk.person.asked().len(), 1);
    assert_eq!(site.requests("/like"), 1);
    desk.control.close().await;
}
