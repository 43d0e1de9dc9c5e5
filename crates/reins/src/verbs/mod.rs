//! Verbs for agents in a shell: each is one tool call in a named session, kept by a small daemon.
//!
//! `reins open URL`, `reins click e12`, `reins close`. The daemon is started by the first verb, listens on an
//! owner-only socket in the data directory, and leaves when no session is left. It has no rules of its own: a
//! call walks the same street as one of `reins mcp`.

mod client;
mod daemon;
mod limits;
mod place;
mod rooms;
mod table;
mod wire;

pub(crate) use client::{CloseArgs, SessionsArgs, close, run, sessions};
pub(crate) use daemon::{DaemonArgs, main as serve};
pub(crate) use table::Verb;

use crate::browser_flags::{self, LevelFlag};
use anyhow::{Context, Result};
use clap::Args;
use reins_control::{Beyond, BrowserSource, ControlOptions};
use reins_core::{Origin, OriginPattern};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// What every verb takes.
#[derive(Clone, Debug, Args)]
pub(crate) struct Common {
    /// Which session: agents that work at the same time name their own
    #[arg(long, value_name = "NAME", env = "REINS_SESSION", default_value = "main")]
    pub(crate) session: String,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) browser: SessionFlags,
    /// Where Reins keeps its own data
    #[arg(long, value_name = "DIR", env = "REINS_DATA_DIR", hide = true)]
    pub(crate) data_dir: Option<PathBuf>,
}

/// How a session's browser is started. They count at a session's first verb.
#[derive(Clone, Debug, Args)]
pub(crate) struct SessionFlags {
    /// Show the browser's window
    #[arg(long, help_heading = "When the session begins")]
    headed: bool,
    /// Pin the session to this app: it opens nothing else, and steps in it need no questions (repeatable)
    #[arg(
        long,
        value_name = "ORIGIN",
        help_heading = "When the session begins",
        conflicts_with = "profile"
    )]
    app: Vec<String>,
    /// A site you name: steps there that are not risky need no question (repeatable)
    #[arg(long, value_name = "ORIGIN", help_heading = "When the session begins")]
    site: Vec<String>,
    /// How much is asked: ask, careful or auto
    #[arg(id = "asked", long = "level", value_enum, help_heading = "When the session begins")]
    level: Option<LevelFlag>,
    /// Keep the browser's profile in this directory
    #[arg(long, value_name = "DIR", help_heading = "When the session begins")]
    profile: Option<PathBuf>,
    /// Let downloads into this directory
    #[arg(long, value_name = "DIR", help_heading = "When the session begins")]
    downloads: Option<PathBuf>,
    /// Let uploads take files from this directory (repeatable)
    #[arg(long, value_name = "DIR", help_heading = "When the session begins")]
    upload_root: Vec<PathBuf>,
    #[arg(long, value_name = "FILE", env = "REINS_BROWSER", hide = true)]
    browser: Option<PathBuf>,
    #[arg(long, env = "REINS_NO_SANDBOX", hide = true, value_parser = clap::builder::FalseyValueParser::new(), num_args = 0, default_missing_value = "1")]
    no_sandbox: bool,
}

/// The flags as they go to the daemon: absolute, and apart from what only the machine decides.
#[derive(Clone, Debug, Deserialize, Serialize)]
struct Setup {
    chosen: Chosen,
    /// From the environment. Two verbs may differ in it without meaning another session.
    browser: Option<PathBuf>,
    no_sandbox: bool,
}

/// What someone chose for a session. A later verb gives the same or nothing.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq, Serialize)]
#[serde(default)]
struct Chosen {
    headed: bool,
    app: Vec<String>,
    site: Vec<String>,
    level: Option<LevelFlag>,
    profile: Option<PathBuf>,
    downloads: Option<PathBuf>,
    upload_root: Vec<PathBuf>,
}

impl SessionFlags {
    fn setup(&self) -> Result<Setup> {
        let whole = |path: &PathBuf| {
            std::path::absolute(path).with_context(|| format!("{} is not usable", path.display()))
        };
        let mut app = Vec::new();
        for text in &self.app {
            let origin: OriginPattern = text.parse().with_context(|| format!("--app {text}"))?;
            app.push(origin.to_string());
        }
        let mut site = Vec::new();
        for text in &self.site {
            let origin = browser_flags::origin(text).with_context(|| format!("--site {text}"))?;
            site.push(origin.to_string());
        }
        let mut upload_root = Vec::new();
        for root in &self.upload_root {
            let real = root.canonicalize();
            upload_root.push(
                real.with_context(|| format!("--upload-root {} does not exist", root.display()))?,
            );
        }
        Ok(Setup {
            chosen: Chosen {
                headed: self.headed,
                app,
                site,
                level: self.level,
                profile: self.profile.as_ref().map(whole).transpose()?,
                downloads: self.downloads.as_ref().map(whole).transpose()?,
                upload_root,
            },
            browser: self.browser.clone(),
            no_sandbox: self.no_sandbox,
        })
    }
}

impl Setup {
    fn options(&self, data_dir: &Path) -> Result<ControlOptions> {
        let Chosen { headed, app, site, level, profile, downloads, upload_root } = &self.chosen;
        let app: Result<Vec<OriginPattern>, _> = app.iter().map(|text| text.parse()).collect();
        let named: Result<Vec<Origin>, _> = site.iter().map(|text| Origin::parse(text)).collect();
        Ok(ControlOptions {
            source: BrowserSource::Launch {
                binary: self.browser.clone(),
                headless: !headed,
                profile: profile.clone(),
                no_sandbox: self.no_sandbox,
            },
            level: level.unwrap_or(LevelFlag::Auto).into(),
            app: app?,
            beyond: Beyond::default(),
            calls: false,
            named: named?,
            strict_clicks: false,
            downloads: downloads.clone(),
            upload_roots: upload_root.clone(),
            inspect: true,
            data_dir: data_dir.to_owned(),
            critic: None,
        })
    }
}
