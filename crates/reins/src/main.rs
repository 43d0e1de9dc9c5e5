//! The command line of Reins. It holds no rules: it reads flags and opens doors.

mod browser_flags;
mod cli;
mod critic;
mod demo;
mod docs;
mod doctor;
mod exit;
mod logging;
mod mcp;
mod model;
mod rules;
mod run;
mod secrets;
mod steps;
mod terminal;
mod toolbox;

use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    let cli = cli::Cli::parse();
    logging::start(cli.verbose);
    cli::dispatch(cli.command)
}
