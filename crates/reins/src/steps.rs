//! Tool calls of this process, each shown as one quiet row.

use crate::terminal::{Sign, Terminal, TerminalCards};
use reins_control::{
    Answerer, CallRequest, CardAnswer, Control, ControlError, NoAnswerer, Question, Reply,
    TurnStart,
};
use reins_core::{Outcome, OwnerId, SessionId, TurnId};
use serde_json::{Value, json};
use std::io::Write;
use std::sync::atomic::{AtomicU32, Ordering};
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
    turn: TurnId,
    pub(crate) terminal: Terminal,
    show: Show,
    /// Answers every card with yes; only for the demo's own shop.
    pub(crate) always_yes: bool,
    count: AtomicU32,
    failed: AtomicU32,
}

impl Steps {
    /// Begins a turn.
    pub(crate) fn begin(control: Control, start: TurnStart, show: Show) -> Self {
        let (owner, session) = (OwnerId::new("terminal"), SessionId::new("main"));
        let turn = control.begin_turn(&session, &owner, start);
        Self {
            control,
            owner,
            session,
            turn,
            terminal: Terminal::new(),
            show,
            always_yes: false,
            count: AtomicU32::new(0),
            failed: AtomicU32::new(0),
        }
    }

    /// The turn that these steps belong to.
    pub(crate) fn turn(&self) -> TurnId {
        self.turn
    }

    /// Stops the turn: the act under way is cancelled.
    pub(crate) fn stop(&self) {
        self.control.stop(&self.session, self.turn);
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
        self.shown(number, name, &told, &answer, started.elapsed());
        answer
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
            Show::Json => Box::new(NoAnswerer {
                how: "with --json there is nobody to ask; run it without --json in a terminal"
                    .into(),
            }),
        }
    }

    fn shown(
        &self,
        number: u32,
        name: &str,
        told: &str,
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
            Show::Rows => self.terminal.step(number, sign, &line, took),
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

/// A call in a few words, without what was typed.
fn told(name: &str, arguments: &Value) -> String {
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
