//! Answering the dialog that is open.

use super::refusals::{lost, refused};
use super::settle::{self, After};
use super::step::{ASKING, Step};
use crate::protocol::page::HandleDialog;
use reins_core::{Outcome, Secret};

/// Answers the open dialog. What the page does then belongs to this act.
pub(crate) async fn answer(
    step: &mut Step<'_>,
    accept: bool,
    text: Option<&Secret<String>>,
) -> Outcome {
    let open = step.tab.state().dialog.clone();
    let Some((_, session)) = open else {
        return refused("no_dialog", "no dialog is open in this tab", "Go on without answering.");
    };
    let handle = HandleDialog { accept, prompt_text: text.map(|text| text.expose().as_str()) };
    match session.run(handle, ASKING).await {
        Ok(_) => {}
        // The page or the person was faster.
        Err(reins_cdp::CallError::Answered { message, .. })
            if message.contains("No dialog is showing") =>
        {
            step.tab.state().dialog = None;
            return refused(
                "no_dialog",
                "the dialog is closed already",
                "Go on without answering.",
            );
        }
        Err(error) => return lost(&error),
    }
    let until = tokio::time::Instant::now() + ASKING;
    // The same page may open the next one at once: then this one is gone when the new one is seen.
    step.tab.until(until, |state| state.dialog.is_none().then_some(())).await;
    let frame = step.tab.state().main.clone();
    settle::after(step, After::Quiet(&frame)).await;
    Outcome::Completed
}
