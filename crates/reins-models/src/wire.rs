//! What the formats have in common: where a request goes, what a server was found not to take,
//! and which decoder reads the answer.

use crate::error::ModelError;
use crate::event::ModelEvent;
use crate::failure::Said;
use crate::message::ChatRequest;
use crate::provider::{Endpoint, Format};
use crate::sse::SseEvent;
use crate::text_calls::without_tools;
use crate::transport::HttpRequest;
use crate::{chat, messages};
use bytes::Bytes;
use reins_core::Secret;
use serde_json::Value;
use url::Url;

/// The version of the Messages format that we speak.
const MESSAGES_VERSION: &str = "2023-06-01";

/// What one server and model take. Begins with everything and shrinks by what they refuse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Dialect {
    pub(crate) stream: bool,
    pub(crate) stream_options: bool,
    pub(crate) temperature: bool,
    /// The newer name of the limit of tokens, which OpenAI's own models insist on.
    pub(crate) completion_tokens: bool,
    /// Tools as the format has them, or as text.
    pub(crate) tools: bool,
}

impl Default for Dialect {
    fn default() -> Self {
        Self {
            stream: true,
            stream_options: true,
            temperature: true,
            completion_tokens: false,
            tools: true,
        }
    }
}

impl Dialect {
    /// What is known of a server before it was asked anything.
    pub(crate) fn of(endpoint: &Endpoint) -> Self {
        let completion_tokens =
            endpoint.format == Format::Chat && endpoint.base.host() == "api.openai.com";
        Self { completion_tokens, ..Self::default() }
    }

    /// Leaves out the parameter that a refused request is about; false if it is about something
    /// else, or about what is left out already.
    pub(crate) fn leave_out(&mut self, status: u16, said: &Said) -> bool {
        if !matches!(status, 400 | 422) {
            return false;
        }
        let before = *self;
        let message = said.message.to_lowercase();
        if message.contains("stream_options") {
            self.stream_options = false;
        } else if message.contains("max_completion_tokens") && !before.completion_tokens {
            self.completion_tokens = true;
        } else if message.contains("temperature") {
            self.temperature = false;
        }
        *self != before
    }
}

/// The HTTP request for a chat request.
pub(crate) fn request(
    endpoint: &Endpoint,
    model: &str,
    request: &ChatRequest,
    dialect: &Dialect,
) -> HttpRequest {
    let text;
    let request = if dialect.tools {
        request
    } else {
        text = without_tools(request);
        &text
    };
    let (path, body) = match endpoint.format {
        Format::Chat => ("/chat/completions", chat::body(request, model, dialect)),
        Format::Messages => ("/v1/messages", messages::body(request, model, dialect)),
    };
    let accept = if dialect.stream { "text/event-stream" } else { "application/json" };
    let mut http = bare_request(endpoint, endpoint.base.join(path));
    http.headers.push(("accept", accept.to_owned()));
    http.body = Some(Bytes::from(body.to_string()));
    http
}

/// A request with the key and the version but without a body.
pub(crate) fn bare_request(endpoint: &Endpoint, url: Url) -> HttpRequest {
    let mut headers = Vec::new();
    let key = match endpoint.format {
        Format::Chat => endpoint
            .key
            .as_ref()
            .map(|key| ("authorization", Secret::new(format!("Bearer {}", key.expose())))),
        Format::Messages => {
            headers.push(("anthropic-version", MESSAGES_VERSION.to_owned()));
            endpoint.key.clone().map(|key| ("x-api-key", key))
        }
    };
    HttpRequest { url, headers, key, body: None }
}

/// Reads one answer of either format.
#[derive(Debug)]
pub(crate) enum Decoder {
    Chat(chat::Decoder),
    Messages(messages::Decoder),
}

impl Decoder {
    pub(crate) fn new(endpoint: &Endpoint) -> Self {
        match endpoint.format {
            Format::Chat => Decoder::Chat(chat::Decoder::new(endpoint.clone())),
            Format::Messages => Decoder::Messages(messages::Decoder::new(endpoint.clone())),
        }
    }

    /// Takes one event of a stream.
    pub(crate) fn event(
        &mut self,
        event: &SseEvent,
        out: &mut Vec<ModelEvent>,
    ) -> Result<(), ModelError> {
        match self {
            Decoder::Chat(decoder) => decoder.event(event, out),
            Decoder::Messages(decoder) => decoder.event(event, out),
        }
    }

    /// Takes a whole answer.
    pub(crate) fn whole(
        &mut self,
        value: &Value,
        out: &mut Vec<ModelEvent>,
    ) -> Result<(), ModelError> {
        match self {
            Decoder::Chat(decoder) => decoder.whole(value, out),
            Decoder::Messages(decoder) => decoder.whole(value, out),
        }
    }

    /// The last events: usage and stop.
    pub(crate) fn finish(&mut self, out: &mut Vec<ModelEvent>) {
        match self {
            Decoder::Chat(decoder) => decoder.finish(out),
            Decoder::Messages(decoder) => decoder.finish(out),
        }
    }

    /// Whether the answer itself is complete; only usage may still come.
    pub(crate) fn is_complete(&self) -> bool {
        match self {
            Decoder::Chat(decoder) => decoder.is_complete(),
            Decoder::Messages(decoder) => decoder.is_complete(),
        }
    }

    /// Whether nothing more will come.
    pub(crate) fn is_over(&self) -> bool {
        match self {
            Decoder::Chat(decoder) => decoder.is_over(),
            Decoder::Messages(decoder) => decoder.is_over(),
        }
    }
}
