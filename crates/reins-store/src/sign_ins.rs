//! Saved sign-ins of apps (S-028). Tenant and origin are bound into the seal: a row that was moved to
//! another tenant or app does not open.

use crate::error::StoreError;
use crate::seal::{Sealed, open, seal};
use crate::writer::{Desk, Store, milliseconds};
use reins_core::{Origin, Secret};
use rusqlite::{OptionalExtension, params};
use std::time::SystemTime;

fn bound(tenant: &str, origin: &str) -> Vec<u8> {
    format!("reins sign-in 1\0{tenant}\0{origin}").into_bytes()
}

fn what(origin: &str) -> String {
    format!("the sign-in of {origin}")
}

impl Store {
    /// Keeps the sign-in of a tenant's app, in place of the one that was there. Durable when it returns.
    ///
    /// # Errors
    ///
    /// Fails if the key cannot be made or read, or the file cannot be written.
    pub async fn set_sign_in(
        &self,
        tenant: &str,
        origin: &Origin,
        value: Secret<String>,
        at: SystemTime,
    ) -> Result<(), StoreError> {
        let (tenant, origin) = (tenant.to_owned(), origin.to_string());
        self.run(move |desk| {
            let bound = bound(&tenant, &origin);
            let Sealed { nonce, sealed } = seal(desk, &bound, &value, || what(&origin))?;
            desk.write(|work| {
                work.execute(
                    "INSERT INTO sign_ins (tenant, origin, nonce, sealed, set_at)
                     VALUES (?1, ?2, ?3, ?4, ?5)
                     ON CONFLICT (tenant, origin) DO UPDATE SET nonce = ?3, sealed = ?4, set_at = ?5",
                    params![tenant, origin, nonce, sealed, milliseconds(at)],
                )
                .map(drop)
            })
        })
        .await
    }

    /// Opens the sign-in of a tenant's app. None if there is none.
    ///
    /// # Errors
    ///
    /// Fails if the key is missing or another one, or the row was changed.
    pub async fn sign_in(
        &self,
        tenant: &str,
        origin: &Origin,
    ) -> Result<Option<Secret<String>>, StoreError> {
        let (tenant, origin) = (tenant.to_owned(), origin.to_string());
        self.run(move |desk| match row(desk, &tenant, &origin)? {
            Some(sealed) => {
                open(desk, &bound(&tenant, &origin), &sealed, || what(&origin)).map(Some)
            }
            None => Ok(None),
        })
        .await
    }

    /// Forgets the sign-in of a tenant's app; whether there was one.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be written.
    pub async fn remove_sign_in(&self, tenant: &str, origin: &Origin) -> Result<bool, StoreError> {
        let (tenant, origin) = (tenant.to_owned(), origin.to_string());
        self.run(move |desk| {
            desk.write(|work| {
                work.execute(
                    "DELETE FROM sign_ins WHERE tenant = ?1 AND origin = ?2",
                    params![tenant, origin],
                )
                .map(|gone| gone > 0)
            })
        })
        .await
    }
}

fn row(desk: &Desk, tenant: &str, origin: &str) -> Result<Option<Sealed>, StoreError> {
    desk.read(|connection| {
        connection
            .prepare_cached("SELECT nonce, sealed FROM sign_ins WHERE tenant = ?1 AND origin = ?2")?
            .query_row(params![tenant, origin], |row| {
                Ok(Sealed { nonce: row.get(0)?, sealed: row.get(1)? })
            })
            .optional()
    })
}
