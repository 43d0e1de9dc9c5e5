//! The one list of tools, as requests.

use super::{Access, Answer, Ask, Operation, answer, running};
use crate::calls::{Calls, NotCalled};
use crate::error::ServeError;
use crate::scope::Scope;
use crate::start::may_run;
use axum::response::Response;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use reins_control::{ControlError, Reply};
use reins_core::SessionId;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

/// The path that the document writes out once for each tool.
pub(crate) const PATH: &str = "/v1/sandboxes/{id}/tools/{tool}";

pub(super) const OPERATIONS: &[Operation] = &[Operation {
    method: "POST",
    path: PATH,
    id: "callTool",
    about: "Calls a tool in the sandbox's running browser.",
    access: Access::Scope(Scope::Act),
    query: &[],
    body: Some(|g| g.subschema_for::<Map<String, Value>>()),
    good: 200,
    answer: Answer::Json(|g| g.subschema_for::<ToolAnswer>()),
    bad: &[400, 404, 409, 413, 415],
    handle: |ask| Box::pin(call(ask)),
}];

/// What a tool answers.
#[derive(Debug, Serialize, JsonSchema)]
struct ToolAnswer {
    /// What a model reads.
    text: String,
    /// How an act ended: `completed`, `refused` or `unknown`. After `unknown`, look before trying again.
    #[serde(skip_serializing_if = "Option::is_none")]
    outcome: Option<String>,
    /// The same facts for programs.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    structured: Map<String, Value>,
    /// Pictures.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    images: Vec<Image>,
    /// Why nothing was done.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Value>,
}

/// A picture.
#[derive(Debug, Serialize, JsonSchema)]
struct Image {
    /// `image/png` or `image/jpeg`.
    mime: String,
    /// The picture.
    base64: String,
}

impl ToolAnswer {
    fn of(reply: Reply) -> Self {
        Self {
            text: reply.whole_text(),
            outcome: reply.outcome.as_ref().map(|outcome| outcome.word().to_owned()),
            images: reply
                .pictures
                .iter()
                .map(|p| Image { mime: p.mime.to_owned(), base64: STANDARD.encode(&p.bytes) })
                .collect(),
            structured: reply.facts,
            error: None,
        }
    }

    fn failed(failure: &NotCalled) -> Self {
        let mut error = json!({"code": failure.code(), "message": failure.to_string()});
        if let NotCalled::Held { held, .. } = failure {
            error["held_by"] = json!(held.held_by);
            error["since"] = json!(held.since);
            error["waited_ms"] = json!(held.waited_ms);
        }
        Self {
            text: format!("{}: {failure}", failure.code()),
            outcome: None,
            structured: Map::new(),
            images: Vec::new(),
            error: Some(error),
        }
    }
}

async fn call(ask: Ask) -> Result<Response, ServeError> {
    let sandbox = ask.sandbox().await?;
    may_run(&ask.app)?;
    let name = ask.part("tool");
    let tool = reins_control::tool(name)
        .ok_or_else(|| ControlError::UnknownTool(name.chars().take(40).collect()))?;
    let mut arguments: Map<String, Value> = ask.json()?;
    let session = match arguments.remove("session") {
        Some(Value::String(name)) if !name.is_empty() => {
            Some(SessionId::new(name.chars().take(80).collect::<String>()))
        }
        None | Some(Value::Null | Value::String(_)) => None,
        Some(_) => return Err(ServeError::Bad("session must be a text".into())),
    };
    let (room, live) = running(&ask.app, &sandbox)?;
    let calls = Calls::new(ask.app.clone(), room, live, None);
    let cancel = CancellationToken::new();
    match calls.call(tool, Value::Object(arguments), session, cancel).await {
        Ok(reply) => Ok(answer(200, &ToolAnswer::of(reply))),
        Err(NotCalled::Control(error @ ControlError::Arguments { .. })) => Err(error.into()),
        Err(failure) => Ok(answer(200, &ToolAnswer::failed(&failure))),
    }
}
