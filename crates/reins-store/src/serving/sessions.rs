//! Browsers from their start to their end, and the minutes they ran.

use super::UnknownWord;
use crate::error::StoreError;
use crate::receipt::time;
use crate::rules::unreadable;
use crate::writer::{Durability, Store, milliseconds};
use reins_core::{SandboxId, SessionId, TenantId};
use rusqlite::{OptionalExtension, Row, params};
use std::time::{Duration, SystemTime};

/// Where a browser stands (S-023).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionPhase {
    /// It was asked for.
    Starting,
    /// It runs.
    Running,
    /// It was stopped, by whomever.
    Stopped,
    /// It did not start, or ended by itself.
    Failed,
}

impl SessionPhase {
    /// The word, as answers show it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Starting => "starting",
            Self::Running => "running",
            Self::Stopped => "stopped",
            Self::Failed => "failed",
        }
    }

    fn read(word: &str) -> Option<Self> {
        [Self::Starting, Self::Running, Self::Stopped, Self::Failed]
            .into_iter()
            .find(|phase| phase.word() == word)
    }
}

/// A browser as it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrowserSession {
    /// Its id.
    pub id: SessionId,
    /// Whose it is.
    pub tenant: TenantId,
    /// Where it belongs.
    pub sandbox: SandboxId,
    /// `headless` or `headed`.
    pub mode: String,
    /// Where it stands.
    pub phase: SessionPhase,
    /// Its recording, if it is recorded.
    pub recording: Option<String>,
    /// When it was started.
    pub started_at: SystemTime,
    /// When it stops by itself at the latest.
    pub stop_at: SystemTime,
    /// How long it ran, by a clock that nobody can set.
    pub ran: Duration,
    /// When it ended.
    pub ended_at: Option<SystemTime>,
    /// Why it ended, in a word.
    pub reason: Option<String>,
    /// What went wrong.
    pub error: Option<String>,
    /// Whether the usage hook took it.
    pub told: bool,
}

const COLUMNS: &str = "id, tenant, sandbox, mode, status, recording, started_at, stop_at, ran_ms, \
                       ended_at, reason, error, told";

impl Store {
    /// Keeps a session, new or changed. Durable when it returns.
    pub async fn keep_session(&self, session: BrowserSession) -> Result<(), StoreError> {
        self.run(move |desk| {
            desk.write(|work| {
                work.execute(
                    "INSERT INTO browser_sessions (id, tenant, sandbox, mode, status, recording,
                     started_at, stop_at, ran_ms, ended_at, reason, error, told)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)
                     ON CONFLICT (id) DO UPDATE SET status = ?5, recording = ?6, started_at = ?7,
                     ran_ms = ?9, ended_at = ?10, reason = ?11, error = ?12, told = ?13",
                    params![
                        session.id.as_str(),
                        session.tenant.as_str(),
                        session.sandbox.as_str(),
                        session.mode,
                        session.phase.word(),
                        session.recording,
                        milliseconds(session.started_at),
                        milliseconds(session.stop_at),
                        whole_ms(session.ran),
                        session.ended_at.map(milliseconds),
                        session.reason,
                        session.error,
                        session.told,
                    ],
                )
                .map(drop)
            })
        })
        .await
    }

    /// Notes how long a session ran so far, for the case that nobody is left to say it.
    pub async fn session_ran(&self, id: SessionId, ran: Duration) -> Result<(), StoreError> {
        self.run(move |desk| {
            desk.write_at(Durability::System, |work| {
                work.execute(
                    "UPDATE browser_sessions SET ran_ms = ?2 WHERE id = ?1 AND ended_at IS NULL",
                    params![id.as_str(), whole_ms(ran)],
                )
                .map(drop)
            })
        })
        .await
    }

    /// The last browser of a sandbox.
    pub async fn last_session(
        &self,
        tenant: TenantId,
        sandbox: SandboxId,
    ) -> Result<Option<BrowserSession>, StoreError> {
        self.run(move |desk| {
            desk.read(|connection| {
                connection
                    .prepare_cached(&format!(
                        "SELECT {COLUMNS} FROM browser_sessions WHERE tenant = ?1 AND sandbox = ?2
                         ORDER BY started_at DESC, id DESC LIMIT 1"
                    ))?
                    .query_row([tenant.as_str(), sandbox.as_str()], session)
                    .optional()
            })
        })
        .await
    }

    /// A tenant's browsers that were started in a span of time, the oldest first, at most `limit`.
    pub async fn sessions_between(
        &self,
        tenant: TenantId,
        from: SystemTime,
        to: SystemTime,
        limit: u32,
    ) -> Result<Vec<BrowserSession>, StoreError> {
        self.run(move |desk| {
            desk.read(|connection| {
                connection
                    .prepare_cached(&format!(
                        "SELECT {COLUMNS} FROM browser_sessions
                         WHERE tenant = ?1 AND started_at >= ?2 AND started_at < ?3
                         ORDER BY started_at, id LIMIT ?4"
                    ))?
                    .query_map(
                        params![tenant.as_str(), milliseconds(from), milliseconds(to), limit],
                        session,
                    )?
                    .collect()
            })
        })
        .await
    }

    /// Minutes of a tenant's browsers that were started in a span of time, each rounded up (S-121).
    pub async fn minutes_between(
        &self,
        tenant: TenantId,
        from: SystemTime,
        to: SystemTime,
    ) -> Result<u64, StoreError> {
        self.run(move |desk| {
            let minutes = desk.read(|connection| {
                connection.query_row(
                    "SELECT coalesce(sum((ran_ms + 59999) / 60000), 0) FROM browser_sessions
                     WHERE tenant = ?1 AND started_at >= ?2 AND started_at < ?3",
                    params![tenant.as_str(), milliseconds(from), milliseconds(to)],
                    |row| row.get::<_, i64>(0),
                )
            })?;
            Ok(u64::try_from(minutes).unwrap_or(0))
        })
        .await
    }

    /// Marks every session that a dead daemon left without an end, and says which.
    pub async fn fail_open_sessions(
        &self,
        at: SystemTime,
        error: String,
    ) -> Result<Vec<BrowserSession>, StoreError> {
        self.run(move |desk| {
            desk.write(|work| {
                work.prepare_cached(&format!(
                    "UPDATE browser_sessions SET status = 'failed', ended_at = ?1,
                     reason = 'daemon_ended', error = ?2 WHERE ended_at IS NULL RETURNING {COLUMNS}"
                ))?
                .query_map(params![milliseconds(at), error], session)?
                .collect()
            })
        })
        .await
    }

    /// Ended sessions that the usage hook has not taken yet, the oldest first.
    pub async fn untold_sessions(&self, limit: u32) -> Result<Vec<BrowserSession>, StoreError> {
        self.run(move |desk| {
            desk.read(|connection| {
                connection
                    .prepare_cached(&format!(
                        "SELECT {COLUMNS} FROM browser_sessions
                         WHERE told = 0 AND ended_at IS NOT NULL ORDER BY ended_at, id LIMIT ?1"
                    ))?
                    .query_map([limit], session)?
                    .collect()
            })
        })
        .await
    }

    /// The usage hook took a session. Durable when it returns.
    pub async fn session_told(&self, id: SessionId) -> Result<(), StoreError> {
        self.run(move |desk| {
            desk.write(|work| {
                work.execute("UPDATE browser_sessions SET told = 1 WHERE id = ?1", [id.as_str()])
                    .map(drop)
            })
        })
        .await
    }
}

fn whole_ms(span: Duration) -> i64 {
    i64::try_from(span.as_millis()).unwrap_or(i64::MAX)
}

fn session(row: &Row<'_>) -> rusqlite::Result<BrowserSession> {
    let word: String = row.get(4)?;
    let ran: i64 = row.get(8)?;
    Ok(BrowserSession {
        id: SessionId::new(row.get::<_, String>(0)?),
        tenant: TenantId::new(row.get::<_, String>(1)?),
        sandbox: SandboxId::new(row.get::<_, String>(2)?),
        mode: row.get(3)?,
        phase: SessionPhase::read(&word).ok_or_else(|| unreadable(4, UnknownWord(word)))?,
        recording: row.get(5)?,
        started_at: time(row.get(6)?),
        stop_at: time(row.get(7)?),
        ran: Duration::from_millis(u64::try_from(ran).unwrap_or(0)),
        ended_at: row.get::<_, Option<i64>>(9)?.map(time),
        reason: row.get(10)?,
        error: row.get(11)?,
        told: row.get(12)?,
    })
}
