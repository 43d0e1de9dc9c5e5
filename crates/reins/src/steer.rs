//! What the person says while a run goes on: corrections, messages for later, more calls. Lines of a
//! terminal, or JSON lines of a program.

use crate::keyboard::Keyboard;
use crate::steps::{Show, Steps, print_json};
use crate::terminal::Terminal;
use nix::poll::{PollFd, PollFlags, PollTimeout};
use reins_agent::{AgentError, Inbox, Waiting};
use serde::Deserialize;
use serde_json::json;
use std::io::{BufRead, IsTerminal};
use std::os::fd::AsFd;
use std::sync::Arc;
use tokio::sync::mpsc;

/// How long the keyboard is held at a time: a card waits no longer for it.
const HELD_MS: u8 = 100;

/// Lines that nobody read yet; a person does not type faster.
const LINES: usize = 16;

/// What is said once, so that it is known.
pub(crate) const HINT: &str = "While it runs: a line that you type corrects it, `+ words` is for afterwards,\n\
                               `+10` allows ten more calls, Enter shows the details of the last step or\n\
                               lets a paused run go on.";

/// What a line asks for.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Said {
    Correct(String),
    Later(String),
    MoreCalls(u32),
    /// The details of the last step. Only a person asks for them.
    #[serde(skip)]
    Details,
    /// A turn that the person's own input paused goes on.
    Resume(bool),
    Stop(bool),
}

/// Lines from the terminal, from a thread of its own: a read from a terminal cannot be cancelled. A
/// card has the keyboard to itself. `None` if nobody types here.
pub(crate) fn lines(keyboard: Arc<Keyboard>) -> Option<mpsc::Receiver<Said>> {
    if !std::io::stdin().is_terminal() || !std::io::stderr().is_terminal() {
        return None;
    }
    let (sender, receiver) = mpsc::channel(LINES);
    std::thread::spawn(move || {
        while !sender.is_closed() {
            match keyboard.unless_asked(next_line) {
                None | Some(Line::NotYet) => {}
                Some(Line::Whole(line)) if sender.blocking_send(said(&line)).is_ok() => {}
                Some(Line::Whole(_) | Line::Over) => return,
            }
        }
    });
    Some(receiver)
}

enum Line {
    Whole(String),
    NotYet,
    Over,
}

/// A whole line if one is there within a moment. The terminal hands lines over whole, so the read does
/// not wait.
fn next_line() -> Line {
    let stdin = std::io::stdin();
    let ready = {
        let mut wanted = [PollFd::new(stdin.as_fd(), PollFlags::POLLIN)];
        nix::poll::poll(&mut wanted, PollTimeout::from(HELD_MS))
    };
    let mut line = String::new();
    match ready {
        Ok(0) | Err(nix::errno::Errno::EINTR) => Line::NotYet,
        Ok(_) => match stdin.read_line(&mut line) {
            Ok(0) | Err(_) => Line::Over,
            Ok(_) => Line::Whole(line),
        },
        Err(_) => Line::Over,
    }
}

/// JSON lines from stdin to its end.
pub(crate) fn json_lines() -> mpsc::Receiver<Said> {
    let (sender, receiver) = mpsc::channel(LINES);
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines().map_while(Result::ok) {
            match serde_json::from_str(&line) {
                Ok(said) => {
                    if sender.blocking_send(said).is_err() {
                        return;
                    }
                }
                Err(error) => print_json(&json!({
                    "event": "input_refused",
                    "text": format!(
                        "a line is one of correct, later, more_calls, resume and stop, such as {{\"correct\": \"…\"}}: {error}"
                    ),
                })),
            }
        }
    });
    receiver
}

fn said(line: &str) -> Said {
    let line = line.trim();
    match line.strip_prefix('+').map(str::trim) {
        None if line.is_empty() => Said::Details,
        None => Said::Correct(line.to_owned()),
        Some(rest) => rest.parse().map_or_else(|_| Said::Later(rest.to_owned()), Said::MoreCalls),
    }
}

/// Takes lines in until the person wants to stop.
pub(crate) async fn take_in(
    mut lines: mpsc::Receiver<Said>,
    inbox: &Inbox,
    steps: &Steps,
    show: Show,
) {
    let terminal = &steps.terminal;
    while let Some(said) = lines.recv().await {
        match said {
            Said::Correct(words) => correct(inbox, &words, terminal, show).await,
            Said::Later(words) if words.is_empty() => {}
            Said::Later(words) => {
                let queued = inbox.queue(words.as_str()).await.map(|_| Taken::Later);
                told_of(queued, &words, terminal, show);
            }
            Said::MoreCalls(calls) => {
                inbox.allow_more_calls(calls);
                match show {
                    Show::Rows => terminal.row("    (more calls allowed)"),
                    Show::Json => print_json(&json!({"event": "more_calls", "calls": calls})),
                }
            }
            Said::Details if steps.resume() => {}
            Said::Details => terminal.details(),
            Said::Resume(true) => {
                steps.resume();
            }
            Said::Stop(true) => return,
            Said::Resume(false) | Said::Stop(false) => {}
        }
    }
    std::future::pending().await
}

/// What became of the person's words.
#[derive(Clone, Copy)]
enum Taken {
    /// They enter the run at its next safe point.
    Next,
    /// They wait until it is over.
    Later,
}

/// A correction of the run that goes on, or a message for after it.
pub(crate) async fn correct(inbox: &Inbox, words: &str, terminal: &Terminal, show: Show) {
    let next = match inbox.running() {
        Some(run) => inbox.correct(run, words).await.map(|_| Taken::Next),
        None => Err(AgentError::NotRunning),
    };
    let taken = match next {
        Err(AgentError::NotRunning) => inbox.queue(words).await.map(|_| Taken::Later),
        taken => taken,
    };
    told_of(taken, words, terminal, show);
}

/// Words are acknowledged once they are kept, not before (W-081).
fn told_of(taken: Result<Taken, AgentError>, words: &str, terminal: &Terminal, show: Show) {
    match (show, taken) {
        (Show::Rows, Ok(Taken::Next)) => terminal.row(&format!("    noted: {words}")),
        (Show::Rows, Ok(Taken::Later)) => {
            terminal.row(&format!("    noted for after the run: {words}"));
        }
        (Show::Rows, Err(error)) => {
            terminal.say(&format!("Not noted: {error}. You wrote: {words}"));
        }
        (Show::Json, Ok(taken)) => print_json(&json!({
            "event": "correction",
            "state": match taken {
                Taken::Next => "kept",
                Taken::Later => "queued",
            },
            "text": words,
        })),
        (Show::Json, Err(error)) => print_json(&json!({
            "event": "correction", "state": "refused", "code": error.code(),
            "note": error.to_string(), "text": words,
        })),
    }
}

/// What waits, for the person.
pub(crate) fn told(waiting: &[Waiting]) -> String {
    let mut text = String::new();
    for waiting in waiting.iter().filter(|waiting| waiting.paused) {
        text.push_str(&format!("not done, send it again if you still want it: {}\n", waiting.text));
    }
    text.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn w072_a_line_corrects_waits_or_allows_more() {
        assert_eq!(said(" the blue one \n"), Said::Correct("the blue one".to_owned()));
        assert_eq!(said("+ then wrap it"), Said::Later("then wrap it".to_owned()));
        assert_eq!(said("+10\n"), Said::MoreCalls(10));
        assert_eq!(said("+10 more of them"), Said::Later("10 more of them".to_owned()));
        assert_eq!(said("\n"), Said::Details);
    }

    #[test]
    fn json_lines_say_the_same() {
        let line = |text| serde_json::from_str::<Said>(text).ok();
        assert_eq!(line(r#"{"correct": "x"}"#), Some(Said::Correct("x".to_owned())));
        assert_eq!(line(r#"{"more_calls": 3}"#), Some(Said::MoreCalls(3)));
        assert_eq!(line(r#"{"resume": true}"#), Some(Said::Resume(true)));
        assert_eq!(line(r#"{"stop": true}"#), Some(Said::Stop(true)));
        assert_eq!(line(r#"{"stop": true, "later": "x"}"#), None);
        assert_eq!(line("\"details\""), None);
    }
}
