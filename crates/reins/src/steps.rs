//! Tool calls of this process, each shown as one quiet row.

use crate::record::{Note, Record};
use crate::terminal::{Sign, Terminal, TerminalCards};
use crate::watch;
use futures_util::future::BoxFuture;
use reins_control::{
    Answerer, CallRequest, CardAnswer, Control, ControlError, Question, Reply, ShownElement,
    TurnStart,
};
use reins_core::{Outcome, OwnerId, RunState, SessionId, TurnEvent, TurnId};
use serde_json::{Value, json};
use std::io::Write;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

/// How steps are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Show {
    /// Rows on the terminal, cards too.
    Rows,
    /// JSON lines on stdout; cards can't be answered.
    Json,
}

/// One owner in one session, and how its steps are shown.
pub(crate) struct Steps {
    control: Control,
    owner: OwnerId,
    session: SessionId,
    turn: AtomicU64,
    pub(crate) terminal: Terminal,
    show: Show,
    /// Where the run is kept, if it is.
    pub(crate) record: Option<Record>,
    /// How often the model had typed into fields for secrets before this step.
    confided: AtomicU64,
    /// Where the browser was after the last step.
    place: Mutex<String>,
    /// Answers every card with yes; only for the demo's own shop.
    pub(crate) always_yes: bool,
    count: AtomicU32,
    failed: AtomicU32,
}

impl Steps {
    /// Begins a turn.
    pub(crate) fn begin(control: Control, start: TurnStart, show: Show) -> Self {
        let (owner, session) = (OwnerId::new("terminal"), SessionId::new("main"));
        let turn = AtomicU64::new(control.begin_turn(&session, &owner, start).0);
        Self {
            control,
            owner,
            session,
            turn,
            terminal: Terminal::new(),
            show,
            record: None,
            confided: AtomicU64::new(0),
            place: Mutex::default(),
            always_yes: false,
            count: AtomicU32::new(0),
            failed: AtomicU32::new(0),
        }
    }

    /// The turn that these steps belong to.
    pub(crate) fn turn(&self) -> TurnId {
        TurnId(self.turn.load(Ordering::Relaxed))
    }

    /// Begins the turn of the person's next message.
    pub(crate) fn next_turn(&self, message: &str) -> TurnId {
        let start = TurnStart { message: Some(message.to_owned()), ..TurnStart::default() };
        let turn = self.control.begin_turn(&self.session, &self.owner, start);
        self.turn.store(turn.0, Ordering::Relaxed);
        turn
    }

    /// The person said more while the turn goes on.
    pub(crate) fn also_said(&self, words: &str) {
        self.control.also_said(&self.session, self.turn(), words);
    }

    /// The element that a call's arguments name, as it was last shown.
    pub(crate) fn shown(&self, arguments: &Value) -> Option<ShownElement> {
        self.control.shown(&self.session, arguments.get("ref")?.as_str()?)
    }

    /// The element that Enter goes to in a call, with what that sends.
    pub(crate) async fn entered(&self, arguments: &Value) -> Option<ShownElement> {
        let reference = arguments.get("ref").and_then(Value::as_str);
        self.control.entered(&self.session, reference).await
    }

    /// Stops the turn: the act under way is cancelled.
    pub(crate) fn stop(&self) {
        self.control.stop(&self.session, self.turn());
    }

    /// Steps made so far, and how many of them failed.
    pub(crate) fn counts(&self) -> (u32, u32) {
        (self.count.load(Ordering::Relaxed), self.failed.load(Ordering::Relaxed))
    }

    /// Makes one call and shows it.
    pub(crate) async fn call(
        &self,
        name: &str,
        arguments: Value,
        cancel: CancellationToken,
    ) -> Result<Reply, ControlError> {
        let number = self.count.fetch_add(1, Ordering::Relaxed) + 1;
        let started = Instant::now();
        let told = told(name, &arguments);
        let typed = typed(&arguments);
        if self.show == Show::Rows {
            self.terminal.status(&format!("    {told} …"));
        }
        self.while_the_person_acts(&cancel).await;
        let answer = match reins_control::tool(name) {
            None => Err(ControlError::UnknownTool(name.to_owned())),
            Some(tool) => {
                let cards = self.cards();
                self.control
                    .call(CallRequest {
                        tool,
                        arguments,
                        owner: &self.owner,
                        session: &self.session,
                        cards: cards.as_ref(),
                        cancel,
                    })
                    .await
            }
        };
        let private = self.remember(name, &answer).await;
        let typed = typed.filter(|_| !private);
        self.row(number, name, (&told, typed), &answer, started.elapsed());
        answer
    }

    /// Waits while the person uses the tab themself: no call is made, and the model is not asked what to
    /// make of it. The call that was interrupted has told it.
    async fn while_the_person_acts(&self, cancel: &CancellationToken) {
        if !self.control.is_paused(&self.session) {
            return;
        }
        let turn = self.turn();
        let reason = "you are using the agent's tab; it goes on when you leave it alone".to_owned();
        self.tell(TurnEvent::Paused { turn, reason });
        self.tell(TurnEvent::State { turn, state: RunState::Paused });
        tokio::select! {
            () = self.control.until_resumed(&self.session) => {
                self.tell(TurnEvent::Resumed { turn });
                self.tell(TurnEvent::State { turn, state: RunState::Working });
            }
            // The call itself says then that it was stopped.
            () = cancel.cancelled() => {}
        }
    }

    /// Lets a paused turn go on. Says whether it was paused.
    pub(crate) fn resume(&self) -> bool {
        let paused = self.control.is_paused(&self.session);
        self.control.resume(&self.session);
        paused
    }

    fn tell(&self, event: TurnEvent) {
        watch::turn_told(&self.terminal, self.show, event);
    }

    /// Keeps where the browser is now, and takes what went into fields for secrets out of what is kept.
    /// Says whether this step typed any.
    async fn remember(&self, name: &str, answer: &Result<Reply, ControlError>) -> bool {
        let confided = self.control.confided(&self.session);
        let private = self.confided.swap(confided, Ordering::Relaxed) != confided;
        let Some(record) = &self.record else { return private };
        if let Some(error) = record.trouble() {
            self.terminal.say(&format!(
                "What was typed into a field for secrets is still in what is kept of this run: {error}. \
                 Delete it with `reins runs delete {}`",
                record.id()
            ));
        }
        let url = answer.as_ref().ok().and_then(|reply| reply.facts.get("url")?.as_str());
        if let Some(url) = url
            && self.moved(url)
        {
            let opened = matches!(name, "navigate" | "open_tab");
            let place = Note::Place { url: url.to_owned(), opened };
            if let Err(error) = record.note(&place).await {
                tracing::warn!(%error, "where the browser is was not kept");
            }
        }
        private
    }

    fn moved(&self, url: &str) -> bool {
        let mut place = self.place.lock().unwrap_or_else(PoisonError::into_inner);
        let moved = *place != url;
        url.clone_into(&mut place);
        moved
    }

    /// Puts a question to whoever can be asked here.
    pub(crate) async fn ask(&self, question: &Question) -> CardAnswer {
        self.cards().ask(question).await
    }

    fn cards(&self) -> Box<dyn Answerer + '_> {
        if self.always_yes {
            return Box::new(crate::demo::Yes { terminal: &self.terminal });
        }
        match self.show {
            Show::Rows => Box::new(TerminalCards { terminal: &self.terminal }),
            Show::Json => Box::new(JsonCards { steps: self }),
        }
    }

    fn row(
        &self,
        number: u32,
        name: &str,
        (told, typed): (&str, Option<String>),
        answer: &Result<Reply, ControlError>,
        took: Duration,
    ) {
        let (sign, line) = match answer {
            Ok(reply) => {
                let sign = match &reply.outcome {
                    None | Some(Outcome::Completed) => Sign::Done,
                    Some(Outcome::Refused(_)) => Sign::Refused,
                    Some(Outcome::Unknown(_)) => Sign::Unknown,
                };
                let first = reply.text.lines().next().unwrap_or_default();
                let line = match reply.outcome {
                    None => told.to_owned(),
                    Some(Outcome::Completed) => {
                        first.strip_prefix("completed: ").unwrap_or(first).to_owned()
                    }
                    Some(_) => first.to_owned(),
                };
                (sign, line)
            }
            Err(error) => (Sign::Refused, format!("{told}: {error}")),
        };
        if sign != Sign::Done {
            self.failed.fetch_add(1, Ordering::Relaxed);
        }
        match self.show {
            Show::Rows => {
                let details = details(name, typed, told, answer);
                self.terminal.step(number, sign, &line, took, details);
            }
            Show::Json => print_json(&json!({
                "event": "step",
                "step": number,
                "tool": name,
                "ok": sign == Sign::Done,
                "outcome": answer.as_ref().ok().and_then(|r| r.outcome.as_ref()).map(Outcome::word),
                "code": answer.as_ref().err().map(ControlError::code),
                "line": line,
                "ms": u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
            })),
        }
    }
}

/// Tells a script what would have been asked; nobody can answer there.
struct JsonCards<'a> {
    steps: &'a Steps,
}

impl Answerer for JsonCards<'_> {
    fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, CardAnswer> {
        let card = &question.card;
        self.steps.tell(TurnEvent::Asked {
            turn: self.steps.turn(),
            title: card.title.clone(),
            detail: card.detail.clone(),
            risk: card.risk.code().to_owned(),
            sites: card.sites.clone(),
            note: card.note.clone(),
        });
        let how = "with --json there is nobody to ask; run it without --json in a terminal";
        Box::pin(std::future::ready(CardAnswer::NoOne(how.into())))
    }
}

/// Lines of a result that are shown with a step's details.
const RESULT_LINES: usize = 8;

/// What stands behind a step's row: the call, the guard's verdict, what it cost the model to read, and
/// the beginning of the result.
fn details(
    name: &str,
    typed: Option<String>,
    told: &str,
    answer: &Result<Reply, ControlError>,
) -> Vec<String> {
    let mut call = told.to_owned();
    if let Some(typed) = typed {
        call.push_str(&format!(" \"{typed}\""));
    }
    let reply = match answer {
        Ok(reply) => reply,
        Err(error) => return vec![call, format!("{}: {error}", error.code())],
    };
    let mut facts = vec![call];
    if !reply.verdict.is_empty() {
        facts.push(reply.verdict.to_owned());
    }
    match reply.approved {
        Some(true) => facts.push("you agreed".to_owned()),
        Some(false) => facts.push("you were asked".to_owned()),
        None => {}
    }
    if let Some(page) = &reply.page {
        let kind = if page.whole { "page" } else { "change" };
        facts.push(format!("{kind} of {} bytes", page.text.len()));
    }
    let mut lines = vec![facts.join(" · ")];
    let page = reply.page.as_ref().map_or("", |page| page.text.as_str());
    let skipped = usize::from(name != "find_in_page");
    let all: Vec<&str> = reply.text.lines().skip(skipped).chain(page.lines()).collect();
    lines.extend(all.iter().take(RESULT_LINES).map(|line| (*line).to_owned()));
    if all.len() > RESULT_LINES {
        lines.push(format!("… {} more lines", all.len() - RESULT_LINES));
    }
    lines
}

/// What a call types.
fn typed(arguments: &Value) -> Option<String> {
    arguments.get("text").and_then(Value::as_str).map(str::to_owned)
}

/// A call in a few words, without what was typed.
pub(crate) fn told(name: &str, arguments: &Value) -> String {
    let mut text = name.replace('_', " ");
    for key in ["url", "ref", "key", "to"] {
        if let Some(value) = arguments.get(key).and_then(Value::as_str) {
            text.push(' ');
            text.push_str(value);
        }
    }
    text
}

/// One event as a line on stdout.
pub(crate) fn print_json(event: &Value) {
    // A reader that went away ends us by its own signal.
    let _ = writeln!(std::io::stdout().lock(), "{event}");
}
