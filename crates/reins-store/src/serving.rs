//! What a serving daemon keeps: sandboxes, their browsers, bearer tokens and runs. Every question names its
//! tenant, except those that the daemon asks for itself.

mod runs;
mod sandboxes;
mod sessions;
mod settings;
mod tokens;

pub use runs::ServedRun;
pub use sandboxes::{SandboxPhase, StoredSandbox};
pub use sessions::{BrowserSession, SessionPhase};
pub use settings::ServeSettings;
pub use tokens::StoredToken;

use thiserror::Error;

/// A word in the file that no version of Reins wrote.
#[derive(Debug, Error)]
#[error("'{0}' is no status")]
struct UnknownWord(String);
