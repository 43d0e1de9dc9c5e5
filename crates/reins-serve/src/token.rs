//! Bearer tokens as the command line makes, lists and removes them. The token itself is shown once.

use crate::config::fits;
use crate::error::ServeError;
use crate::keys;
use crate::limits;
use crate::scope::{self, Scopes};
use crate::serve::STORE;
use reins_core::{Secret, TenantId, TokenId};
use reins_store::{Store, StoredToken};
use std::path::Path;
use std::time::SystemTime;

/// The tokens of one data directory. Usable while a daemon runs on it: it hears of changes at once.
#[derive(Debug)]
pub struct TokenBook {
    store: Store,
}

/// A token that was just made.
#[derive(Debug)]
pub struct NewToken {
    /// The token, shown once.
    pub token: Secret<String>,
    /// For a configuration file: `sha256:…`.
    pub hash: String,
}

impl TokenBook {
    /// Opens those of a data directory.
    ///
    /// # Errors
    ///
    /// Fails if the database cannot be opened.
    pub fn open(data_dir: &Path) -> Result<Self, ServeError> {
        Ok(Self { store: Store::open(data_dir.join(STORE))? })
    }

    /// Makes a token.
    ///
    /// # Errors
    ///
    /// Fails if the tenant has one of this name already.
    pub async fn add(
        &self,
        tenant: &str,
        name: &str,
        scopes: &Scopes,
        now: SystemTime,
    ) -> Result<NewToken, ServeError> {
        if !fits(tenant) || !fits(name) {
            let most = limits::NAME_CHARS;
            return Err(ServeError::Bad(format!(
                "names and tenants are 1 to {most} characters on one line"
            )));
        }
        let token = keys::secret("rst_")?;
        let hash = keys::hash(token.expose());
        let row = StoredToken {
            id: TokenId::new(keys::id("tk")?),
            tenant: TenantId::new(tenant),
            name: name.to_owned(),
            scopes: scope::words(scopes),
            hash,
            created_at: now,
        };
        if !self.store.add_token(row).await? {
            return Err(ServeError::state(
                "token_name_taken",
                format!(
                    "'{tenant}' has a token called '{name}' already; remove it or take another name"
                ),
            ));
        }
        Ok(NewToken { token, hash: format!("sha256:{}", keys::hex(&hash)) })
    }

    /// All of them, never the tokens themselves.
    ///
    /// # Errors
    ///
    /// Fails if the database cannot be read.
    pub async fn list(&self) -> Result<Vec<StoredToken>, ServeError> {
        Ok(self.store.tokens().await?)
    }

    /// Removes one; `false` if there is none.
    ///
    /// # Errors
    ///
    /// Fails if the database cannot be written.
    pub async fn remove(&self, tenant: &str, name: &str) -> Result<bool, ServeError> {
        Ok(self.store.remove_token(TenantId::new(tenant), name.to_owned()).await?)
    }
}
