//! How values are sealed: XChaCha20-Poly1305 under one key. What a value belongs to is bound into its
//! seal.

use crate::error::StoreError;
use crate::key::{key, random};
use crate::writer::Desk;
use chacha20poly1305::aead::{Aead, Payload};
use chacha20poly1305::{Key, KeyInit, XChaCha20Poly1305, XNonce};
use reins_core::Secret;

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
    let nonce: [u8; 24] = random()?;
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

fn cipher(desk: &Desk) -> Result<XChaCha20Poly1305, StoreError> {
    Ok(XChaCha20Poly1305::new(&Key::from(*key(desk)?)))
}
