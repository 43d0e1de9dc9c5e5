//! A kept conversation, read again so that a run can go on with it.

use crate::attach::Attachment;
use crate::cli::{Cli, Command, RunArgs};
use crate::record::Note;
use crate::replay::{self, Entry};
use anyhow::{Context, Result, bail};
use clap::Parser;
use reins_agent::{JournalEntry, JournalEvent, Sequence};
use reins_store::{Store, StoredConversation, StoredEntry};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Entries read at once: a page each of them, a few megabytes.
const PORTION: u32 = 500;

/// What a run was started with: enough to start it the same way again.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Settings {
    /// The command line after the program's name.
    args: Vec<String>,
    /// The folder that its paths begin in.
    dir: PathBuf,
    /// What the environment said beside it.
    #[serde(default)]
    model: Option<String>,
    /// The same.
    #[serde(default)]
    base_url: Option<String>,
}

impl Settings {
    /// Those of this process.
    pub(crate) fn of(args: &RunArgs) -> Result<Self> {
        let own = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned());
        Ok(Self {
            args: own.collect(),
            dir: std::env::current_dir().context("the current folder is gone")?,
            model: args.model.clone(),
            base_url: args.base_url.clone(),
        })
    }

    /// Reads them, and goes to the folder that they begin in.
    pub(crate) fn restore(stored: &str) -> Result<RunArgs> {
        let unreadable =
            "how this run was started cannot be read; begin a new one with `reins run`";
        let settings: Self = serde_json::from_str(stored).context(unreadable)?;
        let words = std::iter::once("reins".to_owned()).chain(settings.args);
        let Command::Run(args) = Cli::try_parse_from(words).context(unreadable)?.command else {
            bail!(unreadable);
        };
        let mut args = *args;
        std::env::set_current_dir(&settings.dir).with_context(|| {
            format!("the folder that this run was started in is gone: {}", settings.dir.display())
        })?;
        args.model = settings.model;
        args.base_url = settings.base_url;
        Ok(args)
    }
}

/// A conversation as it was kept.
#[derive(Debug)]
pub(crate) struct Past {
    pub(crate) about: StoredConversation,
    /// What the agent wrote.
    pub(crate) entries: Vec<JournalEntry>,
    /// Files of the person.
    pub(crate) attached: Vec<Attachment>,
    /// The last page that was opened by its address.
    pub(crate) opened: Option<String>,
    /// The last page.
    pub(crate) place: Option<String>,
}

impl Past {
    /// Reads a conversation.
    pub(crate) async fn read(store: &Store, about: StoredConversation) -> Result<Self> {
        let mut past =
            Self { about, entries: Vec::new(), attached: Vec::new(), opened: None, place: None };
        for entry in all(store, &past.about).await? {
            match replay::read(&entry) {
                Entry::Event(event) => {
                    past.entries
                        .push(JournalEntry { sequence: Sequence(entry.seq), event: *event });
                }
                Entry::Note(Note::Attached(file)) => past.attached.push(file),
                Entry::Note(Note::Place { url, opened }) => {
                    if opened {
                        past.opened = Some(url.clone());
                    }
                    past.place = Some(url);
                }
                Entry::Note(_) | Entry::Unknown => {}
            }
        }
        Ok(past)
    }

    /// Whether the last run was cut off.
    pub(crate) fn cut_off(&self) -> bool {
        let last = self.entries.iter().rev().find(|entry| {
            matches!(entry.event, JournalEvent::Person { .. } | JournalEvent::End { .. })
        });
        last.is_some_and(|entry| matches!(entry.event, JournalEvent::Person { .. }))
    }

    /// What the last run answered, if it was done.
    pub(crate) fn answer(&self) -> Option<String> {
        let ends = self.entries.iter().rev().find_map(|entry| match &entry.event {
            JournalEvent::End { how, text, .. } => Some((how, text)),
            _ => None,
        });
        ends.filter(|(how, _)| *how == "done").map(|(_, text)| text.clone())
    }

    /// The person's words of the last run: the task and its corrections.
    pub(crate) fn words(&self) -> String {
        let mut words: Vec<&str> = Vec::new();
        for entry in &self.entries {
            match &entry.event {
                JournalEvent::Person { text, .. } => words = vec![text],
                JournalEvent::CorrectionQueued { text, .. } => words.push(text),
                _ => {}
            }
        }
        words.join("\n")
    }

    /// Texts that may have gone into a field for secrets just before the end.
    pub(crate) fn typed_without_end(&self) -> Vec<String> {
        let events: Vec<JournalEvent> =
            self.entries.iter().map(|entry| entry.event.clone()).collect();
        replay::typed_without_end(&events)
    }
}

/// All entries of a conversation.
pub(crate) async fn all(store: &Store, about: &StoredConversation) -> Result<Vec<StoredEntry>> {
    let mut entries: Vec<StoredEntry> = Vec::new();
    loop {
        let after = entries.last().map_or(0, |entry| entry.seq);
        let portion = store.journal(about.id.clone(), after, PORTION).await?;
        if portion.is_empty() {
            return Ok(entries);
        }
        entries.extend(portion);
    }
}
