//! The one evaluator.

use crate::approve::{ApprovedAction, Basis};
use crate::assess::{Assessment, Effect, RiskKind, Way, assess};
use crate::block::block;
use crate::card::{CardKind, Grants, PendingCard};
use crate::critic::{CriticQuestion, PendingCheck};
use crate::facts::{CriticState, Facts, Holding, Moment, Policy};
use crate::host::{names, same_door, same_site};
use crate::level::Level;
use crate::obligations::{Obligations, Sending, obligations};
use crate::reason::{Question, Wording};
use crate::rules::SiteRules;
use reins_core::{Action, DocumentOrigin, Gesture, Key, Origin, Refusal, Rule};

/// Why every step asks at level careful without a provider.
const NO_CRITIC: &str =
    "level careful asks about every step, because no fast model is set up for the safety check";

/// What the guard says of one action.
#[derive(Debug)]
#[must_use]
pub enum Decision {
    /// It may be dispatched.
    Allow(ApprovedAction),
    /// The person sees the turn's first step and its sites.
    Plan(PendingCard),
    /// The person is asked about this step.
    Confirm(PendingCard),
    /// The critic is asked about this step.
    Check(PendingCheck),
    /// It is refused, whatever anyone says.
    Block(Refusal),
}

/// An action that was read and found free of blocks.
#[derive(Debug)]
pub(crate) struct Prepared {
    action: Action,
    obligations: Obligations,
    moment: Moment,
}

impl Prepared {
    pub(crate) fn approve(self, basis: Basis) -> ApprovedAction {
        let sending = match basis {
            Basis::Held => Sending::Held,
            Basis::Person | Basis::PinnedApp => Sending::Agreed,
            Basis::Harmless | Basis::KnownAddress | Basis::NamedSite | Basis::Critic => {
                Sending::AsBefore
            }
        };
        let obligations = Obligations { sending, ..self.obligations };
        ApprovedAction::new(self.action, basis, obligations, self.moment)
    }

    pub(crate) fn ask(self, wording: &Wording, question: Question) -> PendingCard {
        let card = wording.card(&question);
        PendingCard::new(self, card, question.grants)
    }
}

/// Decides about one action. Takes it, so that what is approved is what was judged.
pub fn evaluate(action: Action, facts: &Facts<'_>) -> Decision {
    let step = assess(&action, facts);
    if let Err(refusal) = block(&action, &step, facts) {
        return Decision::Block(refusal);
    }
    let obligations = obligations(&action, &step, facts);
    let prepared = |action| Prepared { action, obligations, moment: facts.moment };
    match verdict(&action, &step, facts) {
        Verdict::Allow(basis) => Decision::Allow(prepared(action).approve(basis)),
        Verdict::Check => {
            let wording = Wording::new(&action, &step, facts);
            let question = CriticQuestion::new(&action, &step);
            Decision::Check(PendingCheck { prepared: prepared(action), wording, question })
        }
        Verdict::Ask(ask) => {
            let wording = Wording::new(&action, &step, facts);
            let question = question(ask, &action, &step, facts);
            let kind = question.kind;
            let pending = prepared(action).ask(&wording, question);
            match kind {
                CardKind::Plan => Decision::Plan(pending),
                CardKind::Confirm => Decision::Confirm(pending),
            }
        }
    }
}

/// A decision before it is bound to its action.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Verdict {
    Allow(Basis),
    Check,
    Ask(Ask),
}

/// What the person is asked about.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Ask {
    /// The first step of level careful, with the sites it would name.
    Plan(RiskKind, Vec<Origin>),
    /// The step's risk.
    Step(RiskKind),
    /// Nothing but a site that nobody named.
    Site(Unnamed),
    /// Every step, because there is no critic.
    NoCritic(RiskKind),
}

/// Sites that nobody named.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Unnamed {
    risk: RiskKind,
    /// Those that can be named. A script-built frame never can.
    origins: Vec<Origin>,
}

/// The table: what level and facts make of a step that no block stops.
fn verdict(action: &Action, step: &Assessment<'_>, facts: &Facts<'_>) -> Verdict {
    if matches!(facts.policy, Policy::Pinned(_)) {
        return Verdict::Allow(Basis::PinnedApp);
    }
    let risk = step.main_risk();
    if step.effect == Effect::Look && risk.is_none() {
        return Verdict::Allow(Basis::Harmless);
    }
    match facts.level {
        Level::Ask => Verdict::Ask(Ask::Step(risk.unwrap_or(RiskKind::Change))),
        Level::Auto => match (risk, unnamed(step, facts)) {
            (Some(RiskKind::Unclassified), None) if can_be_held(action, step, facts) => {
                Verdict::Allow(Basis::Held)
            }
            (Some(risk), _) => Verdict::Ask(Ask::Step(risk)),
            (None, Some(unnamed)) => Verdict::Ask(Ask::Site(unnamed)),
            (None, None) if step.effect == Effect::Open => Verdict::Allow(Basis::KnownAddress),
            (None, None) => Verdict::Allow(Basis::NamedSite),
        },
        Level::Careful if facts.critic == CriticState::Missing => {
            Verdict::Ask(Ask::NoCritic(risk.unwrap_or(RiskKind::Change)))
        }
        Level::Careful if !facts.turn.plan_allowed => {
            Verdict::Ask(Ask::Plan(risk.unwrap_or(RiskKind::Change), nameable(step)))
        }
        Level::Careful => match (risk, unnamed(step, facts)) {
            (Some(risk), _) => Verdict::Ask(Ask::Step(risk)),
            (None, Some(unnamed)) => Verdict::Ask(Ask::Site(unnamed)),
            (None, None) => Verdict::Check,
        },
    }
}

/// Whether a step may run because what it sends is held: nothing but the lack of any sign of what it
/// does speaks against it, and every document of the tab belongs to a site that is named.
fn can_be_held(action: &Action, step: &Assessment<'_>, facts: &Facts<'_>) -> bool {
    let Holding::Over(documents) = &facts.holding else { return false };
    let presses = match action {
        Action::Pointer { gesture: Gesture::Click { .. }, .. }
        | Action::Check { .. }
        | Action::Drag { .. } => true,
        // A chord can be a command of the browser, and Alt reaches any control of the page.
        Action::Press { chord, .. } => {
            let held = chord.modifiers;
            matches!(chord.key, Key::Character(_)) && !held.control && !held.alt && !held.meta
        }
        _ => false,
    };
    let mut shown = documents.iter().chain(step.documents.iter().copied());
    presses
        && step.risks.iter().all(|risk| *risk == RiskKind::Unclassified)
        && is_named(&facts.tab.origin, facts)
        && shown.all(|document| is_named(document, facts))
}

/// The card's question.
fn question(ask: Ask, action: &Action, step: &Assessment<'_>, facts: &Facts<'_>) -> Question {
    match ask {
        Ask::Plan(risk, planned) => {
            let grants = Grants { planned, plan_allowed: true, ..Grants::default() };
            Question { kind: CardKind::Plan, grants, ..Question::confirm(risk) }
        }
        Ask::Step(risk) => Question::confirm(risk),
        Ask::Site(Unnamed { risk, origins }) => Question {
            always_offer: always_offer(action, step, facts),
            grants: Grants { asked: origins, ..Grants::default() },
            ..Question::confirm(risk)
        },
        Ask::NoCritic(risk) => Question { aside: Some(NO_CRITIC), ..Question::confirm(risk) },
    }
}

/// The sites of a step that have to be named at this level and are not.
fn unnamed(step: &Assessment<'_>, facts: &Facts<'_>) -> Option<Unnamed> {
    let careful = facts.level == Level::Careful;
    let mut risk = None;
    let mut origins = Vec::new();
    if careful || step.effect == Effect::Input {
        for document in &step.documents {
            if !is_named(document, facts) {
                risk = risk.max(Some(RiskKind::UnnamedSite));
                origins.extend(document.named_as().cloned());
            }
        }
    }
    for destination in &step.destinations {
        let Some(origin) = &destination.origin else { continue };
        if is_named_origin(origin, facts) {
            continue;
        }
        let from_nowhere = destination.way == Way::Address && !facts.turn.knows(destination.url);
        // Which of many links is followed tells the site they lead to something, and the choice may
        // be the page's. Within one site it learns nothing new.
        if from_nowhere || careful || !leads_home(step, origin, facts) {
            let kind = if from_nowhere { RiskKind::NewSite } else { RiskKind::CrossOrigin };
            risk = risk.max(Some(kind));
            origins.push(origin.clone());
        }
    }
    origins.sort();
    origins.dedup();
    risk.map(|risk| Unnamed { risk, origins })
}

/// Whether an address is of the same site as what the step acts in.
fn leads_home(step: &Assessment<'_>, to: &Origin, facts: &Facts<'_>) -> bool {
    let tab = [&facts.tab.origin];
    let from: &[&DocumentOrigin] = if step.documents.is_empty() { &tab } else { &step.documents };
    from.iter().all(|document| matches!(document, DocumentOrigin::Web(from) if same_site(from, to)))
}

/// The sites of a step that a plan can name.
fn nameable(step: &Assessment<'_>) -> Vec<Origin> {
    let mut origins: Vec<Origin> = step
        .documents
        .iter()
        .filter_map(|document| document.named_as().cloned())
        .chain(step.destinations.iter().filter_map(|destination| destination.origin.clone()))
        .collect();
    origins.sort();
    origins.dedup();
    origins
}

/// Whether a document counts as named. Script-built and sandboxed ones never do.
fn is_named(document: &DocumentOrigin, facts: &Facts<'_>) -> bool {
    document.named_as().is_some_and(|origin| is_named_origin(origin, facts))
}

fn is_named_origin(origin: &Origin, facts: &Facts<'_>) -> bool {
    facts.turn.named.iter().any(|named| names(named, origin))
        || facts.turn.planned.contains(origin)
        || facts.rules.always(origin)
        || facts.turn.asked.iter().any(|asked| same_site(asked, origin) && same_door(asked, origin))
}

/// The site that a card may offer to always allow: the one whose rule alone would let the step
/// through. Found by asking the table again with the rule added.
fn always_offer(action: &Action, step: &Assessment<'_>, facts: &Facts<'_>) -> Option<Origin> {
    if facts.level == Level::Ask {
        return None;
    }
    let site = match action.target() {
        Some(target) => target.top.named_as().cloned(),
        None => match step.destination() {
            Some(destination) => destination.origin.clone(),
            None => facts.tab.origin.named_as().cloned(),
        },
    }?;
    let mut rules: SiteRules = facts.rules.clone();
    rules.set(site.clone(), Rule::Always);
    let settled = verdict(action, step, &Facts { rules: &rules, ..facts.clone() });
    matches!(settled, Verdict::Allow(_) | Verdict::Check).then_some(site)
}
