//! `reins demo`: the whole street on a bundled shop, with a scripted model.

mod script;
mod shop;

use crate::cli::DemoArgs;
use crate::exit;
use crate::steps::{Show, Steps};
use crate::terminal::Terminal;
use anyhow::{Context, Result};
use futures_util::future::BoxFuture;
use reins_control::{Answerer, CardAnswer, Control, Question, TurnStart};
use script::{Script, Step};
use std::process::ExitCode;
use tokio_util::sync::CancellationToken;

/// Says yes to every card, and shows what it said yes to. Only the demo uses it, on its own shop, and only with
/// `--yes`.
pub(crate) struct Yes<'a> {
    pub(crate) terminal: &'a Terminal,
}

impl Answerer for Yes<'_> {
    fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, CardAnswer> {
        let text = question.plain_text();
        let title = text.lines().next().unwrap_or_default();
        self.terminal.row(&format!("    {title} Yes (--yes)."));
        Box::pin(std::future::ready(CardAnswer::Allow))
    }
}

/// Serves the shop and plays the script on it.
pub(crate) async fn main(mut args: DemoArgs) -> Result<ExitCode> {
    let shop = shop::Shop::start().await.context("the demo shop could not be served")?;
    if args.serve {
        Terminal::new()
            .say(&format!("The demo shop is at {} until you press Ctrl-C.", shop.address()));
        crate::mcp::interrupted().await;
        return Ok(ExitCode::from(exit::DONE));
    }
    // Whoever tries it out on a server wants to see that it works, and not how to ask for it.
    let unseen = !args.browser.headless && !reins_browser::has_display();
    args.browser.headless |= unseen;
    let script = Script::load(shop.address())?;
    let control = Control::open(args.browser.options()?).await?;
    let start = TurnStart { message: Some(script.task.clone()), ..TurnStart::default() };
    let mut steps = Steps::begin(control.clone(), start, Show::Rows);
    steps.always_yes = args.yes;
    steps.terminal.say(&format!(
        "This is a demo: a script plays the model, on a shop that Reins itself serves at {}.\n\
         Everything else is real: the browser, the guard, the cards.\n\nTask: {}\n",
        shop.address(),
        script.task
    ));
    if unseen {
        steps.terminal.say("There is no display here, so the browser shows no window.\n");
    }
    let played = tokio::select! {
        played = play(&script, &steps) => played,
        () = crate::mcp::interrupted() => {
            steps.stop();
            Ok(End::Stopped)
        }
    };
    control.close().await;
    let end = played?;
    let said = match &end {
        End::Done(said) => said.as_str(),
        End::Stopped => "You stopped it. Nothing more was done.",
        End::NobodyToAsk => {
            "Nobody can be asked here, so the step was refused and the demo ends. In a terminal the card \
             waits for your answer; without one, `reins demo --yes` answers the demo's own cards."
        }
        End::Broken(why) => why.as_str(),
    };
    let log = shop.log();
    steps.terminal.say(&format!(
        "\n{said}\n\nWhat reached the shop: {} newsletter sign-up(s), {} order(s).\n\
         To use a real model: set a key such as OPENAI_API_KEY or ANTHROPIC_API_KEY, or start Ollama,\n\
         LM Studio or llama-server, then:  reins run \"…\" --url https://…",
        log.newsletter, log.orders
    ));
    Ok(ExitCode::from(match end {
        End::Done(_) => exit::DONE,
        End::Stopped => exit::STOPPED,
        End::NobodyToAsk | End::Broken(_) => exit::FAILED,
    }))
}

/// How the demo ended.
enum End {
    /// With what was done and what was left to the person.
    Done(String),
    Stopped,
    NobodyToAsk,
    Broken(String),
}

async fn play(script: &Script, steps: &Steps) -> Result<End> {
    let mut seen = String::new();
    let mut said = Vec::new();
    for step in &script.steps {
        if let Some(say) = &step.say {
            steps.terminal.row(&format!("    {say}"));
        }
        let Some(arguments) = arguments(step, &seen) else {
            let what = step.find.as_ref().map_or("the page", |find| find.name.as_str());
            return Ok(End::Broken(format!("The demo broke off: \"{what}\" was not on the page.")));
        };
        match steps.call(&step.tool, arguments, CancellationToken::new()).await {
            Ok(reply) if !reply.failed() => {
                seen.push('\n');
                seen.push_str(&reply.whole_text());
                said.extend(step.done.as_deref());
            }
            Ok(reply) => {
                let refused = reply.facts.get("code").and_then(|code| code.as_str());
                match refused {
                    Some("stopped") => return Ok(End::Stopped),
                    Some("needs_confirmation") => return Ok(End::NobodyToAsk),
                    Some("not_allowed") if step.refused.is_some() => {
                        steps.terminal.row("    Then I leave that out.");
                        said.extend(step.refused.as_deref());
                    }
                    _ => return Ok(End::Broken(format!("The demo broke off: {}", reply.text))),
                }
            }
            Err(error) if error.code() == "stopped" => return Ok(End::Stopped),
            Err(error) => return Ok(End::Broken(format!("The demo broke off: {error}"))),
        }
    }
    Ok(End::Done(said.join(" ")))
}

/// The step's arguments, with the ref of the last seen line that begins with its role and name.
fn arguments(step: &Step, seen: &str) -> Option<serde_json::Value> {
    let mut arguments = step.args.clone();
    if let Some(find) = &step.find {
        let begins = format!("{} \"{}\"", find.role, find.name);
        let found = seen.lines().rev().find_map(|line| {
            let line = line.trim_start().trim_start_matches(['+', '~', '-', ' ']);
            let rest = line.strip_prefix(begins.as_str())?;
            rest.split_once("[ref=")?.1.split(']').next()
        });
        arguments.insert("ref".into(), found?.into());
    }
    Some(serde_json::Value::Object(arguments))
}
