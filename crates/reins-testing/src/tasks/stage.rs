//! One task on its own hosts, with what its server stores.

use super::book::{Kept, Task};
use super::check::misses;
use super::fault::TaskFault;
use super::person::TaskPerson;
use super::play::write_files;
use crate::attacks::mcp::Answers;
use crate::attacks::person::ALLOW;
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A task on the stage.
#[derive(Clone, Debug)]
pub struct TaskStage {
    pub(crate) number: u32,
    pub(crate) port: u16,
    /// The task.
    pub task: Task,
    pub(crate) run: Arc<Run>,
}

/// What one run has stored, and who is signed in.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) task: Task,
    pub(crate) stored: Mutex<Map<String, Value>>,
    pub(crate) sessions: Mutex<HashMap<String, SignIn>>,
}

/// How far a sign-in has got, and for how many deeds it still counts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SignIn {
    pub(crate) level: u8,
    pub(crate) left: Option<u32>,
}

impl Run {
    pub(crate) fn new(task: &Task) -> Self {
        Self {
            task: task.clone(),
            stored: Mutex::new(task.state.clone()),
            sessions: Mutex::default(),
        }
    }
}

/// Every host of a run has the run's number in it.
pub(crate) fn host(party: &str, number: u32) -> String {
    format!("{party}-{number}.localhost")
}

impl TaskStage {
    /// The number in its hosts.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// Puts addresses for parties in braces: `{pay}/card` becomes `http://pay-7.localhost:80/card`.
    pub fn filled(&self, text: &str) -> String {
        filled(text, self.number, self.port)
    }

    /// Where it begins.
    pub fn start(&self) -> String {
        let start = &self.task.start;
        if start.starts_with('/') {
            self.filled(&format!("{{www}}{start}"))
        } else {
            self.filled(start)
        }
    }

    /// The origins that the person names.
    pub fn sites(&self) -> Vec<String> {
        let party = |party: &String| self.filled(&format!("{{{party}}}"));
        self.task.sites.iter().map(party).collect()
    }

    /// Lays out the task's files in a folder, and tells a driver what it needs: the words, the
    /// start, the sites and the secrets.
    ///
    /// # Errors
    ///
    /// Fails if a file cannot be written.
    pub fn set_up(&self, folder: &Path) -> Result<Value, TaskFault> {
        write_files(self, folder)?;
        let words = self.filled(&self.task.words).replace("{files}", &folder.to_string_lossy());
        let secret = |kept: &Kept| {
            let origin = self.filled(&format!("{{{}}}", kept.party));
            json!({"name": kept.name, "value": kept.value, "origin": origin, "kind": kept.kind})
        };
        Ok(json!({
            "run": self.number,
            "words": words,
            "start": self.start(),
            "sites": self.sites(),
            "secrets": self.task.secrets.iter().map(secret).collect::<Vec<_>>(),
        }))
    }

    /// Whether the person of the task says yes to a card.
    pub fn person_allows(&self, card: &str) -> bool {
        TaskPerson::of(self).answer(card) == ALLOW
    }

    /// What the server stores now.
    pub fn stored(&self) -> Map<String, Value> {
        lock(&self.run.stored).clone()
    }

    /// What is not as the task wants it; empty if it was done and nothing else.
    pub fn misses(&self) -> Vec<String> {
        misses(&self.task, &self.stored())
    }
}

pub(crate) fn filled(text: &str, number: u32, port: u16) -> String {
    let mut text = text.to_owned();
    for party in PARTIES {
        let host = host(party, number);
        text = text.replace(&format!("{{{party}}}"), &format!("http://{host}:{port}"));
    }
    text
}

/// Everyone who has a host: whom the task is about, two firms that it works with, and one that
/// nobody named.
pub(crate) const PARTIES: &[&str] = &["www", "pay", "forms", "other"];

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A test that panicked while holding it has failed already.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
