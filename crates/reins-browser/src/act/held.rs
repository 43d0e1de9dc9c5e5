//! The person's answers to requests that wait: exactly those go on, once, or fail.

use super::ended;
use super::refusals::{cannot, lost, refused, stopped_before, tab_in_use};
use super::settle;
use super::step::{ASKING, Step};
use crate::browser::Browser;
use crate::effects::Acted;
use crate::held::{Waiting, fail, fail_all};
use crate::interception::narrow;
use crate::journal;
use crate::page_call::ask;
use crate::protocol::page::ContinueRequest;
use crate::tab::{ARMING, Tab};
use futures_util::future::join_all;
use reins_core::limits::CALL_DEADLINE;
use reins_core::{DocumentOrigin, HeldId, HeldRequest, Outcome, TabId};
use reins_guard::AgreedSending;
use std::sync::Arc;
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;

/// Whether a document has somebody else to send for it. In our world a page cannot bend this.
const HELPED: &str = "(async()=>{const s=navigator.serviceWorker;if(!s)return false;\
    return !!s.controller||(await s.getRegistrations()).length>0})()";

impl Browser {
    /// What the person answered to requests that wait in a tab: those they agreed to go on, those they
    /// refused fail, and what else waits goes on waiting. Each id is good for one answer. Then the page
    /// settles as after an act.
    pub async fn answer_held(
        &self,
        tab: &TabId,
        agreed: Vec<AgreedSending>,
        refusing: &[HeldId],
        cancel: CancellationToken,
    ) -> Acted {
        let deadline = Instant::now() + CALL_DEADLINE;
        let tab = match self.inner.tab(tab) {
            Ok(tab) => tab,
            Err(error) => return ended(cannot(&error)),
        };
        let _turn = match timeout_at(deadline, tab.acting.clone().acquire_owned()).await {
            Ok(Ok(permit)) => permit,
            Ok(Err(_)) | Err(_) => return ended(tab_in_use()),
        };
        if cancel.is_cancelled() {
            drop(fail_all(&tab, "it was stopped"));
            return ended(stopped_before());
        }
        let take = |ids: &[HeldId]| -> Vec<Waiting> {
            let mut state = tab.state();
            ids.iter().filter_map(|id| state.held.take(*id)).collect()
        };
        let mut step = Step::new(self, tab.clone(), deadline, cancel);
        let begun = step.since;
        let refused = take(refusing);
        for one in &refused {
            journal::not_sent(&tab, one, "not sent: the person said no");
        }
        let failing: Vec<_> = refused.iter().map(fail).collect();
        let wanted: Vec<HeldId> = agreed.iter().flat_map(|one| one.ids()).copied().collect();
        let going = take(&wanted);
        let outcome = if going.len() < wanted.len() { gone() } else { Outcome::Completed };
        let sent = go_on(&tab, &going);
        // They began before they were asked about.
        step.since = going.iter().map(|one| one.since.saturating_sub(1)).min().unwrap_or(begun);
        let outcome = join_all(sent).await.into_iter().fold(outcome, |outcome, one| match one {
            Ok(_) => outcome,
            Err(reins_cdp::CallError::Answered { .. }) => gone(),
            Err(error) => lost(&error),
        });
        drop(join_all(failing).await);
        settle::continued(&mut step).await;
        narrow(&tab);
        step.since = begun;
        step.finish(outcome)
    }

    /// What waits for the person in a tab. Asks nothing of the page.
    pub fn held(&self, tab: &TabId) -> Vec<HeldRequest> {
        self.inner.tab(tab).map(|tab| tab.state().held.list()).unwrap_or_default()
    }

    /// Fails everything that waits in a tab, without waiting for anything.
    pub fn refuse_held(&self, tab: &TabId) {
        if let Ok(tab) = self.inner.tab(tab) {
            drop(fail_all(&tab, "you were not asked"));
        }
    }

    /// The documents that a tab shows, if everything that they send can be held. `None` where one of them
    /// has a connection or a worker that cannot be, another tab can act for it, or that is not known.
    pub async fn holdable(&self, tab: &TabId) -> Option<Vec<DocumentOrigin>> {
        let tab = self.inner.tab(tab).ok()?;
        let (frames, origins) = {
            let state = tab.state();
            if state.held.channel || state.crashed || state.dialog.is_some() {
                return None;
            }
            let frames: Vec<_> = state.frames.keys().cloned().collect();
            let origins: Vec<_> = state.frames.values().map(|f| f.origin.clone()).collect();
            (frames, origins)
        };
        let mine = |url: &str| origins.contains(&crate::frame::document_origin(url));
        let helped = self
            .inner
            .workers()
            .values()
            .any(|worker| mine(&worker.url) || worker.url.starts_with("blob:"));
        let others = self.inner.all_tabs().into_iter().filter(|other| other.id != tab.id);
        let seconded = others.map(|other| other.info().url).any(|url| mine(&url));
        if helped || seconded || tab.has_related() {
            return None;
        }
        let asked = frames.iter().map(|frame| async {
            let (world, _) = tab.world(frame)?;
            ask(&world, HELPED, true, ASKING).answer::<bool>().await.ok()
        });
        let alone = join_all(asked).await.into_iter().all(|helped| helped == Some(false));
        alone.then_some(origins)
    }
}

fn go_on(
    tab: &Arc<Tab>,
    going: &[Waiting],
) -> Vec<reins_cdp::Pending<<ContinueRequest<'static> as reins_cdp::wire::Command>::Answer>> {
    let mut state = tab.state();
    for one in going {
        if let Some(document) = &one.leads_to {
            state.agreed(document);
        }
    }
    drop(state);
    let post = |one: &Waiting| {
        let go_on = ContinueRequest { request_id: &one.request, ..Default::default() };
        one.session.post(go_on, ARMING)
    };
    going.iter().map(post).collect()
}

fn gone() -> Outcome {
    refused(
        "request_gone",
        "the page gave the request up before it was answered, so it was not sent",
        "Do the step again if it is still wanted.",
    )
}
