//! `reins rules`: what may happen on single sites without asking, and what never may.

use crate::cli::{RuleWord, RulesArgs, RulesCommand};
use crate::exit;
use anyhow::Result;
use reins_control::{RuleBook, whole_site};
use reins_core::{Rule, Sends, Site};
use std::collections::BTreeSet;
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
        RulesCommand::Sends { site, also, only, anywhere: _ } => {
            let sites = also.iter().map(|site| whole_site(site)).collect::<Result<_, _>>()?;
            let sends = match (only, also.is_empty()) {
                (true, _) => Sends::Only(sites),
                (false, false) => Sends::Also(sites),
                (false, true) => Sends::Anywhere,
            };
            let origin = book.set_sends(&site, sends.clone()).await?;
            writeln!(out, "sends  {origin}: {}", told(&sends))?;
        }
        RulesCommand::Remove { site } => match book.remove(&site).await? {
            (origin, true) => writeln!(out, "the rule for {origin} is removed")?,
            (origin, false) => {
                writeln!(out, "there is no rule for {origin}; `reins rules list` shows them")?;
                return Ok(ExitCode::from(exit::FAILED));
            }
        },
        RulesCommand::List => {
            let (rules, sends) = (book.list().await?, book.sends().await?);
            if rules.is_empty() && sends.is_empty() {
                writeln!(out, "no rules; add one with `reins rules add always|never SITE`")?;
            }
            for (origin, rule) in rules {
                writeln!(out, "{:<6} {origin}", rule.as_str())?;
            }
            for (origin, sends) in sends {
                writeln!(out, "sends  {origin}: {}", told(&sends))?;
            }
        }
    }
    Ok(ExitCode::from(exit::DONE))
}

/// What its pages may do while the agent acts in them.
fn told(sends: &Sends) -> String {
    let listed =
        |sites: &BTreeSet<Site>| sites.iter().map(Site::to_string).collect::<Vec<_>>().join(", ");
    match sends {
        Sends::Anywhere => "anywhere".to_owned(),
        Sends::Also(sites) => format!("also to {}", listed(sites)),
        Sends::Only(sites) if sites.is_empty() => {
            "only to its own site and those you name".to_owned()
        }
        Sends::Only(sites) => {
            format!("only to its own site, those you name and {}", listed(sites))
        }
    }
}
