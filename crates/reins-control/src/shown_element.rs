//! What a door may say about an element before a call: what was shown of it, and what a click or Enter
//! there would send. Nothing here decides.

use crate::control::Control;
use crate::report::{element, words};
use reins_core::{FormMethod, Ref, SessionId, Submission, TargetRecord};
use reins_guard::{RiskKind, caption_risk};

/// An element as it was last shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownElement {
    /// Role and name, such as `button "Save"`. Page text.
    pub words: String,
    /// Method and address of the form that a click on it sends for good; `None` for searches, which
    /// only change the view.
    pub sends: Option<String>,
    /// Whether its caption says that it deletes something. What the guard asks is its own reading.
    pub deletes: bool,
}

impl Control {
    /// What was shown under a ref, as a model writes it; `None` if nothing was. Nothing is read from the
    /// page for this.
    pub fn shown(&self, session: &SessionId, reference: &str) -> Option<ShownElement> {
        let reference: Ref = reference.parse().ok()?;
        let session = self.session(session);
        let state = session.state();
        let element = state.refs.lookup(reference)?;
        Some(ShownElement {
            words: words(&element.role, &element.name),
            sends: sent_by(element.submission.as_ref()),
            deletes: caption_risk(&element.name) == Some(RiskKind::Delete),
        })
    }

    /// The element that Enter would go to, with what that would send: the one with this ref, or the one
    /// that has the focus. A snapshot does not say it, so it is read from the page. `None` if there is
    /// none, or it cannot be read.
    pub async fn entered(
        &self,
        session: &SessionId,
        reference: Option<&str>,
    ) -> Option<ShownElement> {
        let session = self.session(session);
        let (key, tab) = {
            let state = session.state();
            let key = match reference {
                Some(reference) => Some(state.refs.lookup(reference.parse().ok()?)?.key.clone()),
                None => None,
            };
            (key, state.current.clone()?)
        };
        // A session with a tab has a browser.
        let browser = self.inner.host.browser(self).await.ok()?;
        let record: TargetRecord = match key {
            Some(key) => browser.record(&key).await.ok()?,
            None => browser.focused(&tab).await.ok()??,
        };
        Some(ShownElement {
            words: element(&record),
            sends: sent_by(record.enter.as_ref().or(record.submission.as_ref())),
            deletes: caption_risk(&record.name) == Some(RiskKind::Delete),
        })
    }
}

fn sent_by(submission: Option<&Submission>) -> Option<String> {
    submission
        .filter(|submission| submission.method == FormMethod::Post)
        .map(|submission| format!("post {}", submission.action))
}
