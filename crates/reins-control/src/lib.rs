//! The street that every tool call walks, whichever door it came through.
//!
//! A call is parsed into a typed action, its turn is checked, its target is read afresh, the guard
//! decides, a card goes to whoever can answer, the receipt is written, the browser acts, and what
//! changed is published. There is no second way to the browser.

mod args;
mod call;
mod cards;
mod confided;
mod control;
mod critic;
mod error;
mod held;
mod host;
mod inspect;
mod kept;
mod look;
mod reply;
mod report;
mod results;
mod rule_book;
mod secret_book;
mod session;
mod shown_element;
mod sign_in;
mod street;
mod tool;
mod tools;
mod turn;
mod verify;
mod way_out;

pub use cards::{Answerer, CardAnswer, NoAnswerer, Question};
pub use confided::Confidant;
pub use control::{BrowserSource, CallRequest, Control, ControlOptions, STORE_FILE, TurnStart};
pub use critic::{CRITIC_INSTRUCTIONS, Critic};
pub use error::ControlError;
#[doc(hidden)]
pub use host::GivenBrowser;
pub use kept::clean_answer;
pub use reins_egress::{Allowance, Deny, DenyError, Public, Refusal, Refusals};
pub use reins_guard::{Card, Level, LevelError};
pub use reply::{PageText, Picture, Reply, Stored};
pub use rule_book::{RuleBook, whole_site};
pub use secret_book::SecretBook;
pub use shown_element::ShownElement;
pub use tool::{Effect, Group, Tool};
pub use tools::{tool, tools};
pub use way_out::Beyond;
