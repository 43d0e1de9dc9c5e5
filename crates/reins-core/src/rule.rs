//! What the person decided about single sites.

use crate::origin::Site;
use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;
use thiserror::Error;

/// What a site rule says about an origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Rule {
    /// The exact origin counts as named; risky steps there still ask.
    Always,
    /// Every action there is refused, at any scheme and port; reading stays free.
    Never,
}

impl Rule {
    /// The rule as settings spell it.
    pub fn as_str(self) -> &'static str {
        match self {
            Rule::Always => "always",
            Rule::Never => "never",
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The text is no rule.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("'{0}' is not a site rule; use always or never")]
pub struct RuleWordError(String);

impl RuleWordError {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        "unknown_rule"
    }
}

impl FromStr for Rule {
    type Err = RuleWordError;

    fn from_str(text: &str) -> Result<Self, RuleWordError> {
        match text {
            "always" => Ok(Rule::Always),
            "never" => Ok(Rule::Never),
            _ => Err(RuleWordError(text.to_owned())),
        }
    }
}

/// Where the pages of an origin may send to, and load from, while an agent acts in them and after it.
/// Without such a rule: to the sites that the person named and to those that the page knew before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sends {
    /// To these as well.
    Also(BTreeSet<Site>),
    /// To their own site, to those that the person named and to these, whatever the page knew before.
    Only(BTreeSet<Site>),
    /// Anywhere.
    Anywhere,
}
