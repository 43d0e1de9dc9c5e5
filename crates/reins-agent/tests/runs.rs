//! Whole runs: a scripted model server over real HTTP and a box of tools in memory.

#![expect(clippy::expect_used, reason = "tests")]

mod support;

use reins_agent::{Agent, AgentEvent, AgentOptions, Opening, RunEnd, ToolReply};
use reins_core::{RunState, TurnEvent};
use reins_models::testing::{Answer, ModelServer, Piece};
use reins_models::{CUSTOM, Endpoint, Http, ModelClient};
use serde_json::json;
use std::sync::Arc;
use support::{Act, Tools, click, declined, page, run, run_with, unknown};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// W-270: call, result, answer; text alone is the end.
#[tokio::test]
async fn r118_call_result_answer() {
    let ran = run(vec![click("[ref=e7]"), Answer::text("Bought.")], Tools::default()).await;
    assert_eq!(ran.answer(), "Bought.");
    assert_eq!(ran.tools.called(), ["click {\"ref\":\"e7\"}"], "the ref is put right");
    let asked = ran.asked(1);
    assert!(asked[0].starts_with("system: You use a web browser"));
    assert_eq!(
        asked[1..],
        ["user: Task: buy it", "assistant: null", "tool: did click {\"ref\":\"e7\"}"]
    );
    assert_eq!(ran.shown(), "Bought.");
    assert_eq!(
        (ran.report.requests, ran.report.summary.steps, ran.report.summary.failures),
        (2, 1, 0)
    );
    assert_eq!(
        (ran.report.usage.input, ran.report.usage.cached, ran.report.usage.output),
        (200, 120, 20)
    );
    assert_eq!(ran.report.cost.map(|cost| cost.0), Some(0), "a server on this machine is free");
    assert_eq!(ran.last_state(), RunState::Done);
}

/// R-198, R-199: what the person sees of a step.
#[tokio::test]
async fn r198_r199_steps_are_told_with_secrets_taken_out() {
    let script = vec![
        Answer::calls(&[("type", json!({"ref": "e1", "text": "hunter2"}))]),
        Answer::text("Typed."),
    ];
    let reply = ToolReply {
        verdict: "allowed: named site".to_owned(),
        approved: Some(true),
        page: page(&"x".repeat(5000)),
        ..ToolReply::text("typed")
    };
    let ran = run(script, Tools::replies(vec![reply])).await;
    let started = ran.events.iter().find_map(|event| match event {
        AgentEvent::Turn(TurnEvent::StepStarted { tool, arguments, element, .. }) => {
            Some((tool.clone(), arguments.clone(), element.clone()))
        }
        _ => None,
    });
    let (tool, arguments, element) = started.expect("a started step");
    assert_eq!((tool.as_str(), element.as_deref()), ("type", Some("button \"Go\"")));
    assert!(arguments.contains("[redacted]") && !format!("{:?}", ran.events).contains("hunter2"));
    let finish = ran.events.iter().find_map(|event| match event {
        AgentEvent::Turn(TurnEvent::StepFinished(finish)) => Some(finish.clone()),
        _ => None,
    });
    let finish = finish.expect("a finished step");
    assert_eq!((finish.verdict.as_str(), finish.approved), ("allowed: named site", Some(true)));
    assert_eq!(finish.result.len(), 2000);
    assert_eq!(ran.report.summary.confirmations, 1);
}

/// R-048: the page stands once in what is sent, as it is now.
#[tokio::test]
async fn r048_the_first_request_already_shows_the_page_and_a_newer_page_replaces_it() {
    let opening = Opening { calls: vec![("snapshot".to_owned(), json!({}))] };
    let first = ToolReply { page: page("first"), ..ToolReply::text("") };
    let second = ToolReply { page: page("second"), ..ToolReply::text("clicked") };
    let tools = Tools::replies(vec![first, second]);
    let script = vec![click("e1"), Answer::text("Seen.")];
    let ran = run_with(script, tools, opening, CancellationToken::new(), async |_, _| {}).await;
    assert_eq!(ran.asked(0)[1], "user: Task: buy it\n<page>first</page>");
    let later = ran.asked(1);
    assert_eq!(later[1], "user: Task: buy it\n(The page as it was then is left out.)");
    assert_eq!(later[3], "tool: clicked\n<page>second</page>");
    assert_eq!(ran.report.summary.steps, 1, "an opening is no step of the model");
}

/// A batch runs in order; after a failure or a new page the rest is skipped, and the model is told.
#[tokio::test]
async fn batches_end_at_a_failure_and_at_a_new_page() {
    let batch = || {
        Answer::calls(&[
            ("click", json!({"ref": "e1"})),
            ("click", json!({"ref": "e2"})),
            ("click", json!({"ref": "e3"})),
        ])
    };
    let ran = run(vec![batch(), Answer::text("All.")], Tools::default()).await;
    assert_eq!(ran.tools.called().len(), 3);
    for (reply, reason) in [
        (ToolReply::error("covered by a banner"), "the step before it did not work"),
        (ToolReply { moved: true, ..ToolReply::text("went on") }, "led to a new page"),
        (declined(), "the user said no"),
        (unknown(), "nobody knows whether"),
    ] {
        let tools = Tools::replies(vec![ToolReply::text("ok"), reply]);
        let ran = run(vec![batch(), Answer::text("So."), Answer::text("So.")], tools).await;
        assert_eq!(ran.tools.called().len(), 2, "{reason}");
        let asked = ran.asked(1);
        let last = asked.last().expect("a result");
        assert!(last.starts_with("tool: Not done: ") && last.contains(reason), "{last}");
        assert_eq!(ran.report.summary.steps, 2, "what was skipped is no step");
    }
}

#[tokio::test]
async fn what_the_person_declined_stays_declined() {
    let tools = Tools::replies(vec![ToolReply::text("ok"), declined()]);
    let script = vec![click("e1"), click("e2"), click("e2"), Answer::text("Without it.")];
    let ran = run([script, vec![Answer::text("Without it.")]].concat(), tools).await;
    assert_eq!(ran.tools.called().len(), 2, "not asked a second time");
    let asked = ran.asked(2);
    assert!(asked.last().expect("result").contains("Do not try it again"), "{asked:?}");
    assert!(ran.asked(3).last().expect("result").contains("already said no to exactly this"));
    assert_eq!(ran.report.summary.confirmations, 1);
    assert!(ran.finished()[1].starts_with("refused: "));
}

/// An unknown outcome is never repeated before somebody looked.
#[tokio::test]
async fn what_nobody_knows_is_looked_at_first() {
    let script = vec![
        click("e1"),
        click("e1"),
        Answer::calls(&[("snapshot", json!({}))]),
        click("e1"),
        Answer::text("Clicked."),
    ];
    let ran = run(script, Tools::replies(vec![unknown()])).await;
    assert_eq!(
        ran.tools.called(),
        ["click {\"ref\":\"e1\"}", "snapshot {}", "click {\"ref\":\"e1\"}"]
    );
    assert!(ran.asked(1).last().expect("result").contains("It may or may not have happened"));
    assert!(ran.asked(2).last().expect("result").contains("Look at the page first"));
    assert!(ran.finished()[0].starts_with("unknown: "));
    assert_eq!(ran.answer(), "Clicked.");
}

#[tokio::test]
async fn malformed_calls_are_told_with_an_example() {
    let script = vec![
        Answer::raw_calls(&[("click", "click e1 please")]),
        Answer::raw_calls(&[("click", "")]),
        Answer::raw_calls(&[("press_button", "{}")]),
        Answer::raw_calls(&[("functions.CLICK", "{'element': '[ref=e1]',}")]),
        Answer::text("Clicked."),
    ];
    let ran = run(script, Tools::default()).await;
    assert_eq!(ran.tools.called(), ["click {\"ref\":\"e1\"}"]);
    let results: Vec<_> = (1..4).map(|n| ran.asked(n).last().expect("result").clone()).collect();
    assert!(results[0].contains("not valid JSON. Call click like this: {\"ref\":\"e12\"}"));
    assert!(results[1].contains("\"ref\" is missing"));
    assert!(
        results[2].contains("There is no tool \"press_button\". Tools: click, type, snapshot.")
    );
    assert_eq!((ran.report.summary.steps, ran.report.summary.failures), (4, 3));
    // What the model garbled goes back as nothing, because servers parse it.
    let body = &ran.server.seen()[1].body;
    assert_eq!(body["messages"][2]["tool_calls"][0]["function"]["arguments"], "{}");
}

/// W-680 in its first form: told, then stopped.
/// W-153: a run that the loop ends says what happened and what to do, not only its code.
#[tokio::test]
async fn going_in_circles_is_told_then_stopped() {
    let same =
        || ToolReply { changed: Some(false), page: page("same"), ..ToolReply::text("clicked") };
    let tools = Tools::replies((0..20).map(|_| same()).collect());
    let ran = run(vec![click("e1"); 20], tools).await;
    assert_eq!(ran.failure(), "going_in_circles");
    assert_eq!(ran.tools.called().len(), 11);
    assert!(ran.asked(1).last().expect("result").contains("Nothing on the page changed."));
    assert!(!ran.asked(2).last().expect("result").contains("several times"));
    assert!(ran.asked(3).last().expect("result").contains("several times with the same result"));
    let RunEnd::Failed { message, .. } = &ran.report.end else { panic!("failed") };
    assert!(message.split_whitespace().count() > 4 && !message.contains('{'), "{message}");
    assert_eq!(ran.last_state(), RunState::Error);
}

/// R-195: 25 calls, also when they come in one answer.
#[tokio::test]
async fn r195_the_limit_of_steps() {
    let many: Vec<_> = (0..30).map(|n| ("click", json!({"ref": format!("e{n}")}))).collect();
    let ran = run(vec![Answer::calls(&many)], Tools::default()).await;
    let RunEnd::StepLimit { so_far } = &ran.report.end else {
        panic!("{:?}", ran.report.end);
    };
    assert!(so_far.starts_with("The last steps:\n") && so_far.contains("did click"), "{so_far}");
    assert_eq!((ran.tools.called().len(), ran.report.summary.steps), (25, 25));
    assert_eq!(ran.last_state(), RunState::Stopped);
}

/// R-194: a stop while the model speaks ends the request.
#[tokio::test]
async fn r194_stop_while_the_model_speaks() {
    let cancel = CancellationToken::new();
    let script = vec![Answer::text("Let me").cut_after(1, Piece::Hang)];
    let stop = cancel.clone();
    let ran = run_with(script, Tools::default(), Opening::default(), cancel, async |server, _| {
        server.asked(1).await;
        stop.cancel();
        server.abandoned().await;
    })
    .await;
    assert_eq!(ran.report.end, RunEnd::Stopped);
    assert_eq!(ran.last_state(), RunState::Stopped);
}

/// R-194, R-202: a stop while a tool works; the tool's own truthful answer counts.
#[tokio::test]
async fn r194_stop_while_a_tool_works() {
    for (act, word) in [
        (Act::UntilStopped(ToolReply::text("clicked")), "completed"),
        (Act::UntilStopped(unknown()), "unknown"),
        (Act::Hang, "unknown"),
    ] {
        let cancel = CancellationToken::new();
        let stop = cancel.clone();
        let batch =
            Answer::calls(&[("click", json!({"ref": "e1"})), ("click", json!({"ref": "e2"}))]);
        let tools = Tools::new(vec![act]);
        let ran = run_with(vec![batch], tools, Opening::default(), cancel, async |_, tools| {
            tools.begun.notified().await;
            stop.cancel();
        })
        .await;
        assert_eq!(ran.report.end, RunEnd::Stopped);
        assert_eq!(ran.tools.called().len(), 1, "the rest is not begun");
        assert!(ran.finished()[0].starts_with(word), "{:?}", ran.finished());
        assert_eq!(ran.server.seen().len(), 1, "the model is not asked again");
    }
}

#[tokio::test]
async fn r194_stop_before_anything() {
    let cancel = CancellationToken::new();
    cancel.cancel();
    let opening = Opening { calls: vec![("snapshot".to_owned(), json!({}))] };
    let ran = run_with(vec![], Tools::default(), opening, cancel, async |_, _| {}).await;
    assert_eq!(ran.report.end, RunEnd::Stopped);
    assert!(ran.tools.called().is_empty() && ran.server.seen().is_empty());
}

#[tokio::test]
async fn a_server_that_dies_in_the_middle_of_a_run() {
    let broken = || Answer::text("half").cut_after(1, Piece::Cut);
    let ran = run(vec![click("e1"), broken(), broken()], Tools::default()).await;
    assert_eq!(ran.failure(), "malformed");
    let gone = Answer::json(401, &json!({"error": {"message": "key expired"}}));
    let ran = run(vec![click("e1"), gone], Tools::default()).await;
    assert_eq!(ran.failure(), "wrong_key");
    assert_eq!((ran.report.summary.steps, ran.report.requests), (1, 2));
}

#[tokio::test]
async fn what_was_shown_before_a_break_is_void() {
    let whole = json!({"choices": [{"message": {"content": "Whole."}, "finish_reason": "stop"}]});
    let broken = Answer::text("Half").cut_after(1, Piece::Cut);
    let ran = run(vec![broken, Answer::json(200, &whole)], Tools::default()).await;
    assert_eq!(ran.answer(), "Whole.");
    let void = ran.events.iter().position(|event| *event == AgentEvent::TextVoid).expect("void");
    let whole = ran.events.iter().position(|event| *event == AgentEvent::Text("Whole.".to_owned()));
    assert!(whole.expect("shown") > void);
}

/// R-201: if nothing that was tried worked, no claim makes it a success.
#[tokio::test]
async fn r201_a_claim_without_a_working_step_is_no_success() {
    let tools = Tools::replies(vec![ToolReply::error("covered by a banner")]);
    let script = vec![click("e1"), Answer::text("Bought!"), Answer::text("Bought, really!")];
    let ran = run(script, tools).await;
    assert_eq!(ran.failure(), "no_step_worked");
    let doubt = ran.asked(2);
    let doubt = doubt.last().expect("doubt");
    assert!(doubt.contains("Your last step did not work (click: covered by a banner)"), "{doubt}");
    assert_eq!(ran.last_state(), RunState::Error);
    assert!(ran.finished()[0].starts_with("refused: "), "past tense is for what worked (R-202)");
}

#[tokio::test]
async fn an_end_right_after_a_failed_step_is_doubted_once() {
    let tools = Tools::replies(vec![ToolReply::text("ok"), ToolReply::error("no such option")]);
    let script =
        vec![click("e1"), click("e2"), Answer::text("Done."), Answer::text("Only half is done.")];
    let ran = run(script, tools).await;
    assert_eq!(ran.answer(), "Only half is done.");
    // A look in between settles it.
    let tools = Tools::replies(vec![
        ToolReply::error("no"),
        ToolReply::text("ok"),
        ToolReply::text("seen"),
    ]);
    let look = Answer::calls(&[("snapshot", json!({}))]);
    let ran = run(vec![click("e1"), click("e2"), look, Answer::text("Done.")], tools).await;
    assert_eq!(ran.answer(), "Done.");
}

#[tokio::test]
async fn answers_without_words_are_asked_for_again_then_given_up() {
    let ran = run(vec![Answer::text(""), Answer::text("Hello.")], Tools::default()).await;
    assert_eq!(ran.answer(), "Hello.");
    let ran = run(vec![Answer::text(""); 3], Tools::default()).await;
    assert_eq!(ran.failure(), "no_answer");
    let cut = || Answer::chat(&[json!({"content": "blah"})], "length");
    let ran = run(vec![cut(), Answer::text("Short.")], Tools::default()).await;
    assert_eq!(ran.answer(), "Short.");
    let withheld = Answer::chat(&[json!({"content": ""})], "content_filter");
    assert_eq!(run(vec![withheld], Tools::default()).await.failure(), "withheld");
}

#[tokio::test]
async fn an_invented_tool_for_the_end_is_the_end() {
    let end = Answer::calls(&[("finish", json!({"answer": "All bought."}))]);
    let ran = run(vec![click("e1"), end], Tools::default()).await;
    assert_eq!(ran.answer(), "All bought.");
}

#[tokio::test]
async fn a_conversation_that_is_too_long_is_shortened_once() {
    let too_long = || {
        Answer::json(
            400,
            &json!({"error": {"code": "context_length_exceeded", "message": "too long"}}),
        )
    };
    let big = || ToolReply { page: page(&"x".repeat(3000)), ..ToolReply::text("y".repeat(3000)) };
    let tools = Tools::replies((0..8).map(|_| big()).collect());
    let clicks = (0..8).map(|n| click(&format!("e{n}"))).collect::<Vec<_>>();
    let ran = run([clicks, vec![too_long(), Answer::text("Done.")]].concat(), tools).await;
    assert_eq!(ran.answer(), "Done.");
    let size = |request: usize| ran.asked(request).concat().len();
    assert!(size(9) < size(8), "{} is shorter than {}", size(9), size(8));
    let ran = run(vec![too_long()], Tools::default()).await;
    assert_eq!(ran.failure(), "context_too_long");
}

/// R-032, R-033: a model that takes no tools still acts, by text.
#[tokio::test]
async fn r032_r033_a_model_without_tools_acts_by_text() {
    let refuses = Answer::json(400, &json!({"error": {"message": "m does not support tools"}}));
    let fenced = "```json\n{\"name\": \"click\", \"arguments\": {\"ref\": \"e1\"}}\n```";
    let ran =
        run(vec![refuses, Answer::text(fenced), Answer::text("Clicked.")], Tools::default()).await;
    assert_eq!(ran.answer(), "Clicked.");
    assert_eq!(ran.tools.called(), ["click {\"ref\":\"e1\"}"]);
    assert_eq!(ran.shown(), "Clicked.", "the call is not shown as text");
    let told = ran
        .events
        .iter()
        .any(|event| matches!(event, AgentEvent::Notice(text) if text.contains("takes no tools")));
    assert!(told);
    assert_eq!(ran.asked(2)[3], "user: Result of click:\ndid click {\"ref\":\"e1\"}");
}

#[tokio::test]
async fn a_second_run_continues_the_conversation() {
    let server =
        ModelServer::start(vec![Answer::text("Red or blue?"), Answer::text("Blue it is.")])
            .await
            .expect("server");
    let endpoint = Endpoint::at(&CUSTOM, &server.base(), None).expect("endpoint");
    let model = ModelClient::new(&Http::new(None).expect("http"), endpoint, "m");
    let options = AgentOptions { steps_first: Some(false), ..AgentOptions::default() };
    let mut agent = Agent::new(Arc::new(model), Tools::default(), options);
    let (sender, receiver) = mpsc::channel(1);
    drop(receiver);
    let (opening, cancel) = (Opening::default(), CancellationToken::new());
    agent.run("paint", &opening, &sender, &cancel).await;
    let report = agent.run("blue", &opening, &sender, &cancel).await;
    assert_eq!(report.end, RunEnd::Done { answer: "Blue it is.".to_owned() });
    let messages = &server.seen()[1].body["messages"];
    assert_eq!(messages[2]["content"], "Red or blue?");
    assert_eq!(messages[3]["content"], "Task: blue");
}

/// A small model copies its own failures, so they are taken out once something worked. Servers on
/// this machine get no randomness either.
#[tokio::test]
async fn failures_of_a_small_model_are_forgotten_once_a_step_worked() {
    let unchanged = || ToolReply { changed: Some(false), ..ToolReply::text("nothing there") };
    let tools = Tools::replies(vec![
        ToolReply { changed: Some(true), ..ToolReply::text("one") },
        ToolReply::error("covered"),
        unchanged(),
        ToolReply { changed: Some(true), ..ToolReply::text("two") },
    ]);
    let script = vec![click("e1"), click("e2"), click("e3"), click("e4"), Answer::text("Done.")];
    let ran = run(script, tools).await;
    let told = |request: usize| ran.asked(request)[2..].join("\n");
    assert!(told(3).contains("covered") && told(3).contains("nothing there"), "{}", told(3));
    assert_eq!(told(4), "assistant: null\ntool: one\nassistant: null\ntool: two");
    assert_eq!((ran.report.summary.steps, ran.report.summary.failures), (4, 1));
    assert_eq!(ran.server.seen()[0].body["temperature"], json!(0.0));
}

/// W-282, W-286: a call is made only once its answer is whole; of a stream that breaks, calls that came
/// complete are void as well. Streamed or fetched whole, the same loop goes on.
#[tokio::test]
async fn w282_w286_a_call_is_made_only_when_its_answer_is_whole() {
    let portions = 2;
    let broken =
        Answer::calls(&[("click", json!({"ref": "e1"}))]).cut_after(portions + 1, Piece::Cut);
    let whole = json!({"choices": [{
        "message": {"content": null, "tool_calls": [{
            "id": "c1", "type": "function",
            "function": {"name": "click", "arguments": "{\"ref\":\"e2\"}"},
        }]},
        "finish_reason": "tool_calls",
    }]});
    let said = json!({"choices": [{"message": {"content": "Bought."}, "finish_reason": "stop"}]});
    let script = vec![broken, Answer::json(200, &whole), Answer::json(200, &said)];
    let ran = run(script, Tools::default()).await;
    assert_eq!(ran.tools.called(), ["click {\"ref\":\"e2\"}"]);
    assert_eq!(ran.answer(), "Bought.");
}
