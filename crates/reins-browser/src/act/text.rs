//! Typing: the text is inserted at once or key by key, into the approved field or nowhere.

use super::input::{Heard, Sending, final_word, hear, stopped};
use super::keys;
use super::pointer::Leads;
use super::refusals::{No, not_asked, stopped_before};
use super::settle::{self, After};
use super::step::Step;
use super::through::{hush, withdraw};
use crate::keyboard::{character, press};
use futures_util::future::join;
use reins_core::{Key, KeyChord, Modifiers, Outcome, Secret, TargetRecord, TypeMode};
use serde::{Deserialize, Serialize};

#[derive(Serialize)]
struct TypeAim<'a> {
    token: u64,
    n: u32,
    seal: &'a str,
    text: &'a str,
    all: bool,
    keys: bool,
    times: usize,
    leads: Leads<'a>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Aimed {
    No(No),
    Ready { how: How, had: usize },
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum How {
    Insert,
    Keys,
    Set,
}

/// Types into a field.
pub(crate) async fn write(
    step: &mut Step<'_>,
    target: &TargetRecord,
    text: &Secret<String>,
    mode: TypeMode,
    by_keys: bool,
    enter: bool,
) -> Outcome {
    let text = text.expose();
    let (outcome, token) = put(step, target, text, mode, by_keys).await;
    if !matches!(outcome, Outcome::Completed) {
        withdraw(step, token);
        return outcome;
    }
    if !enter {
        settle::after(step, After::Gesture(&target.node.frame)).await;
        let outcome = final_word(step, outcome);
        withdraw(step, token);
        return outcome;
    }
    let pressed =
        KeyChord { key: Key::Named("Enter", "Enter", 13), modifiers: Modifiers::default() };
    let frame = &target.node.frame;
    let (outcome, token) = keys::send(step, frame, Some(target), &[press(&pressed)]).await;
    match outcome {
        Outcome::Completed => settle::after(step, After::Gesture(frame)).await,
        // The text is in the field; only Enter was held back.
        _ => step.notes.push("the text was typed, but Enter was not pressed".into()),
    }
    let outcome = final_word(step, outcome);
    withdraw(step, token);
    outcome
}

async fn put(
    step: &mut Step<'_>,
    target: &TargetRecord,
    text: &str,
    mode: TypeMode,
    by_keys: bool,
) -> (Outcome, u64) {
    let token = step.tab.new_token();
    let all = mode == TypeMode::Replace;
    let presses: Vec<_> = if text.is_empty() {
        // Nothing is inserted over the selection: it is deleted, as a person would.
        vec![press(&KeyChord {
            key: Key::Named("Delete", "Delete", 46),
            modifiers: Modifiers::default(),
        })]
    } else if by_keys {
        text.chars().map(character).collect()
    } else {
        Vec::new()
    };
    let world = match step.world_of(&target.node) {
        Ok(world) => world,
        Err(error) => return (not_asked(error), token),
    };
    let aim = TypeAim {
        token,
        n: target.node.node.0,
        seal: &target.seal,
        text,
        all,
        keys: !presses.is_empty(),
        times: presses.len().max(1),
        leads: Leads::by_enter(target),
    };
    let frame = &target.node.frame;
    let (aimed, ()) =
        join(step.ask(&world, "aimText", &aim, false), hush(step, frame, token, "keys")).await;
    let (how, had) = match aimed {
        Ok(Aimed::Ready { how, had }) => (how, had),
        Ok(Aimed::No(no)) => return (no.outcome(), token),
        Err(error) => return (not_asked(error), token),
    };
    if step.cancel.is_cancelled() {
        return (stopped_before(), token);
    }
    let outcome = match how {
        How::Set => {
            step.changed = true;
            return (Outcome::Completed, token);
        }
        // Nothing to delete, nothing to add.
        How::Keys if text.is_empty() && (had == 0 || !all) => return (Outcome::Completed, token),
        How::Keys => keys::dispatch(step, frame, &world, &presses).await,
        How::Insert => {
            let mut sending = Sending::default();
            sending.text(&world.session, text);
            match hear(step, frame, sending).await {
                Heard::Through => Outcome::Completed,
                Heard::Ended(outcome) => outcome,
                Heard::Stopped(frame, stop) => stopped(step, &frame, stop),
            }
        }
    };
    if matches!(outcome, Outcome::Completed) {
        step.expected_length = Some(text.encode_utf16().count() + if all { 0 } else { had });
    }
    (outcome, token)
}
