//! Modes, plans and judged answers in whole runs: scripted models over real HTTP, tools in memory.

#![expect(clippy::expect_used, reason = "tests")]

mod support;

use futures_util::future::{BoxFuture, FutureExt, ready};
use reins_agent::plan::{PlanCard, PlanSetting, Unanswered};
use reins_agent::{
    Agent, AgentEvent, AgentOptions, Clarification, JudgeSetting, MindOptions, Mode, ModeChoice,
    Opening, Person, Reviewed, RunEnd, ToolReply,
};
use reins_core::TurnEvent;
use reins_models::testing::{Answer, ModelServer};
use reins_models::{CUSTOM, Endpoint, Http, ModelClient};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use support::{Ran, Tools, click, page, unknown};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// A person with prepared answers, who notes what they were shown.
#[derive(Default)]
struct Someone {
    reviews: Mutex<Vec<Reviewed>>,
    answers: Mutex<Vec<String>>,
    shown: Mutex<Vec<String>>,
}

impl Someone {
    fn shown(&self) -> Vec<String> {
        self.shown.lock().expect("shown").clone()
    }
}

impl Person for Someone {
    fn review<'a>(&'a self, card: &'a PlanCard) -> BoxFuture<'a, Reviewed> {
        self.shown.lock().expect("shown").push(card.text());
        ready(self.reviews.lock().expect("reviews").pop().unwrap_or(Reviewed::Unanswered)).boxed()
    }

    fn clarify<'a>(&'a self, question: &'a Clarification) -> BoxFuture<'a, Option<String>> {
        self.shown.lock().expect("shown").push(question.question.clone());
        ready(self.answers.lock().expect("answers").pop()).boxed()
    }
}

/// A run of "buy it" with one look at the page before it.
async fn run(mind: MindOptions, script: Vec<Answer>, tools: Tools) -> Ran {
    let server = ModelServer::start(script).await.expect("server");
    let endpoint = Endpoint::at(&CUSTOM, &server.base(), None).expect("endpoint");
    let model = ModelClient::new(&Http::new(None).expect("http"), endpoint, "m");
    let options = AgentOptions { steps_first: Some(false), ..AgentOptions::default() };
    let mut agent = Agent::new(Arc::new(model), tools.clone(), options).with_mind(mind);
    let (sender, mut receiver) = mpsc::channel(4);
    let collect = tokio::spawn(async move {
        let mut events = Vec::new();
        while let Some(event) = receiver.recv().await {
            events.push(event);
        }
        events
    });
    let opening = Opening { calls: vec![("snapshot".to_owned(), json!({}))] };
    let report = agent.run("buy it", &opening, &sender, &CancellationToken::new()).await;
    drop(sender);
    Ran { report, events: collect.await.expect("events"), server, tools }
}

fn look(text: &str) -> ToolReply {
    ToolReply { page: page(text), ..ToolReply::text("") }
}

fn did(text: &str) -> ToolReply {
    ToolReply { changed: Some(true), ..ToolReply::text(text) }
}

fn picked(mode: Mode) -> MindOptions {
    MindOptions { mode: ModeChoice::Picked(mode), ..MindOptions::default() }
}

fn auto() -> MindOptions {
    MindOptions { mode: ModeChoice::Auto, ..MindOptions::default() }
}

/// What the words were read as.
fn read_as(mode: &str, need: &str, sure: f64) -> Answer {
    let entry = |choice: &str| json!({"because": "buy it", "choice": choice, "sure": sure});
    Answer::text(&json!({"q01": entry(mode), "q02": entry(need)}).to_string())
}

fn plan(action: &str, steps: &[&str]) -> Answer {
    let plan = json!({
        "action": action, "summary": "Buy the mug", "steps": steps, "risks": ["It costs money"],
        "memory": "none", "items": [], "question": "Which mug?", "recipient": "",
    });
    Answer::text(&plan.to_string())
}

fn tools_of(ran: &Ran, request: usize) -> Vec<String> {
    let tools = ran.server.seen()[request].body["tools"].clone();
    let name = |tool: &Value| tool["function"]["name"].as_str().unwrap_or_default().to_owned();
    tools.as_array().into_iter().flatten().map(name).collect()
}

fn notices(ran: &Ran) -> String {
    let notice = |event: &AgentEvent| match event {
        AgentEvent::Notice(text) => Some(format!("{text}\n")),
        _ => None,
    };
    ran.events.iter().filter_map(notice).collect()
}

/// W-020, W-093: in a run that only reads no acting tool is offered, and none is accepted.
#[tokio::test]
async fn w020_reading_offers_and_accepts_no_act() {
    let answer = || Answer::text("It is a shop: 3 mugs.");
    let script = vec![click("e1"), answer(), answer()];
    let ran = run(picked(Mode::Ask), script, Tools::replies(vec![look("shop")])).await;
    assert_eq!(tools_of(&ran, 0), ["snapshot"]);
    assert_eq!(ran.tools.called(), ["snapshot {}"], "the click came to nothing");
    assert!(ran.asked(0)[0].contains("This run only reads"), "{:?}", ran.asked(0));
    assert_eq!(ran.answer(), "It is a shop: 3 mugs.");
}

/// W-033, W-037, W-040, W-041: the mode is read from the words alone, with the need of a plan in the same
/// request; its tools replace those of the set-up before.
#[tokio::test]
async fn w037_w040_the_mode_is_read_from_the_words_alone() {
    let script = vec![read_as("act", "direct", 0.95), click("e1"), Answer::text("Bought.")];
    let ran = run(auto(), script, Tools::replies(vec![look("shop of evil"), did("clicked")])).await;
    assert_eq!(ran.answer(), "Bought.");
    let question = ran.server.seen()[0].body.to_string();
    assert!(question.contains("buy it") && question.contains("plan_need"));
    assert!(!question.contains("evil"), "nothing of the page: {question}");
    assert_eq!(tools_of(&ran, 1), ["click", "type", "snapshot"]);
    assert!(notices(&ran).contains("mode act"), "{}", notices(&ran));
    assert_eq!(ran.report.requests, 3, "the question is on the bill");
}

/// W-039, W-042, W-043, W-045, W-049, W-050: without a sure answer the run reads; the model asks for more with the
/// person's own words, and then the request begins again, without what was read on the way.
#[tokio::test]
async fn w042_w049_reading_hands_over_to_acting() {
    let ask = Answer::calls(&[("request_action_mode", json!({"evidence": "buy it"}))]);
    let script = vec![
        read_as("act", "plan", 0.5),
        ask,
        read_as("act", "plan", 0.95),
        click("e1"),
        Answer::text("Bought."),
    ];
    let tools = Tools::replies(vec![look("first look"), look("second look"), did("clicked")]);
    let ran = run(auto(), script, tools).await;
    assert_eq!(ran.answer(), "Bought.");
    assert_eq!(tools_of(&ran, 1), ["snapshot", "request_action_mode"]);
    assert!(ran.asked(1)[0].contains("call request_action_mode"), "{:?}", ran.asked(1));
    assert_eq!(tools_of(&ran, 3), ["click", "type", "snapshot"]);
    let asked = ran.asked(3);
    assert_eq!(asked.len(), 2, "it begins again: {asked:?}");
    assert!(asked[1].contains("second look") && !asked[0].contains("only reads"), "{asked:?}");
}

/// W-045, W-051: words of a page are no evidence, and after two refusals the tool is gone.
#[tokio::test]
async fn w045_w051_other_evidence_is_refused() {
    let ask =
        |evidence: &str| Answer::calls(&[("request_action_mode", json!({"evidence": evidence}))]);
    let script = vec![
        read_as("ask", "unclear", 0.5),
        ask("the user agrees to buy everything"),
        ask("buy it"),
        read_as("ask", "unclear", 0.9),
        Answer::text("It costs 20 euros."),
    ];
    let ran = run(auto(), script, Tools::replies(vec![look("shop")])).await;
    assert_eq!(ran.answer(), "It costs 20 euros.");
    assert!(ran.asked(2).join("\n").contains("letter by letter"), "{:?}", ran.asked(2));
    assert!(ran.asked(4).join("\n").contains("do not clearly ask"), "{:?}", ran.asked(4));
    assert_eq!(tools_of(&ran, 2), ["snapshot", "request_action_mode"]);
    assert_eq!(tools_of(&ran, 4), ["snapshot"]);
    assert_eq!(ran.tools.called(), ["snapshot {}"]);
}

fn strict(reviews: Vec<Reviewed>) -> (Arc<Someone>, MindOptions) {
    let person = Arc::new(Someone { reviews: Mutex::new(reviews), ..Someone::default() });
    let mind =
        MindOptions { plan: PlanSetting::Strict, person: person.clone(), ..MindOptions::default() };
    (person, mind)
}

/// W-234, W-247: a strict plan is shown first; an approved or edited one stays with the task.
/// W-245: both are told the mode.
#[tokio::test]
async fn w247_a_strict_plan_runs_as_the_person_left_it() {
    let edited = "Buy the green mug\n 1. Press Go".to_owned();
    for (review, expected) in [
        (
            Reviewed::Approved,
            "Plan: Buy the mug\n1. Open it\n2. Press Go\nTake care: It costs money",
        ),
        (
            Reviewed::Edited(edited),
            "Plan, as the user changed it:\nBuy the green mug\n 1. Press Go",
        ),
    ] {
        let (person, mind) = strict(vec![review]);
        let script =
            vec![plan("execute", &["Open it", "Press Go"]), click("e1"), Answer::text("Bought.")];
        let ran = run(mind, script, Tools::replies(vec![look("shop"), did("clicked")])).await;
        assert_eq!(ran.answer(), "Bought.");
        assert_eq!(person.shown().len(), 1);
        assert!(
            ran.asked(1)[1].contains(&format!("Task: buy it\n\n{expected}")),
            "{:?}",
            ran.asked(1)
        );
        assert!(tools_of(&ran, 1).contains(&"clarify".to_owned()));
        // W-245: planner and run are told the mode once, where no page can say otherwise.
        assert!(ran.asked(0).join("\n").contains("Mode: act"), "{:?}", ran.asked(0));
        assert!(ran.asked(1)[0].contains("This run may act in pages"), "{:?}", ran.asked(1)[0]);
    }
}

/// W-247: what nobody agreed to does not run, unless the person chose otherwise beforehand.
/// W-248: who cannot be asked may say beforehand that the plan runs, and it is pinned without a
/// card's answer.
#[tokio::test]
async fn w247_an_unanswered_or_rejected_plan_runs_no_tool() {
    for (reviews, code) in
        [(vec![], "plan_unanswered"), (vec![Reviewed::Rejected], "plan_rejected")]
    {
        let (_, mind) = strict(reviews);
        let ran = run(mind, vec![plan("execute", &["Press Go"])], Tools::default()).await;
        assert_eq!((ran.failure(), ran.tools.called().len()), (code, 0));
    }
    let (_, mind) = strict(vec![]);
    let mind = MindOptions { unanswered: Unanswered::Run, ..mind };
    let script = vec![plan("execute", &["Press Go"]), click("e1"), Answer::text("Bought.")];
    let ran = run(mind, script, Tools::replies(vec![look("shop"), did("clicked")])).await;
    assert_eq!(ran.answer(), "Bought.");
}

/// W-246: what is no plan is sent back once. Then a strict run ends, and another one only reads.
#[tokio::test]
async fn w246_no_plan_permits_nothing() {
    let broken = || Answer::text("I would click around.");
    let (_, mind) = strict(vec![Reviewed::Approved]);
    let script =
        vec![broken(), plan("execute", &["Press Go"]), click("e1"), Answer::text("Bought.")];
    let ran = run(mind, script, Tools::replies(vec![look("shop"), did("clicked")])).await;
    assert_eq!(ran.answer(), "Bought.");
    assert!(ran.asked(1).join("\n").contains("cannot be used"), "{:?}", ran.asked(1));
    let (_, mind) = strict(vec![Reviewed::Approved]);
    let ran = run(mind, vec![broken(), broken()], Tools::default()).await;
    assert_eq!((ran.failure(), ran.tools.called().len()), ("no_plan", 0));
    let mind = MindOptions { plan: PlanSetting::Try, ..MindOptions::default() };
    let script = vec![broken(), broken(), Answer::text("It is a shop with 3 mugs.")];
    let ran = run(mind, script, Tools::replies(vec![look("shop")])).await;
    assert_eq!(tools_of(&ran, 2), ["snapshot"]);
    assert!(notices(&ran).contains("only reads"), "{}", notices(&ran));
}

/// W-232: a task that is surely direct is asked for its intent only.
#[tokio::test]
async fn w232_a_direct_task_needs_no_steps() {
    let mind = MindOptions { plan: PlanSetting::Try, ..auto() };
    let script = vec![
        read_as("act", "direct", 0.95),
        plan("execute", &[]),
        click("e1"),
        Answer::text("Bought."),
    ];
    let ran = run(mind, script, Tools::replies(vec![look("shop"), did("clicked")])).await;
    assert_eq!(ran.answer(), "Bought.");
    let schema = ran.server.seen()[1].body["response_format"]["json_schema"]["schema"].clone();
    assert!(schema["properties"]["risks"].is_null(), "{schema}");
    assert!(ran.asked(2)[1].contains("Plan: Buy the mug"), "{:?}", ran.asked(2));
}

/// W-250, W-251: what the plan lacks is asked once; without an answer nothing runs.
#[tokio::test]
async fn w251_the_planner_asks_for_what_is_missing() {
    let person =
        Someone { answers: Mutex::new(vec!["the blue one".to_owned()]), ..Someone::default() };
    let person = Arc::new(person);
    let mind =
        MindOptions { plan: PlanSetting::Try, person: person.clone(), ..MindOptions::default() };
    let script = vec![
        plan("clarify", &[]),
        plan("execute", &["Press Go"]),
        click("e1"),
        Answer::text("Bought."),
    ];
    let ran = run(mind, script, Tools::replies(vec![look("shop"), did("clicked")])).await;
    assert_eq!((ran.answer(), person.shown()), ("Bought.", vec!["Which mug?".to_owned()]));
    assert!(ran.asked(1).join("\n").contains("The user answered: the blue one"));
    let mind = MindOptions { plan: PlanSetting::Try, ..MindOptions::default() };
    let ran = run(mind, vec![plan("clarify", &[])], Tools::default()).await;
    assert_eq!((ran.failure(), ran.tools.called().len()), ("needs_answer", 0));
    let mind = MindOptions { plan: PlanSetting::Try, ..MindOptions::default() };
    let ran = run(mind, vec![plan("plan_only", &["Press Go"])], Tools::default()).await;
    assert!(ran.answer().contains("1. Press Go") && ran.tools.called().is_empty());
}

/// W-485, W-487: a list is told thing by thing, and what is open at the end makes a part.
#[tokio::test]
async fn w487_an_open_list_is_no_whole_success() {
    let list = json!({
        "action": "execute", "summary": "Follow both", "steps": ["Follow each"], "risks": [],
        "memory": "list", "items": ["Ann", "Bob"], "question": "", "recipient": "",
    });
    let progress = |item: &str, status: &str| {
        Answer::calls(&[("progress", json!({"item": item, "status": status}))])
    };
    let mind = || MindOptions {
        plan: PlanSetting::Try,
        judge: JudgeSetting::Checks,
        ..MindOptions::default()
    };
    let start = || vec![Answer::text(&list.to_string()), click("e1"), progress("Ann", "done")];
    let tools = || Tools::replies(vec![look("shop"), did("followed"), did("followed")]);
    let mut script = start();
    script.extend([
        Answer::text("Both followed."),
        click("e2"),
        progress("Bob", "done"),
        Answer::text("Both followed."),
    ]);
    let ran = run(mind(), script, tools()).await;
    assert_eq!(ran.answer(), "Both followed.");
    assert!(ran.asked(4).join("\n").contains("nothing was told about one thing on the list: Bob"));
    let mut script = start();
    let both = || Answer::text("Both followed.");
    script.extend([both(), progress("Bob", "done"), both(), both()]);
    let ran = run(mind(), script, tools()).await;
    assert_eq!(ran.failure(), "partly_done", "nothing worked for Bob");
}

/// W-489: what is claimed and was never seen is sent back once, and then told as not verified.
#[tokio::test]
async fn w489_claimed_and_never_seen_is_not_verified() {
    let checks = || MindOptions { judge: JudgeSetting::Checks, ..MindOptions::default() };
    let snapshot = || Answer::calls(&[("snapshot", json!({}))]);
    let script = vec![
        click("e1"),
        Answer::text("Bought."),
        Answer::text("Bought."),
        Answer::text("Bought."),
    ];
    let ran =
        run(checks(), script, Tools::replies(vec![look("shop"), did("clicked"), unknown()])).await;
    assert_eq!(ran.answer(), "Bought.", "a step that worked is enough for the checks");
    let script = || vec![click("e1"), click("e2"), Answer::text("Order 9912345 is placed.")];
    let tools =
        |last| Tools::replies(vec![look("shop"), did("clicked"), did("clicked"), look(last)]);
    let mut twice = script();
    twice.push(Answer::text("Order 9912345 is placed."));
    let ran = run(checks(), twice, tools("")).await;
    assert_eq!(ran.failure(), "not_verified");
    let RunEnd::Failed { message, answer, .. } = &ran.report.end else { panic!("failed") };
    assert!(message.contains("9912345") && answer.is_some(), "{message}");
    let mut looks = script();
    looks.extend([snapshot(), Answer::text("Order 9912345 is placed.")]);
    let ran = run(checks(), looks, tools("Your order: 9912345")).await;
    assert_eq!(ran.answer(), "Order 9912345 is placed.");
}

/// W-489: where a model judges, it has to quote the results; the answer's own words are no evidence.
#[tokio::test]
async fn w489_the_judge_quotes_results_and_not_the_answer() {
    let mind = || MindOptions { judge: JudgeSetting::Ask, ..MindOptions::default() };
    let verdict = |choice: &str, because: &str| {
        Answer::text(&json!({"because": because, "choice": choice, "sure": 0.95}).to_string())
    };
    let tools = || Tools::replies(vec![look("shop"), did("clicked the button"), look("Thank you")]);
    let start = || vec![click("e1"), Answer::text("The mug was ordered.")];
    let mut script = start();
    script.push(verdict("shown", "clicked the button"));
    let ran = run(mind(), script, tools()).await;
    assert_eq!(ran.answer(), "The mug was ordered.");
    let mut script = start();
    script.push(verdict("shown", "The mug was ordered"));
    let ran = run(mind(), script, tools()).await;
    assert_eq!(ran.answer(), "The mug was ordered.");
    assert!(notices(&ran).contains("nobody checked the answer"), "{}", notices(&ran));
    let mut script = start();
    script.extend([
        verdict("not_shown", ""),
        Answer::text("The mug was ordered."),
        verdict("contradicted", ""),
    ]);
    let ran = run(mind(), script, tools()).await;
    assert_eq!(ran.failure(), "not_verified");
    let mut script = start();
    script.push(verdict("admits", ""));
    assert_eq!(run(mind(), script, tools()).await.failure(), "said_not_done");
}

/// W-160, W-164: an answer that was given stands, whatever the page does meanwhile: nothing is asked about
/// it again.
#[tokio::test]
async fn w160_w164_a_finished_answer_stands_without_another_look() {
    let mind = MindOptions { judge: JudgeSetting::Ask, ..picked(Mode::Ask) };
    let answer = "It is a shop: 3 mugs, 20 euros each.";
    let ran = run(mind, vec![Answer::text(answer)], Tools::replies(vec![look("shop")])).await;
    assert_eq!((ran.answer(), ran.report.requests), (answer, 1));
    assert_eq!(ran.tools.called(), ["snapshot {}"]);
}

fn plan_for(recipient: &str) -> Answer {
    let plan = json!({
        "action": "execute", "summary": "Send it", "steps": ["Send"], "risks": [],
        "memory": "none", "items": [], "question": "", "recipient": recipient,
    });
    Answer::text(&plan.to_string())
}

/// W-252, W-253: after an answer to the planner's question a message goes to whom the person named or was
/// asked about, or to nobody.
#[tokio::test]
async fn w253_a_plan_after_an_answer_names_no_new_recipient() {
    for (recipient, runs) in [("Ann", true), ("ann", true), ("Mallory", false), ("", true)] {
        let person =
            Someone { answers: Mutex::new(vec!["to Ann".to_owned()]), ..Someone::default() };
        let mind = MindOptions {
            plan: PlanSetting::Try,
            person: Arc::new(person),
            ..MindOptions::default()
        };
        let mut script = vec![plan("clarify", &[]), plan_for(recipient)];
        script.extend([click("e1"), Answer::text("Sent.")]);
        let ran = run(mind, script, Tools::replies(vec![look("shop"), did("clicked")])).await;
        if runs {
            assert_eq!(ran.answer(), "Sent.", "{recipient}");
        } else {
            assert_eq!((ran.failure(), ran.tools.called().len()), ("needs_answer", 0));
        }
    }
}

/// W-357, W-761: a question waits for the person, and without an answer the safe way is taken, whatever it
/// was about.
#[tokio::test]
async fn w357_w761_a_question_without_an_answer_takes_the_safe_way() {
    let ask =
        || Answer::calls(&[("clarify", json!({"question": "Which card?", "choices": ["A", "B"]}))]);
    for (answers, told) in [
        (vec!["B".to_owned()], "The user answered: B"),
        (vec![], "Nobody answered. Take the safe way"),
    ] {
        let person = Arc::new(Someone { answers: Mutex::new(answers), ..Someone::default() });
        let mind = MindOptions {
            plan: PlanSetting::Try,
            person: person.clone(),
            ..MindOptions::default()
        };
        let script = vec![
            plan("execute", &["Press Go"]),
            ask(),
            click("e1"),
            Answer::text("Without the card."),
        ];
        let ran = run(mind, script, Tools::replies(vec![look("shop"), did("clicked")])).await;
        assert!(ran.asked(2).join("\n").contains(told), "{:?}", ran.asked(2));
        assert_eq!(person.shown(), ["Which card?"]);
    }
}

/// W-450: what a screen is told while a run goes on, in this order.
#[tokio::test]
async fn w450_a_run_tells_its_mode_plan_steps_words_and_cost() {
    let (_, mind) = strict(vec![Reviewed::Approved]);
    let mind = MindOptions { mode: ModeChoice::Auto, ..mind };
    let script = vec![
        read_as("act", "plan", 0.95),
        plan("execute", &["Press Go"]),
        click("e1"),
        Answer::text("Bought."),
    ];
    let ran = run(mind, script, Tools::replies(vec![look("shop"), did("clicked")])).await;
    let kind = |event: &AgentEvent| match event {
        AgentEvent::Mode(route) => Some(format!("mode {}", route.source.as_str())),
        AgentEvent::Plan(text) => Some(text.lines().next().unwrap_or_default().to_owned()),
        AgentEvent::Turn(TurnEvent::StepStarted { tool, .. }) => Some(format!("call {tool}")),
        AgentEvent::Turn(TurnEvent::StepFinished(_)) => Some("result".to_owned()),
        AgentEvent::Turn(TurnEvent::Summary(_)) => Some("summary".to_owned()),
        AgentEvent::Text(text) => Some(text.clone()),
        _ => None,
    };
    let told: Vec<String> = ran.events.iter().filter_map(kind).collect();
    let expected = [
        "call snapshot",
        "result",
        "mode routed",
        "Plan: Buy the mug",
        "call click",
        "result",
        "Bought.",
        "summary",
    ];
    assert_eq!(told, expected);
    assert!(ran.events.iter().any(|event| matches!(event, AgentEvent::Usage { .. })));
}
