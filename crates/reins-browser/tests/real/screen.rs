//! The screencast of a tab: what it shows, and what it outlives.

use crate::support::{LONG, Page, World, done};
use reins_browser::{Screen, ScreenFrame, ScreenOptions};
use reins_core::Action;
use tokio::time::timeout;

const RED: [u8; 3] = [255, 0, 0];
const GREEN: [u8; 3] = [0, 128, 0];
const BLUE: [u8; 3] = [0, 0, 255];

fn coloured(colour: &str) -> Page {
    Page::html(&format!("<title>{colour}</title><body style='background:{colour}'>"))
}

/// What a frame shows in its middle.
fn middle(frame: &ScreenFrame) -> [u8; 3] {
    let picture = image::load_from_memory(&frame.jpeg).unwrap().to_rgb8();
    picture.get_pixel(picture.width() / 2, picture.height() / 2).0
}

fn is(frame: &ScreenFrame, colour: [u8; 3]) -> bool {
    middle(frame).iter().zip(colour).all(|(a, b)| a.abs_diff(b) < 24)
}

async fn until(screen: &mut Screen, colour: [u8; 3]) -> ScreenFrame {
    let seen = async {
        loop {
            let frame = screen.next().await.expect("a screen that goes on");
            if is(&frame, colour) {
                return frame;
            }
        }
    };
    timeout(LONG, seen).await.expect("a frame of that colour")
}

/// S-060, S-062, S-X08: a page that was still before anyone looked shows at once, at most 1280 by 800, and who
/// looks later shares the frames and begins with the last.
#[tokio::test]
async fn s060_s062_a_still_page_is_seen_at_once_by_all_who_look() {
    let world = World::start([("/", coloured("red"))]).await;
    done(&world.go("/").await);
    let options = ScreenOptions::default();
    assert_eq!((options.quality, options.max_width, options.max_height), (60, 1280, 800));
    let mut first = world.browser.screen(&world.tab, options).await.unwrap();
    let frame = until(&mut first, RED).await;
    let picture = image::load_from_memory(&frame.jpeg).unwrap();
    assert!(picture.width() <= 1280 && picture.height() <= 800, "{frame:?}");
    let ratio = f64::from(picture.width()) / f64::from(picture.height());
    assert!((frame.css_width / frame.css_height - ratio).abs() < 0.02, "{frame:?}");
    let width = world.eval("innerWidth").await.as_f64().unwrap();
    assert_eq!(frame.css_width, width);

    let mut second = world.browser.screen(&world.tab, options).await.unwrap();
    let late = timeout(LONG, second.next()).await.unwrap().unwrap();
    assert!(is(&late, RED));
    drop(first);
    world.eval("document.body.style.background='green'").await;
    until(&mut second, GREEN).await;
    assert!(is(&second.last().unwrap(), GREEN));
    // The last look ends it, and the next begins anew.
    drop(second);
    let mut third = world.browser.screen(&world.tab, options).await.unwrap();
    until(&mut third, GREEN).await;
}

/// S-062: nothing changes, nothing comes.
#[tokio::test]
async fn s062_a_still_page_sends_no_frames() {
    let page = "<body style='background:red'><p style='margin-top:90px'>Still</p>";
    let world = World::start([("/", Page::html(page))]).await;
    done(&world.go("/").await);
    let mut screen = world.browser.screen(&world.tab, ScreenOptions::default()).await.unwrap();
    until(&mut screen, RED).await;
    // Time is what is tested: whatever the start set off has come by then.
    while timeout(std::time::Duration::from_secs(1), screen.next()).await.is_ok() {}
    let more = timeout(std::time::Duration::from_secs(2), screen.next()).await;
    assert!(more.is_err(), "{more:?}");
}

/// S-060: tabs in the background are seen and go on, and looking at one brings nothing to the front.
#[tokio::test]
async fn s060_a_tab_in_the_background_is_seen() {
    let world = World::start([("/", coloured("red")), ("/blue", coloured("blue"))]).await;
    done(&world.go("/").await);
    let url = Some(world.site.url("/blue"));
    let opened = world.act(Action::OpenTab { url }).await;
    let back = done(&opened).opened_tab.clone().unwrap();
    let mut behind = world.browser.screen(&back, ScreenOptions::default()).await.unwrap();
    let mut before = world.browser.screen(&world.tab, ScreenOptions::default()).await.unwrap();
    until(&mut behind, BLUE).await;
    until(&mut before, RED).await;
    world.eval("setInterval(() => document.body.style.background='green', 50)").await;
    until(&mut before, GREEN).await;
    done(&world.act(Action::CloseTab { tab: back }).await);
    let ended = async { while behind.next().await.is_some() {} };
    timeout(LONG, ended).await.expect("the screen of a closed tab ends");
}

/// S-061: it goes on through navigations, into another process and out of a crash.
#[tokio::test]
async fn s061_it_goes_on_through_navigations_other_processes_and_crashes() {
    let world = World::start([
        ("/", coloured("red")),
        ("/green", coloured("green")),
        ("/blue", coloured("blue")),
    ])
    .await;
    done(&world.go("/").await);
    let mut screen = world.browser.screen(&world.tab, ScreenOptions::default()).await.unwrap();
    until(&mut screen, RED).await;
    done(&world.go("/green").await);
    until(&mut screen, GREEN).await;
    // Another site is another process.
    let elsewhere = world.site.url("/blue").replace("127.0.0.1", "localhost");
    done(&world.open(&elsewhere).await);
    until(&mut screen, BLUE).await;
    crate::crash::crash(&world).await;
    done(&world.go("/").await);
    until(&mut screen, RED).await;
    done(&world.go("/green").await);
    until(&mut screen, GREEN).await;
}

/// A tab in other clothes is shown in them, and points of the view are points of the page.
#[tokio::test]
async fn s156_points_of_the_view_are_points_of_the_page_at_any_size() {
    let page = "<body style='background:red;margin:0'><button style='position:fixed;right:0;bottom:0;width:10vw;height:10vh' onclick=\"hit('corner');document.body.style.background='blue'\">Corner</button>";
    let world = World::start([("/", Page::html(page))]).await;
    done(&world.go("/").await);
    for size in [None, Some((1600, 1200)), Some((400, 800))] {
        if let Some((width, height)) = size {
            let emulation = reins_browser::Emulation {
                size: Some(reins_browser::ScreenSize { width, height }),
                scale: Some(2.0),
                ..Default::default()
            };
            world.browser.emulate(&world.tab, emulation, false).await.unwrap();
        }
        done(&world.go("/").await);
        let mut screen = world.browser.screen(&world.tab, ScreenOptions::default()).await.unwrap();
        let frame = until(&mut screen, RED).await;
        if let Some((width, height)) = size {
            let inner = world.eval("[innerWidth, innerHeight]").await;
            assert_eq!(
                (inner[0].as_u64(), inner[1].as_u64()),
                (Some(width.into()), Some(height.into()))
            );
            assert_eq!((frame.css_width, frame.css_height), (f64::from(width), f64::from(height)));
        }
        let before = world.site.hits("corner");
        crate::person::click_at(&world, 0.95, 0.95).await;
        until(&mut screen, BLUE).await;
        assert_eq!(world.site.hits("corner"), before + 1);
    }
}
