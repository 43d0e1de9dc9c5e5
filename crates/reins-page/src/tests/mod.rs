//! Data-driven tests of everything that is computed from captures.

mod changes;
mod controls;
mod frames;
mod hostile;
mod refs;
mod seen;
mod structure;
mod words;
