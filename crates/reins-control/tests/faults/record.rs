//! The record of acts, read and harmed from beside.

use crate::plan::Fault;
use rusqlite::Connection;
use std::path::{Path, PathBuf};

/// One act as it was recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    pub turn: u64,
    pub step: u32,
    pub tool: String,
    pub outcome: Option<String>,
}

pub struct Record {
    dir: PathBuf,
    database: Connection,
}

impl Record {
    /// The record in a directory, where a control has opened it before.
    pub fn new(dir: &Path) -> Self {
        let database = Connection::open(dir.join("reins.db")).unwrap();
        database.busy_timeout(std::time::Duration::from_secs(30)).unwrap();
        Self { dir: dir.to_owned(), database }
    }

    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The number of the last act.
    pub fn last(&self) -> i64 {
        self.database
            .query_row("SELECT coalesce(max(id), 0) FROM receipts", [], |row| row.get(0))
            .unwrap()
    }

    /// The acts since.
    pub fn after(&self, id: i64) -> Vec<Row> {
        let mut rows = self
            .database
            .prepare_cached(
                "SELECT turn, step, tool, outcome FROM receipts WHERE id > ?1 ORDER BY id",
            )
            .unwrap();
        let rows = rows.query_map([id], |row| {
            Ok(Row {
                turn: row.get::<_, i64>(0)?.cast_unsigned(),
                step: row.get(1)?,
                tool: row.get(2)?,
                outcome: row.get(3)?,
            })
        });
        rows.unwrap().map(Result::unwrap).collect()
    }

    /// From here on acts can't be begun, or their end can't be recorded, as on a full disk.
    pub fn harm(&self, fault: Fault) {
        let when = if fault == Fault::NoBegin { "INSERT" } else { "UPDATE" };
        let trigger = format!(
            "CREATE TRIGGER harm BEFORE {when} ON receipts BEGIN SELECT RAISE(ABORT, 'no room'); END"
        );
        self.database.execute_batch(&trigger).unwrap();
    }

    pub fn heal(&self) {
        self.database.execute_batch("DROP TRIGGER IF EXISTS harm").unwrap();
    }
}
