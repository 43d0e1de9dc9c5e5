//! Attacks on the proxy over a scripted network, told by what was connected to. Runs anywhere.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a failed step must stop the test, and what ran is shown"
)]

mod support;

use support::cases::{ATTACKS, OPEN, scripted};

/// S-147, S-149, S-X11: no address of these is connected to, however it is written or named.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s147_s_x11_no_attack_connects_to_anything() {
    let total = scripted(ATTACKS).await;
    assert_eq!(total.cases, ATTACKS.len());
    assert!(total.cases >= 60, "{total:?}");
    println!("{total:?}");
}

/// S-148, S-151: the app and public resources load.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s148_s151_the_app_and_public_resources_are_never_refused() {
    let total = scripted(OPEN).await;
    assert_eq!((total.cases, total.refused), (OPEN.len(), 0));
    println!("{total:?}");
}
