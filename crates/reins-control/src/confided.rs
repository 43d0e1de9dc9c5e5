//! What the model itself types into fields for secrets: the person told it, so it is nothing new to
//! the model, but nobody keeps it.

use crate::call::Call;
use crate::control::{Control, lock};
use futures_util::future::BoxFuture;
use reins_core::{Action, Secret, Sensitivity, SessionId};
use std::sync::Arc;

/// Whoever keeps what the model says: it hears what to leave out.
pub trait Confidant: std::fmt::Debug + Send + Sync {
    /// A value is about to be typed into a field for a password, a code or a payment. The step goes on
    /// when this returns.
    fn confided<'a>(&'a self, value: &'a Secret<String>) -> BoxFuture<'a, ()>;
}

impl Control {
    /// Says who keeps what the model says.
    pub fn confide_in(&self, confidant: Arc<dyn Confidant>) {
        *lock(&self.inner.confidant) = Some(confidant);
    }

    /// How often the model typed into a field for secrets in a session.
    pub fn confided(&self, session: &SessionId) -> u64 {
        self.session(session).state().confided
    }
}

impl Call<'_> {
    /// Tells what is about to be typed into a field for secrets.
    pub(crate) async fn confide(&self, action: &Action) {
        let Action::Type { target, text, kept: None, .. } = action else { return };
        if target.sensitivity == Sensitivity::None || text.expose().is_empty() {
            return;
        }
        self.session.state().confided += 1;
        let confidant = lock(&self.control.inner.confidant).clone();
        if let Some(confidant) = confidant {
            confidant.confided(text).await;
        }
    }
}
