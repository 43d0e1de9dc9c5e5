//! The agent loop: a task, a model and a box of tools become steps and an honest end. Knows nothing
//! of browsers, guards or the command line.
//!
//! # Joining it to tools
//!
//! Implement [`Toolbox`] over whatever carries out calls, and run an [`Agent`]:
//!
//! ```text
//! impl Toolbox for Bridge {
//!     fn tools(&self) -> Vec<AgentTool> { /* name, description, schema, acts */ }
//!     fn label(&self, name: &str, args: &Value) -> StepLabel { /* for the person: secrets out */ }
//!     async fn call(&self, name: &str, args: Value, cancel: &CancellationToken) -> ToolReply {
//!         ToolReply {
//!             text: "clicked button \"Sign in\"".to_owned(),   // short, ours, no page content
//!             page: Some(PageView {
//!                 tab: tab_id.to_string(),
//!                 whole: false,            // a whole snapshot, or only what changed
//!                 text: wrapped,           // inside the untrusted wrapper
//!                 state: snapshot_hash,    // same page, same string (the wrapper's nonce is not in it)
//!             }),
//!             images: vec![],              // reins_models::Image { mime, bytes }
//!             outcome: Outcome::Completed, // reins_core::Outcome, as control gave it
//!             failed: false,               // a typed error instead of a result (bad argument, closed tab)
//!             moved: false,                // a new document: refs from before are void
//!             changed: Some(true),         // acts: whether the page changed; None for reads
//!             place: None,                 // the tab's address afterwards, if it was read
//!             verdict: "allowed: named site".to_owned(),
//!             approved: None,              // Some(true/false) if the person was asked
//!         }
//!     }
//! }
//!
//! let mut agent = Agent::new(model, Bridge { .. }, AgentOptions { turn, ..AgentOptions::default() });
//! let report = agent.run("sign up with a@b.example", &opening, &events_sender, &cancel).await;
//! ```
//!
//! - `cancel` is the run's one stop. A tool that sees it must answer soon and truthfully
//!   (`Outcome::Unknown` if something was sent); after [`limits::STOP_GRACE`] it is dropped.
//! - `opening` are calls made before the model is first asked, usually `navigate` or `snapshot`, so
//!   that the first request already shows the page.
//! - Events come on a bounded channel: [`AgentEvent::Turn`] wraps `reins_core::TurnEvent`.
//! - The agent corrects arguments (`[ref=e12]` becomes `e12`) before `label` and `call` see them, and
//!   never calls with arguments that lack what the schema requires.

/// What carries out a batch of calls, of an agent and its run. A macro, because it borrows single fields
/// of the agent while others change.
macro_rules! batch {
    ($agent:ident, $run:ident) => {
        crate::steps::Batch {
            toolbox: &$agent.toolbox,
            tools: &$agent.tools,
            watcher: $run.watcher,
            cancel: $run.cancel,
            recorder: &$agent.recorder,
            inbox: &$agent.inbox,
        }
    };
}

mod agent;
mod ahead;
mod arguments;
mod around;
mod ask;
mod attached;
mod authority;
mod books;
mod call;
mod circles;
mod conversation;
mod desk;
mod error;
mod event;
mod evidence;
mod ids;
mod inbox;
mod journal;
mod judge;
pub mod limits;
mod look_after;
mod memory;
mod messages;
mod mind;
mod mode;
mod not_done;
mod objection;
mod person;
mod places;
pub mod plan;
mod prepare;
mod prompt;
pub mod questions;
mod recorder;
mod repetition;
mod report;
mod resume;
mod shortening;
mod steps;
mod submissions;
mod text;
mod toolbox;
mod window;

pub use agent::{Agent, AgentOptions};
pub use authority::TaskAuthority;
pub use error::AgentError;
pub use event::{AgentEvent, Shortening};
pub use ids::{CorrectionId, MessageId, Revision, RunId, Sequence};
pub use inbox::{Inbox, Waiting};
pub use journal::{Journal, JournalEntry, JournalEvent, StepEnded};
pub use judge::JudgeSetting;
pub use memory::Progress;
pub use mind::MindOptions;
pub use mode::{Before, Mode, ModeChoice, Route, RouteSource, route};
pub use person::{Clarification, NoPerson, Person, Reviewed};
pub use report::{RunEnd, RunReport};
pub use resume::Resumption;
pub use submissions::{Commitment, Submission};
pub use toolbox::{AgentTool, Opening, PageView, StepLabel, ToolReply, Toolbox};
