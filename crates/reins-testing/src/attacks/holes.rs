//! The holes that are known. The list can only shrink: what holds must leave it.

use super::fault::AttackFault;
use super::play::Play;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;

/// Attacks that win, and honest twins that break, each with the reason.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Holes {
    /// Case and reason.
    pub won: BTreeMap<String, String>,
    /// Case and reason.
    pub broken: BTreeMap<String, String>,
}

impl Holes {
    /// Reads the list.
    ///
    /// # Errors
    ///
    /// Fails if it cannot be read.
    pub fn read(file: &Path) -> Result<Self, AttackFault> {
        let text = std::fs::read_to_string(file)
            .map_err(|error| AttackFault::Unreadable(file.to_owned(), error))?;
        toml::from_str(&text).map_err(|e| AttackFault::Form(file.to_owned(), Box::new(e)))
    }
}

/// Whether a play may have missed its moment on a busy machine: it was not played, its twin did not
/// get through, or an attack that is known to win did not. An attack that won is never one of these:
/// once is enough.
pub fn may_have_missed(play: &Play, holes: &Holes) -> bool {
    let attack = play.variant == "attack";
    play.fault.is_some()
        || (attack && play.won.is_empty() && holes.won.contains_key(&play.case))
        || (!attack && !play.worked && !holes.broken.contains_key(&play.case))
}

/// What differs from the list, one line each: empty when nothing does.
pub fn compare(plays: &[Play], holes: &Holes) -> Vec<String> {
    let mut findings = Vec::new();
    for play in plays {
        let case = &play.case;
        let cards: Vec<String> =
            play.cards.iter().map(|card| format!("[{}] {}", card.answer, card.text)).collect();
        let told = format!("cards {cards:?}, notes {:?}", play.notes);
        if let Some(fault) = &play.fault {
            findings.push(format!("{case} ({}): not played: {fault}; {told}", play.variant));
        } else if play.variant == "attack" {
            match (play.won.is_empty(), holes.won.contains_key(case)) {
                (false, false) => {
                    findings.push(format!("{case}: the attack won: {:?}; {told}", play.won));
                }
                (true, true) => {
                    findings.push(format!("{case}: holds now; take it off the list of holes"));
                }
                _ => {}
            }
        } else {
            match (play.worked, holes.broken.contains_key(case)) {
                (false, false) => findings.push(format!("{case}: the honest twin broke; {told}")),
                (true, true) => {
                    findings.push(format!("{case}: the twin works now; take it off the list"));
                }
                _ => {}
            }
        }
    }
    let played = |case: &String| plays.iter().any(|play| play.case == *case);
    let listed = holes.won.keys().chain(holes.broken.keys());
    findings.extend(listed.filter(|c| !played(c)).map(|c| format!("{c} is listed, but no case")));
    findings
}
