//! Randomness, hashes and signatures.

use crate::error::ServeError;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use reins_core::Secret;
use ring::{digest, hmac};

/// No vowels, so that no id is a word, and nothing that looks like another.
const LETTERS: &[u8; 32] = b"bcdfghjkmnpqrstvwxz234567890BCDF";

/// Letters of an id: 32^20 are 2^100. Ids are no secrets, but nobody finds one by trying.
const ID_LETTERS: usize = 20;

/// A fresh id with its kind in front.
pub(crate) fn id(kind: &str) -> Result<String, ServeError> {
    let mut bytes = [0u8; ID_LETTERS];
    random(&mut bytes)?;
    let letters = bytes.iter().map(|byte| char::from(LETTERS[usize::from(byte % 32)]));
    Ok(format!("{kind}_{}", letters.collect::<String>()))
}

/// A fresh secret: 256 bits, which are 43 letters (S-X01).
pub fn secret(kind: &str) -> Result<Secret<String>, ServeError> {
    let mut bytes = [0u8; 32];
    random(&mut bytes)?;
    Ok(Secret::new(format!("{kind}{}", URL_SAFE_NO_PAD.encode(bytes))))
}

fn random(bytes: &mut [u8]) -> Result<(), ServeError> {
    getrandom::fill(bytes).map_err(|source| ServeError::Randomness(source.to_string()))
}

/// What is kept of a secret.
pub fn hash(secret: &str) -> [u8; 32] {
    let mut hash = [0u8; 32];
    hash.copy_from_slice(digest::digest(&digest::SHA256, secret.as_bytes()).as_ref());
    hash
}

/// Signs a message, as lower-case hex.
pub(crate) fn sign(key: &Secret<String>, message: &[u8]) -> String {
    let key = hmac::Key::new(hmac::HMAC_SHA256, key.expose().as_bytes());
    hex(hmac::sign(&key, message).as_ref())
}

/// Lower-case hex.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Reads 32 bytes of hex.
pub(crate) fn unhex(text: &str) -> Option<[u8; 32]> {
    let mut bytes = [0u8; 32];
    if text.len() != 64 || !text.is_ascii() {
        return None;
    }
    for (byte, pair) in bytes.iter_mut().zip(text.as_bytes().chunks(2)) {
        *byte = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    /// Known answers: FIPS 180-2 "abc", and RFC 4231's second case.
    #[test]
    fn hashes_and_signatures_are_the_standard_ones() {
        assert_eq!(
            hex(&hash("abc")),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
        assert_eq!(
            sign(&Secret::new("Jefe".to_owned()), b"what do ya want for nothing?"),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        );
        assert_eq!(unhex(&hex(&hash("abc"))).unwrap(), hash("abc"));
        assert!(unhex("zz").is_none());
    }

    /// S-X01: a token has at least 32 characters, and none is made twice.
    #[test]
    fn s_x01_tokens_are_long_and_never_the_same() {
        let (a, b) = (secret("rst_").unwrap(), secret("rst_").unwrap());
        assert!(a.expose().len() >= 32 + 4);
        assert_ne!(a.expose(), b.expose());
        assert_ne!(id("sb").unwrap(), id("sb").unwrap());
        assert_eq!(format!("{a:?}"), "[redacted]");
    }
}
