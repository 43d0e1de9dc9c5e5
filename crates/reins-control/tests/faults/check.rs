//! What must hold after every run, whatever went wrong in it.

use crate::plan::{Card, Effect, Fault};
use crate::run::{Do, End, Report, effect};
use reins_control::Level;

/// What does not hold.
pub fn check(report: &Report) -> Vec<String> {
    let mut problems = report.problems.clone();
    let fault = report.fault.map(|(fault, _)| fault);
    for told in &report.told {
        let effects: Vec<Effect> = report
            .ledger
            .effects
            .iter()
            .filter(|(call, _)| *call == told.call)
            .map(|(_, e)| *e)
            .collect();
        let mut wrong = |what: &str| {
            problems.push(format!(
                "call {} ({:?}) {what}: {:?}, effects {effects:?}",
                told.call, told.what, told.end
            ));
        };
        if effects.iter().any(|one| !effect(told.what, *one)) {
            wrong("did something else");
        }
        if effects.len() > 1 {
            wrong("was sent twice");
        }
        match (&told.end, effects.len()) {
            (End::Completed, 0) => wrong("did not happen"),
            (End::Refused(_) | End::Error(_) | End::Read, 1..) => wrong("happened"),
            _ => {}
        }
        // What it asks for went out, or the page was gone before and nobody knows.
        let leads = matches!(told.what, Do::Navigate | Do::Reload | Do::Submit | Do::Follow);
        let went = report.ledger.requests.iter().filter(|(call, ..)| *call == told.call).count();
        let dies = matches!(fault, Some(Fault::Gone | Fault::Crash));
        if leads && dies && told.end == End::Completed && went == 0 {
            wrong("asked for nothing");
        }
        // an approval is used once, so everything that needs one had its own.
        let cards: Vec<Card> = report
            .ledger
            .cards
            .iter()
            .filter(|(call, _)| *call == told.call)
            .map(|(_, c)| *c)
            .collect();
        let agreed = cards.iter().all(|card| matches!(card, Card::Allow | Card::Late));
        // At level careful the first step of a turn may be asked twice: as a plan, and as what it is.
        let most = if report.level == Level::Careful { 2 } else { 1 };
        // At level ask nothing is done without a card.
        let least = usize::from(told.what == Do::Submit || report.level == Level::Ask);
        let asked = (least..=most).contains(&cards.len());
        if !(effects.is_empty() || agreed && asked) {
            wrong("was done without its own yes");
        }
        // what the record says is what was told, and what was told is recorded.
        let rows: Vec<_> = report
            .rows
            .iter()
            .filter(|row| row.turn == told.turn && Some(row.step) == told.step)
            .collect();
        let said = match rows[..] {
            [] => None,
            [row] => Some(row.outcome.as_deref().unwrap_or("open")),
            _ => {
                wrong("is recorded twice");
                continue;
            }
        };
        let fits = match (&told.end, said) {
            (_, None) => effects.is_empty(),
            // Its end could not be recorded: it is told at the next start.
            (End::Completed | End::Refused(_) | End::Unknown(_), Some("open")) => true,
            (End::Completed, Some(said)) => said == "completed",
            (End::Unknown(_), Some(said)) => said == "unknown",
            (End::Refused(_) | End::Error(_), Some(said)) => said == "refused",
            (End::Read, Some(_)) => false,
            // Nobody heard; it may have been dropped while the page was read after the act.
            (End::Dropped, Some("refused")) => effects.is_empty(),
            (End::Dropped, Some("completed")) => !effects.is_empty(),
            (End::Dropped, Some(said)) => matches!(said, "unknown" | "open"),
        };
        if !fits {
            wrong(&format!("is recorded as {said:?}"));
        }
    }
    let count = |effects: &dyn Fn(Effect) -> bool| {
        report.ledger.effects.iter().filter(|(_, e)| effects(*e)).count()
    };
    let posts = report.ledger.requests.iter().filter(|(_, method, _)| method == "POST").count();
    if posts > count(&|e| matches!(e, Effect::Click(crate::page::BUTTON))) {
        problems.push(format!("{posts} forms went out"));
    }
    let open = report.rows.iter().filter(|row| row.outcome.is_none()).count();
    if report.interrupted != (open, 0) {
        problems
            .push(format!("{open} acts are open, told as interrupted: {:?}", report.interrupted));
    }
    problems
}
