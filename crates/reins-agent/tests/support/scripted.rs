//! A model in memory that answers by a function, counts what it is sent and refuses what does not fit
//! its window.

use futures_util::StreamExt;
use futures_util::stream;
use reins_models::{
    ChatRequest, Cost, Message, Model, ModelError, ModelEvent, ModelStream, Part, StopReason, Usage,
};
use serde_json::Value;
use std::sync::{Arc, Mutex};

/// Text of so many bytes is one token here: denser than the guess of four, as snapshots are.
const BYTES_PER_TOKEN: usize = 3;

/// What it answers.
#[derive(Clone, Debug)]
pub enum Say {
    Text(String),
    Call(String, Value),
}

type Answers = dyn Fn(&ChatRequest, usize) -> Say + Send + Sync;

/// The model. Clones share what was seen.
#[derive(Clone)]
pub struct Scripted {
    answer: Arc<Answers>,
    seen: Arc<Mutex<Vec<ChatRequest>>>,
    refused: Arc<Mutex<usize>>,
    local: bool,
    window: u64,
    /// Millionths of a dollar for each token.
    price: Option<u64>,
}

impl Scripted {
    /// Answers by request and its number, from 0.
    pub fn new(answer: impl Fn(&ChatRequest, usize) -> Say + Send + Sync + 'static) -> Self {
        Self {
            answer: Arc::new(answer),
            seen: Arc::default(),
            refused: Arc::default(),
            local: false,
            window: 128_000,
            price: None,
        }
    }

    /// The same on this machine, or not.
    pub fn local(self, local: bool) -> Self {
        Self { local, ..self }
    }

    /// The same with another window.
    pub fn window(self, window: u64) -> Self {
        Self { window, ..self }
    }

    /// The same with a price.
    pub fn price(self, price: u64) -> Self {
        Self { price: Some(price), ..self }
    }

    pub fn seen(&self) -> Vec<ChatRequest> {
        self.seen.lock().expect("seen").clone()
    }

    /// How often a request was too long.
    pub fn refused(&self) -> usize {
        *self.refused.lock().expect("refused")
    }
}

/// A request as one text: what a provider's cache compares.
pub fn flat(request: &ChatRequest) -> String {
    let mut text = format!("{:?}\n{}", request.tools, request.system);
    for message in &request.messages {
        text.push_str(&format!("\n{message:?}"));
    }
    text
}

/// The tokens of a request, as this model counts them.
pub fn tokens(request: &ChatRequest) -> u64 {
    let part = |part: &Part| match part {
        Part::Text(text) => text.len(),
        Part::Image(_) => 1_600 * BYTES_PER_TOKEN,
    };
    let message = |message: &Message| match message {
        Message::User(parts) | Message::Tool { parts, .. } => parts.iter().map(part).sum::<usize>(),
        Message::Assistant { text, calls, .. } => {
            text.len() + calls.iter().map(|call| call.arguments.len() + 20).sum::<usize>()
        }
    };
    let tools: usize = request.tools.iter().map(|tool| tool.schema.to_string().len() + 40).sum();
    let all = request.system.len() + tools + request.messages.iter().map(message).sum::<usize>();
    (all / BYTES_PER_TOKEN) as u64
}

impl Model for Scripted {
    fn stream(&self, request: ChatRequest) -> ModelStream {
        let input = tokens(&request);
        if input > self.window {
            *self.refused.lock().expect("refused") += 1;
            let said = format!("{input} tokens");
            return stream::once(async { Err(ModelError::ContextTooLong { said }) }).boxed();
        }
        let number = self.seen.lock().expect("seen").len();
        let say = (self.answer)(&request, number);
        self.seen.lock().expect("seen").push(request);
        let usage = ModelEvent::Usage(Usage { input, output: 10, ..Usage::default() });
        let (said, stop) = match say {
            Say::Text(text) => (ModelEvent::Text(text), StopReason::End),
            Say::Call(name, arguments) => {
                let (id, name) = (Some(format!("id{number}")), Some(name));
                let arguments = arguments.to_string();
                (ModelEvent::Call { index: 0, id, name, arguments }, StopReason::Calls)
            }
        };
        stream::iter([said, usage, ModelEvent::Stop(stop)].map(Ok)).boxed()
    }

    fn name(&self) -> &str {
        "scripted"
    }

    fn cost(&self, usage: &Usage) -> Option<Cost> {
        self.price.map(|price| Cost(price * (usage.input + usage.output)))
    }

    fn is_local(&self) -> bool {
        self.local
    }
}
