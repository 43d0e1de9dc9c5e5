//! What a tenant has set for its guarded browsers, and which models the daemon's owner has.

use super::{Access, Answer, Ask, Operation, answer};
use crate::error::ServeError;
use crate::limits;
use crate::runs::ProviderShape;
use crate::scope::Scope;
use axum::response::Response;
use reins_control::{Level, LevelError};
use reins_core::{Origin, Rule, RuleWordError};
use reins_store::ServeSettings;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub(super) const OPERATIONS: &[Operation] = &[
    Operation {
        method: "GET",
        path: "/v1/settings",
        id: "getSettings",
        about: "The tenant's settings for guarded browsers, and the models that runs may use.",
        access: Access::Scope(Scope::Read),
        query: &[],
        body: None,
        good: 200,
        answer: Answer::Json(|g| g.subschema_for::<SettingsShape>()),
        bad: &[],
        handle: |ask| Box::pin(show(ask)),
    },
    Operation {
        method: "PUT",
        path: "/v1/settings",
        id: "putSettings",
        about: "Changes what is named, for browsers that start from now on.",
        access: Access::Scope(Scope::Manage),
        query: &[],
        body: Some(|g| g.subschema_for::<Change>()),
        good: 200,
        answer: Answer::Json(|g| g.subschema_for::<SettingsShape>()),
        bad: &[400, 413, 415, 422],
        handle: |ask| Box::pin(change(ask)),
    },
];

/// A tenant's settings.
#[derive(Debug, Serialize, JsonSchema)]
struct SettingsShape {
    /// How much is asked in guarded browsers whose start says nothing.
    level: String,
    /// Every level.
    levels: Vec<String>,
    /// Rules for sites in guarded browsers.
    site_rules: Vec<SiteRule>,
    /// The owner's models, without their keys.
    providers: Vec<ProviderShape>,
}

/// A rule for a site.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SiteRule {
    /// An origin, such as `https://shop.example`.
    pattern: String,
    /// `always` or `never`.
    rule: String,
}

/// What is to be changed.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Change {
    /// `auto`, `careful` or `ask`.
    level: Option<String>,
    /// All rules, in place of those before.
    site_rules: Option<Vec<SiteRule>>,
}

async fn show(ask: Ask) -> Result<Response, ServeError> {
    let settings = ask.app.store.serve_settings(ask.caller()?.tenant.clone()).await?;
    shaped(&ask, settings).await
}

async fn shaped(ask: &Ask, settings: ServeSettings) -> Result<Response, ServeError> {
    let site_rules = settings.rules.iter().map(|(origin, rule)| SiteRule {
        pattern: origin.to_string(),
        rule: rule.as_str().to_owned(),
    });
    let site_rules = site_rules.collect();
    let levels = [Level::Auto, Level::Careful, Level::Ask];
    // Models are the owner's: other tenants' runs may use them, and see nothing of them.
    let providers = match &ask.app.runs.runner {
        Some(runner) if ask.caller()?.owner => runner.providers().await,
        _ => Vec::new(),
    };
    let shape = SettingsShape {
        level: settings.level.unwrap_or_else(|| Level::default().to_string()),
        levels: levels.map(|level| level.to_string()).to_vec(),
        site_rules,
        providers,
    };
    Ok(answer(200, &shape))
}

async fn change(ask: Ask) -> Result<Response, ServeError> {
    let Change { level, site_rules } = ask.json()?;
    let tenant = ask.caller()?.tenant.clone();
    let mut settings = ask.app.store.serve_settings(tenant.clone()).await?;
    if let Some(word) = level {
        let level: Level = word.parse().map_err(|error: LevelError| {
            ServeError::impossible("unknown_level", error.to_string())
        })?;
        settings.level = Some(level.to_string());
    }
    if let Some(rules) = site_rules {
        if rules.len() > limits::SITE_RULES {
            let most = limits::SITE_RULES;
            return Err(ServeError::impossible(
                "too_many_rules",
                format!("at most {most} rules for sites are kept"),
            ));
        }
        settings.rules = rules.iter().map(rule).collect::<Result<_, _>>()?;
    }
    ask.app.store.keep_serve_settings(tenant, settings).await?;
    // As it is kept: in order, and each site once.
    show(ask).await
}

fn rule(SiteRule { pattern, rule }: &SiteRule) -> Result<(Origin, Rule), ServeError> {
    // A bare host means https, as it does on the command line.
    let url = if pattern.contains("://") { pattern.clone() } else { format!("https://{pattern}") };
    let wrong = |error: String| ServeError::impossible("no_rule", error);
    let origin = Origin::parse(&url).map_err(|error| wrong(error.to_string()))?;
    let rule = rule.parse().map_err(|error: RuleWordError| wrong(error.to_string()))?;
    Ok((origin, rule))
}
