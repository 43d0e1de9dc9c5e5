//! Cards through the client's own elicitation.
//!
//! Up to protocol 2025-11-25 the server asks while the call is open. From 2026-07-28 on a server
//! sends no requests: the call ends with the question, and the client calls again with the answer.
//! The second call walks the whole street again, and the answer counts only for a card that says
//! exactly the same.

use futures_util::future::BoxFuture;
use reins_control::{Answerer, CardAnswer, Question};
use rmcp::model::{
    ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationSchema, EnumSchema,
    InputRequest, InputRequests, InputRequiredResult, InputResponses, RequestMetaObject,
};
use rmcp::service::{Peer, RoleServer};
use serde_json::Value;
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What kind of risk a card is about, for clients that sort or count them: the code that events give as well.
const RISK: &str = "reins/risk";

/// The one field of a card's form.
const FIELD: &str = "answer";
const ALLOW: &str = "Allow";
const ALWAYS: &str = "Always allow on this site";
const DENY: &str = "Don't allow";
const STOP: &str = "Stop";

/// How to allow a step where nobody can be asked.
pub(crate) const NOBODY: &str = "this client can't ask you (it has no elicitation). Use a client that can, \
     name the site with --site ORIGIN if only the site is in question, or give the agent a browser of its own with --app ORIGIN";

/// How this client can be asked.
pub(crate) enum Asking {
    /// It can't.
    Never,
    /// While the call is open.
    Open(Peer<RoleServer>),
    /// By ending the call; holds the answer that came with it, if any.
    Ending {
        /// The card that was answered and the answer.
        given: Option<Box<(Question, CardAnswer)>>,
        /// The question to send, once there is one.
        question: Mutex<Option<Box<Question>>>,
    },
}

impl Answerer for Asking {
    fn ask<'a>(&'a self, asked: &'a Question) -> BoxFuture<'a, CardAnswer> {
        Box::pin(async move {
            match self {
                Self::Never => CardAnswer::NoOne(NOBODY.into()),
                Self::Open(peer) => ask_open(peer, asked).await,
                Self::Ending { given, question } => match given {
                    Some(given) if given.0 == *asked => given.1.clone(),
                    _ => {
                        *lock(question) = Some(Box::new(asked.clone()));
                        CardAnswer::Later
                    }
                },
            }
        })
    }
}

async fn ask_open(peer: &Peer<RoleServer>, question: &Question) -> CardAnswer {
    match peer.create_elicitation(form(question)).await {
        Ok(result) => answer(&result),
        Err(error) => {
            tracing::warn!(%error, "the client could not put the card");
            CardAnswer::NoOne(format!("the client could not ask you ({error})"))
        }
    }
}

/// A card as a form with one choice and no default.
fn form(question: &Question) -> ElicitRequestParams {
    let mut choices = vec![ALLOW.to_owned()];
    if question.offers_always() {
        choices.push(ALWAYS.to_owned());
    }
    choices.extend([DENY.to_owned(), STOP.to_owned()]);
    let choice = EnumSchema::builder(choices).untitled().build();
    let schema = ElicitationSchema::builder().required_enum_schema(FIELD, choice).build_unchecked();
    let mut meta = RequestMetaObject::new();
    meta.insert(RISK.into(), question.card.risk.code().into());
    ElicitRequestParams::FormElicitationParams {
        meta: Some(meta),
        message: question.plain_text(),
        requested_schema: schema,
    }
}

/// Only an explicit choice allows anything.
fn answer(result: &ElicitResult) -> CardAnswer {
    let choice = result.content.as_ref().and_then(|c| c.get(FIELD)).and_then(Value::as_str);
    match (&result.action, choice) {
        (ElicitationAction::Accept, Some(ALLOW)) => CardAnswer::Allow,
        (ElicitationAction::Accept, Some(ALWAYS)) => CardAnswer::Always,
        (ElicitationAction::Accept, Some(STOP)) | (ElicitationAction::Cancel, _) => {
            CardAnswer::Stop
        }
        _ => CardAnswer::Deny,
    }
}

/// Questions that went out with an ended call, by request state.
#[derive(Debug, Default)]
pub(crate) struct Outstanding {
    questions: Mutex<HashMap<String, Question>>,
}

/// More unanswered questions than any client has; the map must not grow without end.
const MOST_OUTSTANDING: usize = 64;

impl Outstanding {
    /// The question as the end of a call.
    pub(crate) fn question(&self, question: Question, state: String) -> InputRequiredResult {
        let form = form(&question);
        let mut questions = lock(&self.questions);
        if questions.len() >= MOST_OUTSTANDING {
            questions.clear();
        }
        questions.insert(state.clone(), question);
        let mut requests = InputRequests::new();
        requests.insert(
            "card".into(),
            InputRequest::Elicitation(rmcp::model::ElicitRequest::new(form)),
        );
        InputRequiredResult::new(Some(requests), Some(state))
    }

    /// The answer that came with a call, used up by reading it.
    pub(crate) fn take(
        &self,
        state: Option<&str>,
        responses: Option<&InputResponses>,
    ) -> Option<Box<(Question, CardAnswer)>> {
        let question = lock(&self.questions).remove(state?)?;
        let value = responses?.get("card")?.clone();
        let result: ElicitResult = serde_json::from_value(value).ok()?;
        Some(Box::new((question, answer(&result))))
    }
}

/// A poisoned lock still holds whole values: every critical section here is one statement.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
