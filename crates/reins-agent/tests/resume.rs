//! A process that ends at any point: the next one goes on from the journal (W-081…W-083).

#![expect(clippy::expect_used, reason = "tests")]

mod support;

use reins_agent::{
    Agent, AgentOptions, JournalEntry, JournalEvent, Opening, RunEnd, RunId, ToolReply,
};
use reins_models::{ChatRequest, Message};
use serde_json::json;
use std::sync::Arc;
use support::journals::Memory;
use support::scripted::{Say, Scripted, flat};
use support::{Act, Shop, Tools};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

fn options() -> AgentOptions {
    AgentOptions { steps_first: Some(false), ..AgentOptions::default() }
}

fn click(reference: &str) -> Say {
    Say::Call("click".to_owned(), json!({"ref": reference}))
}

/// A run with two corrections and an order.
async fn recorded() -> Vec<JournalEntry> {
    let model = Scripted::new(|_, number| match number {
        0 => click("e1"),
        1 => click("e2"),
        2 => click("order"),
        _ => Say::Text("Ordered.".to_owned()),
    });
    let ordered = ToolReply { changed: Some(true), ..ToolReply::text("ordered") };
    let tools = Tools::new(vec![
        Act::UntilReleased(ToolReply::text("one")),
        Act::UntilReleased(ToolReply::text("two")),
        Act::Reply(ordered),
    ]);
    let journal = Memory::default();
    let mut agent = Agent::new(Arc::new(model), Shop(tools.clone()), options())
        .with_journal(Arc::new(journal.clone()));
    let inbox = agent.inbox();
    let (sender, receiver) = mpsc::channel(256);
    let beside = async {
        for words in ["the blue one", "and two of them"] {
            tools.begun.notified().await;
            let run = inbox.running().expect("a run");
            inbox.correct(run, words).await.expect("taken");
            tools.release.notify_one();
        }
        inbox.queue("then wrap it").await.expect("queued");
    };
    let (opening, cancel) = (Opening::default(), CancellationToken::new());
    let (report, ()) = tokio::join!(agent.run("buy it", &opening, &sender, &cancel), beside);
    drop(receiver);
    assert_eq!(report.end, RunEnd::Done { answer: "Ordered.".to_owned() });
    journal.entries()
}

/// How often words stand in what the model is sent.
fn times(request: &ChatRequest, words: &str) -> usize {
    flat(request).matches(words).count()
}

fn has(entries: &[JournalEntry], is: impl Fn(&JournalEvent) -> bool) -> bool {
    entries.iter().any(|entry| is(&entry.event))
}

/// W-081, W-082, W-095: cut off after any entry, the run goes on; each correction that was written down
/// is in the task exactly once, in order; an order that may have been sent is not sent again unseen.
#[tokio::test]
async fn w082_cut_off_after_any_entry_nothing_is_lost_or_done_twice() {
    let entries = recorded().await;
    assert!(entries.len() > 12, "{entries:#?}");
    for kept in 1..entries.len() {
        let entries = &entries[..kept];
        let model = Scripted::new(|_, number| match number {
            0 => click("order"),
            _ => Say::Text("Finished.".to_owned()),
        });
        let (tools, journal) = (Tools::default(), Memory::with(entries));
        let mut agent = Agent::new(Arc::new(model.clone()), Shop(tools.clone()), options())
            .with_journal(Arc::new(journal.clone()));
        let resumption = agent.resume(entries).await.expect("resumed");
        assert_eq!(resumption.cut_off, Some(RunId(1)), "after {kept} entries");
        let (sender, receiver) = mpsc::channel(256);
        let (opening, cancel) = (Opening::default(), CancellationToken::new());
        let report = agent.go_on(&opening, &sender, &cancel).await.expect("a run");
        drop(receiver);
        assert_eq!(report.end, RunEnd::Done { answer: "Finished.".to_owned() }, "after {kept}");
        let seen = model.seen();
        let first = &seen[0];
        calls_have_results(first);
        // Also those of both processes together.
        calls_have_results(seen.last().expect("a request"));
        assert_eq!(times(first, "Task: buy it"), 1);
        let mut last = 0;
        for words in ["the blue one", "and two of them"] {
            let queued = has(
                entries,
                |event| matches!(event, JournalEvent::CorrectionQueued { text, .. } if text == words),
            );
            assert_eq!(times(first, words), usize::from(queued), "{words} after {kept} entries");
            if let Some(at) = flat(first).find(words) {
                assert!(at > last, "in order");
                last = at;
            }
        }
        let ordering = has(entries, |event| {
            matches!(event, JournalEvent::StepBegun { commitment: Some(_), .. })
        });
        assert_eq!(tools.called().is_empty(), ordering, "after {kept}: {:?}", tools.called());
        let over = has(entries, |event| {
            matches!(event, JournalEvent::StepEnded(ended)
            if ended.text.starts_with("ordered"))
        });
        if ordering && !over {
            assert!(times(first, "Nobody knows whether this step happened: click") == 1);
            assert_eq!(resumption.unfinished.len(), 1);
        }
        // And once more: what the second process did is replayed as well.
        let mut agent = Agent::new(Arc::new(model), Shop(tools), options());
        let again = agent.resume(&journal.entries()).await.expect("resumed");
        assert_eq!(again.cut_off, None, "that run is over now");
    }
}

/// W-083: what a run that cannot go on never took in waits, paused, and is replayed as it is.
#[tokio::test]
async fn w083_corrections_of_a_run_that_is_given_up_wait() {
    let entries = recorded().await;
    let queued =
        |entry: &JournalEntry| matches!(entry.event, JournalEvent::CorrectionQueued { .. });
    let cut = entries.iter().position(queued).expect("a correction") + 1;
    let journal = Memory::with(&entries[..cut]);
    let model = Scripted::new(|_, _| Say::Text("Hello.".to_owned()));
    let agent = || {
        Agent::new(Arc::new(model.clone()), Tools::default(), options())
            .with_journal(Arc::new(journal.clone()))
    };
    let mut first = agent();
    first.resume(&journal.entries()).await.expect("resumed");
    assert!(first.inbox().waiting().is_empty(), "it belongs to its run");
    first.give_up().await.expect("given up");
    let waiting = first.inbox().waiting();
    assert_eq!(waiting.len(), 1);
    assert_eq!((waiting[0].text.as_str(), waiting[0].paused), ("the blue one", true));
    let mut second = agent();
    let resumption = second.resume(&journal.entries()).await.expect("resumed");
    assert_eq!((resumption.cut_off, second.inbox().waiting()), (None, waiting.clone()));
    second.inbox().remove(waiting[0].message).await.expect("deleted");
    let mut third = agent();
    third.resume(&journal.entries()).await.expect("resumed");
    assert!(third.inbox().waiting().is_empty(), "deleted for good");
    let (sender, receiver) = mpsc::channel(64);
    let cancel = CancellationToken::new();
    let report = third.run("next", &Opening::default(), &sender, &cancel).await;
    drop(receiver);
    assert_eq!(report.run, RunId(2), "no number is used twice");
    let request = model.seen().pop().expect("a request");
    assert_eq!(times(&request, "the blue one"), 0);
    calls_have_results(&request);
}

/// W-082: a new request of the person is not corrected by what they said about another.
#[tokio::test]
async fn w082_corrections_of_another_request_never_apply() {
    let entries = recorded().await;
    let queued =
        |entry: &JournalEntry| matches!(entry.event, JournalEvent::CorrectionQueued { .. });
    let cut = entries.iter().position(queued).expect("a correction") + 1;
    let journal = Memory::with(&entries[..cut]);
    let model = Scripted::new(|_, _| Say::Text("Hello.".to_owned()));
    let mut agent = Agent::new(Arc::new(model.clone()), Tools::default(), options())
        .with_journal(Arc::new(journal.clone()));
    agent.resume(&journal.entries()).await.expect("resumed");
    let (sender, receiver) = mpsc::channel(64);
    let cancel = CancellationToken::new();
    agent.run("something else", &Opening::default(), &sender, &cancel).await;
    drop(receiver);
    let request = model.seen().pop().expect("a request");
    assert_eq!((times(&request, "the blue one"), times(&request, "Task: something else")), (0, 1));
    let waiting = agent.inbox().waiting();
    assert_eq!((waiting[0].text.as_str(), waiting[0].paused), ("the blue one", true));
}

fn calls_have_results(request: &ChatRequest) {
    let mut calls: Vec<&str> = Vec::new();
    let mut results: Vec<&str> = Vec::new();
    for message in &request.messages {
        match message {
            Message::Assistant { calls: made, .. } => {
                calls.extend(made.iter().map(|call| call.id.as_str()));
            }
            Message::Tool { call, .. } => results.push(call),
            Message::User(_) => {}
        }
    }
    assert_eq!(calls, results);
    calls.sort_unstable();
    let count = calls.len();
    calls.dedup();
    assert_eq!(calls.len(), count, "two calls have one id");
}
