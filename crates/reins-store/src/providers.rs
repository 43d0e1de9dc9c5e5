//! Model providers that the person set up, with their keys. Name, provider, address and format are
//! bound into a key's seal: a key moved to another row, or a row pointed at another address, does
//! not open.

use crate::error::StoreError;
use crate::rules::unreadable;
use crate::seal::{Sealed, open, seal};
use crate::writer::{Store, milliseconds};
use reins_core::Secret;
use rusqlite::{OptionalExtension, Row, params};
use std::fmt;
use std::str::FromStr;
use std::time::SystemTime;
use thiserror::Error;

/// A name must fit a column of a list.
const NAME_BYTES: usize = 40;

/// What the person calls a provider: `work` in `work/claude-sonnet-5-5`. So it holds no slash.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProviderName(String);

/// The text cannot name a provider.
#[derive(Debug, Error, PartialEq, Eq)]
#[error(
    "'{0}' cannot name a provider; use up to 40 letters, digits, dots, dashes and underscores, such as openai or work"
)]
pub struct ProviderNameError(String);

impl ProviderName {
    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for ProviderName {
    type Err = ProviderNameError;

    fn from_str(text: &str) -> Result<Self, ProviderNameError> {
        let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
        if text.is_empty() || text.len() > NAME_BYTES || !text.chars().all(fits) {
            return Err(ProviderNameError(text.chars().take(NAME_BYTES).collect()));
        }
        Ok(Self(text.to_owned()))
    }
}

impl fmt::Display for ProviderName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// A provider as it is kept, without its key. What the words mean is not known here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredProvider {
    /// What the person calls it.
    pub name: ProviderName,
    /// Which provider it is.
    pub provider: String,
    /// Its address.
    pub base: String,
    /// How it is spoken to.
    pub format: String,
    /// The model to use when none is named.
    pub model: Option<String>,
    /// Whether a key is kept with it.
    pub has_key: bool,
}

impl StoredProvider {
    fn bound(&self) -> Vec<u8> {
        let Self { name, provider, base, format, .. } = self;
        format!("reins provider 1\0{name}\0{provider}\0{base}\0{format}").into_bytes()
    }

    fn what(&self) -> String {
        format!("the key of the provider '{}'", self.name)
    }
}

/// The columns in the order in which they are read.
const COLUMNS: &str = "SELECT name, provider, base, format, model, nonce, sealed FROM providers";

impl Store {
    /// All providers, the one that was set last first, without their keys.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be read.
    pub async fn providers(&self) -> Result<Vec<StoredProvider>, StoreError> {
        self.run(|desk| {
            desk.read(|connection| {
                connection
                    .prepare_cached(&format!("{COLUMNS} ORDER BY set_at DESC, name"))?
                    .query_map([], |row| Ok(stored(row)?.0))?
                    .collect()
            })
        })
        .await
    }

    /// Keeps a provider, in place of the one of that name. Durable when it returns. Whether it has a
    /// key is what `key` says.
    ///
    /// # Errors
    ///
    /// Fails if the sealing key cannot be made or read, or the file cannot be written.
    pub async fn set_provider(
        &self,
        about: StoredProvider,
        key: Option<Secret<String>>,
        at: SystemTime,
    ) -> Result<(), StoreError> {
        self.run(move |desk| {
            let sealed = key
                .map(|key| seal(desk, &about.bound(), &key, || about.what()))
                .transpose()?
                .map(|Sealed { nonce, sealed }| (nonce, sealed));
            let (nonce, sealed) = sealed.unzip();
            desk.write(|work| {
                work.execute(
                    "INSERT INTO providers
                     (name, provider, base, format, model, nonce, sealed, set_at)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
                     ON CONFLICT (name) DO UPDATE SET provider = ?2, base = ?3, format = ?4,
                     model = ?5, nonce = ?6, sealed = ?7, set_at = ?8",
                    params![
                        about.name.as_str(),
                        about.provider,
                        about.base,
                        about.format,
                        about.model,
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

    /// A provider with its key. None if there is none of that name.
    ///
    /// # Errors
    ///
    /// Fails if the sealing key is missing or another one, or the row was changed.
    pub async fn provider(
        &self,
        name: ProviderName,
    ) -> Result<Option<(StoredProvider, Option<Secret<String>>)>, StoreError> {
        self.run(move |desk| {
            let found = desk.read(|connection| {
                connection
                    .prepare_cached(&format!("{COLUMNS} WHERE name = ?1"))?
                    .query_row([name.as_str()], stored)
                    .optional()
            })?;
            let Some((about, sealed)) = found else { return Ok(None) };
            let key = sealed
                .map(|sealed| open(desk, &about.bound(), &sealed, || about.what()))
                .transpose()?;
            Ok(Some((about, key)))
        })
        .await
    }

    /// Forgets a provider and its key, and says whether there was one. Durable when it returns.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be written.
    pub async fn remove_provider(&self, name: ProviderName) -> Result<bool, StoreError> {
        self.run(move |desk| {
            desk.write(|work| {
                work.execute("DELETE FROM providers WHERE name = ?1", [name.as_str()])
                    .map(|removed| removed > 0)
            })
        })
        .await
    }
}

fn stored(row: &Row<'_>) -> rusqlite::Result<(StoredProvider, Option<Sealed>)> {
    let name: String = row.get(0)?;
    let sealed = match (row.get(5)?, row.get(6)?) {
        (Some(nonce), Some(sealed)) => Some(Sealed { nonce, sealed }),
        _ => None,
    };
    let about = StoredProvider {
        name: name.parse().map_err(|error| unreadable(0, error))?,
        provider: row.get(1)?,
        base: row.get(2)?,
        format: row.get(3)?,
        model: row.get(4)?,
        has_key: sealed.is_some(),
    };
    Ok((about, sealed))
}
