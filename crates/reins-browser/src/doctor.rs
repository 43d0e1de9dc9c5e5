//! What Reins needs, one check each, with the remedy for what is missing (S-011…S-015).
//!
//! A start makes the same checks and fails with the same words. Nothing is ever downloaded by either.

use crate::browser::Browser;
use crate::dedicated;
use crate::error::BrowserError;
use crate::find::{Found, OLDEST_MAJOR, major, version_number};
use crate::launch::{LaunchOptions, browser, display, profile, sandbox};
use crate::profile::Profile;
use crate::start_error::StartError;
use std::fmt;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};
use tokio::process::Command;
use tokio::time::timeout;

/// A browser prints its version within a fraction of a second, unless something is wrong with it.
const VERSION: Duration = Duration::from_secs(20);

/// How a check came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// All is well.
    Good,
    /// It works, with a limit worth knowing.
    Limited,
    /// A start would fail.
    Missing,
}

/// One line of the report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// What was looked at.
    pub name: &'static str,
    /// How it came out.
    pub state: State,
    /// What was seen.
    pub detail: String,
    /// What to do about it, where there is something to do.
    pub remedy: Option<String>,
}

/// All checks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DoctorReport {
    /// In the order in which a start makes them.
    pub checks: Vec<Check>,
}

impl Check {
    fn good(name: &'static str, detail: impl Into<String>) -> Self {
        Self { name, state: State::Good, detail: detail.into(), remedy: None }
    }

    fn failed(name: &'static str, state: State, error: &StartError) -> Self {
        Self { name, state, detail: error.to_string(), remedy: Some(error.remedy()) }
    }

    fn of(name: &'static str, result: Result<String, StartError>) -> Self {
        match result {
            Ok(detail) => Self::good(name, detail),
            Err(error) => Self::failed(name, State::Missing, &error),
        }
    }
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mark = match self.state {
            State::Good => "ok",
            State::Limited => "note",
            State::Missing => "MISSING",
        };
        write!(f, "{mark:7} {:9} {}", self.name, self.detail)?;
        if let Some(remedy) = &self.remedy {
            write!(f, "; {remedy}")?;
        }
        Ok(())
    }
}

impl fmt::Display for DoctorReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.checks.iter().try_for_each(|check| writeln!(f, "{check}"))
    }
}

impl DoctorReport {
    /// Whether a browser can be started as asked.
    pub fn is_ready(&self) -> bool {
        self.checks.iter().all(|check| check.state != State::Missing)
    }
}

/// Looks at everything that a start with these options needs, and tries a start without a window on
/// a fresh profile. With `dedicated`, looks whether the browser on that profile runs.
pub async fn doctor(options: &LaunchOptions, dedicated: Option<&Path>) -> DoctorReport {
    let mut checks = vec![Check::good(
        "reins",
        format!(
            "{} for {} on {}",
            env!("CARGO_PKG_VERSION"),
            std::env::consts::OS,
            std::env::consts::ARCH
        ),
    )];
    let found = browser(options);
    if let Ok(found) = &found {
        checks
            .push(Check::of("browser", Ok(format!("{} at {}", found.name, found.path.display()))));
        checks.push(Check::of("version", version(found).await));
    } else {
        checks.push(Check::of("browser", found.map(|_| String::new())));
    }
    checks.push(Check::of("sandbox", sandbox(options).map(|()| sandbox_detail(options))));
    checks.push(display_check(options));
    checks.push(Check::of("profile", profile(options).map(|()| profile_detail(options))));
    if checks.iter().all(|check| check.state != State::Missing) {
        checks.push(Check::of("start", start(options).await));
    }
    if let Some(profile) = dedicated {
        checks.push(match dedicated::running(profile) {
            Ok(id) => Check::good("dedicated", format!("runs as {id} on {}", profile.display())),
            // Only those who attach to it need it.
            Err(error) => Check::failed("dedicated", State::Limited, &error),
        });
    }
    DoctorReport { checks }
}

fn sandbox_detail(options: &LaunchOptions) -> String {
    if options.no_sandbox {
        "off, as asked: open only pages you trust".to_owned()
    } else {
        "Chromium's own".to_owned()
    }
}

/// Where no window is wanted, that none can be shown is only worth knowing.
fn display_check(options: &LaunchOptions) -> Check {
    let window = LaunchOptions { headless: false, ..options.clone() };
    match display(&window) {
        Ok(()) => Check::good("display", "windows can be shown"),
        Err(error) if options.headless => Check::failed("display", State::Limited, &error),
        Err(error) => Check::failed("display", State::Missing, &error),
    }
}

fn profile_detail(options: &LaunchOptions) -> String {
    match &options.profile {
        Profile::Temporary => {
            format!("a fresh one below {}", std::env::temp_dir().display())
        }
        Profile::Persistent(dir) => dir.display().to_string(),
    }
}

/// The version a browser prints, if it is one that can be driven.
async fn version(found: &Found) -> Result<String, StartError> {
    let spawn = |source| StartError::Spawn { program: found.path.clone(), source };
    let printed =
        Command::new(&found.path).arg("--version").stdin(Stdio::null()).kill_on_drop(true).output();
    let printed = timeout(VERSION, printed).await;
    let printed = printed.map_err(|elapsed| spawn(elapsed.into()))?.map_err(spawn)?;
    let text = String::from_utf8_lossy(&printed.stdout).trim().to_owned();
    match major(&text) {
        Some(major) if major < OLDEST_MAJOR => {
            let version = version_number(&text).unwrap_or_default().to_owned();
            Err(StartError::TooOld { name: found.name.to_owned(), version })
        }
        Some(_) => Ok(text),
        None => Err(StartError::Ended {
            status: printed.status.to_string(),
            said: String::from_utf8_lossy(&printed.stderr).trim().to_owned(),
        }),
    }
}

async fn start(options: &LaunchOptions) -> Result<String, StartError> {
    let options = LaunchOptions { headless: true, profile: Profile::Temporary, ..options.clone() };
    let began = Instant::now();
    match Browser::launch(options).await {
        Ok(browser) => {
            let after = began.elapsed();
            browser.close().await;
            Ok(format!("a browser without a window was ready after {:.2} s", after.as_secs_f32()))
        }
        Err(BrowserError::Start(error)) => Err(error),
        Err(error) => {
            Err(StartError::Ended { status: error.code().into(), said: error.to_string() })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_is_one_line_with_its_remedy() {
        let error = StartError::NotFound;
        let check = Check::of("browser", Err(error));
        assert_eq!(
            check.to_string(),
            "MISSING browser   no Chromium, Chrome, Edge or Brave was found; run `reins install`, \
             or name one with --browser FILE"
        );
        let report = DoctorReport { checks: vec![Check::good("reins", "1"), check] };
        assert!(!report.is_ready());
        assert_eq!(report.to_string().lines().count(), 2);
        let report = DoctorReport { checks: vec![Check::good("reins", "1")] };
        assert!(report.is_ready());
    }
}
