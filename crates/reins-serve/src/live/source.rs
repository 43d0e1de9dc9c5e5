//! What the live view needs of a browser, so that it is tested with a scripted one as well.

use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use futures_util::stream::{self, BoxStream};
use reins_browser::{Browser, BrowserError, BrowserEvent, PersonInput, ScreenFrame, ScreenOptions};
use reins_core::TabId;
use std::path::PathBuf;

/// Where the page of a tab is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct About {
    /// Its address.
    pub url: String,
    /// Its title, as the page wrote it.
    pub title: String,
}

/// What a browser reports by itself, as far as the live view is concerned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SourceEvent {
    /// A tab opened.
    TabOpened {
        /// Which one.
        tab: TabId,
        /// The tab whose page opened it, where that is known.
        opener: Option<TabId>,
    },
    /// A tab closed.
    TabClosed {
        /// Which one.
        tab: TabId,
    },
    /// A page asked for files.
    FilesWanted {
        /// Where.
        tab: TabId,
        /// Whether it takes more than one.
        several: bool,
    },
    /// Trusted input that no step of an agent sent.
    PersonInput,
    /// The browser is gone.
    Gone,
}

/// Why input was not sent. The words are for the person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotTaken {
    /// The stable code.
    pub code: &'static str,
    /// What stands in the way.
    pub why: String,
}

/// Input that was sent; ready once the page has handled it.
pub type Handled = BoxFuture<'static, Result<(), NotTaken>>;

/// A browser, as the live view sees it.
pub trait ScreenSource: Send + Sync + 'static {
    /// Looks at a tab. The look ends when the stream is dropped, and the stream when the tab is gone.
    fn look(
        &self,
        tab: TabId,
    ) -> BoxFuture<'static, Result<BoxStream<'static, ScreenFrame>, NotTaken>>;

    /// Sends what a person did. What is sent first arrives first.
    fn input(
        &self,
        tab: TabId,
        input: PersonInput,
    ) -> BoxFuture<'static, Result<Handled, NotTaken>>;

    /// What is selected in a tab, for the person who copies it.
    fn selected(&self, tab: TabId) -> BoxFuture<'static, Result<String, NotTaken>>;

    /// Gives a page the files that it asked the person for.
    fn files(&self, tab: TabId, files: Vec<PathBuf>) -> BoxFuture<'static, Result<(), NotTaken>>;

    /// Where a tab's page is.
    fn about(&self, tab: &TabId) -> About;

    /// The open tabs, oldest first.
    fn tabs(&self) -> Vec<TabId>;

    /// What the browser reports by itself, from now on.
    fn events(&self) -> BoxStream<'static, SourceEvent>;
}

impl From<BrowserError> for NotTaken {
    fn from(error: BrowserError) -> Self {
        let why = match &error {
            BrowserError::DialogOpen { message } => {
                format!("the page asks: \"{message}\". Enter accepts, Escape cancels")
            }
            other => other.to_string(),
        };
        Self { code: error.code(), why }
    }
}

impl ScreenSource for Browser {
    fn look(
        &self,
        tab: TabId,
    ) -> BoxFuture<'static, Result<BoxStream<'static, ScreenFrame>, NotTaken>> {
        let browser = self.clone();
        Box::pin(async move {
            let screen = browser.screen(&tab, ScreenOptions::default()).await?;
            let frames = stream::unfold(screen, |mut screen| async move {
                screen.next().await.map(|frame| (frame, screen))
            });
            Ok(frames.boxed())
        })
    }

    fn input(
        &self,
        tab: TabId,
        input: PersonInput,
    ) -> BoxFuture<'static, Result<Handled, NotTaken>> {
        let browser = self.clone();
        Box::pin(async move {
            let sent = browser.person_input(&tab, &input).await?;
            Ok(Box::pin(async move { Ok(sent.handled().await?) }) as Handled)
        })
    }

    fn selected(&self, tab: TabId) -> BoxFuture<'static, Result<String, NotTaken>> {
        let browser = self.clone();
        Box::pin(async move { Ok(browser.selected_text(&tab).await?) })
    }

    fn files(&self, tab: TabId, files: Vec<PathBuf>) -> BoxFuture<'static, Result<(), NotTaken>> {
        let browser = self.clone();
        Box::pin(async move { Ok(browser.person_files(&tab, &files).await?) })
    }

    fn about(&self, tab: &TabId) -> About {
        self.tab_info(tab)
            .map(|info| About { url: info.url, title: info.title })
            .unwrap_or_default()
    }

    fn tabs(&self) -> Vec<TabId> {
        Browser::tabs(self).into_iter().map(|info| info.id).collect()
    }

    fn events(&self) -> BoxStream<'static, SourceEvent> {
        let events = stream::unfold(Browser::events(self), |mut events| async move {
            loop {
                let event = match events.next().await? {
                    BrowserEvent::TabOpened { tab, opener } => {
                        SourceEvent::TabOpened { tab, opener }
                    }
                    BrowserEvent::TabClosed { tab } => SourceEvent::TabClosed { tab },
                    BrowserEvent::PersonInput { .. } => SourceEvent::PersonInput,
                    BrowserEvent::FilesWanted { tab, several } => {
                        SourceEvent::FilesWanted { tab, several }
                    }
                    BrowserEvent::Gone { .. } => SourceEvent::Gone,
                    BrowserEvent::TabCrashed { .. }
                    | BrowserEvent::DialogOpened { .. }
                    | BrowserEvent::DialogClosed { .. }
                    | BrowserEvent::Download { .. } => continue,
                };
                return Some((event, events));
            }
        });
        events.boxed()
    }
}
