//! Tabs: opened in the background, reported with their opener, closed; popups held by containment.

use crate::support::{LONG, Page, World, done, refused};
use reins_browser::{Containment, OpenedBy, Popups, TopLevel};
use reins_core::{Action, Modifiers, MouseButton, TabId};

const POPUP: &str = r#"<a target=_blank href="/target">Open blank link</a> <a href="/target">Plain link</a> <button onclick="window.open('/target?w','w','width=500,height=400')">Open window button</button>
<button onclick="window.close()">Close me</button>"#;

#[tokio::test]
async fn w620_new_tabs_are_reported_with_their_opener_and_usable() {
    let world = World::start([
        ("/", Page::html(POPUP)),
        ("/target", Page::html("<h1>POPUP_TARGET_TEXT</h1><button onclick=\"hit('in_popup')\">Popup button</button>")),
    ])
    .await;
    done(&world.go("/").await);
    for name in ["Open blank link", "Open window button"] {
        let acted = world.click(name).await;
        let effects = done(&acted);
        assert_eq!(effects.opened.len(), 1, "{name} {effects:?}");
        let opened = &effects.opened[0];
        assert_eq!(opened.opened_by, OpenedBy::Page(Some(world.tab.clone())), "{name}");
        assert!(opened.url.contains("/target"), "{name} {opened:?}");
        let text = world.text_of(&opened.id).await;
        assert!(text.contains("POPUP_TARGET_TEXT"), "{name} {text}");
        let key = world.find_in(&opened.id, "Popup button").await;
        let target = world.browser.record(&key).await.unwrap();
        done(&world.act(crate::support::click(target)).await);
        assert!(world.hit("in_popup").await);
        done(&world.act(Action::CloseTab { tab: opened.id.clone() }).await);
        assert_eq!(world.browser.tabs().len(), 1);
    }
    let target = world.record("Plain link").await;
    let middle = crate::support::click_with(target, MouseButton::Middle, 1, Modifiers::default());
    let acted = world.act(middle).await;
    assert_eq!(done(&acted).opened.len(), 1, "{acted:?}");
}

#[tokio::test]
async fn r176_popups_are_closed_before_they_run() {
    let containment = Containment { popups: Popups::Refuse, ..Containment::default() };
    let world = World::contained(
        [("/", Page::html(POPUP)), ("/target", Page::html("<script>hit('ran')</script>"))],
        containment,
    )
    .await;
    done(&world.go("/").await);
    for name in ["Open blank link", "Open window button"] {
        let acted = world.click(name).await;
        let effects = done(&acted);
        assert_eq!(effects.opened.len(), 0, "{name}");
        assert!(effects.refused.join(" ").contains("/target"), "{name} {effects:?}");
    }
    done(&world.go("/?again").await);
    assert_eq!(world.browser.tabs().len(), 1);
    assert_eq!(world.site.hits("ran"), 0);
}

#[tokio::test]
async fn tabs_open_in_the_background_and_work_there() {
    let world = World::start([(
        "/",
        Page::html(
            "<button onclick=\"hit(document.visibilityState+document.hasFocus())\">Press</button>",
        ),
    )])
    .await;
    done(&world.go("/").await);
    let acted = world.act(Action::OpenTab { url: Some(world.site.url("/?second")) }).await;
    let second = done(&acted).opened_tab.clone().unwrap();
    for tab in [&second, &world.tab] {
        let key = world.find_in(tab, "Press").await;
        let target = world.browser.record(&key).await.unwrap();
        done(&world.act(crate::support::click(target)).await);
    }
    assert!(world.hit("visibletrue").await, "a tab behind another behaves as a visible one");
    assert_eq!(world.site.hits("visibletrue"), 2);
    done(&world.act(Action::SwitchTab { tab: second.clone() }).await);
    done(&world.act(Action::CloseTab { tab: second.clone() }).await);
    refused(&world.act(Action::SwitchTab { tab: second }).await, "no_tab");
    refused(&world.act(Action::CloseTab { tab: TabId::new("nonsense") }).await, "no_tab");
    let other = world.act(Action::OpenTab { url: None }).await;
    let empty = done(&other).opened_tab.clone().unwrap();
    assert_eq!(world.browser.tab_info(&empty).unwrap().opened_by, OpenedBy::Agent);
}

/// A click that closes its own tab has done what it was for.
#[tokio::test]
async fn a_click_that_closes_its_tab_is_completed() {
    let world = World::start([("/", Page::html(POPUP)), ("/target", Page::html(POPUP))]).await;
    done(&world.go("/").await);
    let acted = world.click("Open window button").await;
    let popup = done(&acted).opened[0].id.clone();
    world.text_of(&popup).await;
    let key = world.find_in(&popup, "Close me").await;
    let target = world.browser.record(&key).await.unwrap();
    let acted = world.act(crate::support::click(target)).await;
    assert!(done(&acted).tab_closed, "{acted:?}");
}

#[tokio::test]
async fn the_top_level_stays_in_its_app() {
    let site = Containment::default();
    drop(site);
    let world = World::contained(
        [("/", Page::html("<a id=a>Out</a><iframe id=f></iframe><script>a.href='http://localhost:'+location.port+'/out';f.src='http://localhost:'+location.port+'/frame'</script>")),
         ("/frame", Page::html("FRAME_INSIDE")),
         ("/out", Page::html("<script>hit('out')</script>")), ("/hop", Page::redirect(302, "http://localhost:1/"))],
        Containment {
            top_level: TopLevel::Only(vec!["http://127.0.0.1:*".parse().unwrap()]),
            ..Containment::default()
        },
    )
    .await;
    done(&world.go("/").await);
    assert!(world.text().await.contains("FRAME_INSIDE"), "frames inside are the app's own affair");
    let acted = world.click("Out").await;
    assert!(acted.effects.refused.join(" ").contains("/out"), "{acted:?}");
    refused(&world.open(&world.site.other_url("/out")).await, "outside_app");
    refused(&world.go("/hop").await, "outside_app");
    assert_eq!(world.site.hits("out"), 0);
    done(&world.go("/").await);
}

/// Parallel tabs do not touch each other.
#[tokio::test]
async fn acts_in_two_tabs_run_side_by_side() {
    let world = World::start([
        ("/", Page::html("<button onclick=\"hit('b')\">Press</button>")),
        ("/hang", Page::raw("text/plain", "").never_answering()),
    ])
    .await;
    let other = world.browser.blank_tab().await.unwrap();
    let hang = Action::Navigate { tab: other, url: world.site.url("/hang") };
    let quick = async {
        done(&world.go("/").await);
        let started = std::time::Instant::now();
        done(&world.click("Press").await);
        assert!(world.hit("b").await);
        started.elapsed()
    };
    let (slow, quick) = tokio::join!(world.act(hang), quick);
    assert!(quick < LONG);
    drop(slow);
}
