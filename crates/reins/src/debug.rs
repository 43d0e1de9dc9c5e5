//! The debug switch: every tool by hand, without any model, and a card to try. Without
//! `REINS_DEBUG=1` none of it exists.

use crate::cli::DebugArgs;
use crate::exit;
use crate::steps::{Show, Steps};
use anyhow::{Context, Result};
use reins_control::{Control, ControlOptions, Question, TurnStart};
use serde_json::{Map, Value};
use std::io::{BufRead, Write};
use std::process::ExitCode;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// The switch.
pub(crate) const SWITCH: &str = "REINS_DEBUG";

/// Whether the switch is on.
pub(crate) fn is_on() -> bool {
    std::env::var(SWITCH).is_ok_and(|value| value == "1")
}

const HELP: &str = "A line is a tool and its arguments: `navigate https://…`, `click e3`, `type e4 text=\"ada\"`, \
or `type {\"ref\": \"e4\", \"text\": \"ada\"}`. `card` shows a card, `tools` the tools, `quit` ends.";

/// What one typed line asks for.
#[derive(Debug, PartialEq)]
enum Line {
    Nothing,
    Quit,
    Card,
    Tools,
    Call(String, Value),
    Wrong(String),
}

pub(crate) async fn main(args: DebugArgs) -> Result<ExitCode> {
    let options = ControlOptions { inspect: true, ..args.browser.options()? };
    let control = Control::open(options).await?;
    let start = TurnStart { message: args.says.clone(), ..TurnStart::default() };
    let steps = Steps::begin(control.clone(), start, Show::Rows);
    steps.terminal.say(HELP);
    // Lines are read by a thread of its own: a read from a terminal can't be cancelled.
    let (sender, mut lines) = mpsc::channel(1);
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines().map_while(Result::ok) {
            if sender.blocking_send(line).is_err() {
                break;
            }
        }
    });
    loop {
        let line = tokio::select! {
            line = lines.recv() => line,
            () = crate::mcp::interrupted() => None,
        };
        let Some(line) = line else { break };
        match parse(&line) {
            Line::Nothing => {}
            Line::Quit => break,
            Line::Tools => {
                let names: Vec<&str> =
                    reins_control::tools().iter().map(|tool| tool.name).collect();
                steps.terminal.say(&names.join(" "));
            }
            Line::Card => {
                let answer = steps.ask(&Question::sample()).await;
                steps.terminal.say(&format!("{answer:?}"));
            }
            Line::Wrong(why) => steps.terminal.say(&why),
            Line::Call(tool, arguments) => {
                let said = match steps.call(&tool, arguments, CancellationToken::new()).await {
                    Ok(reply) => reply.whole_text(),
                    Err(error) => format!("{}: {error}", error.code()),
                };
                writeln!(std::io::stdout().lock(), "{said}").context("stdout is gone")?;
            }
        }
    }
    control.close().await;
    Ok(ExitCode::from(exit::DONE))
}

/// Reads a line: JSON arguments as they are, or words. A bare word is the tool's first argument.
fn parse(line: &str) -> Line {
    let line = line.trim();
    let (name, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let rest = rest.trim();
    match name {
        "" => return Line::Nothing,
        "quit" | "exit" => return Line::Quit,
        "card" => return Line::Card,
        "tools" => return Line::Tools,
        _ => {}
    }
    let Some(tool) = reins_control::tool(name) else {
        return Line::Wrong(format!("there is no tool '{name}'. {HELP}"));
    };
    if rest.starts_with('{') {
        return match serde_json::from_str(rest) {
            Ok(arguments) => Line::Call(name.to_owned(), arguments),
            Err(error) => Line::Wrong(format!("the arguments are no JSON: {error}")),
        };
    }
    let schema = tool.input_schema();
    let first = schema
        .get("required")
        .and_then(|required| required.get(0))
        .and_then(Value::as_str)
        .map(str::to_owned);
    let mut arguments = Map::new();
    for word in words(rest) {
        let named = word.split_once('=').filter(|(key, _)| {
            schema.get("properties").is_some_and(|known| known.get(*key).is_some())
        });
        let (key, value) = match (named, &first) {
            (Some((key, value)), _) => (key.to_owned(), value.to_owned()),
            (None, Some(first)) => (first.clone(), word),
            (None, None) => return Line::Wrong(format!("'{word}' is not an argument of {name}")),
        };
        let value = match value.as_str() {
            "true" => Value::Bool(true),
            "false" => Value::Bool(false),
            text => text.parse::<i64>().map_or_else(|_| Value::from(text), Value::from),
        };
        arguments.insert(key, value);
    }
    Line::Call(name.to_owned(), Value::Object(arguments))
}

/// Words, where double quotes keep spaces together.
fn words(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quoted = false;
    for c in text.chars() {
        match c {
            '"' => quoted = !quoted,
            c if c.is_whitespace() && !quoted => words.push(String::new()),
            c => {
                if let Some(word) = words.last_mut() {
                    word.push(c);
                }
            }
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn r214_lines_are_tools_and_their_arguments() {
        for (line, wanted) in [
            ("", Line::Nothing),
            ("quit", Line::Quit),
            (
                "navigate https://a.example/?x=1",
                Line::Call("navigate".into(), json!({"url": "https://a.example/?x=1"})),
            ),
            ("click e3", Line::Call("click".into(), json!({"ref": "e3"}))),
            (
                "type e4 text=\"ada lovelace\" submit=true",
                Line::Call(
                    "type".into(),
                    json!({"ref": "e4", "text": "ada lovelace", "submit": true}),
                ),
            ),
            (
                "type {\"ref\": \"e4\", \"text\": \"1\"}",
                Line::Call("type".into(), json!({"ref": "e4", "text": "1"})),
            ),
            ("snapshot full=true", Line::Call("snapshot".into(), json!({"full": true}))),
        ] {
            assert_eq!(parse(line), wanted, "{line}");
        }
        assert!(matches!(parse("fly away"), Line::Wrong(_)));
        assert!(matches!(parse("click {"), Line::Wrong(_)));
    }
}
