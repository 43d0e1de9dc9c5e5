//! Bearer tokens, by their hash alone.

use crate::error::StoreError;
use crate::receipt::time;
use crate::writer::{Store, milliseconds};
use reins_core::{TenantId, TokenId};
use rusqlite::{OptionalExtension, Row, params};
use std::time::SystemTime;

/// A token as it is kept: not the token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredToken {
    /// What may be said of it.
    pub id: TokenId,
    /// Whose rows it opens.
    pub tenant: TenantId,
    /// Who or what holds it; others see this name.
    pub name: String,
    /// What it may do, as words separated by spaces.
    pub scopes: String,
    /// SHA-256 of the token.
    pub hash: [u8; 32],
    /// When it was made.
    pub created_at: SystemTime,
}

const COLUMNS: &str = "id, tenant, name, scopes, hash, created_at";

impl Store {
    /// Keeps a token; one with the same tenant and name is refused with `false`. Durable when it returns.
    pub async fn add_token(&self, token: StoredToken) -> Result<bool, StoreError> {
        self.run(move |desk| {
            desk.write(|work| {
                let added = work.execute(
                    "INSERT INTO serve_tokens (id, tenant, name, scopes, hash, created_at)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT DO NOTHING",
                    params![
                        token.id.as_str(),
                        token.tenant.as_str(),
                        token.name,
                        token.scopes,
                        token.hash,
                        milliseconds(token.created_at),
                    ],
                )?;
                Ok(added > 0)
            })
        })
        .await
    }

    /// The token with this hash.
    pub async fn token(&self, hash: [u8; 32]) -> Result<Option<StoredToken>, StoreError> {
        self.run(move |desk| {
            desk.read(|connection| {
                connection
                    .prepare_cached(&format!("SELECT {COLUMNS} FROM serve_tokens WHERE hash = ?1"))?
                    .query_row([hash], token)
                    .optional()
            })
        })
        .await
    }

    /// All tokens, by tenant and name.
    pub async fn tokens(&self) -> Result<Vec<StoredToken>, StoreError> {
        self.run(|desk| {
            desk.read(|connection| {
                connection
                    .prepare_cached(&format!(
                        "SELECT {COLUMNS} FROM serve_tokens ORDER BY tenant, name"
                    ))?
                    .query_map([], token)?
                    .collect()
            })
        })
        .await
    }

    /// Forgets a token by its tenant and name, and says whether there was one. Durable when it returns.
    pub async fn remove_token(&self, tenant: TenantId, name: String) -> Result<bool, StoreError> {
        self.run(move |desk| {
            desk.write(|work| {
                let gone = work.execute(
                    "DELETE FROM serve_tokens WHERE tenant = ?1 AND name = ?2",
                    [tenant.as_str(), &name],
                )?;
                Ok(gone > 0)
            })
        })
        .await
    }
}

fn token(row: &Row<'_>) -> rusqlite::Result<StoredToken> {
    Ok(StoredToken {
        id: TokenId::new(row.get::<_, String>(0)?),
        tenant: TenantId::new(row.get::<_, String>(1)?),
        name: row.get(2)?,
        scopes: row.get(3)?,
        hash: row.get(4)?,
        created_at: time(row.get(5)?),
    })
}
