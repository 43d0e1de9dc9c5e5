//! Calls of the page script in one document of one frame.

use crate::error::BrowserError;
use crate::frame::World;
use crate::protocol::page::{Evaluate, ExceptionDetails};
use reins_cdp::{CallError, LostCause, Reply, Session};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use std::time::Duration;

/// Why the page script gave no answer.
#[derive(Debug)]
pub(crate) enum AskError {
    /// The document is gone: replaced, closed, or its frame removed.
    Replaced,
    /// The page's main thread did not answer in time.
    Busy(Duration),
    /// The renderer crashed meanwhile.
    Crashed,
    /// The script threw, which only a very hostile page brings about.
    Threw(String),
    /// The wire.
    Wire(CallError),
}

impl From<AskError> for BrowserError {
    fn from(error: AskError) -> Self {
        match error {
            AskError::Replaced => {
                BrowserError::StaleRef { what: "its document was replaced".into() }
            }
            AskError::Busy(after) => BrowserError::Busy(after),
            AskError::Crashed => BrowserError::Crashed,
            AskError::Threw(text) => {
                tracing::warn!(%text, "the page script failed");
                BrowserError::Page {
                    what: "the page script failed on this page; reload it and try again".into(),
                }
            }
            AskError::Wire(source) => wire_error("the page script", source),
        }
    }
}

/// A failed call in the words of this room.
pub(crate) fn wire_error(what: &'static str, source: CallError) -> BrowserError {
    match &source {
        CallError::Lost(lost) if lost.cause == LostCause::Crashed => BrowserError::Crashed,
        _ if source.is_gone() => BrowserError::Gone { reason: source.to_string() },
        _ => BrowserError::Wire { what, source },
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Answer<'a> {
    #[serde(borrow)]
    result: Value<'a>,
    exception_details: Option<ExceptionDetails>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Value<'a> {
    #[serde(borrow)]
    value: Option<&'a RawValue>,
    object_id: Option<String>,
}

/// A call of the page script under way.
pub(crate) struct Asked {
    pending: reins_cdp::Pending<Box<RawValue>>,
    deadline: Duration,
}

/// Calls a function of the page script with one JSON argument, and goes on.
pub(crate) fn ask(world: &World, call: &str, waits: bool, deadline: Duration) -> Asked {
    let evaluate = Evaluate {
        expression: call,
        return_by_value: true,
        unique_context_id: Some(&world.unique),
        await_promise: waits.then_some(true),
        ..Evaluate::default()
    };
    Asked { pending: world.session.send("Runtime.evaluate", evaluate, deadline), deadline }
}

impl Asked {
    /// The answer.
    pub(crate) async fn answer<T: DeserializeOwned>(self) -> Result<T, AskError> {
        let raw = self.pending.await.map_err(|e| ask_error(e, self.deadline))?;
        let answer: Answer<'_> = read(raw.get())?;
        if let Some(threw) = answer.exception_details {
            return Err(AskError::Threw(threw.text));
        }
        read(answer.result.value.map_or("null", RawValue::get))
    }
}

fn read<'a, T: Deserialize<'a>>(json: &'a str) -> Result<T, AskError> {
    serde_json::from_str(json).map_err(|e| {
        AskError::Wire(CallError::Malformed {
            method: "Runtime.evaluate",
            detail: format!("{:?} error at column {}", e.classify(), e.column()),
        })
    })
}

/// The page script's call with its argument.
pub(crate) fn call(function: &str, argument: &impl serde::Serialize) -> String {
    // Plain data of ours always encodes.
    let json = serde_json::to_string(argument).unwrap_or_else(|_| "null".to_owned());
    format!("__reins.{function}({json})")
}

/// Evaluates to an object that stays in the page; its id for further calls. `None` is null.
pub(crate) async fn object(
    world: &World,
    expression: &str,
    deadline: Duration,
) -> Result<Option<String>, AskError> {
    let evaluate = Evaluate {
        expression,
        return_by_value: false,
        unique_context_id: Some(&world.unique),
        ..Evaluate::default()
    };
    let reply: Reply = world
        .session
        .call_raw("Runtime.evaluate", evaluate, deadline)
        .await
        .map_err(|e| ask_error(e, deadline))?;
    let answer: Answer<'_> = reply.parse().map_err(AskError::Wire)?;
    match answer.exception_details {
        Some(threw) => Err(AskError::Threw(threw.text)),
        None => Ok(answer.result.object_id),
    }
}

pub(crate) fn ask_error(error: CallError, deadline: Duration) -> AskError {
    match &error {
        CallError::Lost(lost) => match lost.cause {
            LostCause::Deadline => AskError::Busy(deadline),
            LostCause::Crashed => AskError::Crashed,
            LostCause::SessionGone => AskError::Replaced,
            _ => AskError::Wire(error),
        },
        CallError::NotSent(e) if matches!(e.cause, reins_cdp::NotSentCause::SessionGone) => {
            AskError::Replaced
        }
        // These are the browser's words for a document that is gone.
        CallError::Answered { message, .. } if is_gone(message) => AskError::Replaced,
        _ => AskError::Wire(error),
    }
}

fn is_gone(message: &str) -> bool {
    [
        "uniqueContextId not found",
        "Cannot find context",
        "Execution context was destroyed",
        "Inspected target navigated or closed",
        "Promise was collected",
        "Session with given id not found",
        "Could not find object with given id",
        "Target crashed",
    ]
    .iter()
    .any(|words| message.contains(words))
}

/// Releases an object, without waiting.
pub(crate) fn release(session: &Session, object_id: &str) {
    let release = crate::protocol::page::ReleaseObject { object_id };
    drop(session.post(release, Duration::from_secs(5)));
}
