//! The command line of Reins. It holds no rules: it reads flags and opens doors.

mod agent_run;
mod agent_tools;
mod agents;
mod attach;
mod browser_flags;
mod cli;
mod critic;
mod debug;
mod demo;
mod docs;
mod doctor;
mod drive;
mod exit;
mod keyboard;
mod logging;
mod manual;
mod markdown;
mod mcp;
mod model;
mod past;
mod providers;
mod record;
mod replay;
mod resume;
mod rules;
mod run;
mod runs;
mod secrets;
mod serve;
mod serve_runs;
mod steer;
mod steps;
mod terminal;
mod thinking;
mod toolbox;
mod trace;
mod watch;
mod words;

use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    let cli = cli::Cli::parse();
    if matches!(cli.command, cli::Command::Debug(_)) && !debug::is_on() {
        // The same words as for any other word that is no subcommand.
        cli::unknown_subcommand("debug");
    }
    logging::start(cli.verbose);
    cli::dispatch(cli.command, cli.verbose > 0)
}
