//! Every protocol name of this room exists in the installed browser.

use reins_cdp::testing::{Chromium, check, chrome};

#[tokio::test]
async fn the_installed_chromium_has_every_command_event_and_field() {
    let chromium = Chromium::start(&chrome().unwrap()).await.unwrap();
    let description = chromium.description().await.unwrap();
    let problems: Vec<String> =
        reins_browser::protocol::names().flat_map(|names| check(names, &description)).collect();
    assert_eq!(problems, Vec::<String>::new());
}
