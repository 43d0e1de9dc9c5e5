//! Whether an address and a key work, before they are saved (R-028…R-031).

use crate::client::{Model, ModelClient, Timing};
use crate::error::ModelError;
use crate::failure::{self, Said};
use crate::limits;
use crate::listing;
use crate::message::{ChatRequest, Message};
use crate::provider::{Endpoint, Format};
use crate::transport::Http;
use futures_util::StreamExt;
use serde_json::Value;
use std::time::Duration;

/// Checks an endpoint. `model` is what a server without a model list is tried with.
pub async fn check(http: &Http, endpoint: &Endpoint, model: &str) -> Result<(), ModelError> {
    endpoint.require_key()?;
    // OpenRouter's model list is public and would accept any key, however the host was entered.
    let host = endpoint.base.host();
    let is_open_router = host == "openrouter.ai" || host.ends_with(".openrouter.ai");
    let path = if is_open_router { "/key" } else { listing::models_path(endpoint) };
    let (status, body) = listing::get(http, endpoint, path, limits::CHECK).await?;
    let fails = |said| failure::of_status(status, said, None, endpoint, model);
    match status {
        200..300 if is_open_router => Ok(()),
        200..300 => {
            let value: Value = serde_json::from_slice(&body).unwrap_or(Value::Null);
            match listing::chat_models(&value) {
                Some(_) => Ok(()),
                None => one_token(http, endpoint, model).await,
            }
        }
        404 | 405 | 501 if !is_open_router => one_token(http, endpoint, model).await,
        _ => Err(fails(Said::of(&body, endpoint))),
    }
}

/// The shortest possible chat, for servers that list no models.
async fn one_token(http: &Http, endpoint: &Endpoint, model: &str) -> Result<(), ModelError> {
    let timing = Timing { first_byte: limits::CHECK * 3, retries: 0, ..Timing::default() };
    let client = ModelClient::new(http, endpoint.clone(), model).with_timing(timing);
    let request = ChatRequest {
        messages: vec![Message::user("Hi")],
        max_tokens: Some(1),
        ..ChatRequest::default()
    };
    let mut stream = client.stream(request);
    while let Some(event) = stream.next().await {
        match event {
            Err(ModelError::WrongAddress { address, what }) => {
                return Err(with_hint(http, endpoint, address, what).await);
            }
            other => drop(other?),
        }
    }
    Ok(())
}

/// Many addresses end in `/v1`, and many people leave it out.
async fn with_hint(http: &Http, endpoint: &Endpoint, address: String, what: String) -> ModelError {
    let is_openai = matches!(endpoint.format, Format::Chat | Format::Responses);
    if is_openai && endpoint.base.is_bare() {
        let found = listing::get(http, endpoint, "/v1/models", Duration::from_secs(3)).await;
        if matches!(found, Ok((200, _))) {
            let what = format!("{what}; but {address}/v1 answers, use that");
            return ModelError::WrongAddress { address, what };
        }
    }
    ModelError::WrongAddress { address, what }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::TransportError;
    use crate::table::CUSTOM;
    use crate::transport::{HttpAnswer, HttpRequest, Transport};
    use futures_util::future::BoxFuture;
    use futures_util::stream;
    use reins_core::Secret;
    use reqwest::header::HeaderMap;
    use std::sync::{Arc, Mutex};

    /// Notes what is asked for and answers with a status.
    struct Notes(u16, Arc<Mutex<Vec<String>>>);

    impl Transport for Notes {
        fn send(&self, request: HttpRequest) -> BoxFuture<'_, Result<HttpAnswer, TransportError>> {
            self.1.lock().expect("notes").push(request.url.to_string());
            let body = stream::iter([Ok("{\"data\":{}}".into())]).boxed();
            let answer = HttpAnswer { status: self.0, headers: HeaderMap::new(), body };
            Box::pin(async { Ok(answer) })
        }
    }

    /// OpenRouter's model list would take any key, however the host was entered.
    #[tokio::test]
    async fn r029_openrouter_is_asked_about_the_key() {
        for (base, status, expected) in [
            ("https://openrouter.ai/api/v1", 200, "ok"),
            ("https://openrouter.ai/api/v1/chat/completions", 401, "wrong_key"),
            ("https://eu.openrouter.ai/api/v1", 404, "wrong_address"),
        ] {
            let seen = Arc::new(Mutex::new(Vec::new()));
            let http = Http(Arc::new(Notes(status, seen.clone())));
            let key = Some(Secret::new("k".to_owned()));
            let endpoint = Endpoint::at(&CUSTOM, base, key).expect("endpoint");
            let result = check(&http, &endpoint, "m").await;
            assert_eq!(result.as_ref().map_or_else(ModelError::code, |()| "ok"), expected);
            let host = endpoint.base.host();
            assert_eq!(*seen.lock().expect("notes"), [format!("https://{host}/api/v1/key")]);
        }
    }
}
