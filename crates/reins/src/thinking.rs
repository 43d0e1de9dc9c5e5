//! How a run thinks before and after its steps: flags, and the person at the terminal who is asked.

use crate::keyboard::Keyboard;
use crate::model::{self, Chosen};
use crate::terminal::Terminal;
use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use console::Term;
use futures_util::future::BoxFuture;
use reins_agent::plan::{PlanCard, PlanSetting, Unanswered};
use reins_agent::{Clarification, JudgeSetting, MindOptions, Mode, ModeChoice, Person, Reviewed};
use reins_models::Model;
use reins_store::Store;
use std::io::IsTerminal;
use std::sync::Arc;

/// The longest line that a person types as an answer, in bytes: a terminal's own limit.
const LINE_BYTES: usize = 4_096;

/// Flags of `reins run` about modes, plans and small questions.
#[derive(Debug, Args)]
pub(crate) struct ThinkingArgs {
    /// What kind of task it may be: read only, act, or whatever your words say
    #[arg(long, value_name = "MODE")]
    pub(crate) mode: Option<ModeWord>,
    /// Whether it plans first: no plan; one where the task needs it; or always, and you agree to it
    #[arg(long, value_name = "HOW")]
    pub(crate) plan: Option<PlanWord>,
    /// What happens when nobody answers a strict plan
    #[arg(long, value_name = "WHAT", default_value = "nothing")]
    pub(crate) unanswered_plan: UnansweredWord,
    /// A small fast model for questions with fixed choices, named as with --model, or the address of
    /// its server
    #[arg(long, value_name = "MODEL", env = "REINS_DECISION_MODEL")]
    pub(crate) decision_model: Option<String>,
}

/// What kind of task it may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ModeWord {
    /// Your words decide
    Auto,
    /// Only read and answer
    Ask,
    /// Do things in pages
    Act,
    /// Do things to find faults in a page
    Dev,
}

/// Whether it plans first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PlanWord {
    /// No plan
    Off,
    /// Where the task needs one
    Try,
    /// Always, and nothing runs before you agree
    Strict,
}

/// What happens when nobody answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum UnansweredWord {
    /// Nothing runs
    Nothing,
    /// The plan runs; what is risky is asked about all the same
    Run,
}

/// The mind of a run. A small model on this machine is only asked what is small: without a decision model
/// its task is taken as it stands, it lists its steps, and its answer is checked without questions.
pub(crate) async fn mind(
    args: &ThinkingArgs,
    store: &Store,
    chosen: &Chosen,
    start: Option<String>,
) -> Result<MindOptions> {
    let decision = match args.decision_model.as_deref() {
        None => None,
        Some(name) => {
            let address = name.contains("://");
            let (model, base) = if address { (None, Some(name)) } else { (Some(name), None) };
            let found = model::choose(store, model, base).await;
            Some(found.context("the decision model cannot be used")?.client)
        }
    };
    Ok(options(args, decision, chosen.client.is_local(), start))
}

fn options(
    args: &ThinkingArgs,
    decision: Option<Arc<dyn Model>>,
    local: bool,
    start: Option<String>,
) -> MindOptions {
    let asks = decision.is_some() || !local;
    let mode = match args.mode {
        Some(ModeWord::Auto) => ModeChoice::Auto,
        Some(ModeWord::Ask) => ModeChoice::Picked(Mode::Ask),
        Some(ModeWord::Act) => ModeChoice::Picked(Mode::Act),
        Some(ModeWord::Dev) => ModeChoice::Picked(Mode::Dev),
        None if asks => ModeChoice::Auto,
        None => ModeChoice::Picked(Mode::Act),
    };
    let plan = match args.plan {
        Some(PlanWord::Off) => PlanSetting::Off,
        Some(PlanWord::Try) => PlanSetting::Try,
        Some(PlanWord::Strict) => PlanSetting::Strict,
        None if local => PlanSetting::Off,
        None => PlanSetting::Try,
    };
    MindOptions {
        mode,
        plan,
        unanswered: match args.unanswered_plan {
            UnansweredWord::Nothing => Unanswered::Nothing,
            UnansweredWord::Run => Unanswered::Run,
        },
        judge: if asks { JudgeSetting::Ask } else { JudgeSetting::Checks },
        decision,
        start,
        ..MindOptions::default()
    }
}

/// The person at a terminal.
pub(crate) fn person(terminal: &Terminal) -> Arc<dyn Person> {
    Arc::new(AtTerminal { term: Term::stderr(), keyboard: Arc::clone(&terminal.keyboard) })
}

/// The person at the terminal. What they are asked has the keyboard to itself, as a card has.
struct AtTerminal {
    term: Term,
    keyboard: Arc<Keyboard>,
}

impl AtTerminal {
    fn is_there(&self) -> bool {
        std::io::stdin().is_terminal() && self.term.is_term()
    }

    /// Shows a text and reads a line. `None` if there is nobody, or the input ended.
    async fn line(&self, text: String) -> Option<String> {
        if !self.is_there() {
            return None;
        }
        let term = self.term.clone();
        let keyboard = Arc::clone(&self.keyboard);
        let ask = move || {
            term.write_str(&text).ok()?;
            term.read_line().ok()
        };
        let read = move || keyboard.for_a_card(ask);
        let line = tokio::task::spawn_blocking(read).await.ok().flatten()?;
        (line.len() <= LINE_BYTES).then(|| line.trim().to_owned())
    }

    /// The person types the plan anew, line by line.
    async fn edited(&self) -> Reviewed {
        let mut text = String::new();
        let mut prompt = "  type the plan; a line with just a dot ends it\n  | ".to_owned();
        loop {
            match self.line(std::mem::replace(&mut prompt, "  | ".to_owned())).await {
                None => return Reviewed::Unanswered,
                Some(line) if line == "." => break,
                Some(line) => {
                    text.push_str(&line);
                    text.push('\n');
                }
            }
        }
        if text.trim().is_empty() { Reviewed::Rejected } else { Reviewed::Edited(text) }
    }
}

impl Person for AtTerminal {
    fn review<'a>(&'a self, card: &'a PlanCard) -> BoxFuture<'a, Reviewed> {
        Box::pin(async move {
            let mut text = format!("\nThe plan:\n\n{}\n\n", card.text());
            loop {
                let asked = format!("{text}  type run, edit or stop: ");
                match self.line(asked).await.as_deref() {
                    None => return Reviewed::Unanswered,
                    Some("run") => return Reviewed::Approved,
                    Some("edit") => return self.edited().await,
                    Some("stop") => return Reviewed::Rejected,
                    Some(_) => text.clear(),
                }
            }
        })
    }

    fn clarify<'a>(&'a self, question: &'a Clarification) -> BoxFuture<'a, Option<String>> {
        Box::pin(async move {
            let mut text = format!("\nThe model asks: {}\n", question.question);
            for (at, choice) in question.choices.iter().enumerate() {
                text.push_str(&format!("  {}. {choice}\n", at + 1));
            }
            text.push_str("  your answer (empty for none): ");
            let line = self.line(text).await.filter(|line| !line.is_empty())?;
            let number = line.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
            let choice = number.and_then(|at| question.choices.get(at));
            Some(choice.cloned().unwrap_or(line))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args() -> ThinkingArgs {
        ThinkingArgs {
            mode: None,
            plan: None,
            unanswered_plan: UnansweredWord::Nothing,
            decision_model: None,
        }
    }

    /// W-030, W-230: what is asked when nothing is chosen; a small model is asked nothing more.
    /// W-780: one place says which decisions are asked of whom.
    #[test]
    fn w030_w230_defaults_depend_on_who_can_answer() {
        let small = options(&args(), None, true, None);
        assert_eq!(small.mode, ModeChoice::Picked(Mode::Act));
        assert_eq!((small.plan, small.judge), (PlanSetting::Off, JudgeSetting::Checks));
        let large = options(&args(), None, false, None);
        assert_eq!(large.mode, ModeChoice::Auto);
        assert_eq!((large.plan, large.judge), (PlanSetting::Try, JudgeSetting::Ask));
        let strict = ThinkingArgs { plan: Some(PlanWord::Strict), ..args() };
        let strict = options(&strict, None, true, None);
        assert_eq!((strict.plan, strict.unanswered), (PlanSetting::Strict, Unanswered::Nothing));
    }
}
