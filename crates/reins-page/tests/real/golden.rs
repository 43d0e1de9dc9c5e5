//! Whole pages and what a model is shown of them. `INSTA_UPDATE=always` writes the files anew.

use crate::world::World;
use reins_page::{CaptureOptions, TextOptions, page_text};

async fn shown(name: &str, html: &str) {
    let world = World::open(html).await;
    let snapshot = world.snapshot(&CaptureOptions::full()).await;
    let text = page_text(&snapshot, &TextOptions { everything: true, ..TextOptions::default() });
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../golden");
    settings.set_prepend_module_to_snapshot(false);
    let lines = world.lines().await;
    settings.bind(|| {
        insta::assert_snapshot!(format!("{name}.lines"), lines);
        insta::assert_snapshot!(format!("{name}.text"), text.parts.join("\n"));
    });
}

#[tokio::test]
async fn a_form() {
    shown("form", include_str!("../pages/form.html")).await;
}

#[tokio::test]
async fn a_shop() {
    shown("shop", include_str!("../pages/shop.html")).await;
}
