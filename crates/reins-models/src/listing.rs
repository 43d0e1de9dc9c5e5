//! Which models a server has (R-022…R-026).

use crate::address::BaseUrl;
use crate::error::{ModelError, TransportError};
use crate::failure::{self, Said};
use crate::limits;
use crate::provider::{Endpoint, Format};
use crate::transport::{Http, HttpAnswer};
use crate::wire;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio::time::{Instant, timeout};

/// Names of models that do not chat, for servers that say nothing more about them.
const NO_CHAT: &[&str] = &[
    "embed",
    "whisper",
    "tts",
    "dall-e",
    "image",
    "imagen",
    "moderation",
    "rerank",
    "audio",
    "realtime",
    "transcribe",
    "davinci",
    "babbage",
    "sora",
    "veo",
    "lyria",
    "guard",
    "ocr",
    "bge-",
    "minilm",
    "stable-diffusion",
    "flux",
    "aqa",
    "speech",
    "voice",
];

/// Fetched lists, kept for some minutes by profile and server. Failures are not kept.
#[derive(Debug, Default)]
pub struct ModelLists {
    kept: Mutex<HashMap<ListKey, KeptList>>,
}

/// Profile and server.
type ListKey = (String, String);

/// Since when, and the list.
type KeptList = (Instant, Vec<String>);

impl ModelLists {
    /// The chat models of a server, its own order. `saved` is always among them, so that a menu is
    /// never empty; with it, a failure only shortens the list.
    pub async fn get(
        &self,
        http: &Http,
        profile: &str,
        endpoint: &Endpoint,
        saved: Option<&str>,
    ) -> Result<Vec<String>, ModelError> {
        let key = (profile.to_owned(), endpoint.base.server());
        let kept = self.kept(&key);
        let list = match kept {
            Some(list) => Ok(list),
            None => fetch(http, endpoint, limits::CHECK).await,
        };
        let mut list = match (list, saved) {
            (Ok(list), _) => {
                let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
                kept.entry(key).or_insert_with(|| (Instant::now(), list.clone()));
                list
            }
            (Err(error), Some(_)) => {
                tracing::warn!(%error, "no model list");
                Vec::new()
            }
            (Err(error), None) => return Err(error),
        };
        if let Some(saved) = saved.filter(|saved| !list.iter().any(|model| model == saved)) {
            list.insert(0, saved.to_owned());
        }
        Ok(list)
    }

    fn kept(&self, key: &ListKey) -> Option<Vec<String>> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|_, (since, _)| since.elapsed() < limits::MODELS_CACHED);
        kept.get(key).map(|(_, list)| list.clone())
    }
}

/// Asks a server for its models and keeps those that chat.
pub(crate) async fn fetch(
    http: &Http,
    endpoint: &Endpoint,
    deadline: Duration,
) -> Result<Vec<String>, ModelError> {
    endpoint.require_key()?;
    let (answer, body) = get(http, endpoint, models_path(endpoint), deadline).await?;
    if !(200..300).contains(&answer) {
        return Err(failure::of_status(answer, Said::of(&body, endpoint), None, endpoint, ""));
    }
    let value: Value = serde_json::from_slice(&body).unwrap_or(Value::Null);
    chat_models(&value).ok_or_else(|| no_list(&endpoint.base))
}

pub(crate) fn models_path(endpoint: &Endpoint) -> &'static str {
    match endpoint.format {
        Format::Chat | Format::Responses => "/models",
        // Both list a few at a time unless told otherwise.
        Format::Messages => "/v1/models?limit=1000",
        Format::Gemini => "/v1beta/models?pageSize=1000",
    }
}

fn no_list(base: &BaseUrl) -> ModelError {
    ModelError::WrongAddress { address: base.to_string(), what: "it lists no models".to_owned() }
}

/// Status and body of a GET with the key.
pub(crate) async fn get(
    http: &Http,
    endpoint: &Endpoint,
    path: &str,
    deadline: Duration,
) -> Result<(u16, Vec<u8>), ModelError> {
    let unreachable = |source: Option<TransportError>| ModelError::Unreachable {
        address: endpoint.base.to_string(),
        source,
    };
    let request = wire::bare_request(endpoint, endpoint.base.join(path));
    let all = async {
        let answer: HttpAnswer = http.0.send(request).await?;
        let status = answer.status;
        if (300..400).contains(&status) {
            return Ok(Err(failure::redirected(&answer, endpoint)));
        }
        Ok(Ok((status, answer.read(limits::LIST_BYTES).await?)))
    };
    match timeout(deadline, all).await {
        Err(_) => Err(unreachable(None)),
        Ok(Err(error)) => Err(unreachable(Some(error))),
        Ok(Ok(Err(redirected))) => Err(redirected),
        Ok(Ok(Ok((_, None)))) => Err(ModelError::TooLarge { limit: limits::LIST_BYTES }),
        Ok(Ok(Ok((status, Some(body))))) => Ok((status, body)),
    }
}

/// The ids of the models that chat; `None` if this is no model list.
pub(crate) fn chat_models(value: &Value) -> Option<Vec<String>> {
    let list = value.get("data").or_else(|| value.get("models")).unwrap_or(value).as_array()?;
    let id = |model: &Value| {
        let id = model.get("id").or_else(|| model.get("name")).and_then(Value::as_str)?;
        Some(id.strip_prefix("models/").unwrap_or(id).to_owned())
    };
    if !list.is_empty() && list.iter().all(|model| id(model).is_none()) {
        return None;
    }
    let chats = list.iter().filter(|model| chats(model)).filter_map(id);
    let mut unique: Vec<String> = Vec::new();
    for model in chats {
        if unique.len() == limits::MODELS_LISTED {
            break;
        }
        if !unique.contains(&model) {
            unique.push(model);
        }
    }
    Some(unique)
}

/// Whether a model chats: by what the server says about it, else by its name.
fn chats(model: &Value) -> bool {
    if let Some(chats) = model.pointer("/capabilities/completion_chat").and_then(Value::as_bool) {
        return chats;
    }
    if let Some(kind) = model.get("type").and_then(Value::as_str)
        && kind != "model"
    {
        return matches!(kind, "chat" | "llm" | "vlm" | "language");
    }
    let modalities = model.pointer("/architecture/output_modalities").and_then(Value::as_array);
    if let Some(modalities) = modalities {
        return modalities.iter().any(|kind| kind == "text");
    }
    let methods = model.get("supportedGenerationMethods").and_then(Value::as_array);
    if methods.is_some_and(|methods| !methods.iter().any(|method| method == "generateContent")) {
        return false;
    }
    let name = model.get("id").or_else(|| model.get("name")).and_then(Value::as_str);
    let name = name.unwrap_or_default().to_lowercase();
    !NO_CHAT.iter().any(|word| name.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// only chat models, capped.
    #[test]
    fn r024_lists_of_several_servers() {
        for (name, list, expected) in [
            (
                "OpenAI",
                json!({"object": "list", "data": [{"id": "gpt-6"}, {"id": "text-embedding-3"}, {"id": "whisper-1"}]}),
                vec!["gpt-6"],
            ),
            (
                "Mistral",
                json!({"data": [{"id": "a", "capabilities": {"completion_chat": true}}, {"id": "b", "capabilities": {"completion_chat": false}}]}),
                vec!["a"],
            ),
            (
                "Together",
                json!([{"id": "a", "type": "chat"}, {"id": "b", "type": "embedding"}]),
                vec!["a"],
            ),
            ("Anthropic", json!({"data": [{"id": "claude", "type": "model"}]}), vec!["claude"]),
            (
                "Gemini",
                json!({"data": [{"id": "models/gemini-3"}, {"id": "models/veo-3"}]}),
                vec!["gemini-3"],
            ),
            (
                "Gemini itself",
                json!({"models": [
                    {"name": "models/gemini-3", "supportedGenerationMethods": ["generateContent"]},
                    {"name": "models/gemini-3-tts", "supportedGenerationMethods": ["generateContent"]},
                    {"name": "models/answers", "supportedGenerationMethods": ["generateAnswer"]},
                ]}),
                vec!["gemini-3"],
            ),
            (
                "OpenRouter",
                json!({"data": [{"id": "x/image", "architecture": {"output_modalities": ["text", "image"]}}, {"id": "x/y", "architecture": {"output_modalities": ["image"]}}]}),
                vec!["x/image"],
            ),
            ("empty", json!({"data": []}), vec![]),
            ("doubled", json!({"data": [{"id": "a"}, {"id": "a"}]}), vec!["a"]),
        ] {
            assert_eq!(chat_models(&list).expect(name), expected, "{name}");
        }
        let many: Vec<_> = (0..1000).map(|n| json!({"id": format!("m{n}")})).collect();
        assert_eq!(
            chat_models(&json!({"data": many})).map(|list| list.len()),
            Some(limits::MODELS_LISTED)
        );
        for no_list in [json!({"hello": 1}), json!("x"), json!({"data": [{"x": 1}]}), Value::Null] {
            assert_eq!(chat_models(&no_list), None);
        }
    }
}
