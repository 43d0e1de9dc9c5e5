//! Requests of a page that wait at the network until the person has answered.

use crate::ids::HeldId;
use crate::origin::DocumentOrigin;

/// A request that a step started and that can change something. Nothing of it has been sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldRequest {
    /// Its own id, good for one answer.
    pub id: HeldId,
    /// Such as `POST`.
    pub method: String,
    /// Where it goes.
    pub url: String,
    /// What starts it.
    pub kind: HeldKind,
    /// The names of what it carries, where they could be read. Never a value.
    pub fields: Vec<String>,
    /// The page that the tab shows.
    pub page: DocumentOrigin,
}

impl HeldRequest {
    /// Whether the person would read the same words about both.
    pub fn looks_like(&self, other: &Self) -> bool {
        let same = |a: &Self| Self { id: HeldId(0), ..a.clone() };
        same(self) == same(other)
    }
}

/// What starts a held request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HeldKind {
    /// A form, or another document.
    Form,
    /// A frame that the page can speak to, on its way to a site that is new to both.
    Frame,
    /// Script of the page.
    Script,
    /// A message that the browser delivers even when the page is gone.
    Beacon,
}
