//! Runs of the agent in the daemon's sandboxes: the same loop as `reins run`, over the daemon's own calls.

use crate::model;
use crate::toolbox::{enters, offered, reply_of, run_schema};
use futures_util::future::BoxFuture;
use reins_agent::{
    Agent, AgentOptions, AgentTool, Commitment, Opening, RunEnd, StepLabel, ToolReply, Toolbox,
};
use reins_control::{Effect, Group, tools};
use reins_core::{Outcome, Refusal};
use reins_serve::{Calls, ProviderShape, RunOrder, RunOutcome, Runner};
use reins_store::{Store, StoredProvider};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// Events of a run that wait to be dropped: the daemon tells steps by itself.
const EVENTS: usize = 64;

/// Costs are kept in millionths of a dollar.
const MILLIONTHS: f64 = 1e6;

/// Makes runs with the model that the person set up.
#[derive(Clone, Debug)]
pub(crate) struct AgentRunner {
    /// Where providers are kept.
    pub(crate) store: Store,
}

impl Runner for AgentRunner {
    fn run(&self, order: RunOrder) -> BoxFuture<'static, RunOutcome> {
        let this = self.clone();
        Box::pin(async move { this.work(order).await })
    }

    fn providers(&self) -> BoxFuture<'_, Vec<ProviderShape>> {
        Box::pin(async move {
            let kept = match self.store.providers().await {
                Ok(kept) => kept,
                Err(error) => {
                    tracing::warn!(%error, "the providers could not be read");
                    return Vec::new();
                }
            };
            let shape = |kept: StoredProvider| ProviderShape {
                name: kept.name.to_string(),
                address: kept.base,
                model: kept.model,
                has_key: kept.has_key,
            };
            kept.into_iter().map(shape).collect()
        })
    }
}

impl AgentRunner {
    async fn work(self, order: RunOrder) -> RunOutcome {
        let chosen = match model::choose(&self.store, order.model.as_deref(), None).await {
            Ok(chosen) => chosen,
            Err(error) => return failed("no_model", format!("{error:#}")),
        };
        let turn = order.calls.begin_turn(&order.task, None);
        let options = AgentOptions { turn, ..AgentOptions::default() };
        let toolbox = ServedTools { calls: order.calls.clone() };
        let mut agent = Agent::new(chosen.client, toolbox, options);
        let (sender, mut events) = mpsc::channel(EVENTS);
        let listen = async { while events.recv().await.is_some() {} };
        let opening = Opening { calls: vec![("snapshot".to_owned(), json!({}))] };
        let run = async {
            let report = agent.run(&order.task, &opening, &sender, &order.cancel).await;
            drop(sender);
            report
        };
        let (report, ()) = tokio::join!(run, listen);
        order.calls.stop_turn(turn);
        let (status, answer, error) = match report.end {
            RunEnd::Done { answer } => ("done", Some(answer), None),
            RunEnd::Stopped => ("stopped", None, None),
            RunEnd::StepLimit { so_far } => ("unfinished", Some(so_far), None),
            RunEnd::Failed { code, message, answer } => {
                ("failed", answer.or(Some(message)), Some(code.to_owned()))
            }
        };
        RunOutcome {
            status,
            answer,
            error,
            tokens: Some(report.usage.input + report.usage.output),
            cost_usd: report.cost.map(|cost| cost.0 as f64 / MILLIONTHS),
        }
    }
}

fn failed(code: &str, message: String) -> RunOutcome {
    RunOutcome {
        status: "failed",
        answer: Some(message),
        error: Some(code.to_owned()),
        ..RunOutcome::default()
    }
}

/// The tools of a run, over the daemon's calls: held, told and counted like all others.
struct ServedTools {
    calls: Calls,
}

impl Toolbox for ServedTools {
    fn tools(&self) -> Vec<AgentTool> {
        let core = tools().iter().filter(|tool| tool.group == Group::Core);
        core.filter(|tool| offered(tool.name, false))
            .map(|tool| AgentTool {
                name: tool.name.to_owned(),
                description: tool.about.to_owned(),
                schema: Value::Object(run_schema(tool)),
                acts: tool.effect == Effect::Act,
            })
            .collect()
    }

    fn label(&self, _: &str, arguments: &Value) -> StepLabel {
        let mut told = arguments.clone();
        if let Some(text) = told.get_mut("text") {
            *text = Value::from("[redacted]");
        }
        let element = self.calls.shown(arguments).map(|element| element.words);
        StepLabel { arguments: told.to_string(), element }
    }

    async fn commitment(&self, name: &str, arguments: &Value) -> Option<Commitment> {
        let element = match name {
            "click" => self.calls.shown(arguments)?,
            _ if enters(name, arguments) => self.calls.entered(arguments).await?,
            _ => return None,
        };
        Some(Commitment { target: element.sends?, control: element.words })
    }

    fn deletes(&self, name: &str, arguments: &Value) -> bool {
        name == "click" && self.calls.shown(arguments).is_some_and(|element| element.deletes)
    }

    async fn call(&self, name: &str, arguments: Value, cancel: &CancellationToken) -> ToolReply {
        let Some(tool) = reins_control::tool(name) else {
            return ToolReply::error(format!("there is no tool named '{name}'"));
        };
        match self.calls.call(tool, arguments, None, cancel.child_token()).await {
            Ok(reply) => reply_of(reply),
            Err(error) => {
                let outcome = Outcome::Refused(Refusal::new(error.code(), error.to_string(), ""));
                ToolReply { outcome, ..ToolReply::error(format!("{}: {error}", error.code())) }
            }
        }
    }
}
