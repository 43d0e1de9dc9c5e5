//! Apps under test.

use super::browsers::{BrowserShape, shape};
use super::{Access, Answer, Ask, Operation, Param, answer, nothing};
use crate::app::App;
use crate::auth::Caller;
use crate::boot::{self, LogLine};
use crate::clock::stamp;
use crate::config::fits;
use crate::error::ServeError;
use crate::keys;
use crate::limits;
use crate::scope::Scope;
use crate::session::End;
use axum::response::Response;
use reins_core::{Origin, SandboxId, web_url};
use reins_store::{SandboxPhase, StoredSandbox};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::Path;
use std::time::Duration;

pub(super) const OPERATIONS: &[Operation] = &[
    Operation {
        method: "GET",
        path: "/v1/sandboxes",
        id: "listSandboxes",
        about: "The tenant's sandboxes, the newest first, and which modes browsers can start in.",
        access: Access::Scope(Scope::Read),
        query: &[],
        body: None,
        good: 200,
        answer: Answer::Json(|g| g.subschema_for::<Sandboxes>()),
        bad: &[],
        handle: |ask| Box::pin(list(ask)),
    },
    Operation {
        method: "POST",
        path: "/v1/sandboxes",
        id: "createSandbox",
        about: "Makes a sandbox for an app, and boots the app if there is a command.",
        access: Access::Scope(Scope::Manage),
        query: &[],
        body: Some(|g| g.subschema_for::<NewSandbox>()),
        good: 201,
        answer: Answer::Json(|g| g.subschema_for::<SandboxShape>()),
        bad: &[400, 413, 415, 422],
        handle: |ask| Box::pin(create(ask)),
    },
    Operation {
        method: "GET",
        path: "/v1/sandboxes/{id}",
        id: "getSandbox",
        about: "One sandbox.",
        access: Access::Scope(Scope::Read),
        query: &[],
        body: None,
        good: 200,
        answer: Answer::Json(|g| g.subschema_for::<SandboxShape>()),
        bad: &[404],
        handle: |ask| Box::pin(get(ask)),
    },
    Operation {
        method: "DELETE",
        path: "/v1/sandboxes/{id}",
        id: "deleteSandbox",
        about: "Stops a sandbox's browser and its app's command, then forgets the sandbox.",
        access: Access::Scope(Scope::Manage),
        query: &[],
        body: None,
        good: 204,
        answer: Answer::Nothing,
        bad: &[404],
        handle: |ask| Box::pin(delete(ask)),
    },
    Operation {
        method: "GET",
        path: "/v1/sandboxes/{id}/logs",
        id: "sandboxLogs",
        about: "What the command that boots the app wrote.",
        access: Access::Scope(Scope::Read),
        query: &[Param { name: "after", about: "Lines after this one.", kind: "integer" }],
        body: None,
        good: 200,
        answer: Answer::Json(|g| g.subschema_for::<LogPage>()),
        bad: &[400, 404],
        handle: |ask| Box::pin(logs(ask)),
    },
];

/// A tenant's sandboxes.
#[derive(Debug, Serialize, JsonSchema)]
struct Sandboxes {
    /// The newest first.
    sandboxes: Vec<SandboxShape>,
    /// In which modes browsers can start here (S-026).
    browser_modes: Vec<crate::backend::Mode>,
}

/// A sandbox.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct SandboxShape {
    /// Its id.
    id: String,
    /// What people call it.
    name: String,
    /// Where its app is; empty without one.
    app_url: String,
    /// `booting`, `ready`, `failed` or `expired`.
    status: String,
    /// When it ends, RFC 3339.
    expires_at: String,
    /// When it was made, RFC 3339.
    created_at: String,
    /// Whether its browser is on the open web with cards, instead of pinned to the app.
    guarded: bool,
    /// What boots its app.
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<String>,
    /// What answers once the app is up.
    #[serde(skip_serializing_if = "Option::is_none")]
    ready_url: Option<String>,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    /// Its last browser.
    browser: Option<BrowserShape>,
}

/// A sandbox that is to be made.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NewSandbox {
    /// Where the app is: http or https. Left out for a guarded one.
    #[schemars(length(max = 2048))]
    app_url: Option<String>,
    /// What people call it; the app's host if nothing is said.
    #[schemars(length(min = 1, max = 80))]
    name: Option<String>,
    /// How long it lives, in seconds.
    #[schemars(range(min = 1))]
    expires_in_s: Option<u64>,
    /// A shell command that boots the app on the daemon's machine.
    #[schemars(length(max = 4096))]
    command: Option<String>,
    /// Where the command runs: an absolute path.
    cwd: Option<String>,
    /// What answers once the app is up, on the app's own host; the app's address if nothing is said.
    #[schemars(length(max = 2048))]
    ready_url: Option<String>,
    /// On the open web with cards, instead of pinned to an app.
    #[serde(default)]
    guarded: bool,
}

/// Lines of a boot command.
#[derive(Debug, Serialize, JsonSchema)]
struct LogPage {
    /// The oldest first.
    lines: Vec<LogLine>,
    /// What to ask for next as `after`.
    next: u64,
}

#[derive(Debug, Deserialize)]
struct After {
    #[serde(default)]
    after: u64,
}

async fn with_browser(app: &App, sandbox: StoredSandbox) -> Result<SandboxShape, ServeError> {
    let browser = super::browsers::current(app, &sandbox).await?;
    Ok(SandboxShape {
        id: sandbox.id.to_string(),
        name: sandbox.name,
        app_url: sandbox.app_url,
        status: sandbox.phase.word().to_owned(),
        expires_at: stamp(sandbox.expires_at),
        created_at: stamp(sandbox.created_at),
        guarded: sandbox.guarded,
        command: sandbox.command,
        ready_url: sandbox.ready_url,
        error: sandbox.error,
        browser: browser.map(|(row, live_url)| shape(&row, live_url.as_deref())),
    })
}

async fn list(ask: Ask) -> Result<Response, ServeError> {
    let rows = ask.app.store.sandboxes(ask.caller()?.tenant.clone()).await?;
    let mut sandboxes = Vec::with_capacity(rows.len());
    for row in rows {
        sandboxes.push(with_browser(&ask.app, row).await?);
    }
    Ok(answer(200, &Sandboxes { sandboxes, browser_modes: ask.app.backend.modes() }))
}

async fn get(ask: Ask) -> Result<Response, ServeError> {
    let sandbox = ask.sandbox().await?;
    Ok(answer(200, &with_browser(&ask.app, sandbox).await?))
}

async fn create(ask: Ask) -> Result<Response, ServeError> {
    let caller = ask.caller()?.clone();
    let wish: NewSandbox = ask.json()?;
    let app = &ask.app;
    let sandbox = draft(app, &caller, wish)?;
    let held = app.store.sandboxes(caller.tenant.clone()).await?;
    let alive = held.iter().filter(|row| row.phase != SandboxPhase::Expired).count();
    if alive >= app.config.sandboxes.per_tenant {
        return Err(ServeError::impossible(
            "too_many_sandboxes",
            format!("there are {alive} sandboxes already, and more may not be; delete one first"),
        ));
    }
    app.store.add_sandbox(sandbox.clone()).await?;
    let room = app.room(&sandbox);
    if sandbox.command.is_some() {
        app.tasks.spawn(boot::boot(app.clone(), room, sandbox.clone()));
    }
    Ok(answer(201, &with_browser(app, sandbox).await?))
}

/// Checks what is wished for.
fn draft(app: &App, caller: &Caller, wish: NewSandbox) -> Result<StoredSandbox, ServeError> {
    let settings = &app.config.sandboxes;
    let (app_url, host) = if wish.guarded {
        if wish.app_url.is_some() {
            return Err(ServeError::Bad("a guarded sandbox has no app_url: leave one out".into()));
        }
        if !settings.guarded && !caller.owner {
            return Err(off("guarded_off", "guarded sandboxes", "guarded = true"));
        }
        (String::new(), "open web".to_owned())
    } else {
        let text = wish
            .app_url
            .ok_or_else(|| ServeError::Bad("app_url is missing: where is the app?".into()))?;
        let url = address("app_url", &text)?;
        let host = url.host_str().unwrap_or_default().to_owned();
        (url.to_string(), host)
    };
    let name = wish.name.unwrap_or_else(|| host.chars().take(limits::NAME_CHARS).collect());
    if !fits(&name) {
        let most = limits::NAME_CHARS;
        return Err(ServeError::Bad(format!("a name is 1 to {most} characters on one line")));
    }
    let seconds = wish.expires_in_s.unwrap_or(settings.expires_in_s);
    if seconds == 0 || seconds > settings.max_expires_in_s {
        let most = settings.max_expires_in_s;
        return Err(ServeError::impossible(
            "bad_expiry",
            format!("a sandbox lives 1 to {most} seconds; expires_in_s is {seconds}"),
        ));
    }
    let ready_url = match wish.ready_url {
        None => None,
        Some(text) => Some(on_the_apps_host(&text, &app_url)?),
    };
    let (command, cwd) = command(app, caller, wish.command, wish.cwd)?;
    if ready_url.is_some() && command.is_none() {
        return Err(ServeError::Bad("ready_url belongs to a command, and there is none".into()));
    }
    let now = app.clock.now();
    Ok(StoredSandbox {
        id: SandboxId::new(keys::id("sb")?),
        tenant: caller.tenant.clone(),
        name,
        app_url,
        guarded: wish.guarded,
        phase: if command.is_some() { SandboxPhase::Booting } else { SandboxPhase::Ready },
        command,
        cwd,
        ready_url,
        error: None,
        created_at: now,
        expires_at: now + Duration::from_secs(seconds),
    })
}

fn command(
    app: &App,
    caller: &Caller,
    command: Option<String>,
    cwd: Option<String>,
) -> Result<(Option<String>, Option<String>), ServeError> {
    let Some(command) = command else {
        return match cwd {
            None => Ok((None, None)),
            Some(_) => Err(ServeError::Bad("cwd belongs to a command, and there is none".into())),
        };
    };
    if !app.config.sandboxes.commands && !caller.owner {
        return Err(off("commands_off", "boot commands", "commands = true"));
    }
    if command.trim().is_empty()
        || command.chars().count() > limits::COMMAND_CHARS
        || command.contains('\0')
    {
        let most = limits::COMMAND_CHARS;
        return Err(ServeError::Bad(format!("a command is 1 to {most} characters")));
    }
    if let Some(cwd) = &cwd {
        if !Path::new(cwd).is_absolute() || cwd.contains('\0') {
            return Err(ServeError::Bad("cwd must be an absolute path".into()));
        }
        if !Path::new(cwd).is_dir() {
            return Err(ServeError::impossible("no_such_folder", "cwd is no folder here"));
        }
    }
    Ok((Some(command), cwd))
}

fn off(code: &'static str, what: &str, setting: &str) -> ServeError {
    ServeError::Denied {
        code,
        message: format!("{what} are switched off for tokens here (`{setting}` under [sandboxes])"),
        payload: Value::Null,
    }
}

fn address(what: &str, text: &str) -> Result<url::Url, ServeError> {
    if text.chars().count() > limits::URL_CHARS {
        let most = limits::URL_CHARS;
        return Err(ServeError::Bad(format!("{what} is longer than {most} characters")));
    }
    let url = web_url(text).map_err(|error| ServeError::Bad(format!("{what}: {error}")))?;
    if !url.username().is_empty() || url.password().is_some() {
        return Err(ServeError::Bad(format!("{what} must hold no name and password")));
    }
    Ok(url)
}

/// The daemon itself asks it, so it may lead nowhere else than the app does.
fn on_the_apps_host(text: &str, app_url: &str) -> Result<String, ServeError> {
    let url = address("ready_url", text)?;
    let host = Origin::parse(app_url).ok().map(|origin| origin.host().to_owned());
    if host.as_deref() != url.host_str() {
        return Err(ServeError::impossible(
            "foreign_ready_url",
            "ready_url must be on the app's own host",
        ));
    }
    Ok(url.to_string())
}

async fn delete(ask: Ask) -> Result<Response, ServeError> {
    let sandbox = ask.sandbox().await?;
    // Its browser first, so that the last events still belong to something (S-108).
    if let Some(session) = ask.app.end_room(&sandbox.id, End::Deleted) {
        session.ended().await;
    }
    ask.app.store.remove_sandbox(sandbox.tenant, sandbox.id).await?;
    Ok(nothing())
}

async fn logs(ask: Ask) -> Result<Response, ServeError> {
    let After { after } = ask.query()?;
    let sandbox = ask.sandbox().await?;
    let (lines, next) = match ask.app.known_room(&sandbox.id) {
        Some(room) => room.logs.after(after),
        None => (Vec::new(), after),
    };
    Ok(answer(200, &LogPage { lines, next }))
}
