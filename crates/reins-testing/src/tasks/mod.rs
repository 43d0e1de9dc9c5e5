//! The task suite of `tests/tasks/`: what a person may want on a web site, with checks on what the
//! site's server has stored in the end.
//!
//! Scripted policies play it over MCP, and any model can be given the same tasks. Our own log proves
//! nothing here. `tests/tasks/README.md` tells how a task is written.

mod book;
mod check;
mod deed;
mod fault;
mod form;
mod person;
mod play;
mod policy;
mod report;
mod server;
mod stage;

pub use book::{Kept, SiteFile, Task, tasks};
pub use check::misses;
pub use fault::TaskFault;
pub use play::{TaskPlan, TaskPlay, play_tasks};
pub use policy::{Element, Place, Step};
pub use report::{asked_twice, cards, claims_done, summary};
pub use server::TaskServer;
pub use stage::TaskStage;
