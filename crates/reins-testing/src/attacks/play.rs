//! Plays cases through a program and says who won.

use super::case::{Case, Variant};
use super::door::{DoorKind, Hands, Level, Session};
use super::fault::AttackFault;
use super::mcp::Client;
use super::model::Script;
use super::moves::Op;
use super::person::{Card, Person};
use super::run::Run;
use super::site::{AttackSite, Stage};
use serde::Serialize;
use std::collections::VecDeque;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// What is to be played, and how.
#[derive(Clone, Debug)]
pub struct Plan<'a> {
    /// The `reins` program.
    pub program: &'a Path,
    /// A directory for its data.
    pub data: &'a Path,
    /// Through which door.
    pub door: DoorKind,
    /// How much is asked.
    pub level: Level,
    /// More arguments.
    pub more: Vec<String>,
    /// How many browsers at once.
    pub browsers: usize,
}

/// How one case went.
#[derive(Clone, Debug, Serialize)]
pub struct Play {
    /// Folder and file.
    pub case: String,
    /// `attack` or `twin`.
    pub variant: &'static str,
    /// What arrived that means that the attack won.
    pub won: Vec<String>,
    /// Whether the honest step was seen by its own server.
    pub worked: bool,
    /// The cards, with their answers.
    pub cards: Vec<Card>,
    /// Steps that found nothing to act on, and refusals.
    pub notes: Vec<String>,
    /// What kept the case from being played.
    pub fault: Option<String>,
}

/// After the last step of an attack its page has this much longer to win, as timers run on.
const LINGER: Duration = Duration::from_millis(1_500);

/// The honest step of a twin has this long to arrive. Only a broken one takes all of it.
const WORKS: Duration = Duration::from_secs(4);

/// A page that was let through a gate tells so within this, unless something holds it.
const PASSED: Duration = Duration::from_secs(2);

/// Tries beyond the first. More would hide what often fails.
const MORE_TRIES: usize = 2;

/// No case has more steps, those of the page included.
const MOST_STEPS: usize = 30;

/// Plays every case and its twin. Browsers are shared: each case has hosts and a session of its own.
///
/// # Errors
///
/// Fails if a case means nothing or the program does not start.
pub async fn play_all(
    plan: &Plan<'_>,
    cases: &[Case],
    variants: &[Variant],
) -> Result<Vec<Play>, AttackFault> {
    let site = AttackSite::start().await?;
    let mut stages = VecDeque::new();
    for case in cases {
        for variant in variants {
            stages.push_back(site.stage(case, *variant).await?);
        }
    }
    let sites: Vec<String> = stages.iter().flat_map(|stage| stage.sites.clone()).collect();
    let stages = Arc::new(Mutex::new(stages));
    let workers = (0..plan.browsers.max(1)).map(|number| work(plan, number, &sites, &stages));
    let mut plays = Vec::new();
    for worked in join(workers).await {
        plays.extend(worked?);
    }
    plays.sort_by(|a, b| (&a.case, a.variant).cmp(&(&b.case, b.variant)));
    Ok(plays)
}

/// Plays every case and its twin, and those that were `missed` again, some times: a busy machine can miss a moment. An
/// attack that wins in any try has won.
///
/// # Errors
///
/// As [`play_all`].
pub async fn play_patiently(
    plan: &Plan<'_>,
    cases: &[Case],
    missed: impl Fn(&Play) -> bool,
) -> Result<Vec<Play>, AttackFault> {
    let both = [Variant::Attack, Variant::Twin];
    let mut plays = play_all(plan, cases, &both).await?;
    for _ in 0..MORE_TRIES {
        let again: Vec<Case> = cases
            .iter()
            .filter(|case| plays.iter().any(|play| play.case == case.name && missed(play)))
            .cloned()
            .collect();
        if again.is_empty() {
            break;
        }
        for fresh in play_all(plan, &again, &both).await? {
            let won = fresh.variant == "attack" && !fresh.won.is_empty();
            let same = |old: &&mut Play| old.case == fresh.case && old.variant == fresh.variant;
            if let Some(old) = plays.iter_mut().find(same)
                && (missed(old) || won)
            {
                *old = fresh;
            }
        }
    }
    Ok(plays)
}

impl Play {
    /// Whether it shows nothing: it was not played, or its twin did not work although nobody had to be asked.
    pub fn shows_nothing(&self) -> bool {
        let unasked = self.notes.iter().any(|note| note.ends_with("needs_confirmation"));
        self.fault.is_some() || (self.variant == "twin" && !self.worked && !unasked)
    }
}

/// Runs futures side by side in this task.
async fn join<T>(futures: impl Iterator<Item = impl Future<Output = T>>) -> Vec<T> {
    let mut running: Vec<_> = futures.map(|f| (Box::pin(f), None)).collect();
    std::future::poll_fn(move |context| {
        let mut done = true;
        for (future, answer) in &mut running {
            if answer.is_none() {
                match future.as_mut().poll(context) {
                    std::task::Poll::Ready(ready) => *answer = Some(ready),
                    std::task::Poll::Pending => done = false,
                }
            }
        }
        if done {
            let answers = running.iter_mut().filter_map(|(_, answer)| answer.take());
            std::task::Poll::Ready(answers.collect())
        } else {
            std::task::Poll::Pending
        }
    })
    .await
}

/// A case whose steps are over and whose page may still try.
struct Lingering {
    until: Instant,
    stage: Stage,
    session: Session,
    cards: Vec<Card>,
}

async fn work(
    plan: &Plan<'_>,
    number: usize,
    sites: &[String],
    stages: &Mutex<VecDeque<Stage>>,
) -> Result<Vec<Play>, AttackFault> {
    if plan.door == DoorKind::Run {
        return run(plan, number, stages).await;
    }
    let mut plays = Vec::new();
    let mut started = 0;
    let mut client: Option<Client> = None;
    let mut lingering: VecDeque<Lingering> = VecDeque::new();
    loop {
        let next = stages.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        // A verdict is due when its time is over; at the end all are waited for.
        while let Some(first) = lingering.front()
            && (next.is_none() || first.until <= Instant::now())
        {
            tokio::time::sleep_until(first.until).await;
            let Some(over) = lingering.pop_front() else { break };
            if let Some(open) = client.as_mut()
                && over.session.close(open).await.is_err()
            {
                client = None;
            }
            plays.push(verdict(&over.stage, over.session.notes, over.cards, None));
        }
        let Some(stage) = next else { break };
        let program = match client.as_mut() {
            Some(open) => open,
            None => {
                started += 1;
                let data = plan.data.join(format!("{number}-{started}"));
                let how = (plan.door, plan.level);
                client.insert(Client::start(plan.program, &data, how, sites, &plan.more).await?)
            }
        };
        program.person = person(&stage);
        let mut session = Session::new(format!("case-{}", stage.number()));
        let played = steps(program, &mut session, &stage).await;
        let mut cards = std::mem::take(&mut program.person.cards);
        match played {
            Err(fault) => {
                plays.push(verdict(&stage, session.notes, cards, Some(fault.to_string())));
                client = None;
            }
            Ok(()) if stage.played.variant == Variant::Twin => {
                let mut looked = Ok(());
                if !stage.wait(&stage.played.works, WORKS).await {
                    // What the page sent late is asked about as soon as the model goes on.
                    looked = session.look_again(program).await;
                    cards.append(&mut program.person.cards);
                    stage.wait(&stage.played.works, WORKS).await;
                }
                let closed = match looked {
                    Ok(()) => session.close(program).await,
                    Err(fault) => Err(fault),
                };
                let fault = closed.err().map(|fault| fault.to_string());
                if fault.is_some() {
                    client = None;
                }
                plays.push(verdict(&stage, session.notes, cards, fault));
            }
            Ok(()) => {
                let until = Instant::now() + LINGER;
                lingering.push_back(Lingering { until, stage, session, cards });
            }
        }
    }
    if let Some(client) = client {
        client.close().await;
    }
    Ok(plays)
}

fn person(stage: &Stage) -> Person {
    Person {
        agree: stage.played.agree.clone(),
        refuse: stage.played.refuse.clone(),
        strangers: stage.strangers.clone(),
        stop: stage.played.stop.clone(),
        ..Person::default()
    }
}

/// Cases through `reins run`: each is a run of its own, with its own browser.
async fn run(
    plan: &Plan<'_>,
    number: usize,
    stages: &Mutex<VecDeque<Stage>>,
) -> Result<Vec<Play>, AttackFault> {
    let mut plays = Vec::new();
    loop {
        let next = stages.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        let Some(stage) = next else { return Ok(plays) };
        let data = plan.data.join(format!("run-{number}-{}", stage.number()));
        let mut session = Session::new(String::new());
        let started = Run::start(plan.program, &data, plan.level, &stage, &plan.more).await;
        let fault = match started {
            Err(fault) => Some(fault.to_string()),
            Ok(mut run) => {
                *run.person() = person(&stage);
                // A run that gave up before the script did is one that did not do it.
                if let Err(early) = steps(&mut run, &mut session, &stage).await {
                    session.notes.push(early.to_string());
                }
                if stage.played.variant == Variant::Twin {
                    stage.wait(&stage.played.works, WORKS).await;
                } else {
                    // Its page has this long to win: a clock of its own is what is tested.
                    tokio::time::sleep(LINGER).await;
                }
                run.close().await;
                session.note_words();
                None
            }
        };
        plays.push(verdict(&stage, session.notes, Vec::new(), fault));
    }
}

/// The model at work: the task's steps, and before them whatever the page tells it.
async fn steps(
    client: &mut impl Hands,
    session: &mut Session,
    stage: &Stage,
) -> Result<(), AttackFault> {
    let mut script = Script::new(&stage.played);
    let mut seen = String::new();
    for _ in 0..MOST_STEPS {
        let Some(step) = script.next(&seen) else { break };
        if let Op::Gate { name } = &step.op {
            stage.open_gate(name, PASSED).await;
            seen.clear();
        } else {
            seen = session.take(client, &step).await?;
        }
    }
    Ok(())
}

fn verdict(stage: &Stage, notes: Vec<String>, cards: Vec<Card>, fault: Option<String>) -> Play {
    let hits = stage.hits();
    let played = &stage.played;
    let fitting = |signs: &[super::Sign]| -> Vec<String> {
        hits.iter().filter(|hit| signs.iter().any(|s| s.fits(hit))).map(|h| h.line()).collect()
    };
    Play {
        case: played.name.clone(),
        variant: played.variant.name(),
        won: fitting(&played.win),
        worked: !fitting(&played.works).is_empty(),
        cards,
        notes,
        fault,
    }
}
