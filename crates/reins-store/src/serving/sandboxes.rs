//! Apps under test.

use super::UnknownWord;
use crate::error::StoreError;
use crate::receipt::time;
use crate::rules::unreadable;
use crate::writer::{Store, milliseconds};
use reins_core::{SandboxId, TenantId};
use rusqlite::{OptionalExtension, Row, params};
use std::time::SystemTime;

/// Where a sandbox stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SandboxPhase {
    /// Its command was started and does not answer yet.
    Booting,
    /// A browser may start (S-030).
    Ready,
    /// Its command ended or never answered.
    Failed,
    /// Its time is over.
    Expired,
}

impl SandboxPhase {
    /// The word, as answers show it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Booting => "booting",
            Self::Ready => "ready",
            Self::Failed => "failed",
            Self::Expired => "expired",
        }
    }

    fn read(word: &str) -> Option<Self> {
        [Self::Booting, Self::Ready, Self::Failed, Self::Expired]
            .into_iter()
            .find(|phase| phase.word() == word)
    }
}

/// A sandbox as it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredSandbox {
    /// Its id.
    pub id: SandboxId,
    /// Whose it is.
    pub tenant: TenantId,
    /// What people call it.
    pub name: String,
    /// Where the app is; empty for a guarded one without an app.
    pub app_url: String,
    /// Whether its browser is on the open web with cards, instead of pinned to the app.
    pub guarded: bool,
    /// What boots the app.
    pub command: Option<String>,
    /// Where that runs.
    pub cwd: Option<String>,
    /// What answers once the app is up.
    pub ready_url: Option<String>,
    /// Where it stands.
    pub phase: SandboxPhase,
    /// Why it failed.
    pub error: Option<String>,
    /// When it was made.
    pub created_at: SystemTime,
    /// When it ends.
    pub expires_at: SystemTime,
}

const COLUMNS: &str = "id, tenant, name, app_url, guarded, command, cwd, ready_url, status, error, \
                       created_at, expires_at";

impl Store {
    /// Keeps a new sandbox. Durable when it returns.
    pub async fn add_sandbox(&self, sandbox: StoredSandbox) -> Result<(), StoreError> {
        self.run(move |desk| {
            desk.write(|work| {
                work.execute(
                    "INSERT INTO sandboxes (id, tenant, name, app_url, guarded, command, cwd,
                     ready_url, status, error, created_at, expires_at)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
                    params![
                        sandbox.id.as_str(),
                        sandbox.tenant.as_str(),
                        sandbox.name,
                        sandbox.app_url,
                        sandbox.guarded,
                        sandbox.command,
                        sandbox.cwd,
                        sandbox.ready_url,
                        sandbox.phase.word(),
                        sandbox.error,
                        milliseconds(sandbox.created_at),
                        milliseconds(sandbox.expires_at),
                    ],
                )
                .map(drop)
            })
        })
        .await
    }

    /// One sandbox of a tenant.
    pub async fn sandbox(
        &self,
        tenant: TenantId,
        id: SandboxId,
    ) -> Result<Option<StoredSandbox>, StoreError> {
        self.run(move |desk| {
            desk.read(|connection| {
                connection
                    .prepare_cached(&format!(
                        "SELECT {COLUMNS} FROM sandboxes WHERE tenant = ?1 AND id = ?2"
                    ))?
                    .query_row([tenant.as_str(), id.as_str()], sandbox)
                    .optional()
            })
        })
        .await
    }

    /// A tenant's sandboxes, the newest first.
    pub async fn sandboxes(&self, tenant: TenantId) -> Result<Vec<StoredSandbox>, StoreError> {
        self.run(move |desk| {
            desk.read(|connection| {
                connection
                    .prepare_cached(&format!(
                        "SELECT {COLUMNS} FROM sandboxes WHERE tenant = ?1
                         ORDER BY created_at DESC, id"
                    ))?
                    .query_map([tenant.as_str()], sandbox)?
                    .collect()
            })
        })
        .await
    }

    /// Every tenant's sandboxes, for the daemon itself.
    pub async fn all_sandboxes(&self) -> Result<Vec<StoredSandbox>, StoreError> {
        self.run(move |desk| {
            desk.read(|connection| {
                connection
                    .prepare_cached(&format!("SELECT {COLUMNS} FROM sandboxes"))?
                    .query_map([], sandbox)?
                    .collect()
            })
        })
        .await
    }

    /// Sets where a sandbox stands. Durable when it returns.
    pub async fn set_sandbox_phase(
        &self,
        id: SandboxId,
        phase: SandboxPhase,
        error: Option<String>,
    ) -> Result<(), StoreError> {
        self.run(move |desk| {
            desk.write(|work| {
                work.execute(
                    "UPDATE sandboxes SET status = ?2, error = ?3 WHERE id = ?1",
                    params![id.as_str(), phase.word(), error],
                )
                .map(drop)
            })
        })
        .await
    }

    /// Forgets a sandbox of a tenant, and says whether there was one. Durable when it returns.
    pub async fn remove_sandbox(
        &self,
        tenant: TenantId,
        id: SandboxId,
    ) -> Result<bool, StoreError> {
        self.run(move |desk| {
            desk.write(|work| {
                let gone = work.execute(
                    "DELETE FROM sandboxes WHERE tenant = ?1 AND id = ?2",
                    [tenant.as_str(), id.as_str()],
                )?;
                Ok(gone > 0)
            })
        })
        .await
    }
}

fn sandbox(row: &Row<'_>) -> rusqlite::Result<StoredSandbox> {
    let word: String = row.get(8)?;
    Ok(StoredSandbox {
        id: SandboxId::new(row.get::<_, String>(0)?),
        tenant: TenantId::new(row.get::<_, String>(1)?),
        name: row.get(2)?,
        app_url: row.get(3)?,
        guarded: row.get(4)?,
        command: row.get(5)?,
        cwd: row.get(6)?,
        ready_url: row.get(7)?,
        phase: SandboxPhase::read(&word).ok_or_else(|| unreadable(8, UnknownWord(word)))?,
        error: row.get(9)?,
        created_at: time(row.get(10)?),
        expires_at: time(row.get(11)?),
    })
}
