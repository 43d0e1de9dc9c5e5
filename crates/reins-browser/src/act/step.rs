//! One act under way: where, since when, until when, and what was noticed.

use crate::browser::Browser;
use crate::effects::{Acted, Effects, Navigation};
use crate::frame::{Mark, World};
use crate::page_call::{AskError, ask, call};
use crate::report::Quiet;
use crate::tab::Tab;
use crate::tab_info::DownloadState;
use reins_core::{DocumentId, FrameId, NodeKey, NodeNumber, Outcome, TabId};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// A question to the page script before anything is dispatched. A page that takes longer is busy.
pub(crate) const ASKING: Duration = Duration::from_secs(3);

/// One act.
pub(crate) struct Step<'a> {
    pub(crate) browser: &'a Browser,
    pub(crate) tab: Arc<Tab>,
    /// Everything after this happened during the act.
    pub(crate) since: Mark,
    pub(crate) deadline: Instant,
    pub(crate) cancel: CancellationToken,
    pub(crate) notes: Vec<String>,
    pub(crate) covering: Option<NodeKey>,
    pub(crate) navigation: Option<Navigation>,
    pub(crate) opened_tab: Option<TabId>,
    /// How long the field's value should be after typing, in UTF-16 units.
    pub(crate) expected_length: Option<usize>,
    /// The tab had crashed, and this act brings it back.
    pub(crate) recovers: bool,
    pub(crate) changed: bool,
    pub(crate) settled: bool,
}

impl<'a> Step<'a> {
    pub(crate) fn new(
        browser: &'a Browser,
        tab: Arc<Tab>,
        deadline: Instant,
        cancel: CancellationToken,
    ) -> Self {
        let since = tab.state().now;
        Self {
            browser,
            tab,
            since,
            deadline,
            cancel,
            notes: Vec::new(),
            covering: None,
            navigation: None,
            opened_tab: None,
            expected_length: None,
            recovers: false,
            changed: false,
            settled: true,
        }
    }

    /// The script world that holds an element, if its document is still the same.
    pub(crate) fn world_of(&self, key: &NodeKey) -> Result<World, AskError> {
        self.tab.world_of(&key.frame, &key.document).map_err(|_| AskError::Replaced)
    }

    /// Calls a function of the page script.
    pub(crate) async fn ask<T: DeserializeOwned>(
        &self,
        world: &World,
        function: &str,
        argument: &impl Serialize,
        waits: bool,
    ) -> Result<T, AskError> {
        ask(world, &call(function, argument), waits, ASKING).answer().await
    }

    /// Notes which element is in the way, so that the caller can name its ref.
    pub(crate) fn note_covering(&mut self, frame: &FrameId, number: u32) {
        if number == 0 {
            return;
        }
        let document = self.tab.state().frames.get(frame).and_then(|f| f.document.clone());
        if let Some(document) = document {
            self.covering = Some(NodeKey {
                tab: self.tab.id.clone(),
                frame: frame.clone(),
                document,
                node: NodeNumber(number),
            });
        }
    }

    pub(crate) fn note_quiet(&mut self, quiet: &Quiet) {
        self.changed |= quiet.changed;
    }

    /// The main document at this moment.
    pub(crate) fn document(&self) -> Option<DocumentId> {
        self.tab.state().main_frame().and_then(|f| f.document.clone())
    }

    /// The end: what happened since the beginning.
    pub(crate) fn finish(self, outcome: Outcome) -> Acted {
        let since = self.since;
        let (navigation, mut effects) = {
            let mut state = self.tab.state();
            // What was refused after the last act ended is told now.
            let untold = state.told.min(since);
            state.told = state.now;
            let url = state.url().to_owned();
            let failed = state.main_frame().is_some_and(|frame| frame.failed);
            let navigation = if state.replaced > since && failed {
                let message = "the browser could not load it and shows an error page".to_owned();
                Some(Navigation::Failed { url, message })
            } else if state.replaced > since {
                Some(Navigation::Document { url, loaded: state.loaded })
            } else if let Some(pending) = state.pending.as_ref().filter(|p| p.since > since) {
                Some(Navigation::Pending { url: pending.url.clone() })
            } else if state.moved > since {
                Some(Navigation::SameDocument { url })
            } else {
                None
            };
            let effects = Effects {
                dialog: state.dialog.as_ref().map(|(dialog, _)| dialog.clone()),
                tab_closed: state.closed,
                downloads: state
                    .downloads
                    .iter()
                    .filter(|(at, ..)| *at > since)
                    .map(|(.., download)| download.clone())
                    .collect(),
                refused: state
                    .refused
                    .iter()
                    .filter(|(at, _)| *at > untold)
                    .map(|(_, what)| what.clone())
                    .collect(),
                held: state.held.list(),
                ..Effects::default()
            };
            (navigation, effects)
        };
        let opened: Vec<TabId> = {
            let state = self.tab.state();
            state.opened.iter().filter(|(at, _)| *at > since).map(|(_, tab)| tab.clone()).collect()
        };
        effects.opened = opened.iter().filter_map(|id| self.browser.tab_info(id).ok()).collect();
        if self.tab.state().chooser.as_ref().is_some_and(|chooser| chooser.since > since) {
            effects
                .refused
                .push("the page asked for files; no file chooser was opened (use upload)".into());
        }
        for download in &effects.downloads {
            if download.state == DownloadState::Refused {
                effects.refused.push(format!("the download of {} was refused", download.name));
            }
        }
        effects.navigation = self.navigation.or(navigation);
        effects.notes = self.notes;
        effects.covering = self.covering;
        effects.opened_tab = self.opened_tab;
        effects.settled = self.settled;
        effects.changed = self.changed
            || effects.navigation.is_some()
            || effects.dialog.is_some()
            || !effects.opened.is_empty();
        Acted { outcome, effects }
    }
}
