//! The dashboard's pages in a real Chromium, against a scripted daemon that keeps what it was asked.

mod accessible;
mod api;
mod browser;
mod daemon;
mod driving;
mod keyboard;
mod pages;
mod safety;
#[path = "../support/mod.rs"]
mod support;
