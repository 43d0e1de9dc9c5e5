//! Sandboxes' browsers.

use super::{Access, Answer, Ask, Operation, answer, running};
use crate::app::App;
use crate::backend::{Capability, Mode};
use crate::clock::stamp;
use crate::error::ServeError;
use crate::events::line;
use crate::hooks::Permission;
use crate::live::{self, TicketRequest};
use crate::room::Slot;
use crate::scope::Scope;
use crate::session::{End, lock};
use crate::start::{Wish, may_run, start};
use axum::response::Response;
use reins_control::Level;
use reins_store::{BrowserSession, SessionPhase, StoredSandbox};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

pub(super) const OPERATIONS: &[Operation] = &[
    Operation {
        method: "POST",
        path: "/v1/sandboxes/{id}/browser",
        id: "startBrowser",
        about: "Starts the sandbox's browser on a fresh profile and opens its app.",
        access: Access::Scope(Scope::Manage),
        query: &[],
        body: Some(|g| g.subschema_for::<StartBrowser>()),
        good: 201,
        answer: Answer::Json(|g| g.subschema_for::<Browser>()),
        bad: &[400, 402, 404, 409, 413, 415, 422],
        handle: |ask| Box::pin(begin(ask)),
    },
    Operation {
        method: "GET",
        path: "/v1/sandboxes/{id}/browser",
        id: "getBrowser",
        about: "The sandbox's browser, or its last one; null if it never had one.",
        access: Access::Scope(Scope::Read),
        query: &[],
        body: None,
        good: 200,
        answer: Answer::Json(|g| g.subschema_for::<Browser>()),
        bad: &[404],
        handle: |ask| Box::pin(show(ask)),
    },
    Operation {
        method: "DELETE",
        path: "/v1/sandboxes/{id}/browser",
        id: "stopBrowser",
        about: "Stops the sandbox's browser, if one runs or starts, and shows how it ended.",
        access: Access::Scope(Scope::Manage),
        query: &[],
        body: None,
        good: 200,
        answer: Answer::Json(|g| g.subschema_for::<Browser>()),
        bad: &[404],
        handle: |ask| Box::pin(stop(ask)),
    },
    Operation {
        method: "GET",
        path: "/v1/sandboxes/{id}/browser/tabs",
        id: "browserTabs",
        about: "The open tabs of a running browser.",
        access: Access::Scope(Scope::Read),
        query: &[],
        body: None,
        good: 200,
        answer: Answer::Json(|g| g.subschema_for::<Tabs>()),
        bad: &[404, 409],
        handle: |ask| Box::pin(tabs(ask)),
    },
    Operation {
        method: "GET",
        path: "/v1/sandboxes/{id}/browser/refusals",
        id: "browserRefusals",
        about: "What pages of a running browser tried to reach and may not.",
        access: Access::Scope(Scope::Read),
        query: &[],
        body: None,
        good: 200,
        answer: Answer::Json(|g| g.subschema_for::<Refusals>()),
        bad: &[404, 409],
        handle: |ask| Box::pin(refusals(ask)),
    },
    Operation {
        method: "POST",
        path: "/v1/sandboxes/{id}/browser/tickets",
        id: "createTicket",
        about: "A ticket for the live view of a running browser: 30 seconds, once. Control needs the scope `take_over`.",
        access: Access::Scope(Scope::Read),
        query: &[],
        body: Some(|g| g.subschema_for::<NewTicket>()),
        good: 201,
        answer: Answer::Json(|g| g.subschema_for::<Ticket>()),
        bad: &[400, 404, 409, 413, 415, 422],
        handle: |ask| Box::pin(ticket(ask)),
    },
];

/// A ticket that is wished for.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NewTicket {
    /// `view` (default) or `control`.
    mode: Option<String>,
}

/// A ticket for the live view.
#[derive(Debug, Serialize, JsonSchema)]
struct Ticket {
    /// The first message carries it; it is never part of an address.
    ticket: String,
    /// `view` or `control`.
    mode: String,
    /// RFC 3339.
    expires_at: String,
    /// Where to connect.
    url: String,
}

/// How a browser is to start.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct StartBrowser {
    /// `headless` (default) or `headed`.
    mode: Option<String>,
    /// `testing`, `vision`, `pdf`.
    #[serde(default)]
    capabilities: Vec<String>,
    /// Which kinds are recorded.
    record: Option<Record>,
    /// How much is asked in a guarded sandbox: `auto` (default), `careful` or `ask`.
    level: Option<String>,
}

/// Which kinds are recorded: elements and consoles unless they are switched off, pictures if they are switched on.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Record {
    /// The page's elements as they change.
    rrweb: Option<bool>,
    /// Pictures of what the elements do not show.
    frames: Option<bool>,
    /// Errors and warnings.
    console: Option<bool>,
}

/// Always wrapped, so that null says that there is none.
#[derive(Debug, Serialize, JsonSchema)]
struct Browser {
    /// The browser.
    browser: Option<BrowserShape>,
}

/// A browser (S-022). Never its MCP endpoint and never a token (S-025).
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct BrowserShape {
    /// `headless` or `headed`.
    mode: String,
    /// `starting`, `running`, `stopped` or `failed`.
    status: String,
    /// RFC 3339.
    started_at: String,
    /// How agents' configurations name it; while it runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    server_key: Option<String>,
    /// Where it can be watched; while it runs, and where there is a live view.
    #[serde(skip_serializing_if = "Option::is_none")]
    live_url: Option<String>,
    /// Its recording.
    #[serde(skip_serializing_if = "Option::is_none")]
    recording_id: Option<String>,
    /// When it stops by itself at the latest, RFC 3339.
    stop_at: String,
    /// When it ended, RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    ended_at: Option<String>,
    /// Why it ended, in a word.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// What went wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

/// A browser as answers show it.
pub(crate) fn shape(row: &BrowserSession, live_url: Option<&str>) -> BrowserShape {
    let runs = row.phase == SessionPhase::Running;
    BrowserShape {
        mode: row.mode.clone(),
        status: row.phase.word().to_owned(),
        started_at: stamp(row.started_at),
        server_key: runs.then(|| format!("browser:{}", row.id)),
        live_url: live_url.filter(|_| runs).map(str::to_owned),
        recording_id: row.recording.clone(),
        stop_at: stamp(row.stop_at),
        ended_at: row.ended_at.map(stamp),
        reason: row.reason.clone(),
        error: row.error.clone(),
    }
}

/// A sandbox's browser or its last one.
pub(crate) async fn current(
    app: &App,
    sandbox: &StoredSandbox,
) -> Result<Option<(BrowserSession, Option<String>)>, ServeError> {
    if let Some(session) = app.known_room(&sandbox.id).and_then(|room| room.running()) {
        return Ok(Some((session.row(), session.live_url())));
    }
    let last = app.store.last_session(sandbox.tenant.clone(), sandbox.id.clone()).await?;
    let ended = |row: BrowserSession| {
        let unkept = lock(&app.unkept).get(&row.id).cloned();
        unkept.unwrap_or(row)
    };
    Ok(last.map(|row| (ended(row), None)))
}

fn wrapped(current: Option<(BrowserSession, Option<String>)>) -> Browser {
    Browser { browser: current.map(|(row, live_url)| shape(&row, live_url.as_deref())) }
}

async fn begin(ask: Ask) -> Result<Response, ServeError> {
    let sandbox = ask.sandbox().await?;
    let wish: StartBrowser = ask.json()?;
    let mode = wish.mode.as_deref().map_or(Ok(Mode::Headless), str::parse)?;
    let mut capabilities = BTreeSet::new();
    for word in &wish.capabilities {
        capabilities.insert(word.parse::<Capability>()?);
    }
    let set = ask.app.store.serve_settings(ask.caller()?.tenant.clone()).await?;
    let level = match wish.level.as_deref().or(set.level.as_deref()) {
        None => Level::default(),
        Some(word) => word.parse().map_err(|error: reins_control::LevelError| {
            ServeError::impossible("unknown_level", error.to_string())
        })?,
    };
    let record = serde_json::to_value(&wish.record)
        .map_err(|error| ServeError::Internal(error.to_string()))?;
    let wish = Wish { mode, capabilities, level, rules: set.rules, record, token: None };
    let started = start(&ask.app, ask.caller()?, sandbox, wish).await?;
    Ok(answer(201, &wrapped(Some(started))))
}

async fn show(ask: Ask) -> Result<Response, ServeError> {
    let sandbox = ask.sandbox().await?;
    Ok(answer(200, &wrapped(current(&ask.app, &sandbox).await?)))
}

async fn stop(ask: Ask) -> Result<Response, ServeError> {
    let sandbox = ask.sandbox().await?;
    let slot = ask.app.known_room(&sandbox.id).map(|room| room.slot().clone()).unwrap_or_default();
    let ended = match slot {
        Slot::Running(session) => {
            session.end(End::Stopped);
            Some((session.ended().await, None))
        }
        Slot::Starting(cancel) => {
            cancel.cancel();
            current(&ask.app, &sandbox).await?
        }
        Slot::Empty => current(&ask.app, &sandbox).await?,
    };
    Ok(answer(200, &wrapped(ended)))
}

/// Open tabs.
#[derive(Debug, Serialize, JsonSchema)]
struct Tabs {
    /// In the order in which they opened.
    tabs: Vec<Tab>,
}

/// An open tab. Title and address are the page's own words.
#[derive(Debug, Serialize, JsonSchema)]
struct Tab {
    id: String,
    title: String,
    url: String,
    /// Whether the agent is in it.
    current: bool,
}

async fn tabs(ask: Ask) -> Result<Response, ServeError> {
    let sandbox = ask.sandbox().await?;
    let (_, session) = running(&ask.app, &sandbox)?;
    let main = reins_core::SessionId::new(crate::session::MAIN);
    let current = session.started.control.current_tab(&main);
    let tabs = session.started.browser.tabs();
    let tabs = tabs.into_iter().map(|tab| Tab {
        current: current.as_ref() == Some(&tab.id),
        id: tab.id.to_string(),
        title: tab.title,
        url: tab.url,
    });
    Ok(answer(200, &Tabs { tabs: tabs.collect() }))
}

/// What was refused.
#[derive(Debug, Serialize, JsonSchema)]
struct Refusals {
    /// In the order in which each kind was first seen.
    refusals: Vec<Refusal>,
    /// Requests that were refused beside these and are only counted.
    more: u64,
}

/// Refused requests of one kind.
#[derive(Debug, Serialize, JsonSchema)]
struct Refusal {
    /// The last of them, RFC 3339.
    at: String,
    /// As it was asked for.
    host: String,
    /// As it was asked for, where one was.
    port: Option<u16>,
    /// Why.
    reason: String,
    /// How many.
    count: u64,
}

async fn refusals(ask: Ask) -> Result<Response, ServeError> {
    let sandbox = ask.sandbox().await?;
    let (_, session) = running(&ask.app, &sandbox)?;
    let refused = session.started.control.refusals();
    let more = refused.more;
    let refusals = refused.kinds.into_iter().map(|kind| {
        let (host, port) = match kind.host.rsplit_once(':') {
            Some((host, port)) if !host.is_empty() => match port.parse() {
                Ok(port) => (host.to_owned(), Some(port)),
                Err(_) => (kind.host.clone(), None),
            },
            _ => (kind.host.clone(), None),
        };
        Refusal {
            at: stamp(kind.last),
            host,
            port,
            reason: kind.reason.to_string(),
            count: kind.count,
        }
    });
    Ok(answer(200, &Refusals { refusals: refusals.collect(), more }))
}

async fn ticket(ask: Ask) -> Result<Response, ServeError> {
    let sandbox = ask.sandbox().await?;
    let NewTicket { mode } = ask.json()?;
    let mode = mode.unwrap_or_else(|| "view".to_owned());
    let control = match mode.as_str() {
        "view" => false,
        "control" => true,
        other => {
            let told = format!("'{}' is no mode; use view or control", line(other));
            return Err(ServeError::impossible("unknown_mode", told));
        }
    };
    let caller = ask.caller()?;
    if control {
        caller.may(Scope::TakeOver)?;
        may_run(&ask.app)?;
        ask.app.hooks.permit(&ask.app, caller, Permission::TakeOver, &sandbox.id).await?;
    }
    let (_, session) = running(&ask.app, &sandbox)?;
    let request = TicketRequest {
        subject: caller.subject(),
        name: caller.name.clone(),
        mode: if control { live::Mode::Control } else { live::Mode::View },
    };
    let (given, url) = session
        .witness
        .ticket(&request)
        .ok_or_else(|| ServeError::state("no_live_view", "this browser has no live view here"))?;
    let expires_at = stamp(given.expires_at);
    let ticket = given.expose().to_owned();
    Ok(answer(201, &Ticket { ticket, mode, expires_at, url }))
}
