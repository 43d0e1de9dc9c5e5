//! Secrets that the person keeps with Reins, each for one exact origin. Name, origin and kind are
//! bound into the seal: a value moved to another row does not open.

use crate::error::StoreError;
use crate::rules::unreadable;
use crate::seal::{Sealed, open, seal};
use crate::writer::{Store, milliseconds};
use reins_core::{Origin, Secret, SecretKind, SecretName};
use rusqlite::{OptionalExtension, Row, params};
use std::time::SystemTime;

/// What is known of a kept secret without opening it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredSecret {
    /// Its name.
    pub name: SecretName,
    /// The only origin that it may be typed into.
    pub origin: Origin,
    /// Which fields it fits.
    pub kind: SecretKind,
}

impl StoredSecret {
    fn bound(&self) -> Vec<u8> {
        format!("reins secret 1\0{}\0{}\0{}", self.name, self.origin, self.kind).into_bytes()
    }

    fn what(&self) -> String {
        format!("the secret '{}'", self.name)
    }
}

impl Store {
    /// All secrets, by name, without their values.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be read.
    pub async fn secrets(&self) -> Result<Vec<StoredSecret>, StoreError> {
        self.run(|desk| {
            desk.read(|connection| {
                connection
                    .prepare_cached("SELECT name, origin, kind FROM secrets ORDER BY name")?
                    .query_map([], about)?
                    .collect()
            })
        })
        .await
    }

    /// Keeps a secret, in place of the one of that name. Durable when it returns.
    ///
    /// # Errors
    ///
    /// Fails if the key cannot be made or read, or the file cannot be written.
    pub async fn set_secret(
        &self,
        about: StoredSecret,
        value: Secret<String>,
        at: SystemTime,
    ) -> Result<(), StoreError> {
        self.run(move |desk| {
            let Sealed { nonce, sealed } = seal(desk, &about.bound(), &value, || about.what())?;
            desk.write(|work| {
                work.execute(
                    "INSERT INTO secrets (name, origin, kind, nonce, sealed, set_at)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6)
                     ON CONFLICT (name) DO UPDATE SET
                     origin = ?2, kind = ?3, nonce = ?4, sealed = ?5, set_at = ?6",
                    params![
                        about.name.as_str(),
                        about.origin.to_string(),
                        about.kind.as_str(),
                        nonce,
                        sealed,
                        milliseconds(at)
                    ],
                )
                .map(drop)
            })
        })
        .await
    }

    /// Opens a secret. None if there is none of that name.
    ///
    /// # Errors
    ///
    /// Fails if the key is missing or another one, or the row was changed.
    pub async fn secret(
        &self,
        name: SecretName,
    ) -> Result<Option<(StoredSecret, Secret<String>)>, StoreError> {
        self.run(move |desk| {
            let found = desk.read(|connection| {
                connection
                    .prepare_cached(
                        "SELECT name, origin, kind, nonce, sealed FROM secrets WHERE name = ?1",
                    )?
                    .query_row([name.as_str()], |row| {
                        Ok((about(row)?, Sealed { nonce: row.get(3)?, sealed: row.get(4)? }))
                    })
                    .optional()
            })?;
            let Some((about, sealed)) = found else { return Ok(None) };
            let value = open(desk, &about.bound(), &sealed, || about.what())?;
            Ok(Some((about, value)))
        })
        .await
    }

    /// Forgets a secret, and says whether there was one. Durable when it returns.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be written.
    pub async fn remove_secret(&self, name: SecretName) -> Result<bool, StoreError> {
        self.run(move |desk| {
            desk.write(|work| {
                work.execute("DELETE FROM secrets WHERE name = ?1", [name.as_str()])
                    .map(|removed| removed > 0)
            })
        })
        .await
    }
}

fn about(row: &Row<'_>) -> rusqlite::Result<StoredSecret> {
    let text = |at: usize| row.get::<_, String>(at);
    Ok(StoredSecret {
        name: text(0)?.parse().map_err(|error| unreadable(0, error))?,
        origin: Origin::parse(&text(1)?).map_err(|error| unreadable(1, error))?,
        kind: text(2)?.parse().map_err(|error| unreadable(2, error))?,
    })
}
