//! Site rules: what the person decided about single sites, by hand or from a card.

use crate::error::StoreError;
use crate::writer::{Store, milliseconds};
use reins_core::{Origin, Rule};
use rusqlite::types::Type;
use rusqlite::{Row, params};
use std::str::FromStr;
use std::time::SystemTime;

/// A rule as it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredRule {
    /// The exact origin.
    pub origin: Origin,
    /// What it says.
    pub rule: Rule,
}

impl Store {
    /// All rules, ordered by origin.
    pub async fn rules(&self) -> Result<Vec<StoredRule>, StoreError> {
        self.run(|desk| {
            desk.read(|connection| {
                connection
                    .prepare_cached("SELECT origin, rule FROM site_rules ORDER BY origin")?
                    .query_map([], rule)?
                    .collect()
            })
        })
        .await
    }

    /// Sets the rule of an origin, in place of the one it had. Durable when it returns.
    pub async fn set_rule(
        &self,
        origin: Origin,
        rule: Rule,
        at: SystemTime,
    ) -> Result<(), StoreError> {
        self.run(move |desk| {
            desk.write(|work| {
                work.execute(
                    "INSERT INTO site_rules (origin, rule, set_at) VALUES (?1, ?2, ?3)
                     ON CONFLICT (origin) DO UPDATE SET rule = ?2, set_at = ?3",
                    params![origin.to_string(), rule.as_str(), milliseconds(at)],
                )
                .map(drop)
            })
        })
        .await
    }

    /// Removes the rule of an origin, and says whether there was one. Durable when it returns.
    pub async fn remove_rule(&self, origin: Origin) -> Result<bool, StoreError> {
        self.run(move |desk| {
            desk.write(|work| {
                work.execute("DELETE FROM site_rules WHERE origin = ?1", [origin.to_string()])
                    .map(|removed| removed > 0)
            })
        })
        .await
    }
}

fn rule(row: &Row<'_>) -> rusqlite::Result<StoredRule> {
    let origin: String = row.get(0)?;
    let word: String = row.get(1)?;
    Ok(StoredRule {
        origin: Origin::parse(&origin).map_err(|error| unreadable(0, error))?,
        rule: Rule::from_str(&word).map_err(|error| unreadable(1, error))?,
    })
}

pub(crate) fn unreadable(
    column: usize,
    error: impl std::error::Error + Send + Sync + 'static,
) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(column, Type::Text, Box::new(error))
}
