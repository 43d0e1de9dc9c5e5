//! The person's input from afar is theirs: it releases and pauses, and never mixes with a step.

use crate::support::{LONG, Page, World, click, done};
use reins_browser::{
    BrowserError, BrowserEvent, BrowserEvents, KeyAction, PersonInput, PointerAction,
};
use reins_core::{Action, Modifiers, MouseButton, Secret};
use tokio::time::timeout;

fn pointer(action: PointerAction, x: f64, y: f64) -> PersonInput {
    PersonInput::Pointer {
        action,
        x,
        y,
        button: MouseButton::Left,
        buttons: 0,
        clicks: 1,
        modifiers: Modifiers::default(),
    }
}

fn key(action: KeyAction, key: &str, code: &str) -> PersonInput {
    let (key, code) = (key.to_owned(), code.to_owned());
    PersonInput::Key { action, key, code, modifiers: Modifiers::default() }
}

async fn send(world: &World, input: PersonInput) {
    world.browser.person_input(&world.tab, &input).await.unwrap().handled().await.unwrap();
}

pub(crate) async fn click_at(world: &World, x: f64, y: f64) {
    send(world, pointer(PointerAction::Move, x, y)).await;
    send(world, pointer(PointerAction::Down, x, y)).await;
    send(world, pointer(PointerAction::Up, x, y)).await;
}

async fn press(world: &World, name: &str, code: &str) {
    send(world, key(KeyAction::Down, name, code)).await;
    send(world, key(KeyAction::Up, name, code)).await;
}

async fn persons(events: &mut BrowserEvents) -> String {
    let seen = async {
        loop {
            if let Some(BrowserEvent::PersonInput { kind, .. }) = events.next().await {
                return kind;
            }
        }
    };
    timeout(LONG, seen).await.expect("the person is noticed")
}

/// S-065, S-156: pointer, wheel, keys and text reach the page as trusted input.
#[tokio::test]
async fn s065_pointer_wheel_keys_and_text_reach_the_page() {
    let page = "<body style='margin:0;height:4000px'><input id=a style='position:fixed;inset:0 0 auto 0;height:50vh' oninput='log.push([event.inputType,event.data,event.isTrusted])'><script>log=[]</script>";
    let world = World::start([("/", Page::html(page))]).await;
    done(&world.go("/").await);
    let mut events = world.browser.events();
    click_at(&world, 0.5, 0.1).await;
    assert_eq!(persons(&mut events).await, "pointerdown");
    press(&world, "H", "KeyH").await;
    press(&world, "i", "KeyI").await;
    send(&world, PersonInput::Text(Secret::new(" näh 你好".to_owned()))).await;
    press(&world, "!", "Digit1").await;
    press(&world, "Backspace", "Backspace").await;
    assert_eq!(world.eval("a.value").await, "Hi näh 你好");
    assert_eq!(world.eval("log.every(e => e[2])").await, true);
    let wheel =
        PersonInput::Wheel { x: 0.5, y: 0.9, dx: 0.0, dy: 600.0, modifiers: Modifiers::default() };
    send(&world, wheel).await;
    let scrolled =
        "new Promise(d => (function f() { scrollY > 100 ? d(true) : requestAnimationFrame(f) })())";
    assert_eq!(world.eval(scrolled).await, true);
}

/// What the person selected can be copied, wherever it is, but not out of a password field.
#[tokio::test]
async fn s065_the_person_copies_what_they_selected() {
    let page = "<p>Some <b>bold</b> words</p><input id=a value='in a field'><input id=b type=password value=hunter2><textarea id=c>an area</textarea>";
    let world = World::start([("/", Page::html(page))]).await;
    done(&world.go("/").await);
    for (how, copied) in [
        ("getSelection().selectAllChildren(document.querySelector('p'))", "Some bold words"),
        ("a.focus(),a.setSelectionRange(3,10)", "a field"),
        ("b.focus(),b.select()", ""),
        ("c.focus(),c.select()", "an area"),
        ("c.blur(),getSelection().removeAllRanges()", ""),
    ] {
        world.eval(how).await;
        assert_eq!(world.browser.selected_text(&world.tab).await.unwrap(), copied, "{how}");
    }
}

/// S-063: no file chooser shows; the page gets the files that the person gives it, once.
#[tokio::test]
async fn s063_the_person_gives_files_to_the_field_they_clicked() {
    let page = "<body style='margin:0'><label style='position:fixed;inset:0;background:tan'>Files<input type=file id=f onchange=\"hit('files-'+[...f.files].map(x=>x.name).join())\"></label>";
    let world = World::start([("/", Page::html(page))]).await;
    done(&world.go("/").await);
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("mine.txt");
    std::fs::write(&file, "mine").unwrap();
    let one = std::slice::from_ref(&file);
    let early = world.browser.person_files(&world.tab, one).await;
    assert!(matches!(early, Err(BrowserError::Page { .. })), "{early:?}");
    let mut events = world.browser.events();
    click_at(&world, 0.5, 0.5).await;
    let asked = async {
        loop {
            if let Some(BrowserEvent::FilesWanted { several, .. }) = events.next().await {
                return several;
            }
        }
    };
    assert!(!timeout(LONG, asked).await.unwrap());
    let two = [file.clone(), file.clone()];
    assert!(world.browser.person_files(&world.tab, &two).await.is_err());
    world.browser.person_files(&world.tab, one).await.unwrap();
    assert!(world.hit("files-mine.txt").await);
    assert!(world.browser.person_files(&world.tab, one).await.is_err(), "they are given once");
}

/// a page that the agent touched is released by the person's input from afar as by input at the window,
/// by text without keys too.
#[tokio::test]
async fn s065_r182_the_persons_input_from_afar_releases_what_the_agent_touched() {
    let page = "<body style='margin:0'><button onclick='go=1'>Touch</button><input id=a style='position:fixed;inset:50vh 0 0 0' autofocus><script>
        function away() { location.href = location.href.replace('127.0.0.1', 'localhost').replace('/p', '/away') }
        addEventListener('input', away); addEventListener('mousedown', e => e.target.id == 'a' && self.go && away())</script>";
    for way in ["text", "pointer"] {
        let pages = [("/p", Page::html(page)), ("/away", Page::html("<h1>Away</h1>"))];
        let world = World::start(pages).await;
        let url = world.site.url("/p");
        done(&world.act_guarded(Action::Navigate { tab: world.tab.clone(), url }).await);
        done(&world.click_guarded("Touch").await);
        world.eval("away()").await;
        world.page_waits(300).await;
        assert_eq!(world.arrived("/away").len(), 0, "the page is held");
        let mut events = world.browser.events();
        if way == "text" {
            world.eval("a.focus()").await;
            send(&world, PersonInput::Text(Secret::new("x".to_owned()))).await;
        } else {
            let down = pointer(PointerAction::Down, 0.5, 0.9);
            world.browser.person_input(&world.tab, &down).await.unwrap();
        }
        persons(&mut events).await;
        assert!(world.site.wait_for(LONG, |seen| seen.path == "/away").await, "{way}");
    }
}

/// a step of the agent is not mixed with the person's input; the person is told.
#[tokio::test]
async fn s156_input_is_refused_while_a_step_of_the_agent_is_under_way() {
    let page = "<button onmousedown=\"hit('down');const t=Date.now()+1200;while(Date.now()<t);\">Press</button>";
    let world = World::start([("/", Page::html(page))]).await;
    done(&world.go("/").await);
    let target = world.record("Press").await;
    let person = async {
        assert!(world.site.wait_for(LONG, |seen| seen.path == "/hit?down").await);
        let input = pointer(PointerAction::Down, 0.9, 0.9);
        world.browser.person_input(&world.tab, &input).await.map(drop)
    };
    let (acted, refused) = tokio::join!(world.act(click(target)), person);
    done(&acted);
    assert!(matches!(refused, Err(BrowserError::AgentActs)), "{refused:?}");
    click_at(&world, 0.9, 0.9).await;
}

/// the person's press right behind the agent's click, before that is even told as done, is theirs: it is
/// noticed, and it reaches the page.
#[tokio::test]
async fn r191_a_press_right_behind_a_click_of_the_agent_is_the_persons() {
    let page = "<body style='margin:0'><button style='position:fixed;inset:50vh 0 0 0' onclick=\"hit('agent');const t=Date.now()+1200;while(Date.now()<t);\">Press</button><button style='position:fixed;inset:0 0 50vh 0' onclick=\"hit('person')\">Mine</button>";
    let world = World::start([("/", Page::html(page))]).await;
    done(&world.go("/").await);
    let target = world.record("Press").await;
    let mut events = world.browser.events();
    let (_connection, hands) = world.stranger().await;
    let person = async {
        assert!(world.site.wait_for(LONG, |seen| seen.path == "/hit?agent").await);
        for kind in ["mousePressed", "mouseReleased"] {
            let event = serde_json::json!({"type": kind, "x": 50, "y": 50, "button": "left", "clickCount": 1});
            let _: serde_json::Value =
                hands.call("Input.dispatchMouseEvent", event, LONG).await.unwrap();
        }
    };
    let (_, ()) = tokio::join!(world.act(click(target)), person);
    assert_eq!(persons(&mut events).await, "pointerdown");
    assert!(world.hit("person").await);
    assert_eq!(world.site.hits("agent"), 1);
}

/// A step that was given up in the middle leaves nothing behind that takes the person's click for its own.
#[tokio::test]
async fn s156_what_a_given_up_step_announced_is_taken_back() {
    let page = "<body style='margin:0'><button style='position:fixed;inset:0 0 50vh 0' onmousedown=\"hit('agent');const t=Date.now()+700;while(Date.now()<t);\">Press</button><button style='position:fixed;inset:50vh 0 0 0' onclick=\"hit('person')\">Mine</button>";
    let world = World::start([("/", Page::html(page))]).await;
    done(&world.go("/").await);
    let target = world.record("Press").await;
    let until_it_arrived = world.site.wait_for(LONG, |seen| seen.path == "/hit?agent");
    tokio::select! {
        // The call goes away with its step in the middle.
        _ = world.act(click(target)) => {}
        arrived = until_it_arrived => assert!(arrived),
    }
    click_at(&world, 0.5, 0.9).await;
    assert!(world.hit("person").await);
}

/// S-063: a dialog does not show, so Enter and Escape answer it, and nothing else reaches the page meanwhile.
#[tokio::test]
async fn s063_enter_and_escape_answer_a_dialog() {
    let page = "<body style='margin:0'><button style='position:fixed;inset:0' onclick=\"hit('a' + confirm('Sure?'));hit('p' + prompt('Name?', 'Ann'))\">Ask</button>";
    let world = World::start([("/", Page::html(page))]).await;
    done(&world.go("/").await);
    for (answer, wanted) in [("Enter", ["atrue", "pAnn"]), ("Escape", ["afalse", "pnull"])] {
        let mut events = world.browser.events();
        click_at(&world, 0.5, 0.5).await;
        for wanted in wanted {
            let open = async {
                while !matches!(events.next().await, Some(BrowserEvent::DialogOpened { .. })) {}
            };
            timeout(LONG, open).await.unwrap();
            let other = key(KeyAction::Down, "a", "KeyA");
            let refused = world.browser.person_input(&world.tab, &other).await.map(drop);
            assert!(matches!(refused, Err(BrowserError::DialogOpen { .. })), "{refused:?}");
            send(&world, key(KeyAction::Down, answer, answer)).await;
            assert!(world.hit(wanted).await, "{wanted}");
        }
    }
}
