//! When the model fails after something was sent: the loop itself looks what came of it, so that the
//! person is not left without a word (W-490).
//!
//! It is never told as done: without a model nobody says what else the task asked for.

use crate::agent::{Agent, Run};
use crate::report::RunEnd;
use crate::toolbox::{Opening, Toolbox};
use serde_json::json;

/// The tool that only looks.
const LOOK: &str = "snapshot";

impl<T: Toolbox> Agent<T> {
    /// Adds to an end what was sent and what the page shows of it.
    pub(crate) async fn look_after(&mut self, run: &mut Run<'_>, end: &mut RunEnd) {
        let RunEnd::Failed { answer, .. } = end else {
            return;
        };
        let receipts = run.steps.receipts();
        let Some(last) = receipts.last().filter(|_| run.model_failed) else {
            return;
        };
        if self.tools.iter().any(|tool| tool.name == LOOK && !tool.acts) {
            let opening = Opening { calls: vec![(LOOK.to_owned(), json!({}))] };
            if let Err(failed) = run.steps.open(&batch!(self, run), &opening).await {
                tracing::info!(?failed, "no look at what came of the last submission");
            }
        }
        let control = &last.commitment.control;
        let arrived = match last.answered {
            true => "the page reacted",
            false => "nobody knows whether it arrived",
        };
        let mut text = format!("Before that, step {} pressed {control}: {arrived}.", last.step);
        if receipts.len() > 1 {
            text.push_str(&format!(" {} things were sent in all.", receipts.len()));
        }
        let (told, wrong) = self.toolbox.seen(|evidence, _| {
            let messages = evidence.messages();
            (messages.told().join("; "), messages.wrong().join("; "))
        });
        if !wrong.is_empty() {
            text.push_str(&format!(" The page marks as wrong: {wrong}."));
        }
        if !told.is_empty() {
            text.push_str(&format!(" The page says: \"{told}\"."));
        }
        text.push_str(" It may be done already; look before you try again.");
        *answer = Some(match answer.take() {
            Some(said) => format!("{said}\n{text}"),
            None => text,
        });
    }
}
