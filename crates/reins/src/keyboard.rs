//! What the person types while a run goes on: lines for the run on a terminal, JSON lines from a
//! program. A card takes the keyboard for itself, and what was typed before it answers nothing.

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::termios::{FlushArg, tcflush};
use serde::Deserialize;
use std::io::{BufRead, IsTerminal};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::mpsc;

/// How often the reader looks whether the run is over, in milliseconds.
const LOOK: u16 = 200;

/// A line that is longer was not typed.
const LINE_BYTES: usize = 16 * 1024;

/// Lines wait here for the run. Nobody types this far ahead.
const LINES: usize = 64;

/// What a line means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Typed {
    /// Show the details of the newest step.
    Detail,
    /// A correction of the task.
    Correct(String),
    /// End the run.
    Stop,
}

/// A line of `--input`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
enum Line {
    Correct(String),
    Stop(bool),
}

/// Reads the terminal's lines, unless there is none.
pub(crate) fn lines(keyboard: Arc<Mutex<()>>) -> Option<mpsc::Receiver<Typed>> {
    if !std::io::stdin().is_terminal() || !std::io::stderr().is_terminal() {
        return None;
    }
    let (sender, receiver) = mpsc::channel(LINES);
    let read = move || {
        while !sender.is_closed() {
            let stdin = std::io::stdin();
            if !readable(stdin.as_fd(), PollTimeout::from(LOOK)) {
                continue;
            }
            // A card may have come meanwhile and taken what was typed.
            let _mine = keyboard.lock().unwrap_or_else(PoisonError::into_inner);
            if !readable(stdin.as_fd(), PollTimeout::ZERO) {
                continue;
            }
            let mut line = [0; LINE_BYTES];
            // Not through the buffer of stdin: it would keep a second line from the next card.
            match nix::unistd::read(stdin.as_fd(), &mut line) {
                Ok(count) if count > 0 => {
                    let text = String::from_utf8_lossy(&line[..count]);
                    if sender.blocking_send(meant(&text)).is_err() {
                        return;
                    }
                }
                _ => return,
            }
        }
    };
    // Detached: it ends with the run or with the program.
    std::thread::Builder::new().name("reins-keyboard".to_owned()).spawn(read).ok()?;
    Some(receiver)
}

/// Reads JSON lines from stdin to its end.
pub(crate) fn json_lines() -> Option<mpsc::Receiver<Typed>> {
    let (sender, receiver) = mpsc::channel(LINES);
    let read = move || {
        for line in std::io::stdin().lock().lines().map_while(Result::ok) {
            let typed = match serde_json::from_str(&line) {
                Ok(Line::Correct(text)) => Typed::Correct(text),
                Ok(Line::Stop(true)) => Typed::Stop,
                Ok(Line::Stop(false)) => continue,
                Err(error) => {
                    crate::steps::print_json(&serde_json::json!({
                        "event": "input_refused",
                        "text": format!(
                            "a line of input is {{\"correct\": \"…\"}} or {{\"stop\": true}}: {error}"
                        ),
                    }));
                    continue;
                }
            };
            if sender.blocking_send(typed).is_err() {
                return;
            }
        }
    };
    std::thread::Builder::new().name("reins-input".to_owned()).spawn(read).ok()?;
    Some(receiver)
}

fn meant(line: &str) -> Typed {
    match line.trim() {
        "" => Typed::Detail,
        text => Typed::Correct(text.to_owned()),
    }
}

fn readable(stdin: BorrowedFd<'_>, wait: PollTimeout) -> bool {
    let mut polled = [PollFd::new(stdin, PollFlags::POLLIN)];
    matches!(poll(&mut polled, wait), Ok(count) if count > 0)
}

/// Drops what was typed before a question was there: it cannot be its answer (R-165).
pub(crate) fn forget_typed() {
    // Where stdin is no terminal nothing was typed.
    let _ = tcflush(std::io::stdin(), FlushArg::TCIFLUSH);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_mean_what_they_say() {
        assert_eq!(meant("\n"), Typed::Detail);
        assert_eq!(meant("  use the blue one \n"), Typed::Correct("use the blue one".to_owned()));
        let line = |text| serde_json::from_str::<Line>(text);
        assert!(matches!(line(r#"{"correct": "x"}"#), Ok(Line::Correct(text)) if text == "x"));
        assert!(matches!(line(r#"{"stop": true}"#), Ok(Line::Stop(true))));
        assert!(line(r#"{"stop": true, "more": 1}"#).is_err() && line("x").is_err());
    }
}
