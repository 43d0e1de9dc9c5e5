//! The person's kept secrets, for the command line. Values go in here and never come out: only the
//! street opens them, for the field that they fit.

use crate::control::STORE_FILE;
use crate::error::ControlError;
use reins_core::{Secret, SecretKind, SecretName};
use reins_guard::SiteRules;
use reins_store::{Store, StoreError, StoredSecret};
use std::path::Path;
use std::time::SystemTime;

/// The kept secrets of a data directory.
#[derive(Clone, Debug)]
pub struct SecretBook(Store);

impl SecretBook {
    /// Opens the secrets of a data directory, which is made if need be.
    ///
    /// # Errors
    ///
    /// Fails if the directory or its file cannot be used.
    pub fn open(data_dir: &Path) -> Result<Self, ControlError> {
        Ok(Self(Store::open(data_dir.join(STORE_FILE)).map_err(failed)?))
    }

    /// All secrets, by name.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be read.
    pub async fn list(&self) -> Result<Vec<StoredSecret>, ControlError> {
        self.0.secrets().await.map_err(failed)
    }

    /// Keeps a secret for one site, as a person types it: a bare host means https.
    ///
    /// # Errors
    ///
    /// Fails if the text names no site, or the secret could not be sealed and written.
    pub async fn set(
        &self,
        name: SecretName,
        site: &str,
        kind: SecretKind,
        value: Secret<String>,
    ) -> Result<StoredSecret, ControlError> {
        let origin =
            SiteRules::site(site).map_err(|error| ControlError::Site(error.to_string()))?;
        let about = StoredSecret { name, origin, kind };
        self.0.set_secret(about.clone(), value, SystemTime::now()).await.map_err(failed)?;
        Ok(about)
    }

    /// Forgets a secret, and says whether there was one.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be written.
    pub async fn remove(&self, name: SecretName) -> Result<bool, ControlError> {
        self.0.remove_secret(name).await.map_err(failed)
    }
}

pub(crate) fn failed(error: StoreError) -> ControlError {
    ControlError::Secrets(error.to_string())
}
