//! Cards: one question to the person, bound to exactly what it shows.

use crate::approve::{ApprovedAction, Basis};
use crate::assess::RiskKind;
use crate::decide::Prepared;
use crate::facts::TurnFacts;
use crate::refuse::RefusalCode;
use reins_core::{Origin, Refusal, Rule};
use std::str::FromStr;
use thiserror::Error;

/// What a card asks about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CardKind {
    /// The turn's first step and its sites.
    Plan,
    /// One step.
    Confirm,
}

/// What the person sees. Every string is plain text without control characters, direction
/// overrides or invisible characters, clipped, and never holds typed text (R-168, R-203).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Card {
    /// What it asks about.
    pub kind: CardKind,
    /// The step as a question, one line.
    pub title: String,
    /// Why it is asked and where it leads, one line (R-166, R-167).
    pub detail: String,
    /// The most telling risk.
    pub risk: RiskKind,
    /// The sites involved, as shown: punycode, marked where they imitate another.
    pub sites: Vec<String>,
    /// The origin that "always allow on this site" would store. Never on a risky card (R-162).
    pub always_offer: Option<Origin>,
    /// What held the step, if it was the critic or the lack of one. `detail` says it as well.
    pub note: Option<String>,
}

/// What the person answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Answer {
    /// This step may run.
    Allow,
    /// This step may run, and the offered site gets an "always" rule.
    AllowAlways,
    /// This step may not run; the agent carries on without it.
    Refuse,
    /// The turn ends.
    Stop,
}

/// The text is none of the accepted answers, and is ignored (R-209).
#[derive(Debug, Error, PartialEq, Eq)]
#[error("'{0}' is not an answer to a card; use allow, skip, always or stop")]
pub struct AnswerError(String);

impl FromStr for Answer {
    type Err = AnswerError;

    fn from_str(text: &str) -> Result<Self, AnswerError> {
        match text {
            "allow" | "confirm" | "allow_once" => Ok(Answer::Allow),
            "always" => Ok(Answer::AllowAlways),
            "skip" | "deny" => Ok(Answer::Refuse),
            "stop" => Ok(Answer::Stop),
            _ => Err(AnswerError(text.to_owned())),
        }
    }
}

/// What an answer gives beyond the step itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Grants {
    /// Sites that low-risk steps may use for the rest of this turn (R-163).
    pub planned: Vec<Origin>,
    /// Whether this was the plan card.
    pub plan_allowed: bool,
    /// Sites that the person agreed to, for the rest of the session.
    pub asked: Vec<Origin>,
    /// The rule to store.
    pub rule: Option<(Origin, Rule)>,
}

impl TurnFacts {
    /// Takes in what an answer gave. The rule, if there is one, is for the caller to store.
    pub fn grant(&mut self, grants: &Grants) {
        self.planned.extend(grants.planned.iter().cloned());
        self.plan_allowed |= grants.plan_allowed;
        self.asked.extend(grants.asked.iter().cloned());
    }
}

/// An approval together with what the answer gives beyond it.
#[derive(Debug)]
pub struct Consent {
    /// The step, ready to be dispatched.
    pub approved: ApprovedAction,
    /// What else was granted.
    pub grants: Grants,
}

/// A step that waits for the person.
///
/// ```
/// use reins_guard::{Answer, PendingCard};
/// fn once(card: PendingCard) {
///     let _ = card.answer(Answer::Allow);
/// }
/// ```
///
/// ```compile_fail,E0382
/// use reins_guard::{Answer, PendingCard};
/// fn twice(card: PendingCard) {
///     let _ = card.answer(Answer::Allow);
///     let _ = card.answer(Answer::Allow);
/// }
/// ```
#[derive(Debug)]
#[must_use = "the step waits for an answer"]
pub struct PendingCard {
    prepared: Prepared,
    card: Card,
    grants: Grants,
}

impl PendingCard {
    pub(crate) fn new(prepared: Prepared, card: Card, grants: Grants) -> Self {
        Self { prepared, card, grants }
    }

    /// What the person sees.
    pub fn card(&self) -> &Card {
        &self.card
    }

    /// Turns the answer into an approval or a refusal. Takes the card: it is answered once.
    pub fn answer(self, answer: Answer) -> Result<Consent, Refusal> {
        let mut grants = self.grants;
        match answer {
            Answer::Allow => {}
            Answer::AllowAlways => match self.card.always_offer {
                Some(origin) => {
                    grants = Grants { rule: Some((origin, Rule::Always)), ..Grants::default() };
                }
                None => return Err(not_allowed()),
            },
            Answer::Refuse => return Err(not_allowed()),
            Answer::Stop => return Err(stopped()),
        }
        Ok(Consent { approved: self.prepared.approve(Basis::Person), grants })
    }
}

pub(crate) fn stopped() -> Refusal {
    RefusalCode::Stopped.refusal(
        "the person stopped the turn",
        "Do nothing more until the person asks for something.",
    )
}

pub(crate) fn not_allowed() -> Refusal {
    RefusalCode::NotAllowed.refusal(
        "the person did not allow this step",
        "Carry on without it. Don't try the same thing another way; say what could not be done.",
    )
}
