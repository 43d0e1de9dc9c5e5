//! Writes a run into its journal, if it has one.

use crate::error::AgentError;
use crate::journal::{Journal, JournalEvent};
use crate::report::{RunEnd, failed};
use std::sync::Arc;

/// A run's way to its journal.
#[derive(Clone, Default)]
pub(crate) struct Recorder(Option<Arc<dyn Journal>>);

impl Recorder {
    pub(crate) fn new(journal: Arc<dyn Journal>) -> Self {
        Self(Some(journal))
    }

    /// Writes an event.
    pub(crate) async fn append(&self, event: JournalEvent) -> Result<(), AgentError> {
        if let Some(journal) = &self.0 {
            journal.append(event).await?;
        }
        Ok(())
    }

    /// Writes an event that is only made if there is a journal. What cannot be recorded is not done: the
    /// run ends (W-124).
    pub(crate) async fn write(&self, event: impl FnOnce() -> JournalEvent) -> Result<(), RunEnd> {
        let Some(journal) = &self.0 else {
            return Ok(());
        };
        match journal.append(event()).await {
            Ok(_) => Ok(()),
            Err(error) => {
                tracing::error!(%error, "the journal could not be written");
                Err(failed(error.code(), &error.to_string(), None))
            }
        }
    }
}
