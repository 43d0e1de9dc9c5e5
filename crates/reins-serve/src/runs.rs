//! Runs of the agent. The daemon knows no model: whoever starts it hands it a runner.

use crate::calls::Calls;
use crate::session::lock;
use futures_util::future::BoxFuture;
use reins_control::Level;
use reins_core::SandboxId;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::HashMap;
use std::fmt::Debug;
use std::sync::{Arc, Mutex};
use tokio_util::sync::CancellationToken;

/// A run that is to be made.
#[derive(Clone, Debug)]
pub struct RunOrder {
    /// Its id.
    pub id: String,
    /// What the person wants.
    pub task: String,
    /// How much is asked, where there are cards.
    pub level: Level,
    /// Which model, if not the configured one.
    pub model: Option<String>,
    /// How it acts.
    pub calls: Calls,
    /// Cancelled when it is to stop.
    pub cancel: CancellationToken,
}

/// How a run ended.
#[derive(Clone, Debug, Default)]
pub struct RunOutcome {
    /// `done`, `unfinished`, `stopped` or `failed`.
    pub status: &'static str,
    /// What it answers, or why it failed.
    pub answer: Option<String>,
    /// The code of what went wrong.
    pub error: Option<String>,
    /// Tokens it used, if they are known.
    pub tokens: Option<u64>,
    /// Dollars it cost, if that is known.
    pub cost_usd: Option<f64>,
}

/// A provider of models, without its key.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ProviderShape {
    /// What its owner calls it.
    pub name: String,
    /// Where it is.
    pub address: String,
    /// The model that is used if none is named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Whether a key is kept with it.
    pub has_key: bool,
}

/// Makes runs.
pub trait Runner: Send + Sync + Debug {
    /// Works on a task until its end. Ends soon after `cancel`.
    fn run(&self, order: RunOrder) -> BoxFuture<'static, RunOutcome>;

    /// The models it may use, the preferred one first.
    fn providers(&self) -> BoxFuture<'_, Vec<ProviderShape>> {
        Box::pin(std::future::ready(Vec::new()))
    }
}

/// The runner, and the runs under way.
#[derive(Debug, Default)]
pub(crate) struct Runs {
    pub(crate) runner: Option<Arc<dyn Runner>>,
    pub(crate) active: Mutex<HashMap<String, (SandboxId, CancellationToken)>>,
}

impl Runs {
    /// Tells a run to stop; `false` if it is not under way.
    pub(crate) fn stop(&self, id: &str) -> bool {
        lock(&self.active).get(id).inspect(|(_, cancel)| cancel.cancel()).is_some()
    }
}
