//! The guard, tested from outside as control and browser use it.

mod approvals;
mod blocks;
mod cards;
mod critic;
mod document;
mod holding;
mod levels;
mod properties;
mod steps;
