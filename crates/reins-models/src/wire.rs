//! What the formats have in common: where a request goes, and which decoder reads the answer.

use crate::dialect::Dialect;
use crate::error::ModelError;
use crate::event::ModelEvent;
use crate::message::{ChatRequest, Kept};
use crate::provider::{Endpoint, Format};
use crate::sse::SseEvent;
use crate::text_calls::without_tools;
use crate::transport::HttpRequest;
use crate::{chat, gemini, messages, responses};
use bytes::Bytes;
use reins_core::Secret;
use serde_json::Value;
use url::Url;

/// The version of the Messages format that we speak.
const MESSAGES_VERSION: &str = "2023-06-01";

/// What an encoder needs to know besides the request.
pub(crate) struct Target<'a> {
    pub(crate) endpoint: &'a Endpoint,
    pub(crate) model: &'a str,
    pub(crate) dialect: &'a Dialect,
}

impl Target<'_> {
    /// What this model itself gave to be kept; nothing of any other one.
    pub(crate) fn own<'k>(&self, kept: &'k [Kept]) -> impl Iterator<Item = &'k Value> {
        let source = source(self.endpoint, self.dialect.format, self.model);
        kept.iter().filter(move |kept| kept.source == source).map(|kept| &kept.data)
    }
}

/// Who gave something to be kept.
pub(crate) fn source(endpoint: &Endpoint, format: Format, model: &str) -> String {
    format!("{format} {} {model}", endpoint.base.server())
}

/// The HTTP request for a chat request.
pub(crate) fn request(
    endpoint: &Endpoint,
    model: &str,
    request: &ChatRequest,
    dialect: &Dialect,
) -> HttpRequest {
    let blind;
    let request = if dialect.pictures || !request.has_pictures() {
        request
    } else {
        blind = request.without_pictures();
        &blind
    };
    let text;
    let request = if dialect.tools {
        request
    } else {
        text = without_tools(request);
        &text
    };
    let target = Target { endpoint, model, dialect };
    let (path, body) = match dialect.format {
        Format::Chat => ("/chat/completions".to_owned(), chat::body(request, &target)),
        Format::Responses => ("/responses".to_owned(), responses::body(request, &target)),
        Format::Messages => ("/v1/messages".to_owned(), messages::body(request, &target)),
        Format::Gemini => (gemini::path(&target), gemini::body(request, &target)),
    };
    let accept = if dialect.stream { "text/event-stream" } else { "application/json" };
    let mut http = bare_request(endpoint, endpoint.base.join(&path));
    http.headers.push(("accept", accept.to_owned()));
    http.body = Some(Bytes::from(body.to_string()));
    http
}

/// A request with the key and the version but without a body.
pub(crate) fn bare_request(endpoint: &Endpoint, url: Url) -> HttpRequest {
    let mut headers = Vec::new();
    let key = endpoint.key.as_ref().map(|key| match endpoint.format {
        Format::Chat | Format::Responses if endpoint.provider.quirks.api_key_header => {
            ("api-key", key.clone())
        }
        Format::Chat | Format::Responses => {
            ("authorization", Secret::new(format!("Bearer {}", key.expose())))
        }
        Format::Messages => ("x-api-key", key.clone()),
        Format::Gemini => ("x-goog-api-key", key.clone()),
    });
    if endpoint.format == Format::Messages {
        headers.push(("anthropic-version", MESSAGES_VERSION.to_owned()));
    }
    HttpRequest { url, headers, key, body: None }
}

/// Reads one answer of any format.
#[derive(Debug)]
pub(crate) enum Decoder {
    Chat(chat::Decoder),
    Responses(responses::Decoder),
    Messages(messages::Decoder),
    Gemini(gemini::Decoder),
}

/// Calls the decoder of the format.
macro_rules! each {
    ($self:ident, $decoder:ident => $call:expr) => {
        match $self {
            Decoder::Chat($decoder) => $call,
            Decoder::Responses($decoder) => $call,
            Decoder::Messages($decoder) => $call,
            Decoder::Gemini($decoder) => $call,
        }
    };
}

impl Decoder {
    pub(crate) fn new(endpoint: &Endpoint, format: Format, model: &str) -> Self {
        let source = source(endpoint, format, model);
        let endpoint = endpoint.clone();
        match format {
            Format::Chat => Decoder::Chat(chat::Decoder::new(endpoint, source)),
            Format::Responses => Decoder::Responses(responses::Decoder::new(endpoint, source)),
            Format::Messages => Decoder::Messages(messages::Decoder::new(endpoint, source)),
            Format::Gemini => Decoder::Gemini(gemini::Decoder::new(endpoint, source)),
        }
    }

    /// Takes one event of a stream.
    pub(crate) fn event(
        &mut self,
        event: &SseEvent,
        out: &mut Vec<ModelEvent>,
    ) -> Result<(), ModelError> {
        each!(self, decoder => decoder.event(event, out))
    }

    /// Takes a whole answer.
    pub(crate) fn whole(
        &mut self,
        value: &Value,
        out: &mut Vec<ModelEvent>,
    ) -> Result<(), ModelError> {
        each!(self, decoder => decoder.whole(value, out))
    }

    /// The last events: usage and stop.
    pub(crate) fn finish(&mut self, out: &mut Vec<ModelEvent>) {
        each!(self, decoder => decoder.finish(out));
    }

    /// Whether the answer itself is complete; only usage may still come.
    pub(crate) fn is_complete(&self) -> bool {
        each!(self, decoder => decoder.is_complete())
    }

    /// Whether nothing more will come.
    pub(crate) fn is_over(&self) -> bool {
        each!(self, decoder => decoder.is_over())
    }
}
