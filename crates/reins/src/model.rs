//! Which model a run uses: what the flags say, else what the person keeps, else what is there.

use anyhow::{Context, Result, bail};
use reins_control::STORE_FILE;
use reins_core::Secret;
use reins_models::{CUSTOM, Endpoint, Format, Found, Http, Model, ModelClient, Provider, discover};
use reins_store::{ProviderName, Store, StoredProvider};
use std::path::Path;
use std::sync::Arc;

/// A model and the sentence that says which it is.
pub(crate) struct Chosen {
    pub(crate) client: Arc<dyn Model>,
    pub(crate) sentence: String,
}

/// Opens the store of a data directory, which is made if need be.
pub(crate) fn store(data_dir: &Path) -> Result<Store> {
    Ok(Store::open(data_dir.join(STORE_FILE))?)
}

/// Chooses by `--base-url`, by `--model`, by what is kept, or by what is found.
pub(crate) async fn choose(
    store: &Store,
    model: Option<&str>,
    base_url: Option<&str>,
) -> Result<Chosen> {
    let http = Http::new(None)?;
    if let Some(base) = base_url {
        let provider = Provider::by_address(base);
        let endpoint = Endpoint::at(provider, base, key_for(provider))?;
        let model = model.map(str::to_owned);
        return ready(&http, &Found { endpoint, model, from: "--base-url".into() }).await;
    }
    if let Some(model) = model {
        let (name, model) = match model.split_once('/') {
            Some((name, model)) => (name, Some(model.to_owned())),
            None => (model, None),
        };
        if let Some(mut found) = named(store, name).await? {
            found.model = model.or(found.model);
            return ready(&http, &found).await;
        }
    }
    let kept = store.providers().await?;
    let mut found = match kept.first() {
        Some(first) => kept_one(store, first).await?,
        None => discovered(&http).await?,
    };
    if let Some(model) = model {
        found.model = Some(model.to_owned());
    }
    ready(&http, &found).await
}

/// What a name stands for: a kept provider, or a row of the table with a key of the environment.
pub(crate) async fn named(store: &Store, name: &str) -> Result<Option<Found>> {
    let kept = store.providers().await?;
    if let Some(kept) = kept.iter().find(|kept| kept.name.as_str() == name) {
        return Ok(Some(kept_one(store, kept).await?));
    }
    let Some(provider) = Provider::by_id(name).filter(|provider| **provider != CUSTOM) else {
        return Ok(None);
    };
    // A provider that is kept under another name has a key, too.
    let other = kept.iter().find(|kept| kept.provider == provider.id && kept.has_key);
    let key = key_for(provider);
    if let (Some(other), None) = (other, &key) {
        return Ok(Some(kept_one(store, other).await?));
    }
    let base = provider.bases.iter().find_map(|name| variable(name));
    let endpoint = match base.filter(|_| provider.base.is_empty()) {
        Some(base) => Endpoint::at(provider, &base, key)?,
        None => Endpoint::of(provider, key)?,
    };
    let model = provider.models.iter().find_map(|name| variable(name));
    let model = model.or_else(|| Some(provider.model.to_owned())).filter(|m| !m.is_empty());
    Ok(Some(Found { endpoint, model, from: "--model".into() }))
}

/// A kept provider, ready to be used. Its address is checked again: the file may be older than the
/// rules.
pub(crate) async fn kept_one(store: &Store, kept: &StoredProvider) -> Result<Found> {
    let unknown = || format!("'{}' is not usable; add it again or remove it", kept.name);
    let Some((kept, key)) = store.provider(kept.name.clone()).await? else {
        bail!("the provider '{}' was removed meanwhile", kept.name);
    };
    let provider = Provider::by_id(&kept.provider).with_context(unknown)?;
    let format = kept.format.parse::<Format>().with_context(unknown)?;
    let endpoint = Endpoint::speaking(provider, &kept.base, format, key).with_context(unknown)?;
    let own = Some(provider.model).filter(|model| !model.is_empty() && kept.base == provider.base);
    let model = kept.model.or_else(|| own.map(str::to_owned));
    Ok(Found { endpoint, model, from: format!("kept as {}", kept.name).into() })
}

async fn discovered(http: &Http) -> Result<Found> {
    let mut discovery = discover(http, |name| std::env::var(name).ok()).await;
    for (variable, problem) in &discovery.problems {
        tracing::warn!(variable, %problem, "passed over");
    }
    if discovery.found.is_empty() {
        bail!(
            "no model was found. Keep a key with `reins providers add anthropic` (or openai, gemini, openrouter, …) or set one such as ANTHROPIC_API_KEY, start Ollama, LM Studio or llama-server, or name a server with --base-url; `make run` shows everything without one"
        );
    }
    Ok(discovery.found.remove(0))
}

async fn ready(http: &Http, found: &Found) -> Result<Chosen> {
    let model = found.model(http).await.context("the model server was asked which model it has")?;
    let sentence = found.sentence(&model);
    Ok(Chosen { client: Arc::new(ModelClient::new(http, found.endpoint.clone(), model)), sentence })
}

/// The key for a provider: its own variable, or `REINS_API_KEY` for any server.
pub(crate) fn key_for(provider: &'static Provider) -> Option<Secret<String>> {
    let names = provider.keys.iter().chain(std::iter::once(&"REINS_API_KEY"));
    names.copied().find_map(variable).map(Secret::new)
}

/// The names under which providers may be kept that have no row of their own.
pub(crate) fn is_row(name: &ProviderName) -> Option<&'static Provider> {
    Provider::by_id(name.as_str()).filter(|provider| **provider != CUSTOM)
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().map(|value| value.trim().to_owned()).filter(|value| !value.is_empty())
}
