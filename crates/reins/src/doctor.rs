//! `reins doctor` and `reins install`: what is needed, and how to get it (S-011…S-014).

use crate::cli::{DoctorArgs, InstallArgs};
use crate::exit;
use anyhow::{Context, Result};
use reins_browser::doctor::doctor as examine;
use reins_browser::install::{System, install_plan};
use reins_browser::{LaunchOptions, Profile};
use std::io::Write;
use std::process::ExitCode;

/// One line for each check, with the remedy for what is missing.
pub(crate) async fn doctor(args: DoctorArgs) -> Result<ExitCode> {
    let flags = &args.browser;
    let options = LaunchOptions {
        binary: flags.browser.clone(),
        headless: flags.headless,
        profile: flags.profile.clone().map_or(Profile::Temporary, Profile::Persistent),
        no_sandbox: flags.no_sandbox,
        ..LaunchOptions::default()
    };
    let data = flags.data_dir()?;
    let dedicated = data.join(crate::browser_flags::DEDICATED);
    let report = examine(&options, Some(&dedicated)).await;
    let mut out = std::io::stdout().lock();
    write!(out, "{report}")?;
    writeln!(out, "{}", crate::secrets::key_line(&data))?;
    Ok(ExitCode::from(if report.is_ready() { exit::DONE } else { exit::FAILED }))
}

/// Names the commands that install a browser, or runs them with `--yes`.
pub(crate) fn install(args: &InstallArgs) -> Result<ExitCode> {
    let plan = install_plan(&System::here());
    let mut out = std::io::stdout().lock();
    writeln!(out, "{}", plan.note)?;
    for command in &plan.commands {
        writeln!(out, "    {}", command.join(" "))?;
    }
    if !args.yes || plan.commands.is_empty() {
        return Ok(ExitCode::from(exit::DONE));
    }
    let installed = plan.run().context("the package manager could not be started")?;
    Ok(ExitCode::from(if installed { exit::DONE } else { exit::FAILED }))
}
