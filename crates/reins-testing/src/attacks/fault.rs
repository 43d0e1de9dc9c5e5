//! What keeps the corpus from being read or played. None of it is a verdict about an attack.

use std::io;
use std::path::PathBuf;
use thiserror::Error;

/// Why a case could not be read or played.
#[derive(Debug, Error)]
pub enum AttackFault {
    /// A file of the corpus cannot be read.
    #[error("{} cannot be read", .0.display())]
    Unreadable(PathBuf, #[source] io::Error),
    /// A file of the corpus is no TOML of the right form.
    #[error("{}: {}", .0.display(), .1)]
    Form(PathBuf, Box<toml::de::Error>),
    /// A case says something that means nothing.
    #[error("{case}: {what}")]
    Case {
        /// Family and name.
        case: String,
        /// What is wrong.
        what: String,
    },
    /// A server of the corpus could not start.
    #[error("no port could be had")]
    Port(#[source] io::Error),
    /// The program under test did not start, ended, or did not answer.
    #[error("the program under test {0}")]
    Program(&'static str),
}

impl AttackFault {
    pub(crate) fn case(case: &str, what: impl Into<String>) -> Self {
        Self::Case { case: case.to_owned(), what: what.into() }
    }
}
