//! Closed questions over real HTTP to scripted models.

#![expect(clippy::expect_used, reason = "tests")]

use reins_agent::limits::WORDS_BYTES;
use reins_agent::questions::{
    Closed, ControlEffect, NoAnswer, PlanNeed, Questions, RunMode, Slot, Source, Subject, Who,
};
use reins_models::testing::{Answer, ModelServer, Piece, chat_delta, event};
use reins_models::{CUSTOM, Endpoint, Format, Http, Model, ModelClient, Provider, Timing};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// A server and a model at it.
async fn server(script: Vec<Answer>) -> (ModelServer, Arc<dyn Model>) {
    let server = ModelServer::start(script).await.expect("server");
    let endpoint = Endpoint::at(&CUSTOM, &server.base(), None).expect("endpoint");
    let timing = Timing { backoff: Duration::from_millis(1), retries: 0, ..Timing::default() };
    let http = Http::new(None).expect("http");
    (server, Arc::new(ModelClient::new(&http, endpoint, "m").with_timing(timing)))
}

/// An answer whose choice was as likely as given, and another one otherwise.
fn measured(text: &str, choice: &str, other: &str, probability: f64) -> Answer {
    let (head, tail) = text.split_once(choice).expect("the choice");
    let piece = |token: &str, log: f64, top: Value| json!({"token": token, "logprob": log, "top_logprobs": top});
    let top = json!([{"token": other, "logprob": (1.0 - probability).ln()}]);
    let pieces = json!([
        piece(head, 0.0, json!([])),
        piece(choice, probability.ln(), top),
        piece(tail, 0.0, json!([]))
    ]);
    let delta = json!({"choices": [{
        "index": 0, "delta": {"content": text}, "finish_reason": null, "logprobs": {"content": pieces},
    }]});
    let end = json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]});
    let done = Piece::Bytes(b"data: [DONE]\n\n".to_vec());
    Answer::pieces(vec![event(&delta), event(&end), done])
}

fn told(choice: &str, because: &str, sure: f64) -> Answer {
    let text = json!({"because": because, "choice": choice, "sure": sure}).to_string();
    Answer::pieces(vec![
        chat_delta(&json!({"content": text})),
        event(&json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})),
        event(&json!({"choices": [], "usage": {"prompt_tokens": 50, "completion_tokens": 5}})),
        Piece::Bytes(b"data: [DONE]\n\n".to_vec()),
    ])
}

fn wrote(text: &str) -> Subject {
    Subject::new().words("The person wrote", text, WORDS_BYTES)
}

async fn mode(questions: &Questions, text: &str) -> Result<RunMode, NoAnswer> {
    let cancel = CancellationToken::new();
    questions.ask(&wrote(text), None, Who::Anyone, &cancel).await.map(|sure| sure.value)
}

/// W-480, W-481: the request asks for JSON of exactly the choices, and a sure answer with a literal
/// quotation counts.
#[tokio::test]
async fn w480_w481_a_sure_and_quoted_choice_is_an_answer() {
    let (server, model) = server(vec![told("act", "buy the mug", 0.95)]).await;
    let questions = Questions::new(None, model);
    assert_eq!(mode(&questions, "Please buy the mug").await, Ok(RunMode::Act));
    let body = &server.seen()[0].body;
    let schema = &body["response_format"]["json_schema"]["schema"];
    assert_eq!(schema["properties"]["choice"]["enum"], json!(["ask", "act", "dev"]));
    assert_eq!((&body["logprobs"], &body["temperature"]), (&json!(true), &json!(0.0)));
    let spent = questions.take_spent();
    assert_eq!((spent.requests, spent.usage.input, spent.cost.map(|c| c.0)), (1, 50, Some(0)));
    assert_eq!(questions.take_spent().requests, 0);
}

/// W-482: whatever is not a sure, offered and quoted choice is no answer.
/// W-782: the answer is typed strictly.
#[tokio::test]
async fn w482_unsure_unquoted_and_unoffered_choices_are_no_answer() {
    let text = "Please buy the mug";
    for (answer, expected) in [
        (told("act", "buy the mug", 0.84), NoAnswer::Unsure),
        (told("act", "buy a mug", 0.99), NoAnswer::NotQuoted),
        (told("act", "", 0.99), NoAnswer::NotQuoted),
        (told("buy", "buy the mug", 0.99), NoAnswer::NotOffered),
        (told("ask", "", 0.69), NoAnswer::Unsure),
        (Answer::text("I will buy the mug."), NoAnswer::NotOffered),
        (Answer::json(400, &json!({"error": {"message": "no"}})), NoAnswer::Failed),
    ] {
        let (_server, model) = server(vec![answer]).await;
        assert_eq!(mode(&Questions::new(None, model), text).await, Err(expected));
    }
    let (_server, model) = server(vec![told("ask", "", 0.71)]).await;
    assert_eq!(mode(&Questions::new(None, model), text).await, Ok(RunMode::Ask));
}

/// W-235: who saw only part of the words may permit nothing.
#[tokio::test]
async fn w235_words_that_are_cut_permit_nothing() {
    let text = format!("buy the mug {}", "and more ".repeat(1000));
    let script = vec![told("act", "buy the mug", 0.99), told("ask", "", 0.99)];
    let (_server, model) = server(script).await;
    let questions = Questions::new(None, model);
    assert_eq!(mode(&questions, &text).await, Err(NoAnswer::Partial));
    assert_eq!(mode(&questions, &text).await, Ok(RunMode::Ask));
}

/// A model on this machine is measured: what it says about its certainty does not count.
#[tokio::test]
async fn w481_odds_of_a_local_model_decide_instead_of_its_word() {
    let text = "{\"because\": \"buy the mug\", \"choice\": \"act\", \"sure\": 1}";
    for (other, probability, expected) in [
        ("ask", 0.5, Err(NoAnswer::Unsure)),
        ("ask", 0.9, Ok(RunMode::Act)),
        ("buy", 0.1, Ok(RunMode::Act)),
    ] {
        let (_server, model) = server(vec![measured(text, "act", other, probability)]).await;
        assert_eq!(mode(&Questions::new(None, model), "buy the mug").await, expected);
    }
}

/// W-481: the decision model is asked first, and the run's own only if that one is not sure.
#[tokio::test]
async fn w481_the_decision_model_answers_first() {
    let (first, decision) =
        server(vec![told("ask", "", 0.9), told("act", "open it", 0.5), told("ask", "", 0.1)]).await;
    let (second, active) = server(vec![told("act", "open it", 0.99)]).await;
    let questions = Questions::new(Some(decision), active);
    let cancel = CancellationToken::new();
    let sure = questions.ask::<RunMode>(&wrote("what is it"), None, Who::Anyone, &cancel).await;
    assert_eq!(sure.map(|sure| (sure.value, sure.source)), Ok((RunMode::Ask, Source::Decision)));
    assert_eq!((first.seen().len(), second.seen().len()), (1, 0));
    let sure = questions.ask::<RunMode>(&wrote("open it"), None, Who::Anyone, &cancel).await;
    assert_eq!(sure.map(|sure| (sure.value, sure.source)), Ok((RunMode::Act, Source::Active)));
    assert_eq!((first.seen().len(), second.seen().len()), (2, 1));
    let sure = questions.ask::<RunMode>(&wrote("hm"), None, Who::Decision, &cancel).await;
    assert_eq!(sure, Err(NoAnswer::Unsure), "the run's own model may not be asked here");
    assert_eq!(second.seen().len(), 1);
}

/// W-482: the same question is asked once, and one without an answer is asked again.
#[tokio::test]
async fn w482_the_same_question_has_one_answer() {
    let script = vec![told("ask", "", 0.1), told("ask", "", 0.9), told("act", "buy", 0.99)];
    let (server, model) = server(script).await;
    let questions = Questions::new(None, model);
    assert_eq!(mode(&questions, "look").await, Err(NoAnswer::Unsure));
    assert_eq!(mode(&questions, "look").await, Ok(RunMode::Ask));
    assert_eq!(mode(&questions, "look").await, Ok(RunMode::Ask));
    assert_eq!(server.seen().len(), 2);
}

/// W-492: many captions go in requests of 64, each caption once.
#[tokio::test]
async fn w492_captions_are_asked_together() {
    let answers = |from: usize, to: usize| {
        let pairs = (from..to).map(|at| {
            let word = if at % 2 == 0 { "sends_or_publishes" } else { "shows_only" };
            (format!("q{:02}", at - from + 1), json!({"choice": word, "sure": 1}))
        });
        let text = Value::Object(pairs.collect()).to_string();
        Answer::text(&text)
    };
    let (server, model) = server(vec![answers(0, 64), answers(64, 70)]).await;
    let questions = Questions::new(None, model);
    let mut slots: Vec<Slot> = (0..70)
        .map(|at| Slot { question: ControlEffect::QUESTION, item: Some(format!("caption {at}")) })
        .collect();
    slots.push(slots[3].clone());
    let cancel = CancellationToken::new();
    let read = questions.ask_all(&Subject::new(), &slots, Who::Anyone, None, &cancel).await;
    let words: Vec<_> = read.iter().map(|answer| answer.as_ref().map(|a| a.choice.word)).collect();
    assert_eq!(server.seen().len(), 2);
    assert!(words.iter().take(70).enumerate().all(|(at, word)| {
        *word == Ok(if at % 2 == 0 { "sends_or_publishes" } else { "shows_only" })
    }));
    assert_eq!(words[70], Ok("shows_only"), "the same caption is not asked twice");
}

/// W-040: two questions about the same words ride in one request.
#[tokio::test]
async fn w040_questions_about_the_same_words_share_a_request() {
    let text = json!({
        "q01": {"because": "sum it up", "choice": "ask", "sure": 0.9},
        "q02": {"because": "sum it up", "choice": "direct", "sure": 0.9},
    });
    let (server, model) = server(vec![Answer::text(&text.to_string())]).await;
    let questions = Questions::new(None, model);
    let slots =
        [RunMode::QUESTION, PlanNeed::QUESTION].map(|question| Slot { question, item: None });
    let cancel = CancellationToken::new();
    let read = questions.ask_all(&wrote("sum it up"), &slots, Who::Anyone, None, &cancel).await;
    let words: Vec<_> = read.iter().map(|answer| answer.as_ref().map(|a| a.choice.word)).collect();
    assert_eq!(words, [Ok("ask"), Ok("direct")]);
    assert_eq!(server.seen().len(), 1);
}

/// W-482: Stop ends the request; a deadline does, too.
/// W-782: one deadline for all tries.
#[tokio::test]
async fn w482_stop_and_deadlines_end_the_request() {
    let hang = || Answer::pieces(vec![Piece::Bytes(b": ping\n\n".to_vec()), Piece::Hang]);
    let (server, model) = server(vec![hang(), hang()]).await;
    let questions = Questions::new(None, model);
    let cancel = CancellationToken::new();
    let stop = async {
        server.asked(1).await;
        cancel.cancel();
    };
    let subject = wrote("buy it");
    let asking = questions.ask::<RunMode>(&subject, None, Who::Anyone, &cancel);
    let (answer, ()) = tokio::join!(asking, stop);
    assert_eq!(answer, Err(NoAnswer::Cancelled));
    server.abandoned().await;
    let slot = Slot { question: RunMode::QUESTION, item: None };
    let within = Some(Duration::from_millis(50));
    let going = CancellationToken::new();
    let late = questions.ask_all(&subject, &[slot], Who::Anyone, within, &going).await;
    assert_eq!(late, [Err(NoAnswer::Late)]);
    server.abandoned().await;
}

/// A server that knows no schemas and no odds is asked without, once for all.
#[tokio::test]
async fn w480_servers_without_schemas_are_asked_in_words() {
    let refuses = |what: &str| {
        Answer::json(400, &json!({"error": {"message": format!("unknown parameter: {what}")}}))
    };
    let script = vec![
        refuses("response_format"),
        refuses("logprobs"),
        Answer::text("```json\n{\"because\": \"buy it\", \"choice\": \"ask\"}\n```"),
        Answer::text("ask"),
    ];
    let (server, model) = server(script).await;
    let questions = Questions::new(None, model);
    assert_eq!(mode(&questions, "do not buy it").await, Ok(RunMode::Ask));
    assert_eq!(mode(&questions, "what is it").await, Ok(RunMode::Ask));
    let seen = server.seen();
    assert_eq!(seen.len(), 4);
    assert!(seen[2].body["response_format"].is_null() && seen[2].body["logprobs"].is_null());
    assert_eq!(seen[2].body, {
        let mut first = seen[0].body.clone();
        let body = first.as_object_mut().expect("an object");
        body.remove("response_format");
        body.remove("logprobs");
        body.remove("top_logprobs");
        first
    });
}

/// Each format has its own way to ask for JSON.
#[tokio::test]
async fn w480_every_format_asks_for_the_schema_in_its_own_way() {
    for (format, path) in [
        (Format::Chat, "/response_format/json_schema/schema"),
        (Format::Responses, "/text/format/schema"),
        (Format::Messages, "/output_config/format/schema"),
        (Format::Gemini, "/generationConfig/responseJsonSchema"),
    ] {
        let refused = Answer::json(403, &json!({"error": {"message": "no"}}));
        let server = ModelServer::start(vec![refused]).await.expect("server");
        let base = server.base();
        let base = base.strip_suffix("/v1").expect("base");
        let base = if matches!(format, Format::Chat | Format::Responses) {
            server.base()
        } else {
            base.to_owned()
        };
        let row = Provider::by_id("custom").expect("row");
        let endpoint = Endpoint::speaking(row, &base, format, None).expect("endpoint");
        let model = ModelClient::new(&Http::new(None).expect("http"), endpoint, "m");
        let questions = Questions::new(None, Arc::new(model));
        assert_eq!(mode(&questions, "buy it").await, Err(NoAnswer::Failed));
        let body = &server.seen()[0].body;
        let schema = body.pointer(path).unwrap_or_else(|| panic!("{format}: {body}"));
        assert_eq!(schema["properties"]["choice"]["enum"], json!(["ask", "act", "dev"]));
    }
}
