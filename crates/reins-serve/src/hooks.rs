//! Who may, and how much is left: the configured quota, and a team's own service over a signed webhook.

use crate::app::App;
use crate::auth::Caller;
use crate::clock::{minutes, month_begin, stamp};
use crate::config::{HookKind, WebhookConfig};
use crate::error::ServeError;
use crate::keys;
use crate::limits;
use reins_core::{SandboxId, Secret, TenantId};
use reins_store::BrowserSession;
use serde::Deserialize;
use serde_json::{Value, json};
use thiserror::Error;

/// What a person or a program wants to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Permission {
    /// Start a browser.
    StartBrowser,
    /// Drive one by hand (S-082).
    TakeOver,
}

impl Permission {
    fn word(self) -> &'static str {
        match self {
            Self::StartBrowser => "start_browser",
            Self::TakeOver => "take_over_browser",
        }
    }
}

/// Asks and tells.
#[derive(Debug, Default)]
pub(crate) struct Hooks {
    webhook: Option<Webhook>,
}

#[derive(Debug)]
struct Webhook {
    config: WebhookConfig,
    key: Secret<String>,
}

/// What a checker answers.
#[derive(Debug, Deserialize)]
struct Verdict {
    allow: bool,
    #[serde(default)]
    message: Option<String>,
    #[serde(default)]
    payload: Value,
}

/// The version of the payload. A new one is a new number, and the old one stays what it was (S-123).
const VERSION: u32 = 1;

impl Hooks {
    pub(crate) fn new(config: Option<&WebhookConfig>) -> Result<Self, ServeError> {
        let webhook = match config {
            None => None,
            Some(config) => Some(Webhook { config: config.clone(), key: config.secret()? }),
        };
        Ok(Self { webhook })
    }

    /// Whether someone may do something. Without a checker everyone may whom the scopes let.
    pub(crate) async fn permit(
        &self,
        app: &App,
        caller: &Caller,
        what: Permission,
        sandbox: &SandboxId,
    ) -> Result<(), ServeError> {
        let Some(hook) = self.wanting(HookKind::Permission) else { return Ok(()) };
        let subject = json!({
            "permission": what.word(),
            "sandbox_id": sandbox.as_str(),
            "name": caller.name,
        });
        let verdict = hook.ask(app, HookKind::Permission, &caller.tenant, subject).await;
        if verdict.allow {
            return Ok(());
        }
        let message = format!("this was not permitted ({}): {}", what.word(), verdict.said());
        Err(ServeError::Denied { code: "not_permitted", message, payload: verdict.payload })
    }

    /// Whether a tenant has browser minutes left (S-120).
    pub(crate) async fn quota(
        &self,
        app: &App,
        tenant: &TenantId,
        sandbox: &SandboxId,
    ) -> Result<(), ServeError> {
        if let Some(limit) = app.config.quota.minutes(tenant) {
            let used = used_this_month(app, tenant).await?;
            if used >= limit {
                return Err(ServeError::Quota {
                    message: format!(
                        "no browser minutes are left: {used} of {limit} were used this month"
                    ),
                    payload: json!({"kind": "browser_minutes", "limit": limit, "used": used}),
                });
            }
        }
        let Some(hook) = self.wanting(HookKind::Quota) else { return Ok(()) };
        let subject = json!({"kind": "browser_minutes", "sandbox_id": sandbox.as_str()});
        let verdict = hook.ask(app, HookKind::Quota, tenant, subject).await;
        if verdict.allow {
            return Ok(());
        }
        let message = format!("no browser minutes are left: {}", verdict.said());
        Err(ServeError::Quota { message, payload: verdict.payload })
    }

    /// Tells how long a browser ran. `true` if there is nobody to tell, or they took it.
    pub(crate) async fn usage(&self, app: &App, session: &BrowserSession) -> bool {
        let Some(hook) = self.wanting(HookKind::Usage) else { return true };
        let subject = json!({
            "kind": "browser_minutes",
            "quantity": minutes(session.ran),
            "session_id": session.id.as_str(),
            "sandbox_id": session.sandbox.as_str(),
            "started_at": stamp(session.started_at),
            "ended_at": session.ended_at.map(stamp),
            "reason": session.reason,
        });
        // The session's own id: whoever hears it twice counts it once.
        let id = format!("usage_{}", session.id);
        hook.send(app, HookKind::Usage, &session.tenant, &id, &subject).await.is_ok()
    }

    fn wanting(&self, kind: HookKind) -> Option<&Webhook> {
        self.webhook.as_ref().filter(|hook| hook.config.events.contains(&kind))
    }
}

/// Minutes of this calendar month.
pub(crate) async fn used_this_month(app: &App, tenant: &TenantId) -> Result<u64, ServeError> {
    let now = app.clock.now();
    // Whatever the clock did meanwhile: what began later counts as well.
    let end = now + std::time::Duration::from_secs(366 * 24 * 60 * 60);
    Ok(app.store.minutes_between(tenant.clone(), month_begin(now), end).await?)
}

impl Verdict {
    fn said(&self) -> &str {
        self.message.as_deref().unwrap_or("the checker said no")
    }
}

impl Webhook {
    async fn ask(&self, app: &App, kind: HookKind, tenant: &TenantId, subject: Value) -> Verdict {
        let id = keys::id("hk").unwrap_or_default();
        match self.send(app, kind, tenant, &id, &subject).await {
            Ok(body) => serde_json::from_slice(&body).unwrap_or_else(|error| {
                tracing::warn!(%error, kind = kind.word(), "the webhook's answer is not understood");
                self.without_answer()
            }),
            Err(error) => {
                tracing::warn!(%error, kind = kind.word(), "the webhook did not answer");
                self.without_answer()
            }
        }
    }

    fn without_answer(&self) -> Verdict {
        Verdict {
            allow: self.config.allow_without_answer,
            message: Some("the checker could not be asked; try again later".into()),
            payload: Value::Null,
        }
    }

    /// Sends one signed request, again if it fails, and answers the body.
    async fn send(
        &self,
        app: &App,
        kind: HookKind,
        tenant: &TenantId,
        id: &str,
        subject: &Value,
    ) -> Result<Vec<u8>, NoAnswer> {
        let mut pause = limits::HOOK_PAUSE;
        let mut last = String::new();
        for attempt in 1..=limits::HOOK_TRIES {
            match self.once(app, kind, tenant, id, subject).await {
                Ok(body) => return Ok(body),
                Err(Failure::Final(error)) => return Err(NoAnswer(error)),
                Err(Failure::Again(error)) => last = error,
            }
            if attempt < limits::HOOK_TRIES {
                tokio::select! {
                    // The pause is the point: the other side may be starting again.
                    () = tokio::time::sleep(pause) => {}
                    () = app.stop.cancelled() => break,
                }
                pause *= 2;
            }
        }
        Err(NoAnswer(last))
    }

    async fn once(
        &self,
        app: &App,
        kind: HookKind,
        tenant: &TenantId,
        id: &str,
        subject: &Value,
    ) -> Result<Vec<u8>, Failure> {
        let at = stamp(app.clock.now());
        let body = json!({
            "version": VERSION,
            "id": id,
            "kind": kind.word(),
            "tenant": tenant.as_str(),
            "at": at,
            "subject": subject,
        })
        .to_string();
        // The time is signed as well, so that an old request cannot be sent again.
        let signature = keys::sign(&self.key, format!("{at}.{body}").as_bytes());
        let answer = app
            .http
            .post(&self.config.url)
            .timeout(self.config.timeout())
            .header("content-type", "application/json")
            .header("x-reins-timestamp", at)
            .header("x-reins-signature", format!("v1={signature}"))
            .body(body)
            .send()
            .await
            .map_err(|error| Failure::Again(error.without_url().to_string()))?;
        let status = answer.status();
        if status.is_server_error() || status == 429 {
            return Err(Failure::Again(format!("it answered {status}")));
        }
        if !status.is_success() {
            return Err(Failure::Final(format!("it answered {status}")));
        }
        read(answer).await
    }
}

/// The webhook gave no answer that counts.
#[derive(Debug, Error)]
#[error("{0}")]
struct NoAnswer(String);

enum Failure {
    /// Another try may help.
    Again(String),
    /// None will.
    Final(String),
}

async fn read(mut answer: reqwest::Response) -> Result<Vec<u8>, Failure> {
    let mut body = Vec::new();
    loop {
        match answer.chunk().await {
            Ok(None) => return Ok(body),
            Ok(Some(piece)) if body.len() + piece.len() <= limits::HOOK_BYTES => {
                body.extend_from_slice(&piece);
            }
            Ok(Some(_)) => return Err(Failure::Final("its answer is too long".into())),
            Err(error) => return Err(Failure::Again(error.without_url().to_string())),
        }
    }
}
