//! The saved sign-in of a sandbox's app (S-028, S-029): kept sealed, limited to the app, given to each browser
//! that starts.

use super::{Access, Answer, Ask, Operation, answer, nothing, running};
use crate::error::ServeError;
use crate::scope::Scope;
use axum::response::Response;
use reins_browser::SignIn;
use reins_core::{Origin, Secret};
use reins_store::StoredSandbox;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

const PATH: &str = "/v1/sandboxes/{id}/storage-state";

pub(super) const OPERATIONS: &[Operation] = &[
    Operation {
        method: "GET",
        path: PATH,
        id: "getStorageState",
        about: "What the running browser is signed in to its app with, or else the saved sign-in, in Playwright's form.",
        access: Access::Scope(Scope::Manage),
        query: &[],
        body: None,
        good: 200,
        answer: Answer::Json(|g| g.subschema_for::<Map<String, Value>>()),
        bad: &[404, 409, 422],
        handle: |ask| Box::pin(show(ask)),
    },
    Operation {
        method: "PUT",
        path: PATH,
        id: "putStorageState",
        about: "Saves a sign-in for the app; browsers that start from now on begin with it. What is not the app's is left out.",
        access: Access::Scope(Scope::Manage),
        query: &[],
        body: Some(|g| g.subschema_for::<Map<String, Value>>()),
        good: 200,
        answer: Answer::Json(|g| g.subschema_for::<Saved>()),
        bad: &[400, 404, 413, 415, 422],
        handle: |ask| Box::pin(save(ask)),
    },
    Operation {
        method: "DELETE",
        path: PATH,
        id: "deleteStorageState",
        about: "Forgets the saved sign-in of the app.",
        access: Access::Scope(Scope::Manage),
        query: &[],
        body: None,
        good: 204,
        answer: Answer::Nothing,
        bad: &[404, 422],
        handle: |ask| Box::pin(forget(ask)),
    },
];

/// What was saved.
#[derive(Debug, Serialize, JsonSchema)]
struct Saved {
    /// Cookies that the app's host is sent.
    cookies: usize,
    /// Items of its origin's local storage.
    local_storage: usize,
    /// Cookies and items that are not the app's.
    left_out: usize,
}

/// The app whose sign-in it is: a browser on the open web has none of its own.
fn app_of(sandbox: &StoredSandbox) -> Result<Origin, ServeError> {
    if sandbox.guarded {
        return Err(ServeError::impossible(
            "no_app",
            "this sandbox is on the open web, so there is no app whose sign-in could be saved",
        ));
    }
    Origin::parse(&sandbox.app_url).map_err(|error| ServeError::Internal(error.to_string()))
}

async fn show(ask: Ask) -> Result<Response, ServeError> {
    let sandbox = ask.sandbox().await?;
    let app = app_of(&sandbox)?;
    let state = match running(&ask.app, &sandbox) {
        Ok((_, session)) => session.started.control.sign_in(&app).await?,
        Err(_) => {
            let saved = ask.app.store.sign_in(ask.caller()?.tenant.as_str(), &app).await?;
            saved.ok_or(ServeError::NotFound("saved sign-in"))?
        }
    };
    let state: Value = serde_json::from_str(state.expose())
        .map_err(|_| ServeError::Internal("the sign-in is no JSON".into()))?;
    Ok(answer(200, &state))
}

async fn save(ask: Ask) -> Result<Response, ServeError> {
    let sandbox = ask.sandbox().await?;
    let app = app_of(&sandbox)?;
    let given: Map<String, Value> = ask.json()?;
    let given = Secret::new(Value::Object(given).to_string());
    let (sign_in, left_out) =
        SignIn::from_json(&given, &app).map_err(|error| ServeError::Bad(error.to_string()))?;
    let now = ask.app.clock.now();
    let tenant = ask.caller()?.tenant.as_str();
    ask.app.store.set_sign_in(tenant, &app, sign_in.expose_json(&app), now).await?;
    let saved = Saved {
        cookies: sign_in.cookies.len(),
        local_storage: sign_in.local_storage.len(),
        left_out,
    };
    Ok(answer(200, &saved))
}

async fn forget(ask: Ask) -> Result<Response, ServeError> {
    let sandbox = ask.sandbox().await?;
    let app = app_of(&sandbox)?;
    if !ask.app.store.remove_sign_in(ask.caller()?.tenant.as_str(), &app).await? {
        return Err(ServeError::NotFound("saved sign-in"));
    }
    Ok(nothing())
}
