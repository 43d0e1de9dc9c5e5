//! Where browsers run (S-170): a trait, and the one for this machine.

use crate::error::ServeError;
use futures_util::future::BoxFuture;
use reins_browser::{Browser, has_display};
use reins_control::{BrowserSource, Control, ControlOptions, Level, RuleBook};
use reins_core::{Origin, OriginPattern, Rule, Secret, SessionId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fmt::Debug;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::SystemTime;

/// How a browser shows itself (S-040, S-041).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Without a window.
    Headless,
    /// In a window on the daemon's machine.
    Headed,
}

impl Mode {
    /// The word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Headless => "headless",
            Self::Headed => "headed",
        }
    }
}

impl FromStr for Mode {
    type Err = ServeError;

    fn from_str(text: &str) -> Result<Self, ServeError> {
        match text {
            "headless" => Ok(Self::Headless),
            "headed" => Ok(Self::Headed),
            other => Err(ServeError::impossible(
                "unknown_mode",
                format!("'{other}' is no mode; use headless or headed"),
            )),
        }
    }
}

/// More tools than the core (S-033).
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Capability {
    /// Assertions.
    Testing,
    /// Clicks and drags at coordinates.
    Vision,
    /// Pages as PDF.
    Pdf,
}

impl FromStr for Capability {
    type Err = ServeError;

    fn from_str(text: &str) -> Result<Self, ServeError> {
        match text {
            "testing" => Ok(Self::Testing),
            "vision" => Ok(Self::Vision),
            "pdf" => Ok(Self::Pdf),
            other => Err(ServeError::impossible(
                "unknown_capability",
                format!("'{other}' is no capability; use testing, vision or pdf"),
            )),
        }
    }
}

/// What a start needs (S-171).
#[derive(Clone, Debug)]
pub struct StartOrder {
    /// The browser's session.
    pub session: SessionId,
    /// A secret of this start alone. It goes to the backend and nowhere else (S-143).
    pub token: Secret<String>,
    /// The one app it may open; `None` is the open web, with cards.
    pub app: Option<Origin>,
    /// With a window or without.
    pub mode: Mode,
    /// More tools.
    pub capabilities: BTreeSet<Capability>,
    /// How much is asked, where there are cards.
    pub level: Level,
    /// Rules for sites, where there are cards.
    pub rules: Vec<(Origin, Rule)>,
    /// When it stops by itself at the latest.
    pub stop_at: SystemTime,
    /// An empty directory of its own, removed at its end.
    pub folder: PathBuf,
}

/// A browser that runs.
#[derive(Clone, Debug)]
pub struct Started {
    /// Every step goes through it.
    pub control: Control,
    /// For its screen and the person's own input.
    pub browser: Browser,
}

/// Starts and stops browsers.
pub trait SessionBackend: Send + Sync + Debug {
    /// What it can start (S-026).
    fn modes(&self) -> Vec<Mode>;

    /// Starts one, or says what is in the way and what to do about it. Dropped, it leaves nothing behind.
    fn start(&self, order: StartOrder) -> BoxFuture<'_, Result<Started, ServeError>>;

    /// Stops one. Never waits for what its pages do.
    fn stop<'a>(&'a self, started: &'a Started) -> BoxFuture<'a, ()>;
}

/// Browsers on this machine, each on a fresh profile, driven over a pipe (S-140, S-141).
#[derive(Clone, Debug, Default)]
pub struct LocalBackend {
    /// The program, or the usual places.
    pub binary: Option<PathBuf>,
    /// Without Chromium's own sandbox, as root must.
    pub no_sandbox: bool,
}

impl SessionBackend for LocalBackend {
    fn modes(&self) -> Vec<Mode> {
        if has_display() { vec![Mode::Headless, Mode::Headed] } else { vec![Mode::Headless] }
    }

    fn start(&self, order: StartOrder) -> BoxFuture<'_, Result<Started, ServeError>> {
        Box::pin(async move {
            let uploads = order.folder.join("uploads");
            // Made empty for this browser: uploads take files from here alone (S-157).
            tokio::fs::create_dir_all(&uploads)
                .await
                .map_err(|error| ServeError::Internal(format!("no folder for uploads: {error}")))?;
            if !order.rules.is_empty() {
                let rules = RuleBook::open(&order.folder)?;
                for (origin, rule) in &order.rules {
                    rules.set(&origin.to_string(), *rule).await?;
                }
            }
            let control = Control::open(ControlOptions {
                source: BrowserSource::Launch {
                    binary: self.binary.clone(),
                    headless: order.mode == Mode::Headless,
                    profile: None,
                    no_sandbox: self.no_sandbox,
                },
                level: order.level,
                beyond: reins_control::Beyond::default(),
                calls: false,
                app: order.app.into_iter().map(OriginPattern::from).collect(),
                named: Vec::new(),
                strict_clicks: false,
                downloads: None,
                upload_roots: vec![uploads],
                inspect: true,
                data_dir: order.folder,
                critic: None,
            })
            .await?;
            // A start that is dropped takes its browser with it.
            let browser = control.browser().await?;
            Ok(Started { control, browser })
        })
    }

    fn stop<'a>(&'a self, started: &'a Started) -> BoxFuture<'a, ()> {
        Box::pin(started.control.close())
    }
}
