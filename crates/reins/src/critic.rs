//! The safety check of level careful, put to the model that the run uses anyway.

use futures_util::future::BoxFuture;
use reins_control::Critic;
use reins_models::{ChatRequest, Message, Model, Purpose, Reasoning};
use std::fmt;
use std::sync::Arc;

/// One line is wanted; models that explain themselves are cut.
const ANSWER_TOKENS: u32 = 60;

/// A model as the critic.
pub(crate) struct ModelCritic(pub(crate) Arc<dyn Model>);

impl fmt::Debug for ModelCritic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ModelCritic")
    }
}

impl Critic for ModelCritic {
    fn ask<'a>(
        &'a self,
        instructions: &'a str,
        question: &'a str,
    ) -> BoxFuture<'a, Option<String>> {
        Box::pin(async move {
            let request = ChatRequest {
                system: instructions.to_owned(),
                messages: vec![Message::user(question)],
                temperature: Some(0.0),
                max_tokens: Some(ANSWER_TOKENS),
                // Thoughts would use the tokens up.
                reasoning: Reasoning::Off,
                purpose: Purpose::SafetyCheck,
                ..ChatRequest::default()
            };
            match reins_models::reply(self.0.as_ref(), request).await {
                Ok(reply) => Some(reply.text),
                Err(error) => {
                    tracing::warn!(%error, "the safety check failed, so the person is asked");
                    None
                }
            }
        })
    }
}
