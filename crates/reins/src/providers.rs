//! `reins providers`: model providers that the person keeps, with their keys (R-022…R-031).

use crate::cli::{ProviderArgs, ProvidersArgs, ProvidersCommand};
use crate::exit;
use crate::model;
use crate::secrets::typed;
use anyhow::{Context, Result, bail};
use reins_core::Secret;
use reins_models::{
    CUSTOM, Endpoint, Found, Http, ModelLists, PROVIDERS, Provider, check, discover,
};
use reins_store::{ProviderName, Store, StoredProvider};
use std::io::{IsTerminal, Write};
use std::process::ExitCode;
use std::time::SystemTime;

pub(crate) async fn main(args: ProvidersArgs) -> Result<ExitCode> {
    let data_dir = crate::browser_flags::data_dir(args.data_dir.as_deref())?;
    let store = model::store(&data_dir)?;
    let done = match args.command {
        ProvidersCommand::Add(args) => add(&store, args).await?,
        ProvidersCommand::List => list(&store).await?,
        ProvidersCommand::Test { name } => test(&store, name).await?,
        ProvidersCommand::Remove { name } => remove(&store, name).await?,
        ProvidersCommand::Models { name } => models(&store, &name).await?,
    };
    Ok(ExitCode::from(if done { exit::DONE } else { exit::FAILED }))
}

fn say(text: &str) -> Result<()> {
    Ok(writeln!(std::io::stdout().lock(), "{text}")?)
}

/// Checks a provider and keeps it.
async fn add(store: &Store, args: ProviderArgs) -> Result<bool> {
    let provider = which(&args)?;
    let mut endpoint = match args.base_url.as_deref() {
        Some(base) => Endpoint::at(provider, base, None)?,
        None => Endpoint::of(provider, None)?,
    };
    if let Some(format) = args.format {
        let base = args.base_url.as_deref().unwrap_or(provider.base);
        endpoint = Endpoint::speaking(provider, base, format, None)?;
    }
    endpoint.key = key(&args, provider)?;
    let own = if args.base_url.is_none() { provider.model } else { "" };
    if !args.no_check {
        let model = args.model.as_deref().unwrap_or(own);
        if let Err(error) = check(&Http::new(None)?, &endpoint, model).await {
            say(&format!(
                "{error}\nNothing was kept. With --no-check it is kept without asking the server."
            ))?;
            return Ok(false);
        }
    }
    let about = StoredProvider {
        name: args.name,
        provider: provider.id.to_owned(),
        base: endpoint.base.to_string(),
        format: endpoint.format.to_string(),
        model: args.model,
        has_key: endpoint.key.is_some(),
    };
    let name = about.name.clone();
    store.set_provider(about, endpoint.key.clone(), SystemTime::now()).await?;
    say(&format!(
        "{name} is kept: {} at {}. `reins run` uses it; `reins providers models {name}` shows its models.",
        provider.name, endpoint.base
    ))?;
    Ok(true)
}

/// Which provider is meant: as said, by its name, or by its address.
fn which(args: &ProviderArgs) -> Result<&'static Provider> {
    if let Some(id) = &args.provider {
        return Provider::by_id(id)
            .with_context(|| format!("there is no provider '{id}'; {}", known()));
    }
    match (model::is_row(&args.name), args.base_url.as_deref()) {
        (Some(provider), _) => Ok(provider),
        (None, Some(base)) => Ok(Provider::by_address(base)),
        (None, None) => bail!(
            "'{}' is no provider that Reins knows; say which it is with --provider, or give the address with --base-url. {}",
            args.name,
            known()
        ),
    }
}

fn known() -> String {
    let ids: Vec<&str> = PROVIDERS.iter().chain([&CUSTOM]).map(|provider| provider.id).collect();
    format!("There are {}.", ids.join(", "))
}

/// The key, typed or piped in. A server of one's own is asked about as well, and may have none
///
fn key(args: &ProviderArgs, provider: &'static Provider) -> Result<Option<Secret<String>>> {
    let own_server = *provider == CUSTOM || args.base_url.is_some();
    if args.no_key || !(provider.needs_key() || own_server) {
        return Ok(None);
    }
    let may_be_none = own_server && std::io::stdin().is_terminal();
    let hint = if may_be_none { ", or just Enter if it needs none" } else { "" };
    let key = typed(&format!("Key for {}{hint}", args.name), may_be_none)?;
    let key = key.expose().trim().to_owned();
    if key.is_empty() && may_be_none {
        return Ok(None);
    }
    // What was copied along would be refused by every server, in words that help nobody.
    if !key.bytes().all(|byte| byte.is_ascii_graphic()) || key.is_empty() {
        bail!("that is no key: it holds spaces or other signs that no key has; nothing was kept");
    }
    Ok(Some(Secret::new(key)))
}

/// What is kept, and what the environment offers besides. No server is sent a key for it.
async fn list(store: &Store) -> Result<bool> {
    let kept = store.providers().await?;
    for (at, provider) in kept.iter().enumerate() {
        let name = Provider::by_id(&provider.provider).map_or("?", |row| row.name);
        let key = if provider.has_key { "key kept" } else { "no key" };
        let model = provider.model.as_deref().unwrap_or("-");
        let used = if at == 0 { "  used when none is named" } else { "" };
        say(&format!(
            "{:<16} {name:<14} {key:<9} {:<9} {model:<24} {}{used}",
            provider.name, provider.format, provider.base
        ))?;
    }
    let discovery = discover(&Http::new(None)?, |name| std::env::var(name).ok()).await;
    for found in &discovery.found {
        let from = if found.from.is_empty() { "on this machine" } else { &*found.from };
        let provider = found.endpoint.provider;
        let model = found.model.as_deref().unwrap_or("-");
        say(&format!(
            "{:<16} {:<14} {:<9} {:<9} {model:<24} {} ({from})",
            provider.id,
            provider.name,
            "found",
            found.endpoint.format.as_str(),
            found.endpoint.base
        ))?;
    }
    for (variable, problem) in &discovery.problems {
        say(&format!("{variable} is passed over: {problem}"))?;
    }
    if kept.is_empty() && discovery.found.is_empty() {
        say("no providers; keep one with `reins providers add NAME`, such as anthropic or openai")?;
    }
    Ok(true)
}

/// Checks one provider or all that are kept, and says what is wrong with each.
async fn test(store: &Store, name: Option<ProviderName>) -> Result<bool> {
    let mut all = Vec::new();
    match name {
        Some(name) => all.push((name.clone(), find(store, &name).await?)),
        None => {
            for kept in store.providers().await? {
                let found = model::kept_one(store, &kept).await?;
                all.push((kept.name, found));
            }
        }
    }
    if all.is_empty() {
        say("no providers are kept; name one whose key is in the environment, such as openai")?;
    }
    let http = Http::new(None)?;
    let mut good = true;
    for (name, found) in all {
        let model = found.model.as_deref().unwrap_or_default();
        match check(&http, &found.endpoint, model).await {
            Ok(()) => say(&format!("{name}: address and key are right"))?,
            Err(error) => {
                good = false;
                say(&format!("{name}: {error} ({})", error.code()))?;
            }
        }
    }
    Ok(good)
}

async fn remove(store: &Store, name: ProviderName) -> Result<bool> {
    let removed = store.remove_provider(name.clone()).await?;
    say(&if removed {
        format!("{name} is forgotten, and its key with it")
    } else {
        format!("there is no provider {name}; `reins providers list` shows them")
    })?;
    Ok(removed)
}

/// The models of a provider, the one that is kept with it first.
async fn models(store: &Store, name: &ProviderName) -> Result<bool> {
    let found = find(store, name).await?;
    let saved = found.model.as_deref();
    let lists = ModelLists::default();
    let list = lists.get(&Http::new(None)?, name.as_str(), &found.endpoint, None).await;
    let list = match (list, saved) {
        (Ok(list), _) => list,
        (Err(error), Some(saved)) => {
            say(saved)?;
            writeln!(std::io::stderr().lock(), "the others are not known: {error}")?;
            return Ok(false);
        }
        (Err(error), None) => return Err(error.into()),
    };
    for model in saved.into_iter().filter(|saved| !list.iter().any(|model| model == saved)) {
        say(model)?;
    }
    for model in &list {
        say(model)?;
    }
    Ok(true)
}

async fn find(store: &Store, name: &ProviderName) -> Result<Found> {
    model::named(store, name.as_str())
        .await?
        .with_context(|| format!("there is no provider {name}; `reins providers list` shows them"))
}
