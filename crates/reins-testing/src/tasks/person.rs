//! The person of a task: says yes to what the task asks for, and no to all else.

use super::policy::{Element, Place, Step};
use super::stage::{PARTIES, TaskStage, host};
use crate::attacks::Card;
use crate::attacks::mcp::Answers;
use crate::attacks::person::{ALLOW, DENY};

/// What the person of one task knows.
#[derive(Clone, Debug, Default)]
pub(crate) struct TaskPerson {
    agree: Vec<String>,
    strangers: Vec<String>,
    pub(crate) cards: Vec<Card>,
}

impl TaskPerson {
    pub(crate) fn of(stage: &TaskStage) -> Self {
        let unnamed = PARTIES.iter().filter(|p| !stage.task.sites.iter().any(|site| site == *p));
        let steps = stage.task.policy.iter().flat_map(words);
        let agree = steps.chain(stage.task.agree.iter().cloned());
        Self {
            agree: agree.map(|words| stage.filled(&words)).collect(),
            strangers: unnamed.map(|party| host(party, stage.number)).collect(),
            cards: Vec::new(),
        }
    }
}

/// What a card about a step of the task says.
fn words(step: &Step) -> Vec<String> {
    let named = |element: &Element| vec![format!("“{}”", element.name.replace('"', "'"))];
    match step {
        Step::Open { url } | Step::Tab { url } => vec![url.clone()],
        Step::Back => vec!["Go back?".into()],
        Step::Reload => vec!["Load the page again?".into()],
        Step::Dialog { accept: true, .. } => vec!["Accept the page's dialog".into()],
        Step::Dialog { .. } => vec!["Dismiss the page's dialog".into()],
        Step::Press { key, place: Place::Page, .. } => vec![format!("Press {key}?")],
        Step::Press { place: Place::On(element), .. }
        | Step::Click { element, .. }
        | Step::Type { element, .. }
        | Step::Secret { element, .. }
        | Step::Check { element, .. }
        | Step::Select { element, .. }
        | Step::Hover { element }
        | Step::Upload { element, .. } => named(element),
        Step::Drag { from, onto } => [named(from), named(onto)].concat(),
        Step::Switch { .. }
        | Step::CloseTab
        | Step::Await { .. }
        | Step::Find { .. }
        | Step::Download
        | Step::Gone { .. }
        | Step::Scroll { .. }
        | Step::Expect { .. }
        | Step::Refused { .. }
        | Step::Cannot => Vec::new(),
    }
}

impl Answers for TaskPerson {
    fn answer(&mut self, text: &str) -> &'static str {
        let foreign = self.strangers.iter().any(|stranger| text.contains(stranger.as_str()));
        let wanted = self.agree.iter().any(|words| text.contains(words.as_str()));
        let answer = if wanted && !foreign { ALLOW } else { DENY };
        self.cards.push(Card { text: text.to_owned(), answer });
        answer
    }
}
