//! Waiting for something to come true, driven by what the page and the browser report.

use crate::browser::Browser;
use crate::error::BrowserError;
use crate::page_call::ask;
use crate::tab::Tab;
use crate::tab_info::DownloadState;
use crate::tab_state::RequestKind;
use futures_util::future::join_all;
use reins_core::TabId;
use serde::Serialize;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, sleep_until};

/// What to wait for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WaitFor {
    /// No navigation, no document or data request, a frame without anything new.
    Settled,
    /// A text is shown, in any frame.
    Text(String),
    /// A text is shown in no frame.
    TextGone(String),
    /// The main document's address contains this.
    Url(String),
    /// A download has ended, one way or the other.
    Download,
    /// Just that time passes.
    Time,
}

/// Frames are asked again after this long: new ones may have come.
const ROUND: Duration = Duration::from_millis(500);

/// A frame that does not answer within this is busy, and is asked again.
const BUSY: Duration = Duration::from_millis(1_000);

#[derive(Serialize)]
struct Text<'a> {
    text: &'a str,
    gone: bool,
    ms: u128,
}

impl Browser {
    /// Waits until it comes true. An open dialog ends the wait, since nothing moves behind it.
    ///
    /// # Errors
    /// [`BrowserError::NotSeen`] when it did not come true before the deadline; the tab or the
    /// browser is gone; a dialog is open.
    pub async fn wait(
        &self,
        tab: &TabId,
        what: &WaitFor,
        deadline: Duration,
    ) -> Result<(), BrowserError> {
        let tab = self.inner.tab(tab)?;
        let until = Instant::now() + deadline;
        let stopped = tab.until(until, |s| (s.dialog.is_some() || s.closed).then_some(()));
        let seen = async {
            match what {
                WaitFor::Time => {
                    sleep_until(until).await;
                    true
                }
                WaitFor::Settled => settled(&tab, until).await,
                WaitFor::Url(part) => tab
                    .until(until, |s| s.url().contains(part.as_str()).then_some(()))
                    .await
                    .is_some(),
                WaitFor::Download => {
                    let ended =
                        |state| matches!(state, DownloadState::Finished | DownloadState::Failed);
                    tab.until(until, |s| {
                        let last = s.downloads.last()?;
                        (ended(last.2.state) || last.2.state == DownloadState::Refused)
                            .then_some(())
                    })
                    .await
                    .is_some()
                }
                WaitFor::Text(text) => text_in(&tab, text, false, until).await,
                WaitFor::TextGone(text) => text_in(&tab, text, true, until).await,
            }
        };
        let seen = tokio::select! {
            biased;
            seen = seen => seen,
            Some(()) = stopped => false,
        };
        if seen {
            return Ok(());
        }
        Err(tab.obstacle().unwrap_or_else(|| BrowserError::NotSeen {
            what: what.words().to_owned(),
            after: deadline,
        }))
    }
}

impl WaitFor {
    fn words(&self) -> &'static str {
        match self {
            WaitFor::Settled => "the page to settle",
            WaitFor::Text(_) => "the text",
            WaitFor::TextGone(_) => "the text to go",
            WaitFor::Url(_) => "the address",
            WaitFor::Download => "a download to end",
            WaitFor::Time => "time to pass",
        }
    }
}

async fn settled(tab: &Arc<Tab>, until: Instant) -> bool {
    let kinds = [RequestKind::Document, RequestKind::Data];
    loop {
        let idle = tab.until(until, |s| {
            let moving = s.pending.is_some() || s.frames.values().any(|f| f.loading.is_some());
            (!moving && s.running(0, &kinds) == 0).then_some(s.main.clone())
        });
        let Some(main) = idle.await else { return false };
        if let Some((world, _)) = tab.world(&main)
            && let Ok(true) = ask(&world, "__reins.quiet(400)", true, BUSY).answer::<bool>().await
        {
            let state = tab.state();
            if state.pending.is_none() && state.running(0, &kinds) == 0 {
                return true;
            }
        }
        if Instant::now() >= until {
            return false;
        }
    }
}

/// Whether the text comes to be shown in some frame, or to be shown in none.
async fn text_in(tab: &Arc<Tab>, text: &str, gone: bool, until: Instant) -> bool {
    loop {
        let worlds: Vec<_> = tab.state().worlds.values().cloned().collect();
        let left = until.saturating_duration_since(Instant::now());
        let wanted = Text { text, gone, ms: ROUND.min(left).as_millis() };
        let call = crate::page_call::call("waitText", &wanted);
        let asked =
            worlds.iter().map(|world| ask(world, &call, true, ROUND + BUSY).answer::<bool>());
        // Owned values: a borrowing closure here would make the whole future unfit to be sent.
        let heard: Vec<bool> = join_all(asked).await.into_iter().filter_map(Result::ok).collect();
        let held = !heard.is_empty()
            && if gone { heard.iter().all(|seen| *seen) } else { heard.contains(&true) };
        if held {
            return true;
        }
        if Instant::now() >= until {
            return false;
        }
        if worlds.is_empty() {
            // Between two documents there is nobody to ask.
            tab.until(until, |s| (!s.worlds.is_empty()).then_some(())).await;
        }
    }
}
