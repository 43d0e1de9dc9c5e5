//! Installed agents: the coding agent that a person has, run for one prompt over the Agent Client
//! Protocol (ACP v1, R-070).
//!
//! This room starts the agent's official program, gives it the tools of one run and nothing else,
//! and reports what it says. It has no policy of its own: whether a tool may be *called* is decided
//! here by who asks ([`Identity`]), whether a call may *do* anything is decided on the street that
//! every door shares.
//!
//! The protocol is spoken by `wire` and `talk` of this crate, not by the official client
//! crate. What that crate does not give is what this room needs: a bound on what an agent may send,
//! `_meta` and unknown updates kept as they came, one task that handles messages in their order.

mod environment;
mod error;
mod launch;
mod offer;
mod own_servers;
mod permission;
mod place;
mod probe;
mod process;
mod recipe;
mod recipes;
mod reply;
mod run;
mod service;
mod shim;
mod talk;
mod tools;
mod wire;

pub use error::AcpError;
pub use launch::{Launch, Overrides};
pub use offer::{Model, Offer};
pub use permission::Identity;
pub use probe::Probe;
pub use recipe::{Recipe, Start};
pub use recipes::{CUSTOM, recipe, recipes};
pub use run::{Checked, Prompt};
pub use service::{Agents, Run, RunId};
pub use shim::{SHIM, shim};
pub use talk::{Event, Limits, Said};
pub use tools::{SERVER, Tools};
