//! The tool reference and completions, printed from the one list.

use crate::cli::Cli;
use crate::exit;
use anyhow::Result;
use clap::CommandFactory;
use reins_control::{Effect, Group, tools};
use std::fmt::Write as _;
use std::io::Write as _;
use std::process::ExitCode;

/// Prints the reference as Markdown.
pub(crate) fn print() -> Result<ExitCode> {
    std::io::stdout().lock().write_all(reference().as_bytes())?;
    Ok(ExitCode::from(exit::DONE))
}

/// The reference as Markdown; docs/tools.md is this text, held by a test.
pub(crate) fn reference() -> String {
    let mut text = String::from(
        "# Tools\n\nEvery tool also takes `tab` (an id from `list_tabs`) and `session` (any name; \
         sessions never touch each other's tabs). \
         Tools of another group than `core` are listed with `--tools`, such as `--tools core,inspect`.\n",
    );
    for tool in tools() {
        let effect = match tool.effect {
            Effect::Read => "reads",
            Effect::View => "changes the view only",
            Effect::Act => "acts",
        };
        let group = match tool.group {
            Group::Core => String::new(),
            other => format!("; group `{}`", other.name()),
        };
        // Writing to a String cannot fail.
        let _ = write!(text, "\n## {}\n\n{} ({effect}{group})\n", tool.name, tool.about);
        let schema = tool.input_schema();
        let required: Vec<&str> = schema
            .get("required")
            .and_then(|r| r.as_array())
            .map(|names| names.iter().filter_map(|n| n.as_str()).collect())
            .unwrap_or_default();
        let Some(properties) = schema.get("properties").and_then(|p| p.as_object()) else {
            continue;
        };
        let own = properties.iter().filter(|(name, _)| *name != "tab" && *name != "session");
        for (index, (name, property)) in own.enumerate() {
            if index == 0 {
                text.push_str("\n| argument | type | |\n|---|---|---|\n");
            }
            let kind = property.get("type").and_then(|t| t.as_str()).unwrap_or("value");
            let about = property.get("description").and_then(|d| d.as_str()).unwrap_or("");
            let needed = if required.contains(&name.as_str()) { " (required)" } else { "" };
            let _ = writeln!(text, "| `{name}`{needed} | {kind} | {about} |");
        }
    }
    text
}

/// The skill file, as agents read it.
const SKILL: &str = include_str!("../../../docs/SKILL.md");

/// Prints the skill file.
pub(crate) fn skill() -> Result<ExitCode> {
    std::io::stdout().lock().write_all(SKILL.as_bytes())?;
    Ok(ExitCode::from(exit::DONE))
}

/// Prints a completion script.
pub(crate) fn completions(shell: clap_complete::Shell) -> Result<ExitCode> {
    let mut out = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "reins", &mut out);
    std::io::stdout().lock().write_all(&out)?;
    Ok(ExitCode::from(exit::DONE))
}
