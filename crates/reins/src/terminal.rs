//! The person's terminal: one quiet row per step, and cards that wait for a typed word.

use crate::keyboard::Keyboard;
use crate::markdown::{self, Look};
use crate::words::Words;
use console::{Key, Term, measure_text_width, truncate_str};
use futures_util::future::BoxFuture;
use reins_control::{Answerer, CardAnswer, Question};
use std::io::{IsTerminal, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Rows never get wider than this, so that they read well over SSH in a small window.
const WIDEST: usize = 80;

/// Where rows and cards go. Everything is on stderr; stdout carries only the answer.
#[derive(Debug)]
pub(crate) struct Terminal {
    term: Term,
    /// Where the model's words are shown while they come, if anywhere.
    shows_words: Option<Term>,
    look: Look,
    /// Whether the cursor can be moved: a real terminal that is not as simple as `TERM=dumb`.
    can_move: bool,
    /// Rows, cards and words come from different tasks and must not mix within a line.
    screen: Mutex<Screen>,
    /// Cards and lines are typed on one keyboard.
    pub(crate) keyboard: Arc<Keyboard>,
}

/// What is on the screen just now.
#[derive(Debug, Default)]
struct Screen {
    words: Words,
    /// Whether the last line is a status that the next row replaces.
    status: bool,
    /// Whether each step shows its details.
    detailed: bool,
    /// The details of the newest step.
    details: Vec<String>,
}

impl Terminal {
    /// For a run: rows on stderr, and the answer on stdout.
    pub(crate) fn new() -> Self {
        Self::on(Term::stderr())
    }

    /// With its rows there.
    pub(crate) fn on(term: Term) -> Self {
        let stdout = Term::stdout();
        let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let colour = term.features().colors_supported() && !set("NO_COLOR");
        let dumb = std::env::var_os("TERM").is_none_or(|kind| kind.is_empty() || kind == "dumb");
        let shows_words =
            if stdout.is_term() { Some(stdout) } else { Some(term.clone()).filter(Term::is_term) };
        let width = term.size_checked().map_or(WIDEST, |(_, columns)| usize::from(columns));
        let look = Look { width: width.min(WIDEST), colour, unicode: draws_unicode() };
        let can_move = term.is_term() && !dumb;
        Self {
            term,
            shows_words,
            look,
            can_move,
            screen: Mutex::default(),
            keyboard: Arc::default(),
        }
    }

    /// Shows the details of each step from here on.
    pub(crate) fn show_details(&self, on: bool) {
        lock(&self.screen).detailed = on;
    }

    fn width(&self) -> usize {
        let now = self.term.size_checked().map(|(_, columns)| usize::from(columns));
        now.unwrap_or(self.look.width).min(WIDEST)
    }

    /// The screen, ready for a whole line.
    fn line_start(&self) -> MutexGuard<'_, Screen> {
        let mut screen = lock(&self.screen);
        self.end_status(&mut screen);
        let out = self.shows_words.as_ref();
        screen.words.finish(out);
        screen
    }

    fn end_status(&self, screen: &mut Screen) {
        if std::mem::take(&mut screen.status) {
            // A terminal that is gone cannot be told anything.
            let _ = self.term.clear_line();
        }
    }

    /// A line of its own, cut to the width.
    pub(crate) fn row(&self, text: &str) {
        let _turn = self.line_start();
        let line = plain(text);
        let line = truncate_str(&line, self.width(), "…");
        let _ = writeln!(&self.term, "{line}");
    }

    /// What is going on just now; the next row replaces it. Only where that can be done.
    pub(crate) fn status(&self, text: &str) {
        if !self.can_move {
            return;
        }
        let mut screen = self.line_start();
        let text = plain(text);
        let line = truncate_str(&text, self.width().saturating_sub(1), "…");
        let line = if self.look.colour { dim(&line) } else { line.into_owned() };
        screen.status = self.term.write_str(&line).is_ok();
    }

    /// A step that ended: sign, words, and the time at the right. Its details follow where they are
    /// wanted.
    pub(crate) fn step(
        &self,
        number: u32,
        sign: Sign,
        text: &str,
        took: std::time::Duration,
        details: Vec<String>,
    ) {
        let time = format!("{:.1} s", took.as_secs_f64());
        let head = format!("{number:>3} {} ", sign.text());
        let room = self.width().saturating_sub(measure_text_width(&head) + time.len() + 1);
        let text = plain(text);
        let body = truncate_str(&text, room, "…");
        let gap = room.saturating_sub(measure_text_width(&body));
        let line = format!("{head}{body}{} {time}", " ".repeat(gap));
        let line = if self.look.colour { sign.paint(&line) } else { line };
        let mut screen = self.line_start();
        let _ = writeln!(&self.term, "{line}");
        screen.details = details;
        if screen.detailed {
            self.draw_details(&screen.details);
        }
    }

    /// The details of the newest step.
    pub(crate) fn details(&self) {
        let screen = self.line_start();
        self.draw_details(&screen.details);
    }

    fn draw_details(&self, details: &[String]) {
        for line in details {
            let line = format!("       {}", plain(line));
            let line = truncate_str(&line, self.width(), "…");
            let line = if self.look.colour { dim(&line) } else { line.into_owned() };
            let _ = writeln!(&self.term, "{line}");
        }
    }

    /// A paragraph, not cut.
    pub(crate) fn say(&self, text: &str) {
        let _turn = self.line_start();
        let _ = writeln!(&self.term, "{}", plain(text));
    }

    /// More of what the model says.
    pub(crate) fn words(&self, text: &str) {
        let Some(out) = &self.shows_words else { return };
        let mut screen = lock(&self.screen);
        self.end_status(&mut screen);
        screen.words.push(text, self.look, out);
    }

    /// What was shown of the model's words is void.
    pub(crate) fn words_void(&self) {
        let mut screen = lock(&self.screen);
        self.end_status(&mut screen);
        screen.words.void(self.shows_words.as_ref(), self.can_move);
    }

    /// A text in Markdown: rendered on a terminal, as it is elsewhere.
    pub(crate) fn markdown(&self, text: &str) {
        if !self.term.is_term() {
            return self.say(text);
        }
        let _turn = self.line_start();
        for row in markdown::rows(text, self.look) {
            let _ = self.term.write_line(&row);
        }
    }

    /// The answer: on stdout, once. A terminal has it on the screen already if it came in as words; a
    /// file or a pipe gets it as the model wrote it.
    pub(crate) fn answer(&self, text: &str) {
        let mut screen = lock(&self.screen);
        self.end_status(&mut screen);
        let shown = screen.words.finish(self.shows_words.as_ref());
        let stdout = Term::stdout();
        if !stdout.is_term() {
            // A closed pipe needs no message.
            let _ = writeln!(std::io::stdout().lock(), "{}", plain(text));
        } else if shown.trim() != text.trim() {
            for row in markdown::rows(text, self.look) {
                let _ = stdout.write_line(&row);
            }
        }
    }
}

/// Whether the locale can show more than ASCII.
fn draws_unicode() -> bool {
    let mut set = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().filter_map(std::env::var_os);
    let locale = set.find(|value| !value.is_empty()).unwrap_or_default();
    let locale = locale.to_string_lossy().to_lowercase();
    locale.contains("utf-8") || locale.contains("utf8")
}

/// Text that commands no terminal: models and pages write what they like.
pub(crate) fn plain(text: &str) -> String {
    let harmless = |c: &char| match c {
        '\n' | '\t' => true,
        '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => false,
        c => !c.is_control(),
    };
    text.chars().filter(harmless).collect()
}

fn dim(text: &str) -> String {
    console::Style::new().dim().force_styling(true).apply_to(text).to_string()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
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

impl<'t> TerminalCards<'t> {
    /// On this terminal.
    pub(crate) fn on(terminal: &'t Terminal) -> Self {
        Self { terminal }
    }

    /// Whether there is a terminal to ask on.
    pub(crate) fn is_on_a_terminal(&self) -> bool {
        self.terminal.term.is_term()
    }

    /// Puts a card's text and reads the answer.
    pub(crate) async fn put(&self, text: &str, always: bool) -> CardAnswer {
        let words = if always { "allow, always, skip or stop" } else { "allow, skip or stop" };
        self.terminal.say(&format!("\n{}", boxed(text, self.terminal.width())));
        let prompt = format!("  type {words} (Esc stops): ");
        let term = self.terminal.term.clone();
        let keyboard = Arc::clone(&self.terminal.keyboard);
        let read = move || keyboard.for_a_card(|| word(&term, &prompt, always));
        let typed = tokio::task::spawn_blocking(read).await;
        typed.unwrap_or(CardAnswer::Stop)
    }
}

impl Answerer for TerminalCards<'_> {
    fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, CardAnswer> {
        Box::pin(async move {
            if !std::io::stdin().is_terminal() || !self.is_on_a_terminal() {
                return CardAnswer::NoOne(
                    "there is no terminal to ask on. Run it in a terminal, or use --app ORIGIN for a browser of its own".into(),
                );
            }
            self.put(&question.plain_text(), question.offers_always()).await
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
