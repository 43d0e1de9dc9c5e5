//! Opening and closing tabs. No window is raised and no tab brought to the front.

use super::navigate;
use super::refusals::{cannot, lost, stopped_before, unknown};
use super::step::Step;
use super::{Live, ended, refusals};
use crate::browser::Browser;
use crate::effects::{Acted, Effects};
use crate::fence::Hold;
use crate::held;
use crate::protocol::target::CloseTarget;
use futures_util::future::join_all;
use reins_core::{Outcome, UnknownCause};
use std::time::Duration;
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;

/// A tab that closes runs its page's last handlers; Chromium gives them about a second.
const CLOSING: Duration = Duration::from_secs(4);

/// Opens a tab in the background, with an address or empty.
pub(crate) async fn open(
    browser: &Browser,
    url: Option<&str>,
    hold: Hold,
    deadline: Instant,
    cancel: CancellationToken,
) -> Acted {
    if cancel.is_cancelled() {
        return ended(stopped_before());
    }
    let tab = match browser.inner.create_tab(deadline).await {
        Ok(tab) => tab,
        Err(error) => return ended(cannot(&error)),
    };
    let id = tab.id.clone();
    let Some(url) = url else {
        return Acted {
            outcome: Outcome::Completed,
            effects: Effects { opened_tab: Some(id), settled: true, ..Effects::default() },
        };
    };
    let Ok(_turn) = tab.acting.acquire().await else { return ended(refusals::tab_in_use()) };
    let _live = Live::begin(&tab, hold, Vec::new());
    let mut step = Step::new(browser, tab.clone(), deadline, cancel);
    step.opened_tab = Some(id);
    let outcome = navigate::to(&mut step, url).await;
    step.finish(outcome)
}

/// Closes the tab.
pub(crate) async fn close(step: &mut Step<'_>) -> Outcome {
    // Chromium lets go of requests that wait when their page closes.
    let failed = held::fail_all(&step.tab, "the tab was closed");
    drop(timeout(CLOSING, join_all(failed)).await);
    let close = CloseTarget { target_id: step.tab.id.as_str() };
    if let Err(error) = step.browser.inner.root.run(close, CLOSING).await {
        return lost(&error);
    }
    let until = Instant::now() + CLOSING;
    match step.tab.until(until, |state| state.closed.then_some(())).await {
        Some(()) => Outcome::Completed,
        None => unknown(UnknownCause::Deadline, "the tab has not closed yet"),
    }
}
