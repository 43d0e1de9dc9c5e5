//! What keeps the suite from being read or played. None of it is a verdict about a task.

use crate::attacks::AttackFault;
use std::io;
use std::path::PathBuf;
use thiserror::Error;

/// Why a task could not be read or played.
#[derive(Debug, Error)]
pub enum TaskFault {
    /// A file of the suite cannot be read, or one that a task needs cannot be written.
    #[error("{} cannot be used", .0.display())]
    File(PathBuf, #[source] io::Error),
    /// A file of the suite is no TOML of the right form.
    #[error("{}: {}", .0.display(), .1)]
    Form(PathBuf, Box<toml::de::Error>),
    /// A task says something that means nothing.
    #[error("{task}: {what}")]
    Task {
        /// File and name.
        task: String,
        /// What is wrong.
        what: String,
    },
    /// The server of the suite could not start.
    #[error("no port could be had")]
    Port(#[source] io::Error),
    /// The program under test kept no secret.
    #[error("the secret of {0} could not be kept")]
    Secret(String),
    /// The program under test did not start, ended, or did not answer.
    #[error(transparent)]
    Program(#[from] AttackFault),
}

impl TaskFault {
    pub(crate) fn task(task: &str, what: impl Into<String>) -> Self {
        Self::Task { task: task.to_owned(), what: what.into() }
    }
}
