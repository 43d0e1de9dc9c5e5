//! What was recorded of browsers.

use super::{Access, Answer, Ask, Operation, Param, answer, nothing};
use crate::clock::{read, stamp};
use crate::error::ServeError;
use crate::limits;
use crate::scope::Scope;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use reins_record::{
    KindName, Library, RecordError, Recording, RecordingId, RecordingStatus, Seq, StoredEvent,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::time::{Duration, SystemTime};

pub(super) const OPERATIONS: &[Operation] = &[
    Operation {
        method: "GET",
        path: "/v1/recordings",
        id: "listRecordings",
        about: "The tenant's recordings, the newest first.",
        access: Access::Scope(Scope::Read),
        query: &[
            Param { name: "sandbox", about: "Those of this sandbox.", kind: "string" },
            Param {
                name: "q",
                about: "Those whose app, sandbox or id holds this.",
                kind: "string",
            },
            Param {
                name: "before",
                about: "Those that began before this, RFC 3339 in UTC.",
                kind: "string",
            },
        ],
        body: None,
        good: 200,
        answer: Answer::Json(|g| g.subschema_for::<RecordingList>()),
        bad: &[400],
        handle: |ask| Box::pin(list(ask)),
    },
    Operation {
        method: "GET",
        path: "/v1/recordings/{recording}",
        id: "getRecording",
        about: "One recording.",
        access: Access::Scope(Scope::Read),
        query: &[],
        body: None,
        good: 200,
        answer: Answer::Json(|g| g.subschema_for::<RecordingShape>()),
        bad: &[404],
        handle: |ask| Box::pin(show(ask)),
    },
    Operation {
        method: "GET",
        path: "/v1/recordings/{recording}/events",
        id: "listRecordedEvents",
        about: "A recording's events in order, also while it is written. What is in them is the page's: never run it.",
        access: Access::Scope(Scope::Read),
        query: &[
            Param {
                name: "after",
                about: "Those after this place; 0 if nothing is said.",
                kind: "integer",
            },
            Param { name: "limit", about: "How many at most.", kind: "integer" },
        ],
        body: None,
        good: 200,
        answer: Answer::Json(|g| g.subschema_for::<EventList>()),
        bad: &[400, 404],
        handle: |ask| Box::pin(events(ask)),
    },
    Operation {
        method: "GET",
        path: "/v1/recordings/{recording}/frames/{seq}",
        id: "getRecordedFrame",
        about: "One picture.",
        access: Access::Scope(Scope::Read),
        query: &[],
        body: None,
        good: 200,
        answer: Answer::Other(JPEG),
        bad: &[404],
        handle: |ask| Box::pin(frame(ask)),
    },
    Operation {
        method: "GET",
        path: "/v1/recordings/{recording}/search",
        id: "searchRecording",
        about: "Where words were on the screen, in a console or in what an agent did.",
        access: Access::Scope(Scope::Read),
        query: &[Param { name: "q", about: "The words.", kind: "string" }],
        body: None,
        good: 200,
        answer: Answer::Json(|g| g.subschema_for::<HitList>()),
        bad: &[400, 404],
        handle: |ask| Box::pin(search(ask)),
    },
    Operation {
        method: "GET",
        path: "/v1/recordings/{recording}/export",
        id: "exportRecording",
        about: "The recording as one HTML file that shows it without loading or running anything else.",
        access: Access::Scope(Scope::Read),
        query: &[],
        body: None,
        good: 200,
        answer: Answer::Other(HTML),
        bad: &[404],
        handle: |ask| Box::pin(export(ask)),
    },
    Operation {
        method: "DELETE",
        path: "/v1/recordings/{recording}",
        id: "deleteRecording",
        about: "Removes a recording that has ended.",
        access: Access::Scope(Scope::Manage),
        query: &[],
        body: None,
        good: 204,
        answer: Answer::Nothing,
        bad: &[404, 409],
        handle: |ask| Box::pin(delete(ask)),
    },
];

const JPEG: &str = "image/jpeg";
const HTML: &str = "text/html";

#[derive(Debug, Deserialize)]
struct Filter {
    sandbox: Option<String>,
    q: Option<String>,
    before: Option<String>,
}

/// Recordings.
#[derive(Debug, Serialize, JsonSchema)]
struct RecordingList {
    recordings: Vec<RecordingShape>,
    /// What to give as `before` for those that follow.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

/// A recording.
#[derive(Debug, Serialize, JsonSchema)]
struct RecordingShape {
    id: String,
    sandbox_id: String,
    app_url: String,
    /// RFC 3339.
    started_at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    ended_at: Option<String>,
    /// `recording`, `complete` or `cut_short`.
    status: String,
    /// Why it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    end_reason: Option<String>,
    /// Events on the disk.
    events: u64,
    /// Bytes on the disk.
    bytes: u64,
    duration_ms: u64,
    /// Of `rrweb`, `frames`, `console`.
    kinds: Vec<String>,
}

impl From<Recording> for RecordingShape {
    fn from(recording: Recording) -> Self {
        let kinds = recording.about.kinds;
        let kinds = [("rrweb", kinds.rrweb), ("frames", kinds.frames), ("console", kinds.console)];
        let status = match recording.status {
            RecordingStatus::Recording => "recording",
            RecordingStatus::Complete => "complete",
            RecordingStatus::CutShort => "cut_short",
        };
        Self {
            id: recording.id.to_string(),
            sandbox_id: recording.about.sandbox_id,
            app_url: recording.about.app_url,
            started_at: stamp(at(recording.about.started_at_ms)),
            ended_at: recording.ended_at_ms.map(|ms| stamp(at(ms))),
            status: status.to_owned(),
            end_reason: recording.end_reason,
            events: recording.events,
            bytes: recording.bytes,
            duration_ms: recording.duration_ms,
            kinds: kinds.iter().filter(|kind| kind.1).map(|kind| kind.0.to_owned()).collect(),
        }
    }
}

fn at(ms: u64) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_millis(ms)
}

/// Events.
#[derive(Debug, Serialize, JsonSchema)]
struct EventList {
    events: Vec<EventShape>,
    /// What to give as `after` for those that follow.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<u64>,
}

/// An event.
#[derive(Debug, Serialize, JsonSchema)]
struct EventShape {
    seq: u64,
    /// Milliseconds since 1970.
    at_ms: u64,
    tab: String,
    /// What `data` is: `rrweb`, `placed`, `console`, `marker`, `action`, `takeover` or `frame`.
    #[schemars(with = "String")]
    kind: KindName,
    #[schemars(with = "serde_json::Value")]
    data: Box<RawValue>,
}

impl From<StoredEvent> for EventShape {
    fn from(event: StoredEvent) -> Self {
        let StoredEvent { seq, at_ms, tab, kind, data } = event;
        Self { seq: seq.0, at_ms, tab, kind, data }
    }
}

/// Places where words were found.
#[derive(Debug, Serialize, JsonSchema)]
struct HitList {
    hits: Vec<HitShape>,
}

/// A place where words were found.
#[derive(Debug, Serialize, JsonSchema)]
struct HitShape {
    seq: u64,
    /// Milliseconds since 1970.
    at_ms: u64,
    tab: String,
    /// The words with what stands around them.
    text: String,
}

impl From<RecordError> for ServeError {
    fn from(error: RecordError) -> Self {
        match error {
            RecordError::Unknown(_) => Self::NotFound("recording"),
            RecordError::NoPicture(_) => Self::NotFound("picture"),
            RecordError::Live(_) => Self::state(error.code(), error.to_string()),
            other => Self::Internal(other.to_string()),
        }
    }
}

/// Reads the disk where nobody is kept waiting by it.
async fn in_library<T: Send + 'static>(
    ask: &Ask,
    work: impl FnOnce(&Library) -> Result<T, RecordError> + Send + 'static,
) -> Result<T, ServeError> {
    let library = ask.app.witnesses.library.clone();
    let done = tokio::task::spawn_blocking(move || work(&library)).await;
    Ok(done.unwrap_or_else(|error| Err(RecordError::broken_off(&error)))?)
}

/// The recording that the address names, if it is the caller's.
async fn named(ask: &Ask) -> Result<Recording, ServeError> {
    let unknown = || ServeError::NotFound("recording");
    let id: RecordingId = ask.part("recording").parse().map_err(|_| unknown())?;
    let found = in_library(ask, move |library| library.get(&id)).await?;
    if found.about.tenant != ask.caller()?.tenant.as_str() {
        return Err(unknown());
    }
    Ok(found)
}

async fn list(ask: Ask) -> Result<Response, ServeError> {
    let Filter { sandbox, q, before } = ask.query()?;
    let before = match before {
        None => None,
        Some(text) => {
            let wrong = || ServeError::Bad("before must be RFC 3339 in UTC".into());
            Some(crate::clock::millis(read(&text).ok_or_else(wrong)?))
        }
    };
    let tenant = ask.caller()?.tenant.clone();
    let all = in_library(&ask, Library::list).await?;
    let holds = |recording: &Recording, words: &str| {
        let about = &recording.about;
        [recording.id.as_str(), &about.sandbox_id, &about.app_url].iter().any(|s| s.contains(words))
    };
    let mut wanted = all.into_iter().filter(|recording| {
        recording.about.tenant == tenant.as_str()
            && sandbox.as_ref().is_none_or(|id| *id == recording.about.sandbox_id)
            && q.as_ref().is_none_or(|words| holds(recording, words.trim()))
            && before.is_none_or(|ms| recording.about.started_at_ms < ms)
    });
    let recordings: Vec<RecordingShape> =
        wanted.by_ref().take(limits::RECORDINGS_PAGE).map(Into::into).collect();
    let more = wanted.next().is_some();
    let next = recordings.last().filter(|_| more).map(|last| last.started_at.clone());
    Ok(answer(200, &RecordingList { recordings, next }))
}

async fn show(ask: Ask) -> Result<Response, ServeError> {
    Ok(answer(200, &RecordingShape::from(named(&ask).await?)))
}

#[derive(Debug, Deserialize)]
struct Part {
    #[serde(default)]
    after: u64,
    limit: Option<usize>,
}

async fn events(ask: Ask) -> Result<Response, ServeError> {
    let id = named(&ask).await?.id;
    let Part { after, limit } = ask.query()?;
    let limit = limit.unwrap_or(limits::EVENTS_PAGE);
    let page = in_library(&ask, move |library| library.events(&id, Seq(after), limit)).await?;
    let events = page.events.into_iter().map(Into::into).collect();
    Ok(answer(200, &EventList { events, next: page.next.map(|seq| seq.0) }))
}

async fn frame(ask: Ask) -> Result<Response, ServeError> {
    let seq = ask.part("seq").parse().map_err(|_| ServeError::NotFound("picture"))?;
    let id = named(&ask).await?.id;
    let jpeg = in_library(&ask, move |library| library.jpeg(&id, Seq(seq))).await?;
    Ok(([(header::CONTENT_TYPE, JPEG)], jpeg).into_response())
}

#[derive(Debug, Deserialize)]
struct Words {
    q: String,
}

async fn search(ask: Ask) -> Result<Response, ServeError> {
    let id = named(&ask).await?.id;
    let Words { q } = ask.query()?;
    let hits = in_library(&ask, move |library| library.search(&id, &q)).await?;
    let hits = hits.into_iter().map(|hit| HitShape {
        seq: hit.seq.0,
        at_ms: hit.at_ms,
        tab: hit.tab,
        text: hit.text,
    });
    Ok(answer(200, &HitList { hits: hits.collect() }))
}

async fn export(ask: Ask) -> Result<Response, ServeError> {
    let id = named(&ask).await?.id;
    let named = format!("attachment; filename=\"recording-{id}.html\"");
    let page = in_library(&ask, move |library| {
        let mut page = Vec::new();
        library.export(&id, &mut page)?;
        Ok(page)
    })
    .await?;
    // Saved, not shown: an address of the daemon shows nothing that came from a page.
    let headers = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8".to_owned()),
        (header::CONTENT_DISPOSITION, named),
        (header::CONTENT_SECURITY_POLICY, "sandbox; default-src 'none'".to_owned()),
    ];
    Ok((headers, page).into_response())
}

async fn delete(ask: Ask) -> Result<Response, ServeError> {
    let id = named(&ask).await?.id;
    in_library(&ask, move |library| library.delete(&id)).await?;
    Ok(nothing())
}
