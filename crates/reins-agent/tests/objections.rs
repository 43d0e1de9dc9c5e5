//! Acts that the person's own words are against, and what came of those that were made: closed questions
//! about deletions, sending and the messages of pages (W-129, W-140…W-149, W-483, W-490, W-494…W-498).

#![expect(clippy::expect_used, reason = "tests")]

mod support;

use reins_agent::{
    Agent, AgentOptions, AgentTool, Commitment, JudgeSetting, MindOptions, Opening, RunEnd,
    RunReport, StepLabel, ToolReply, Toolbox,
};
use reins_models::{ChatRequest, Purpose};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use support::scripted::{Say, Scripted};
use support::{Act, Tools, page};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// Elements by ref; `del…` deletes by what is known of it, `order` sends a form.
#[derive(Clone)]
struct Site(Tools);

impl Toolbox for Site {
    fn tools(&self) -> Vec<AgentTool> {
        self.0.tools()
    }

    fn label(&self, _: &str, arguments: &Value) -> StepLabel {
        let element = match arguments["ref"].as_str().unwrap_or_default() {
            it if it.starts_with("del") => "button \"Delete\"".to_owned(),
            it => format!("button \"{it}\""),
        };
        StepLabel { arguments: arguments.to_string(), element: Some(element) }
    }

    async fn commitment(&self, _: &str, arguments: &Value) -> Option<Commitment> {
        (arguments["ref"] == "order").then(|| Commitment {
            target: "post https://shop.example/order".to_owned(),
            control: "button \"Order\"".to_owned(),
        })
    }

    fn deletes(&self, _: &str, arguments: &Value) -> bool {
        arguments["ref"].as_str().is_some_and(|it| it.starts_with("del"))
    }

    async fn call(&self, name: &str, arguments: Value, cancel: &CancellationToken) -> ToolReply {
        self.0.call(name, arguments, cancel).await
    }
}

/// Answers of closed questions by their name, with what was asked.
#[derive(Clone, Default)]
struct Reader {
    answers: Vec<(&'static str, &'static str, &'static str)>,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Reader {
    /// Question, choice, and the quotation that supports it.
    fn new(answers: &[(&'static str, &'static str, &'static str)]) -> Self {
        Self { answers: answers.to_vec(), ..Self::default() }
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().expect("asked").clone()
    }

    fn model(&self) -> Arc<Scripted> {
        let this = self.clone();
        Arc::new(Scripted::new(move |request, _| Say::Text(this.answer(request))))
    }

    fn answer(&self, request: &ChatRequest) -> String {
        let found = self
            .answers
            .iter()
            .find(|(name, _, _)| request.system.contains(&format!("Question \"{name}\"")));
        let matter = format!("{:?}", request.messages);
        self.asked.lock().expect("asked").push(format!("{}\n{matter}", request.system));
        let Some((_, choice, because)) = found else {
            return "no idea".to_owned();
        };
        let entry = json!({"because": because, "choice": choice, "sure": 0.95});
        let places = (1..=16).map(|at| (format!("q{at:02}"), entry.clone()));
        let mut all: serde_json::Map<String, Value> = places.collect();
        all.extend(entry.as_object().expect("an object").clone());
        Value::Object(all).to_string()
    }
}

struct Ran {
    report: RunReport,
    called: Vec<String>,
    asked: Vec<String>,
}

impl Ran {
    fn failure(&self) -> &'static str {
        match &self.report.end {
            RunEnd::Failed { code, .. } => code,
            other => panic!("not failed: {other:?}"),
        }
    }
}

/// Steps of the run's own model, in order; the last one is said again and again.
fn steps(script: Vec<Say>) -> impl Fn(&ChatRequest, usize) -> Say + Send + Sync {
    move |request, number| match request.purpose {
        Purpose::Steps => script[number.min(script.len() - 1)].clone(),
        _ => Say::Text("no idea".to_owned()),
    }
}

fn press(reference: &str) -> Say {
    Say::Call("click".to_owned(), json!({"ref": reference}))
}

fn say(text: &str) -> Say {
    Say::Text(text.to_owned())
}

fn look(text: &str) -> ToolReply {
    ToolReply { page: page(&format!("\n{text}\n")), ..ToolReply::text("") }
}

fn did() -> ToolReply {
    ToolReply { changed: Some(true), ..ToolReply::text("clicked") }
}

async fn run(words: &str, script: Vec<Say>, reader: &Reader, tools: Vec<ToolReply>) -> Ran {
    run_with(words, script, reader, Tools::replies(tools), async |_| {}).await
}

async fn run_with(
    words: &str,
    script: Vec<Say>,
    reader: &Reader,
    tools: Tools,
    beside: impl AsyncFnOnce(reins_agent::Inbox),
) -> Ran {
    let mind = MindOptions {
        judge: JudgeSetting::Ask,
        decision: Some(reader.model()),
        ..MindOptions::default()
    };
    let options = AgentOptions { steps_first: Some(false), ..AgentOptions::default() };
    let model = Arc::new(Scripted::new(steps(script)));
    let mut agent = Agent::new(model, Site(tools.clone()), options).with_mind(mind);
    let (sender, mut receiver) = mpsc::channel(4);
    let drain = tokio::spawn(async move { while receiver.recv().await.is_some() {} });
    let opening = Opening { calls: vec![("snapshot".to_owned(), json!({}))] };
    let (cancel, inbox) = (CancellationToken::new(), agent.inbox());
    let (report, ()) = tokio::join!(agent.run(words, &opening, &sender, &cancel), beside(inbox));
    drop(sender);
    drain.await.expect("drained");
    Ran { report, called: tools.called(), asked: reader.asked() }
}

const ROWS: &str =
    "- list\n  - Ann {button \"Delete\" [ref=del1]}\n  - Bob {button \"Delete\" [ref=del2]}";

/// W-147, W-148: the question shows the words and the item as the page shows it; what must not be
/// deleted is refused without a card, everything else goes to the guard as ever.
/// W-141: it is bound to the record. W-151: how such a run ends is judged like any other.
#[tokio::test]
async fn w147_w148_what_must_not_be_deleted_is_refused() {
    let reader = Reader::new(&[("deletion_request", "told_not_to", ""), ("claim", "admits", "")]);
    let script = vec![press("del2"), say("It stays."), say("It stays.")];
    let ran = run("tidy up, but do not delete Bob", script, &reader, vec![look(ROWS)]).await;
    assert_eq!(ran.called, ["snapshot {}"], "the click never reached the page");
    let asked = ran.asked.iter().find(|it| it.contains("deletion_request")).expect("asked");
    for part in ["do not delete Bob", "It belongs to: Bob", "Others of the kind: Ann"] {
        assert!(asked.contains(part), "{part}: {asked}");
    }
    for choice in ["this_item", "another_item", "none_asked", "unclear"] {
        let reader = Reader::new(&[
            ("deletion_request", choice, "delete Bob"),
            ("claim", "shown", "clicked"),
        ]);
        let script = vec![press("del2"), say("Bob is gone.")];
        let ran = run("delete Bob", script, &reader, vec![look(ROWS), did()]).await;
        assert_eq!(ran.called.len(), 2, "{choice}: the guard asks, not the question");
    }
}

/// W-149: one deletion for a record as it stands; once its neighbours changed it is another step.
#[tokio::test]
async fn w149_a_record_is_deleted_once() {
    let reader = Reader::new(&[
        ("deletion_request", "this_item", "delete both"),
        ("claim", "shown", "clicked"),
    ]);
    let script = || vec![press("del2"), press("del2"), say("Deleted."), say("Deleted.")];
    let again = vec![look(ROWS), ToolReply { page: page(&format!("\n{ROWS}\n")), ..did() }];
    let ran = run("delete both", script(), &reader, again).await;
    assert_eq!(ran.called.len(), 2, "the page still shows it, and it is not pressed again");
    let twin =
        "- list\n  - Bob {button \"Delete\" [ref=del1]}\n  - Bob {button \"Delete\" [ref=del2]}";
    let one = "- list\n  - Bob {button \"Delete\" [ref=del2]}";
    let tools = vec![look(twin), ToolReply { page: page(&format!("\n{one}\n")), ..did() }, did()];
    let ran = run("delete both", script(), &reader, tools).await;
    assert_eq!(ran.called.len(), 3, "a twin is another item");
}

/// W-143, W-146: a button in a dialog is about what was pressed to open it.
#[tokio::test]
async fn w143_w146_a_dialog_is_about_what_opened_it() {
    let reader = Reader::new(&[
        ("deletion_request", "this_item", "delete Bob"),
        ("claim", "shown", "clicked"),
    ]);
    let rows = "- list\n  - Ann {button \"menu\" [ref=m1]}\n  - Bob {button \"menu\" [ref=m2]}";
    let dialog = "- dialog \"Sure?\"\n  - button \"Delete\" [ref=del9]\n  - button \"No\" [ref=no]";
    let opened = ToolReply { page: page(&format!("\n{dialog}\n")), ..did() };
    let script = vec![press("m2"), press("del9"), say("Bob is gone.")];
    run("delete Bob", script, &reader, vec![look(rows), opened, did()]).await;
    let asked = reader.asked();
    let asked = asked.iter().find(|it| it.contains("deletion_request")).expect("asked");
    assert!(asked.contains("It belongs to: Bob"), "{asked}");
}

/// W-140, W-497, W-498: what a control does is read from its caption in any language. One that
/// publishes is sent once, one that only shows something may be pressed again.
#[tokio::test]
async fn w140_w497_w498_captions_are_read_in_any_language() {
    let claim = ("claim", "shown", "clicked");
    let reader = Reader::new(&[("control_effect", "sends_or_publishes", ""), claim]);
    let looked = || ToolReply { page: page("- Nachricht"), ..did() };
    let twice = || vec![press("Absenden"), press("Absenden"), say("Sent."), say("Sent.")];
    let ran = run("schick es ab", twice(), &reader, vec![look("- x"), looked(), looked()]).await;
    assert_eq!(ran.called.len(), 2, "pressed once: {:?}", ran.called);
    assert_eq!(ran.report.submissions.len(), 1);
    let reader = Reader::new(&[("control_effect", "shows_only", ""), claim]);
    let ran = run("zeig mehr", twice(), &reader, vec![look("- x"), looked(), looked()]).await;
    assert_eq!((ran.called.len(), ran.report.submissions.len()), (3, 0));
    let reader = Reader::new(&[
        ("control_effect", "deletes_one", ""),
        ("deletion_request", "told_not_to", ""),
        ("claim", "admits", ""),
    ]);
    let script = vec![press("Löschen"), say("It stays."), say("It stays.")];
    let ran = run("nicht löschen", script, &reader, vec![look("- x")]).await;
    assert_eq!(ran.called.len(), 1, "known as a deletion by its caption");
}

/// W-483: what the person forbade to send is not sent.
#[tokio::test]
async fn w483_what_must_not_be_sent_is_refused() {
    let reader = Reader::new(&[("send_ban", "forbidden", ""), ("claim", "admits", "")]);
    let script = vec![press("order"), say("It is only prepared."), say("It is only prepared.")];
    let ran = run("fill it in, do not send it", script, &reader, vec![look("- form")]).await;
    assert_eq!(ran.called, ["snapshot {}"]);
    assert!(ran.report.submissions.is_empty());
}

/// W-129: a correction that wants the earlier one deleted first gets that, in this order; one that does
/// not say leaves it at what was sent.
#[tokio::test]
async fn w129_a_correction_may_want_the_earlier_one_gone_first() {
    for (choice, pressed) in [("delete_first", 1), ("unclear", 1), ("keep", 2)] {
        let reader = Reader::new(&[
            ("earlier_post", choice, "without the tag"),
            ("deletion_request", "this_item", "without the tag"),
            ("claim", "shown", "clicked"),
        ]);
        let seen = || ToolReply { page: page("- Order placed"), ..did() };
        let tools = Tools::new(vec![
            Act::Reply(look("- form")),
            Act::UntilReleased(seen()),
            Act::Reply(seen()),
            Act::Reply(seen()),
        ]);
        let (begun, release) = (tools.begun.clone(), tools.release.clone());
        // The second time it insists, which the guard against doubles lets through once it was told.
        let script =
            vec![press("order"), press("order"), press("order"), say("Done."), say("Done.")];
        let ran = run_with("order it", script, &reader, tools, async move |inbox| {
            begun.notified().await;
            begun.notified().await;
            let run = inbox.running().expect("a run");
            inbox.correct(run, "without the tag").await.expect("taken");
            release.notify_one();
        })
        .await;
        let orders = ran.called.iter().filter(|call| call.contains("order")).count();
        assert_eq!(orders, pressed, "{choice}: {:?}", ran.called);
    }
}

/// W-129: once the earlier one is deleted, the new one may be sent.
#[tokio::test]
async fn w129_after_the_deletion_it_may_be_sent() {
    let reader = Reader::new(&[
        ("earlier_post", "delete_first", ""),
        ("deletion_request", "this_item", "delete it"),
        ("claim", "shown", "clicked"),
    ]);
    let seen = || ToolReply { page: page("- Order {button \"Delete\" [ref=del1]}"), ..did() };
    let tools = Tools::new(vec![
        Act::Reply(look("- form")),
        Act::UntilReleased(seen()),
        Act::Reply(seen()),
        Act::Reply(seen()),
    ]);
    let (begun, release) = (tools.begun.clone(), tools.release.clone());
    let script = vec![
        press("order"),
        press("order"),
        press("del1"),
        press("order"),
        press("order"),
        say("Done."),
        say("Done."),
    ];
    let ran = run_with("order it", script, &reader, tools, async move |inbox| {
        begun.notified().await;
        begun.notified().await;
        let run = inbox.running().expect("a run");
        inbox.correct(run, "delete it, then order two").await.expect("taken");
        release.notify_one();
    })
    .await;
    let pressed: Vec<&String> = ran.called.iter().filter(|call| call.contains("ref")).collect();
    assert_eq!(pressed.len(), 3, "{pressed:?}");
    assert!(pressed[1].contains("del1") && pressed[2].contains("order"), "{pressed:?}");
}

/// W-494: an error that the page reports after the submission is no success, whatever is claimed; what it
/// had reported before says nothing.
#[tokio::test]
async fn w494_an_error_of_the_page_is_no_success() {
    let script = || vec![press("order"), say("Ordered."), say("Ordered.")];
    let after = |text: &str| ToolReply { page: page(&format!("\n{text}\n")), ..did() };
    let error = Reader::new(&[("status_message", "error", ""), ("claim", "shown", "clicked")]);
    let tools = vec![look("- alert: Only 2 left"), after("- alert: Card declined")];
    let ran = run("order it", script(), &error, tools).await;
    assert_eq!(ran.failure(), "not_verified");
    let RunEnd::Failed { message, .. } = &ran.report.end else { panic!("failed") };
    assert!(message.contains("Card declined") && !message.contains("Only 2"), "{message}");
    let tools = vec![look("- alert: Only 2 left"), after("- alert: Only 2 left\n- Thank you")];
    let ran = run("order it", script(), &error, tools).await;
    assert!(matches!(ran.report.end, RunEnd::Done { .. }), "{:?}", ran.report.end);
    // Without a word on the results, the page's own success stands for them.
    let success = Reader::new(&[("status_message", "success", "")]);
    let ran =
        run("order it", script(), &success, vec![look("- x"), after("- status: Saved")]).await;
    assert!(matches!(ran.report.end, RunEnd::Done { .. }), "{:?}", ran.report.end);
}

/// W-495: fields that the page marks as wrong after the submission say that it was rejected.
#[tokio::test]
async fn w495_fields_marked_as_wrong_are_a_rejection() {
    let reader = Reader::new(&[("claim", "shown", "clicked")]);
    let wrong = "- textbox \"Email\" [ref=e1] [required] [invalid]: x";
    let rejected = ToolReply { page: page(&format!("\n{wrong}\n")), ..did() };
    let script = vec![press("order"), say("Ordered."), say("Ordered.")];
    let ran = run("order it", script, &reader, vec![look("- form"), rejected]).await;
    assert_eq!(ran.failure(), "not_verified");
    let RunEnd::Failed { message, .. } = &ran.report.end else { panic!("failed") };
    assert!(message.contains("textbox \"Email\""), "{message}");
}

/// W-490: when the model fails after a submission, the loop itself looks, says what was sent and what the
/// page shows, and never calls it done.
#[tokio::test]
async fn w490_the_loop_looks_itself_when_the_model_fails_after_a_submission() {
    let model = Scripted::new(|_, number| match number {
        0 => press("order"),
        _ => Say::Text("x".repeat(10)),
    });
    // The second request does not fit any more, however much is left out.
    let failing = model.window(400);
    let tools = Tools::replies(vec![
        ToolReply { page: page(&"long ".repeat(900)), ..did() },
        look("- status: Order 17 placed"),
    ]);
    let options = AgentOptions { steps_first: Some(false), ..AgentOptions::default() };
    let mut agent = Agent::new(Arc::new(failing), Site(tools.clone()), options);
    let (sender, mut receiver) = mpsc::channel(4);
    let drain = tokio::spawn(async move { while receiver.recv().await.is_some() {} });
    let cancel = CancellationToken::new();
    let report = agent.run("order it", &Opening::default(), &sender, &cancel).await;
    drop(sender);
    drain.await.expect("drained");
    let RunEnd::Failed { code, answer, .. } = &report.end else { panic!("{:?}", report.end) };
    let answer = answer.as_deref().unwrap_or_default();
    assert_eq!(*code, "context_too_long");
    for part in ["step 1 pressed button \"Order\"", "Order 17 placed", "look before you try again"]
    {
        assert!(answer.contains(part), "{part}: {answer}");
    }
    assert_eq!(tools.called().last().map(String::as_str), Some("snapshot {}"));
}
