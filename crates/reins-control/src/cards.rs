//! Who can answer a card. Every door brings its own answerer; none brings rules.

use futures_util::future::BoxFuture;
use reins_guard::{Card, CardKind, RiskKind};
use std::fmt::Write as _;

/// One question to the person: the card, and what exactly it is bound to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// What the person sees.
    pub card: Card,
    /// The action with its target as it was read, secrets redacted. Two questions with the same
    /// card and subject are the same question.
    pub(crate) subject: String,
}

impl Question {
    /// A question about nothing, to see what cards look like.
    pub fn sample() -> Self {
        let card = Card {
            kind: CardKind::Confirm,
            title: "Click the button “Place order”?".into(),
            detail: "This may buy, book, pay or transfer something on shop.example.".into(),
            risk: RiskKind::Purchase,
            sites: vec!["shop.example".into()],
            always_offer: None,
            note: None,
        };
        Self { card, subject: "sample".into() }
    }

    /// The card as plain text lines.
    pub fn plain_text(&self) -> String {
        let mut text = self.card.title.clone();
        if !self.card.detail.is_empty() {
            // Writing to a String cannot fail.
            let _ = write!(text, "\n{}", self.card.detail);
        }
        if let Some(origin) = &self.card.always_offer {
            let _ = write!(text, "\n\"Always\" remembers {origin} as a site you named.");
        }
        text
    }

    /// Whether "always allow on this site" is offered.
    pub fn offers_always(&self) -> bool {
        self.card.always_offer.is_some()
    }
}

/// Puts a card to the person and waits for the answer.
pub trait Answerer: Send + Sync {
    /// Asks. The future is dropped when the turn stops; then nothing may happen any more.
    fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, CardAnswer>;
}

/// What came back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CardAnswer {
    /// This once.
    Allow,
    /// This once, and remember the offered origin as always allowed.
    Always,
    /// Not this step; the turn goes on without it.
    Deny,
    /// End the turn.
    Stop,
    /// The question was handed back to the caller, who calls again with the answer.
    Later,
    /// Nobody can be asked at this door; the text says how to allow the step.
    NoOne(String),
}

/// For doors where nobody can be asked.
#[derive(Debug)]
pub struct NoAnswerer {
    /// How the person can allow such a step.
    pub how: String,
}

impl Answerer for NoAnswerer {
    fn ask<'a>(&'a self, _: &'a Question) -> BoxFuture<'a, CardAnswer> {
        Box::pin(std::future::ready(CardAnswer::NoOne(self.how.clone())))
    }
}
