//! How values are sealed: XChaCha20-Poly1305 under a key in a file of its own beside the database,
//! readable by the owner only. What a value belongs to is bound into its seal.

use crate::error::StoreError;
use crate::writer::Desk;
use chacha20poly1305::aead::{Aead, Payload};
use chacha20poly1305::{Key, KeyInit, XChaCha20Poly1305, XNonce};
use reins_core::Secret;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use zeroize::Zeroizing;

/// A sealed value.
pub(crate) struct Sealed {
    pub(crate) nonce: [u8; 24],
    pub(crate) sealed: Vec<u8>,
}

/// Seals a value for what it belongs to. `what` names it in an error.
pub(crate) fn seal(
    desk: &Desk,
    bound: &[u8],
    value: &Secret<String>,
    what: impl FnOnce() -> String,
) -> Result<Sealed, StoreError> {
    let cipher = cipher(desk)?;
    let mut nonce = [0u8; 24];
    random(&mut nonce)?;
    let payload = Payload { msg: value.expose().as_bytes(), aad: bound };
    let sealed = cipher
        .encrypt(&XNonce::from(nonce), payload)
        .map_err(|_| StoreError::Sealed { what: what() })?;
    Ok(Sealed { nonce, sealed })
}

/// Opens a sealed value, if it belongs to just this.
pub(crate) fn open(
    desk: &Desk,
    bound: &[u8],
    value: &Sealed,
    what: impl FnOnce() -> String,
) -> Result<Secret<String>, StoreError> {
    let payload = Payload { msg: &value.sealed, aad: bound };
    let opened = cipher(desk)?.decrypt(&XNonce::from(value.nonce), payload).ok();
    match opened.and_then(|bytes| String::from_utf8(bytes).ok()) {
        Some(value) => Ok(Secret::new(value)),
        None => Err(StoreError::Sealed { what: what() }),
    }
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
