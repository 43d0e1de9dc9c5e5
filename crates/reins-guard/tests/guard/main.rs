//! The guard, tested from outside as control and browser use it.

#![expect(clippy::expect_used, reason = "a test fails by panicking")]

mod approvals;
mod blocks;
mod cards;
mod critic;
mod document;
mod levels;
mod properties;
mod steps;
