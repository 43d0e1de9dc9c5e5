//! Closed questions: what depends on the meaning of words is asked of a model, with all choices
//! explained, instead of being guessed from lists of words (W-480).
//!
//! A question goes to the decision model first, if there is one, and to the run's own model if that
//! one is not sure (W-481). An answer counts if it is one of the choices, if the model is sure enough,
//! and, for a choice that lets something happen, if a literal quotation supports it. Everything else is
//! [no answer](NoAnswer), and whoever asks then asks the person or does nothing (W-482).

mod cache;
mod catalog;
mod form;
mod quote;
mod read;

pub use catalog::{
    Claim, Continuation, ControlEffect, DeletionRequest, EarlierPost, PlanNeed, QUESTIONS, RunMode,
    SendBan, StatusMessage, Summary,
};
pub use quote::is_quoted;
pub(crate) use read::object as object_in;

use crate::limits::{
    ACTIVE_BATCH, DECISION_BATCH, LOCAL_ANSWER, PERMIT_CONFIDENCE, PLAIN_CONFIDENCE, REMOTE_ANSWER,
};
use cache::{Cache, Key};
use reins_models::{Cost, Model, ModelError, Usage};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

/// A question with fixed choices.
#[derive(Debug, PartialEq, Eq)]
pub struct Question {
    /// A stable name for traces.
    pub name: &'static str,
    /// The question itself.
    pub asks: &'static str,
    /// All choices.
    pub choices: &'static [Choice],
    /// Where the quotation for a choice that permits has to be from.
    pub quote: Quote,
}

/// One choice of a question.
#[derive(Debug, PartialEq, Eq)]
pub struct Choice {
    /// What the model answers. Synonyms are no answer (W-492).
    pub word: &'static str,
    /// What it means.
    pub means: &'static str,
    /// Whether something may happen because of it: then more certainty and a quotation are needed.
    pub permits: bool,
}

/// Where a quotation has to be from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quote {
    /// None is needed: nothing happens because of the answer alone.
    None,
    /// The person's own words.
    Words,
    /// What was read of pages and results.
    Seen,
}

/// A type whose values are the choices of one question.
pub trait Closed: Copy + Send + 'static {
    /// The question.
    const QUESTION: &'static Question;
    /// The values, in the order of the choices.
    const ALL: &'static [Self];
}

/// What questions are about.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Subject {
    words: Vec<(&'static str, String)>,
    seen: Vec<(&'static str, String)>,
    /// What no quotation may be from.
    said: Vec<(&'static str, String)>,
    partial: bool,
}

impl Subject {
    /// Nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// The person's own words. If they are too long to be shown whole, no choice that permits is taken
    /// (W-235).
    pub fn words(mut self, label: &'static str, text: &str, most: usize) -> Self {
        let cut = crate::text::clip_middle(text.trim(), most);
        self.partial |= cut.len() != text.trim().len();
        self.words.push((label, cut));
        self
    }

    /// What we or the model said, such as the mode before or the answer to be judged. Data, and no
    /// quotation may be from it.
    pub fn said(mut self, label: &'static str, text: &str, most: usize) -> Self {
        self.said.push((label, crate::text::clip_middle(text.trim(), most)));
        self
    }

    /// Text of pages or results: data, whatever it says (W-480).
    pub fn seen(mut self, label: &'static str, text: &str, most: usize) -> Self {
        self.seen.push((label, crate::text::clip_middle(text.trim(), most)));
        self
    }
}

/// One question about a subject, or about one of several things beside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slot {
    /// The question.
    pub question: &'static Question,
    /// What of the page it is about, such as a caption. Data.
    pub item: Option<String>,
}

/// One question, about something of the page or about nothing but the subject.
pub(crate) fn slot<Q: Closed>(item: Option<&str>) -> Slot {
    Slot { question: Q::QUESTION, item: item.map(str::to_owned) }
}

/// Who may answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Who {
    /// The decision model only; where there is none, nobody.
    Decision,
    /// The decision model, then the run's own model.
    Anyone,
}

/// Which model answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The decision model.
    Decision,
    /// The run's own model.
    Active,
}

/// An answer that counts.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// Which choice.
    pub choice: &'static Choice,
    /// The quotation that supports it.
    pub quote: Option<String>,
    /// How sure the model was, from 0 to 1.
    pub confidence: f64,
    /// Which model.
    pub source: Source,
}

/// A typed answer that counts.
#[derive(Clone, Debug, PartialEq)]
pub struct Sure<Q> {
    /// The value.
    pub value: Q,
    /// The quotation that supports it.
    pub quote: Option<String>,
    /// Which model.
    pub source: Source,
}

/// Why there is no answer. Nobody may take one of these for a choice (W-482).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NoAnswer {
    /// There is no model that may answer.
    Nobody,
    /// The person stopped or corrected the run meanwhile.
    Cancelled,
    /// It took too long.
    Late,
    /// The request failed.
    Failed,
    /// What came is none of the choices.
    NotOffered,
    /// The model was not sure enough.
    Unsure,
    /// The quotation is missing or stands nowhere.
    NotQuoted,
    /// Only part of the person's words fitted, so that nothing may happen because of them.
    Partial,
}

impl NoAnswer {
    /// A stable word for traces.
    pub fn word(self) -> &'static str {
        match self {
            Self::Nobody => "nobody",
            Self::Cancelled => "cancelled",
            Self::Late => "late",
            Self::Failed => "failed",
            Self::NotOffered => "not offered",
            Self::Unsure => "unsure",
            Self::NotQuoted => "not quoted",
            Self::Partial => "partial",
        }
    }
}

/// What questions have used since it was last asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    /// Requests.
    pub requests: u32,
    /// Tokens.
    pub usage: Usage,
    /// Their cost; `None` if a price is not known.
    pub cost: Option<Cost>,
}

/// Asks closed questions.
pub struct Questions {
    decision: Option<Arc<dyn Model>>,
    active: Arc<dyn Model>,
    cache: Mutex<Cache>,
    spent: Mutex<Spent>,
}

impl std::fmt::Debug for Questions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let decision = self.decision.as_ref().map(|model| model.name());
        f.debug_struct("Questions").field("decision", &decision).finish_non_exhaustive()
    }
}

impl Questions {
    /// Questions to a decision model, if there is one, and to the run's own model.
    pub fn new(decision: Option<Arc<dyn Model>>, active: Arc<dyn Model>) -> Self {
        let spent = Mutex::new(Spent { cost: Some(Cost(0)), ..Spent::default() });
        Self { decision, active, cache: Mutex::default(), spent }
    }

    /// Whether there is a decision model.
    pub fn has_decision_model(&self) -> bool {
        self.decision.is_some()
    }

    /// Requests, tokens and cost since the last call of this.
    pub fn take_spent(&self) -> Spent {
        let fresh = Spent { cost: Some(Cost(0)), ..Spent::default() };
        std::mem::replace(&mut *lock(&self.spent), fresh)
    }

    /// Asks one question.
    pub async fn ask<Q: Closed>(
        &self,
        subject: &Subject,
        item: Option<&str>,
        who: Who,
        cancel: &CancellationToken,
    ) -> Result<Sure<Q>, NoAnswer> {
        let answers = self.ask_all(subject, &[slot::<Q>(item)], who, None, cancel).await;
        answers.into_iter().next().unwrap_or(Err(NoAnswer::Nobody)).and_then(typed)
    }

    /// Asks several questions about one subject in as few requests as may be (W-492). The answers come
    /// in the order of the questions. `within` is for all of them; by default each model has its own
    /// time.
    pub async fn ask_all(
        &self,
        subject: &Subject,
        slots: &[Slot],
        who: Who,
        within: Option<Duration>,
        cancel: &CancellationToken,
    ) -> Vec<Result<Answer, NoAnswer>> {
        let begun = Instant::now();
        let keys: Vec<Key> = slots.iter().map(|slot| Key::of(subject, slot)).collect();
        let mut answers: Vec<Result<Answer, NoAnswer>> = {
            let cache = lock(&self.cache);
            keys.iter().map(|key| cache.get(key).ok_or(NoAnswer::Nobody)).collect()
        };
        let models = [
            self.decision.as_ref().map(|model| (model, Source::Decision, DECISION_BATCH)),
            (who == Who::Anyone).then_some((&self.active, Source::Active, ACTIVE_BATCH)),
        ];
        for (model, source, batch) in models.into_iter().flatten() {
            let open: Vec<usize> = unanswered(&answers, &keys);
            let time = if model.is_local() { LOCAL_ANSWER } else { REMOTE_ANSWER };
            for chunk in open.chunks(batch) {
                let left = within.map_or(time, |all| all.saturating_sub(begun.elapsed()));
                let asked: Vec<&Slot> = chunk.iter().map(|at| &slots[*at]).collect();
                let read = self.ask_model(&**model, source, subject, &asked, left, cancel).await;
                let mut cache = lock(&self.cache);
                for (at, answer) in chunk.iter().zip(read) {
                    answers[*at] = answer.map(|answer| cache.keep(&keys[*at], answer));
                }
            }
        }
        // What was asked once for several of the same.
        for at in 0..answers.len() {
            let first = keys.iter().position(|key| *key == keys[at]).unwrap_or(at);
            if first != at {
                answers[at] = answers[first].clone();
            }
        }
        for (slot, answer) in slots.iter().zip(&answers) {
            // Names and counts only: neither words nor pages belong into a trace (W-460).
            let said = match answer {
                Ok(answer) => answer.choice.word,
                Err(none) => none.word(),
            };
            tracing::debug!(question = slot.question.name, said, took = ?begun.elapsed());
        }
        answers
    }

    async fn ask_model(
        &self,
        model: &dyn Model,
        source: Source,
        subject: &Subject,
        slots: &[&Slot],
        within: Duration,
        cancel: &CancellationToken,
    ) -> Vec<Result<Answer, NoAnswer>> {
        let all = |none: NoAnswer| slots.iter().map(|_| Err(none)).collect();
        let request = form::request(subject, slots, model.is_local());
        let asking = tokio::time::timeout(within, reins_models::reply(model, request));
        let reply = tokio::select! {
            biased;
            () = cancel.cancelled() => return all(NoAnswer::Cancelled),
            reply = asking => reply,
        };
        let reply = match reply {
            Err(_) => return all(NoAnswer::Late),
            Ok(Err(error)) => {
                failed(&error);
                return all(NoAnswer::Failed);
            }
            Ok(Ok(reply)) => reply,
        };
        self.count(model, reply.usage.unwrap_or_default());
        let judge = |(at, slot): (usize, &&Slot)| {
            let said = read::answer(&reply, at, slots.len(), slot.question)?;
            judge(said, source, subject, slot)
        };
        slots.iter().enumerate().map(judge).collect()
    }

    fn count(&self, model: &dyn Model, usage: Usage) {
        let mut spent = lock(&self.spent);
        spent.requests += 1;
        spent.usage += usage;
        spent.cost = match (spent.cost, model.cost(&usage)) {
            (Some(mut all), Some(cost)) => {
                all += cost;
                Some(all)
            }
            _ => None,
        };
    }
}

/// A typed answer.
pub(crate) fn typed<Q: Closed>(answer: Answer) -> Result<Sure<Q>, NoAnswer> {
    let at = Q::QUESTION.choices.iter().position(|choice| *choice == *answer.choice);
    let value = at.and_then(|at| Q::ALL.get(at)).copied().ok_or(NoAnswer::NotOffered)?;
    Ok(Sure { value, quote: answer.quote, source: answer.source })
}

/// The first of each open question.
fn unanswered(answers: &[Result<Answer, NoAnswer>], keys: &[Key]) -> Vec<usize> {
    let open = (0..answers.len()).filter(|at| answers[*at].is_err());
    open.filter(|at| !keys[..*at].contains(&keys[*at])).collect()
}

/// Whether what a model said counts (W-481, W-482).
fn judge(
    said: read::Said,
    source: Source,
    subject: &Subject,
    slot: &Slot,
) -> Result<Answer, NoAnswer> {
    let choice = said.choice;
    let needed = if choice.permits { PERMIT_CONFIDENCE } else { PLAIN_CONFIDENCE };
    if said.confidence < needed {
        return Err(NoAnswer::Unsure);
    }
    if choice.permits {
        if subject.partial {
            return Err(NoAnswer::Partial);
        }
        let texts: Vec<&str> = match slot.question.quote {
            Quote::None => Vec::new(),
            Quote::Words => subject.words.iter().map(|(_, text)| text.as_str()).collect(),
            Quote::Seen => {
                let seen = subject.seen.iter().map(|(_, text)| text.as_str());
                seen.chain(slot.item.as_deref()).collect()
            }
        };
        let quote = said.quote.as_deref().unwrap_or_default();
        let quoted = texts.iter().any(|text| is_quoted(quote, text));
        if slot.question.quote != Quote::None && !quoted {
            return Err(NoAnswer::NotQuoted);
        }
    }
    Ok(Answer { choice, quote: said.quote, confidence: said.confidence, source })
}

fn failed(error: &ModelError) {
    tracing::warn!(code = error.code(), "a closed question was not answered");
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
