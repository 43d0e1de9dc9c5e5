//! The person's terminal: one quiet row per step, and cards that wait for a typed word.

use console::{Key, Term, measure_text_width, truncate_str};
use futures_util::future::BoxFuture;
use reins_control::{Answerer, CardAnswer, Question};
use std::io::{IsTerminal, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Rows never get wider than this, so that they read well over SSH in a small window.
const WIDEST: usize = 80;

/// Where rows and cards go. Everything is on stderr; stdout carries only the answer.
#[derive(Debug)]
pub(crate) struct Terminal {
    term: Term,
    colour: bool,
    /// Rows and cards come from different tasks and must not mix within a line.
    busy: Mutex<()>,
    /// Cards and lines are typed on one keyboard.
    pub(crate) keyboard: Arc<Keyboard>,
}

/// Who may read what is typed: a card before anybody else.
#[derive(Debug, Default)]
pub(crate) struct Keyboard {
    cards: AtomicUsize,
    reading: Mutex<()>,
}

/// A card has given way long enough when it is looked again.
const CARD_WAIT: Duration = Duration::from_millis(50);

impl Keyboard {
    /// Reads with `read`, unless a card is open; then waits a moment and gives `None`.
    pub(crate) fn unless_asked<R>(&self, read: impl FnOnce() -> R) -> Option<R> {
        if self.cards.load(Ordering::SeqCst) == 0 {
            let _reading = self.reading.lock().unwrap_or_else(PoisonError::into_inner);
            if self.cards.load(Ordering::SeqCst) == 0 {
                return Some(read());
            }
        }
        std::thread::sleep(CARD_WAIT);
        None
    }

    /// Reads with `read` for a card.
    pub(crate) fn for_a_card<R>(&self, read: impl FnOnce() -> R) -> R {
        self.cards.fetch_add(1, Ordering::SeqCst);
        let answer = {
            let _reading = self.reading.lock().unwrap_or_else(PoisonError::into_inner);
            read()
        };
        self.cards.fetch_sub(1, Ordering::SeqCst);
        answer
    }
}

impl Terminal {
    pub(crate) fn new() -> Self {
        let term = Term::stderr();
        let colour = term.features().colors_supported() && std::env::var_os("NO_COLOR").is_none();
        Self { term, colour, busy: Mutex::new(()), keyboard: Arc::default() }
    }

    fn width(&self) -> usize {
        self.term.size_checked().map_or(WIDEST, |(_, columns)| usize::from(columns)).min(WIDEST)
    }

    /// A line of its own, cut to the width.
    pub(crate) fn row(&self, text: &str) {
        let _turn = self.busy.lock().unwrap_or_else(PoisonError::into_inner);
        let line = truncate_str(text, self.width(), "…");
        // A terminal that is gone cannot be told anything.
        let _ = writeln!(&self.term, "{line}");
    }

    /// A step that ended: sign, words, and the time at the right.
    pub(crate) fn step(&self, number: u32, sign: Sign, text: &str, took: std::time::Duration) {
        let time = format!("{:.1} s", took.as_secs_f64());
        let head = format!("{number:>3} {} ", sign.text());
        let room = self.width().saturating_sub(measure_text_width(&head) + time.len() + 1);
        let body = truncate_str(text, room, "…");
        let gap = room.saturating_sub(measure_text_width(&body));
        let line = format!("{head}{body}{} {time}", " ".repeat(gap));
        let line = if self.colour { sign.paint(&line) } else { line };
        let _turn = self.busy.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = writeln!(&self.term, "{line}");
    }

    /// A paragraph, not cut.
    pub(crate) fn say(&self, text: &str) {
        let _turn = self.busy.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = writeln!(&self.term, "{text}");
    }
}

/// How a step ended, told without colour too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sign {
    Done,
    Refused,
    Unknown,
}

impl Sign {
    fn text(self) -> &'static str {
        match self {
            Self::Done => "ok",
            Self::Refused => "--",
            Self::Unknown => "??",
        }
    }

    fn paint(self, line: &str) -> String {
        let style = console::Style::new();
        match self {
            Self::Done => style.dim(),
            Self::Refused => style.yellow(),
            Self::Unknown => style.red(),
        }
        .force_styling(true)
        .apply_to(line)
        .to_string()
    }
}

/// Asks on the terminal. Nothing is preselected; Esc and Ctrl-C stop.
#[derive(Debug)]
pub(crate) struct TerminalCards<'a> {
    pub(crate) terminal: &'a Terminal,
}

impl Answerer for TerminalCards<'_> {
    fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, CardAnswer> {
        Box::pin(async move {
            if !std::io::stdin().is_terminal() || !self.terminal.term.is_term() {
                return CardAnswer::NoOne(
                    "there is no terminal to ask on. Run it in a terminal, or use --app ORIGIN for a browser of its own".into(),
                );
            }
            let always = question.offers_always();
            let words = if always { "allow, always, skip or stop" } else { "allow, skip or stop" };
            self.terminal
                .say(&format!("\n{}", boxed(&question.plain_text(), self.terminal.width())));
            let prompt = format!("  type {words} (Esc stops): ");
            let term = self.terminal.term.clone();
            let keyboard = Arc::clone(&self.terminal.keyboard);
            let read = move || keyboard.for_a_card(|| word(&term, &prompt, always));
            let typed = tokio::task::spawn_blocking(read).await;
            typed.unwrap_or(CardAnswer::Stop)
        })
    }
}

/// Reads until one of the words is typed.
fn word(term: &Term, prompt: &str, always: bool) -> CardAnswer {
    let mut typed = String::new();
    let show = |text: &str| {
        // Errors while drawing show up as errors while reading.
        let _ = term.write_str(text);
    };
    show(prompt);
    loop {
        match term.read_key() {
            Ok(Key::Char(c)) if !c.is_control() => {
                typed.push(c);
                show(&c.to_string());
            }
            Ok(Key::Backspace) => {
                if typed.pop().is_some() {
                    show("\u{8} \u{8}");
                }
            }
            Ok(Key::Enter) => {
                show("\n");
                match typed.trim().to_lowercase().as_str() {
                    "allow" => return CardAnswer::Allow,
                    "always" if always => return CardAnswer::Always,
                    "skip" => return CardAnswer::Deny,
                    "stop" => return CardAnswer::Stop,
                    _ => {
                        typed.clear();
                        show(prompt);
                    }
                }
            }
            Ok(Key::Escape | Key::CtrlC) | Err(_) => {
                show("\n");
                return CardAnswer::Stop;
            }
            Ok(_) => {}
        }
    }
}

/// A card's text behind a bar, wrapped at words.
fn boxed(text: &str, width: usize) -> String {
    let room = width.saturating_sub(4).max(20);
    let mut lines = Vec::new();
    for paragraph in text.lines() {
        let mut line = String::new();
        for word in paragraph.split(' ') {
            if !line.is_empty() && measure_text_width(&line) + 1 + measure_text_width(word) > room {
                lines.push(std::mem::take(&mut line));
            }
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
            // An address without spaces is cut rather than broken off the screen.
            while measure_text_width(&line) > room {
                let head: String = line.chars().take(room).collect();
                line = line.chars().skip(room).collect();
                lines.push(head);
            }
        }
        lines.push(line);
    }
    lines.iter().map(|line| format!("  | {line}")).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cards_fit_eighty_columns() {
        let text = format!("Send this form?\nIt goes to https://example.com/{}", "a".repeat(300));
        let shown = boxed(&text, 80);
        assert!(shown.lines().all(|line| measure_text_width(line) <= 80), "{shown}");
        assert_eq!(shown.matches('a').count(), text.matches('a').count());
    }
}
