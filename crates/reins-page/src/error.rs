//! What can go wrong with what a page script hands over.

use thiserror::Error;

/// Why captured data could not be used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum PageError {
    /// The capture is no JSON of the expected shape.
    #[error("the page could not be read: its capture is damaged; take a snapshot again")]
    Damaged(#[source] serde_json::Error),
    /// The capture comes from another version of the page script.
    #[error("the page could not be read: its script is of version {0}; reload the page")]
    Version(u64),
    /// The element that the facts are about is gone from its document.
    #[error("the element is no longer in the page; take a snapshot and use a ref from it")]
    Gone,
}

impl PageError {
    /// The stable code used in results.
    pub fn code(&self) -> &'static str {
        match self {
            PageError::Damaged(_) => "unreadable_page",
            PageError::Version(_) => "script_version",
            PageError::Gone => "stale_ref",
        }
    }
}
