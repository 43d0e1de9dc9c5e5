//! Dialogs are state: shown at once, answered by an act, never in the way of anything else.

use crate::support::{Page, World, done, refused};
use reins_browser::DialogKind;
use reins_core::{Action, HistoryStep, Secret};

const DIALOGS: &str = r#"<h1>Dialogs</h1><button onclick="alert('ALERT_MESSAGE');hit('alert_done')">Alert button</button>
<button onclick="hit('confirm_'+confirm('CONFIRM_MESSAGE'))">Confirm button</button>
<button onclick="hit('prompt_'+prompt('PROMPT_MESSAGE','x'))">Prompt button</button>
<button onclick="alert(1);alert(2);hit('two')">Twice button</button><button onclick="hit('plain')">Plain button</button>"#;

fn answer(world: &World, accept: bool, text: Option<&str>) -> Action {
    let text = text.map(|text| Secret::new(text.to_owned()));
    Action::AnswerDialog { tab: world.tab.clone(), accept, text }
}

#[tokio::test]
async fn w621_dialogs_are_shown_and_answered() {
    let world = World::start([("/", Page::html(DIALOGS))]).await;
    done(&world.go("/").await);
    for (button, kind, message, accept, text, hit) in [
        ("Alert button", DialogKind::Alert, "ALERT_MESSAGE", true, None, "alert_done"),
        ("Confirm button", DialogKind::Confirm, "CONFIRM_MESSAGE", true, None, "confirm_true"),
        ("Confirm button", DialogKind::Confirm, "CONFIRM_MESSAGE", false, None, "confirm_false"),
        ("Prompt button", DialogKind::Prompt, "PROMPT_MESSAGE", true, Some("mine"), "prompt_mine"),
        ("Prompt button", DialogKind::Prompt, "PROMPT_MESSAGE", false, None, "prompt_null"),
    ] {
        let acted = world.click(button).await;
        let dialog = done(&acted).dialog.clone().expect("a dialog");
        assert_eq!((dialog.kind, dialog.message.as_str()), (kind, message));
        assert_eq!(world.info().unwrap().dialog, Some(dialog), "it is the tab's state");
        // Reading answers at once and says the same.
        let text_now = world.text().await;
        assert!(text_now.len() < 2_000, "{text_now}");
        done(&world.act(answer(&world, accept, text)).await);
        assert!(world.hit(hit).await, "{hit}");
        assert_eq!(world.info().unwrap().dialog, None);
    }
    done(&world.click("Plain button").await);
    assert!(world.hit("plain").await);
}

#[tokio::test]
async fn one_dialog_after_the_other_and_acts_meanwhile() {
    let world = World::start([("/", Page::html(DIALOGS))]).await;
    done(&world.go("/").await);
    let plain = world.record("Plain button").await;
    done(&world.click("Twice button").await);
    refused(&world.act(crate::support::click(plain)).await, "dialog_open");
    let acted = world.act(answer(&world, true, None)).await;
    assert_eq!(done(&acted).dialog.as_ref().unwrap().message, "2");
    done(&world.act(answer(&world, true, None)).await);
    assert!(world.hit("two").await);
    refused(&world.act(answer(&world, true, None)).await, "no_dialog");
}

#[tokio::test]
async fn an_alert_while_loading_ends_the_wait() {
    let page = "<h1>Before alert</h1><script>alert('LOAD_ALERT');hit('after')</script><p>AFTER_ALERT_TEXT</p>";
    let world = World::start([("/", Page::html(page))]).await;
    let acted = world.go("/").await;
    assert_eq!(done(&acted).dialog.as_ref().unwrap().message, "LOAD_ALERT");
    done(&world.act(answer(&world, true, None)).await);
    assert!(world.hit("after").await);
    assert!(world.text().await.contains("AFTER_ALERT_TEXT"));
}

const UNLOAD: &str = r#"<h1>Before unload</h1><button onclick="window.dirty=1;hit('dirty')">Make dirty</button><a href="/else">Leave link</a>
<button onclick="location.href='/else'">Leave by script</button><script>addEventListener('beforeunload',e=>{if(window.dirty){e.preventDefault();e.returnValue='x'}})</script>"#;

/// W-622: our own navigation leaves, and says so.
#[tokio::test]
async fn w622_our_own_navigation_leaves_a_page_that_asks_to_stay() {
    let world =
        World::start([("/", Page::html(UNLOAD)), ("/else", Page::html("<h1>Elsewhere</h1>"))])
            .await;
    for way in ["navigate", "reload", "back"] {
        done(&world.go("/else?before").await);
        done(&world.go("/").await);
        done(&world.click("Make dirty").await);
        assert!(world.hit("dirty").await);
        let tab = world.tab.clone();
        let url = world.site.url("/else");
        let acted = match way {
            "navigate" => world.act(Action::Navigate { tab, url }).await,
            "reload" => world.act(Action::Reload { tab, url: world.site.url("/") }).await,
            _ => {
                world
                    .act(Action::History {
                        tab,
                        step: HistoryStep::Back,
                        destination: Some(world.site.url("/else?before")),
                    })
                    .await
            }
        };
        let effects = done(&acted);
        assert_eq!(effects.dialog, None, "{way}");
        assert!(effects.notes.join(" ").contains("asked to stay"), "{way} {effects:?}");
        assert!(world.eval("window.dirty").await.is_null(), "{way}");
    }
}

/// W-622: what the page does by itself is not our navigation; the dialog is shown.
#[tokio::test]
async fn w622_a_page_that_leaves_by_itself_asks() {
    let world =
        World::start([("/", Page::html(UNLOAD)), ("/else", Page::html("<h1>Elsewhere</h1>"))])
            .await;
    done(&world.go("/").await);
    done(&world.click("Make dirty").await);
    let acted = world.click("Leave by script").await;
    let dialog = done(&acted).dialog.clone().expect("a dialog");
    assert_eq!(dialog.kind, DialogKind::BeforeUnload);
    done(&world.act(answer(&world, false, None)).await);
    assert!(world.info().unwrap().url.ends_with('/'), "it stayed");
    let acted = world.click("Leave by script").await;
    assert!(done(&acted).dialog.is_some());
    done(&world.act(answer(&world, true, None)).await);
    assert!(world.info().unwrap().url.ends_with("/else"), "it left");
}

/// W-623: an answer does not wait for commands that are stuck behind the dialog, and a stop ends
/// whatever waits there. W-624: nobody but an act answers it.
#[tokio::test]
async fn w623_answers_and_stops_do_not_wait_for_what_is_stuck() {
    let world = World::start([("/", Page::html(DIALOGS))]).await;
    done(&world.go("/").await);
    done(&world.click("Confirm button").await);
    // The page is in the middle of its script: this can't be answered before the dialog is.
    let stuck = world.eval("1 + 1");
    let answered = async {
        let dialog = world.info().unwrap().dialog.expect("w624: it is still open");
        assert_eq!(dialog.message, "CONFIRM_MESSAGE");
        done(&world.act(answer(&world, false, None)).await);
    };
    let (two, ()) = tokio::join!(stuck, answered);
    assert_eq!(two, 2);
    assert!(world.hit("confirm_false").await);

    done(&world.click("Alert button").await);
    let cancel = tokio_util::sync::CancellationToken::new();
    cancel.cancel();
    let stopped = world.act_until(answer(&world, true, None), cancel).await;
    refused(&stopped, "stopped");
    assert!(world.info().unwrap().dialog.is_some(), "a stop answers nothing");
    done(&world.act(answer(&world, true, None)).await);
    assert!(world.hit("alert_done").await);
}
