//! What one approved action obliges the pages to that it reaches (R-170…R-184).

use crate::act::TurnEnds;
use reins_core::{Origin, Sends, Site};
use reins_guard::{Navigation, Obligations, RequestVerdict, Sending};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use tokio_util::sync::CancellationToken;

static GENERATIONS: AtomicU64 = AtomicU64::new(1);

/// What one approved action obliges a page to. Clones share what was used up.
#[derive(Clone, Debug)]
pub(crate) struct Hold {
    /// Which action, so that nothing of an earlier one speaks for a later one.
    pub(super) generation: u64,
    pub(super) rules: Arc<Obligations>,
    /// It is a navigation of ours, not input to a page.
    pub(super) own: bool,
    /// It also holds what its documents may send to and load from.
    pub(crate) reaches: bool,
    /// It goes through the history, which may need no request.
    pub(super) history: bool,
    /// How it came upon its documents.
    pub(crate) because: Because,
    /// The exact request has been made: it passes once.
    pub(super) spent: Arc<AtomicBool>,
    /// The one window has opened.
    pub(super) opened: Arc<AtomicBool>,
    /// What the person said of where its documents may send to.
    pub(crate) sends: Option<Sends>,
    /// What its documents send, and what can change something, waits for the person.
    pub(crate) held: bool,
    /// Ends with the request of the person that the action belongs to: then nobody can be asked any more.
    pub(crate) stop: CancellationToken,
    /// The person said stop.
    pub(crate) stopped: CancellationToken,
}

/// Why a document is held; the stricter the later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Because {
    /// A step led to it. Only where it leads its tab is held.
    Arrived,
    /// It can be spoken to by a touched document of another tab.
    Beside,
    /// Input reached it, or a document that it reached led to it.
    Touched,
}

impl Hold {
    pub(crate) fn new(rules: Obligations, own: bool, reaches: bool) -> Self {
        let held = rules.sending == Sending::Held;
        Self {
            held,
            stop: CancellationToken::new(),
            stopped: CancellationToken::new(),
            generation: GENERATIONS.fetch_add(1, Ordering::Relaxed),
            rules: Arc::new(rules),
            own,
            reaches,
            history: false,
            because: Because::Touched,
            spent: Arc::default(),
            opened: Arc::default(),
            sends: None,
        }
    }

    /// As long as its turn goes on, the person can be asked.
    pub(crate) fn until(self, ends: TurnEnds) -> Self {
        Self { stop: ends.ended, stopped: ends.stopped, ..self }
    }

    /// Whether what its document sends waits for the person: where that was agreed instead of a card before the
    /// step, and everywhere once they said stop, where it is refused. A page that no input reached may go on.
    pub(crate) fn keeps(&self) -> bool {
        self.held || (self.stopped.is_cancelled() && self.because != Because::Arrived)
    }

    /// The action goes through the history.
    pub(crate) fn through_history(self, history: bool) -> Self {
        Self { history, ..self }
    }

    /// What holds a page that the action led to, and that no input has reached.
    pub(crate) fn arrived(self) -> Self {
        Self { because: Because::Arrived, reaches: false, held: false, ..self }
    }

    /// With what the person said of where its documents may send to.
    pub(crate) fn sending(self, sends: Option<Sends>) -> Self {
        Self { sends, ..self }
    }

    /// What holds the document that a page held by this leads to.
    pub(crate) fn next(self, because: Because, reaches: bool) -> Self {
        Self { because, reaches, own: false, ..self }
    }

    /// Whether a page held by this hands on what it may reach. A navigation of ours touches no page.
    pub(crate) fn hands_on(&self) -> bool {
        self.reaches && !self.own
    }

    /// What holds a document that one of another tab can speak to. What it sends is not asked about.
    pub(crate) fn beside(&self) -> Self {
        Self { because: Because::Beside, own: false, held: false, ..self.clone() }
    }

    /// In a pinned session the network is the protection, and steps need no fence.
    pub(crate) fn pinned(&self) -> bool {
        matches!(self.rules.navigation, Navigation::App(_))
    }

    pub(super) fn used(&self) -> bool {
        self.spent.load(Ordering::Relaxed)
    }

    /// Whether it is what was approved. The browser itself may ask by https for what was named by
    /// http; then there is no redirect to be seen.
    pub(super) fn approves(&self, url: &str, method: &str) -> bool {
        let passes = |url: &str| self.rules.first_request(url, method) == RequestVerdict::Pass;
        let plain = url.strip_prefix("https://").map(|rest| format!("http://{rest}"));
        passes(url) || plain.is_some_and(|plain| passes(&plain))
    }

    pub(crate) fn same_site(&self, url: &str) -> bool {
        self.rules.redirect(url) == RequestVerdict::Pass
    }

    /// Whether the turn or the step itself names a site.
    pub(crate) fn knows(&self, site: &Site) -> bool {
        self.rules.redirects.iter().any(|origin| origin.site() == *site)
    }

    /// The sites that the turn or the step itself names.
    pub(crate) fn sites(&self) -> impl Iterator<Item = Site> {
        self.rules.redirects.iter().map(Origin::site)
    }

    /// What the person said of where documents of an origin may send to.
    pub(crate) fn sends_from(&self, origin: &Origin) -> Option<&Sends> {
        self.rules.sends.iter().find_map(|(from, sends)| (from == origin).then_some(sends))
    }

    /// Exactly one of the approved origins.
    pub(super) fn same_origin(&self, url: &str) -> bool {
        Origin::parse(url).is_ok_and(|origin| self.rules.redirects.contains(&origin))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use reins_core::FormMethod;
    use reins_guard::{Downloads, ExpectedRequest, FrameTarget, Popups};

    fn hold(url: &str) -> Hold {
        let expected = ExpectedRequest {
            url: url.to_owned(),
            any_query: false,
            method: FormMethod::Get,
            frame: FrameTarget::Main,
        };
        let rules = Obligations {
            navigation: Navigation::Exact(expected),
            redirects: vec![Origin::parse(url).unwrap()],
            popups: Popups::Refused,
            downloads: Downloads::Refused,
            files: false,
            sending: Sending::AsBefore,
            sends: Vec::new(),
        };
        Hold::new(rules, true, false)
    }

    /// Regression: Chromium asks for `http://` addresses by https before anything is sent.
    #[test]
    fn r177_an_address_that_the_browser_upgrades_to_https_is_still_the_approved_one() {
        let upgraded = hold("http://a.example/x");
        for (url, approved) in [
            ("http://a.example/x", true),
            ("https://a.example/x", true),
            ("https://a.example/y", false),
            ("https://b.example/x", false),
            ("https://a.example:8443/x", false),
        ] {
            assert_eq!(upgraded.approves(url, "GET"), approved, "{url}");
            assert!(!upgraded.approves(url, "POST"), "{url}");
        }
        assert!(!hold("https://a.example/x").approves("http://a.example/x", "GET"));
    }
}
