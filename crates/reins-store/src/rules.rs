//! Site rules: what the person decided about single sites, by hand or from a card.

use crate::error::StoreError;
use crate::writer::{Store, milliseconds};
use reins_core::{Origin, Rule, Sends, Site};
use rusqlite::types::Type;
use rusqlite::{Row, params};
use std::collections::BTreeSet;
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

    /// Where the pages of single origins may send to, ordered by origin.
    pub async fn sends(&self) -> Result<Vec<(Origin, Sends)>, StoreError> {
        self.run(|desk| {
            desk.read(|connection| {
                connection
                    .prepare_cached("SELECT origin, scope, sites FROM site_sends ORDER BY origin")?
                    .query_map([], sends)?
                    .collect()
            })
        })
        .await
    }

    /// Sets where the pages of an origin may send to, in place of what was set. Durable when it returns.
    pub async fn set_sends(
        &self,
        origin: Origin,
        sends: Sends,
        at: SystemTime,
    ) -> Result<(), StoreError> {
        let (scope, sites) = match &sends {
            Sends::Also(sites) => (ALSO, spaced(sites)),
            Sends::Only(sites) => (ONLY, spaced(sites)),
            Sends::Anywhere => (ANYWHERE, String::new()),
        };
        self.run(move |desk| {
            desk.write(|work| {
                work.execute(
                    "INSERT INTO site_sends (origin, scope, sites, set_at) VALUES (?1, ?2, ?3, ?4)
                     ON CONFLICT (origin) DO UPDATE SET scope = ?2, sites = ?3, set_at = ?4",
                    params![origin.to_string(), scope, sites, milliseconds(at)],
                )
                .map(drop)
            })
        })
        .await
    }

    /// Removes all that is set for an origin, and says whether anything was. Durable when it returns.
    pub async fn remove_rule(&self, origin: Origin) -> Result<bool, StoreError> {
        self.run(move |desk| {
            desk.write(|work| {
                let origin = origin.to_string();
                let rules = work.execute("DELETE FROM site_rules WHERE origin = ?1", [&origin])?;
                let sends = work.execute("DELETE FROM site_sends WHERE origin = ?1", [&origin])?;
                Ok(rules + sends > 0)
            })
        })
        .await
    }
}

const ALSO: &str = "also";
const ONLY: &str = "only";
const ANYWHERE: &str = "anywhere";

/// No host holds a space.
fn spaced(sites: &BTreeSet<Site>) -> String {
    sites.iter().map(Site::to_string).collect::<Vec<_>>().join(" ")
}

fn sends(row: &Row<'_>) -> rusqlite::Result<(Origin, Sends)> {
    let (origin, scope, sites): (String, String, String) = (row.get(0)?, row.get(1)?, row.get(2)?);
    let origin = Origin::parse(&origin).map_err(|error| unreadable(0, error))?;
    let sites = sites.split_whitespace().map(|site| {
        let origin = Origin::parse(&format!("https://{site}"));
        origin.map(|origin| origin.site()).map_err(|error| unreadable(2, error))
    });
    let sites: BTreeSet<Site> = sites.collect::<Result<_, _>>()?;
    let sends = match scope.as_str() {
        ANYWHERE => Sends::Anywhere,
        ONLY => Sends::Only(sites),
        _ => Sends::Also(sites),
    };
    Ok((origin, sends))
}

pub(crate) fn rule(row: &Row<'_>) -> rusqlite::Result<StoredRule> {
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
