//! The formats over real connections, against a server that answers by script.

#![expect(clippy::expect_used, reason = "tests")]

use futures_util::StreamExt;
use reins_core::Secret;
use reins_models::testing::{Answer, ModelServer, Piece, chat_delta, event};
use reins_models::{
    CUSTOM, ChatRequest, Endpoint, Format, Http, Message, Model, ModelClient, ModelError,
    ModelEvent, Notice, PROVIDERS, Reply, ReplyBuilder, StopReason, Timing, ToolSpec,
};
use serde_json::{Value, json};
use std::time::Duration;

const KEY: &str = "sk-hunter2";

/// Short enough for tests in which a wait is the point, and otherwise never reached.
fn timing() -> Timing {
    Timing {
        first_byte: Duration::from_secs(20),
        stall: Duration::from_millis(300),
        backoff: Duration::from_millis(1),
        retries: 3,
        longest_wait: Duration::from_secs(1),
    }
}

fn client(server: &ModelServer) -> ModelClient {
    let key = Some(Secret::new(KEY.to_owned()));
    let endpoint = Endpoint::at(&CUSTOM, &server.base(), key).expect("endpoint");
    ModelClient::new(&Http::new(None).expect("http"), endpoint, "m").with_timing(timing())
}

fn request() -> ChatRequest {
    ChatRequest {
        system: "Be good.".to_owned(),
        messages: vec![Message::user("go")],
        tools: vec![ToolSpec {
            name: "click".to_owned(),
            description: "Clicks.".to_owned(),
            schema: json!({"type": "object", "properties": {"ref": {"type": "string"}}}),
        }],
        ..ChatRequest::default()
    }
}

struct Outcome {
    reply: Reply,
    notices: Vec<Notice>,
    error: Option<ModelError>,
}

async fn run(script: Vec<Answer>) -> (ModelServer, Outcome) {
    let server = ModelServer::start(script).await.expect("server");
    let outcome = ask(&client(&server)).await;
    (server, outcome)
}

async fn ask(client: &ModelClient) -> Outcome {
    let mut stream = client.stream(request());
    let mut builder = ReplyBuilder::default();
    let (mut notices, mut error) = (Vec::new(), None);
    while let Some(item) = stream.next().await {
        match item {
            Ok(ModelEvent::Notice(notice)) => {
                builder.push(&ModelEvent::Notice(notice.clone()));
                notices.push(notice);
            }
            Ok(event) => builder.push(&event),
            Err(failed) => error = Some(failed),
        }
    }
    Outcome { reply: builder.finish("x"), notices, error }
}

fn code(outcome: &Outcome) -> &'static str {
    outcome.error.as_ref().map_or("none", ModelError::code)
}

#[tokio::test]
async fn r118_text_and_calls_stream_in() {
    let (server, outcome) = run(vec![Answer::chat(
        &[
            json!({"role": "assistant", "content": ""}),
            json!({"content": "I "}),
            json!({"content": "click."}),
            json!({"tool_calls": [{"index": 0, "id": "a", "function": {"name": "click", "arguments": "{\"ref\":"}}]}),
            json!({"tool_calls": [{"index": 0, "function": {"arguments": "\"e1\"}"}}]}),
        ],
        "tool_calls",
    )])
    .await;
    assert_eq!(code(&outcome), "none");
    assert_eq!(outcome.reply.text, "I click.");
    assert_eq!(outcome.reply.calls[0].arguments, "{\"ref\":\"e1\"}");
    assert_eq!(outcome.reply.stop, Some(StopReason::Calls));
    assert_eq!(outcome.reply.usage.map(|usage| usage.cached), Some(60));
    let seen = &server.seen()[0];
    assert_eq!(seen.path, "/v1/chat/completions");
    assert_eq!(seen.headers["authorization"], format!("Bearer {KEY}").as_str());
    assert_eq!(seen.body["stream"], json!(true));
    assert_eq!(seen.body["tools"][0]["function"]["name"], "click");
}

#[tokio::test]
async fn r118_the_messages_format_streams_in() {
    let server = ModelServer::start(vec![Answer::events(&[
        json!({"type": "message_start", "message": {"usage": {"input_tokens": 7}}}),
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "tool_use", "id": "a", "name": "click", "input": {}}}),
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": "{\"ref\":\"e1\"}"}}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 3}}),
        json!({"type": "message_stop"}),
    ])])
    .await
    .expect("server");
    let key = Some(Secret::new(KEY.to_owned()));
    let mut endpoint = Endpoint::at(&PROVIDERS[0], &server.base(), key).expect("endpoint");
    assert_eq!(endpoint.format, Format::Messages);
    endpoint.key = Some(Secret::new(KEY.to_owned()));
    let client = ModelClient::new(&Http::new(None).expect("http"), endpoint, "claude");
    let outcome = ask(&client).await;
    assert_eq!(code(&outcome), "none");
    assert_eq!(outcome.reply.calls[0].arguments, "{\"ref\":\"e1\"}");
    let seen = &server.seen()[0];
    assert_eq!(seen.path, "/v1/messages");
    assert_eq!(seen.headers["x-api-key"], KEY);
    assert_eq!(seen.headers["anthropic-version"], "2023-06-01");
    assert!(!seen.headers.contains_key("authorization"));
}

#[tokio::test]
async fn events_in_single_bytes() {
    let whole = b"data: {\"choices\":[{\"delta\":{\"content\":\"h\xc3\xa9\"},\"finish_reason\":\"stop\"}]}\r\n\r\n: ping\n\ndata: [DONE]\n\n";
    let pieces = whole.iter().map(|byte| Piece::Bytes(vec![*byte])).collect();
    let (_, outcome) = run(vec![Answer::pieces(pieces)]).await;
    assert_eq!((code(&outcome), outcome.reply.text.as_str()), ("none", "hé"));
}

#[tokio::test]
async fn a_stream_without_done_that_stays_open_ends_all_the_same() {
    let pieces = vec![
        chat_delta(&json!({"content": "hi"})),
        event(&json!({"choices": [{"delta": {}, "finish_reason": "stop"}]})),
        Piece::Hang,
    ];
    let (_, outcome) = run(vec![Answer::pieces(pieces)]).await;
    assert_eq!((code(&outcome), outcome.reply.text.as_str()), ("none", "hi"));
}

/// W-283: a stream that breaks is erased and fetched once more as a whole.
#[tokio::test]
async fn w283_a_cut_stream_is_fetched_again_as_a_whole() {
    let whole = json!({"choices": [{"message": {"content": "whole"}, "finish_reason": "stop"}]});
    for (name, broken) in [
        ("cut before anything", Answer::text("half").cut_after(0, Piece::Cut)),
        ("cut after some text", Answer::text("half").cut_after(1, Piece::Cut)),
        (
            "cut within an event",
            Answer::text("half").cut_after(1, Piece::Bytes(b"data: {\"cho".to_vec())),
        ),
        (
            "malformed",
            Answer::text("half").cut_after(1, Piece::Bytes(b"data: {oops}\n\n".to_vec())),
        ),
        ("ended early", Answer::pieces(vec![chat_delta(&json!({"content": "half"}))])),
        ("empty", Answer::pieces(vec![])),
    ] {
        let (server, outcome) = run(vec![broken.clone(), Answer::json(200, &whole)]).await;
        assert_eq!((code(&outcome), outcome.reply.text.as_str()), ("none", "whole"), "{name}");
        assert_eq!(server.seen().len(), 2, "{name}");
        assert_eq!(server.seen()[1].body["stream"], json!(false), "{name}");
        // And only once.
        let (server, outcome) = run(vec![broken, Answer::text("streams anyway")]).await;
        assert_eq!(code(&outcome), "malformed", "{name}");
        assert_eq!(server.seen().len(), 2, "{name}");
    }
}

#[tokio::test]
async fn what_was_shown_before_a_break_is_called_void() {
    let whole = json!({"choices": [{"message": {"content": "whole"}, "finish_reason": "stop"}]});
    let broken = Answer::text("half").cut_after(1, Piece::Cut);
    let (_, outcome) = run(vec![broken, Answer::json(200, &whole)]).await;
    assert_eq!(outcome.notices, [Notice::Restarted]);
    let broken = Answer::text("half").cut_after(0, Piece::Cut);
    let (_, outcome) = run(vec![broken, Answer::json(200, &whole)]).await;
    assert_eq!(outcome.notices, [], "nothing was shown, so nothing is said");
}

#[tokio::test]
async fn a_stall_is_an_error_and_is_not_repeated() {
    let (server, outcome) = run(vec![Answer::text("half").cut_after(1, Piece::Hang)]).await;
    assert_eq!(code(&outcome), "stalled");
    assert_eq!(outcome.reply.text, "half");
    assert_eq!(server.seen().len(), 1);
}

#[tokio::test]
async fn busy_servers_are_asked_again_before_the_first_token() {
    let busy = |status: u16| Answer::json(status, &json!({"error": {"message": "busy"}}));
    for status in [429, 500, 502, 503, 529] {
        let (server, outcome) = run(vec![busy(status), busy(status), Answer::text("ok")]).await;
        assert_eq!((code(&outcome), outcome.reply.text.as_str()), ("none", "ok"), "{status}");
        assert_eq!(server.seen().len(), 3);
        let waits = |notice: &Notice| matches!(notice, Notice::Waiting { .. });
        assert_eq!(outcome.notices.iter().filter(|notice| waits(notice)).count(), 2);
    }
    let (server, outcome) = run(vec![busy(503); 9]).await;
    assert_eq!((code(&outcome), server.seen().len()), ("server_failed", 4));
    // A failure stated within the stream is passed on, never repeated.
    let stated = Answer::text("half").cut_after(1, event(&json!({"error": {"message": "boom"}})));
    let (server, outcome) = run(vec![stated]).await;
    assert_eq!((code(&outcome), server.seen().len()), ("server_failed", 1));
}

#[tokio::test]
async fn a_longer_wait_than_we_grant_is_reported() {
    let limited = |wait: &str| {
        Answer::json(429, &json!({"error": {"message": "slow down"}})).header("retry-after", wait)
    };
    let (server, outcome) = run(vec![limited("3600")]).await;
    assert_eq!((code(&outcome), server.seen().len()), ("rate_limited", 1));
    assert!(outcome.error.expect("error").to_string().contains("wait 3600 s"));
    let (server, outcome) = run(vec![limited("0"), Answer::text("ok")]).await;
    assert_eq!((code(&outcome), server.seen().len()), ("none", 2));
}

#[tokio::test]
async fn answers_that_are_no_answers() {
    let web_page =
        Answer::pieces(vec![Piece::Bytes(b"<html>".to_vec())]).header("content-type", "text/html");
    let huge = vec![b'x'; 64 * 1024];
    let endless = std::iter::once(Piece::Bytes(b"data: ".to_vec()))
        .chain(std::iter::repeat_n(Piece::Bytes(huge), 20))
        .collect();
    for (expected, answer) in [
        ("wrong_address", web_page),
        ("too_large", Answer::pieces(endless)),
        ("malformed", Answer::json(200, &json!({"hello": "world"}))),
        ("wrong_address", Answer::json(404, &json!({"detail": "Not Found"}))),
        ("no_such_model", Answer::json(404, &json!({"error": {"message": "model 'm' not found"}}))),
        ("wrong_key", Answer::json(401, &json!({"error": {"message": format!("bad key {KEY}")}}))),
        (
            "context_too_long",
            Answer::json(
                400,
                &json!({"error": {"code": "context_length_exceeded", "message": "x"}}),
            ),
        ),
    ] {
        let (server, outcome) = run(vec![answer]).await;
        assert_eq!(code(&outcome), expected);
        assert_eq!(server.seen().len(), 1, "{expected} is not repeated");
        let shown = format!("{:?}", outcome.error);
        assert!(!shown.contains(KEY), "{shown}");
    }
}

/// A redirect is never followed: the key would go along.
#[tokio::test]
async fn a_redirect_is_refused() {
    let elsewhere = ModelServer::start(vec![Answer::text("stolen")]).await.expect("server");
    let to = format!("{}/chat/completions?key=1", elsewhere.base());
    for status in [301, 302, 307, 308] {
        let answer = Answer::json(status, &Value::Null).header("location", &to);
        let (_, outcome) = run(vec![answer]).await;
        assert_eq!(code(&outcome), "redirected");
        let message = outcome.error.expect("error").to_string();
        assert!(message.contains(elsewhere.address()) && !message.contains("key=1"), "{message}");
    }
    assert!(elsewhere.seen().is_empty());
}

#[tokio::test]
async fn a_server_that_answers_whole_although_asked_to_stream() {
    let whole = json!({"choices": [{"message": {"content": null, "tool_calls": [
        {"id": "a", "type": "function", "function": {"name": "click", "arguments": "{}"}}]},
        "finish_reason": "tool_calls"}], "usage": {"prompt_tokens": 1, "completion_tokens": 1}});
    let (_, outcome) = run(vec![Answer::json(200, &whole)]).await;
    assert_eq!(code(&outcome), "none");
    assert_eq!(outcome.reply.calls[0].name, "click");
}

/// R-032, R-033: refused tools are offered as text, once and for all, and the person is told.
#[tokio::test]
async fn r032_r033_a_server_that_takes_no_tools() {
    let refuses = Answer::json(400, &json!({"error": {"message": "m does not support tools"}}));
    let fenced = "Sure.\n```json\n{\"name\": \"click\", \"arguments\": {\"ref\": \"e1\"}}\n```";
    let server = ModelServer::start(vec![refuses, Answer::text(fenced), Answer::text("chat")])
        .await
        .expect("server");
    let client = client(&server);
    let outcome = ask(&client).await;
    assert_eq!(code(&outcome), "none");
    assert!(
        matches!(&outcome.notices[..], [Notice::ToolsRejected { said }] if said.contains("m does not"))
    );
    assert_eq!(outcome.reply.text.trim(), "Sure.");
    assert_eq!(outcome.reply.calls[0].arguments, "{\"ref\":\"e1\"}");
    let outcome = ask(&client).await;
    assert_eq!((outcome.reply.text.as_str(), outcome.notices.len()), ("chat", 0));
    let seen = server.seen();
    assert_eq!(seen.len(), 3, "tools are not tried again");
    assert!(seen[0].body["tools"].is_array());
    for later in &seen[1..] {
        assert!(later.body["tools"].is_null());
        let system = later.body["messages"][0]["content"].as_str().expect("system");
        assert!(system.starts_with("Be good.") && system.contains("- click(ref?: string)"));
    }
}

#[tokio::test]
async fn parameters_that_a_server_refuses_are_left_out() {
    let refuses = |what: &str| {
        Answer::json(400, &json!({"error": {"message": format!("Unsupported parameter: {what}")}}))
    };
    let (server, outcome) = run(vec![
        refuses("stream_options"),
        refuses("use max_completion_tokens"),
        Answer::text("ok"),
    ])
    .await;
    assert_eq!((code(&outcome), outcome.reply.text.as_str()), ("none", "ok"));
    assert!(server.seen()[1].body["stream_options"].is_null());
    let (server, outcome) = run(vec![refuses("stream_options"), refuses("stream_options")]).await;
    assert_eq!((code(&outcome), server.seen().len()), ("rejected", 2));
}

#[tokio::test]
async fn dropping_the_stream_ends_the_request() {
    let server = ModelServer::start(vec![Answer::text("half").cut_after(1, Piece::Hang)])
        .await
        .expect("server");
    let client = client(&server).with_timing(Timing::default());
    let mut stream = client.stream(request());
    let first = stream.next().await.expect("an event").expect("text");
    assert_eq!(first, ModelEvent::Text("half".to_owned()));
    drop(stream);
    server.abandoned().await;
}

#[tokio::test]
async fn nobody_listens() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("port");
    let address = listener.local_addr().expect("address").to_string();
    drop(listener);
    let endpoint = Endpoint::at(&CUSTOM, &format!("http://{address}/v1"), None).expect("endpoint");
    let client =
        ModelClient::new(&Http::new(None).expect("http"), endpoint, "m").with_timing(timing());
    let outcome = ask(&client).await;
    assert_eq!(code(&outcome), "unreachable");
    assert!(outcome.error.expect("error").to_string().contains(&address));
    assert_eq!(outcome.notices.len(), 3);
}

#[tokio::test]
async fn a_provider_that_needs_a_key_is_not_asked_without() {
    let endpoint = Endpoint::of(&PROVIDERS[1], None).expect("endpoint");
    let client = ModelClient::new(&Http::new(None).expect("http"), endpoint, "m");
    let error = ask(&client).await.error.expect("error");
    assert_eq!(error.code(), "no_key");
    assert!(error.to_string().contains("OPENAI_API_KEY"));
}
