//! Taking over: one drives, the others see who, and the agent waits.

use crate::stage::{Got, LONG, Stage};
use reins_browser::PersonInput;
use reins_serve::live::{Mode, NoPassage, SourceEvent};
use serde_json::json;
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;

/// S-064, S-086: one drives and is named to the others; watching becomes driving with a control ticket each time.
#[tokio::test(start_paused = true)]
async fn s064_s086_one_drives_and_each_takeover_needs_a_control_ticket() {
    let stage = Stage::start();
    let (mut ann, _) = stage.watch("ann").await;
    let (mut bob, _) = stage.watch("bob").await;
    for (ticket, word) in [
        (stage.ticket("ann", Mode::View), "for watching"),
        (stage.ticket("bob", Mode::Control), "someone else's"),
        ("x.y".to_owned(), "not valid"),
    ] {
        ann.say(json!({"type": "take_over", "ticket": ticket})).await;
        let refused = ann.text("refused").await;
        assert!(refused["why"].as_str().unwrap().contains(word), "{refused}");
    }
    let control = stage.ticket("ann", Mode::Control);
    ann.say(json!({"type": "take_over", "ticket": control})).await;
    let own = ann.text("driver").await;
    assert_eq!(
        (own["driver"]["name"].as_str(), &own["driver"]["you"]),
        (Some("ANN"), &json!(true))
    );
    let seen = bob.text("driver").await;
    assert_eq!(
        (seen["driver"]["name"].as_str(), &seen["driver"]["you"]),
        (Some("ANN"), &json!(false))
    );
    assert!(seen["driver"]["since"].as_str().unwrap().ends_with('Z'));
    let theirs = stage.ticket("bob", Mode::Control);
    bob.say(json!({"type": "take_over", "ticket": theirs})).await;
    assert!(bob.text("refused").await["why"].as_str().unwrap().contains("ANN"));
    // Handing back what one has not does nothing.
    bob.say(json!({"type": "hand_back"})).await;
    ann.say(json!({"type": "hand_back"})).await;
    assert_eq!(ann.text("driver").await["driver"], json!(null));
    assert_eq!(bob.text("driver").await["driver"], json!(null));
    ann.say(json!({"type": "take_over", "ticket": control})).await;
    assert!(ann.text("refused").await["why"].as_str().unwrap().contains("not valid"));
    let (_late, welcome) = stage.watch("cem").await;
    assert_eq!(welcome["driver"], json!(null));
    assert_eq!(stage.told(), ["ANN began", "ANN handed_back"]);
}

/// S-156: only the driver's input is relayed, in order, to the tab that they see.
#[tokio::test(start_paused = true)]
async fn s156_only_the_drivers_input_is_relayed() {
    let stage = Stage::start();
    let (mut bob, _) = stage.watch("bob").await;
    bob.key("x").await;
    assert_eq!(bob.text("refused").await["what"], "input");
    let mut ann = stage.drive("ann").await;
    ann.sees("one").await;
    bob.key("x").await;
    bob.text("refused").await;
    for key in ["a", "b", "c"] {
        ann.key(key).await;
    }
    ann.input(json!({"kind":"text","text":"d"})).await;
    let inputs = stage.script.wait_inputs(4).await;
    let keys: Vec<&str> = inputs
        .iter()
        .filter_map(|(_, input)| match input {
            PersonInput::Key { key, .. } => Some(key.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(keys, ["a", "b", "c"]);
    assert!(inputs.iter().all(|(tab, _)| tab == "t1"));
    assert!(matches!(inputs[3].1, PersonInput::Text(_)));
    ann.input(json!({"kind":"pointer","action":"move","x":1.5,"y":0})).await;
    assert!(ann.text("refused").await["why"].as_str().unwrap().contains("fractions"));
    ann.say(json!({"type": "hand_back"})).await;
    ann.key("d").await;
    ann.text("refused").await;
    assert_eq!(stage.script.inputs().len(), 4);
}

/// Copying is the driver's alone as well, and comes after what they pressed before.
#[tokio::test(start_paused = true)]
async fn s156_only_the_driver_copies() {
    let stage = Stage::start();
    let (mut bob, _) = stage.watch("bob").await;
    bob.say(json!({"type": "copy"})).await;
    bob.text("refused").await;
    let mut ann = stage.drive("ann").await;
    ann.key("a").await;
    ann.say(json!({"type": "copy"})).await;
    assert_eq!(ann.text("copied").await["text"], "selected in t1");
    assert_eq!(stage.script.inputs().len(), 1);
}

/// S-063: who drives is told that the page waits for files, and only they give it some.
#[tokio::test(start_paused = true)]
async fn s063_the_driver_is_asked_for_files() {
    let stage = Stage::start();
    let (mut bob, _) = stage.watch("bob").await;
    let mut ann = stage.drive("ann").await;
    ann.sees("one").await;
    let tab = reins_core::TabId::new("t1");
    stage.script.tell(SourceEvent::FilesWanted { tab, several: true });
    assert_eq!(ann.text("files_wanted").await["several"], true);
    let files = vec![std::path::PathBuf::from("/tmp/a.txt")];
    assert_eq!(
        stage.live.give_files("bob", files.clone()).await.unwrap_err().code,
        "not_in_control"
    );
    stage.live.give_files("ann", files.clone()).await.unwrap();
    assert_eq!(*stage.script.files.lock().unwrap(), [("t1".to_owned(), files[0].clone())]);
    ann.say(json!({"type": "hand_back"})).await;
    ann.text("driver").await;
    assert!(stage.live.give_files("ann", files).await.is_err());
    while let Some(got) = bob.within(Duration::from_secs(1)).await {
        assert!(!matches!(got, Got::Text(ref text) if text["type"] == "files_wanted"));
    }
}

/// S-156: a page that is stuck takes a bounded amount; moves of the pointer take each other's place.
#[tokio::test(start_paused = true)]
async fn s156_input_to_a_stuck_page_is_bounded() {
    let stage = Stage::start();
    let mut ann = stage.drive("ann").await;
    stage.script.stick(true);
    for n in 0..200 {
        ann.key(&format!("k{n}")).await;
    }
    assert!(ann.text("refused").await["why"].as_str().unwrap().contains("no more input"));
    sleep(Duration::from_secs(2)).await;
    let sent = stage.script.inputs().len();
    assert!(sent <= 16, "{sent}");

    let stage = Stage::start();
    let mut ann = stage.drive("ann").await;
    stage.script.stick(true);
    for n in 0..300 {
        let x = f64::from(n) / 300.0;
        ann.input(json!({"kind":"pointer","action":"move","x":x,"y":0.5,"buttons":0})).await;
        if n == 200 {
            sleep(Duration::from_secs(1)).await;
        }
    }
    assert_eq!(
        ann.within(Duration::from_secs(3))
            .await
            .map(|got| matches!(got, Got::Text(ref t) if t["type"] == "refused")),
        Some(false)
    );
}

/// S-067: within ten seconds the same person goes on from a new connection, and nobody else; then the agent does.
#[tokio::test(start_paused = true)]
async fn s067_a_broken_connection_keeps_control_for_its_person() {
    let stage = Stage::start();
    let ann = stage.drive("ann").await;
    let (mut bob, welcome) = stage.watch("bob").await;
    assert_eq!(welcome["driver"]["name"], "ANN");
    drop(ann);
    sleep(Duration::from_secs(5)).await;
    bob.say(json!({"type": "take_over", "ticket": stage.ticket("bob", Mode::Control)})).await;
    assert!(bob.text("refused").await["why"].as_str().unwrap().contains("ANN"));
    let ann = stage.drive("ann").await;
    assert_eq!(stage.told(), ["ANN began"], "it is the same takeover");
    drop(ann);
    let lost = Instant::now();
    let gate = stage.live.gate();
    let passage = gate.pass("click", &CancellationToken::new()).await.unwrap();
    assert_eq!(lost.elapsed().as_secs(), 10);
    drop(passage);
    assert_eq!(stage.told(), ["ANN began", "ANN connection_lost"]);
}

/// S-066: a view that is closed by will gives control back at once.
#[tokio::test(start_paused = true)]
async fn s066_stopping_to_watch_gives_control_back_at_once() {
    let stage = Stage::start();
    let mut ann = stage.drive("ann").await;
    ann.socket.close(None).await.unwrap();
    let began = Instant::now();
    drop(stage.live.gate().pass("click", &CancellationToken::new()).await.unwrap());
    assert!(began.elapsed() < Duration::from_secs(1));
    assert_eq!(stage.told(), ["ANN began", "ANN stopped_watching"]);
}

/// A connection that is dead without a word is noticed, and control goes as with a broken one.
#[tokio::test(start_paused = true)]
async fn s067_a_connection_without_a_sign_of_life_is_lost() {
    let stage = Stage::start();
    let _silent = stage.drive("ann").await;
    let began = Instant::now();
    let gate = stage.live.gate();
    let first = gate.pass("click", &CancellationToken::new()).await;
    assert!(matches!(first, Err(NoPassage::HeldBy(_))));
    drop(gate.pass("click", &CancellationToken::new()).await.unwrap());
    assert_eq!(began.elapsed().as_secs(), 30);
    assert_eq!(stage.told(), ["ANN began", "ANN connection_lost"]);
}

/// S-068, S-069, S-070: the agent's call waits, the view says so, and it ends with who holds the browser.
#[tokio::test(start_paused = true)]
async fn s068_s069_the_view_says_that_the_agent_waits() {
    let stage = Stage::start();
    let mut ann = stage.drive("ann").await;
    let (gate, never) = (stage.live.gate(), CancellationToken::new());
    let call = gate.pass("click", &never);
    let watch = async {
        let waiting = ann.text("waiting").await;
        assert_eq!(waiting["tool"], "click");
        ann.text("waiting_over").await;
    };
    let (passed, ()) = tokio::join!(call, watch);
    match passed {
        Err(NoPassage::HeldBy(held)) => {
            assert_eq!((held.held_by.as_str(), held.waited_ms), ("ANN", 20_000));
        }
        other => panic!("{other:?}"),
    }
    // Handing back lets the next one pass.
    let (passed, ()) = tokio::join!(gate.pass("type_text", &never), async {
        ann.text("waiting").await;
        ann.say(json!({"type": "hand_back"})).await;
    });
    let passage = passed.unwrap();
    // Taking over waits for the step, and the person is told for which.
    ann.say(json!({"type": "take_over", "ticket": stage.ticket("ann", Mode::Control)})).await;
    assert!(ann.text("refused").await["why"].as_str().unwrap().contains("type_text"));
    drop(passage);
    loop {
        let driver = ann.text("driver").await;
        if driver["driver"]["you"] == true {
            break;
        }
    }
    // A step that does not end: they are told, and the agent goes on.
    ann.say(json!({"type": "hand_back"})).await;
    let _stuck = gate.pass("navigate", &never).await.unwrap();
    ann.say(json!({"type": "take_over", "ticket": stage.ticket("ann", Mode::Control)})).await;
    loop {
        let refused = ann.text("refused").await;
        if refused["what"] == "take_over" {
            assert!(refused["why"].as_str().unwrap().contains("still at navigate"), "{refused}");
            break;
        }
    }
    drop(gate.pass("click", &never).await.unwrap());
}

/// S-072: the browser stops while the agent waits.
#[tokio::test(start_paused = true)]
async fn s072_a_wait_ends_when_the_browser_stops() {
    let stage = Stage::start();
    let mut ann = stage.drive("ann").await;
    let gate = stage.live.gate();
    let call = tokio::spawn(async move { gate.pass("click", &CancellationToken::new()).await });
    ann.text("waiting").await;
    stage.live.stop().await;
    let ended = timeout(Duration::from_millis(1), call).await.unwrap().unwrap();
    assert_eq!(ended.unwrap_err(), NoPassage::BrowserStopped);
    assert_eq!(ann.closed().await, Some(1001));
    assert_eq!(stage.told(), ["ANN began", "ANN browser_stopped"]);
}

/// S-105: who, when and why, and nothing of what they did.
#[tokio::test(start_paused = true)]
async fn s105_takeovers_are_told_without_what_was_typed() {
    let stage = Stage::start();
    let mut ann = stage.drive("ann").await;
    ann.input(json!({"kind":"text","text":"hunter2"})).await;
    stage.script.wait_inputs(1).await;
    sleep(Duration::from_secs(4)).await;
    ann.say(json!({"type": "hand_back"})).await;
    ann.text("driver").await;
    sleep(Duration::from_secs(1)).await;
    let told = stage.told.lock().unwrap().clone();
    assert_eq!(told.len(), 2);
    let (began, ended) = match &told[..] {
        [
            reins_serve::live::LiveEvent::TakeoverStarted { at: began, .. },
            reins_serve::live::LiveEvent::TakeoverEnded { at: ended, .. },
        ] => (*began, *ended),
        other => panic!("{other:?}"),
    };
    assert_eq!(ended.duration_since(began).unwrap().as_secs(), 4);
    assert!(!format!("{told:?}").contains("hunter2"));
    assert!(!format!("{:?}", stage.script.inputs()).contains("hunter2"));
    assert_eq!(reins_serve::live::LiveEvent::SOURCE, "human");
}

/// S-073: someone at the window has control as well, until they have left it alone.
#[tokio::test(start_paused = true)]
async fn s073_someone_at_the_window_makes_the_agent_wait() {
    let stage = Stage::with(|options| options.window = true);
    let (mut ann, _) = stage.watch("ann").await;
    stage.script.tell(SourceEvent::PersonInput);
    assert_eq!(ann.text("driver").await["driver"]["name"], "someone at the window");
    let began = Instant::now();
    drop(stage.live.gate().pass("click", &CancellationToken::new()).await.unwrap());
    assert_eq!(began.elapsed().as_secs(), 10);
    assert_eq!(stage.told(), ["someone at the window began", "someone at the window window_quiet"]);
    // What a driver does is reported by the page too, and is not the window.
    ann.say(json!({"type": "take_over", "ticket": stage.ticket("ann", Mode::Control)})).await;
    ann.key("a").await;
    stage.script.wait_inputs(1).await;
    ann.say(json!({"type": "hand_back"})).await;
    ann.text("driver").await;
    stage.script.tell(SourceEvent::PersonInput);
    sleep(Duration::from_millis(100)).await;
    assert_eq!(stage.live.driver(), None);

    // A browser without a window has nobody at it.
    let stage = Stage::start();
    stage.script.tell(SourceEvent::PersonInput);
    sleep(Duration::from_secs(1)).await;
    assert_eq!(stage.live.driver(), None);
}

/// S-061: the window that a person's click opened is shown to them, and after it what was there before.
#[tokio::test(start_paused = true)]
async fn s061_what_a_person_opens_is_shown_to_them() {
    let stage = Stage::start();
    let mut ann = stage.drive("ann").await;
    ann.sees("one").await;
    stage.script.open("t0");
    stage.script.open_by("t2", "t1");
    stage.script.paint("t2", "popup");
    ann.sees("popup").await;
    ann.key("a").await;
    assert_eq!(stage.script.wait_inputs(1).await[0].0, "t2");
    stage.script.close("t2");
    ann.sees("one").await;
    ann.say(json!({"type": "hand_back"})).await;
    ann.text("driver").await;
    stage.script.open_by("t3", "t1");
    stage.script.paint("t3", "ad");
    assert_eq!(ann.within(LONG).await, None, "what a page opens by itself is not followed");
}
