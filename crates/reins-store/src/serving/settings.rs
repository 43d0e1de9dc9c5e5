//! What a tenant has set for its guarded browsers.

use crate::error::StoreError;
use crate::writer::Store;
use reins_core::{Origin, Rule, TenantId};
use rusqlite::{OptionalExtension, params};
use std::collections::BTreeMap;

/// A tenant's settings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServeSettings {
    /// How much is asked, where a start says nothing.
    pub level: Option<String>,
    /// Rules for sites, by origin.
    pub rules: Vec<(Origin, Rule)>,
}

impl Store {
    /// The settings of a tenant; nothing is set until it sets something.
    pub async fn serve_settings(&self, tenant: TenantId) -> Result<ServeSettings, StoreError> {
        self.run(move |desk| {
            desk.read(|connection| {
                let row = connection
                    .prepare_cached("SELECT level, rules FROM serve_settings WHERE tenant = ?1")?
                    .query_row([tenant.as_str()], |row| {
                        Ok((row.get::<_, Option<String>>(0)?, row.get::<_, String>(1)?))
                    })
                    .optional()?;
                let Some((level, rules)) = row else { return Ok(ServeSettings::default()) };
                Ok(ServeSettings { level, rules: read(&rules)? })
            })
        })
        .await
    }

    /// Keeps a tenant's settings in place of what it had. Durable when it returns.
    pub async fn keep_serve_settings(
        &self,
        tenant: TenantId,
        settings: ServeSettings,
    ) -> Result<(), StoreError> {
        self.run(move |desk| {
            let words = |(origin, rule): &(Origin, Rule)| (origin.to_string(), rule.as_str());
            let rules: BTreeMap<String, &str> = settings.rules.iter().map(words).collect();
            let rules = serde_json::to_string(&rules).unwrap_or_else(|_| "{}".into());
            desk.write(|work| {
                work.execute(
                    "INSERT INTO serve_settings (tenant, level, rules) VALUES (?1, ?2, ?3)
                     ON CONFLICT (tenant) DO UPDATE SET level = ?2, rules = ?3",
                    params![tenant.as_str(), settings.level, rules],
                )
                .map(drop)
            })
        })
        .await
    }
}

fn read(rules: &str) -> rusqlite::Result<Vec<(Origin, Rule)>> {
    let damaged = |error: Box<dyn std::error::Error + Send + Sync>| {
        rusqlite::Error::FromSqlConversionFailure(1, rusqlite::types::Type::Text, error)
    };
    let rules: BTreeMap<String, String> =
        serde_json::from_str(rules).map_err(|error| damaged(error.into()))?;
    let each = rules.iter().map(|(origin, rule)| {
        let origin = Origin::parse(origin).map_err(|error| damaged(error.into()))?;
        Ok((
            origin,
            rule.parse().map_err(|error: reins_core::RuleWordError| damaged(error.into()))?,
        ))
    });
    each.collect()
}
