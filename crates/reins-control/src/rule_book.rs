//! The person's site rules as they are kept on disk, for the command line (R-158…R-160).

use crate::control::{STORE_FILE, not_kept};
use crate::error::ControlError;
use reins_core::{Origin, Rule, Sends, Site};
use reins_guard::SiteRules;
use reins_store::Store;
use std::path::Path;
use std::time::SystemTime;

/// Opens the kept rules beside whatever else uses them; running doors see a change at their next act.
#[derive(Clone, Debug)]
pub struct RuleBook(Store);

impl RuleBook {
    /// Opens the rules of a data directory, which is made if need be.
    ///
    /// # Errors
    ///
    /// Fails if the directory or its file cannot be used.
    pub fn open(data_dir: &Path) -> Result<Self, ControlError> {
        Ok(Self(Store::open(data_dir.join(STORE_FILE)).map_err(not_kept)?))
    }

    /// All rules, by origin.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be read.
    pub async fn list(&self) -> Result<Vec<(Origin, Rule)>, ControlError> {
        let rules = self.0.rules().await.map_err(not_kept)?;
        Ok(rules.into_iter().map(|stored| (stored.origin, stored.rule)).collect())
    }

    /// Sets the rule of one site, as a person types it: a bare host means https.
    ///
    /// # Errors
    ///
    /// Fails if the text names no site or the file cannot be written.
    pub async fn set(&self, site: &str, rule: Rule) -> Result<Origin, ControlError> {
        let origin = named(site)?;
        self.0.set_rule(origin.clone(), rule, SystemTime::now()).await.map_err(not_kept)?;
        Ok(origin)
    }

    /// Where the pages of single origins may send to while an agent acts in them, by origin.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be read.
    pub async fn sends(&self) -> Result<Vec<(Origin, Sends)>, ControlError> {
        self.0.sends().await.map_err(not_kept)
    }

    /// Sets where the pages of one site may send to, in place of what was set.
    ///
    /// # Errors
    ///
    /// Fails if the text names no site or the file cannot be written.
    pub async fn set_sends(&self, site: &str, sends: Sends) -> Result<Origin, ControlError> {
        let origin = named(site)?;
        self.0.set_sends(origin.clone(), sends, SystemTime::now()).await.map_err(not_kept)?;
        Ok(origin)
    }

    /// Removes all that is set for one site, and says whether anything was.
    ///
    /// # Errors
    ///
    /// Fails if the text names no site or the file cannot be written.
    pub async fn remove(&self, site: &str) -> Result<(Origin, bool), ControlError> {
        let origin = named(site)?;
        let removed = self.0.remove_rule(origin.clone()).await.map_err(not_kept)?;
        Ok((origin, removed))
    }
}

/// The site that a person means, all its hosts included.
///
/// # Errors
///
/// Fails if the text names no site.
pub fn whole_site(text: &str) -> Result<Site, ControlError> {
    named(text).map(|origin| origin.site())
}

fn named(site: &str) -> Result<Origin, ControlError> {
    SiteRules::site(site).map_err(|error| ControlError::Site(error.to_string()))
}
