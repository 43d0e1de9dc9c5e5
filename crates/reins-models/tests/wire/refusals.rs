//! What servers refuse, and what is done about it.

use crate::{KEY, Outcome, ask, client, portions, request, run, samples, timing};
use reins_core::Secret;
use reins_models::testing::{Answer, ModelServer};
use reins_models::{
    CUSTOM, ChatRequest, Endpoint, Format, Http, Image, Message, Model, ModelClient, Part,
    Provider, Reasoning, reply,
};
use serde_json::{Value, json};

fn refuses(status: u16, message: &str) -> Answer {
    Answer::json(status, &json!({"error": {"message": message}}))
}

fn told(outcome: &Outcome) -> String {
    outcome.error.as_ref().map(ToString::to_string).unwrap_or_default()
}

/// each failure has its code and its remedy, is not repeated, and holds no key.
#[tokio::test]
async fn r031_every_format_tells_failures_apart() {
    for format in Format::ALL {
        for (status, body, expected, remedy) in [
            (
                401,
                json!({"error": {"message": format!("bad {KEY}")}}),
                "wrong_key",
                "check the key",
            ),
            (403, json!({"error": {"message": "not yours"}}), "wrong_key", "check the key"),
            (402, json!({"error": {"message": "empty"}}), "out_of_credit", "no credit"),
            (
                404,
                json!({"error": {"message": "model m not found"}}),
                "no_such_model",
                "choose one",
            ),
            (404, json!({"detail": "Not Found"}), "wrong_address", "check the address"),
            (
                400,
                json!({"error": {"code": "context_length_exceeded", "message": "x"}}),
                "context_too_long",
                "",
            ),
            (422, json!({"error": {"message": "no"}}), "rejected", "no"),
        ] {
            let (server, outcome) = run(format, vec![Answer::json(status, &body)]).await;
            assert_eq!(outcome.code(), expected, "{format} {status}");
            assert_eq!(server.seen().len(), 1, "{format}: {expected} is not repeated");
            assert!(told(&outcome).contains(remedy), "{}", told(&outcome));
            let shown = format!("{:?} {}", outcome.error, told(&outcome));
            assert!(!shown.contains(KEY), "{shown}");
        }
    }
}

/// No redirect is followed, so no key gets to another origin, and the way it points is told without
/// its query.
#[tokio::test]
async fn no_format_follows_a_redirect() {
    let elsewhere = ModelServer::start(vec![]).await.expect("server");
    for format in Format::ALL {
        for status in [301, 302, 303, 307, 308] {
            let to = format!("{}/x?key={KEY}", elsewhere.base());
            let answer = Answer::json(status, &Value::Null).header("location", &to);
            let (_, outcome) = run(format, vec![answer]).await;
            assert_eq!(outcome.code(), "redirected", "{format} {status}");
            assert!(told(&outcome).contains(elsewhere.address()), "{}", told(&outcome));
            assert!(!told(&outcome).contains(KEY));
        }
    }
    assert!(elsewhere.seen().is_empty());
}

/// refused tools are offered as text, and the person is told.
#[tokio::test]
async fn r032_r033_no_format_fails_for_a_model_without_tools() {
    for format in Format::ALL {
        let script = vec![
            refuses(400, "m does not support tools"),
            Answer::json(200, &samples::whole(format)),
        ];
        let (server, outcome) = run(format, script).await;
        outcome.assert_whole(format.as_str());
        assert_eq!(outcome.notices.len(), 1, "{format}");
        let seen = server.seen();
        assert!(!seen[0].body["tools"].is_null(), "{format}");
        assert!(seen[1].body["tools"].is_null(), "{format}");
        assert!(seen[1].body.to_string().contains("- click("), "{format}: they stand in the text");
    }
}

/// W-281: OpenAI's two formats change into each other when a model is only in the other one, once
/// and for all; the tools stay.
#[tokio::test]
async fn w281_a_model_that_is_only_in_the_other_format() {
    for (first, second, message) in [
        (
            Format::Chat,
            Format::Responses,
            "Function tools with reasoning_effort are not supported for m in \
             /v1/chat/completions. Please use /v1/responses instead.",
        ),
        (
            Format::Responses,
            Format::Chat,
            "m is not supported here; use the chat completions endpoint",
        ),
    ] {
        let script = vec![
            refuses(400, message),
            Answer::pieces(portions(second)),
            Answer::pieces(portions(second)),
        ];
        let server = ModelServer::start(script).await.expect("server");
        let client = client(&server, first);
        ask(&client).await.assert_whole(message);
        ask(&client).await.assert_whole(message);
        let seen = server.seen();
        let tools = |body: &Value| body["tools"].as_array().map(Vec::len);
        assert!(seen.iter().all(|seen| tools(&seen.body) == Some(2)));
        assert_ne!(seen[0].path, seen[1].path);
        assert_eq!(seen[1].path, seen[2].path, "it is not tried again");
    }
    // A server that names the other one each time is not asked for ever.
    let (server, outcome) =
        run(Format::Chat, vec![refuses(400, "use /v1/responses or chat completions"); 40]).await;
    assert_eq!(outcome.code(), "rejected");
    assert!(server.seen().len() < 20);
}

/// What a server refuses is left out, one after the other, and what it learned holds.
#[tokio::test]
async fn refused_parameters_are_left_out_in_every_format() {
    for (format, refusals) in [
        (
            Format::Chat,
            vec!["Unknown parameter: stream_options", "use max_completion_tokens", "temperature"],
        ),
        (
            Format::Responses,
            vec!["reasoning summaries need verification", "Encrypted content is not supported"],
        ),
        (Format::Messages, vec!["adaptive thinking is not supported", "cache_control: no"]),
        (Format::Gemini, vec!["Thinking level is not supported for this model."]),
    ] {
        let mut script: Vec<_> = refusals.iter().map(|text| refuses(400, text)).collect();
        script.push(Answer::pieces(portions(format)));
        let server = ModelServer::start(script).await.expect("server");
        let request = ChatRequest {
            reasoning: Reasoning::High,
            temperature: Some(0.5),
            max_tokens: Some(20),
            caching: reins_models::Caching::Conversation,
            ..request()
        };
        let client = client(&server, format);
        let answer = reply(&client as &dyn Model, request).await.expect("a reply");
        assert_eq!(answer.text, samples::TEXT, "{format}");
        let seen = server.seen();
        assert_eq!(seen.len(), refusals.len() + 1, "{format}");
        for pair in seen.windows(2) {
            assert_ne!(pair[0].body, pair[1].body, "{format}: never the same again");
        }
    }
}

/// W-662: a model that takes no pictures goes on without them, in every format, and text is not harmed.
#[tokio::test]
async fn w662_no_format_fails_for_a_model_without_eyes() {
    for format in Format::ALL {
        let refusal = refuses(400, "this model does not support image input");
        let server = ModelServer::start(vec![refusal, Answer::pieces(portions(format))]).await;
        let server = server.expect("server");
        let image = Image { mime: "image/png".into(), bytes: vec![1, 2, 3].into() };
        let parts = vec![Part::Text("look".to_owned()), Part::Image(image)];
        let request = ChatRequest { messages: vec![Message::User(parts)], ..request() };
        let client = client(&server, format);
        let answer = reply(&client as &dyn Model, request).await.expect("a reply");
        assert_eq!(answer.text, samples::TEXT, "{format}");
        let seen = server.seen();
        let second = seen[1].body.to_string();
        assert!(seen[0].body.to_string().contains("AQID"), "{format}");
        assert!(!second.contains("AQID") && second.contains("cannot see"), "{format}: {second}");
        assert!(second.contains("look"), "{format}");
    }
}

/// The key goes where the provider wants it.
#[tokio::test]
async fn azure_takes_the_key_in_its_own_header() {
    let server = ModelServer::start(vec![Answer::pieces(portions(Format::Chat))]).await;
    let server = server.expect("server");
    let azure = Provider::by_id("azure").expect("row");
    let key = Some(Secret::new(KEY.to_owned()));
    let endpoint = Endpoint::at(azure, &server.base(), key).expect("endpoint");
    let http = Http::new(None).expect("http");
    ask(&ModelClient::new(&http, endpoint, "m").with_timing(timing())).await.assert_whole("azure");
    let seen = &server.seen()[0];
    assert_eq!(seen.headers["api-key"], KEY);
    assert!(!seen.headers.contains_key("authorization"));
}

/// A key that cannot stand in a header is refused before anything is sent, without being shown.
#[tokio::test]
async fn a_key_with_a_line_break_is_not_sent() {
    let server = ModelServer::start(vec![]).await.expect("server");
    for format in Format::ALL {
        let key = Some(Secret::new(format!("{KEY}\r\nx-evil: 1")));
        let endpoint = Endpoint::speaking(&CUSTOM, &server.base(), format, key).expect("endpoint");
        let http = Http::new(None).expect("http");
        let outcome = ask(&ModelClient::new(&http, endpoint, "m").with_timing(timing())).await;
        assert_eq!(outcome.code(), "unusable_key", "{format}");
        assert!(!format!("{:?}", outcome.error).contains("hunter2"));
    }
    assert!(server.seen().is_empty());
}
