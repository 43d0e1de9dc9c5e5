//! Acts that are not made because the person's own words are against them, or because they were made
//! already (W-129, W-147…W-149, W-483).
//!
//! Nothing here lets an act happen: what is not objected to is asked about by the guard as ever.

use crate::around::Around;
use crate::desk::Desk;
use crate::error::CallError;
use crate::limits::{READING, WORDS_BYTES};
use crate::questions::{
    ControlEffect, DeletionRequest, EarlierPost, NoAnswer, Questions, SendBan, Subject, Who, slot,
    typed,
};
use crate::submissions::Commitment;
use crate::text::plain_line;
use crate::toolbox::Toolbox;
use serde_json::Value;
use std::collections::HashSet;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

/// A dialog that comes later than this after a click is about something else (W-146).
const OPENED_WITHIN: Duration = Duration::from_secs(30);

/// The item of a question about a deletion.
const ITEM_BYTES: usize = 3_000;

/// A caption that is longer is no caption but a text.
const CAPTION_CHARS: usize = 120;

/// Roles whose captions say what they do. Fields and plain links are exempt (W-497).
const SPEAKING: &[&str] =
    &["button", "menuitem", "menuitemcheckbox", "menuitemradio", "tab", "switch", "clickable"];

/// What was deleted, sent and said in a task.
#[derive(Debug, Default)]
pub(crate) struct Deeds {
    /// Controls that deleted something, each with what it belonged to (W-149).
    deleted: HashSet<Step>,
    /// Where something may have been sent to since the task began.
    sent: HashSet<String>,
    /// Captions that nobody could read in time: they are not waited for again.
    unread: HashSet<String>,
    /// What the person said after something had been sent.
    since: Option<String>,
    /// Whether something was deleted since then.
    undone: bool,
    /// The last click, for what it opens.
    opener: Option<(Instant, Around)>,
}

/// One control of one record as it stood among its neighbours.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Step {
    caption: String,
    around: Around,
}

/// An act before it is made.
pub(crate) struct Intent<'a> {
    pub(crate) reference: Option<&'a str>,
    /// Role and name.
    pub(crate) element: Option<&'a str>,
    /// What it would send for good.
    pub(crate) commitment: Option<&'a Commitment>,
    /// Whether it is known to delete.
    pub(crate) deletes: bool,
}

impl Deeds {
    /// The person said something.
    pub(crate) fn heard(&mut self, words: &str) {
        if !self.sent.is_empty() {
            self.since = Some(words.to_owned());
            self.undone = false;
        }
    }

    /// An act worked or may have.
    pub(crate) fn did(
        &mut self,
        step: Option<Step>,
        sent: Option<Commitment>,
        around: Option<Around>,
    ) {
        self.sent.extend(sent.map(|commitment| commitment.target));
        if let Some(step) = step {
            self.deleted.insert(step);
            self.undone = true;
        }
        self.opener = around.map(|around| (Instant::now(), around));
    }

    /// A caption is not waited for again in this task.
    pub(crate) fn leave_unread(&mut self, caption: &str) {
        self.unread.insert(caption.to_owned());
    }

    /// What a control in a menu or dialog belongs to, too: whatever was clicked to open it.
    fn with_opener(&self, mut around: Around) -> Around {
        if let (true, Some((at, opener))) = (around.opened, &self.opener)
            && at.elapsed() < OPENED_WITHIN
        {
            around.record = format!("{} {}", opener.record, around.record).trim().to_owned();
            if around.neighbours.is_empty() {
                around.neighbours.clone_from(&opener.neighbours);
            }
        }
        around
    }
}

impl<T: Toolbox> Desk<T> {
    /// What a control does by its caption, in any language; `None` if it does not speak or nobody could
    /// say (W-140, W-497). Only the decision model is asked: a large one would cost a request for each
    /// click.
    pub(crate) async fn effect(
        &self,
        element: &str,
        cancel: &CancellationToken,
    ) -> Option<ControlEffect> {
        let questions = self.questions().filter(|questions| questions.has_decision_model())?;
        let (role, caption) = element.split_once(' ')?;
        let caption = caption.trim_matches('"');
        if !SPEAKING.contains(&role) || caption.is_empty() || caption.len() > CAPTION_CHARS {
            return None;
        }
        if self.with(|state| state.deeds.unread.contains(caption)) {
            return None;
        }
        let slot = slot::<ControlEffect>(Some(caption));
        let subject = Subject::new();
        let asked =
            questions.ask_all(&subject, &[slot], Who::Decision, Some(READING), cancel).await;
        match asked.into_iter().next()? {
            Ok(answer) => typed::<ControlEffect>(answer).ok().map(|sure| sure.value),
            Err(_) => {
                self.unread(caption);
                None
            }
        }
    }

    /// Why an act is not made, and the deletion that it is otherwise.
    pub(crate) async fn objection(
        &self,
        intent: &Intent<'_>,
        cancel: &CancellationToken,
    ) -> Result<Option<Step>, CallError> {
        let Some(questions) = self.questions() else {
            return Ok(None);
        };
        let effect = match intent.element {
            Some(element) if !intent.deletes => self.effect(element, cancel).await,
            _ => None,
        };
        if intent.deletes || effect == Some(ControlEffect::DeletesOne) {
            return self.deletion(intent, &questions, cancel).await.map(Some);
        }
        let sends = intent.commitment.is_some() || effect == Some(ControlEffect::Publishes);
        if sends {
            self.sending(intent, &questions, cancel).await?;
        }
        Ok(None)
    }

    /// A deletion that the words are against, or that was made already, is refused. Whether any other
    /// one is wanted, the guard's card asks (W-148).
    async fn deletion(
        &self,
        intent: &Intent<'_>,
        questions: &Questions,
        cancel: &CancellationToken,
    ) -> Result<Step, CallError> {
        let element = intent.element.unwrap_or_default();
        let (step, words) = self.with(|state| {
            let around = intent.reference.and_then(|it| state.shown.around(it)).unwrap_or_default();
            let around = state.deeds.with_opener(around);
            (Step { caption: element.to_owned(), around }, state.words.clone())
        });
        // Without a record nobody can say whether it is the same one.
        if !step.around.record.is_empty() && self.with(|state| state.deeds.deleted.contains(&step))
        {
            return Err(CallError::DeletedAlready);
        }
        let item = format!(
            "{element}\nIt belongs to: {}\nOthers of the kind: {}",
            step.around.record,
            step.around.neighbours.join("; ")
        );
        let subject = Subject::new().words("The person asked", &words, WORDS_BYTES).seen(
            "The item, as the page shows it",
            &item,
            ITEM_BYTES,
        );
        match questions.ask::<DeletionRequest>(&subject, None, Who::Anyone, cancel).await {
            Ok(sure) if sure.value == DeletionRequest::ToldNotTo => Err(CallError::ToldNotToDelete),
            _ => Ok(step),
        }
    }

    /// Something is to be sent: not if the words forbid it, and after a correction not to the same place
    /// before what was sent there earlier is gone, if that was meant.
    async fn sending(
        &self,
        intent: &Intent<'_>,
        questions: &Questions,
        cancel: &CancellationToken,
    ) -> Result<(), CallError> {
        let (words, since, undone) =
            self.with(|state| (state.words.clone(), state.deeds.since.clone(), state.deeds.undone));
        if let (Some(since), false) = (since, undone) {
            let subject = Subject::new().words("The correction", &since, WORDS_BYTES);
            match questions.ask::<EarlierPost>(&subject, None, Who::Anyone, cancel).await {
                Ok(sure) if sure.value == EarlierPost::Keep => {}
                // What cannot be asked at all is the person's own to see, on the card.
                Err(NoAnswer::Nobody | NoAnswer::Cancelled) => {}
                Ok(sure) if sure.value == EarlierPost::DeleteFirst => {
                    return Err(CallError::DeleteFirst);
                }
                Ok(_) | Err(_) => return Err(CallError::UnclearWhetherToDelete),
            }
        }
        let control = plain_line(intent.element.unwrap_or_default(), CAPTION_CHARS);
        let subject = Subject::new().words("The person asked", &words, WORDS_BYTES).said(
            "What is about to be pressed",
            &control,
            ITEM_BYTES,
        );
        match questions.ask::<SendBan>(&subject, None, Who::Decision, cancel).await {
            Ok(sure) if sure.value == SendBan::Forbidden => Err(CallError::ToldNotToSend),
            _ => Ok(()),
        }
    }
}

/// What an act names.
pub(crate) fn reference(arguments: &Value) -> Option<&str> {
    arguments.get("ref").and_then(Value::as_str)
}
