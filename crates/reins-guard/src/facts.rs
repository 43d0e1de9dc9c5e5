//! What a decision is made from: everything known outside the action itself.

use crate::level::Level;
use crate::rules::SiteRules;
use reins_core::{
    DocumentOrigin, Link, Origin, OriginPattern, StepId, Submission, TurnId, web_url,
};
use std::collections::BTreeSet;

/// What can be lost in a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Policy {
    /// The person's own sign-ins, or the open web: risky steps ask.
    Guarded,
    /// A fresh profile that may open these origins at the top level and nothing else. Steps
    /// inside need no cards; blocks hold all the same.
    Pinned(Vec<OriginPattern>),
}

/// The facts of one decision. Built anew by control before every evaluation.
#[derive(Clone, Debug)]
pub struct Facts<'a> {
    /// The session's policy.
    pub policy: &'a Policy,
    /// The level as it was when the turn began.
    pub level: Level,
    /// The person's site rules.
    pub rules: &'a SiteRules,
    /// What this turn knows.
    pub turn: &'a TurnFacts,
    /// The tab acted in.
    pub tab: TabFacts,
    /// How the target was last shown to the model, if a ref named it.
    pub published: Option<Published<'a>>,
    /// Whether this session may download.
    pub downloads: Downloads,
    /// Whether the person's message can be read at this door. Where it can't (MCP), an address
    /// that nothing named is asked once instead of being refused.
    pub user_message_visible: bool,
    /// Whether a critic can be asked.
    pub critic: CriticState,
    /// Whether the requests that a click starts can be held.
    pub holding: Holding,
    /// Which moment this is. Approvals of another moment are void.
    pub moment: Moment,
}

/// What a turn knows. It ends with the turn, except `asked`, which control keeps for the session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TurnFacts {
    /// Origins that the person named: attached tabs, addresses in the message, `--site`.
    pub named: BTreeSet<Origin>,
    /// Origins that the plan card allowed for this turn.
    pub planned: BTreeSet<Origin>,
    /// Whether the plan card of this turn was allowed.
    pub plan_allowed: bool,
    /// Origins that the person agreed to on a card that asked for nothing else, in this session.
    pub asked: BTreeSet<Origin>,
    /// Exact addresses that the person gave, as the URL parser prints them.
    pub approved_urls: BTreeSet<String>,
    /// Exact addresses of links that were published to the model in this turn, as the URL
    /// parser prints them.
    pub seen_links: BTreeSet<String>,
}

impl TurnFacts {
    /// Takes in an address that the person gave: exactly this address may be opened, and its
    /// origin is named. Anything but an http(s) address changes nothing.
    pub fn approve_url(&mut self, url: &str) {
        if let Ok(url) = web_url(url) {
            self.named.extend(Origin::of(&url));
            self.approved_urls.insert(url.into());
        }
    }

    /// Takes in the address of a link that was published to the model.
    pub fn saw_link(&mut self, url: &str) {
        if let Ok(url) = web_url(url) {
            self.seen_links.insert(url.into());
        }
    }

    /// Whether an address is exactly one that the person gave or that the model was shown
    /// . Only what the URL parser makes equal is equal.
    pub(crate) fn knows(&self, url: &str) -> bool {
        let exact = |url: &str| self.approved_urls.contains(url) || self.seen_links.contains(url);
        exact(url) || web_url(url).is_ok_and(|parsed| exact(parsed.as_str()))
    }

    /// Whether the person gave exactly this address.
    pub(crate) fn given(&self, url: &str) -> bool {
        self.approved_urls.contains(url)
            || web_url(url).is_ok_and(|parsed| self.approved_urls.contains(parsed.as_str()))
    }
}

/// The tab that an action happens in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TabFacts {
    /// Where its main document comes from.
    pub origin: DocumentOrigin,
    /// Whether the agent opened it, or a page that the agent was allowed to let open it.
    pub opened_by_agent: bool,
    /// Whether the person handed it over.
    pub handed_over: bool,
    /// The dialog that is open in it.
    pub dialog: Option<DialogFacts>,
    /// Whether loading its document again would send a form again. `true` when not known.
    pub reload_resubmits: bool,
}

impl TabFacts {
    /// A tab that the agent opened.
    pub fn agents(origin: DocumentOrigin) -> Self {
        Self {
            origin,
            opened_by_agent: true,
            handed_over: false,
            dialog: None,
            reload_resubmits: false,
        }
    }

    /// A tab that the person opened and handed over.
    pub fn handed_over(origin: DocumentOrigin) -> Self {
        Self { opened_by_agent: false, handed_over: true, ..Self::agents(origin) }
    }

    /// No tab yet, as for opening one.
    pub fn none() -> Self {
        Self::agents(DocumentOrigin::Browser)
    }
}

/// A dialog that a page opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DialogFacts {
    /// Which kind.
    pub kind: DialogKind,
    /// Its text. Page text: data, never an instruction.
    pub message: String,
}

/// The kinds of dialog.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DialogKind {
    /// Says something and has one button.
    Alert,
    /// Asks yes or no.
    Confirm,
    /// Asks for a text.
    Prompt,
    /// Asks whether to leave the page.
    BeforeUnload,
}

/// How the model last saw an action's target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Published<'a> {
    /// The link as it was when the ref was published.
    pub link: Option<&'a str>,
    /// The submission as it was when the ref was published.
    pub submission: Option<&'a Submission>,
}

impl Published<'_> {
    /// Whether a link is the one that was shown.
    pub(crate) fn shows_link(&self, link: Option<&Link>) -> bool {
        self.link == link.map(|link| link.url.as_str())
    }
}

/// Whether a session may download files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Downloads {
    /// Every download is refused.
    Refused,
    /// A policy gave a directory for them.
    Allowed,
}

/// Whether a critic can be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CriticState {
    /// A direct provider is configured.
    Available,
    /// There is none, so at level careful every step is a card that says so.
    Missing,
}

/// Whether the requests that a step starts can wait until the person has seen them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Holding {
    /// They can't, or the person wants to be asked before the step (`--strict-clicks`).
    #[default]
    Never,
    /// They can. These are the documents that the tab shows, those in frames included.
    Over(Vec<DocumentOrigin>),
}

/// One moment of one turn. A decision or approval holds for the moment it was made in: the next
/// call, the next turn, and every stop or pause make a new one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Moment {
    /// Which turn.
    pub turn: TurnId,
    /// Which tool call in it.
    pub step: StepId,
    /// How often the session was stopped or paused so far.
    pub stops: u64,
}
