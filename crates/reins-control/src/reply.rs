//! The answer of a tool call, before a door gives it a wire form.

use reins_core::{Outcome, TabId};
use serde_json::{Map, Value};

/// A picture in an answer.
#[derive(Clone, Debug)]
pub struct Picture {
    /// The bytes as encoded.
    pub bytes: Vec<u8>,
    /// `image/png` or `image/jpeg`.
    pub mime: &'static str,
}

/// What a page looks like now, or what changed on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageText {
    /// Which tab.
    pub tab: TabId,
    /// A whole snapshot, or only what changed.
    pub whole: bool,
    /// The text inside the untrusted wrapper.
    pub text: String,
    /// The same for the same content, whatever the wrapper's nonce.
    pub state: String,
}

/// What a tool call answers.
#[derive(Clone, Debug, Default)]
pub struct Reply {
    /// How the act ended; `None` for reads.
    pub outcome: Option<Outcome>,
    /// What happened, in our own words.
    pub text: String,
    /// What the page says, kept apart because it is data.
    pub page: Option<PageText>,
    /// Whether the document was replaced, so that earlier refs are void.
    pub moved: bool,
    /// Whether the act changed the page, if that is known.
    pub changed: Option<bool>,
    /// The guard's short verdict.
    pub verdict: &'static str,
    /// Whether the person was asked, and agreed.
    pub approved: Option<bool>,
    /// Pictures.
    pub pictures: Vec<Picture>,
    /// The same facts for programs: outcome, tab, url, counts.
    pub facts: Map<String, Value>,
    /// Larger results that can be paged: URI and size in bytes.
    pub stored: Vec<Stored>,
}

/// A large result kept for paging.
#[derive(Clone, Debug)]
pub struct Stored {
    /// Its address as an MCP resource.
    pub uri: String,
    /// What it is.
    pub name: String,
    /// `text/plain`, `application/pdf`, …
    pub mime: &'static str,
    /// Its size in bytes.
    pub bytes: usize,
}

impl Reply {
    /// A plain answer.
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// Everything a model reads: our words, then the page's.
    pub fn whole_text(&self) -> String {
        match &self.page {
            None => self.text.clone(),
            Some(page) if self.text.is_empty() => page.text.clone(),
            Some(page) => format!("{}\n{}", self.text, page.text),
        }
    }

    /// Adds one fact for programs.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.facts.insert(name.to_owned(), value.into());
        self
    }

    /// Whether the caller should see it as an error: refused or unknown.
    pub fn failed(&self) -> bool {
        matches!(self.outcome, Some(Outcome::Refused(_) | Outcome::Unknown(_)))
    }
}
