//! Kept secrets on the street, in a real Chromium, judged by what reached the pages' server and by
//! what a model could read.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a failed step must stop the test")]

mod support;

use reins_control::{CardAnswer, SecretBook};
use reins_core::{Secret, SecretKind};
use reins_testing::{Page, Site};
use serde_json::json;
use support::{Desk, Person, find_ref};

const VALUE: &str = "correct&horse";

/// A page that does all it can to show what was typed.
const LOGIN: &str = "<title>Sign in</title><h1>Sign in</h1><label>User <input id=u></label>\
    <label>Password <input type=password id=p></label>\
    <button type=button onclick=\"o.textContent='You typed '+p.value+' '+btoa(p.value);p.type='text'\">Show</button><p id=o></p>\
    <script>p.oninput=()=>fetch('/typed?'+encodeURIComponent(p.value))</script>";

async fn keep(desk: &Desk, name: &str, site: &str, kind: SecretKind, value: &str) {
    let book = SecretBook::open(desk.data()).unwrap();
    book.set(name.parse().unwrap(), site, kind, Secret::new(value.to_owned())).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn r131_a_kept_secret_is_typed_by_name_after_a_card_and_never_shown() {
    let site = Site::start([("/", Page::html(LOGIN))]).await.unwrap();
    let desk = Desk::guarded(Person::saying([
        CardAnswer::Deny,
        CardAnswer::Allow,
        CardAnswer::Allow,
        CardAnswer::Allow,
    ]))
    .await;
    let home = site.url("");
    keep(&desk, "login", home.trim_end_matches('/'), SecretKind::Password, VALUE).await;
    keep(&desk, "user", home.trim_end_matches('/'), SecretKind::Text, "ada").await;
    desk.says(&format!("sign in at {}", site.url("/")));
    let page = desk.ok("navigate", json!({"url": site.url("/")})).await;
    assert!(page.contains("login (password), user (text)"), "{page}");
    let (user, password) =
        (find_ref(&page, "textbox", "User"), find_ref(&page, "textbox", "Password"));
    let typing = json!({"ref": password, "secret": "login"});
    assert_eq!(desk.code("type", typing.clone()).await, "not_allowed");
    assert!(!site.seen().iter().any(|seen| seen.path.starts_with("/typed")));
    let said = desk.ok("type", typing).await;
    assert!(!said.contains(VALUE), "{said}");
    let wanted = "/typed?correct%26horse";
    assert!(site.wait_for(std::time::Duration::from_secs(5), |seen| seen.path == wanted).await);
    desk.ok("type", json!({"ref": user, "secret": "user"})).await;
    let said = desk.ok("click", json!({"ref": find_ref(&page, "button", "Show")})).await;
    assert!(said.contains("You typed [redacted] [redacted]"), "{said}");
    for (tool, arguments) in [
        ("snapshot", json!({})),
        ("get_page_text", json!({})),
        ("find_in_page", json!({"text": "You typed"})),
    ] {
        let said = desk.ok(tool, arguments).await;
        assert!(said.contains("[redacted]") && !said.contains("horse"), "{tool}: {said}");
    }
    let cards = desk.person.asked();
    assert!(cards[0].contains("the secret login"), "{}", cards[0]);
    assert!(!cards.join("").contains("horse"));
    desk.control.close().await;
}

/// Exact origin, of the frame and the tab, and the right kind of field; refused before any card.
#[tokio::test(flavor = "multi_thread")]
async fn a_kept_secret_fits_one_origin_and_one_kind_of_field() {
    let site = Site::start([("/", Page::html(LOGIN))]).await.unwrap();
    let frame = format!("<h1>Around</h1><iframe src='{}'></iframe>", site.url("/"));
    site.set("/around", Page::html(&frame));
    let desk = Desk::pinned(&site).await;
    let home = site.url("");
    keep(&desk, "login", home.trim_end_matches('/'), SecretKind::Password, VALUE).await;
    for (place, name) in
        [(site.other_url("/"), "another site"), (site.other_url("/around"), "a frame")]
    {
        let page = desk.ok("navigate", json!({"url": place})).await;
        assert!(!page.contains("login (password)"), "{name}");
        let field = find_ref(&page, "textbox", "Password");
        let code = desk.code("type", json!({"ref": field, "secret": "login"})).await;
        assert_eq!(code, "secret_of_another_site", "{name}");
    }
    let page = desk.ok("navigate", json!({"url": site.url("/")})).await;
    let user = find_ref(&page, "textbox", "User");
    for (arguments, code) in [
        (json!({"ref": user, "secret": "login"}), "secret_does_not_fit"),
        (json!({"ref": user, "secret": "other"}), "no_such_secret"),
        (json!({"ref": user, "secret": "correct horse!"}), "wrong_argument"),
        (json!({"ref": user, "secret": "login", "text": "x"}), "wrong_argument"),
        (json!({"ref": user}), "wrong_argument"),
    ] {
        assert_eq!(desk.code("type", arguments.clone()).await, code, "{arguments}");
    }
    assert!(!site.seen().iter().any(|seen| seen.path.starts_with("/typed")));
    desk.control.close().await;
}
