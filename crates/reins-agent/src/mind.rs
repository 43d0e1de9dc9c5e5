//! What a run thinks about before and after its steps: its mode, its plan, its answer.
//!
//! An agent without a mind acts, plans nothing but the list of small models, and believes its answer.

use crate::ask::Bill;
use crate::evidence::Evidence;
use crate::judge::{self, JudgeSetting, Judged};
use crate::memory::Memory;
use crate::mode::{
    ACT_NOTE, ASK_NOTE, Before, Mode, ModeChoice, READ_ONLY_NOTE, Route, RouteSource, route,
};
use crate::person::{Clarification, NoPerson, Person, Reviewed};
use crate::plan::{
    Agreed, Asked, Form, MemoryKind, NoPlan, PlanAction, PlanCard, PlanInput, PlanSetting,
    Unanswered, plan,
};
use crate::questions::{PlanNeed, Questions};
use crate::report::{RunEnd, failed};
use reins_models::Model;
use std::sync::{Arc, Mutex, PoisonError};
use tokio_util::sync::CancellationToken;

/// How a run thinks. The default is not at all.
#[derive(Clone)]
pub struct MindOptions {
    /// What the person picked.
    pub mode: ModeChoice,
    /// Whether there is a plan. Small models on this machine list their steps instead, unless it is
    /// strict.
    pub plan: PlanSetting,
    /// What happens when nobody answers a plan card.
    pub unanswered: Unanswered,
    /// Whether answers are judged.
    pub judge: JudgeSetting,
    /// The model for closed questions, if there is one; else the run's own.
    pub decision: Option<Arc<dyn Model>>,
    /// Who can be asked.
    pub person: Arc<dyn Person>,
    /// The turn before.
    pub before: Option<Before>,
    /// What was said before, for the planner; see [`crate::plan::digest`].
    pub digest: Option<String>,
    /// The address that the person gave to start from.
    pub start: Option<String>,
}

impl Default for MindOptions {
    fn default() -> Self {
        Self {
            mode: ModeChoice::Picked(Mode::Act),
            plan: PlanSetting::Off,
            unanswered: Unanswered::default(),
            judge: JudgeSetting::Off,
            decision: None,
            person: Arc::new(NoPerson),
            before: None,
            digest: None,
            start: None,
        }
    }
}

/// The options at work.
pub(crate) struct Mind {
    options: MindOptions,
    model: Arc<dyn Model>,
    questions: Arc<Questions>,
    /// What planning used and was not billed yet.
    used: Mutex<Bill>,
}

/// What planning came to.
pub(crate) enum Planned {
    /// There is no plan, and none is needed.
    None,
    /// A plan that the person agreed to or was not asked about.
    Agreed(Agreed),
    /// There is none, so this turn only reads (W-246).
    ReadOnly(String),
    /// The run is over.
    End(RunEnd),
}

impl Mind {
    pub(crate) fn new(options: MindOptions, model: Arc<dyn Model>) -> Self {
        let questions = Arc::new(Questions::new(options.decision.clone(), model.clone()));
        Self { options, model, questions, used: Mutex::default() }
    }

    pub(crate) fn questions(&self) -> Arc<Questions> {
        self.questions.clone()
    }

    /// Whether models are asked what captions, messages and answers mean: the one place that says so
    /// (W-780).
    pub(crate) fn reads(&self) -> bool {
        self.options.judge == JudgeSetting::Ask
    }

    pub(crate) fn person(&self) -> Arc<dyn Person> {
        self.options.person.clone()
    }

    pub(crate) fn before(&self) -> Option<&Before> {
        self.options.before.as_ref()
    }

    /// The turn that ends here is the one before the next (W-037).
    pub(crate) fn remember(&mut self, mode: Mode, task: &str) {
        self.options.before = Some(Before { mode, task: task.to_owned() });
        // Only the first turn begins where the person said.
        self.options.start = None;
    }

    /// The mode that the person picked; `None` if their words decide.
    pub(crate) fn picked(&self) -> Option<Route> {
        match self.options.mode {
            ModeChoice::Picked(mode) => Some(Route::picked(mode)),
            ModeChoice::Auto => None,
        }
    }

    /// The mode by the person's words.
    pub(crate) async fn route(&self, task: &str, cancel: &CancellationToken) -> Route {
        let route = route(&self.questions, task, self.before(), cancel).await;
        tracing::info!(mode = route.mode.as_str(), source = ?route.source, took = ?route.took, "routed");
        route
    }

    /// What is said to the person about a mode that they did not pick.
    pub(crate) fn told(route: &Route) -> Option<String> {
        let mode = route.mode.as_str();
        match route.source {
            RouteSource::Picked => None,
            RouteSource::Routed => {
                Some(format!("mode {mode}, by your words; --mode picks another"))
            }
            RouteSource::NoAnswer(none) => Some(format!(
                "it begins with reading only: your words were not clear about acting ({}); --mode act lets it act",
                none.word()
            )),
            RouteSource::Handed => Some(format!("mode {mode}: the model quoted your words for it")),
        }
    }

    /// What the instructions say about the mode: once for a whole task, where no page and no earlier
    /// turn can say otherwise (W-245).
    pub(crate) fn note(&self, route: &Route) -> Option<&'static str> {
        match route.mode {
            Mode::Ask if route.may_hand_over() => Some(READ_ONLY_NOTE),
            Mode::Ask => Some(ASK_NOTE),
            Mode::Act | Mode::Dev => self.clarifies(route).then_some(ACT_NOTE),
        }
    }

    /// Whether a model may ask the person: not where it only reads (W-021), and not where nobody was
    /// named who can be asked.
    pub(crate) fn clarifies(&self, route: &Route) -> bool {
        route.mode != Mode::Ask && self.options.plan != PlanSetting::Off
    }

    /// Plans a task (W-230…). `small` says that the model has listed its steps already or will.
    pub(crate) async fn plan(
        &self,
        task: &str,
        route: &Route,
        small: bool,
        cancel: &CancellationToken,
    ) -> Planned {
        let setting = self.options.plan;
        let strict = setting == PlanSetting::Strict;
        if setting == PlanSetting::Off || route.mode == Mode::Ask || (small && !strict) {
            return Planned::None;
        }
        // W-232: what is surely direct needs no steps.
        let direct = route.plan_need == Some(PlanNeed::Direct) && !strict;
        let form = if direct { Form::Compact } else { Form::Full };
        let mut answer: Option<(String, String)> = None;
        loop {
            let input = PlanInput {
                task,
                mode: route.mode,
                start: self.options.start.as_deref(),
                before: self.options.digest.as_deref(),
                answered: answer.as_ref().map(|(asked, said)| (asked.as_str(), said.as_str())),
            };
            let Asked { plan, used } = plan(&*self.model, form, &input, cancel).await;
            {
                let mut bill = self.used.lock().unwrap_or_else(PoisonError::into_inner);
                for usage in used {
                    bill.requests += 1;
                    bill.add(usage, self.model.cost(&usage));
                }
            }
            let plan = match plan {
                Ok(plan) => plan,
                Err(no_plan) => return without(no_plan, strict),
            };
            if let (Some((asked, said)), Some(recipient)) = (&answer, &plan.recipient)
                && ![task, asked, said].iter().any(|text| names(text, recipient))
            {
                // Whoever gets the message, the person named them or was asked about them (W-253).
                tracing::info!("a plan for another recipient than the person named is refused");
                return needs_answer(asked);
            }
            match plan.action {
                PlanAction::Execute => return self.agree(plan, strict, cancel).await,
                PlanAction::PlanOnly => {
                    return Planned::End(RunEnd::Done { answer: PlanCard::new(plan).text() });
                }
                PlanAction::Clarify => {}
            }
            let question = plan.question;
            if answer.is_some() {
                return needs_answer(&question);
            }
            let asked = Clarification { question: question.clone(), choices: Vec::new() };
            let said = tokio::select! {
                biased;
                () = cancel.cancelled() => return Planned::End(RunEnd::Stopped),
                said = self.options.person.clarify(&asked) => said,
            };
            match said {
                Some(said) => answer = Some((question, said)),
                None => return needs_answer(&question),
            }
        }
    }

    /// The person looks at a strict plan (W-234, W-247).
    async fn agree(
        &self,
        plan: crate::plan::Plan,
        strict: bool,
        cancel: &CancellationToken,
    ) -> Planned {
        let card = PlanCard::new(plan);
        if !strict {
            return Planned::Agreed(card.agreed());
        }
        let reviewed = tokio::select! {
            biased;
            () = cancel.cancelled() => return Planned::End(RunEnd::Stopped),
            reviewed = self.options.person.review(&card) => reviewed,
        };
        match (reviewed, self.options.unanswered) {
            (Reviewed::Approved, _) | (Reviewed::Unanswered, Unanswered::Run) => {
                Planned::Agreed(card.agreed())
            }
            (Reviewed::Edited(text), _) => Planned::Agreed(card.edited(&text)),
            (Reviewed::Rejected, _) => Planned::End(failed(
                "plan_rejected",
                "you did not want the plan; nothing was done",
                None,
            )),
            (Reviewed::Unanswered, Unanswered::Nothing) => {
                let message = "nobody answered the plan card, so nothing was done";
                Planned::End(failed("plan_unanswered", message, Some(card.text())))
            }
        }
    }

    /// Judges an answer. What is found without a model comes first.
    pub(crate) async fn judge(
        &self,
        answer: &str,
        task: &str,
        seen: Seen,
        cancel: &CancellationToken,
    ) -> Judged {
        if let Some(judged) = seen.checked {
            return judged;
        }
        if !self.reads() {
            return Judged::Stands;
        }
        let Seen { text, acted, messages, .. } = seen;
        judge::ask(answer, task, &text, acted, &messages, &self.questions, cancel).await
    }

    /// What was seen of a run, for judging its answer; `None` if answers are not judged.
    pub(crate) fn look(&self, answer: &str, evidence: &Evidence, memory: &Memory) -> Option<Seen> {
        if self.options.judge == JudgeSetting::Off {
            return None;
        }
        let owned = |items: Vec<&str>| items.into_iter().map(str::to_owned).collect::<Vec<_>>();
        let (open, failed) = (owned(memory.open()), owned(memory.failed()));
        Some(Seen {
            checked: judge::check(answer, evidence, &open, &failed),
            text: evidence.text(),
            acted: evidence.acted(),
            messages: evidence.messages().told().to_vec(),
        })
    }

    /// What thinking used since the last call of this.
    pub(crate) fn take_used(&self) -> Bill {
        let mut bill = {
            let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::take(&mut *used)
        };
        let spent = self.questions.take_spent();
        bill.requests += spent.requests;
        bill.add(spent.usage, spent.cost);
        bill
    }
}

/// What was seen, and what that says without a model.
pub(crate) struct Seen {
    checked: Option<Judged>,
    text: String,
    acted: bool,
    /// What pages reported since something was sent.
    messages: Vec<String>,
}

/// The memory that a plan asks for.
pub(crate) fn memory(agreed: Option<&Agreed>) -> Memory {
    match agreed {
        Some(agreed) if agreed.memory != MemoryKind::None => Memory::new(&agreed.items),
        _ => Memory::default(),
    }
}

/// There is no plan (W-246).
fn without(no_plan: NoPlan, strict: bool) -> Planned {
    let why = match no_plan {
        NoPlan::Stopped => return Planned::End(RunEnd::Stopped),
        // The run's own requests would fail in the same way (W-092).
        NoPlan::Failed(error) => {
            return Planned::End(failed(error.code(), &error.to_string(), None));
        }
        NoPlan::Unusable(wrong) => format!("what the model wrote is no plan ({wrong})"),
    };
    if strict {
        let message = format!("there is no plan, so nothing was done: {why}");
        return Planned::End(failed("no_plan", &message, None));
    }
    Planned::ReadOnly(format!("there is no plan, so this run only reads: {why}"))
}

/// Whether a text names someone. Case is no difference.
fn names(text: &str, name: &str) -> bool {
    text.to_lowercase().contains(&name.to_lowercase())
}

fn needs_answer(question: &str) -> Planned {
    let message = format!("it cannot begin without an answer: {question}");
    Planned::End(failed("needs_answer", &message, None))
}
