//! Names and kinds of secrets that the person keeps with Reins for a site.

use std::fmt;
use std::str::FromStr;
use thiserror::Error;

/// The name of a kept secret: the only thing of it that a model ever sees.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SecretName(String);

/// A name must fit one line of a card.
const NAME_BYTES: usize = 64;

/// The text cannot name a secret.
#[derive(Debug, Error, PartialEq, Eq)]
#[error(
    "'{0}' cannot name a secret; use up to 64 letters, digits, dots, dashes and underscores, such as work-login"
)]
pub struct SecretNameError(String);

impl SecretNameError {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        "bad_secret_name"
    }
}

impl SecretName {
    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for SecretName {
    type Err = SecretNameError;

    fn from_str(text: &str) -> Result<Self, SecretNameError> {
        let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
        if text.is_empty() || text.len() > NAME_BYTES || !text.chars().all(fits) {
            return Err(SecretNameError(text.chars().take(NAME_BYTES).collect()));
        }
        Ok(Self(text.to_owned()))
    }
}

impl fmt::Display for SecretName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Which fields a secret may be typed into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SecretKind {
    /// Password fields only.
    Password,
    /// Fields for one-time codes only.
    Code,
    /// Payment fields only.
    Payment,
    /// Ordinary text fields, such as a user name. It shows on the page once it is typed.
    Text,
}

impl SecretKind {
    /// The kind as settings spell it.
    pub fn as_str(self) -> &'static str {
        match self {
            SecretKind::Password => "password",
            SecretKind::Code => "code",
            SecretKind::Payment => "payment",
            SecretKind::Text => "text",
        }
    }
}

impl fmt::Display for SecretKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The text is no kind of secret.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("'{0}' is no kind of secret; use password, code, payment or text")]
pub struct SecretKindError(String);

impl SecretKindError {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        "unknown_secret_kind"
    }
}

impl FromStr for SecretKind {
    type Err = SecretKindError;

    fn from_str(text: &str) -> Result<Self, SecretKindError> {
        [Self::Password, Self::Code, Self::Payment, Self::Text]
            .into_iter()
            .find(|kind| kind.as_str() == text)
            .ok_or_else(|| SecretKindError(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_short_and_plain() {
        for good in ["a", "work-login", "bank.pin_2"] {
            assert_eq!(good.parse::<SecretName>().expect("a name").as_str(), good);
        }
        let long = "x".repeat(65);
        for bad in ["", "a b", "a\n", "ä", "<page>", long.as_str()] {
            assert_eq!(bad.parse::<SecretName>().expect_err("no name").code(), "bad_secret_name");
        }
    }
}
