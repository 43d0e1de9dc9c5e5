//! What the person decided about single sites, by hand or from a card (R-158…R-160).

use crate::host::without_www;
use reins_core::{DocumentOrigin, Origin, OriginError, Rule, Sends};
use std::collections::BTreeMap;
use thiserror::Error;

/// The text names no site.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("'{site}' names no site; give a host such as shop.example or an http(s) origin")]
pub struct SiteError {
    site: String,
    source: OriginError,
}

impl SiteError {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        "bad_site"
    }
}

/// The person's rules: at most one for each origin, and where its pages may send to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SiteRules {
    rules: BTreeMap<Origin, Rule>,
    sends: BTreeMap<Origin, Sends>,
}

impl SiteRules {
    /// No rules.
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads a site as a person types it: a bare host means https.
    pub fn site(text: &str) -> Result<Origin, SiteError> {
        let text = text.trim();
        let full = if text.contains("://") { text.to_owned() } else { format!("https://{text}") };
        Origin::parse(&full).map_err(|source| SiteError { site: text.to_owned(), source })
    }

    /// Sets the rule of an origin and gives the one it had.
    pub fn set(&mut self, origin: Origin, rule: Rule) -> Option<Rule> {
        self.rules.insert(origin, rule)
    }

    /// Removes the rule of an origin and gives the one it had.
    pub fn remove(&mut self, origin: &Origin) -> Option<Rule> {
        self.rules.remove(origin)
    }

    /// Sets where the pages of an origin may send to.
    pub fn set_sends(&mut self, origin: Origin, sends: Sends) {
        self.sends.insert(origin, sends);
    }

    /// Where the pages of single origins may send to, ordered by origin.
    pub fn sends(&self) -> impl Iterator<Item = (&Origin, &Sends)> {
        self.sends.iter()
    }

    /// All rules, ordered by origin.
    pub fn iter(&self) -> impl Iterator<Item = (&Origin, Rule)> {
        self.rules.iter().map(|(origin, rule)| (origin, *rule))
    }

    /// Whether this exact origin has an "always" rule.
    pub fn always(&self, origin: &Origin) -> bool {
        self.rules.get(origin) == Some(&Rule::Always)
    }

    /// The "never" rule that covers an origin: any scheme, any port, and the hosts below it,
    /// since a person who forbids `bank.example` does not mean to leave `login.bank.example`.
    pub fn never(&self, origin: &Origin) -> Option<&Origin> {
        let host = without_www(origin.host());
        self.rules.iter().find_map(|(ruled, rule)| {
            let forbidden = without_www(ruled.host());
            let covers = host == forbidden
                || host.strip_suffix(forbidden).is_some_and(|head| head.ends_with('.'));
            (*rule == Rule::Never && covers).then_some(ruled)
        })
    }

    /// The "never" rule that covers a document, also when it is sandboxed.
    pub fn never_document(&self, document: &DocumentOrigin) -> Option<&Origin> {
        match document {
            DocumentOrigin::Web(origin) | DocumentOrigin::Sandboxed(origin) => self.never(origin),
            DocumentOrigin::ScriptBuilt | DocumentOrigin::Browser => None,
        }
    }
}

impl FromIterator<(Origin, Rule)> for SiteRules {
    fn from_iter<I: IntoIterator<Item = (Origin, Rule)>>(rules: I) -> Self {
        Self { rules: rules.into_iter().collect(), sends: BTreeMap::new() }
    }
}
