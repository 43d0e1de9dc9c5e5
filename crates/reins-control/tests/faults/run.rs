//! One run: a few calls, one thing that goes wrong, and what is left at the end.

use crate::browser::Browser as Fake;
use crate::page::HOME;
use crate::plan::{At, BROWSER, Card, Dice, ELSEWHERE, Effect, Fault, Ledger, Shared};
use crate::record::{Record, Row};
use futures_util::future::{BoxFuture, FutureExt};
use reins_browser::Browser;
use reins_cdp::Connection;
use reins_control::{
    Answerer, BrowserSource, CallRequest, CardAnswer, Control, ControlError, ControlOptions,
    GivenBrowser, Level, Question, Reply, TurnStart, tool,
};
use reins_core::{Outcome, OwnerId};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::future::poll_fn;
use std::path::Path;
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::Duration;
use tokio::task::JoinHandle;

/// What a run's calls do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Do {
    Navigate,
    Snapshot,
    Type,
    Keys,
    Submit,
    Follow,
    Reload,
}

const SCENES: &[&[Do]] = &[
    &[Do::Navigate, Do::Submit],
    &[Do::Navigate, Do::Type, Do::Submit],
    &[Do::Navigate, Do::Snapshot, Do::Reload, Do::Submit],
    &[Do::Navigate, Do::Follow, Do::Navigate, Do::Type],
    &[Do::Navigate, Do::Keys],
];

/// How a call ended, as its caller heard it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    Completed,
    Refused(String),
    Unknown(String),
    /// A typed error: nothing was done.
    Error(String),
    /// It only reads.
    Read,
    /// Its future was dropped, so nobody heard.
    Dropped,
}

#[derive(Clone, Debug)]
pub struct Told {
    pub call: usize,
    pub what: Do,
    pub end: End,
    pub turn: u64,
    /// The step it has in its turn, if it was let in.
    pub step: Option<u32>,
    pub polls: u64,
    /// Counts of the browser before and after.
    pub commands: (u64, u64),
    pub messages: (u64, u64),
}

/// The person, with the answer that the plan says.
struct Person(Arc<Shared>);

impl Answerer for Person {
    fn ask<'a>(&'a self, _: &'a Question) -> BoxFuture<'a, CardAnswer> {
        let call = self.0.ledger().call;
        let card = match self.0.fault {
            Fault::Card(card) if self.0.during(call) => card,
            _ => Card::Allow,
        };
        self.0.ledger().cards.push((call, card));
        async move {
            match card {
                Card::Allow => CardAnswer::Allow,
                Card::Late => {
                    tokio::time::sleep(LATE).await;
                    CardAnswer::Allow
                }
                Card::Deny => CardAnswer::Deny,
                Card::Stop => CardAnswer::Stop,
                Card::Later => CardAnswer::Later,
                Card::NoOne => CardAnswer::NoOne("nobody is here".into()),
                Card::Never => {
                    tokio::time::sleep(LATE).await;
                    self.0.stop();
                    std::future::pending().await
                }
            }
        }
        .boxed()
    }
}

/// A person who was away.
const LATE: Duration = Duration::from_secs(600);

/// Longer than every deadline: whatever still waits then waits for ever.
const AGES: Duration = Duration::from_secs(120);

type Given = Arc<Mutex<Vec<(Connection, JoinHandle<crate::browser::Ended>)>>>;

pub struct Desk<'a> {
    shared: Arc<Shared>,
    control: Control,
    person: Person,
    owner: OwnerId,
    given: Given,
    record: &'a Record,
    refs: HashMap<&'static str, String>,
    pub told: Vec<Told>,
    steps: u32,
    /// The turn may have been stopped or paused.
    shut: bool,
    turn: u64,
}

/// What came of a run.
#[derive(Debug, Default)]
pub struct Report {
    pub fault: Option<(Fault, At)>,
    pub level: Level,
    pub told: Vec<Told>,
    pub ledger: Ledger,
    pub rows: Vec<Row>,
    /// Acts told as interrupted at the next start, and at the one after it.
    pub interrupted: (usize, usize),
    pub problems: Vec<String>,
}

/// The calls of each scene at each level without a fault.
pub type Calm = HashMap<(usize, Level), Vec<Told>>;

/// A run with what its seed says.
pub fn seeded(seed: u64, record: &Record, calm: &mut Calm) -> Report {
    let mut dice = Dice::new(seed);
    let scene = usize::try_from(dice.between(0, SCENES.len() as u64 - 1)).unwrap();
    // Level auto twice as often: there most steps come without a card.
    let level = dice.one_of(&[Level::Auto, Level::Auto, Level::Careful, Level::Ask]);
    let calls = calm.entry((scene, level)).or_insert_with(|| {
        let report = play(SCENES[scene], level, (Fault::None, At::Call(0)), 1 << 16, record);
        let ended = report.told.iter().all(|t| matches!(t.end, End::Completed | End::Read));
        assert!(ended && report.problems.is_empty(), "without a fault: {report:#?}");
        report.told
    });
    let call = dice.one_of(&(0..SCENES[scene].len()).collect::<Vec<_>>());
    let (fault, at) = match dice.between(0, 9) {
        0 => (Fault::Drop, At::Poll { call: call + 1, nth: dice.between(1, calls[call].polls) }),
        1 => (dice.one_of(ELSEWHERE), At::Call(call + 1)),
        n if n < 6 => {
            let (from, to) = calls[call].commands;
            (dice.one_of(BROWSER), At::Command(dice.between(from + 1, to)))
        }
        _ => {
            let (from, to) = calls[call].messages;
            (dice.one_of(BROWSER), At::Message(dice.between(from + 1, to)))
        }
    };
    // A narrow pipe makes commands wait half written.
    let capacity = dice.one_of(&[64, 700, 1 << 16]);
    play(SCENES[scene], level, (fault, at), capacity, record)
}

/// A run with a given fault.
pub fn play(
    scene: &[Do],
    level: Level,
    (fault, at): (Fault, At),
    capacity: usize,
    record: &Record,
) -> Report {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .start_paused(true)
        .build()
        .unwrap();
    let shared = Arc::new(Shared::new(fault, at, capacity));
    let before = record.last();
    if std::env::var_os("REINS_FAULT_SEED").is_some() {
        eprintln!("{scene:?} at {level:?}, {fault:?} {at:?}, a pipe of {capacity} bytes");
    }
    let mut report = runtime.block_on(walk(scene, level, &shared, record));
    let alive = runtime.metrics().num_alive_tasks();
    if alive > 0 {
        report.problems.push(format!("{alive} tasks are left"));
    }
    drop(runtime);
    report.fault = Some((fault, at));
    report.level = level;
    // The store's thread lets go of its name a moment after the last handle is gone.
    while std::fs::read_dir(record.dir().join("reins.db.owners"))
        .is_ok_and(|mut all| all.next().is_some())
    {
        std::thread::yield_now();
    }
    report.rows = record.after(before);
    if report.rows.iter().any(|row| row.outcome.is_none()) {
        report.interrupted = (told_at_start(record.dir()), told_at_start(record.dir()));
    }
    report.ledger = std::mem::take(&mut *shared.ledger());
    report
}

/// How many acts a new process tells as interrupted.
fn told_at_start(dir: &Path) -> usize {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let lines = runtime.block_on(async {
        let control =
            Control::open(options(dir, Level::Auto, BrowserSource::Dedicated(dir.into())))
                .await
                .unwrap();
        let lines = control.interrupted().await;
        control.close().await;
        lines
    });
    lines.len()
}

/// A guarded session. No safety check is there to answer for the person.
pub(crate) fn options(dir: &Path, level: Level, source: BrowserSource) -> ControlOptions {
    ControlOptions {
        source,
        level,
        app: Vec::new(),
        beyond: reins_control::Beyond::default(),
        named: Vec::new(),
        downloads: None,
        upload_roots: Vec::new(),
        inspect: false,
        data_dir: dir.to_owned(),
        critic: None,
        calls: false,
        strict_clicks: false,
    }
}

async fn walk(scene: &[Do], level: Level, shared: &Arc<Shared>, record: &Record) -> Report {
    let mut desk = Desk::open(level, shared, record).await;
    for what in scene {
        desk.call(*what).await;
    }
    // The same once more in the same turn: nothing may be left of the approval before.
    let last = desk.told.iter().find(|told| told.end != End::Completed && told.end != End::Read);
    if let Some(last) = last.map(|told| told.what) {
        desk.call(last).await;
    }
    // And all over again in a new turn.
    record.heal();
    desk.begin_turn();
    if shared.fault != Fault::None {
        desk.call(Do::Navigate).await;
        desk.call(Do::Submit).await;
    }
    desk.close().await
}

impl<'a> Desk<'a> {
    async fn open(level: Level, shared: &Arc<Shared>, record: &'a Record) -> Self {
        let given = Given::default();
        let (sharing, giving) = (shared.clone(), given.clone());
        let source = BrowserSource::Given(GivenBrowser::new(move |containment| {
            let (connection, fake) = Fake::new(sharing.clone());
            giving.lock().unwrap().push((connection.clone(), tokio::spawn(fake.run())));
            async move {
                let browser = Browser::adopt(connection, containment).await?;
                browser.first_tab(Duration::from_secs(10)).await?;
                Ok(browser)
            }
            .boxed()
        }));
        let control = Control::open(options(record.dir(), level, source)).await.unwrap();
        shared.set_control(Some(control.clone()));
        let mut desk = Self {
            shared: shared.clone(),
            control,
            person: Person(shared.clone()),
            owner: OwnerId::new("test"),
            given,
            record,
            refs: HashMap::new(),
            told: Vec::new(),
            steps: 0,
            shut: false,
            turn: 0,
        };
        desk.begin_turn();
        desk
    }

    fn begin_turn(&mut self) {
        let message = Some(format!("sign up at {HOME}"));
        let start = TurnStart { message, ..TurnStart::default() };
        self.turn = self.control.begin_turn(&self.shared.session, &self.owner, start).0;
        (self.steps, self.shut) = (0, false);
    }

    async fn call(&mut self, what: Do) {
        let (call, cancel) = self.shared.begin_call();
        if matches!(self.shared.fault, Fault::NoBegin | Fault::NoFinish) && self.shared.during(call)
        {
            self.record.harm(self.shared.fault);
        }
        let reference = |name| self.refs.get(name).cloned().unwrap_or_else(|| "e1".into());
        let (name, arguments) = match what {
            Do::Navigate => ("navigate", json!({"url": HOME})),
            Do::Snapshot => ("snapshot", json!({})),
            Do::Type => ("type", json!({"ref": reference("textbox"), "text": "a@b.example"})),
            Do::Keys => (
                "type",
                json!({"ref": reference("textbox"), "text": "ann@b.example", "keys": true}),
            ),
            Do::Submit => ("click", json!({"ref": reference("button")})),
            Do::Follow => ("click", json!({"ref": reference("link")})),
            Do::Reload => ("reload", json!({})),
        };
        let before = self.counts();
        let (answer, polls) = self.polled(call, name, arguments, cancel).await;
        // Whatever this call has written reaches the browser before the next one begins.
        tokio::time::sleep(Duration::from_millis(1)).await;
        let after = self.counts();
        let end = match answer {
            None => End::Dropped,
            Some(Err(error)) => End::Error(error.code().to_owned()),
            Some(Ok(reply)) => {
                self.look(&reply);
                match reply.outcome {
                    None => End::Read,
                    Some(Outcome::Completed) => End::Completed,
                    Some(Outcome::Refused(refusal)) => End::Refused(refusal.code.to_owned()),
                    Some(Outcome::Unknown(unknown)) => {
                        End::Unknown(unknown.cause.code().to_owned())
                    }
                }
            }
        };
        // After a stop or the person's own input a call is not let in, and is no step of its turn.
        let shut =
            self.shut && matches!(&end, End::Error(code) if code == "stopped" || code == "paused");
        let step = (!shut).then(|| {
            self.steps += 1;
            self.steps
        });
        self.shut = self.shared.ledger().fired;
        self.told.push(Told {
            call,
            what,
            end,
            turn: self.turn,
            step,
            polls,
            commands: (before.0, after.0),
            messages: (before.1, after.1),
        });
    }

    fn counts(&self) -> (u64, u64) {
        let ledger = self.shared.ledger();
        (ledger.commands, ledger.messages)
    }

    /// Polls a call until it ends or is to be dropped.
    async fn polled(
        &self,
        call: usize,
        name: &str,
        arguments: Value,
        cancel: tokio_util::sync::CancellationToken,
    ) -> (Option<Result<Reply, ControlError>>, u64) {
        let mut asked = pin!(self.control.call(CallRequest {
            tool: tool(name).unwrap(),
            arguments,
            owner: &self.owner,
            session: &self.shared.session,
            cards: &self.person,
            cancel,
        }));
        let mut polls = 0;
        let answer = poll_fn(|cx| {
            if self.shared.at == (At::Poll { call, nth: polls }) {
                self.shared.ledger().fired = true;
                return Poll::Ready(None);
            }
            polls += 1;
            asked.as_mut().poll(cx).map(Some)
        })
        .await;
        (answer, polls)
    }

    fn look(&mut self, reply: &Reply) {
        let Some(page) = &reply.page else { return };
        for (role, name) in [("textbox", "Email"), ("button", "Sign up"), ("link", "Tea")] {
            let wanted = format!("{role} \"{name}\" [ref=");
            if let Some((_, rest)) = page.text.split_once(&wanted) {
                self.refs.insert(role, rest.split(']').next().unwrap().to_owned());
            }
        }
    }

    /// Closes everything, and says what should not be there then.
    async fn close(self) -> Report {
        let mut problems = Vec::new();
        tokio::time::sleep(AGES).await;
        for (connection, _) in self.given.lock().unwrap().iter().filter(|(c, _)| !c.is_closed()) {
            let left = connection.footprint();
            if left.calls > 0 {
                problems.push(format!("calls are left: {left:?}"));
            }
        }
        // Without a limit: the clock stands still only for tasks, not for the thread of the store.
        self.control.close().await;
        self.shared.set_control(None);
        drop(self.control);
        self.shared.over.send_replace(true);
        let given = std::mem::take(&mut *self.given.lock().unwrap());
        for (connection, fake) in given {
            if !connection.is_closed() {
                problems.push("a connection is left open".into());
            }
            if connection.footprint() != reins_cdp::testing::Footprint::default() {
                problems.push(format!("it holds {:?}", connection.footprint()));
            }
            drop(connection);
            if let Err(error) = fake.await {
                problems.push(format!("the browser in memory failed: {error}"));
            }
        }
        // Tasks that end because of this need a moment.
        tokio::time::sleep(AGES).await;
        Report { told: self.told, problems, ..Report::default() }
    }
}

/// Which effect a call can have.
pub fn effect(what: Do, effect: Effect) -> bool {
    match what {
        Do::Navigate | Do::Reload => effect == Effect::Navigation,
        Do::Type | Do::Keys => effect == Effect::Text,
        Do::Submit => effect == Effect::Click(crate::page::BUTTON),
        Do::Follow => effect == Effect::Click(crate::page::LINK),
        Do::Snapshot => false,
    }
}
