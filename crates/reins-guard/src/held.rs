//! What a step sends, asked before it goes out: one card for each distinct request.

use crate::assess::RiskKind;
use crate::card::{Answer, Card, CardKind, not_allowed, stopped};
use crate::facts::{Facts, Moment};
use crate::plain::{clip_middle, plain_text};
use crate::reason::{known, shown_address};
use crate::refuse::RefusalCode;
use reins_core::{HeldId, HeldKind, HeldRequest, Origin, Refusal};

/// Names of fields on a card. More only hide the address.
const FIELDS: usize = 12;

/// Bytes of one name on a card.
const FIELD_BYTES: usize = 40;

/// Bytes of a method that is none of the usual ones.
const METHOD_BYTES: usize = 20;

/// Requests that wait for the person, and would be told in the same words.
#[derive(Debug)]
#[must_use = "the requests wait for an answer"]
pub struct PendingSending {
    ids: Vec<HeldId>,
    card: Card,
    moment: Moment,
}

/// Requests that the person agreed to. Made here only, and used once.
///
/// ```compile_fail,E0451
/// fn forge(agreed: reins_guard::AgreedSending, ids: Vec<reins_core::HeldId>) {
///     let forged = reins_guard::AgreedSending { ids, ..agreed };
/// }
/// ```
#[derive(Debug, PartialEq, Eq)]
#[must_use = "the requests go on only when the browser is told"]
pub struct AgreedSending {
    ids: Vec<HeldId>,
}

impl AgreedSending {
    /// Exactly the requests that may go on.
    pub fn ids(&self) -> &[HeldId] {
        &self.ids
    }
}

impl PendingSending {
    /// One question for each distinct request, or the refusal where a rule says never (R-159).
    pub fn each(
        held: &[HeldRequest],
        facts: &Facts<'_>,
    ) -> Vec<(HeldRequest, Result<Self, Refusal>)> {
        let mut questions: Vec<(HeldRequest, Vec<HeldId>)> = Vec::new();
        for request in held {
            match questions.iter_mut().find(|(first, _)| first.looks_like(request)) {
                Some((_, ids)) => ids.push(request.id),
                None => questions.push((request.clone(), vec![request.id])),
            }
        }
        questions
            .into_iter()
            .map(|(request, ids)| {
                let pending = Self::new(&request, ids, facts);
                (request, pending)
            })
            .collect()
    }

    fn new(request: &HeldRequest, ids: Vec<HeldId>, facts: &Facts<'_>) -> Result<Self, Refusal> {
        let to = Origin::parse(&request.url).ok();
        if to.as_ref().is_some_and(|to| facts.rules.never(to).is_some()) {
            return Err(RefusalCode::NeverRule.refusal(
                "a site rule says never for where this goes",
                "Carry on without it. The person can change the rule with reins rules.",
            ));
        }
        let card = card(request, to.as_ref(), ids.len(), facts);
        Ok(Self { ids, card, moment: facts.moment })
    }

    /// What the person sees.
    pub fn card(&self) -> &Card {
        &self.card
    }

    /// Turns the answer into leave for exactly these requests. `now` is the moment in which the answer
    /// came: a stop or another step makes it void (R-173).
    pub fn answer(self, answer: Answer, now: Moment) -> Result<AgreedSending, Refusal> {
        match answer {
            Answer::Allow if self.moment == now => Ok(AgreedSending { ids: self.ids }),
            Answer::Allow => Err(RefusalCode::ApprovalExpired.refusal(
                "the approval ended with its step: the turn was stopped, paused or went on",
                "Ask for the step again if it is still wanted.",
            )),
            Answer::AllowAlways | Answer::Refuse => Err(not_allowed()),
            Answer::Stop => Err(stopped()),
        }
    }
}

fn card(request: &HeldRequest, to: Option<&Origin>, count: usize, facts: &Facts<'_>) -> Card {
    let known = known(facts);
    let host = to.map_or_else(|| "an unreadable address".to_owned(), |to| known.shown(to));
    let title = match request.kind {
        HeldKind::Form => format!("Let the page send a form to {host}?"),
        HeldKind::Frame => format!("Let a frame in the page open {host}?"),
        HeldKind::Script => format!("Let the page send data to {host}?"),
        HeldKind::Beacon => format!("Let the page send a message in the background to {host}?"),
    };
    let method = clip_middle(&plain_text(&request.method), METHOD_BYTES);
    let mut detail = vec![format!("It is {method} {}.", shown_address(&request.url))];
    detail.extend(fields(&request.fields));
    if count > 1 {
        detail.push(format!("It is sent {count} times."));
    }
    if request.kind == HeldKind::Frame {
        detail.push("That site is new to it, and the page can have told it things.".to_owned());
    }
    let page = request.page.named_as();
    if let (Some(page), Some(to)) = (page, to)
        && page != to
    {
        detail.push(format!("The page is one of {}.", known.shown(page)));
    }
    Card {
        kind: CardKind::Confirm,
        title,
        detail: detail.join(" "),
        risk: RiskKind::Send,
        sites: to.iter().map(|to| known.shown(to)).collect(),
        always_offer: None,
        note: None,
    }
}

/// The names of what is sent, in quotes: they are the page's words.
fn fields(names: &[String]) -> Option<String> {
    let plain = names.iter().take(FIELDS).map(|name| {
        // A name cannot close its quotes.
        let name = plain_text(name).replace(['“', '”', '"'], "'");
        format!("“{}”", clip_middle(&name, FIELD_BYTES))
    });
    let shown: Vec<String> = plain.collect();
    let more = names.len().saturating_sub(FIELDS);
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    (!shown.is_empty()).then(|| format!("It carries {}{rest}.", shown.join(", ")))
}
