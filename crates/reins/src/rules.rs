//! `reins rules`: what may happen on single sites without asking, and what never may.

use crate::cli::{RuleWord, RulesArgs, RulesCommand};
use crate::exit;
use anyhow::Result;
use reins_control::RuleBook;
use reins_core::Rule;
use std::io::Write;
use std::process::ExitCode;

pub(crate) async fn main(args: RulesArgs) -> Result<ExitCode> {
    let book = RuleBook::open(&crate::browser_flags::data_dir(args.data_dir.as_deref())?)?;
    let mut out = std::io::stdout().lock();
    match args.command {
        RulesCommand::Add { rule, site } => {
            let (rule, meaning) = match rule {
                RuleWord::Always => {
                    (Rule::Always, "steps there that are not risky need no question")
                }
                RuleWord::Never => {
                    (Rule::Never, "nothing is opened or done there; reading stays free")
                }
            };
            let origin = book.set(&site, rule).await?;
            writeln!(out, "{} {origin}: {meaning}", rule.as_str())?;
        }
        RulesCommand::Remove { site } => match book.remove(&site).await? {
            (origin, true) => writeln!(out, "the rule for {origin} is removed")?,
            (origin, false) => {
                writeln!(out, "there is no rule for {origin}; `reins rules list` shows them")?;
                return Ok(ExitCode::from(exit::FAILED));
            }
        },
        RulesCommand::List => {
            let rules = book.list().await?;
            if rules.is_empty() {
                writeln!(out, "no rules; add one with `reins rules add always|never SITE`")?;
            }
            for (origin, rule) in rules {
                writeln!(out, "{:<6} {origin}", rule.as_str())?;
            }
        }
    }
    Ok(ExitCode::from(exit::DONE))
}
