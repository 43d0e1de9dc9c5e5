//! Selects and boxes.

use super::pointer;
use super::refusals::{No, not_asked, refused};
use super::settle::{self, After};
use super::step::Step;
use reins_core::{Modifiers, MouseButton, Outcome, TargetRecord};
use serde::{Deserialize, Serialize};

#[derive(Serialize)]
struct Choice<'a> {
    n: u32,
    seal: &'a str,
    options: &'a [String],
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Chosen {
    No(No),
    Done { changed: bool },
}

/// Chooses options of a native select. One step of script: nothing can come between check and change.
pub(crate) async fn select(
    step: &mut Step<'_>,
    target: &TargetRecord,
    options: &[String],
) -> Outcome {
    let world = match step.world_of(&target.node) {
        Ok(world) => world,
        Err(error) => return not_asked(error),
    };
    let choice = Choice { n: target.node.node.0, seal: &target.seal, options };
    match step.ask(&world, "select", &choice, false).await {
        Err(error) => not_asked(error),
        Ok(Chosen::No(no)) => no.outcome(),
        Ok(Chosen::Done { changed }) => {
            step.changed |= changed;
            settle::after(step, After::Quiet(&target.node.frame)).await;
            Outcome::Completed
        }
    }
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Boxed {
    No(No),
    Is { state: Option<String>, radio: bool },
}

/// Puts a checkbox, radio or switch into a state, by a click where it is in another one.
pub(crate) async fn check(step: &mut Step<'_>, target: &TargetRecord, checked: bool) -> Outcome {
    let wanted = if checked { "true" } else { "false" };
    let world = match step.world_of(&target.node) {
        Ok(world) => world,
        Err(error) => return not_asked(error),
    };
    let number = target.node.node.0;
    match step.ask(&world, "box", &number, false).await {
        Err(error) => return not_asked(error),
        Ok(Boxed::No(no)) => return no.outcome(),
        Ok(Boxed::Is { state: None, .. }) => {
            return refused(
                "not_checkable",
                "the element has no checked state",
                "Use click instead.",
            );
        }
        Ok(Boxed::Is { state: Some(state), .. }) if state == wanted => return Outcome::Completed,
        Ok(Boxed::Is { radio: true, .. }) if !checked => {
            return refused(
                "not_checkable",
                "a radio button is only switched off by choosing another one",
                "Check the other radio button.",
            );
        }
        Ok(Boxed::Is { .. }) => {}
    }
    let click = pointer::click(step, target, MouseButton::Left, 1, Modifiers::default()).await;
    if matches!(click, Outcome::Completed)
        && let Ok(Boxed::Is { state: Some(state), .. }) =
            step.ask::<Boxed>(&world, "box", &number, false).await
        && state != wanted
    {
        step.notes.push(format!("it was clicked, but its state is still {state}"));
    }
    click
}
