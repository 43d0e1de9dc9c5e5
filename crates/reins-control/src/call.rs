//! One tool call on its way: which tab it means, what its refs name.

use crate::cards::Answerer;
use crate::control::Control;
use crate::error::ControlError;
use crate::reply::Reply;
use crate::session::Session;
use crate::tool::Tool;
use crate::turn;
use reins_browser::{Browser, BrowserError, TabInfo, TurnEnds};
use reins_core::{Action, HistoryStep, Ref, Refusal, StepId, TabId, TargetRecord, web_url};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// A call under way.
pub(crate) struct Call<'a> {
    pub(crate) control: &'a Control,
    pub(crate) session: Arc<Session>,
    pub(crate) cards: &'a dyn Answerer,
    /// The caller's own cancellation.
    pub(crate) cancel: CancellationToken,
    /// The turn's stop.
    pub(crate) stop: CancellationToken,
    /// The person said stop, as against any other end of the turn.
    stopped: CancellationToken,
    pub(crate) step: StepId,
    /// The ref the action's target was named by, for comparing with what was published.
    pub(crate) target_ref: Option<Ref>,
    /// Whether a card was put.
    pub(crate) asked: bool,
    /// Whether something that a page sent was not let go on.
    pub(crate) unsent: bool,
    /// The tab the arguments name.
    named_tab: Option<TabId>,
}

impl<'a> Call<'a> {
    pub(crate) fn new(
        control: &'a Control,
        session: Arc<Session>,
        cards: &'a dyn Answerer,
        cancel: CancellationToken,
        (ends, step): (TurnEnds, StepId),
    ) -> Self {
        Self {
            control,
            session,
            cards,
            cancel,
            stop: ends.ended,
            stopped: ends.stopped,
            step,
            target_ref: None,
            asked: false,
            unsent: false,
            named_tab: None,
        }
    }

    /// Runs the tool, watching for stop and cancellation where nothing was sent yet.
    pub(crate) async fn run(
        &mut self,
        tool: &'static Tool,
        mut arguments: Value,
    ) -> Result<Reply, ControlError> {
        if let Some(named) = arguments.as_object_mut().and_then(|map| map.remove("tab")) {
            match named {
                Value::String(id) if !id.trim().is_empty() => {
                    self.named_tab = Some(self.own_tab(&TabId::new(id.trim()))?);
                }
                Value::Null | Value::String(_) => {}
                other => {
                    return Err(ControlError::Arguments {
                        tool: tool.name,
                        reason: format!("tab is {other}"),
                        hint: "tab is an id from list_tabs".into(),
                    });
                }
            }
        }
        let late = self.answer_late().await?;
        let mut reply = (tool.run)(self, arguments).await?;
        if !late.is_empty() {
            reply.text.insert_str(0, &format!("{}\n", late.join("\n")));
        }
        Ok(reply)
    }

    /// The browser, started if there is none.
    pub(crate) async fn browser(&self) -> Result<Browser, ControlError> {
        self.control.inner.host.browser(self.control).await
    }

    /// The tab this call means.
    pub(crate) fn tab(&self) -> Result<TabId, ControlError> {
        if let Some(tab) = &self.named_tab {
            return Ok(tab.clone());
        }
        let current = self.session.state().current.clone();
        current.ok_or_else(|| ControlError::NoPage(self.session.id.clone()))
    }

    /// The tab this call means, or a new one for a session that has none.
    pub(crate) async fn tab_or_new(&mut self) -> Result<TabId, ControlError> {
        let browser = self.browser().await?;
        match self.tab() {
            Ok(tab) => Ok(tab),
            Err(ControlError::NoPage(_)) => {
                let tab = self.control.inner.host.fresh_tab(&browser).await?;
                let mut state = self.session.state();
                state.adopt(&tab, true);
                state.current = Some(tab.clone());
                Ok(tab)
            }
            Err(error) => Err(error),
        }
    }

    /// A tab of this session, and of no other.
    fn own_tab(&self, tab: &TabId) -> Result<TabId, ControlError> {
        let state = self.session.state();
        // Ids are long; an unambiguous beginning is enough, as in listings.
        let mut found = state
            .tabs
            .iter()
            .filter(|open| open.as_str() == tab.as_str() || short(open) == tab.as_str());
        match (found.next(), found.next()) {
            (Some(only), None) => Ok(only.clone()),
            _ => Err(ControlError::NoSuchTab(tab.clone())),
        }
    }

    /// What the browser says of a tab.
    pub(crate) async fn tab_info(&self, tab: &TabId) -> Option<TabInfo> {
        let browser = self.browser().await.ok()?;
        browser.tabs().into_iter().find(|info| info.id == *tab)
    }

    /// Reads the element behind a ref afresh, or says why the ref is stale.
    pub(crate) async fn resolve(&mut self, r: Ref) -> Result<TargetRecord, ControlError> {
        let key = {
            let state = self.session.state();
            match state.refs.lookup(r) {
                Some(element) if state.tabs.contains(&element.key.tab) => element.key.clone(),
                Some(_) => return Err(stale(r, "its tab is closed").into()),
                None if state.refs.was_given(r) => {
                    return Err(stale(r, "the page has moved on since").into());
                }
                None => {
                    return Err(Refusal::new(
                        "unknown_ref",
                        format!("{r} was never shown in this session"),
                        "Take a ref from the latest snapshot.",
                    )
                    .into());
                }
            }
        };
        if let Some(named) = &self.named_tab
            && *named != key.tab
        {
            return Err(stale(r, "it belongs to another tab than the one given").into());
        }
        self.target_ref = Some(r);
        match self.browser().await?.record(&key).await {
            Ok(record) => Ok(record),
            Err(BrowserError::StaleRef { what }) => Err(stale(r, &what).into()),
            Err(error) => Err(browser_error(&error)),
        }
    }

    /// The element that has the focus.
    pub(crate) async fn focused(
        &mut self,
        tab: &TabId,
    ) -> Result<Option<TargetRecord>, ControlError> {
        self.browser().await?.focused(tab).await.map_err(|error| browser_error(&error))
    }

    /// An address as people write it, made absolute: `example.com` means https.
    pub(crate) fn absolute(&self, text: &str) -> Result<String, ControlError> {
        let text = text.trim();
        if text.starts_with('/')
            && !text.starts_with("//")
            && let Some(url) = self.control.inner.within_app(text)
        {
            return Ok(url);
        }
        if text.contains("://") || text.split(['/', '?', '#']).next().is_some_and(has_scheme) {
            // The guard refuses what is not http(s), with its own words.
            return Ok(web_url(text).map_or_else(|_| text.to_owned(), |url| url.to_string()));
        }
        let host = text.split([':', '/']).next().unwrap_or(text);
        let local = host == "localhost" || host.parse::<std::net::IpAddr>().is_ok();
        let scheme = if local { "http" } else { "https" };
        web_url(&format!("{scheme}://{text}")).map(|url| url.to_string()).map_err(|error| {
            ControlError::Arguments {
                tool: "navigate",
                reason: error.to_string(),
                hint: "url is an absolute http(s) address".into(),
            }
        })
    }

    /// Files that may be uploaded: they exist, and lie in an allowed directory, links resolved.
    pub(crate) fn confine(&self, paths: &[String]) -> Result<Vec<PathBuf>, ControlError> {
        let roots = &self.control.inner.options.upload_roots;
        if roots.is_empty() {
            return Err(ControlError::Path(
                "uploads are off: no directory was allowed. The person can allow one with --upload-root DIR".into(),
            ));
        }
        paths
            .iter()
            .map(|path| {
                let real = Path::new(path).canonicalize().map_err(|error| {
                    ControlError::Path(format!("{path} cannot be read ({error}). Give the path of an existing file"))
                })?;
                if real.is_file() && roots.iter().any(|root| real.starts_with(root)) {
                    Ok(real)
                } else {
                    Err(ControlError::Path(format!(
                        "{path} is not a file in an allowed directory. The person can allow its directory with --upload-root DIR"
                    )))
                }
            })
            .collect()
    }

    /// Back or forward, with the destination read before.
    pub(crate) async fn history(&mut self, step: HistoryStep) -> Result<Reply, ControlError> {
        let tab = self.tab()?;
        let destination = self
            .browser()
            .await?
            .history_destination(&tab, step)
            .await
            .map_err(|error| browser_error(&error))?;
        self.act(Action::History { tab, step, destination }).await
    }

    /// Loads the page again.
    pub(crate) async fn reload(&mut self) -> Result<Reply, ControlError> {
        let tab = self.tab()?;
        let info = self.tab_info(&tab).await.ok_or_else(|| ControlError::NoSuchTab(tab.clone()))?;
        self.act(Action::Reload { tab, url: info.url }).await
    }

    /// Both reasons to cancel an act in one token.
    pub(crate) fn both_cancels(&self) -> CancellationToken {
        let both = self.stop.child_token();
        let (caller, joined) = (self.cancel.clone(), both.clone());
        tokio::spawn(async move {
            tokio::select! {
                () = caller.cancelled() => joined.cancel(),
                () = joined.cancelled() => {}
            }
        });
        both
    }

    /// How its turn ends.
    pub(crate) fn ends(&self) -> TurnEnds {
        TurnEnds { ended: self.stop.clone(), stopped: self.stopped.clone() }
    }

    /// The person said stop on a card.
    pub(crate) fn stop_turn(&self) {
        let turn = self.session.state().turn.as_ref().map(|turn| turn.id);
        if let Some(turn) = turn {
            self.control.stop(&self.session.id, turn);
        }
    }

    /// The person's own input was seen in a tab of this session.
    pub(crate) fn person_seen(session: &Session) {
        turn::pause(session);
    }
}

/// The first characters of a tab's id: enough to tell tabs of one browser apart.
pub(crate) fn short(tab: &TabId) -> &str {
    tab.as_str().get(..SHORT_ID).unwrap_or(tab.as_str())
}

/// Chromium's ids are 32 random hexadecimal digits; eight never collide among a person's tabs.
const SHORT_ID: usize = 8;

fn has_scheme(start: &str) -> bool {
    start.split_once(':').is_some_and(|(scheme, rest)| {
        // "localhost:8080" is a host and a port, "data:text" is a scheme.
        !rest.chars().all(|c| c.is_ascii_digit())
            && scheme.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
    })
}

fn stale(r: Ref, what: &str) -> Refusal {
    Refusal::new(
        "stale_ref",
        format!("{r} no longer names an element: {what}"),
        "Take a new snapshot and use a ref from it.",
    )
}

/// A failure of the browser room, with its own stable code.
pub(crate) fn browser_error(error: &BrowserError) -> ControlError {
    let text = error.to_string();
    let (message, next) = match text.split_once("; ") {
        Some((message, next)) => (message.to_owned(), next.to_owned()),
        None => (text, "Call snapshot to see the page as it is now".to_owned()),
    };
    ControlError::Browser { code: error.code(), message, next }
}
