//! One conversation for the tests of all formats, and what is sent of it.

use crate::dialect::Dialect;
use crate::message::{ChatRequest, Image, Kept, Message, Part, ToolCall, ToolSpec};
use crate::provider::{Endpoint, Provider};
use crate::wire;
use bytes::Bytes;
use serde_json::{Value, json};

/// Two calls, the second with garbled arguments; a picture in the first result; the second failed.
pub(crate) fn conversation() -> ChatRequest {
    let call = |id: &str, arguments: &str| ToolCall {
        id: id.to_owned(),
        name: "look".to_owned(),
        arguments: arguments.to_owned(),
        ..ToolCall::default()
    };
    let result = |call: &str, parts, failed| Message::Tool {
        call: call.to_owned(),
        name: "look".to_owned(),
        parts,
        failed,
    };
    let image = Image { mime: "image/png".to_owned(), bytes: Bytes::from_static(b"png") };
    ChatRequest {
        system: "be good".to_owned(),
        messages: vec![
            Message::user("go"),
            Message::Assistant {
                text: "I look. ".to_owned(),
                calls: vec![call("a", "{\"x\":1}"), call("b", "{broken")],
                kept: Vec::new(),
            },
            result("a", vec![Part::Text("seen".to_owned()), Part::Image(image)], false),
            result("b", vec![Part::Text("no".to_owned())], true),
            Message::user("more"),
        ],
        tools: vec![ToolSpec {
            name: "look".to_owned(),
            description: "looks".to_owned(),
            schema: json!({"type": "object"}),
        }],
        temperature: Some(0.5),
        max_tokens: Some(99),
        ..ChatRequest::default()
    }
}

/// The same with something to give back in the answer of the model and in its first call.
pub(crate) fn with_kept(answer: &[Kept], call: &[Kept]) -> ChatRequest {
    let mut request = conversation();
    for message in &mut request.messages {
        if let Message::Assistant { calls, kept, .. } = message {
            *kept = answer.to_vec();
            calls[0].kept = call.to_vec();
        }
    }
    request
}

/// Where a provider is, or a place of one's own for those that have none.
pub(crate) fn endpoint(id: &str) -> Endpoint {
    let provider = Provider::by_id(id).expect("a row");
    match provider.base {
        "" => Endpoint::at(provider, "https://mine.openai.azure.com", None).expect("an address"),
        base => Endpoint::at(provider, base, None).expect("an address"),
    }
}

/// The body that a provider is sent.
pub(crate) fn sent(
    id: &str,
    model: &str,
    request: &ChatRequest,
    change: impl FnOnce(&mut Dialect),
) -> Value {
    let endpoint = endpoint(id);
    let mut dialect = Dialect::of(&endpoint);
    change(&mut dialect);
    let http = wire::request(&endpoint, model, request, &dialect);
    serde_json::from_slice(&http.body.expect("a body")).expect("JSON")
}

/// Something that a model of a provider gave to be kept.
pub(crate) fn kept(id: &str, model: &str, data: Value) -> Kept {
    let endpoint = endpoint(id);
    Kept { source: wire::source(&endpoint, endpoint.format, model), data }
}
