//! Recording in the installed Chromium, kept by the library and shown again by its own page.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a failed step must stop the test")]

mod bench_pages;
mod leaving;
mod replay;
mod secrets;
#[path = "../real/support.rs"]
mod support;
mod tape;
