//! What the person says while a run goes on (W-072…W-083, W-090…W-096).

#![expect(clippy::expect_used, reason = "tests")]

mod support;

use reins_agent::{
    Agent, AgentError, AgentEvent, AgentOptions, Inbox, JournalEvent, Opening, PageView, Revision,
    RunEnd, RunId, RunReport, ToolReply, Toolbox,
};
use reins_models::{ChatRequest, Message, Part};
use serde_json::json;
use std::sync::Arc;
use support::journals::Memory;
use support::scripted::{Say, Scripted};
use support::{Act, Shop, Tools, page, unknown};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

fn options() -> AgentOptions {
    AgentOptions { steps_first: Some(false), ..AgentOptions::default() }
}

fn call(reference: &str) -> Say {
    Say::Call("click".to_owned(), json!({"ref": reference}))
}

/// The texts of a request, one for each message.
fn texts(request: &ChatRequest) -> Vec<String> {
    let part = |part: &Part| match part {
        Part::Text(text) => text.clone(),
        Part::Image(_) => "[image]".to_owned(),
    };
    let text = |message: &Message| match message {
        Message::User(parts) | Message::Tool { parts, .. } => parts.iter().map(part).collect(),
        Message::Assistant { text, .. } => text.clone(),
    };
    request.messages.iter().map(text).collect()
}

struct Ran {
    report: RunReport,
    events: Vec<AgentEvent>,
    inbox: Inbox,
}

async fn run<T: Toolbox>(
    model: &Scripted,
    tools: T,
    journal: &Memory,
    cancel: &CancellationToken,
    beside: impl AsyncFnOnce(Inbox),
) -> Ran {
    let mut agent = Agent::new(Arc::new(model.clone()), tools, options())
        .with_journal(Arc::new(journal.clone()));
    let inbox = agent.inbox();
    let (sender, mut receiver) = mpsc::channel(4);
    let collect = tokio::spawn(async move {
        let mut events = Vec::new();
        while let Some(event) = receiver.recv().await {
            events.push(event);
        }
        events
    });
    let opening = Opening::default();
    let (report, ()) =
        tokio::join!(agent.run("buy it", &opening, &sender, cancel), beside(inbox.clone()));
    drop(sender);
    Ran { report, events: collect.await.expect("events"), inbox }
}

/// Two calls in one answer, then an answer.
fn batch_then_answer(_: &ChatRequest, number: usize) -> Say {
    match number {
        0 => call("e1"),
        _ => Say::Text("Bought.".to_owned()),
    }
}

/// W-074, W-090: the tool under way finishes, the rest is skipped, and the correction stands before
/// the next request.
#[tokio::test]
async fn w074_a_correction_enters_at_the_next_safe_point() {
    let tools = Tools::new(vec![Act::UntilReleased(ToolReply::text("clicked"))]);
    let (journal, cancel) = (Memory::default(), CancellationToken::new());
    let server = support::two_calls_then("Bought.").await;
    let mut agent = Agent::new(server.model(), tools.clone(), options())
        .with_journal(Arc::new(journal.clone()));
    let inbox = agent.inbox();
    let (sender, receiver) = mpsc::channel(64);
    let opening = Opening::default();
    let beside = async {
        tools.begun.notified().await;
        let run = inbox.running().expect("a run");
        inbox.correct(run, "the blue one").await.expect("taken");
        tools.release.notify_one();
    };
    let (report, ()) = tokio::join!(agent.run("buy it", &opening, &sender, &cancel), beside);
    drop(receiver);
    assert_eq!(report.end, RunEnd::Done { answer: "Bought.".to_owned() });
    assert_eq!(tools.called(), ["click {\"ref\":\"e1\"}"], "the second call is not made");
    let messages = server.messages(1);
    assert!(messages[3].contains("clicked"), "{messages:?}");
    assert!(messages[4].contains("Not done: the user has just said something"), "{messages:?}");
    assert!(messages[5].starts_with("user: The user says now: the blue one"), "{messages:?}");
    assert_eq!(
        journal.kinds(),
        [
            "person",
            "reply",
            "step_begun",
            "correction_queued",
            "step_ended",
            "step_skipped",
            "correction_applied",
            "reply",
            "end"
        ]
    );
}

/// W-077: a request to the model is given up, and its answer is no answer any more.
#[tokio::test]
async fn w077_a_correction_gives_up_the_request_under_way() {
    let journal = Memory::default();
    let server = support::hanging_then("Blue it is.").await;
    let mut agent = Agent::new(server.model(), Tools::default(), options())
        .with_journal(Arc::new(journal.clone()));
    let inbox = agent.inbox();
    let (sender, mut receiver) = mpsc::channel(64);
    let (opening, cancel) = (Opening::default(), CancellationToken::new());
    let beside = async {
        server.server.asked(1).await;
        let run = inbox.running().expect("a run");
        inbox.correct(run, "the blue one").await.expect("taken");
        server.server.abandoned().await;
    };
    let (report, ()) = tokio::join!(agent.run("buy it", &opening, &sender, &cancel), beside);
    assert_eq!(report.end, RunEnd::Done { answer: "Blue it is.".to_owned() });
    drop(sender);
    let mut corrected = None;
    while let Some(event) = receiver.recv().await {
        if let AgentEvent::Corrected { revision, text, .. } = event {
            corrected = Some((revision, text));
        }
    }
    assert_eq!(corrected, Some((Revision(1), "the blue one".to_owned())));
    let applied = journal.kinds().iter().filter(|kind| **kind == "correction_applied").count();
    assert_eq!(applied, 1);
}

/// W-073: only the run that goes on can be corrected.
#[tokio::test]
async fn w073_another_run_is_not_corrected() {
    let model = Scripted::new(batch_then_answer);
    let (journal, cancel) = (Memory::default(), CancellationToken::new());
    let ran = run(&model, Tools::default(), &journal, &cancel, async |inbox| {
        let wrong = inbox.correct(RunId(7), "no").await;
        assert!(matches!(wrong, Err(AgentError::NotRunning)), "{wrong:?}");
    })
    .await;
    let over = ran.inbox.correct(ran.report.run, "too late").await;
    assert_eq!(over.expect_err("over").code(), "not_running");
    assert!(!journal.kinds().contains(&"correction_queued"));
}

/// W-076: a correction that was written down while the run ended heads the queue.
#[tokio::test]
async fn w076_what_the_run_did_not_take_in_heads_the_queue() {
    let model = Scripted::new(batch_then_answer);
    let journal = Memory::holding(|event| matches!(event, JournalEvent::CorrectionQueued { .. }));
    let cancel = CancellationToken::new();
    let waits = Arc::new(tokio::sync::Mutex::new(None));
    let tools = Tools::new(vec![Act::UntilReleased(ToolReply::text("clicked"))]);
    let (begun, release) = (tools.begun.clone(), tools.release.clone());
    let (kept, held) = (waits.clone(), journal.held.clone());
    let ran = run(&model, tools, &journal, &cancel, async move |inbox| {
        inbox.queue("and then wrap it").await.expect("queued");
        begun.notified().await;
        let run = inbox.running().expect("a run");
        let late = tokio::spawn(async move { inbox.correct(run, "the blue one").await });
        held.acquire().await.expect("held").forget();
        *kept.lock().await = Some(late);
        release.notify_one();
    })
    .await;
    assert_eq!(ran.report.end, RunEnd::Done { answer: "Bought.".to_owned() });
    journal.gate.add_permits(1);
    let late = waits.lock().await.take().expect("a correction");
    late.await.expect("task").expect("kept");
    let waiting = ran.inbox.waiting();
    let words: Vec<_> = waiting.iter().map(|it| (it.text.as_str(), it.paused)).collect();
    assert_eq!(words, [("the blue one", false), ("and then wrap it", false)]);
    assert_eq!(journal.kinds().last(), Some(&"correction_returned"));
    let next = ran.inbox.next().await.expect("journal").expect("a message");
    assert_eq!(next.text, "the blue one");
    assert_eq!(ran.inbox.waiting().len(), 1);
}

/// W-078: after a stop everything stays, paused, and nothing begins by itself.
#[tokio::test]
async fn w078_after_a_stop_what_waits_is_paused() {
    let model = Scripted::new(batch_then_answer);
    let (journal, cancel) = (Memory::default(), CancellationToken::new());
    let tools = Tools::new(vec![Act::UntilStopped(ToolReply::text("clicked"))]);
    let (begun, stop) = (tools.begun.clone(), cancel.clone());
    let ran = run(&model, tools, &journal, &cancel, async move |inbox| {
        inbox.queue("and then wrap it").await.expect("queued");
        begun.notified().await;
        let run = inbox.running().expect("a run");
        inbox.correct(run, "the blue one").await.expect("taken");
        stop.cancel();
    })
    .await;
    assert_eq!(ran.report.end, RunEnd::Stopped);
    let waiting = ran.inbox.waiting();
    let words: Vec<_> = waiting.iter().map(|it| (it.text.as_str(), it.paused)).collect();
    assert_eq!(words, [("the blue one", true), ("and then wrap it", true)]);
    assert!(ran.events.contains(&AgentEvent::Waiting(waiting.clone())));
    assert_eq!(ran.inbox.next().await.expect("journal"), None);
    ran.inbox.edit(waiting[0].message, "the green one").await.expect("edited");
    ran.inbox.remove(waiting[1].message).await.expect("deleted");
    let next = ran.inbox.next().await.expect("journal").expect("a message");
    assert_eq!(next.text, "the green one");
    let gone = ran.inbox.release(waiting[1].message).await;
    assert_eq!(gone.expect_err("deleted").code(), "not_waiting");
}

/// W-081: what could not be written down was not taken, and the caller knows.
#[tokio::test]
async fn w081_a_correction_is_acknowledged_only_once_it_is_written() {
    let model = Scripted::new(batch_then_answer);
    let journal = Memory::refusing(|event| matches!(event, JournalEvent::CorrectionQueued { .. }));
    let cancel = CancellationToken::new();
    let tools = Tools::new(vec![Act::UntilReleased(ToolReply::text("clicked"))]);
    let (begun, release) = (tools.begun.clone(), tools.release.clone());
    let ran = run(&model, tools, &journal, &cancel, async move |inbox| {
        begun.notified().await;
        let run = inbox.running().expect("a run");
        let refused = inbox.correct(run, "the blue one").await.expect_err("not written");
        assert_eq!(refused.code(), "not_recorded");
        release.notify_one();
    })
    .await;
    assert_eq!(ran.report.end, RunEnd::Done { answer: "Bought.".to_owned() });
    let last = model.seen().pop().expect("a request");
    assert!(!texts(&last).concat().contains("blue"));
}

/// W-124: an act that cannot be written down is not made, and the run says so.
#[tokio::test]
async fn w124_an_act_that_cannot_be_recorded_is_not_made() {
    let model = Scripted::new(batch_then_answer);
    let journal =
        Memory::refusing(|event| matches!(event, JournalEvent::StepBegun { acts: true, .. }));
    let (cancel, tools) = (CancellationToken::new(), Tools::default());
    let ran = run(&model, tools.clone(), &journal, &cancel, async |_| {}).await;
    let RunEnd::Failed { code, .. } = ran.report.end else {
        panic!("{:?}", ran.report.end);
    };
    assert_eq!((code, tools.called().len()), ("not_recorded", 0));
}

/// More calls are the person's to give, also while the run goes on.
#[tokio::test]
async fn r195_the_person_may_allow_more_calls() {
    let model = Scripted::new(|_, number| match number {
        n if n < 30 => call(&format!("e{n}")),
        _ => Say::Text("All thirty.".to_owned()),
    })
    .local(true);
    let (journal, cancel, tools) = (Memory::default(), CancellationToken::new(), Tools::default());
    let begun = tools.begun.clone();
    let ran = run(&model, tools.clone(), &journal, &cancel, async move |inbox| {
        begun.notified().await;
        inbox.allow_more_calls(10);
    })
    .await;
    assert_eq!(ran.report.end, RunEnd::Done { answer: "All thirty.".to_owned() });
    assert_eq!(tools.called().len(), 30);
}

/// W-095, W-096, W-116: a correction is no permission to send an order again; its receipt stays, and
/// names the revision that it was sent for.
#[tokio::test]
async fn w095_a_correction_does_not_send_an_order_twice() {
    let model = Scripted::new(|_, number| match number {
        0..=2 => call("order"),
        _ => Say::Text("Ordered once.".to_owned()),
    });
    let ordered = ToolReply { changed: Some(true), ..ToolReply::text("ordered") };
    let tools = Tools::new(vec![Act::UntilReleased(ordered)]);
    let shop = Shop(tools.clone());
    let (journal, cancel) = (Memory::default(), CancellationToken::new());
    let (begun, release) = (tools.begun.clone(), tools.release.clone());
    let ran = run(&model, shop, &journal, &cancel, async move |inbox| {
        begun.notified().await;
        let run = inbox.running().expect("a run");
        inbox.correct(run, "wrapped as a gift").await.expect("taken");
        release.notify_one();
    })
    .await;
    assert_eq!(tools.called().len(), 1, "{:?}", tools.called());
    let told = texts(&model.seen()[2]).pop().expect("a result");
    assert!(told.contains("step 1 sent this already. Look at the page"), "{told}");
    let receipts = &ran.report.submissions;
    assert_eq!((receipts.len(), receipts[0].revision, receipts[0].step), (1, Revision(0), 1));
}

/// W-116: after a look the model is told once that it repeats itself; a task that asks for two orders gets two.
#[tokio::test]
async fn w116_two_orders_need_to_be_meant() {
    let model = Scripted::new(|_, number| match number {
        0..=2 => call("order"),
        _ => Say::Text("Ordered twice.".to_owned()),
    });
    let seen = PageView { state: "thanks".to_owned(), ..page("thanks").expect("a page") };
    let ordered = ToolReply { changed: Some(true), page: Some(seen), ..ToolReply::text("ordered") };
    let tools = Tools::replies(vec![ordered.clone(), ordered]);
    let (journal, cancel) = (Memory::default(), CancellationToken::new());
    let ran = run(&model, Shop(tools.clone()), &journal, &cancel, async |_| {}).await;
    let told = texts(&model.seen()[2]).pop().expect("a result");
    assert!(told.contains("step 1 sent this already, with the same values"), "{told}");
    assert_eq!(tools.called().len(), 2);
    assert_eq!(ran.report.submissions.len(), 2);
}

/// W-096: what nobody knows is no receipt of success.
#[tokio::test]
async fn w096_a_submission_without_an_answer_says_so() {
    let model = Scripted::new(|_, number| match number {
        0 => call("order"),
        _ => Say::Text("I do not know.".to_owned()),
    });
    let tools = Tools::replies(vec![unknown()]);
    let (journal, cancel) = (Memory::default(), CancellationToken::new());
    let ran = run(&model, Shop(tools), &journal, &cancel, async |_| {}).await;
    assert_eq!(ran.report.submissions.iter().map(|it| it.answered).collect::<Vec<_>>(), [false]);
}
