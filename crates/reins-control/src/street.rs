//! The middle of the street: guard, card, receipt, dispatch. Nothing else dispatches.

use crate::call::{Call, browser_error};
use crate::cards::{CardAnswer, Question};
use crate::error::ControlError;
use crate::reply::Reply;
use crate::report;
use reins_browser::{Acted, DialogKind, Effects};
use reins_core::{Action, DocumentOrigin, NodeKey, Outcome, Refusal, TabId, TargetRecord, TurnId};
use reins_guard::{
    Answer, ApprovedAction, Consent, CriticState, Decision, DialogFacts, Downloads, Facts, Holding,
    Moment, PendingCard, Published, SiteRules, TabFacts, TurnFacts, evaluate, still_allowed,
};
use reins_store::ReceiptDraft;
use std::time::SystemTime;

impl Call<'_> {
    /// Walks an action down the street and tells how it ended.
    pub(crate) async fn act(&mut self, action: Action) -> Result<Reply, ControlError> {
        let done = report::done(&action);
        let tab = action.tab().cloned();
        self.confide(&action).await;
        let approved = match self.approve(action).await? {
            Ok(approved) => approved,
            Err(refusal) => {
                let mut reply = refused(refusal);
                reply.approved = self.asked.then_some(false);
                return Ok(reply);
            }
        };
        let verdict = approved.basis().verdict();
        let mut acted = self.dispatch(approved).await?;
        if let Some(tab) = &tab {
            acted = self.answer_held(tab, acted).await?;
        }
        let mut reply = self.tell(&done, tab, acted).await?;
        reply.verdict = verdict;
        reply.approved = self.asked.then_some(!self.unsent);
        Ok(reply)
    }

    /// Guard and card. The inner error is a refusal: an ordinary answer.
    async fn approve(
        &mut self,
        action: Action,
    ) -> Result<Result<ApprovedAction, Refusal>, ControlError> {
        let known = self.known(&action).await;
        let subject = format!("{action:?}");
        let decision = self.with_facts(&known, |facts| evaluate(action, facts))?;
        let pending = match decision {
            Decision::Allow(approved) => return Ok(Ok(approved)),
            Decision::Block(refusal) => return Ok(Err(refusal)),
            Decision::Plan(pending) | Decision::Confirm(pending) => pending,
            Decision::Check(check) => {
                let verdict = self.verdict(&check).await;
                match check.decide(verdict) {
                    Ok(approved) => return self.still(approved).await,
                    Err(pending) => pending,
                }
            }
        };
        match self.ask(pending, subject).await? {
            Err(refusal) => Ok(Err(refusal)),
            Ok(consent) => {
                self.grant(&consent).await;
                // The person may have taken a while: blocks and the moment are checked again.
                let approved = match self.still(consent.approved).await? {
                    Ok(approved) => approved,
                    Err(refusal) => return Ok(Err(refusal)),
                };
                // And so is the page: what they agreed to must still be what is there.
                let fresh = self.read_again(approved.action()).await?;
                Ok(approved.confirm(&fresh).map(|()| approved))
            }
        }
    }

    /// What was allowed after a wait, if it still is: blocks and the moment are checked again.
    async fn still(
        &mut self,
        approved: ApprovedAction,
    ) -> Result<Result<ApprovedAction, Refusal>, ControlError> {
        let known = self.known(approved.action()).await;
        let allowed = self.with_facts(&known, |facts| still_allowed(&approved, facts))?;
        Ok(allowed.map(|()| approved))
    }

    async fn ask(
        &mut self,
        pending: PendingCard,
        subject: String,
    ) -> Result<Result<Consent, Refusal>, ControlError> {
        let question = Question { card: pending.card().clone(), subject };
        let answer = tokio::select! {
            answer = self.cards.ask(&question) => answer,
            () = self.stop.cancelled() => return Err(ControlError::Stopped),
            () = self.cancel.cancelled() => return Err(ControlError::Cancelled),
        };
        self.asked = true;
        Ok(match answer {
            CardAnswer::Allow => pending.answer(Answer::Allow),
            CardAnswer::Always => pending.answer(Answer::AllowAlways),
            CardAnswer::Deny => pending.answer(Answer::Refuse),
            CardAnswer::Stop => {
                self.stop_turn();
                pending.answer(Answer::Stop)
            }
            CardAnswer::Later => Err(Refusal::new(
                "awaiting_answer",
                "the person has to be asked first; nothing was done",
                "Call the tool again with their answer.",
            )),
            CardAnswer::NoOne(how) => Err(Refusal::new(
                "needs_confirmation",
                format!("this step needs the person's yes: {}", one_line(&question)),
                format!("Nobody could be asked: {how}."),
            )),
        })
    }

    /// The elements of an action as they are now, in the action's own order.
    async fn read_again(&self, action: &Action) -> Result<Vec<TargetRecord>, ControlError> {
        let mut keys: Vec<&NodeKey> =
            action.target().map(|target| &target.node).into_iter().collect();
        if let Action::Drag { to, .. } = action {
            keys.push(&to.node);
        }
        let browser = self.browser().await?;
        let mut fresh = Vec::new();
        for key in keys {
            fresh.push(browser.record(key).await.map_err(|error| browser_error(&error))?);
        }
        Ok(fresh)
    }

    /// Keeps what an answer gave beyond the step.
    async fn grant(&self, consent: &Consent) {
        {
            let mut state = self.session.state();
            state.asked.extend(consent.grants.asked.iter().cloned());
            if let Some(turn) = state.turn.as_mut() {
                turn.facts.grant(&consent.grants);
            }
        }
        if let Some((origin, rule)) = &consent.grants.rule {
            self.control.inner.set_rule(origin.clone(), *rule).await;
        }
    }

    /// Receipt first, then the browser.
    async fn dispatch(&mut self, approved: ApprovedAction) -> Result<Acted, ControlError> {
        let receipt = if approved.needs_receipt() {
            let turn = self.session.state().turn.as_ref().map_or(TurnId(0), |turn| turn.id);
            let session = self.session.id.clone();
            let now = SystemTime::now();
            let draft = ReceiptDraft::new(session, turn, self.step, approved.action(), now);
            let begun = self.control.inner.store.begin(draft).await;
            Some(begun.map_err(|error| ControlError::Record(error.to_string()))?)
        } else {
            None
        };
        if self.stop.is_cancelled() {
            if let Some(receipt) = receipt {
                receipt.finish(&Outcome::Refused(stopped()));
            }
            return Err(ControlError::Stopped);
        }
        let browser = self.browser().await?;
        let acted = browser.act_in_turn(approved, self.both_cancels(), self.ends()).await;
        if let Some(receipt) = receipt {
            receipt.finish(&acted.outcome);
        }
        Ok(acted)
    }

    /// What is known of the tab and target, read before the short synchronous decision.
    async fn known(&mut self, action: &Action) -> Known {
        let info = match action.tab() {
            Some(tab) => self.tab_info(tab).await,
            None => None,
        };
        let opened = action.tab().is_none_or(|tab| self.session.state().opened.contains(tab));
        let tab = match &info {
            None => TabFacts::none(),
            Some(info) => TabFacts {
                origin: self.document_origin(action, &info.url),
                opened_by_agent: opened,
                handed_over: !opened,
                dialog: info.dialog.as_ref().map(|dialog| DialogFacts {
                    kind: match dialog.kind {
                        DialogKind::Alert => reins_guard::DialogKind::Alert,
                        DialogKind::Confirm => reins_guard::DialogKind::Confirm,
                        DialogKind::Prompt => reins_guard::DialogKind::Prompt,
                        DialogKind::BeforeUnload => reins_guard::DialogKind::BeforeUnload,
                    },
                    message: dialog.message.clone(),
                }),
                reload_resubmits: info.reload_resubmits,
            },
        };
        Known { tab, urls: urls(action), holding: self.holding(action).await }
    }

    fn document_origin(&self, action: &Action, url: &str) -> DocumentOrigin {
        action.target().map_or_else(|| reins_browser::document_origin(url), |t| t.top.clone())
    }

    /// Builds the facts and decides, without awaiting in between.
    pub(crate) fn with_facts<T>(
        &self,
        known: &Known,
        decide: impl FnOnce(&Facts<'_>) -> T,
    ) -> Result<T, ControlError> {
        let inner = &self.control.inner;
        let rules: SiteRules = inner.rules();
        let state = self.session.state();
        let turn = state.turn.as_ref().ok_or(ControlError::NoTurn)?;
        let mut facts: TurnFacts = turn.facts.clone();
        facts.asked.extend(state.asked.iter().cloned());
        // Only the addresses in question: a page of links must not be copied for every step.
        let published = state.refs.published_links();
        facts.seen_links.extend(known.urls.iter().filter(|url| published.contains(*url)).cloned());
        let published = self.target_ref.and_then(|r| state.refs.lookup(r));
        Ok(decide(&Facts {
            policy: &inner.policy,
            level: turn.level,
            rules: &rules,
            turn: &facts,
            tab: known.tab.clone(),
            published: published.map(|element| Published {
                link: element.link.as_deref(),
                submission: element.submission.as_ref(),
            }),
            downloads: match inner.options.downloads {
                Some(_) => Downloads::Allowed,
                None => Downloads::Refused,
            },
            user_message_visible: turn.user_message,
            critic: match inner.options.critic {
                Some(_) => CriticState::Available,
                None => CriticState::Missing,
            },
            holding: known.holding.clone(),
            moment: Moment { turn: turn.id, step: self.step, stops: state.stops },
        }))
    }

    /// The answer of an act: outcome, what else was seen, and what changed on the page.
    async fn tell(
        &mut self,
        done: &str,
        tab: Option<TabId>,
        acted: Acted,
    ) -> Result<Reply, ControlError> {
        let tab = acted.effects.opened_tab.clone().or(tab);
        self.keep_tabs(&acted.effects, tab.as_ref());
        let mut reply = Reply::text(report::headline(done, &acted.outcome))
            .with("outcome", acted.outcome.word());
        match &acted.outcome {
            Outcome::Refused(refusal) => reply = reply.with("code", refusal.code),
            Outcome::Unknown(unknown) => reply = reply.with("code", unknown.cause.code()),
            Outcome::Completed => {}
        }
        let covering = acted.effects.covering.as_ref();
        if let Some(r) = covering.and_then(|key| self.session.state().refs.ref_of(key)) {
            reply.text.push_str(&format!("\nWhat covers it is {r}."));
        }
        let seen = report::effects(&acted.effects);
        if !seen.is_empty() {
            reply.text.push('\n');
            reply.text.push_str(seen.trim_end());
        }
        let readable = acted.outcome == Outcome::Completed
            && acted.effects.dialog.is_none()
            && !acted.effects.tab_closed;
        if readable && let Some(tab) = &tab {
            self.show_change(&mut reply, tab, &acted.effects).await;
        }
        reply.outcome = Some(acted.outcome);
        Ok(reply)
    }

    /// Takes new tabs into the session and forgets closed ones.
    fn keep_tabs(&self, effects: &Effects, tab: Option<&TabId>) {
        let mut state = self.session.state();
        for opened in &effects.opened {
            // What an act of the agent opened is the agent's to close.
            state.adopt(&opened.id, true);
        }
        if let Some(new) = &effects.opened_tab {
            state.adopt(new, true);
            state.current = Some(new.clone());
        }
        if effects.tab_closed
            && let Some(tab) = tab
        {
            state.forget(tab);
        }
    }
}

/// What was read for one decision.
pub(crate) struct Known {
    pub(crate) tab: TabFacts,
    /// The addresses that the act could lead to.
    pub(crate) urls: Vec<String>,
    /// Whether what the act starts can be held.
    pub(crate) holding: Holding,
}

/// The addresses that an act names or that its target leads to.
fn urls(action: &Action) -> Vec<String> {
    let named = match action {
        Action::Navigate { url, .. } | Action::OpenTab { url: Some(url) } => Some(url.clone()),
        Action::History { destination, .. } => destination.clone(),
        _ => None,
    };
    let link = action.target().and_then(|target| target.link.as_ref()).map(|link| link.url.clone());
    named.into_iter().chain(link).collect()
}

/// The answer for an act that the guard or the person refused.
fn refused(refusal: Refusal) -> Reply {
    let outcome = Outcome::Refused(refusal);
    let mut reply = Reply::text(report::headline("", &outcome)).with("outcome", outcome.word());
    if let Outcome::Refused(refusal) = &outcome {
        reply = reply.with("code", refusal.code);
    }
    reply.outcome = Some(outcome);
    reply
}

fn stopped() -> Refusal {
    Refusal::new("stopped", "the person stopped the turn", "Do nothing more until they ask.")
}

fn one_line(question: &Question) -> String {
    question.plain_text().replace('\n', " ")
}
