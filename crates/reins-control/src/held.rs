//! What a step's page sends is asked before it goes out: card, receipt, then exactly that.

use crate::call::Call;
use crate::cards::{CardAnswer, Question};
use crate::error::ControlError;
use crate::street::Known;
use reins_browser::{Acted, Browser, Effects};
use reins_core::{Action, Gesture, HeldId, HeldRequest, Refusal, TabId, TargetRecord, TurnId};
use reins_guard::{
    AgreedSending, Answer, Holding, Level, PendingSending, Policy, TabFacts, clip_middle,
    plain_text,
};
use reins_store::{OpenReceipt, ReceiptDraft};
use std::time::SystemTime;

/// What one answer leads to may ask again; a page that goes on and on is refused after this many rounds.
const ROUNDS: usize = 4;

/// Bytes of an address in an answer.
const ADDRESS_BYTES: usize = 160;

/// Fails what waits in a tab if the call ends before it was answered, however it ends.
struct Failing {
    browser: Browser,
    tab: TabId,
}

impl Drop for Failing {
    fn drop(&mut self) {
        self.browser.refuse_held(&self.tab);
    }
}

impl Call<'_> {
    /// Whether what an action starts can be held, asked of the browser where it makes a difference.
    pub(crate) async fn holding(&self, action: &Action) -> Holding {
        let inner = &self.control.inner;
        let level = self.session.state().turn.as_ref().map(|turn| turn.level);
        let matters = level == Some(Level::Auto)
            && inner.policy == Policy::Guarded
            && !inner.options.strict_clicks
            && can_be_unclassified(action);
        let Some(tab) = action.tab().filter(|_| matters) else { return Holding::Never };
        let Ok(browser) = self.browser().await else { return Holding::Never };
        browser.holdable(tab).await.map_or(Holding::Never, Holding::Over)
    }

    /// Asks about what was held since the last step, and says what came of it.
    pub(crate) async fn answer_late(&mut self) -> Result<Vec<String>, ControlError> {
        let Ok(tab) = self.tab() else { return Ok(Vec::new()) };
        let held = self.browser().await?.held(&tab);
        if held.is_empty() {
            return Ok(Vec::new());
        }
        let effects = Effects { held, settled: true, ..Effects::default() };
        let acted = Acted { outcome: reins_core::Outcome::Completed, effects };
        Ok(self.answer_held(&tab, acted).await?.effects.notes)
    }

    /// Asks about each distinct request that an act left waiting; those that the person agrees to go on.
    pub(crate) async fn answer_held(
        &mut self,
        tab: &TabId,
        mut acted: Acted,
    ) -> Result<Acted, ControlError> {
        if acted.effects.held.is_empty() {
            return Ok(acted);
        }
        let browser = self.browser().await?;
        let _failing = Failing { browser: browser.clone(), tab: tab.clone() };
        for _ in 0..ROUNDS {
            let held = std::mem::take(&mut acted.effects.held);
            if held.is_empty() {
                break;
            }
            let known = self.known_at(tab).await;
            let questions = self.with_facts(&known, |facts| PendingSending::each(&held, facts))?;
            let mut agreed = Vec::new();
            let mut lines = Vec::new();
            for (request, pending) in questions {
                let answer = match pending {
                    Ok(pending) => self.ask_sending(&known, &request, pending).await?,
                    Err(refusal) => Err(refusal),
                };
                match answer {
                    Ok(one) => agreed.push((request, one)),
                    Err(why) => {
                        self.unsent = true;
                        lines.push(format!("not sent: {}: {}", words(&request), why.message));
                    }
                }
            }
            let going: Vec<HeldId> =
                agreed.iter().flat_map(|(_, one)| one.ids()).copied().collect();
            let refusing: Vec<HeldId> =
                held.iter().map(|one| one.id).filter(|id| !going.contains(id)).collect();
            // Receipts first: from here on something outside may change.
            let mut receipts = Vec::new();
            let mut leave = Vec::new();
            for (request, one) in agreed {
                receipts.push((words(&request), self.receipt(tab, &request).await?));
                leave.push(one);
            }
            let then = browser.answer_held(tab, leave, &refusing, self.both_cancels()).await;
            for (words, receipt) in receipts {
                receipt.finish(&then.outcome);
                lines.push(format!("{}: {words}", word(&then)));
            }
            acted.effects = joined(acted.effects, then.effects);
            acted.effects.notes.extend(lines);
        }
        if !acted.effects.held.is_empty() {
            self.unsent = true;
            for request in std::mem::take(&mut acted.effects.held) {
                let line = format!("not sent: {}: the page sends on and on", words(&request));
                acted.effects.notes.push(line);
            }
        }
        Ok(acted)
    }

    /// One card. The inner error says why it is not sent.
    async fn ask_sending(
        &mut self,
        known: &Known,
        request: &HeldRequest,
        pending: PendingSending,
    ) -> Result<Result<AgreedSending, Refusal>, ControlError> {
        let HeldRequest { method, url, kind, fields, .. } = request;
        let subject = format!("{kind:?} {method} {url} {fields:?}");
        let question = Question { card: pending.card().clone(), subject };
        let answer = tokio::select! {
            biased;
            () = self.stop.cancelled() => return Ok(Err(unasked("the turn was stopped"))),
            () = self.cancel.cancelled() => return Ok(Err(unasked("the call was cancelled"))),
            answer = self.cards.ask(&question) => answer,
        };
        self.asked = true;
        let answer = match answer {
            CardAnswer::Allow => Answer::Allow,
            CardAnswer::Always | CardAnswer::Deny => Answer::Refuse,
            CardAnswer::Stop => {
                self.stop_turn();
                Answer::Stop
            }
            CardAnswer::Later => {
                return Ok(Err(unasked(
                    "the person has to be asked first; do the step again with their answer",
                )));
            }
            CardAnswer::NoOne(how) => {
                return Ok(Err(unasked(&format!("nobody could be asked: {how}"))));
            }
        };
        let now = self.with_facts(known, |facts| facts.moment)?;
        Ok(pending.answer(answer, now))
    }

    async fn receipt(
        &self,
        tab: &TabId,
        request: &HeldRequest,
    ) -> Result<OpenReceipt, ControlError> {
        let turn = self.session.state().turn.as_ref().map_or(TurnId(0), |turn| turn.id);
        let session = self.session.id.clone();
        let draft =
            ReceiptDraft::sending(session, turn, self.step, tab, &request.url, SystemTime::now());
        let begun = self.control.inner.store.begin(draft).await;
        begun.map_err(|error| ControlError::Record(error.to_string()))
    }

    /// What is known for a question about a page's own requests.
    async fn known_at(&self, tab: &TabId) -> Known {
        let url = self.tab_info(tab).await.map(|info| info.url).unwrap_or_default();
        let tab = TabFacts::agents(reins_browser::document_origin(&url));
        Known { tab, urls: Vec::new(), holding: Holding::Never }
    }
}

/// Whether the guard may find nothing that tells what an action does. Links as they were shown and
/// submissions never are such.
fn can_be_unclassified(action: &Action) -> bool {
    let plain = |target: &TargetRecord| {
        target.submission.is_none()
            && (target.link.is_none() || target.role != "link" || void(target))
    };
    match action {
        Action::Pointer { target, gesture: Gesture::Click { .. } }
        | Action::Check { target, .. } => plain(target),
        Action::Press { .. } | Action::Drag { .. } => true,
        _ => false,
    }
}

fn void(target: &TargetRecord) -> bool {
    target.link.as_ref().is_some_and(|link| link.url.starts_with("javascript:"))
}

fn unasked(why: &str) -> Refusal {
    Refusal::new("not_sent", why, "Do the step again if it is still wanted.")
}

fn words(request: &HeldRequest) -> String {
    let text = plain_text(&format!("{} {}", request.method, request.url));
    clip_middle(&text, ADDRESS_BYTES)
}

/// How requests that the person agreed to ended.
fn word(acted: &Acted) -> String {
    match &acted.outcome {
        reins_core::Outcome::Completed => "sent, as the person agreed".to_owned(),
        reins_core::Outcome::Refused(refusal) => format!("not sent: {}", refusal.message),
        reins_core::Outcome::Unknown(unknown) => format!("may have been sent: {}", unknown.message),
    }
}

/// What was seen in two parts of one step.
fn joined(first: Effects, then: Effects) -> Effects {
    let list = |mut a: Vec<String>, b: Vec<String>| {
        a.extend(b);
        a
    };
    let mut opened = first.opened;
    opened.extend(then.opened);
    let mut downloads = first.downloads;
    downloads.extend(then.downloads);
    Effects {
        navigation: then.navigation.or(first.navigation),
        opened,
        opened_tab: first.opened_tab.or(then.opened_tab),
        tab_closed: first.tab_closed || then.tab_closed,
        dialog: then.dialog,
        downloads,
        covering: first.covering,
        refused: list(first.refused, then.refused),
        held: then.held,
        notes: list(first.notes, then.notes),
        changed: first.changed || then.changed,
        settled: then.settled,
    }
}
