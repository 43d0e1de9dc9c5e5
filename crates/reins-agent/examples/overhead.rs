//! What the loop itself costs: time to the first request, time for each step beside model and tools,
//! memory, and how much of each request a provider's cache has from the one before.
//!
//! `cargo run --release -p reins-agent --example overhead [STEPS]`

#![allow(clippy::print_stdout, clippy::expect_used, reason = "this is what it is for")]

use futures_util::future::BoxFuture;
use futures_util::{FutureExt, StreamExt, stream};
use reins_agent::{
    Agent, AgentError, AgentOptions, AgentTool, Journal, JournalEvent, Opening, PageView, Sequence,
    ToolReply, Toolbox,
};
use reins_models::{
    ChatRequest, Cost, Message, Model, ModelEvent, ModelStream, Part, StopReason, Usage,
};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// Answers at once; what it does itself is measured and taken out.
struct Instantly {
    steps: usize,
    last: Mutex<String>,
    measured: Mutex<Measured>,
}

#[derive(Default)]
struct Measured {
    first: Option<Instant>,
    requests: usize,
    calls: usize,
    /// When the last answer was ready, and what the tool took since.
    answered: Option<Instant>,
    tool: Duration,
    /// From an answer to the next request, without the tool.
    between: Vec<Duration>,
    shared: usize,
    sent: usize,
    longest: usize,
}

impl Model for Instantly {
    fn stream(&self, request: ChatRequest) -> ModelStream {
        let begun = Instant::now();
        let mut text = format!("{:?}\n{}", request.tools, request.system);
        for message in &request.messages {
            text.push_str(&format!("\n{message:?}"));
        }
        let mut measured = self.measured.lock().expect("measured");
        measured.first.get_or_insert(begun);
        measured.requests += 1;
        let tool = std::mem::take(&mut measured.tool);
        if let Some(answered) = measured.answered {
            measured.between.push(begun.duration_since(answered).saturating_sub(tool));
        }
        let n = measured.calls;
        {
            let mut last = self.last.lock().expect("last");
            let common = last.bytes().zip(text.bytes()).take_while(|(a, b)| a == b).count();
            if !last.is_empty() {
                measured.shared += common;
                measured.sent += text.len();
            }
            measured.longest = measured.longest.max(text.len());
            *last = text;
        }
        let (said, stop) = if takes_notes(&request) {
            (ModelEvent::Text("Nothing to note.".to_owned()), StopReason::End)
        } else if n < self.steps {
            measured.calls += 1;
            let (id, name) = (Some(format!("id{n}")), Some("click".to_owned()));
            let arguments = json!({"ref": format!("e{n}")}).to_string();
            (ModelEvent::Call { index: 0, id, name, arguments }, StopReason::Calls)
        } else {
            (ModelEvent::Text("Done.".to_owned()), StopReason::End)
        };
        let input = measured.longest as u64 / 4;
        let usage = ModelEvent::Usage(Usage { input, output: 10, ..Usage::default() });
        measured.answered = Some(Instant::now());
        stream::iter([said, usage, ModelEvent::Stop(stop)].map(Ok)).boxed()
    }

    fn name(&self) -> &str {
        "instantly"
    }

    fn cost(&self, _: &Usage) -> Option<Cost> {
        None
    }
}

/// Whether the loop asks for notes before it leaves older messages out.
fn takes_notes(request: &ChatRequest) -> bool {
    matches!(request.messages.last(), Some(Message::User(parts))
        if matches!(parts.first(), Some(Part::Text(text)) if text.starts_with("Older messages")))
}

/// Pages as a shop has them: a whole one of 12 KB every eighth step, small changes between.
struct Shop {
    calls: AtomicUsize,
    model: Arc<Instantly>,
}

impl Toolbox for Shop {
    fn tools(&self) -> Vec<AgentTool> {
        let schema = json!({"type": "object", "properties": {"ref": {"type": "string"}}, "required": ["ref"]});
        (0..18)
            .map(|n| AgentTool {
                name: if n == 0 { "click".to_owned() } else { format!("tool{n}") },
                description: "Does something to an element of the page.".to_owned(),
                schema: schema.clone(),
                acts: true,
            })
            .collect()
    }

    async fn call(&self, _: &str, _: Value, _: &CancellationToken) -> ToolReply {
        let begun = Instant::now();
        let n = self.calls.fetch_add(1, Ordering::Relaxed);
        let whole = n.is_multiple_of(8);
        let lines = if whole { 300 } else { 8 };
        let line = |at| format!("- link \"Article {n} number {at}\" [ref=e{at}]\n");
        let reply = ToolReply {
            page: Some(PageView {
                tab: "t".to_owned(),
                whole,
                text: (0..lines).map(line).collect(),
                state: n.to_string(),
            }),
            changed: Some(true),
            moved: whole,
            place: Some(format!("https://shop.example/{}", n / 8)),
            ..ToolReply::text(format!("completed: clicked link \"Article {n}\""))
        };
        self.model.measured.lock().expect("measured").tool += begun.elapsed();
        reply
    }
}

/// A journal that costs what writing into memory costs.
#[derive(Default)]
struct Counting(AtomicU64);

impl Journal for Counting {
    fn append(&self, event: JournalEvent) -> BoxFuture<'_, Result<Sequence, AgentError>> {
        let bytes = serde_json::to_vec(&event).map(|bytes| bytes.len()).unwrap_or_default();
        std::hint::black_box(bytes);
        let sequence = Sequence(self.0.fetch_add(1, Ordering::Relaxed) + 1);
        async move { Ok(sequence) }.boxed()
    }
}

/// One run of so many steps. Gives when it began, its steps, and what the model saw.
async fn run(steps: usize) -> (Instant, u32, Arc<Instantly>) {
    let model = Arc::new(Instantly { steps, last: Mutex::default(), measured: Mutex::default() });
    let shop = Shop { calls: AtomicUsize::new(0), model: Arc::clone(&model) };
    let calls = u32::try_from(steps).unwrap_or(u32::MAX).saturating_add(1);
    let options = AgentOptions { calls, ..AgentOptions::default() };
    let begun = Instant::now();
    let mut agent = Agent::new(Arc::clone(&model) as Arc<dyn Model>, shop, options)
        .with_journal(Arc::new(Counting::default()));
    let (sender, mut events) = mpsc::channel(256);
    let drain = tokio::spawn(async move { while events.recv().await.is_some() {} });
    let (opening, cancel) = (Opening::default(), CancellationToken::new());
    let report = agent.run("find the cheapest article", &opening, &sender, &cancel).await;
    drop(sender);
    drain.await.expect("events");
    (begun, report.summary.steps, model)
}

/// The middle one, the one that one of twenty exceeds, and the longest.
fn told(mut times: Vec<Duration>) -> String {
    times.sort_unstable();
    let at = |share: usize| times.get(times.len() * share / 100).or(times.last());
    let ms = |time: Option<&Duration>| time.copied().unwrap_or_default().as_secs_f64() * 1e3;
    format!("{:.3} ms (95 %: {:.3}, most: {:.3})", ms(at(50)), ms(at(95)), ms(times.last()))
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let steps: usize = std::env::args().nth(1).and_then(|arg| arg.parse().ok()).unwrap_or(100);
    let mut starts = Vec::new();
    for _ in 0..STARTS {
        let (begun, _, model) = run(0).await;
        let first = model.measured.lock().expect("measured").first;
        starts.extend(first.map(|first| first.duration_since(begun)));
    }
    let (_, steps, model) = run(steps).await;
    let measured = model.measured.lock().expect("measured");
    println!("start to first request       {}", told(starts));
    println!("the loop for each step       {} of {steps}", told(measured.between.clone()));
    println!("longest request              {} bytes", measured.longest);
    println!(
        "shared with the one before   {:.1} % of {} requests",
        measured.shared as f64 * 100.0 / measured.sent.max(1) as f64,
        measured.requests
    );
    println!("resident memory              {}", resident().unwrap_or_else(|| "unknown".to_owned()));
}

/// Runs that only begin, to see how long that takes.
const STARTS: usize = 21;

/// As the kernel says it, where it does.
fn resident() -> Option<String> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
    Some(line.trim_start_matches("VmRSS:").trim().to_owned())
}
