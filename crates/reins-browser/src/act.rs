//! Acts: an approved action is dispatched once, watched, and told as what it was.

mod beside;
mod dialog;
mod drag;
mod fields;
mod files;
mod held;
mod input;
mod keys;
mod navigate;
mod pointer;
mod refusals;
mod scroll;
mod settle;
mod step;
mod tabs;
mod text;
mod through;
mod widen;

pub(crate) use navigate::entry;
pub(crate) use through::in_tab as point_in_tab;

use crate::browser::Browser;
use crate::containment::Destinations;
use crate::effects::{Acted, Effects};
use crate::error::BrowserError;
use crate::fence::Hold;
use crate::tab::Tab;
use futures_util::future::join;
use refusals::{cannot, stopped_before, unknown};
use reins_core::limits::CALL_DEADLINE;
use reins_core::{Action, DocumentId, Gesture, Outcome, UnknownCause};
use reins_guard::{ApprovedAction, Sending};
use std::sync::Arc;
use step::Step;
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;

/// How the turn of an act ends.
#[derive(Clone, Debug)]
pub struct TurnEnds {
    /// It is over, whatever ended it: nobody can be asked any more.
    pub ended: CancellationToken,
    /// The person said stop: the pages that it touched send nothing any more that can change something, until the
    /// person acts there.
    pub stopped: CancellationToken,
}

impl Browser {
    /// Dispatches an approved action, waits until the page has settled, and says how it
    /// ended. The approval is used up, whatever comes of it. `cancel` ends the wait at
    /// once: before anything was sent the act is refused, afterwards it is unknown.
    pub async fn act(&self, approved: ApprovedAction, cancel: CancellationToken) -> Acted {
        let ends = TurnEnds { ended: cancel.clone(), stopped: CancellationToken::new() };
        self.act_in_turn(approved, cancel, ends).await
    }

    /// As [`Self::act`]. What the page sends when the act is long over still waits for the person, until
    /// the turn ends.
    pub async fn act_in_turn(
        &self,
        approved: ApprovedAction,
        cancel: CancellationToken,
        turn: TurnEnds,
    ) -> Acted {
        let action = approved.action();
        let deadline = Instant::now() + CALL_DEADLINE;
        match action {
            Action::OpenTab { url } => {
                let hold = Hold::new(approved.obligations().clone(), true, false);
                tabs::open(self, url.as_deref(), hold, deadline, cancel).await
            }
            Action::SwitchTab { tab } => match self.inner.tab(tab) {
                // The session's own notion; no window is raised and no tab brought to the front.
                Ok(_) => ended(Outcome::Completed),
                Err(error) => ended(cannot(&error)),
            },
            _ => self.act_in_tab(&approved, deadline, cancel, turn).await,
        }
    }

    async fn act_in_tab(
        &self,
        approved: &ApprovedAction,
        deadline: Instant,
        cancel: CancellationToken,
        turn: TurnEnds,
    ) -> Acted {
        let action = approved.action();
        let tab = match action.tab().map(|tab| self.inner.tab(tab)) {
            Some(Ok(tab)) => tab,
            Some(Err(error)) => return ended(cannot(&error)),
            None => return ended(Outcome::Completed),
        };
        // An act that waits for its page must not keep a dialog from being answered.
        let alone = !matches!(action, Action::AnswerDialog { .. } | Action::CloseTab { .. });
        let _turn = if alone {
            match timeout_at(deadline, tab.acting.clone().acquire_owned()).await {
                Ok(Ok(permit)) => Some(permit),
                Ok(Err(_)) | Err(_) => return ended(refusals::tab_in_use()),
            }
        } else {
            None
        };
        if let Err(error) = tab.armed(deadline).await {
            return ended(cannot(&error));
        }
        if let Some(error) = obstacle(&tab, action) {
            return ended(cannot(&error));
        }
        if cancel.is_cancelled() {
            return ended(stopped_before());
        }
        let holds = approved.obligations().sending == Sending::Held;
        // Documents of one tab can act for each other.
        let touched = if holds { every_document(&tab) } else { touched(&tab, action) };
        let reaches = tab.containment.destinations == Destinations::Known;
        let hold = Hold::new(approved.obligations().clone(), touched.is_empty(), reaches);
        let hold = hold.through_history(matches!(action, Action::History { .. }));
        let hold = hold.until(turn);
        let wide = if (reaches || holds) && !hold.pinned() { touched.clone() } else { Vec::new() };
        let _live = Live::begin(&tab, hold.clone(), touched);
        let near = tab.state().stand_near(&hold, &wide);
        let all = [wide.as_slice(), near.as_slice()].concat();
        join(widen::widen(&tab, &all), beside::hold(self, &tab, &hold, &wide)).await;
        let mut step = Step::new(self, tab, deadline, cancel);
        let outcome = dispatch(&mut step, action).await;
        let outcome = seen_through(&step, action, outcome);
        step.finish(outcome)
    }
}

/// What a page had and what came of it are two things: where the browser or the page went away in
/// between, nobody saw the end.
fn seen_through(step: &Step<'_>, action: &Action, outcome: Outcome) -> Outcome {
    if !matches!(outcome, Outcome::Completed) || matches!(action, Action::CloseTab { .. }) {
        return outcome;
    }
    if step.tab.connection.is_closed() {
        return unknown(
            UnknownCause::ConnectionLost,
            "the browser went away before it was seen what came of it",
        );
    }
    if step.tab.state().crashed {
        return unknown(
            UnknownCause::RendererCrashed,
            "the page crashed before it was seen what came of it",
        );
    }
    outcome
}

/// An action that is live in a tab, until this is dropped.
pub(crate) struct Live {
    tab: Arc<Tab>,
    hold: Hold,
}

impl Live {
    pub(crate) fn begin(tab: &Arc<Tab>, hold: Hold, touched: Vec<DocumentId>) -> Self {
        tab.state().begin_action(&hold, touched);
        Self { tab: tab.clone(), hold }
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        self.tab.state().end_action(&self.hold);
    }
}

/// The documents that an action's input reaches.
fn touched(tab: &Tab, action: &Action) -> Vec<DocumentId> {
    let to = match action {
        Action::Drag { to, .. } => Some(&to.node.document),
        _ => None,
    };
    let target = action.target().map(|target| &target.node.document);
    match (target, action) {
        (Some(target), _) => [Some(target), to].into_iter().flatten().cloned().collect(),
        // Which frame has the focus only the browser knows.
        (None, Action::Press { .. } | Action::Scroll { .. } | Action::AnswerDialog { .. }) => {
            every_document(tab)
        }
        (None, _) => Vec::new(),
    }
}

fn every_document(tab: &Tab) -> Vec<DocumentId> {
    tab.state().frames.values().filter_map(|frame| frame.document.clone()).collect()
}

async fn dispatch(step: &mut Step<'_>, action: &Action) -> Outcome {
    match action {
        Action::Navigate { url, .. } => navigate::to(step, url).await,
        Action::History { step: way, .. } => navigate::history(step, *way).await,
        Action::Reload { .. } => navigate::reload(step).await,
        Action::CloseTab { .. } => tabs::close(step).await,
        Action::Pointer { target, gesture: Gesture::Hover } => pointer::hover(step, target).await,
        Action::Pointer { target, gesture: Gesture::Click { button, count, modifiers } } => {
            pointer::click(step, target, *button, *count, *modifiers).await
        }
        Action::Drag { from, to } => drag::drag(step, from, to).await,
        Action::Type { target, text, mode, keys, enter, .. } => {
            text::write(step, target, text, *mode, *keys, *enter).await
        }
        Action::Select { target, options } => fields::select(step, target, options).await,
        Action::Check { target, checked } => fields::check(step, target, *checked).await,
        Action::Press { target, chord, .. } => keys::chord(step, target.as_ref(), chord).await,
        Action::Scroll { target, by, .. } => scroll::scroll(step, target.as_ref(), *by).await,
        Action::Upload { target, files } => files::upload(step, target, files).await,
        Action::AnswerDialog { accept, text, .. } => {
            dialog::answer(step, *accept, text.as_ref()).await
        }
        // Handled before a tab is looked up.
        Action::OpenTab { .. } | Action::SwitchTab { .. } => Outcome::Completed,
    }
}

/// Why this action cannot be done in the tab's present state.
fn obstacle(tab: &Arc<Tab>, action: &Action) -> Option<BrowserError> {
    match tab.obstacle()? {
        // Loading another document is what brings a crashed tab back.
        BrowserError::Crashed
            if matches!(
                action,
                Action::Navigate { .. }
                    | Action::Reload { .. }
                    | Action::History { .. }
                    | Action::CloseTab { .. }
            ) =>
        {
            None
        }
        BrowserError::DialogOpen { .. }
            if matches!(action, Action::AnswerDialog { .. } | Action::CloseTab { .. }) =>
        {
            None
        }
        other => Some(other),
    }
}

fn ended(outcome: Outcome) -> Acted {
    Acted { outcome, effects: Effects { settled: true, ..Effects::default() } }
}
