//! Reins in the installed Chromium. Every page is served by the test itself, and what reached its
//! server decides.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a failed step must stop the test")]

mod attacks;
mod clicks;
mod containment;
mod crash;
mod dialogs;
mod files;
mod frames;
mod heirs;
mod hold;
mod keyboard;
mod listeners;
mod loading;
mod near;
mod person;
mod pictures;
mod protocol;
mod reach;
mod screen;
mod sends;
mod service_worker;
mod sockets;
mod structures;
mod support;
mod tabs;
mod typing;
mod unheld;
