//! The browser's tools for an installed agent: the same calls, rows and cards as for our own loop.

use crate::steps::Steps;
use crate::toolbox::run_schema;
use futures_util::future::BoxFuture;
use reins_acp::{Agents, RunId, Tools};
use reins_control::{ControlError, Group, Reply, Tool, tools};
use reins_mcp::{Calls, RunTool, serve_echo, serve_run};
use serde_json::Value;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use tokio::net::UnixStream;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// Our version, as agents see it.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// What makes no sense for an agent whose page is in this terminal's session.
const NOT_FOR_AGENTS: &[&str] = &["save_pdf", "upload"];

/// One run's tools. Owned by the run and by the connections it serves.
pub(crate) struct AgentTools {
    pub(crate) steps: Arc<Steps>,
    pub(crate) agents: Agents,
    pub(crate) run: RunId,
    begun: AtomicU64,
    ended: AtomicU64,
    capped: AtomicBool,
}

impl AgentTools {
    pub(crate) fn new(steps: Arc<Steps>, agents: Agents, run: RunId) -> Self {
        let (begun, ended, capped) = Default::default();
        Self { steps, agents, run, begun, ended, capped }
    }

    /// Whether a call was refused because the turn had used up its calls.
    pub(crate) fn capped(&self) -> bool {
        self.capped.load(Ordering::Relaxed)
    }
}

/// Counts a call as ended also when it is dropped.
struct UnderWay<'a>(&'a AtomicU64);

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

impl Tools for AgentTools {
    fn names(&self) -> Vec<String> {
        Calls::tools(self).iter().map(|one| one.tool.name.to_owned()).collect()
    }

    fn serve(self: Arc<Self>, stream: UnixStream) -> BoxFuture<'static, ()> {
        Box::pin(async move {
            if let Err(error) = serve_run(stream, self, VERSION).await {
                tracing::warn!(%error, "a connection of the agent ended badly");
            }
        })
    }

    fn calls(&self) -> (u64, u64) {
        let ended = self.ended.load(Ordering::Relaxed);
        let begun = self.begun.load(Ordering::Relaxed);
        (begun, begun.saturating_sub(ended))
    }
}

impl Calls for AgentTools {
    fn tools(&self) -> Vec<RunTool> {
        let listed = tools()
            .iter()
            .filter(|tool| tool.group == Group::Core && !NOT_FOR_AGENTS.contains(&tool.name));
        listed.map(|tool| RunTool { tool, schema: run_schema(tool) }).collect()
    }

    fn call<'a>(
        &'a self,
        tool: &'static Tool,
        arguments: Value,
        cancel: CancellationToken,
    ) -> BoxFuture<'a, Result<Reply, ControlError>> {
        Box::pin(async move {
            self.begun.fetch_add(1, Ordering::Relaxed);
            let _under_way = UnderWay(&self.ended);
            let answer = self.steps.call(tool.name, arguments, cancel).await;
            if matches!(answer, Err(ControlError::StepCap(_))) {
                self.capped.store(true, Ordering::Relaxed);
            }
            if is_stop(&answer) {
                // Stop on a card ends the agent, too, and not just this call.
                self.agents.stop(self.run);
            }
            answer
        })
    }
}

/// Whether the person stopped the turn.
pub(crate) fn is_stop(answer: &Result<Reply, ControlError>) -> bool {
    match answer {
        Ok(reply) => reply.facts.get("code").and_then(Value::as_str) == Some("stopped"),
        Err(error) => error.code() == "stopped",
    }
}

/// One harmless tool, to try an agent without a browser.
pub(crate) struct EchoTools {
    pub(crate) heard: mpsc::Sender<String>,
}

impl Tools for EchoTools {
    fn names(&self) -> Vec<String> {
        vec![reins_mcp::ECHO.to_owned()]
    }

    fn serve(self: Arc<Self>, stream: UnixStream) -> BoxFuture<'static, ()> {
        Box::pin(async move {
            if let Err(error) = serve_echo(stream, self.heard.clone()).await {
                tracing::warn!(%error, "a connection of the agent ended badly");
            }
        })
    }

    fn calls(&self) -> (u64, u64) {
        (0, 0)
    }
}
