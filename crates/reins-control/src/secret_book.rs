//! The person's kept secrets, for the command line. Values go in here and never come out: only the
//! street opens them, for the field that they fit.

use crate::control::STORE_FILE;
use crate::error::ControlError;
use reins_core::{Origin, Secret, SecretKind, SecretName};
use reins_guard::SiteRules;
use reins_store::{Store, StoreError, StoredSecret};
use std::path::Path;
use std::time::SystemTime;

/// The kept secrets of a data directory.
#[derive(Clone, Debug)]
pub struct SecretBook(Store);

/// What is told of a kept secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptSecret {
    /// Its name, which a model may use.
    pub name: SecretName,
    /// The only origin that it is typed into.
    pub origin: Origin,
    /// Which fields it fits.
    pub kind: SecretKind,
}

impl SecretBook {
    /// Opens the secrets of a data directory, which is made if need be.
    ///
    /// # Errors
    ///
    /// Fails if the directory or its file cannot be used.
    pub fn open(data_dir: &Path) -> Result<Self, ControlError> {
        std::fs::create_dir_all(data_dir)
            .map_err(|error| ControlError::Secrets(format!("{} ({error})", data_dir.display())))?;
        Ok(Self(Store::open(data_dir.join(STORE_FILE)).map_err(failed)?))
    }

    /// All secrets, by name.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be read.
    pub async fn list(&self) -> Result<Vec<KeptSecret>, ControlError> {
        let kept = self.0.secrets().await.map_err(failed)?;
        Ok(kept
            .into_iter()
            .map(|StoredSecret { name, origin, kind }| KeptSecret { name, origin, kind })
            .collect())
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
    ) -> Result<KeptSecret, ControlError> {
        let origin =
            SiteRules::site(site).map_err(|error| ControlError::Site(error.to_string()))?;
        let about = StoredSecret { name, origin, kind };
        self.0.set_secret(about.clone(), value, SystemTime::now()).await.map_err(failed)?;
        let StoredSecret { name, origin, kind } = about;
        Ok(KeptSecret { name, origin, kind })
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
