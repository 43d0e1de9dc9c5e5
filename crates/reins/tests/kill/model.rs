//! A model that sends the parcels it was asked for, and looks before it does again what may have
//! happened. It knows nothing but the conversation that it is sent.

use crate::events::Events;
use axum::Router;
use axum::extract::{Json, State};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use tokio::net::TcpListener;

#[derive(Debug)]
pub struct Model {
    pub base: String,
    shared: Arc<Shared>,
    task: tokio::task::JoinHandle<()>,
}

#[derive(Debug)]
struct Shared {
    /// The texts of the last conversation that came.
    last: Mutex<Vec<String>>,
    events: Arc<Events>,
}

impl Model {
    pub async fn start(events: Arc<Events>) -> Self {
        let shared = Arc::new(Shared { last: Mutex::default(), events });
        let router = Router::new().fallback(answer).with_state(Arc::clone(&shared));
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let base = format!("http://{}/v1", listener.local_addr().unwrap());
        let task = tokio::spawn(async move {
            axum::serve(listener, router).await.unwrap();
        });
        Self { base, shared, task }
    }

    /// The texts of the last conversation, message by message.
    pub fn last(&self) -> Vec<String> {
        self.shared.last.lock().unwrap().clone()
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn answer(State(shared): State<Arc<Shared>>, body: Option<Json<Value>>) -> Response {
    let Some(Json(body)) = body else { return Json(json!({"data": []})).into_response() };
    let events = Arc::clone(&shared.events);
    tokio::task::spawn_blocking(move || events.happened()).await.unwrap();
    let texts: Vec<(String, String)> = body["messages"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|message| (message["role"].as_str().unwrap().to_owned(), text(&message["content"])))
        .collect();
    let delta = if body["tools"].as_array().is_none_or(Vec::is_empty) {
        json!({"content": "Nothing to list."})
    } else {
        *shared.last.lock().unwrap() = texts.iter().map(|(_, text)| text.clone()).collect();
        next(&texts)
    };
    let finish = if delta.get("tool_calls").is_some() { "tool_calls" } else { "stop" };
    let events = [
        json!({"choices": [{"index": 0, "delta": delta, "finish_reason": null}]}),
        json!({"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]}),
        json!({"choices": [], "usage": {"prompt_tokens": 100, "completion_tokens": 10}}),
    ];
    let mut stream: String = events.iter().map(|event| format!("data: {event}\n\n")).collect();
    stream.push_str("data: [DONE]\n\n");
    ([("content-type", "text/event-stream")], stream).into_response()
}

fn text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            parts.iter().filter_map(|part| part["text"].as_str()).collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}

/// What the model does next.
fn next(texts: &[(String, String)]) -> Value {
    let (mut wanted, mut sent) = (BTreeSet::new(), BTreeSet::new());
    let mut buttons: BTreeMap<u32, String> = BTreeMap::new();
    let mut looked = false;
    for (role, text) in texts {
        if role == "user" {
            wanted.extend(numbers(text, "send parcel "));
        }
        if role == "system" || role == "assistant" {
            continue;
        }
        sent.extend(numbers(text, "completed: clicked button \"Send parcel "));
        sent.extend(numbers(text, "Parcel "));
        if text.contains("unknown") || text.contains("interrupted") {
            // What was known of the page may be wrong now.
            looked = false;
        }
        for (parcel, reference) in refs(text) {
            buttons.insert(parcel, reference);
            looked = true;
        }
        if text.contains("is on its way") {
            looked = true;
        }
    }
    if !looked {
        return calls(&[("snapshot", json!({"full": true}))]);
    }
    let open: Vec<u32> = wanted.difference(&sent).copied().collect();
    let ready: Vec<_> = open
        .iter()
        .filter_map(|parcel| Some(("click", json!({"ref": buttons.get(parcel)?}))))
        .take(2)
        .collect();
    match (open.is_empty(), ready.is_empty()) {
        (true, _) => json!({"content": format!("Parcels on their way: **{wanted:?}**.")}),
        (false, true) => calls(&[("snapshot", json!({"full": true}))]),
        (false, false) => calls(&ready),
    }
}

fn calls(calls: &[(&str, Value)]) -> Value {
    let call = |(index, (name, arguments)): (usize, &(&str, Value))| {
        json!({
            "index": index, "id": format!("call-{index}"), "type": "function",
            "function": {"name": name, "arguments": arguments.to_string()},
        })
    };
    json!({"tool_calls": calls.iter().enumerate().map(call).collect::<Vec<_>>()})
}

/// The numbers that stand behind some words.
fn numbers(text: &str, words: &str) -> Vec<u32> {
    text.match_indices(words)
        .filter_map(|(at, _)| {
            let rest = &text[at + words.len()..];
            let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
            digits.parse().ok()
        })
        .collect()
}

/// Buttons with their refs.
fn refs(text: &str) -> Vec<(u32, String)> {
    let found = text.lines().filter(|line| !line.trim_start().starts_with("- removed")).filter_map(
        |line| {
            let at = line.find("button \"Send parcel ")?;
            let parcel = *numbers(&line[at..], "Send parcel ").first()?;
            let reference = line.split("[ref=").nth(1)?.split(']').next()?;
            Some((parcel, reference.to_owned()))
        },
    );
    found.collect()
}
