//! Why a browser cannot be started or attached to. The same words are used by `reins doctor` and by
//! a start that fails (S-014).

use reins_cdp::ConnectError;
use std::io;
use std::path::PathBuf;
use std::time::Duration;
use thiserror::Error;

/// What stands in the way. The message says what it is, [`StartError::remedy`] what to do about it.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum StartError {
    /// No browser where browsers usually are.
    #[error("no Chromium, Chrome, Edge or Brave was found")]
    NotFound,
    /// The browser that was asked for is not there, or is no program.
    #[error("{} is not a program that can be started", .0.display())]
    NotAProgram(PathBuf),
    /// The browser is older than what we speak.
    #[error("{name} {version} is too old")]
    TooOld {
        /// Its name.
        name: String,
        /// Its version.
        version: String,
    },
    /// Chromium refuses to run its sandbox as root.
    #[error("Chromium does not run its sandbox as root")]
    SandboxAsRoot,
    /// The system gives Chromium nothing to build its sandbox from.
    #[error("Chromium found no way to build its sandbox on this system")]
    NoSandbox,
    /// A window was asked for and there is no display.
    #[error("there is no display for a window (neither DISPLAY nor WAYLAND_DISPLAY is set)")]
    NoDisplay,
    /// The profile is the person's own.
    #[error("{} belongs to the person's own {browser}", .dir.display())]
    PersonalProfile {
        /// The directory.
        dir: PathBuf,
        /// The browser it belongs to.
        browser: &'static str,
    },
    /// Another process uses the profile.
    #[error("the profile {} is in use by {holder}", .dir.display())]
    ProfileInUse {
        /// The directory.
        dir: PathBuf,
        /// Who holds it, such as `process 4711 (chromium)`.
        holder: String,
    },
    /// The profile directory cannot be made or written.
    #[error("the profile {} cannot be used: {source}", .dir.display())]
    ProfileUnusable {
        /// The directory.
        dir: PathBuf,
        /// What the system says.
        #[source]
        source: io::Error,
    },
    /// The program could not be started.
    #[error("{} could not be started: {source}", .program.display())]
    Spawn {
        /// The program.
        program: PathBuf,
        /// What the system says.
        #[source]
        source: io::Error,
    },
    /// It ended before it answered.
    #[error("the browser ended while it started ({status}){}", quoted(.said))]
    Ended {
        /// How it ended.
        status: String,
        /// The last it wrote on its error output.
        said: String,
    },
    /// It did not answer in time.
    #[error("the browser did not answer within {} s of its start{}", .after.as_secs(), quoted(.said))]
    Deadline {
        /// How long we waited.
        after: Duration,
        /// The last it wrote on its error output.
        said: String,
    },
    /// The dedicated browser does not run.
    #[error("the dedicated browser with the profile {} is not running", .profile.display())]
    NotRunning {
        /// Its profile.
        profile: PathBuf,
        /// The command that starts it.
        command: String,
    },
    /// Another run of the dedicated browser is there now.
    #[error("the dedicated browser was restarted since; nothing was sent")]
    Replaced,
    /// The dedicated browser runs and does not accept us.
    #[error("{0}")]
    Connect(#[source] ConnectError),
}

fn quoted(said: &str) -> String {
    if said.is_empty() { String::new() } else { format!(": {said}") }
}

impl StartError {
    /// The stable code used in results.
    pub fn code(&self) -> &'static str {
        match self {
            StartError::NotFound => "browser_not_found",
            StartError::NotAProgram(_) => "browser_not_a_program",
            StartError::TooOld { .. } => "browser_too_old",
            StartError::SandboxAsRoot => "sandbox_as_root",
            StartError::NoSandbox => "no_sandbox",
            StartError::NoDisplay => "no_display",
            StartError::PersonalProfile { .. } => "personal_profile",
            StartError::ProfileInUse { .. } => "profile_in_use",
            StartError::ProfileUnusable { .. } => "profile_unusable",
            StartError::Spawn { .. } => "browser_not_started",
            StartError::Ended { .. } => "browser_ended",
            StartError::Deadline { .. } => "browser_start_deadline",
            StartError::NotRunning { .. } => "dedicated_not_running",
            StartError::Replaced => "browser_replaced",
            StartError::Connect(_) => "dedicated_not_reached",
        }
    }

    /// What to do about it.
    pub fn remedy(&self) -> String {
        match self {
            StartError::NotFound => {
                "run `reins install`, or name one with --browser FILE".to_owned()
            }
            StartError::NotAProgram(_) => {
                "name the browser's own program file with --browser FILE".to_owned()
            }
            StartError::TooOld { .. } => format!(
                "update it to version {} or newer, or name another with --browser FILE",
                crate::find::OLDEST_MAJOR
            ),
            StartError::SandboxAsRoot => "run as another user; or, if only pages you trust are \
                opened, give --no-sandbox or set REINS_NO_SANDBOX=1"
                .to_owned(),
            StartError::NoSandbox => "allow unprivileged user namespaces (on Ubuntu: `sudo sysctl \
                kernel.apparmor_restrict_unprivileged_userns=0`, in Docker: a seccomp profile that \
                allows them); or, if only pages you trust are opened, give --no-sandbox or set \
                REINS_NO_SANDBOX=1"
                .to_owned(),
            StartError::NoDisplay => "give --headless, or start it within a desktop".to_owned(),
            StartError::PersonalProfile { .. } => {
                "give --profile a directory of its own; it is created if need be".to_owned()
            }
            StartError::ProfileInUse { .. } => {
                "close that browser, or give --profile another directory".to_owned()
            }
            StartError::ProfileUnusable { .. } => {
                "make it writable, or give --profile another directory".to_owned()
            }
            StartError::Spawn { .. } => {
                "check that it starts by itself, or name another with --browser FILE".to_owned()
            }
            StartError::Ended { .. } | StartError::Deadline { .. } => {
                "run `reins doctor`; it tries a start and says what is missing".to_owned()
            }
            StartError::NotRunning { command, .. } => format!("start it with: {command}"),
            StartError::Replaced => "list the tabs again and use what you get".to_owned(),
            StartError::Connect(_) => "close the dedicated browser and start it again".to_owned(),
        }
    }
}
