//! What a tenant has set for its guarded browsers.

use crate::error::StoreError;
use crate::rules;
use crate::writer::Store;
use reins_core::{Origin, Rule, TenantId};
use rusqlite::{OptionalExtension, params};

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
                let level = connection
                    .prepare_cached("SELECT level FROM serve_settings WHERE tenant = ?1")?
                    .query_row([tenant.as_str()], |row| row.get::<_, Option<String>>(0))
                    .optional()?;
                let rules = connection
                    .prepare_cached(
                        "SELECT origin, rule FROM serve_rules WHERE tenant = ?1 ORDER BY origin",
                    )?
                    .query_map([tenant.as_str()], |row| {
                        rules::rule(row).map(|stored| (stored.origin, stored.rule))
                    })?
                    .collect::<Result<_, _>>()?;
                Ok(ServeSettings { level: level.flatten(), rules })
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
            desk.write(|work| {
                let tenant = tenant.as_str();
                work.execute(
                    "INSERT INTO serve_settings (tenant, level) VALUES (?1, ?2)
                     ON CONFLICT (tenant) DO UPDATE SET level = ?2",
                    params![tenant, settings.level],
                )?;
                work.execute("DELETE FROM serve_rules WHERE tenant = ?1", [tenant])?;
                for (origin, rule) in &settings.rules {
                    work.execute(
                        "INSERT OR REPLACE INTO serve_rules (tenant, origin, rule) VALUES (?1, ?2, ?3)",
                        params![tenant, origin.to_string(), rule.as_str()],
                    )?;
                }
                Ok(())
            })
        })
        .await
    }
}
