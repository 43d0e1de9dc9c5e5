//! What the loop needs from whatever carries out calls.

use crate::submissions::Commitment;
use reins_core::Outcome;
use reins_models::Image;
use serde_json::Value;
use std::future::{Future, ready};
use tokio_util::sync::CancellationToken;

/// A box of tools.
pub trait Toolbox: Send + Sync {
    /// The tools, the same ones and in the same order for the whole run: providers cache them.
    fn tools(&self) -> Vec<AgentTool>;

    /// Carries out a call. Arguments hold at least what the schema requires. After `cancel` it must
    /// answer soon and truthfully.
    fn call(
        &self,
        name: &str,
        arguments: Value,
        cancel: &CancellationToken,
    ) -> impl Future<Output = ToolReply> + Send;

    /// What the call would send for good, known before it is made: the form that a click submits, a
    /// message that Enter sends. `None` for searches and for whatever only changes the view (W-115, W-116).
    fn commitment(
        &self,
        _name: &str,
        _arguments: &Value,
    ) -> impl Future<Output = Option<Commitment>> + Send {
        ready(None)
    }

    /// Whether the call is known to delete something, by what was shown of its element. What is not
    /// known here is read from the caption (W-140).
    fn deletes(&self, _name: &str, _arguments: &Value) -> bool {
        false
    }

    /// The person corrected the task: their words count from here on (W-091).
    fn heard(&self, _words: &str) {}

    /// How a step is shown to the person: arguments with secrets taken out, and the
    /// element's role and name. The default shows the arguments as they are.
    fn label(&self, _name: &str, arguments: &Value) -> StepLabel {
        StepLabel { arguments: arguments.to_string(), element: None }
    }
}

/// A tool as the model sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct AgentTool {
    /// Its name.
    pub name: String,
    /// What it does, for the model.
    pub description: String,
    /// JSON schema of its arguments.
    pub schema: Value,
    /// Whether it may change something; else it only reads.
    pub acts: bool,
}

/// How a step is shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StepLabel {
    /// The arguments, secrets redacted.
    pub arguments: String,
    /// Role and name of the element.
    pub element: Option<String>,
}

/// The result of a call.
#[derive(Clone, Debug)]
pub struct ToolReply {
    /// What happened, in our own words. Kept in the conversation.
    pub text: String,
    /// What the page looks like now. Dropped from the conversation once a newer one is there.
    pub page: Option<PageView>,
    /// Pictures.
    pub images: Vec<Image>,
    /// How it ended. `Completed` for reads.
    pub outcome: Outcome,
    /// Whether `text` is an error instead of a result.
    pub failed: bool,
    /// Whether the document was replaced, so that refs from before are void.
    pub moved: bool,
    /// Whether the act changed the page, if that is known.
    pub changed: Option<bool>,
    /// The address of the tab afterwards, if it was read.
    pub place: Option<String>,
    /// The guard's short verdict, for the person.
    pub verdict: String,
    /// Whether the person was asked, and agreed.
    pub approved: Option<bool>,
}

impl ToolReply {
    /// A result that is just text.
    pub fn text(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            page: None,
            images: Vec::new(),
            outcome: Outcome::Completed,
            failed: false,
            moved: false,
            changed: None,
            place: None,
            verdict: String::new(),
            approved: None,
        }
    }

    /// A typed error.
    pub fn error(text: impl Into<String>) -> Self {
        Self { failed: true, ..Self::text(text) }
    }

    /// Whether the call did what it was meant to do.
    pub fn is_ok(&self) -> bool {
        !self.failed && self.outcome == Outcome::Completed
    }
}

/// A look at a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageView {
    /// Which tab.
    pub tab: String,
    /// The whole snapshot, or only what changed since the last one.
    pub whole: bool,
    /// The text, inside the untrusted wrapper.
    pub text: String,
    /// Equal for equal content, whatever the wrapper's nonce.
    pub state: String,
}

/// Calls made before the model is first asked.
#[derive(Clone, Debug, Default)]
pub struct Opening {
    /// Names and arguments, in order. The last one's page goes into the first request.
    pub calls: Vec<(String, Value)>,
}
