//! The mode of a run, where the person says more on the way or a new process goes on (W-034, W-044…W-048, W-075).

#![expect(clippy::expect_used, reason = "tests")]

mod support;

use futures_util::FutureExt;
use reins_agent::{
    Agent, AgentOptions, Inbox, JournalEntry, JournalEvent, MindOptions, Mode, ModeChoice, Opening,
    RunEnd, RunId, Sequence, ToolReply,
};
use reins_models::ChatRequest;
use serde_json::json;
use std::sync::{Arc, Mutex};
use support::journals::Memory;
use support::scripted::{Say, Scripted, flat};
use support::{Tools, page};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// Where the person speaks, once there is a run.
type Mouth = Arc<Mutex<Option<Inbox>>>;

fn says(mouth: &Mouth, words: &str) {
    let inbox = mouth.lock().expect("mouth").clone().expect("an inbox");
    let run = inbox.running().expect("a run");
    inbox.correct(run, words).now_or_never().expect("at once").expect("taken");
}

/// What the person's words are read as.
fn read_as(mode: &str, sure: f64) -> Say {
    let entry = |choice: &str| json!({"because": "buy it", "choice": choice, "sure": sure});
    Say::Text(json!({"q01": entry(mode), "q02": entry("direct")}).to_string())
}

fn asks_for_acting() -> Say {
    Say::Call("request_action_mode".to_owned(), json!({"evidence": "buy it"}))
}

fn click() -> Say {
    Say::Call("click".to_owned(), json!({"ref": "e1"}))
}

fn answer(text: &str) -> Say {
    Say::Text(text.to_owned())
}

fn tools_of(request: &ChatRequest) -> Vec<&str> {
    request.tools.iter().map(|tool| tool.name.as_str()).collect()
}

fn mind(mode: ModeChoice) -> MindOptions {
    MindOptions { mode, ..MindOptions::default() }
}

struct Ran {
    end: RunEnd,
    seen: Vec<ChatRequest>,
    tools: Tools,
    journal: Memory,
}

/// A run of "buy it" that looks at the page first.
async fn run(
    mode: ModeChoice,
    model: impl Fn(&Mouth, usize) -> Say + Send + Sync + 'static,
) -> Ran {
    let mouth = Mouth::default();
    let heard = mouth.clone();
    let model = Scripted::new(move |_, number| model(&heard, number));
    let look = || ToolReply { page: page("a shop"), ..ToolReply::text("") };
    let tools = Tools::replies((0..8).map(|_| look()).collect());
    let journal = Memory::default();
    let options = AgentOptions { steps_first: Some(false), ..AgentOptions::default() };
    let mut agent = Agent::new(Arc::new(model.clone()), tools.clone(), options)
        .with_mind(mind(mode))
        .with_journal(Arc::new(journal.clone()));
    *mouth.lock().expect("mouth") = Some(agent.inbox());
    let (sender, receiver) = mpsc::channel(256);
    let opening = Opening { calls: vec![("snapshot".to_owned(), json!({}))] };
    let report = agent.run("buy it", &opening, &sender, &CancellationToken::new()).await;
    drop(receiver);
    Ran { end: report.end, seen: model.seen(), tools, journal }
}

/// W-044, W-047: what the person says while the run only reads goes with it when it may act: once, kept once, before the
/// first request. The page is read anew then.
#[tokio::test]
async fn w047_a_correction_goes_along_into_the_run_that_acts() {
    let ran = run(ModeChoice::Auto, |mouth, number| match number {
        0 => read_as("act", 0.5),
        1 => {
            says(mouth, "the blue one");
            answer("given up for the correction")
        }
        2 => asks_for_acting(),
        3 => read_as("act", 0.95),
        4 => click(),
        _ => answer("Bought."),
    })
    .await;
    assert_eq!(ran.end, RunEnd::Done { answer: "Bought.".to_owned() });
    let acts = &ran.seen[4];
    assert!(tools_of(acts).contains(&"click"), "{:?}", tools_of(acts));
    assert_eq!(flat(acts).matches("the blue one").count(), 1, "{}", flat(acts));
    let judged = flat(&ran.seen[3]);
    assert!(judged.contains("the blue one") && !judged.contains("a shop"), "{judged}");
    let applied = ran.journal.kinds().iter().filter(|kind| kind.contains("applied")).count();
    assert_eq!(applied, 1, "{:?}", ran.journal.kinds());
    assert_eq!(ran.tools.called()[..2], ["snapshot {}", "snapshot {}"]);
}

/// W-048: a correction that comes once acting was granted counts: the words are read anew with it in them.
#[tokio::test]
async fn w048_a_correction_after_the_grant_is_read_first() {
    let ran = run(ModeChoice::Auto, |mouth, number| match number {
        0 => read_as("act", 0.5),
        1 => asks_for_acting(),
        2 => {
            says(mouth, "no, only tell me the price");
            read_as("act", 0.95)
        }
        3 => read_as("ask", 0.95),
        _ => answer("It costs 20 euros."),
    })
    .await;
    assert_eq!(ran.end, RunEnd::Done { answer: "It costs 20 euros.".to_owned() });
    assert!(flat(&ran.seen[3]).contains("only tell me the price"), "{}", flat(&ran.seen[3]));
    assert_eq!(tools_of(&ran.seen[4]), ["snapshot", "request_action_mode"]);
    assert_eq!(flat(&ran.seen[4]).matches("only tell me the price").count(), 1);
}

/// W-048: at the third time the run only reads, and cannot ask for more.
#[tokio::test]
async fn w048_the_third_correction_on_the_way_leaves_it_reading() {
    let ran = run(ModeChoice::Auto, |mouth, number| match (number, number % 3) {
        (9.., _) => answer("It costs 20 euros."),
        (_, 0) => read_as("act", 0.5),
        (_, 1) => asks_for_acting(),
        _ => {
            says(mouth, &format!("and number {number}"));
            read_as("act", 0.95)
        }
    })
    .await;
    assert_eq!(ran.end, RunEnd::Done { answer: "It costs 20 euros.".to_owned() });
    assert_eq!(tools_of(ran.seen.last().expect("a request")), ["snapshot"]);
    let last = flat(ran.seen.last().expect("a request"));
    for number in [2, 5, 8] {
        assert_eq!(last.matches(&format!("and number {number}")).count(), 1, "{last}");
    }
}

/// W-075: what the person says changes the task, and neither the mode that they picked nor what it allows.
#[tokio::test]
async fn w075_a_correction_lifts_no_mode() {
    let ran = run(ModeChoice::Picked(Mode::Ask), |mouth, number| match number {
        0 => {
            says(mouth, "now press the button");
            answer("given up for the correction")
        }
        1 => click(),
        _ => answer("This run only reads."),
    })
    .await;
    assert!(ran.seen.iter().all(|request| tools_of(request) == ["snapshot"]));
    assert_eq!(ran.tools.called(), ["snapshot {}"], "the click came to nothing");
}

/// A run that was cut off goes on in a new process, and its words are read as this. -> What the model was sent.
async fn goes_on(read: fn() -> Say) -> Vec<ChatRequest> {
    let entry = |sequence, event| JournalEntry { sequence: Sequence(sequence), event };
    let person = JournalEvent::Person { run: RunId(1), text: "buy it".to_owned() };
    // Words of a model are no words of the person.
    let reply = JournalEvent::Reply {
        text: "The user wants me to act: buy everything".to_owned(),
        calls: Vec::new(),
        kept: Vec::new(),
    };
    let entries = [entry(1, person), entry(2, reply)];
    let model = Scripted::new(move |_, number| match number {
        0 => read(),
        _ => answer("It costs 20 euros."),
    });
    let options = AgentOptions { steps_first: Some(false), ..AgentOptions::default() };
    let mut agent = Agent::new(Arc::new(model.clone()), Tools::default(), options)
        .with_mind(mind(ModeChoice::Auto))
        .with_journal(Arc::new(Memory::with(&entries)));
    agent.resume(&entries).await.expect("resumed");
    let (sender, receiver) = mpsc::channel(256);
    let (opening, cancel) = (Opening::default(), CancellationToken::new());
    agent.go_on(&opening, &sender, &cancel).await.expect("a run");
    drop(receiver);
    model.seen()
}

/// W-034: a run that goes on is routed afresh by what the person wrote; without a sure answer it only reads.
#[tokio::test]
async fn w034_a_run_that_goes_on_is_routed_by_the_persons_words() {
    for (read, tools) in [
        ((|| read_as("ask", 0.95)) as fn() -> Say, &["snapshot", "request_action_mode"][..]),
        (|| read_as("act", 0.5), &["snapshot", "request_action_mode"]),
        (|| read_as("act", 0.95), &["click", "type", "snapshot"]),
    ] {
        let seen = goes_on(read).await;
        let question = flat(&seen[0]);
        assert!(question.contains("buy it") && !question.contains("buy everything"), "{question}");
        assert_eq!(tools_of(&seen[1]), tools);
    }
}
