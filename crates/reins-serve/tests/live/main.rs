//! The live view as its viewers see it: over WebSockets, with a scripted browser and with a real one.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a failed step must stop the test"
)]

mod control;
mod flow;
mod hostile;
mod real;
mod stage;
mod watching;
