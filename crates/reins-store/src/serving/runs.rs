//! Runs of the agent in sandboxes.

use crate::error::StoreError;
use crate::receipt::time;
use crate::writer::{Store, milliseconds};
use reins_core::{SandboxId, TenantId};
use rusqlite::{OptionalExtension, Row, params};
use std::time::SystemTime;

/// A run as it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServedRun {
    /// Its id.
    pub id: String,
    /// Whose it is.
    pub tenant: TenantId,
    /// Where it works.
    pub sandbox: SandboxId,
    /// What was asked for.
    pub task: String,
    /// Where it stands, in a word.
    pub status: String,
    /// When it began.
    pub started_at: SystemTime,
    /// When it ended.
    pub ended_at: Option<SystemTime>,
    /// Everything else, as JSON that only the server reads.
    pub detail: String,
}

const COLUMNS: &str = "id, tenant, sandbox, task, status, started_at, ended_at, detail";

impl Store {
    /// Keeps a run, new or changed. Durable when it returns.
    pub async fn keep_run(&self, run: ServedRun) -> Result<(), StoreError> {
        self.run(move |desk| {
            desk.write(|work| {
                work.execute(
                    "INSERT INTO serve_runs (id, tenant, sandbox, task, status, started_at,
                     ended_at, detail) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
                     ON CONFLICT (id) DO UPDATE SET status = ?5, ended_at = ?7, detail = ?8",
                    params![
                        run.id,
                        run.tenant.as_str(),
                        run.sandbox.as_str(),
                        run.task,
                        run.status,
                        milliseconds(run.started_at),
                        run.ended_at.map(milliseconds),
                        run.detail,
                    ],
                )
                .map(drop)
            })
        })
        .await
    }

    /// One run of a tenant.
    pub async fn served_run(
        &self,
        tenant: TenantId,
        id: String,
    ) -> Result<Option<ServedRun>, StoreError> {
        self.run(move |desk| {
            desk.read(|connection| {
                connection
                    .prepare_cached(&format!(
                        "SELECT {COLUMNS} FROM serve_runs WHERE tenant = ?1 AND id = ?2"
                    ))?
                    .query_row([tenant.as_str(), &id], run)
                    .optional()
            })
        })
        .await
    }

    /// A tenant's runs, of one sandbox or of all, the newest first, at most `limit`.
    pub async fn served_runs(
        &self,
        tenant: TenantId,
        sandbox: Option<SandboxId>,
        limit: u32,
    ) -> Result<Vec<ServedRun>, StoreError> {
        self.run(move |desk| {
            desk.read(|connection| {
                let sandbox = sandbox.as_ref().map(SandboxId::as_str);
                connection
                    .prepare_cached(&format!(
                        "SELECT {COLUMNS} FROM serve_runs
                         WHERE tenant = ?1 AND (?2 IS NULL OR sandbox = ?2)
                         ORDER BY started_at DESC, id LIMIT ?3"
                    ))?
                    .query_map(params![tenant.as_str(), sandbox, limit], run)?
                    .collect()
            })
        })
        .await
    }

    /// Marks every run that a dead daemon left without an end.
    pub async fn fail_open_runs(&self, at: SystemTime) -> Result<usize, StoreError> {
        self.run(move |desk| {
            desk.write(|work| {
                work.execute(
                    "UPDATE serve_runs SET status = 'interrupted', ended_at = ?1
                     WHERE ended_at IS NULL",
                    [milliseconds(at)],
                )
            })
        })
        .await
    }
}

fn run(row: &Row<'_>) -> rusqlite::Result<ServedRun> {
    Ok(ServedRun {
        id: row.get(0)?,
        tenant: TenantId::new(row.get::<_, String>(1)?),
        sandbox: SandboxId::new(row.get::<_, String>(2)?),
        task: row.get(3)?,
        status: row.get(4)?,
        started_at: time(row.get(5)?),
        ended_at: row.get::<_, Option<i64>>(6)?.map(time),
        detail: row.get(7)?,
    })
}
