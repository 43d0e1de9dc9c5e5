//! A pinned browser behind its proxy, in real Chromium, told by what reached whom.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a failed step must stop the test")]

mod channels;
mod navigation;
mod sign_in;
#[path = "../support/mod.rs"]
mod support;
mod world;
