//! What every format has to hold, over real connections against a server that answers by script.

#![expect(clippy::expect_used, reason = "tests")]

mod refusals;
mod samples;

use futures_util::StreamExt;
use reins_core::Secret;
use reins_models::testing::{Answer, ModelServer, Piece};
use reins_models::{
    CUSTOM, ChatRequest, Endpoint, Format, Http, Message, Model, ModelClient, ModelError,
    ModelEvent, Notice, Reply, ReplyBuilder, StopReason, Timing, ToolSpec,
};
use samples::TEXT;
use serde_json::{Value, json};
use std::time::Duration;

const KEY: &str = "sk-hunter2";

/// Short where a wait is the point, and otherwise never reached.
fn timing() -> Timing {
    Timing {
        first_byte: Duration::from_secs(20),
        stall: Duration::from_secs(20),
        backoff: Duration::from_millis(1),
        retries: 3,
        longest_wait: Duration::from_secs(1),
    }
}

fn client(server: &ModelServer, format: Format) -> ModelClient {
    let key = Some(Secret::new(KEY.to_owned()));
    let endpoint = Endpoint::speaking(&CUSTOM, &server.base(), format, key).expect("endpoint");
    ModelClient::new(&Http::new(None).expect("http"), endpoint, "m").with_timing(timing())
}

fn request() -> ChatRequest {
    let tool = |name: &str| ToolSpec {
        name: name.to_owned(),
        description: "Does it.".to_owned(),
        schema: json!({"type": "object", "properties": {"ref": {"type": "string"}}}),
    };
    ChatRequest {
        system: "Be good.".to_owned(),
        messages: vec![Message::user("go")],
        tools: vec![tool("click"), tool("type")],
        ..ChatRequest::default()
    }
}

struct Outcome {
    reply: Reply,
    notices: Vec<Notice>,
    error: Option<ModelError>,
}

impl Outcome {
    fn code(&self) -> &'static str {
        self.error.as_ref().map_or("none", ModelError::code)
    }

    /// Everything that the sample says.
    fn assert_whole(&self, about: &str) {
        assert_eq!(self.code(), "none", "{about}: {:?}", self.error);
        assert_eq!(self.reply.text, TEXT, "{about}");
        let calls: Vec<_> = self
            .reply
            .calls
            .iter()
            .map(|call| format!("{} {} {}", call.id, call.name, call.arguments))
            .collect();
        assert_eq!(calls, ["a click {\"ref\":\"e1\"}", "b type {\"text\":\"ü\"}"], "{about}");
        assert_eq!(self.reply.stop, Some(StopReason::Calls), "{about}");
        let usage = self.reply.usage.expect("usage");
        assert_eq!((usage.input, usage.cached, usage.output), (100, 60, 10), "{about}");
    }
}

async fn run(format: Format, script: Vec<Answer>) -> (ModelServer, Outcome) {
    let server = ModelServer::start(script).await.expect("server");
    let outcome = ask(&client(&server, format)).await;
    (server, outcome)
}

async fn ask(client: &ModelClient) -> Outcome {
    let mut stream = client.stream(request());
    let mut builder = ReplyBuilder::default();
    let (mut notices, mut error) = (Vec::new(), None);
    while let Some(item) = stream.next().await {
        match item {
            Ok(event) => {
                builder.push(&event);
                if let ModelEvent::Notice(notice) = event {
                    notices.push(notice);
                }
            }
            Err(failed) => error = Some(failed),
        }
    }
    Outcome { reply: builder.finish("x"), notices, error }
}

/// The events of the sample, each in a portion of its own.
fn portions(format: Format) -> Vec<Piece> {
    samples::events(format).iter().map(|event| Piece::Bytes(samples::bytes(event))).collect()
}

fn streams(request: &Value, path: &str) -> bool {
    request["stream"] == json!(true) || path.contains(":streamGenerateContent?alt=sse")
}

/// the whole answer, however the network cuts it, also within a letter.
/// W-660: one interface for every format.
#[tokio::test]
async fn r118_every_format_streams_in_portions_of_any_size() {
    for format in Format::ALL {
        let whole = samples::stream(format);
        for size in [1, 2, 3, 5, 64, whole.len()] {
            let pieces = whole.chunks(size).map(|piece| Piece::Bytes(piece.to_vec())).collect();
            let (server, outcome) = run(format, vec![Answer::pieces(pieces)]).await;
            outcome.assert_whole(&format!("{format} in portions of {size}"));
            let seen = &server.seen()[0];
            assert!(streams(&seen.body, &seen.path), "{format}");
        }
    }
}

#[tokio::test]
async fn r027_requests_go_to_the_path_of_their_format_with_the_key_in_its_header() {
    for (format, path, header, value) in [
        (Format::Chat, "/v1/chat/completions", "authorization", format!("Bearer {KEY}")),
        (Format::Responses, "/v1/responses", "authorization", format!("Bearer {KEY}")),
        (Format::Messages, "/v1/messages", "x-api-key", KEY.to_owned()),
        (
            Format::Gemini,
            "/v1beta/models/m:streamGenerateContent?alt=sse",
            "x-goog-api-key",
            KEY.to_owned(),
        ),
    ] {
        let (server, outcome) = run(format, vec![Answer::pieces(portions(format))]).await;
        outcome.assert_whole(format.as_str());
        let seen = &server.seen()[0];
        assert_eq!((seen.method.as_str(), seen.path.as_str()), ("POST", path));
        assert_eq!(seen.headers[header], value.as_str(), "{format}");
        let carriers = seen
            .headers
            .values()
            .filter(|value| value.to_str().is_ok_and(|value| value.contains(KEY)));
        assert_eq!(carriers.count(), 1, "{format}: the key is in one header only");
        assert!(!seen.path.contains(KEY) && !seen.body.to_string().contains(KEY));
    }
}

/// W-283: wherever a stream is cut, ends or turns into nonsense, it is erased and fetched once more
/// as a whole, and the person hears of it only if something was shown.
#[tokio::test]
async fn w283_every_format_is_fetched_again_wherever_it_breaks() {
    for format in Format::ALL {
        let all = portions(format);
        let shown_from = samples::first_text(format) + 1;
        // After the very last portion the answer is complete, and in Chat already before its usage.
        let complete_from = all.len() - usize::from(format == Format::Chat);
        let complete_from = complete_from - usize::from(format == Format::Messages);
        for at in 0..complete_from {
            for (how, broken) in [
                ("cut", Piece::Cut),
                ("cut within an event", Piece::Bytes(b"data: {\"cho".to_vec())),
                ("malformed", Piece::Bytes(b"data: {oops}\n\n".to_vec())),
                ("ended", Piece::Bytes(b": ping\n\n".to_vec())),
            ] {
                let about = format!("{format} {how} after {at} events");
                let mut pieces = all[..at].to_vec();
                pieces.push(broken);
                let script =
                    vec![Answer::pieces(pieces), Answer::json(200, &samples::whole(format))];
                let (server, outcome) = run(format, script).await;
                outcome.assert_whole(&about);
                let seen = server.seen();
                assert_eq!(seen.len(), 2, "{about}");
                assert!(!streams(&seen[1].body, &seen[1].path), "{about}");
                assert!(outcome.notices.iter().all(|notice| *notice == Notice::Restarted));
                if at < shown_from {
                    assert!(outcome.notices.is_empty(), "{about}: nothing was shown");
                }
            }
        }
    }
}

/// W-283, W-284: nothing more is streamed with that client; another one starts anew.
#[tokio::test]
async fn w283_w284_a_client_whose_stream_broke_streams_no_more() {
    for format in Format::ALL {
        let whole = || Answer::json(200, &samples::whole(format));
        let script = vec![Answer::pieces(vec![]), whole(), whole(), whole()];
        let server = ModelServer::start(script).await.expect("server");
        let first = client(&server, format);
        ask(&first).await.assert_whole("fetched again");
        ask(&first).await.assert_whole("not streamed");
        ask(&client(&server, format)).await.assert_whole("another client");
        let streamed: Vec<_> =
            server.seen().iter().map(|seen| streams(&seen.body, &seen.path)).collect();
        assert_eq!(streamed, [true, false, false, true], "{format}");
    }
}

/// W-283: only once.
#[tokio::test]
async fn w283_what_breaks_twice_is_an_error() {
    for format in Format::ALL {
        let broken = || Answer::pieces(vec![Piece::Bytes(b"data: {oops}\n\n".to_vec())]);
        let half = Answer::json(200, &json!({"half": "an answer"}));
        for second in [broken(), half] {
            let (server, outcome) = run(format, vec![broken(), second]).await;
            assert_eq!((outcome.code(), server.seen().len()), ("malformed", 2), "{format}");
        }
    }
}

#[tokio::test]
async fn a_server_that_answers_whole_although_asked_to_stream() {
    for format in Format::ALL {
        let (server, outcome) = run(format, vec![Answer::json(200, &samples::whole(format))]).await;
        outcome.assert_whole(format.as_str());
        assert_eq!(server.seen().len(), 1);
    }
}

/// Silence is an error and is not repeated; what came before it is there.
#[tokio::test]
async fn every_format_that_stalls_is_given_up() {
    for format in Format::ALL {
        let mut pieces = portions(format);
        pieces.truncate(samples::first_text(format) + 1);
        pieces.push(Piece::Hang);
        let server = ModelServer::start(vec![Answer::pieces(pieces)]).await.expect("server");
        let short = Timing { stall: Duration::from_millis(200), ..timing() };
        let outcome = ask(&client(&server, format).with_timing(short)).await;
        assert_eq!(outcome.code(), "stalled", "{format}");
        assert_eq!(outcome.reply.text, "Aé", "{format}");
        assert_eq!(server.seen().len(), 1, "{format}");
        // The connection is let go, so that the server can stop, too.
        server.abandoned().await;
    }
}

#[tokio::test]
async fn every_format_is_ended_by_dropping_it() {
    for format in Format::ALL {
        let mut pieces = portions(format);
        pieces.truncate(samples::first_text(format) + 1);
        pieces.push(Piece::Hang);
        let server = ModelServer::start(vec![Answer::pieces(pieces)]).await.expect("server");
        let client = client(&server, format);
        let mut stream = client.stream(request());
        let first = stream.next().await.expect("an event").expect("text");
        assert_eq!(first, ModelEvent::Text("Aé".to_owned()), "{format}");
        drop(stream);
        server.abandoned().await;
    }
}

/// An answer that is dropped before anything came is abandoned as well.
#[tokio::test]
async fn every_format_is_ended_by_dropping_it_before_its_first_token() {
    for format in Format::ALL {
        let script = vec![Answer::pieces(vec![Piece::Bytes(b": ping\n\n".to_vec()), Piece::Hang])];
        let server = ModelServer::start(script).await.expect("server");
        let client = client(&server, format);
        let mut stream = client.stream(request());
        tokio::select! {
            event = stream.next() => panic!("{format}: {event:?}"),
            () = server.asked(1) => {}
        }
        drop(stream);
        server.abandoned().await;
    }
}

/// 429 and 5xx are asked again before the first token, as long as the server is granted.
#[tokio::test]
async fn every_format_asks_busy_servers_again_before_the_first_token() {
    for format in Format::ALL {
        for status in [408, 429, 500, 502, 503, 529] {
            let busy = || {
                Answer::json(status, &json!({"error": {"message": "busy"}}))
                    .header("retry-after", "0")
            };
            let script = vec![busy(), busy(), Answer::pieces(portions(format))];
            let (server, outcome) = run(format, script).await;
            outcome.assert_whole(&format!("{format} {status}"));
            assert_eq!((server.seen().len(), outcome.notices.len()), (3, 2));
            let (server, outcome) = run(format, vec![busy(); 9]).await;
            assert_eq!(server.seen().len(), 4, "{format} {status} is bounded");
            assert!(["rate_limited", "server_failed"].contains(&outcome.code()));
            // A server that wants us to wait for longer than anyone would is not waited for.
            let long = busy().header("retry-after", "3600");
            let (server, outcome) = run(format, vec![long]).await;
            assert_eq!(server.seen().len(), 1);
            assert!(["rate_limited", "server_failed"].contains(&outcome.code()));
        }
    }
}

/// A failure that is stated in the stream counts as refused before the first token, and is passed
/// on after it (W-283).
#[tokio::test]
async fn w283_stated_failures_are_repeated_only_before_the_first_token() {
    for format in Format::ALL {
        let stated = || Piece::Bytes(samples::bytes(&samples::stated(format)));
        let script = vec![Answer::pieces(vec![stated()]), Answer::pieces(portions(format))];
        let (server, outcome) = run(format, script).await;
        outcome.assert_whole(format.as_str());
        assert_eq!(server.seen().len(), 2, "{format}");
        // In one portion with the text before it, too.
        for together in [false, true] {
            let mut pieces = portions(format);
            pieces.truncate(samples::first_text(format) + 1);
            pieces.push(stated());
            if together {
                let all = pieces.iter().flat_map(|piece| match piece {
                    Piece::Bytes(bytes) => bytes.clone(),
                    Piece::Cut | Piece::Hang => Vec::new(),
                });
                pieces = vec![Piece::Bytes(all.collect())];
            }
            let (server, outcome) = run(format, vec![Answer::pieces(pieces)]).await;
            assert_eq!(outcome.code(), "server_failed", "{format}");
            assert!(outcome.error.as_ref().is_some_and(|error| error.to_string().contains("boom")));
            assert_eq!(outcome.reply.text, "Aé", "{format}: what came stays");
            assert_eq!(server.seen().len(), 1, "{format}");
        }
    }
}

/// Neither one event nor all of them may be larger than anything honest.
#[tokio::test]
async fn every_format_is_bounded() {
    for format in Format::ALL {
        let endless = std::iter::once(Piece::Bytes(b"data: ".to_vec()))
            .chain(std::iter::repeat_n(Piece::Bytes(vec![b'x'; 64 * 1024]), 20))
            .collect();
        let (server, outcome) = run(format, vec![Answer::pieces(endless)]).await;
        assert_eq!((outcome.code(), server.seen().len()), ("too_large", 1), "{format}");
    }
    let ping = Piece::Bytes([b": ", [b'x'; 512 * 1024].as_slice(), b"\n\n"].concat());
    let (_, outcome) = run(Format::Chat, vec![Answer::pieces(vec![ping; 40])]).await;
    assert_eq!(outcome.code(), "too_large");
    let huge = json!({"choices": [{"message": {"content": "x".repeat(17 * 1024 * 1024)}}]});
    let (_, outcome) = run(Format::Chat, vec![Answer::json(200, &huge)]).await;
    assert_eq!(outcome.code(), "too_large");
}
