//! What a person sees and types on a terminal.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a failed step must stop the test")]
#![allow(unreachable_pub, dead_code, reason = "a test binary uses a part")]

#[path = "../kill/events.rs"]
mod events;
#[path = "../kill/model.rs"]
mod model;
mod pty;
#[path = "../kill/shop.rs"]
mod shop;
#[path = "../support/mod.rs"]
mod support;

use events::Events;
use model::Model;
use pty::Screen;
use shop::Shop;
use std::sync::Arc;

struct World {
    shop: Shop,
    model: Model,
    data: tempfile::TempDir,
}

impl World {
    async fn new() -> Self {
        let events = Arc::<Events>::default();
        let shop = Shop::start(Arc::clone(&events)).await;
        Self { shop, model: Model::start(events).await, data: tempfile::tempdir().unwrap() }
    }

    /// Begins a run that sends a parcel, which asks.
    fn run(&self, more: &[&str], env: &[(&str, &str)]) -> Screen {
        let url = format!("http://{}/", self.shop.address);
        let mut args = vec![
            "run",
            "send parcel 1",
            "--headless",
            "--url",
            &url,
            "--base-url",
            &self.model.base,
            "--model",
            "scripted",
        ];
        args.extend(more);
        Screen::start(self.data.path(), &args, env)
    }

    fn sent(&self) -> u32 {
        self.shop.sent().values().sum()
    }
}

/// Waits in a thread of its own: the servers go on beside it.
async fn on_screen<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    tokio::task::spawn_blocking(work).await.unwrap()
}

fn lines(shown: &str) -> Vec<String> {
    let plain = console::strip_ansi_codes(shown).into_owned();
    plain.split(['\n', '\r']).map(str::to_owned).collect()
}

/// rows and card fit 80 columns, only the typed word answers, and what was typed before
/// the card was there answers nothing. The answer is on the screen once, rendered.
#[tokio::test(flavor = "multi_thread")]
async fn r165_a_card_is_answered_on_the_terminal_by_its_word_only() {
    let world = Arc::new(World::new().await);
    let asked = Arc::clone(&world);
    let (code, shown) = on_screen(move || {
        let mut screen = asked.run(&["-v"], &[]);
        screen.type_keys("allow");
        screen.wait_for("(Esc stops): ", 1);
        screen.type_keys("\n");
        screen.wait_for("(Esc stops): ", 2);
        screen.type_keys("yes\n");
        screen.wait_for("(Esc stops): ", 3);
        assert_eq!(asked.sent(), 0);
        screen.type_keys("allow\n");
        screen.end()
    })
    .await;
    assert_eq!((code, world.sent()), (0, 1), "{shown}");
    for line in lines(&shown) {
        assert!(console::measure_text_width(&line) <= 80, "{line:?} in:\n{shown}");
    }
    assert!(shown.contains("\u{1b}[1m{1}\u{1b}[0m"), "{shown}");
    assert_eq!(console::strip_ansi_codes(&shown).matches("Parcels on their way: {1}.").count(), 1);
    assert!(shown.contains("you agreed"), "details of the step: {shown}");
}

/// Ctrl-C at a card stops the run; nothing is sent, and the code says so.
#[tokio::test(flavor = "multi_thread")]
async fn r165_ctrl_c_at_a_card_stops() {
    let world = Arc::new(World::new().await);
    let asked = Arc::clone(&world);
    let (code, shown) = on_screen(move || {
        let mut screen = asked.run(&[], &[]);
        screen.wait_for("(Esc stops): ", 1);
        screen.type_keys("\u{3}");
        screen.end()
    })
    .await;
    assert_eq!((code, world.sent()), (130, 0), "{shown}");
    assert!(shown.contains("Go on with: reins resume "), "{shown}");
}

/// A simple terminal gets no escape sequence at all, and the same words.
#[tokio::test(flavor = "multi_thread")]
async fn a_dumb_terminal_gets_no_escapes() {
    let world = Arc::new(World::new().await);
    let asked = Arc::clone(&world);
    let (code, shown) = on_screen(move || {
        let env = [("TERM", "dumb"), ("LANG", "C")];
        let mut screen = asked.run(&[], &env);
        screen.wait_for("(Esc stops): ", 1);
        screen.type_keys("allow\n");
        screen.end()
    })
    .await;
    assert_eq!((code, world.sent()), (0, 1), "{shown}");
    assert!(!shown.contains('\u{1b}'), "{shown:?}");
    assert!(shown.contains("Parcels on their way: {1}."), "{shown}");
}

/// W-071: a line that is typed while the run goes on corrects it, once.
#[tokio::test(flavor = "multi_thread")]
async fn w073_a_typed_line_corrects_the_run() {
    let world = Arc::new(World::new().await);
    let app = format!("http://{}", world.shop.address);
    let asked = Arc::clone(&world);
    let (code, shown) = on_screen(move || {
        let mut screen = asked.run(&["--app", &app], &[]);
        screen.type_keys("and send parcel 5 as well\n");
        screen.end()
    })
    .await;
    assert_eq!(code, 0, "{shown}");
    assert_eq!(world.shop.sent().into_iter().collect::<Vec<_>>(), [(1, 1), (5, 1)], "{shown}");
    assert!(shown.contains("noted: and send parcel 5 as well"), "{shown}");
}
