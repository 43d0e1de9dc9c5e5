//! The safety check of level careful: a fast model answers one closed question that no page text
//! can reach (R-186…R-190).

use crate::call::Call;
use futures_util::future::BoxFuture;
use reins_core::limits::CRITIC_DEADLINE;
use reins_guard::{CriticVerdict, PendingCheck, VerdictError};

/// A direct provider that the guard's own question can be put to.
pub trait Critic: std::fmt::Debug + Send + Sync {
    /// The answer as the model gave it, or nothing when it gave none.
    fn ask<'a>(&'a self, instructions: &'a str, question: &'a str)
    -> BoxFuture<'a, Option<String>>;
}

/// What the critic is told once. Everything else it learns is in the question.
pub const CRITIC_INSTRUCTIONS: &str = "You are a safety check for a browser agent. A person gave the goal below. \
One step is about to run; you see only what kind of step it is and where, never the page. \
Say whether this kind of step plausibly belongs to the goal. \
Answer with exactly one line: `allow`, or `escalate: ` and a reason of at most fifteen words. \
If you are not sure, escalate.";

impl Call<'_> {
    /// The verdict on a step. Whatever goes wrong is an error, and an error becomes a card.
    pub(crate) async fn verdict(
        &self,
        check: &PendingCheck,
    ) -> Result<CriticVerdict, VerdictError> {
        let Some(critic) = &self.control.inner.options.critic else {
            return Err(VerdictError::Provider);
        };
        let goal = {
            let state = self.session.state();
            state.turn.as_ref().and_then(|turn| turn.goal.clone()).unwrap_or_default()
        };
        let question = check.question(&goal).to_text();
        let asked = critic.ask(CRITIC_INSTRUCTIONS, &question);
        let answer = tokio::select! {
            answer = tokio::time::timeout(CRITIC_DEADLINE, asked) => answer,
            // The dispatch that follows finds the stop by itself.
            () = self.stop.cancelled() => return Err(VerdictError::Provider),
            () = self.cancel.cancelled() => return Err(VerdictError::Provider),
        };
        match answer {
            Err(_) => Err(VerdictError::Deadline),
            Ok(None) => Err(VerdictError::Provider),
            Ok(Some(answer)) => CriticVerdict::parse(&answer),
        }
    }
}
