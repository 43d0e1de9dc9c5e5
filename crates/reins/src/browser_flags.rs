//! The flags that say which browser, which policy and how much is asked.

use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use reins_control::{Beyond, BrowserSource, ControlOptions, Deny, Public};
use reins_core::{Origin, OriginError, OriginPattern};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// The dedicated browser's profile, inside the data directory.
pub(crate) const DEDICATED: &str = "browser";

#[derive(Clone, Debug, Args)]
pub(crate) struct BrowserFlags {
    /// Run without a window
    #[arg(long)]
    pub(crate) headless: bool,
    /// Keep the browser's profile in this directory (default: a fresh one, removed afterwards)
    #[arg(long, value_name = "DIR", conflicts_with = "dedicated")]
    pub(crate) profile: Option<PathBuf>,
    /// Attach to Reins' own dedicated browser, which you start yourself (see `reins doctor`)
    #[arg(long)]
    pub(crate) dedicated: bool,
    /// How much is asked: every change (ask), a plan first (careful), or only what is risky (auto)
    #[arg(long, value_enum, default_value_t = LevelFlag::Auto)]
    pub(crate) level: LevelFlag,
    /// A site you name: steps there that are not risky need no question (repeatable)
    #[arg(long, value_name = "ORIGIN", value_parser = origin)]
    pub(crate) site: Vec<Origin>,
    /// Pin the browser to this app: it opens nothing else at top level, and steps in it need no
    /// questions. Only on a fresh profile. A port of * means any (repeatable)
    #[arg(long, value_name = "ORIGIN", value_parser = pattern, conflicts_with_all = ["profile", "dedicated"])]
    pub(crate) app: Vec<OriginPattern>,
    /// With --app: load nothing from anywhere else, no fonts and scripts of public hosts either
    #[arg(long, requires = "app")]
    pub(crate) app_only: bool,
    /// With --app: a host with all under it, or a range of addresses, that is never reached (repeatable)
    #[arg(long, value_name = "HOST", requires = "app")]
    pub(crate) deny: Vec<Deny>,
    /// Let downloads into this directory (default: downloads are refused)
    #[arg(long, value_name = "DIR")]
    pub(crate) downloads: Option<PathBuf>,
    /// Leave pages calls (WebRTC) and WebTransport, by which a page could send anywhere past all
    /// checks (default: a browser started here has neither, unless it is pinned)
    #[arg(long)]
    pub(crate) calls: bool,
    /// Let uploads take files from this directory (default: none; repeatable)
    #[arg(long, value_name = "DIR")]
    pub(crate) upload_root: Vec<PathBuf>,
    /// The browser to use (default: Chromium, Chrome, Edge or Brave where they usually are)
    #[arg(long, value_name = "FILE", env = "REINS_BROWSER")]
    pub(crate) browser: Option<PathBuf>,
    /// Run Chromium without its own sandbox, as root must
    #[arg(long, env = "REINS_NO_SANDBOX", value_parser = clap::builder::FalseyValueParser::new(), num_args = 0, default_missing_value = "1")]
    pub(crate) no_sandbox: bool,
    /// Where Reins keeps its own data
    #[arg(long, value_name = "DIR", env = "REINS_DATA_DIR")]
    pub(crate) data_dir: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "snake_case")]
pub(crate) enum LevelFlag {
    Ask,
    Careful,
    Auto,
}

impl From<LevelFlag> for reins_control::Level {
    fn from(flag: LevelFlag) -> Self {
        match flag {
            LevelFlag::Ask => Self::Ask,
            LevelFlag::Careful => Self::Careful,
            LevelFlag::Auto => Self::Auto,
        }
    }
}

/// An origin as people write it: a bare host means https.
pub(crate) fn origin(text: &str) -> Result<Origin, OriginError> {
    let with_scheme =
        if text.contains("://") { text.to_owned() } else { format!("https://{text}") };
    Origin::parse(&with_scheme)
}

fn pattern(text: &str) -> Result<OriginPattern, OriginError> {
    text.parse()
}

impl BrowserFlags {
    /// Everything control needs, with relative paths made absolute.
    pub(crate) fn options(&self) -> Result<ControlOptions> {
        let data_dir = self.data_dir()?;
        let source = if self.dedicated {
            BrowserSource::Dedicated(data_dir.join(DEDICATED))
        } else {
            BrowserSource::Launch {
                binary: self.browser.clone(),
                headless: self.headless,
                profile: self.profile.as_deref().map(absolute).transpose()?,
                no_sandbox: self.no_sandbox,
            }
        };
        let mut roots = Vec::new();
        for root in &self.upload_root {
            roots.push(
                root.canonicalize()
                    .with_context(|| format!("--upload-root {} does not exist", root.display()))?,
            );
        }
        Ok(ControlOptions {
            source,
            level: self.level.into(),
            app: self.app.clone(),
            beyond: Beyond {
                public: if self.app_only { Public::Refuse } else { Public::Allow },
                deny: self.deny.clone(),
                ..Beyond::default()
            },
            named: self.site.clone(),
            downloads: self.downloads.as_deref().map(absolute).transpose()?,
            upload_roots: roots,
            inspect: false,
            data_dir,
            strict_clicks: false,
            calls: self.calls,
            critic: None,
        })
    }

    /// The data directory, by the platform's own rules unless it is given.
    pub(crate) fn data_dir(&self) -> Result<PathBuf> {
        data_dir(self.data_dir.as_deref())
    }
}

/// The given data directory, or the platform's own.
pub(crate) fn data_dir(given: Option<&Path>) -> Result<PathBuf> {
    use etcetera::BaseStrategy;
    if let Some(dir) = given {
        return absolute(dir);
    }
    let base = etcetera::choose_base_strategy().context("no home directory; set --data-dir")?;
    Ok(base.data_dir().join("reins"))
}

fn absolute(path: &Path) -> Result<PathBuf> {
    std::path::absolute(path).with_context(|| format!("{} is not usable", path.display()))
}
