//! The configuration file. Everything has a default, and a word that is not known is an error.

use crate::error::ServeError;
use crate::keys;
use crate::limits;
use crate::scope::{Scope, Scopes};
use reins_core::{Origin, Secret, TenantId, web_url};
use reins_record::Retention;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What `reins serve --config FILE` reads.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Where it listens and as what it answers.
    pub server: ServerConfig,
    /// Sandboxes and their apps.
    pub sandboxes: SandboxConfig,
    /// Browsers.
    pub browsers: BrowserConfig,
    /// What is recorded of them.
    pub recordings: RecordingConfig,
    /// Requests.
    pub requests: RequestConfig,
    /// Browser minutes per calendar month (UTC).
    pub quota: QuotaConfig,
    /// Who else is asked and told.
    pub webhook: Option<WebhookConfig>,
    /// Tokens, beside those of `reins serve token`.
    pub tokens: Vec<TokenConfig>,
}

/// How long recordings are kept, over all tenants.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RecordingConfig {
    /// Days after their end.
    pub keep_days: u64,
    /// Megabytes on the disk, all together; the oldest go first.
    pub max_megabytes: u64,
}

impl Default for RecordingConfig {
    fn default() -> Self {
        // A month of a small team: a busy page takes about ten megabytes an hour.
        Self { keep_days: 30, max_megabytes: 10_000 }
    }
}

impl RecordingConfig {
    /// As the library takes it.
    pub(crate) fn retention(&self) -> Retention {
        let day = Duration::from_secs(24 * 60 * 60);
        let days = u32::try_from(self.keep_days).unwrap_or(u32::MAX);
        Retention {
            max_age: Some(day * days),
            max_bytes: Some(self.max_megabytes.saturating_mul(1_000_000)),
        }
    }
}

/// Where it listens and as what it answers.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ServerConfig {
    /// The loopback port; 0 takes a free one.
    pub port: u16,
    /// Further values of `Host` that are its own, such as those of a reverse proxy.
    pub hosts: Vec<String>,
    /// Further origins whose dashboards may open live views (S-016).
    pub origins: Vec<String>,
    /// The tenant of whoever comes through the owner's socket, and of the dashboard's first link.
    pub owner_tenant: String,
}

/// The port if none is given: free with IANA, and easy to tell from an app's own.
pub const PORT: u16 = 7347;

impl Default for ServerConfig {
    fn default() -> Self {
        Self { port: PORT, hosts: Vec::new(), origins: Vec::new(), owner_tenant: "local".into() }
    }
}

/// Sandboxes and their apps.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SandboxConfig {
    /// How long a sandbox lives if nothing is said.
    pub expires_in_s: u64,
    /// How long it may live at most.
    pub max_expires_in_s: u64,
    /// How many a tenant may have at once.
    pub per_tenant: usize,
    /// Whether tokens may have apps booted by a command on this machine. The owner always may.
    pub commands: bool,
    /// Whether tokens may make sandboxes without an app, on the open web with cards. The owner always may.
    pub guarded: bool,
    /// How long a booted app may take to answer.
    pub boot_timeout_s: u64,
}

impl Default for SandboxConfig {
    fn default() -> Self {
        Self {
            expires_in_s: 8 * 60 * 60,
            max_expires_in_s: 7 * 24 * 60 * 60,
            per_tenant: 50,
            commands: false,
            guarded: false,
            boot_timeout_s: 120,
        }
    }
}

/// Browsers.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct BrowserConfig {
    /// Whether browsers may be started and driven at all (S-032).
    pub execution: bool,
    /// How many may run at once, over all tenants: each takes a few hundred megabytes.
    pub at_once: usize,
}

impl Default for BrowserConfig {
    fn default() -> Self {
        Self { execution: true, at_once: 20 }
    }
}

/// Requests.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RequestConfig {
    /// Requests per second and token, in the long run.
    pub per_second: u32,
    /// Requests at once and token.
    pub burst: u32,
}

impl Default for RequestConfig {
    fn default() -> Self {
        Self { per_second: 50, burst: 200 }
    }
}

/// Browser minutes per calendar month.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct QuotaConfig {
    /// For every tenant that is not named; none means without end.
    pub browser_minutes: Option<u64>,
    /// For single tenants.
    pub tenants: BTreeMap<String, u64>,
}

impl QuotaConfig {
    /// The minutes of one tenant.
    pub fn minutes(&self, tenant: &TenantId) -> Option<u64> {
        self.tenants.get(tenant.as_str()).copied().or(self.browser_minutes)
    }
}

/// What a webhook is asked and told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HookKind {
    /// Whether someone may start a browser or take over.
    Permission,
    /// Whether there are browser minutes left.
    Quota,
    /// How many minutes a browser ran.
    Usage,
}

impl HookKind {
    /// The word in the payload.
    pub fn word(self) -> &'static str {
        match self {
            Self::Permission => "permission",
            Self::Quota => "quota",
            Self::Usage => "usage",
        }
    }
}

/// A service of the team's own.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WebhookConfig {
    /// Where it is.
    pub url: String,
    /// The file that holds the key which requests are signed with.
    pub secret_file: PathBuf,
    /// What it wants.
    #[serde(default = "all_kinds")]
    pub events: Vec<HookKind>,
    /// How long one try may take.
    #[serde(default = "hook_timeout")]
    pub timeout_ms: u64,
    /// Whether things are allowed while it does not answer.
    #[serde(default)]
    pub allow_without_answer: bool,
}

fn all_kinds() -> Vec<HookKind> {
    vec![HookKind::Permission, HookKind::Quota, HookKind::Usage]
}

fn hook_timeout() -> u64 {
    5_000
}

impl WebhookConfig {
    /// How long one try may take.
    pub fn timeout(&self) -> Duration {
        Duration::from_millis(self.timeout_ms.clamp(100, 30_000))
    }

    /// Reads the key.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be read, or holds too little.
    pub fn secret(&self) -> Result<Secret<String>, ServeError> {
        let failed = |reason: String| ServeError::Config { path: self.secret_file.clone(), reason };
        let text = std::fs::read_to_string(&self.secret_file).map_err(|e| failed(e.to_string()))?;
        let text = text.trim().to_owned();
        if text.len() < 32 {
            return Err(failed("a key needs at least 32 characters".into()));
        }
        Ok(Secret::new(text))
    }
}

/// A token by its hash.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TokenConfig {
    /// Who or what holds it.
    pub name: String,
    /// Whose rows it opens.
    pub tenant: String,
    /// What it may do.
    pub scopes: Vec<Scope>,
    /// `sha256:` and the hex digest, as `reins serve token add --print-hash` shows it.
    pub hash: String,
}

impl TokenConfig {
    /// The digest.
    pub(crate) fn digest(&self) -> Option<[u8; 32]> {
        keys::unhex(self.hash.strip_prefix("sha256:")?)
    }

    /// What it may do.
    pub(crate) fn scopes(&self) -> Scopes {
        self.scopes.iter().copied().collect()
    }
}

impl Config {
    /// Reads a file.
    ///
    /// # Errors
    ///
    /// Fails with what is wrong and where.
    pub fn read(path: &Path) -> Result<Self, ServeError> {
        let failed = |reason: String| ServeError::Config { path: path.to_owned(), reason };
        let text = std::fs::read_to_string(path).map_err(|e| failed(e.to_string()))?;
        Self::parse(&text, path)
    }

    fn parse(text: &str, path: &Path) -> Result<Self, ServeError> {
        let failed = |reason: String| ServeError::Config { path: path.to_owned(), reason };
        let config: Self = toml::from_str(text).map_err(|e| failed(e.to_string()))?;
        for token in &config.tokens {
            if token.digest().is_none() {
                let name = &token.name;
                let hash = "a hash such as sha256:<64 hex digits>";
                return Err(failed(format!("the token '{name}' needs {hash}")));
            }
            if !fits(&token.name) || !fits(&token.tenant) {
                let most = limits::NAME_CHARS;
                return Err(failed(format!(
                    "names and tenants of tokens are 1 to {most} characters"
                )));
            }
        }
        if !fits(&config.server.owner_tenant) {
            return Err(failed("owner_tenant must not be empty".into()));
        }
        for origin in &config.server.origins {
            Origin::parse(origin).map_err(|e| failed(format!("origins: {e}")))?;
        }
        if let Some(hook) = &config.webhook {
            web_url(&hook.url).map_err(|e| failed(format!("webhook.url: {e}")))?;
        }
        if config.requests.per_second == 0 || config.requests.burst == 0 {
            let least = "requests.per_second and requests.burst must be at least 1";
            return Err(failed(least.into()));
        }
        Ok(config)
    }
}

/// Whether a text can name a tenant, a token or a sandbox.
pub(crate) fn fits(name: &str) -> bool {
    !name.trim().is_empty()
        && name.chars().count() <= limits::NAME_CHARS
        && !name.chars().any(char::is_control)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn a_configuration_is_read_whole_or_refused_with_its_line() {
        let hash = keys::hex(&keys::hash("rst_x"));
        let text = format!(
            "[server]\nport = 0\nhosts = [\"reins.example\"]\n[quota]\nbrowser_minutes = 100\n\
             [quota.tenants]\nacme = 5\n[[tokens]]\nname = \"ci\"\ntenant = \"acme\"\n\
             scopes = [\"read\", \"act\"]\nhash = \"sha256:{hash}\"\n"
        );
        let config = Config::parse(&text, Path::new("x")).unwrap();
        assert_eq!(config.server.port, 0);
        assert_eq!(config.quota.minutes(&TenantId::new("acme")), Some(5));
        assert_eq!(config.quota.minutes(&TenantId::new("other")), Some(100));
        assert_eq!(config.tokens[0].digest(), Some(keys::hash("rst_x")));
        for (text, word) in [
            ("[server]\nprot = 1\n", "prot"),
            ("[[tokens]]\nname='a'\ntenant='b'\nscopes=['all']\nhash=''\n", "all"),
            ("[[tokens]]\nname='a'\ntenant='b'\nscopes=[]\nhash='x'\n", "hash"),
            ("[requests]\nburst = 0\n", "burst"),
            ("[server]\norigins = ['nowhere']\n", "nowhere"),
        ] {
            let error = Config::parse(text, Path::new("x")).unwrap_err().to_string();
            assert!(error.contains(word), "{text}: {error}");
        }
    }
}
