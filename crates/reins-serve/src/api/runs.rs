//! Runs of the agent in sandboxes.

use super::{Access, Answer, Ask, Operation, Param, answer, running};
use crate::app::App;
use crate::calls::Calls;
use crate::clock::stamp;
use crate::error::ServeError;
use crate::events::Step;
use crate::keys;
use crate::limits;
use crate::room::Room;
use crate::runs::{RunOrder, RunOutcome, Runner};
use crate::scope::Scope;
use crate::session::{LiveSession, lock};
use crate::start::may_run;
use axum::response::Response;
use reins_control::{Level, LevelError};
use reins_core::SandboxId;
use reins_store::ServedRun;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::sync::Arc;

pub(super) const OPERATIONS: &[Operation] = &[
    Operation {
        method: "POST",
        path: "/v1/sandboxes/{id}/runs",
        id: "createRun",
        about: "Has the agent work on a task in the sandbox's running browser.",
        access: Access::Scope(Scope::Act),
        query: &[],
        body: Some(|g| g.subschema_for::<NewRun>()),
        good: 201,
        answer: Answer::Json(|g| g.subschema_for::<RunShape>()),
        bad: &[400, 404, 409, 413, 415, 422],
        handle: |ask| Box::pin(create(ask)),
    },
    Operation {
        method: "GET",
        path: "/v1/runs",
        id: "listRuns",
        about: "The tenant's runs, the newest first, without their steps.",
        access: Access::Scope(Scope::Read),
        query: &[Param { name: "sandbox", about: "Those of this sandbox.", kind: "string" }],
        body: None,
        good: 200,
        answer: Answer::Json(|g| g.subschema_for::<RunList>()),
        bad: &[400],
        handle: |ask| Box::pin(list(ask)),
    },
    Operation {
        method: "GET",
        path: "/v1/runs/{run}",
        id: "getRun",
        about: "One run with its steps.",
        access: Access::Scope(Scope::Read),
        query: &[],
        body: None,
        good: 200,
        answer: Answer::Json(|g| g.subschema_for::<RunShape>()),
        bad: &[404],
        handle: |ask| Box::pin(get(ask)),
    },
    Operation {
        method: "POST",
        path: "/v1/runs/{run}/stop",
        id: "stopRun",
        about: "Stops a run that is under way; one that ended stays as it is.",
        access: Access::Scope(Scope::Act),
        query: &[],
        body: None,
        good: 200,
        answer: Answer::Json(|g| g.subschema_for::<RunShape>()),
        bad: &[404],
        handle: |ask| Box::pin(stop(ask)),
    },
];

/// A run that is to be made.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NewRun {
    /// What to do, in one's own words.
    #[schemars(length(min = 1, max = 20_000))]
    task: String,
    /// Only the level that the browser was started with: levels are chosen there.
    level: Option<String>,
    /// Which model, if not the daemon's usual one.
    #[schemars(length(max = 200))]
    model: Option<String>,
}

/// A tenant's runs.
#[derive(Debug, Serialize, JsonSchema)]
struct RunList {
    /// The newest first.
    runs: Vec<RunShape>,
}

/// A run.
#[derive(Debug, Serialize, JsonSchema)]
struct RunShape {
    id: String,
    sandbox_id: String,
    task: String,
    /// `running`, `done`, `unfinished`, `stopped`, `failed` or `interrupted`.
    status: String,
    /// RFC 3339.
    started_at: String,
    /// RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    ended_at: Option<String>,
    #[serde(flatten)]
    detail: Detail,
}

/// What is kept of a run beside its row.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
struct Detail {
    /// What the agent said at the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    answer: Option<String>,
    /// The code of what went wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    /// Tokens that the model used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tokens: Option<u64>,
    /// What they cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cost_usd: Option<f64>,
    /// What it did.
    #[serde(default)]
    steps: Vec<Step>,
}

impl RunShape {
    fn of(row: ServedRun) -> Self {
        Self {
            detail: serde_json::from_str(&row.detail).unwrap_or_default(),
            id: row.id,
            sandbox_id: row.sandbox.to_string(),
            task: row.task,
            status: row.status,
            started_at: stamp(row.started_at),
            ended_at: row.ended_at.map(stamp),
        }
    }
}

async fn create(ask: Ask) -> Result<Response, ServeError> {
    let sandbox = ask.sandbox().await?;
    may_run(&ask.app)?;
    let wish: NewRun = ask.json()?;
    if wish.task.trim().is_empty() || wish.task.chars().count() > limits::TASK_CHARS {
        let most = limits::TASK_CHARS;
        return Err(ServeError::Bad(format!("a task is 1 to {most} characters")));
    }
    let runner = ask.app.runs.runner.clone().ok_or_else(|| {
        ServeError::impossible("no_runner", "this daemon makes no runs; call the tools instead")
    })?;
    let (room, session) = running(&ask.app, &sandbox)?;
    if let Some(word) = wish.level {
        let level: Level = word.parse().map_err(|error: LevelError| {
            ServeError::impossible("unknown_level", error.to_string())
        })?;
        if session.guarded && level != session.level {
            return Err(ServeError::impossible(
                "level_of_the_browser",
                format!(
                    "this browser was started at level '{}'; start it again with another",
                    session.level
                ),
            ));
        }
    }
    let row = ServedRun {
        id: keys::id("run")?,
        tenant: sandbox.tenant,
        sandbox: sandbox.id,
        task: wish.task,
        status: "running".into(),
        started_at: ask.app.clock.now(),
        ended_at: None,
        detail: "{}".into(),
    };
    // It ends with its browser.
    let cancel = session.ending().child_token();
    if !ask.app.runs.begin(&row.id, &row.sandbox, &cancel) {
        return Err(ServeError::state(
            "run_active",
            "a run is under way in this sandbox; stop it or wait for its end",
        ));
    }
    if let Err(error) = ask.app.store.keep_run(row.clone()).await {
        ask.app.runs.end(&row.id);
        return Err(error.into());
    }
    room.events.push("run", &json!({"id": row.id, "status": row.status, "task": row.task}));
    let order = RunOrder {
        id: row.id.clone(),
        task: row.task.clone(),
        level: session.level,
        model: wish.model,
        calls: Calls::new(ask.app.clone(), room.clone(), session.clone(), Some(row.id.clone())),
        cancel,
    };
    ask.app.tasks.spawn(work(ask.app.clone(), room, session, runner, order, row.clone()));
    Ok(answer(201, &RunShape::of(row)))
}

/// Makes a run and keeps how it ended.
async fn work(
    app: Arc<App>,
    room: Arc<Room>,
    session: Arc<LiveSession>,
    runner: Arc<dyn Runner>,
    order: RunOrder,
    mut row: ServedRun,
) {
    // A browser that ended since the run was made: then no model is asked (S-053).
    let outcome = if session.is_ending() {
        RunOutcome {
            status: "failed",
            answer: Some("the sandbox's browser stopped before the run began".into()),
            error: Some("sandbox_unavailable".into()),
            ..RunOutcome::default()
        }
    } else {
        runner.run(order).await
    };
    row.status = outcome.status.to_owned();
    row.ended_at = Some(app.clock.now());
    let detail = Detail {
        answer: outcome.answer,
        error: outcome.error,
        tokens: outcome.tokens,
        cost_usd: outcome.cost_usd,
        steps: steps(&room, &row.id),
    };
    match serde_json::to_string(&detail) {
        Ok(detail) => row.detail = detail,
        Err(error) => tracing::error!(%error, "what is told of a run could not be written"),
    }
    app.runs.end(&row.id);
    room.events.push("run", &json!({"id": row.id, "status": row.status, "answer": detail.answer, "error": detail.error}));
    if let Err(error) = app.store.keep_run(row).await {
        tracing::error!(%error, "the end of a run could not be kept");
    }
}

/// A run's steps that ended, as they are kept for viewers.
fn steps(room: &Room, run: &str) -> Vec<Step> {
    let events = room.events.after(0);
    let steps = events.iter().filter(|event| event.name == "step");
    let steps = steps.filter_map(|event| serde_json::from_str::<Step>(&event.data).ok());
    steps
        .filter(|step| step.run_id.as_deref() == Some(run) && step.outcome != "running")
        .take(limits::RUN_STEPS)
        .collect()
}

#[derive(Debug, Deserialize)]
struct Of {
    sandbox: Option<String>,
}

async fn list(ask: Ask) -> Result<Response, ServeError> {
    let Of { sandbox } = ask.query()?;
    let tenant = ask.caller()?.tenant.clone();
    let sandbox = sandbox.map(SandboxId::new);
    let rows = ask.app.store.served_runs(tenant, sandbox, limits::RUN_ROWS).await?;
    let runs = rows.into_iter().map(RunShape::of).map(|mut run| {
        run.detail.steps.clear();
        run
    });
    Ok(answer(200, &RunList { runs: runs.collect() }))
}

async fn one(ask: &Ask) -> Result<RunShape, ServeError> {
    let tenant = ask.caller()?.tenant.clone();
    let row = ask.app.store.served_run(tenant, ask.part("run").to_owned()).await?;
    let row = row.ok_or(ServeError::NotFound("run"))?;
    let (id, under_way) = (row.id.clone(), row.ended_at.is_none());
    let room = ask.app.known_room(&row.sandbox);
    let mut shape = RunShape::of(row);
    if let (true, Some(room)) = (under_way, room) {
        shape.detail.steps = steps(&room, &id);
    }
    Ok(shape)
}

async fn get(ask: Ask) -> Result<Response, ServeError> {
    Ok(answer(200, &one(&ask).await?))
}

async fn stop(ask: Ask) -> Result<Response, ServeError> {
    let shape = one(&ask).await?;
    ask.app.runs.stop(&shape.id);
    Ok(answer(200, &shape))
}

/// A run is one at a time in a sandbox.
impl crate::runs::Runs {
    /// Notes a run, unless one is under way there.
    fn begin(
        &self,
        id: &str,
        sandbox: &SandboxId,
        cancel: &tokio_util::sync::CancellationToken,
    ) -> bool {
        let mut active = lock(&self.active);
        if active.values().any(|(of, _)| of == sandbox) {
            return false;
        }
        active.insert(id.to_owned(), (sandbox.clone(), cancel.clone()));
        true
    }

    /// It ended.
    fn end(&self, id: &str) {
        lock(&self.active).remove(id);
    }
}
