//! Long conversations: what is sent stays within the window, and begins as it began before.

#![expect(clippy::expect_used, reason = "tests")]

mod support;

use reins_agent::{
    Agent, AgentEvent, AgentOptions, AgentTool, Opening, PageView, RunEnd, RunReport, Shortening,
    ToolReply, Toolbox,
};
use reins_models::{ChatRequest, Cost, Image, Message, Metered, Model, Part};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use support::Tools;
use support::scripted::{Say, Scripted, flat, tokens};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// A site whose pages are long: every tenth call opens another page, others change a little of it.
#[derive(Clone, Default)]
struct Site {
    calls: Arc<AtomicUsize>,
    pictures: bool,
}

impl Toolbox for Site {
    fn tools(&self) -> Vec<AgentTool> {
        Tools::default().tools()
    }

    async fn call(&self, name: &str, arguments: Value, _: &CancellationToken) -> ToolReply {
        let n = self.calls.fetch_add(1, Ordering::Relaxed);
        let whole = n.is_multiple_of(10);
        let lines = if whole { 150 } else { 6 };
        let text = (0..lines).map(|at| format!("- link \"Entry {n}-{at}\" [ref=e{at}]\n"));
        let page = PageView {
            tab: "t".to_owned(),
            whole,
            text: format!("<page {n}>\n{}</page {n}>", text.collect::<String>()),
            state: n.to_string(),
        };
        let bytes = vec![0; 10].into();
        let image = Image { mime: "image/png".to_owned(), bytes };
        ToolReply {
            page: Some(page),
            changed: Some(true),
            moved: whole,
            place: Some(format!("https://site.example/{}", n / 10)),
            images: if self.pictures && n.is_multiple_of(30) { vec![image] } else { Vec::new() },
            ..ToolReply::text(format!("completed: {name} {arguments}"))
        }
    }
}

/// Does so many steps, then answers. Questions of the loop itself get an answer as well.
fn worker(steps: usize) -> Scripted {
    let done = AtomicUsize::new(0);
    Scripted::new(move |request, _| {
        let asked = last_text(request);
        if asked.starts_with("Older messages") || asked.starts_with("You have no tool calls") {
            return Say::Text("- the code of the day is 4711".to_owned());
        }
        let n = done.fetch_add(1, Ordering::Relaxed);
        if n % (steps + 1) < steps {
            Say::Call("click".to_owned(), json!({"ref": format!("e{n}")}))
        } else {
            Say::Text("All done.".to_owned())
        }
    })
}

fn last_text(request: &ChatRequest) -> &str {
    match request.messages.last() {
        Some(Message::User(parts)) => match parts.first() {
            Some(Part::Text(text)) => text,
            _ => "",
        },
        _ => "",
    }
}

struct Ran {
    reports: Vec<RunReport>,
    /// The number of requests that had been sent at each shortening.
    shortened: Vec<(usize, Shortening)>,
}

async fn run(model: &Scripted, site: Site, options: AgentOptions, tasks: &[&str]) -> Ran {
    let mut agent = Agent::new(Arc::new(model.clone()), site, options);
    let (sender, mut receiver) = mpsc::channel(1);
    let (counted, shortened) = (model.clone(), Arc::new(Mutex::new(Vec::new())));
    let kept = shortened.clone();
    // With a channel of one, the run waits until each event is taken: the count is exact to one request.
    let collect = tokio::spawn(async move {
        while let Some(event) = receiver.recv().await {
            if let AgentEvent::Shortened(how) = event {
                kept.lock().expect("events").push((counted.seen().len(), how));
            }
        }
    });
    let (opening, cancel) = (Opening::default(), CancellationToken::new());
    let mut reports = Vec::new();
    for task in tasks {
        reports.push(agent.run(task, &opening, &sender, &cancel).await);
    }
    drop(sender);
    collect.await.expect("events");
    let shortened = shortened.lock().expect("events").clone();
    Ran { reports, shortened }
}

fn options(calls: u32, window: u64) -> AgentOptions {
    AgentOptions {
        calls,
        window: Some(window),
        steps_first: Some(false),
        ..AgentOptions::default()
    }
}

/// W-700, W-701: three hundred steps in a window of 16k, for a large model and for a small one; no
/// request is refused, each has the task, and each result has its call.
#[tokio::test]
async fn w700_three_hundred_steps_fit_into_a_window_of_16k() {
    for local in [false, true] {
        let model = worker(300).local(local).window(16_384);
        let ran = run(&model, Site::default(), options(400, 16_384), &["find the code"]).await;
        assert_eq!(ran.reports[0].end, RunEnd::Done { answer: "All done.".to_owned() });
        assert_eq!((ran.reports[0].summary.steps, model.refused()), (300, 0));
        let seen = model.seen();
        let longest = seen.iter().map(tokens).max().expect("requests");
        assert!(longest <= 16_384 * 85 / 100, "{longest} tokens, and an answer needs room");
        for request in &seen {
            let text = flat(request);
            assert!(text.contains("Task: find the code"), "{text}");
            well_formed(request);
        }
        let last = flat(seen.last().expect("a request"));
        assert!(last.contains("Earlier in this task, in short:"), "{last}");
        assert_eq!(last.contains("4711"), !local, "a large model keeps its own notes");
        assert!(ran.shortened.iter().any(|(_, how)| *how == Shortening::Summary));
    }
}

/// R-195, W-701: a conversation of many turns keeps working as well; what was asked before is told in
/// short.
#[tokio::test]
async fn r195_twelve_turns_of_25_calls_fit_into_a_window_of_16k() {
    let model = worker(25).window(16_384);
    let tasks: Vec<String> = (0..12).map(|n| format!("task number {n}")).collect();
    let tasks: Vec<&str> = tasks.iter().map(String::as_str).collect();
    let ran = run(&model, Site::default(), options(25, 16_384), &tasks).await;
    assert!(ran.reports.iter().all(|report| matches!(report.end, RunEnd::Done { .. })));
    assert_eq!(
        (ran.reports.iter().map(|it| it.summary.steps).sum::<u32>(), model.refused()),
        (300, 0)
    );
    let seen = model.seen();
    assert!(seen.iter().any(|request| flat(request).contains("- the user asked: task number 10")));
    let last = flat(seen.last().expect("a request"));
    assert!(last.contains("Task: task number 11"), "{last}");
    assert!(!last.contains("Task: task number 9"), "older tasks are history, not orders");
}

/// A provider's cache has the whole earlier request, except after the conversation was shortened, and
/// that is told. The steps between shortenings are most of them.
#[tokio::test]
async fn requests_begin_as_the_one_before_unless_a_shortening_says_so() {
    let model = worker(120).window(64_000);
    let site = Site { pictures: true, ..Site::default() };
    let ran = run(&model, site, options(200, 64_000), &["find the code"]).await;
    assert!(matches!(ran.reports[0].end, RunEnd::Done { .. }));
    // The loop's own questions are appended to the conversation and do not stay in it.
    let seen: Vec<_> = model.seen();
    let (mut shared, mut total, mut broken) = (0usize, 0usize, 0usize);
    for at in 1..seen.len() {
        let (before, after) = (&seen[at - 1], &seen[at]);
        let aside = last_text(before).starts_with("Older messages");
        let kept = before.messages.len() - usize::from(aside);
        let same = before.system == after.system
            && before.tools == after.tools
            && after.messages.get(..kept) == Some(&before.messages[..kept]);
        // It is counted just before the request that it changed, or just after that was sent.
        let told = ran.shortened.iter().any(|(number, _)| *number == at || *number == at + 1);
        assert!(same || told, "request {at} begins differently: {:?}", ran.shortened);
        let (before, after) = (flat(before), flat(after));
        let common = before.bytes().zip(after.bytes()).take_while(|(a, b)| a == b).count();
        (shared, total) = (shared + common, total + after.len());
        broken += usize::from(!same);
    }
    assert!(broken * 4 < seen.len(), "{broken} of {} requests", seen.len());
    // Four fifths of what is sent is what was sent before; measured 88 %.
    assert!(shared * 5 > total * 4, "{shared} of {total} bytes");
}

/// What was shown is not shown again: the page is named, not repeated.
#[tokio::test]
async fn a_page_that_did_not_change_is_not_repeated() {
    let look = || ToolReply {
        page: support::page(&"the same page ".repeat(50)),
        ..ToolReply::text("looked")
    };
    let tools = Tools::replies(vec![look(), look()]);
    let model = Scripted::new(|_, number| match number {
        0 | 1 => Say::Call("snapshot".to_owned(), json!({})),
        _ => Say::Text("Seen.".to_owned()),
    });
    let mut agent = Agent::new(Arc::new(model.clone()), tools, options(25, 128_000));
    let (sender, receiver) = mpsc::channel(64);
    agent.run("look", &Opening::default(), &sender, &CancellationToken::new()).await;
    drop(receiver);
    let last = flat(model.seen().last().expect("a request"));
    assert_eq!(last.matches("<page>").count(), 1, "{last}");
    assert!(last.contains("looks exactly as it was last shown above"));
}

/// W-702: a server that takes less than was thought is learned from, and the run goes on.
#[tokio::test]
async fn w702_a_smaller_window_than_thought_is_found_out() {
    let model = worker(60).window(3_000);
    let ran = run(&model, Site::default(), options(100, 128_000), &["find the code"]).await;
    assert_eq!(ran.reports[0].end, RunEnd::Done { answer: "All done.".to_owned() });
    assert!(ran.shortened.iter().any(|(_, how)| *how == Shortening::Emergency));
    assert!((1..=6).contains(&model.refused()), "{} refusals", model.refused());
}

/// W-271: at the limit the model says what is done and what is not, without a claim of success.
#[tokio::test]
async fn w271_at_the_limit_of_calls_the_task_is_handed_back() {
    let model = worker(100);
    let ran = run(&model, Site::default(), options(25, 128_000), &["find the code"]).await;
    let said = "- the code of the day is 4711".to_owned();
    assert_eq!(ran.reports[0].end, RunEnd::StepLimit { so_far: said });
    let seen = model.seen();
    let (last, before) = (&seen[seen.len() - 1], &seen[seen.len() - 2]);
    assert!(last_text(last).starts_with("You have no tool calls left."));
    assert_eq!(last.tools, before.tools, "the beginning stays what the provider has");
    well_formed(last);
}

/// W-272: the allowance ends the run before the next request, and what was done is told.
#[tokio::test]
async fn w272_a_run_ends_when_its_allowance_is_used_up() {
    let model = worker(25).price(1);
    let metered = Metered::new(Arc::new(model.clone()), Cost(3_000)).expect("a price");
    let mut agent =
        Agent::new(Arc::new(metered) as Arc<dyn Model>, Site::default(), options(25, 128_000));
    let (sender, mut receiver) = mpsc::channel(256);
    let report = agent.run("find", &Opening::default(), &sender, &CancellationToken::new()).await;
    drop(sender);
    let RunEnd::Failed { code, answer, .. } = &report.end else {
        panic!("{:?}", report.end);
    };
    assert_eq!(*code, "allowance_used_up");
    assert!(answer.as_ref().is_some_and(|told| told.contains("completed: click")));
    let spent = report.cost.expect("a price");
    assert!(spent >= Cost(3_000) && spent < Cost(8_000), "{spent:?}: one request over at most");
    let mut notices = 0;
    while let Some(event) = receiver.recv().await {
        notices +=
            usize::from(matches!(event, AgentEvent::Notice(text) if text.contains("used up")));
    }
    assert_eq!(notices, 1);
}

/// Every call has its result right after it, and every result its call: servers refuse anything else.
fn well_formed(request: &ChatRequest) {
    let mut open: Vec<&str> = Vec::new();
    for message in &request.messages {
        match message {
            Message::Assistant { calls, .. } => {
                assert!(open.is_empty(), "no result for {open:?}");
                open = calls.iter().map(|call| call.id.as_str()).collect();
            }
            Message::Tool { call, .. } => {
                let at = open.iter().position(|id| id == call);
                open.remove(at.unwrap_or_else(|| panic!("no call for the result {call}")));
            }
            Message::User(_) => assert!(open.is_empty(), "no result for {open:?}"),
        }
    }
    assert!(open.is_empty(), "no result for {open:?}");
}
