//! The page script and the core together, in real Chromium.

mod forms;
mod golden;
mod hiding;
mod roots;
mod secrets;
mod stealth;
mod walk;
mod world;
