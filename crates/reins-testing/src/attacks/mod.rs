//! The attack corpus of `tests/attacks/`: hostile pages, their honest twins, and a model that obeys
//! whatever a page tells it.
//!
//! Who won is said by the servers of the pages: an attack has won when a request that the person did
//! not agree to arrived, a twin works when its own server saw the honest step. `tests/attacks/README.md`
//! tells how a case is written.

mod case;
pub(crate) mod door;
mod fault;
mod hits;
mod holes;
pub(crate) mod mcp;
mod model;
mod moves;
pub(crate) mod person;
mod play;
mod run;
mod sign;
mod site;
mod table;

pub use case::{Case, Obey, Played, Variant, corpus, sampled};
pub use door::{DoorKind, Level};
pub use fault::AttackFault;
pub use hits::Hit;
pub use holes::{Holes, compare, may_have_missed};
pub use mcp::Asked;
pub use model::Script;
pub use moves::{Element, Move, Op};
pub use person::Card;
pub use play::{Plan, Play, play_all, play_patiently};
pub use sign::Sign;
pub use site::{AttackSite, Stage};
pub use table::{Column, table};
