//! Which model a run uses: what the flags say, else what the person already has.

use anyhow::{Context, Result, bail};
use reins_core::Secret;
use reins_models::{
    CUSTOM, Endpoint, Found, Http, Model, ModelClient, PROVIDERS, Provider, discover,
};
use std::sync::Arc;

/// A model and the sentence that says which it is.
pub(crate) struct Chosen {
    pub(crate) client: Arc<dyn Model>,
    pub(crate) sentence: String,
}

/// Chooses by `--base-url`, by `--model provider/name`, or by what is found.
pub(crate) async fn choose(model: Option<&str>, base_url: Option<&str>) -> Result<Chosen> {
    let http = Http::new(None)?;
    if let Some(base) = base_url {
        let provider = Provider::by_address(base);
        let endpoint = Endpoint::at(provider, base, key_for(provider))?;
        let found = Found { endpoint, model: model.map(str::to_owned), from: "--base-url" };
        return ready(&http, &found).await;
    }
    if let Some((id, name)) = model.and_then(|model| model.split_once('/'))
        && let Some(provider) = Provider::by_id(id)
    {
        let endpoint = Endpoint::of(provider, key_for(provider))?;
        let found = Found { endpoint, model: Some(name.to_owned()), from: "--model" };
        return ready(&http, &found).await;
    }
    let mut discovery = discover(&http, |name| std::env::var(name).ok()).await;
    for (variable, problem) in &discovery.problems {
        tracing::warn!(variable, %problem, "passed over");
    }
    if discovery.found.is_empty() {
        bail!(
            "no model was found. Set a key such as ANTHROPIC_API_KEY or OPENAI_API_KEY, start Ollama, LM Studio or llama-server, or name a server with --base-url; `make run` shows everything without one"
        );
    }
    let mut found = discovery.found.remove(0);
    if let Some(model) = model {
        found.model = Some(model.to_owned());
    }
    ready(&http, &found).await
}

async fn ready(http: &Http, found: &Found) -> Result<Chosen> {
    let model = found.model(http).await.context("the model server was asked which model it has")?;
    let sentence = found.sentence(&model);
    Ok(Chosen { client: Arc::new(ModelClient::new(http, found.endpoint.clone(), model)), sentence })
}

/// The key for a provider: its own variable, or `REINS_API_KEY` for any server.
fn key_for(provider: &'static Provider) -> Option<Secret<String>> {
    let own = PROVIDERS
        .iter()
        .chain(std::iter::once(&CUSTOM))
        .filter(|row| row.id == provider.id)
        .flat_map(|row| row.keys.iter());
    own.chain(std::iter::once(&"REINS_API_KEY"))
        .find_map(|name| std::env::var(name).ok().filter(|key| !key.is_empty()))
        .map(Secret::new)
}
