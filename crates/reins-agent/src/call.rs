//! One call of the model: understood, made, and what its result means for the calls after it.

use crate::arguments;
use crate::error::CallError;
use crate::limits::STOP_GRACE;
use crate::prompt;
use crate::steps::Batch;
use crate::submissions::Commitment;
use crate::toolbox::{AgentTool, ToolReply, Toolbox};
use reins_core::{Outcome, Unknown, UnknownCause};
use reins_models::ToolCall;
use serde_json::Value;

/// A call that was understood.
pub(crate) struct Ready<'a> {
    pub(crate) tool: &'a AgentTool,
    pub(crate) arguments: Value,
    /// Equal for equal calls.
    pub(crate) key: String,
    /// What it would send for good.
    pub(crate) commitment: Option<Commitment>,
}

/// Calls a tool. If the person stops meanwhile, the tool gets a moment to say what became of it.
pub(crate) async fn call<T: Toolbox>(batch: &Batch<'_, T>, ready: &Ready<'_>) -> ToolReply {
    let call = batch.toolbox.call(&ready.tool.name, ready.arguments.clone(), batch.cancel);
    let mut call = std::pin::pin!(call);
    tokio::select! {
        biased;
        reply = &mut call => return reply,
        () = batch.cancel.cancelled() => {}
    }
    if let Ok(reply) = tokio::time::timeout(STOP_GRACE, call).await {
        return reply;
    }
    let message = "the run was stopped while the step was under way";
    if !ready.tool.acts {
        return ToolReply::error(message);
    }
    let unknown = Unknown { cause: UnknownCause::Stopped, message: message.to_owned() };
    ToolReply { outcome: Outcome::Unknown(unknown), ..ToolReply::text(message) }
}

/// Finds the tool and reads the arguments.
pub(crate) fn ready<'a>(call: &ToolCall, tools: &'a [AgentTool]) -> Result<Ready<'a>, CallError> {
    let Some(tool) = find(&call.name, tools) else {
        let names: Vec<_> = tools.iter().map(|tool| tool.name.as_str()).collect();
        return Err(CallError::NoSuchTool { name: call.name.clone(), tools: names.join(", ") });
    };
    let arguments = arguments::read(&tool.name, &call.arguments, &tool.schema)?;
    let key = format!("{} {arguments}", tool.name);
    Ok(Ready { tool, arguments, key, commitment: None })
}

/// By its name; models also write `functions.click` or `browser_click`.
fn find<'a>(name: &str, tools: &'a [AgentTool]) -> Option<&'a AgentTool> {
    let exact = tools.iter().find(|tool| tool.name == name);
    exact.or_else(|| {
        let name = name.trim().to_ascii_lowercase().replace('-', "_");
        let name = name.rsplit(['.', ':', '/']).next().unwrap_or_default();
        let name = name.strip_prefix("browser_").unwrap_or(name);
        tools.iter().find(|tool| tool.name == name)
    })
}

/// Why the calls after this one are not made.
pub(crate) fn reason_to_skip(reply: &ToolReply) -> Option<&'static str> {
    match reply.outcome {
        _ if reply.approved == Some(false) => Some("the user said no to the step before it"),
        Outcome::Unknown(_) => Some("nobody knows whether the step before it happened"),
        Outcome::Refused(_) => Some("the step before it did not work"),
        Outcome::Completed if reply.failed => Some("the step before it did not work"),
        Outcome::Completed if reply.moved => {
            Some("the step before it led to a new page, so look at that first")
        }
        Outcome::Completed => None,
    }
}

/// What the model is told beside a result.
pub(crate) fn remarks(reply: &ToolReply) -> impl Iterator<Item = &'static str> + use<> {
    let unknown = matches!(reply.outcome, Outcome::Unknown(_)).then_some(prompt::UNKNOWN);
    let declined = (reply.approved == Some(false)).then_some(prompt::DECLINED);
    let unchanged = (reply.is_ok() && reply.changed == Some(false)).then_some(prompt::UNCHANGED);
    [unknown, declined, unchanged].into_iter().flatten()
}
