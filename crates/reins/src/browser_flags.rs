//! The flags that say which browser, which policy and how much is asked.

use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use reins_control::{BrowserSource, ControlOptions};
use reins_core::{Origin, OriginError, OriginPattern};
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

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LevelFlag {
    Ask,
    Careful,
    Auto,
}

fn origin(text: &str) -> Result<Origin, OriginError> {
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
            level: match self.level {
                LevelFlag::Ask => reins_control::Level::Ask,
                LevelFlag::Careful => reins_control::Level::Careful,
                LevelFlag::Auto => reins_control::Level::Auto,
            },
            app: self.app.clone(),
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
