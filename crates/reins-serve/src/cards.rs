//! Cards of a guarded sandbox, answered by whoever watches it.

use crate::events::EventLog;
use crate::limits;
use futures_util::future::BoxFuture;
use reins_control::{Answerer, CardAnswer, Question};
use serde::Serialize;
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::oneshot;

/// A question that waits.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct OpenCard {
    id: String,
    title: String,
    lines: Vec<String>,
    offers_always: bool,
}

/// The questions of one sandbox.
#[derive(Debug, Default)]
pub(crate) struct Cards {
    waiting: Mutex<Waiting>,
}

#[derive(Debug, Default)]
struct Waiting {
    last: u64,
    open: BTreeMap<String, (OpenCard, oneshot::Sender<CardAnswer>)>,
}

impl Cards {
    /// Answers a card once; `false` if nobody asks it any more.
    pub(crate) fn answer(&self, id: &str, answer: CardAnswer) -> bool {
        let waiting = self.waiting().open.remove(id);
        waiting.is_some_and(|(_, asks)| asks.send(answer).is_ok())
    }

    /// Whether a card of this id waits, and whether it offers "always".
    pub(crate) fn offers_always(&self, id: &str) -> Option<bool> {
        self.waiting().open.get(id).map(|(card, _)| card.offers_always)
    }

    /// What waits now.
    pub(crate) fn open(&self) -> Vec<OpenCard> {
        self.waiting().open.values().map(|(card, _)| card.clone()).collect()
    }

    fn ask(&self, question: &Question) -> Option<(OpenCard, oneshot::Receiver<CardAnswer>)> {
        let mut waiting = self.waiting();
        if waiting.open.len() >= limits::CARDS {
            return None;
        }
        waiting.last += 1;
        let card = OpenCard {
            id: format!("c{}", waiting.last),
            title: question.card.title.clone(),
            lines: question.plain_text().lines().skip(1).map(str::to_owned).collect(),
            offers_always: question.offers_always(),
        };
        let (asks, answered) = oneshot::channel();
        waiting.open.insert(card.id.clone(), (card.clone(), asks));
        Some((card, answered))
    }

    /// Every section leaves whole values.
    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Puts cards to whoever watches a sandbox.
#[derive(Clone, Debug)]
pub(crate) struct CardDesk {
    pub(crate) cards: Arc<Cards>,
    pub(crate) events: Arc<EventLog>,
}

impl Answerer for CardDesk {
    fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, CardAnswer> {
        Box::pin(async move {
            let Some((card, answered)) = self.cards.ask(question) else {
                return CardAnswer::NoOne(format!(
                    "{} questions wait already; answer those first",
                    limits::CARDS
                ));
            };
            // Dropped when the turn stops: then nobody may answer any more.
            let _gone = Withdraw { desk: self, id: &card.id };
            self.events.push("card", &card);
            answered.await.unwrap_or(CardAnswer::Deny)
        })
    }
}

struct Withdraw<'a> {
    desk: &'a CardDesk,
    id: &'a str,
}

impl Drop for Withdraw<'_> {
    fn drop(&mut self) {
        if self.desk.cards.waiting().open.remove(self.id).is_some() {
            self.desk.events.push("card_answered", &json!({"id": self.id, "answer": "withdrawn"}));
        }
    }
}
