//! Secrets that the person keeps with Reins, each for one exact origin.
//!
//! A value is sealed with XChaCha20-Poly1305 under a key in a file of its own beside the database,
//! readable by the owner only. Name, origin and kind are bound into the seal: a value moved to
//! another row does not open.

use crate::error::StoreError;
use crate::rules::unreadable;
use crate::writer::{Desk, Store, milliseconds};
use chacha20poly1305::aead::{Aead, Payload};
use chacha20poly1305::{Key, KeyInit, XChaCha20Poly1305, XNonce};
use reins_core::{Origin, Secret, SecretKind, SecretName};
use rusqlite::{OptionalExtension, Row, params};
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use zeroize::Zeroizing;

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
            let cipher = cipher(desk)?;
            let mut nonce = [0u8; 24];
            random(&mut nonce)?;
            let bound = about.bound();
            let sealed = cipher
                .encrypt(
                    &XNonce::from(nonce),
                    Payload { msg: value.expose().as_bytes(), aad: &bound },
                )
                .map_err(|_| StoreError::Sealed { name: about.name.clone() })?;
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
                        Ok((about(row)?, row.get::<_, [u8; 24]>(3)?, row.get::<_, Vec<u8>>(4)?))
                    })
                    .optional()
            })?;
            let Some((about, nonce, sealed)) = found else { return Ok(None) };
            let bound = about.bound();
            let open = cipher(desk)?
                .decrypt(&XNonce::from(nonce), Payload { msg: &sealed, aad: &bound })
                .ok()
                .and_then(|bytes| String::from_utf8(bytes).ok());
            match open {
                Some(value) => Ok(Some((about, Secret::new(value)))),
                None => Err(StoreError::Sealed { name: about.name }),
            }
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

/// The key's file, beside the database.
fn key_path(database: &Path) -> PathBuf {
    database.with_extension("key")
}

fn cipher(desk: &Desk) -> Result<XChaCha20Poly1305, StoreError> {
    let path = key_path(desk.path());
    let key = match read_key(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => make_key(&path)?,
        Err(source) => return Err(StoreError::Key { path, source }),
        Ok(key) => key,
    };
    Ok(XChaCha20Poly1305::new(&Key::from(*key)))
}

fn read_key(path: &Path) -> io::Result<Zeroizing<[u8; 32]>> {
    let mut file = File::open(path)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        if file.metadata()?.permissions().mode() & 0o077 != 0 {
            return Err(io::Error::other("others may read it; run chmod 600 on it"));
        }
    }
    let mut key = Zeroizing::new([0u8; 32]);
    file.read_exact(key.as_mut())?;
    Ok(key)
}

/// Makes the key. When another process made it in the same moment, its key is the one.
fn make_key(path: &Path) -> Result<Zeroizing<[u8; 32]>, StoreError> {
    let failed = |source| StoreError::Key { path: path.to_owned(), source };
    let mut key = Zeroizing::new([0u8; 32]);
    random(key.as_mut())?;
    // Written whole under another name first: nobody may see half a key.
    let mut name = [0u8; 8];
    random(&mut name)?;
    let fresh = path.with_extension(format!("key-{:016x}", u64::from_le_bytes(name)));
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let made = options.open(&fresh).and_then(|mut file| {
        file.write_all(key.as_ref())?;
        file.sync_all()?;
        std::fs::hard_link(&fresh, path)
    });
    let removed = std::fs::remove_file(&fresh);
    match made {
        Ok(()) => removed.map(|()| key).map_err(failed),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            read_key(path).map_err(failed)
        }
        Err(source) => Err(failed(source)),
    }
}

fn random(bytes: &mut [u8]) -> Result<(), StoreError> {
    getrandom::fill(bytes).map_err(|source| StoreError::NoRandomness { source })
}
