//! Conversations of the agent and their journals: what survives a crash, is continued by `reins resume`, and
//! is replayed to whoever watches later (W-070, W-081). The entries' content is not known here.

use crate::error::StoreError;
use crate::receipt::time;
use crate::rules::unreadable;
use crate::writer::{Desk, Durability, Store, milliseconds};
use reins_core::{ConversationId, Secret};
use rusqlite::{OptionalExtension, Row, params};
use std::fmt;
use std::str::FromStr;
use std::time::SystemTime;
use thiserror::Error;

/// A name must fit a column of a list.
const NAME_BYTES: usize = 40;

/// Characters of an id: no vowels, so that no id is a word, and nothing that looks like another.
const ID_LETTERS: &[u8; 24] = b"bcdfghjkmnpqrstvwxz23456";

/// Letters of an id: 24^8 are 10^11, and a clash is refused by the file.
const ID_LENGTH: usize = 8;

/// What the person calls a conversation.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConversationName(String);

/// The text cannot name a conversation.
#[derive(Debug, Error, PartialEq, Eq)]
#[error(
    "'{0}' cannot name a conversation; use up to 40 letters, digits, dots, dashes and underscores"
)]
pub struct ConversationNameError(String);

impl ConversationName {
    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for ConversationName {
    type Err = ConversationNameError;

    fn from_str(text: &str) -> Result<Self, ConversationNameError> {
        let fits = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '_');
        if text.is_empty() || text.len() > NAME_BYTES || !text.chars().all(fits) {
            return Err(ConversationNameError(text.chars().take(NAME_BYTES).collect()));
        }
        Ok(Self(text.to_owned()))
    }
}

impl fmt::Display for ConversationName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// Where a conversation stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// A process works on it.
    Working,
    /// The process that worked on it ended before the run did.
    Interrupted,
    /// It reached its end.
    Done,
    /// It ended before its task was done.
    Unfinished,
    /// The person stopped it.
    Stopped,
    /// It could not go on.
    Failed,
}

impl Phase {
    /// The word, as lists show it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Working => "working",
            Self::Interrupted => "interrupted",
            Self::Done => "done",
            Self::Unfinished => "unfinished",
            Self::Stopped => "stopped",
            Self::Failed => "failed",
        }
    }

    fn read(word: &str) -> Option<Self> {
        let all = [Self::Working, Self::Done, Self::Unfinished, Self::Stopped, Self::Failed];
        all.into_iter().find(|phase| phase.word() == word)
    }
}

/// A conversation that begins.
#[derive(Clone, Debug)]
pub struct ConversationDraft {
    /// What the person calls it, if they gave it a name.
    pub name: Option<ConversationName>,
    /// The task, or as much of it as a list shows.
    pub task: String,
    /// The program's version (W-462).
    pub version: String,
    /// What it was started with, as JSON.
    pub settings: String,
    /// When.
    pub at: SystemTime,
}

/// A conversation as it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredConversation {
    /// Its id.
    pub id: ConversationId,
    /// What the person calls it.
    pub name: Option<ConversationName>,
    /// The task.
    pub task: String,
    /// The version of the program that made it; `None` if that is not known (W-462).
    pub version: Option<String>,
    /// What it was started with, as JSON.
    pub settings: String,
    /// Where it stands.
    pub phase: Phase,
    /// When it was begun.
    pub created_at: SystemTime,
    /// When its last entry was written.
    pub updated_at: SystemTime,
    /// How many entries its journal has.
    pub entries: u64,
}

/// One entry of a journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredEntry {
    /// Its number, counted from 1.
    pub seq: u64,
    /// When it was written.
    pub at: SystemTime,
    /// What it is.
    pub kind: String,
    /// What it says, as JSON.
    pub payload: String,
}

/// The columns in the order in which they are read.
const COLUMNS: &str = "SELECT r.id, r.name, r.task, r.version, r.settings, r.phase, r.created_at,
    coalesce(max(j.at), r.created_at), count(j.seq), r.owner
    FROM conversations r LEFT JOIN journal j ON j.conversation = r.id";

impl Store {
    /// Begins a conversation that belongs to this process. Durable when it returns.
    ///
    /// # Errors
    ///
    /// Fails if another one has the name, or the file cannot be written.
    pub async fn begin_conversation(
        &self,
        draft: ConversationDraft,
    ) -> Result<ConversationId, StoreError> {
        self.run(move |desk| {
            let id = new_id()?;
            let owner = desk.owner_id().to_owned();
            if let Some(name) = &draft.name
                && find_one(desk, "r.name = ?1", name.as_str())?.is_some()
            {
                return Err(StoreError::NameTaken { name: name.to_string() });
            }
            desk.write(|work| {
                work.execute(
                    "INSERT INTO conversations (id, name, task, version, settings, phase, owner, created_at)
                     VALUES (?1, ?2, ?3, ?4, ?5, 'working', ?6, ?7)",
                    params![
                        id.as_str(),
                        draft.name.as_ref().map(ConversationName::as_str),
                        draft.task,
                        draft.version,
                        draft.settings,
                        owner,
                        milliseconds(draft.at)
                    ],
                )
            })?;
            Ok(id)
        })
        .await
    }

    /// Takes a conversation over, to go on with it, maybe with other settings. Its former process cannot
    /// write to it any more.
    ///
    /// # Errors
    ///
    /// Fails if there is no such conversation, or a living process works on it.
    pub async fn claim_conversation(
        &self,
        id: ConversationId,
        settings: Option<String>,
    ) -> Result<StoredConversation, StoreError> {
        self.run(move |desk| {
            let (mut found, owner) = find(desk, &id)?;
            if found.phase == Phase::Working && owner != desk.owner_id() {
                return Err(StoreError::ConversationBusy { id: id.to_string() });
            }
            let me = desk.owner_id().to_owned();
            let taken = desk.write(|work| {
                // Whoever else takes it over in this moment changes the owner first.
                work.execute(
                    "UPDATE conversations
                     SET owner = ?3, phase = 'working', settings = coalesce(?4, settings)
                     WHERE id = ?1 AND owner = ?2",
                    params![id.as_str(), owner, me, settings],
                )
            })?;
            if taken == 0 {
                return Err(StoreError::ConversationBusy { id: id.to_string() });
            }
            found.phase = Phase::Working;
            Ok(found)
        })
        .await
    }

    /// Appends an entry and gives its number. With [`Durability::System`] it survives the end of this
    /// process at once, and a power cut together with the next receipt.
    ///
    /// # Errors
    ///
    /// Fails if another process has taken it over, or the file cannot be written.
    pub async fn append(
        &self,
        id: ConversationId,
        kind: &'static str,
        payload: String,
        durability: Durability,
    ) -> Result<u64, StoreError> {
        self.run(move |desk| {
            let me = desk.owner_id().to_owned();
            let at = milliseconds(SystemTime::now());
            let seq: Option<i64> = desk.write_at(durability, |work| {
                work.prepare_cached(
                    "INSERT INTO journal (conversation, seq, at, kind, payload)
                     SELECT ?1, coalesce((SELECT max(seq) FROM journal WHERE conversation = ?1), 0) + 1,
                     ?3, ?4, ?5 FROM conversations WHERE id = ?1 AND owner = ?2 RETURNING seq",
                )?
                .query_row(params![id.as_str(), me, at, kind, payload], |row| row.get(0))
                .optional()
            })?;
            let seq = seq.ok_or_else(|| StoreError::ConversationBusy { id: id.to_string() })?;
            Ok(seq.cast_unsigned())
        })
        .await
    }

    /// Says how its last run ended. Durable when it returns. It can be taken up again.
    ///
    /// # Errors
    ///
    /// Fails if another process has taken it over, or the file cannot be written.
    pub async fn end_conversation(
        &self,
        id: ConversationId,
        phase: Phase,
    ) -> Result<(), StoreError> {
        self.run(move |desk| {
            let me = desk.owner_id().to_owned();
            let written = desk.write(|work| {
                work.execute(
                    "UPDATE conversations SET phase = ?3 WHERE id = ?1 AND owner = ?2",
                    params![id.as_str(), me, phase.word()],
                )
            })?;
            if written == 0 {
                return Err(StoreError::ConversationBusy { id: id.to_string() });
            }
            Ok(())
        })
        .await
    }

    /// Replaces texts in everything that is kept of a conversation: what turned out to be a secret
    /// after it was written. `words` are looked for in the task, `texts` in what is JSON. Durable when
    /// it returns, and gone from the file, too.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be written.
    pub async fn redact_conversation(
        &self,
        id: ConversationId,
        words: Vec<(Secret<String>, String)>,
        texts: Vec<(Secret<String>, String)>,
    ) -> Result<(), StoreError> {
        self.run(move |desk| {
            desk.write(|work| {
                for (from, to) in &words {
                    work.execute(
                        "UPDATE conversations SET task = replace(task, ?2, ?3) WHERE id = ?1",
                        params![id.as_str(), from.expose(), to],
                    )?;
                }
                for (from, to) in &texts {
                    for update in [
                        "UPDATE journal SET payload = replace(payload, ?2, ?3)
                         WHERE conversation = ?1 AND instr(payload, ?2) > 0",
                        "UPDATE conversations SET settings = replace(settings, ?2, ?3)
                         WHERE id = ?1 AND instr(settings, ?2) > 0",
                    ] {
                        work.execute(update, params![id.as_str(), from.expose(), to])?;
                    }
                }
                Ok(())
            })?;
            desk.empty_log()
        })
        .await
    }

    /// The entries of a conversation after a number, oldest first, at most so many.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be read.
    pub async fn journal(
        &self,
        id: ConversationId,
        after: u64,
        limit: u32,
    ) -> Result<Vec<StoredEntry>, StoreError> {
        self.run(move |desk| {
            desk.read(|connection| {
                connection
                    .prepare_cached(
                        "SELECT seq, at, kind, payload FROM journal
                         WHERE conversation = ?1 AND seq > ?2 ORDER BY seq LIMIT ?3",
                    )?
                    .query_map(params![id.as_str(), after.cast_signed(), limit], |row| {
                        Ok(StoredEntry {
                            seq: row.get::<_, i64>(0)?.cast_unsigned(),
                            at: time(row.get(1)?),
                            kind: row.get(2)?,
                            payload: row.get(3)?,
                        })
                    })?
                    .collect()
            })
        })
        .await
    }

    /// The newest conversations, the one that was written to last first.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be read.
    pub async fn conversations(&self, limit: u32) -> Result<Vec<StoredConversation>, StoreError> {
        self.run(move |desk| {
            let rows: Vec<_> = desk.read(|connection| {
                connection
                    .prepare_cached(&format!(
                        "{COLUMNS} GROUP BY r.id ORDER BY 8 DESC, r.rowid DESC LIMIT ?1"
                    ))?
                    .query_map([limit], stored)?
                    .collect()
            })?;
            rows.into_iter().map(|row| Ok(with_owner(desk, row)?.0)).collect()
        })
        .await
    }

    /// The conversation with this name, id, or beginning of an id.
    ///
    /// # Errors
    ///
    /// Fails if there is none, or several begin like this.
    pub async fn find_conversation(&self, word: String) -> Result<StoredConversation, StoreError> {
        self.run(move |desk| {
            for by in ["r.name = ?1", "r.id = ?1"] {
                if let Some((run, _)) = find_one(desk, by, &word)? {
                    return Ok(run);
                }
            }
            let rows: Vec<_> = desk.read(|connection| {
                connection
                    .prepare_cached(&format!(
                        "{COLUMNS} WHERE substr(r.id, 1, length(?1)) = ?1 AND ?1 <> '' GROUP BY r.id LIMIT 2"
                    ))?
                    .query_map([&word], stored)?
                    .collect()
            })?;
            let [row] = <[_; 1]>::try_from(rows)
                .map_err(|_| StoreError::NoSuchConversation { word: word.clone() })?;
            Ok(with_owner(desk, row)?.0)
        })
        .await
    }

    /// Forgets a conversation and its journal, and overwrites them in the file.
    ///
    /// # Errors
    ///
    /// Fails if there is no such conversation, or a living process works on it.
    pub async fn delete_conversation(&self, id: ConversationId) -> Result<(), StoreError> {
        self.run(move |desk| {
            let (found, _) = find(desk, &id)?;
            if found.phase == Phase::Working {
                return Err(StoreError::ConversationBusy { id: id.to_string() });
            }
            desk.write(|work| {
                work.execute("DELETE FROM conversations WHERE id = ?1", [id.as_str()])
            })?;
            desk.empty_log()
        })
        .await
    }
}

fn find(desk: &Desk, id: &ConversationId) -> Result<(StoredConversation, String), StoreError> {
    find_one(desk, "r.id = ?1", id.as_str())?
        .ok_or_else(|| StoreError::NoSuchConversation { word: id.to_string() })
}

fn find_one(
    desk: &Desk,
    by: &str,
    word: &str,
) -> Result<Option<(StoredConversation, String)>, StoreError> {
    let row = desk.read(|connection| {
        connection
            .prepare_cached(&format!("{COLUMNS} WHERE {by} GROUP BY r.id"))?
            .query_row([word], stored)
            .optional()
    })?;
    row.map(|row| with_owner(desk, row)).transpose()
}

/// One whose process is gone was interrupted.
fn with_owner(
    desk: &Desk,
    (mut run, owner): (StoredConversation, String),
) -> Result<(StoredConversation, String), StoreError> {
    if run.phase == Phase::Working && !desk.lives(&owner)? {
        run.phase = Phase::Interrupted;
    }
    Ok((run, owner))
}

fn stored(row: &Row<'_>) -> rusqlite::Result<(StoredConversation, String)> {
    let name: Option<String> = row.get(1)?;
    let phase: String = row.get(5)?;
    let run = StoredConversation {
        id: ConversationId::new(row.get::<_, String>(0)?),
        name: name
            .map(|name| name.parse())
            .transpose()
            .map_err(|error: ConversationNameError| unreadable(1, error))?,
        task: row.get(2)?,
        version: row.get(3)?,
        settings: row.get(4)?,
        // A newer program may know more ends; to this one they are ends that are not good.
        phase: Phase::read(&phase).unwrap_or(Phase::Unfinished),
        created_at: time(row.get(6)?),
        updated_at: time(row.get(7)?),
        entries: row.get::<_, i64>(8)?.cast_unsigned(),
    };
    Ok((run, row.get(9)?))
}

fn new_id() -> Result<ConversationId, StoreError> {
    let mut random = [0_u8; ID_LENGTH];
    getrandom::fill(&mut random).map_err(|source| StoreError::NoRandomness { source })?;
    let letter = |byte: &u8| char::from(ID_LETTERS[usize::from(*byte) % ID_LETTERS.len()]);
    Ok(ConversationId::new(random.iter().map(letter).collect::<String>()))
}
