//! `reins man`: the manual pages, printed or written into a folder, from the one list of flags.

use crate::cli::Cli;
use crate::exit;
use anyhow::{Context, Result};
use clap::{Args, CommandFactory};
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// Write the pages of all commands into this folder instead, such as ~/.local/share/man/man1
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
    /// The command whose page to print, such as `run`; without one the page of reins itself
    pub(crate) command: Option<String>,
}

pub(crate) fn main(args: &ManArgs) -> Result<ExitCode> {
    let mut root = Cli::command();
    root.build();
    if let Some(folder) = &args.dir {
        let failed = || format!("{} could not be written", folder.display());
        std::fs::create_dir_all(folder).with_context(failed)?;
        let mut pages = vec![root.clone()];
        while let Some(command) = pages.pop() {
            pages.extend(shown(&command).cloned());
            let name = file_name(&command);
            std::fs::write(folder.join(name), page(command)?).with_context(failed)?;
        }
        return Ok(ExitCode::from(exit::DONE));
    }
    let command = match &args.command {
        None => root,
        Some(name) => match shown(&root).find(|command| command.get_name() == name) {
            Some(command) => command.clone(),
            None => crate::cli::unknown_subcommand(name),
        },
    };
    std::io::stdout().lock().write_all(&page(command)?)?;
    Ok(ExitCode::from(exit::DONE))
}

/// Subcommands with a page of their own.
fn shown(command: &clap::Command) -> impl Iterator<Item = &clap::Command> {
    command.get_subcommands().filter(|sub| !sub.is_hide_set() && sub.get_name() != "help")
}

fn full_name(command: &clap::Command) -> String {
    command.get_bin_name().unwrap_or(command.get_name()).replace(' ', "-")
}

fn file_name(command: &clap::Command) -> String {
    format!("{}.1", full_name(command))
}

/// A page with the exit codes at its end.
fn page(command: clap::Command) -> std::io::Result<Vec<u8>> {
    let name = full_name(&command);
    let man = Man::new(command).title(name.to_uppercase());
    let mut out = Vec::new();
    man.render(&mut out)?;
    let mut codes = Roff::default();
    codes.control("SH", ["EXIT STATUS"]);
    for (code, meaning) in exit::MEANINGS {
        codes.control("TP", []);
        codes.text([roman(code.to_string())]);
        codes.text([roman(*meaning)]);
    }
    codes.to_writer(&mut out)?;
    Ok(out)
}
