//! What the person already has: keys in the environment and model servers on this machine.

use crate::error::ModelError;
use crate::limits;
use crate::listing;
use crate::provider::{Endpoint, Provider};
use crate::table::{CUSTOM, PROVIDERS};
use crate::transport::Http;
use futures_util::future::join_all;
use reins_core::Secret;
use serde_json::Value;
use std::borrow::Cow;

/// A model that could be used at once.
#[derive(Clone, Debug)]
pub struct Found {
    /// Where it is.
    pub endpoint: Endpoint,
    /// Which model; `None` if the server has to be asked first, see [`Found::model`].
    pub model: Option<String>,
    /// Where we know it from, such as `OPENAI_API_KEY`. Empty for servers on this machine.
    pub from: Cow<'static, str>,
}

impl Found {
    /// The model to use; asks the server if nothing names one.
    pub async fn model(&self, http: &Http) -> Result<String, ModelError> {
        if let Some(model) = &self.model {
            return Ok(model.clone());
        }
        let list = listing::fetch(http, &self.endpoint, limits::CHECK).await?;
        list.into_iter().next().ok_or_else(|| ModelError::NoSuchModel {
            model: String::new(),
            address: self.endpoint.base.to_string(),
            said: "it lists no chat model".to_owned(),
        })
    }

    /// One sentence for the person: `using claude-sonnet-5-5 from Anthropic (ANTHROPIC_API_KEY)`.
    pub fn sentence(&self, model: &str) -> String {
        let name = self.endpoint.provider.name;
        match (&*self.from, self.endpoint.base.is_local()) {
            ("", _) => format!("using {model} from {name} at {}", self.endpoint.base),
            (from, false) if self.endpoint.provider != &CUSTOM => {
                format!("using {model} from {name} ({from})")
            }
            (from, _) => format!("using {model} at {} ({from})", self.endpoint.base),
        }
    }
}

/// What was found, best first, and what looked like a setting but cannot be used.
#[derive(Debug, Default)]
pub struct Discovery {
    /// Usable models.
    pub found: Vec<Found>,
    /// Variables with the reason why they were passed over.
    pub problems: Vec<(&'static str, ModelError)>,
}

/// Looks around: `env` reads a variable. No key is sent anywhere; only servers on this machine are
/// asked, without one.
pub async fn discover(http: &Http, env: impl Fn(&str) -> Option<String>) -> Discovery {
    let env = |name: &str| env(name).map(|value| value.trim().to_owned()).filter(|v| !v.is_empty());
    let mut discovery = Discovery::default();
    for provider in PROVIDERS.iter().filter(|provider| provider.needs_key()) {
        let key = provider.keys.iter().find_map(|name| Some((*name, env(name)?)));
        let base = provider.bases.iter().find_map(|name| Some((*name, env(name)?)));
        let model = provider.models.iter().find_map(|name| env(name));
        match from_env(provider, key, base, model) {
            Ok(found) => discovery.found.extend(found),
            Err(problem) => discovery.problems.push(problem),
        }
    }
    let mut local = Vec::new();
    for provider in PROVIDERS.iter().filter(|provider| !provider.needs_key()) {
        match local_base(provider, &env) {
            Ok(endpoint) => local.push(endpoint),
            Err(problem) => discovery.problems.push(problem),
        }
    }
    let probes = local.into_iter().map(|endpoint| probe(http, endpoint));
    discovery.found.extend(join_all(probes).await.into_iter().flatten());
    discovery
}

type Named = Option<(&'static str, String)>;

fn from_env(
    provider: &'static Provider,
    key: Named,
    base: Named,
    model: Option<String>,
) -> Result<Option<Found>, (&'static str, ModelError)> {
    let key_from = key.as_ref().map(|(name, _)| *name);
    let key = key.map(|(_, key)| Secret::new(key));
    let own = || Some(provider.model.to_owned()).filter(|model| !model.is_empty());
    let Some((base_from, base)) = base else {
        let Some(from) = key_from else {
            return Ok(None);
        };
        let endpoint = Endpoint::of(provider, key).map_err(|error| (from, error.into()))?;
        return Ok(Some(Found { endpoint, model: model.or_else(own), from: from.into() }));
    };
    // A server of one's own needs no key, but its models are not the provider's.
    let is_own = provider.base.is_empty() || Provider::by_address(&base) == provider;
    let mut endpoint =
        Endpoint::at(provider, &base, key).map_err(|error| (base_from, error.into()))?;
    if endpoint.key.is_none() && !endpoint.base.is_local() {
        return Ok(None);
    }
    if !is_own {
        endpoint.provider = &CUSTOM;
    }
    let model = model.or_else(|| own().filter(|_| is_own));
    Ok(Some(Found { endpoint, model, from: base_from.into() }))
}

/// `OLLAMA_HOST` is where Ollama listens, in Ollama's own loose form.
fn local_base(
    provider: &'static Provider,
    env: &impl Fn(&str) -> Option<String>,
) -> Result<Endpoint, (&'static str, ModelError)> {
    let host = env("OLLAMA_HOST").filter(|_| provider.id == "ollama");
    let Some(host) = host else {
        return Endpoint::of(provider, None).map_err(|error| ("", error.into()));
    };
    let address = if host.contains("://") { host } else { format!("http://{host}") };
    // As a listening address it may stand for all interfaces.
    let address = address.replace("//0.0.0.0", "//127.0.0.1");
    let port = if address.trim_end_matches('/').matches(':').count() < 2 { ":11434" } else { "" };
    let base = format!("{}{port}/v1", address.trim_end_matches('/'));
    Endpoint::at(provider, &base, None).map_err(|error| ("OLLAMA_HOST", error.into()))
}

/// Whether a model server listens there. Anything else on these ports is left alone after one GET.
async fn probe(http: &Http, endpoint: Endpoint) -> Option<Found> {
    let path = listing::models_path(&endpoint);
    let (status, body) = listing::get(http, &endpoint, path, limits::PROBE).await.ok()?;
    let value: Value = serde_json::from_slice(&body).ok()?;
    // Ports such as 8080 belong to everyone: only what says that it is the right server counts.
    let says = value.pointer("/data/0/owned_by").and_then(Value::as_str).unwrap_or_default();
    let owner = endpoint.provider.owner;
    if status != 200 || (!owner.is_empty() && says != owner) {
        return None;
    }
    let model = listing::chat_models(&value)?.into_iter().next()?;
    Some(Found { endpoint, model: Some(model), from: "".into() })
}
