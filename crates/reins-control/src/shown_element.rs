//! What a door may say about an element before a call: what was shown of it, and what a click on it
//! would send. Nothing is read from the page for this, and nothing here decides.

use crate::control::Control;
use crate::report::words;
use reins_core::{FormMethod, Ref, SessionId};

/// An element as it was last shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownElement {
    /// Role and name, such as `button "Save"`. Page text.
    pub words: String,
    /// Method and address of the form that a click on it sends for good; `None` for searches, which
    /// only change the view.
    pub sends: Option<String>,
}

impl Control {
    /// What was shown under a ref, as a model writes it; `None` if nothing was.
    pub fn shown(&self, session: &SessionId, reference: &str) -> Option<ShownElement> {
        let reference: Ref = reference.parse().ok()?;
        let session = self.session(session);
        let state = session.state();
        let element = state.refs.lookup(reference)?;
        let sends = element
            .submission
            .as_ref()
            .filter(|submission| submission.method == FormMethod::Post)
            .map(|submission| format!("post {}", submission.action));
        Some(ShownElement { words: words(&element.role, &element.name), sends })
    }
}
