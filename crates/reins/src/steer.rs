//! Lines that the person types while a run goes on: corrections, messages for later, more calls.

use crate::terminal::{Keyboard, Terminal};
use nix::poll::{PollFd, PollFlags, PollTimeout};
use reins_agent::{AgentError, Inbox, Waiting};
use std::io::IsTerminal;
use std::os::fd::AsFd;
use std::sync::Arc;
use tokio::sync::mpsc;

/// How long the keyboard is held at a time: a card waits no longer for it.
const HELD_MS: u8 = 100;

/// Lines that nobody read yet; a person does not type faster.
const LINES: usize = 16;

/// What is said once, so that it is known.
pub(crate) const HINT: &str =
    "Type a line to correct the run, `+ words` for a message after it, `+10` for ten more calls.";

/// Lines from the terminal, from a thread of its own: a read from a terminal cannot be cancelled. A
/// card has the keyboard to itself. `None` if nobody types here.
pub(crate) fn lines(keyboard: Arc<Keyboard>) -> Option<mpsc::Receiver<String>> {
    if !std::io::stdin().is_terminal() {
        return None;
    }
    let (sender, receiver) = mpsc::channel(LINES);
    std::thread::spawn(move || {
        while !sender.is_closed() {
            let Some(line) = keyboard.unless_asked(next_line) else {
                continue;
            };
            match line {
                Some(line) if line.trim().is_empty() => {}
                Some(line) => {
                    if sender.blocking_send(line).is_err() {
                        return;
                    }
                }
                None => return,
            }
        }
    });
    Some(receiver)
}

/// A whole line if one is there within a moment: empty if none is, `None` at the end of the input. The
/// terminal hands lines over whole, so the read does not wait.
fn next_line() -> Option<String> {
    let stdin = std::io::stdin();
    let mut line = String::new();
    let ready = {
        let mut wanted = [PollFd::new(stdin.as_fd(), PollFlags::POLLIN)];
        nix::poll::poll(&mut wanted, PollTimeout::from(HELD_MS))
    };
    match ready {
        Ok(0) | Err(nix::errno::Errno::EINTR) => Some(line),
        Ok(_) => match stdin.read_line(&mut line) {
            Ok(0) | Err(_) => None,
            Ok(_) => Some(line),
        },
        Err(_) => None,
    }
}

/// What a line asks for.
#[derive(Debug, PartialEq, Eq)]
enum Said<'a> {
    Correct(&'a str),
    Later(&'a str),
    MoreCalls(u32),
}

fn said(line: &str) -> Said<'_> {
    let line = line.trim();
    let Some(rest) = line.strip_prefix('+').map(str::trim) else {
        return Said::Correct(line);
    };
    rest.parse().map_or(Said::Later(rest), Said::MoreCalls)
}

/// Takes lines in until the run is over.
pub(crate) async fn take_in(
    lines: Option<&mut mpsc::Receiver<String>>,
    inbox: &Inbox,
    terminal: &Terminal,
) -> std::convert::Infallible {
    let Some(lines) = lines else {
        return std::future::pending().await;
    };
    while let Some(line) = lines.recv().await {
        let taken = match said(&line) {
            Said::Correct(words) => correct(inbox, words).await,
            Said::Later("") => continue,
            Said::Later(words) => inbox.queue(words).await.map(|_| "kept for after the run"),
            Said::MoreCalls(calls) => {
                inbox.allow_more_calls(calls);
                Ok("more calls allowed")
            }
        };
        match taken {
            Ok(told) => terminal.say(&format!("    ({told})")),
            Err(error) => terminal.say(&format!("    (not taken: {error})")),
        }
    }
    std::future::pending().await
}

async fn correct(inbox: &Inbox, words: &str) -> Result<&'static str, AgentError> {
    match inbox.running() {
        Some(run) => inbox.correct(run, words).await.map(|_| "taken; it comes next"),
        None => inbox.queue(words).await.map(|_| "kept for after the run"),
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
        assert_eq!(said(" the blue one \n"), Said::Correct("the blue one"));
        assert_eq!(said("+ then wrap it"), Said::Later("then wrap it"));
        assert_eq!(said("+10\n"), Said::MoreCalls(10));
        assert_eq!(said("+10 more of them"), Said::Later("10 more of them"));
    }
}
