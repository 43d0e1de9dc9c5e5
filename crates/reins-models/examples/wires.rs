//! Judges our wire formats by a server that is not ours: a mock server that knows them all, or a real
//! model behind a server that speaks several.
//!
//! `wires BASE [MODEL] [FORMAT,…]` asks each format for words, for a call, and for words after its result.
//! Exits with 1 if one of them fails.

#![allow(clippy::print_stdout, reason = "a table for people")]

use reins_models::{
    CUSTOM, ChatRequest, Endpoint, Format, Http, Message, ModelClient, ModelError, Part, Reply,
    ToolCall, ToolSpec, reply,
};
use serde_json::{Value, json};
use std::process::ExitCode;
use std::time::Instant;

/// A small answer is enough, and small machines are slow.
const TOKENS: u32 = 60;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    reins_models::install_crypto();
    let mut arguments = std::env::args().skip(1);
    let Some(base) = arguments.next() else {
        println!("wires BASE [MODEL] [FORMAT,…]");
        return ExitCode::FAILURE;
    };
    let model = arguments.next().unwrap_or_else(|| "gpt-4o-mini".to_owned());
    let named = arguments.next();
    let formats: Vec<Format> = match &named {
        Some(names) => names.split(',').filter_map(|name| name.parse().ok()).collect(),
        None => Format::ALL.to_vec(),
    };
    println!("| format | words | a call | words after its result | seconds |");
    println!("|---|---|---|---|---|");
    let mut well = !formats.is_empty();
    for format in formats {
        let started = Instant::now();
        let asked = match client(&base, format, &model) {
            Ok(client) => ask(&client).await,
            Err(why) => [Err(why.clone()), Err(why.clone()), Err(why)],
        };
        well &= asked.iter().all(Result::is_ok);
        let [words, call, after] =
            asked.map(|cell| cell.unwrap_or_else(|why| format!("**{why}**")));
        let seconds = started.elapsed().as_secs_f32();
        println!("| {format} | {words} | {call} | {after} | {seconds:.1} |");
    }
    if well { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

type Cell = Result<String, Wrong>;

/// What is wrong, in a few words.
#[derive(Clone, Debug)]
struct Wrong(String);

impl std::fmt::Display for Wrong {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0.replace(['|', '\n'], " "))
    }
}

impl From<ModelError> for Wrong {
    fn from(error: ModelError) -> Self {
        Self(format!("{}: {error}", error.code()))
    }
}

fn client(base: &str, format: Format, model: &str) -> Result<ModelClient, Wrong> {
    let endpoint = Endpoint::speaking(&CUSTOM, base, format, None);
    let endpoint = endpoint.map_err(|error| Wrong(error.to_string()))?;
    let http = Http::new(None).map_err(|error| Wrong(error.to_string()))?;
    Ok(ModelClient::new(&http, endpoint, model))
}

fn click() -> ToolSpec {
    ToolSpec {
        name: "click".to_owned(),
        description: "Click an element of the page by its ref.".to_owned(),
        schema: json!({
            "type": "object",
            "properties": {"ref": {"type": "string", "description": "such as e2"}},
            "required": ["ref"],
        }),
    }
}

fn request(messages: Vec<Message>, tools: Vec<ToolSpec>) -> ChatRequest {
    ChatRequest {
        system: "You use a web page for the user with tools. Be brief.".to_owned(),
        messages,
        tools,
        temperature: Some(0.0),
        max_tokens: Some(TOKENS),
        ..ChatRequest::default()
    }
}

async fn ask(client: &ModelClient) -> [Cell; 3] {
    let hello = vec![Message::user("hello")];
    let words = reply(client, request(hello, Vec::new())).await;
    let wanted = vec![Message::user("click the button: - button \"Go\" [ref=e2]")];
    let called = reply(client, request(wanted.clone(), vec![click()])).await;
    let after = match &called {
        Ok(called) if !called.calls.is_empty() => {
            let mut messages = wanted;
            messages.push(Message::Assistant {
                text: called.text.clone(),
                calls: called.calls.clone(),
                kept: called.kept.clone(),
            });
            messages.extend(called.calls.iter().map(result));
            said(reply(client, request(messages, vec![click()])).await)
        }
        _ => Err(Wrong("there was no call".to_owned())),
    };
    [said(words), made(called), after]
}

fn result(call: &ToolCall) -> Message {
    let parts = vec![Part::Text("clicked; the page says: done, thank you".to_owned())];
    Message::Tool { call: call.id.clone(), name: call.name.clone(), parts, failed: false }
}

/// Words, with what they used.
fn said(reply: Result<Reply, ModelError>) -> Cell {
    let reply = reply?;
    if reply.text.trim().is_empty() {
        return Err(Wrong("no words".to_owned()));
    }
    let usage = reply.usage.ok_or_else(|| Wrong("no usage".to_owned()))?;
    Ok(format!("{} + {} tokens", usage.input, usage.output))
}

/// Just the call that was asked for.
fn made(reply: Result<Reply, ModelError>) -> Cell {
    let reply = reply?;
    let [call] = reply.calls.as_slice() else {
        return Err(Wrong(format!("{} calls", reply.calls.len())));
    };
    let arguments: Value = serde_json::from_str(&call.arguments).unwrap_or_default();
    let meant = call.name == "click" && arguments["ref"] == "e2" && !call.id.is_empty();
    if meant {
        Ok(format!("{} {}", call.name, call.arguments))
    } else {
        Err(Wrong(format!("{} {}", call.name, call.arguments)))
    }
}
