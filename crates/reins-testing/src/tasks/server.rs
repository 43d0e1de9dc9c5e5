//! One server for all sites and runs. Pages are plain files; what they send is stored as the site's
//! file says. Each run has hosts of its own, so nothing of one run can be taken for another's.

use super::book::Task;
use super::deed::{Deed, No};
use super::fault::TaskFault;
use super::form::{decoded, fields};
use super::stage::{Run, SignIn, TaskStage, filled, lock};
use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderName, HeaderValue, Method, StatusCode, header};
use axum::response::Response;
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::task::JoinSet;

/// The server of the suite. Ends with this value.
#[derive(Debug)]
pub struct TaskServer {
    shared: Arc<Shared>,
    _tasks: JoinSet<()>,
}

#[derive(Debug)]
struct Shared {
    port: u16,
    runs: Mutex<HashMap<u32, Arc<Run>>>,
    next: AtomicU32,
}

impl TaskServer {
    /// Starts it on a free port, on IPv4 and, where there is one, IPv6.
    ///
    /// # Errors
    ///
    /// Fails if no port can be had.
    pub async fn start() -> Result<Self, TaskFault> {
        let listener =
            TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.map_err(TaskFault::Port)?;
        let port = listener.local_addr().map_err(TaskFault::Port)?.port();
        let shared = Arc::new(Shared { port, runs: Mutex::default(), next: AtomicU32::new(1) });
        let router = Router::new().fallback(by_host).with_state(shared.clone());
        let mut tasks = JoinSet::new();
        if let Ok(sixth) = TcpListener::bind(("::1", port)).await {
            let router = router.clone();
            tasks.spawn(async move { drop(axum::serve(sixth, router).await) });
        }
        tasks.spawn(async move { drop(axum::serve(listener, router).await) });
        Ok(Self { shared, _tasks: tasks })
    }

    /// Puts a task on the stage, under hosts that no other run has.
    pub fn stage(&self, task: &Task) -> TaskStage {
        let number = self.shared.next.fetch_add(1, Ordering::Relaxed);
        let run = Arc::new(Run::new(task));
        lock(&self.shared.runs).insert(number, run.clone());
        TaskStage { number, port: self.shared.port, task: task.clone(), run }
    }

    /// Takes a task off the stage: its hosts show nothing any more.
    pub fn end(&self, stage: &TaskStage) {
        lock(&self.shared.runs).remove(&stage.number);
    }
}

/// `www-7.localhost:80` belongs to run 7.
fn number(host: &str) -> Option<u32> {
    let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
    name.strip_suffix(".localhost")?.rsplit_once('-')?.1.parse().ok()
}

async fn by_host(State(shared): State<Arc<Shared>>, request: Request) -> Response {
    let host = request.headers().get(header::HOST).and_then(|host| host.to_str().ok());
    let number = host.and_then(number);
    let run = number.and_then(|number| lock(&shared.runs).get(&number).cloned());
    let (Some(number), Some(run)) = (number, run) else {
        return plain(StatusCode::NOT_FOUND, "no task has this host");
    };
    let (parts, body) = request.into_parts();
    let body = axum::body::to_bytes(body, LARGEST_BODY).await.unwrap_or_default();
    let place = Place { run: &run, number, port: shared.port };
    let path = parts.uri.path();
    if parts.method == Method::OPTIONS {
        return plain(StatusCode::NO_CONTENT, "");
    }
    match path.trim_start_matches('/').split_once('/') {
        Some(("do", deed)) if parts.method == Method::POST => place.deed(deed, &parts, &body),
        Some(("data", key)) => place.data(key, &parts).await,
        Some(("download", name)) => download(name),
        _ => place.page(path, &parts),
    }
}

/// No task sends more.
const LARGEST_BODY: usize = 1024 * 1024;

/// A page that is served late is late by no more than this: longer only tests patience.
const LATEST: u64 = 2_500;

struct Place<'a> {
    run: &'a Run,
    number: u32,
    port: u16,
}

impl Place<'_> {
    /// A file of the site's folder, with addresses for parties filled in.
    fn page(&self, path: &str, parts: &Parts) -> Response {
        let path = if path == "/" { "/index.html" } else { path };
        let site = &self.run.task.site;
        if let Some(level) = site.private.get(path)
            && self.signed_in(parts).is_none_or(|(_, now)| now.level < *level)
        {
            return redirect(&format!("/login.html?next={path}"));
        }
        let shared = site.pages.parent().map(|pages| pages.join(KIT));
        let file = match shared {
            Some(shared) if path.trim_start_matches('/') == KIT => shared,
            _ => site.pages.join(path.trim_start_matches('/')),
        };
        let Some(text) = inside(path).then(|| std::fs::read_to_string(&file).ok()).flatten() else {
            let body = "<!doctype html><title>Not found</title><h1>Page not found</h1>";
            return respond(StatusCode::NOT_FOUND, &[("content-type", HTML)], body);
        };
        let kind = match file.extension().and_then(|extension| extension.to_str()) {
            Some("js") => "text/javascript; charset=utf-8",
            Some("css") => "text/css; charset=utf-8",
            _ => HTML,
        };
        respond(StatusCode::OK, &[("content-type", kind)], filled(&text, self.number, self.port))
    }

    /// What is stored under a name, or the entries of it that fit the query.
    async fn data(&self, key: &str, parts: &Parts) -> Response {
        let mut query = Map::new();
        for pair in parts.uri.query().unwrap_or_default().split('&') {
            if let Some((name, value)) = pair.split_once('=') {
                query.insert(decoded(name), Value::String(decoded(value)));
            }
        }
        let mut number = |name: &str| {
            query.remove(name).and_then(|value| value.as_str().and_then(|v| v.parse::<u64>().ok()))
        };
        let (wait, from, count) = (number("wait"), number("from"), number("count"));
        if let Some(wait) = wait {
            // The page asked for a late answer: that is what its task is about.
            tokio::time::sleep(Duration::from_millis(wait.min(LATEST))).await;
        }
        let value = lock(&self.run.stored).get(key).cloned();
        let Some(mut value) = value else {
            return plain(StatusCode::NOT_FOUND, "nothing is stored here");
        };
        if let Value::Array(list) = &mut value {
            list.retain(|entry| chosen(entry, &query));
            let skipped = usize::try_from(from.unwrap_or(0)).unwrap_or(usize::MAX).min(list.len());
            list.drain(..skipped);
            list.truncate(count.map_or(usize::MAX, |n| usize::try_from(n).unwrap_or(usize::MAX)));
        }
        respond(StatusCode::OK, &[("content-type", JSON)], value.to_string())
    }

    /// Does what the site's file says, once.
    fn deed(&self, name: &str, parts: &Parts, body: &[u8]) -> Response {
        let site = &self.run.task.site;
        let Some(deed) = site.deeds.get(name) else {
            return plain(StatusCode::NOT_FOUND, "nothing is done here");
        };
        let signed_in = self.signed_in(parts);
        if signed_in.as_ref().map_or(0, |(_, now)| now.level) < deed.requires {
            return if deed.next.is_some() {
                redirect("/login.html?ended=1")
            } else {
                let told = json!({"error": "Your session has ended. Please sign in again."});
                respond(StatusCode::UNAUTHORIZED, &[("content-type", JSON)], told.to_string())
            };
        }
        let kind = parts.headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        let fields = fields(kind.unwrap_or_default(), body);
        let done = deed.done(&fields, &site.hidden, &mut lock(&self.run.stored));
        let mut response = match (&done, &deed.next) {
            (Ok(()), Some(next)) => {
                let wanted = fields.get("next").and_then(Value::as_str).filter(|to| inside(to));
                redirect(wanted.unwrap_or(next))
            }
            (Ok(()), None) => respond(StatusCode::OK, &[("content-type", JSON)], "{\"ok\":true}"),
            (Err(no), Some(_)) => redirect(&back(parts, no)),
            (Err(no), None) => {
                let told = json!({"error": no.told()}).to_string();
                respond(StatusCode::UNPROCESSABLE_ENTITY, &[("content-type", JSON)], told)
            }
        };
        if done.is_ok() {
            self.remember(deed, signed_in, &mut response);
        }
        response
    }

    fn signed_in(&self, parts: &Parts) -> Option<(String, SignIn)> {
        let cookies = parts.headers.get(header::COOKIE)?.to_str().ok()?;
        let id = cookies.split("; ").find_map(|cookie| cookie.strip_prefix("session="))?;
        let found = lock(&self.run.sessions).get(id).copied()?;
        Some((id.to_owned(), found))
    }

    /// Counts the deed against the session, and begins or ends one.
    fn remember(&self, deed: &Deed, before: Option<(String, SignIn)>, response: &mut Response) {
        let mut sessions = lock(&self.run.sessions);
        if let Some((id, mut now)) = before.filter(|_| deed.requires > 0) {
            now.left = now.left.map(|left| left.saturating_sub(1));
            if now.left == Some(0) {
                sessions.remove(&id);
            } else {
                sessions.insert(id, now);
            }
        }
        match deed.grants {
            None => {}
            Some(0) => sessions.clear(),
            Some(level) => {
                let id = format!("{}-{}", self.number, sessions.len() + 1);
                let cookie = format!("session={id}; Path=/; HttpOnly");
                sessions.insert(id, SignIn { level, left: self.run.task.site.session_deeds });
                if let Ok(value) = HeaderValue::from_str(&cookie) {
                    response.headers_mut().insert(header::SET_COOKIE, value);
                }
            }
        }
    }
}

/// What every page may use.
const KIT: &str = "kit.js";
const HTML: &str = "text/html; charset=utf-8";
const JSON: &str = "application/json";

/// `q` is looked for in all texts, every other name must be equal.
fn chosen(entry: &Value, query: &Map<String, Value>) -> bool {
    query.iter().all(|(name, wanted)| {
        let wanted = wanted.as_str().unwrap_or_default();
        match (name.as_str(), entry) {
            (_, _) if wanted.is_empty() => true,
            ("q", Value::Object(entry)) => entry.values().any(|value| {
                value.as_str().is_some_and(|t| t.to_lowercase().contains(&wanted.to_lowercase()))
            }),
            (name, entry) => match &entry[name] {
                Value::String(text) => text == wanted,
                Value::Number(number) => {
                    wanted.parse().is_ok_and(|wanted: i64| number.as_i64() == Some(wanted))
                }
                Value::Bool(word) => wanted == if *word { "true" } else { "false" },
                _ => false,
            },
        }
    })
}

/// The page that the form came from, with the reason.
fn back(parts: &Parts, no: &No) -> String {
    let from = parts.headers.get(header::REFERER).and_then(|from| from.to_str().ok());
    let from = from.and_then(|from| from.parse::<axum::http::Uri>().ok());
    let path = from.as_ref().map_or("/", |from| from.path()).to_owned();
    format!("{path}?error={}", no.told().replace(' ', "+"))
}

/// A file that browsers save instead of showing.
fn download(name: &str) -> Response {
    let disposition = format!("attachment; filename=\"{name}\"");
    let mut response = plain(StatusCode::OK, "month,amount\nMay,1200\n");
    if let Ok(value) = HeaderValue::from_str(&disposition) {
        response.headers_mut().insert(header::CONTENT_DISPOSITION, value);
    }
    response
}

/// Only paths of this site.
fn inside(path: &str) -> bool {
    path.starts_with('/') && !path.starts_with("//") && !path.contains("..")
}

fn redirect(to: &str) -> Response {
    respond(StatusCode::SEE_OTHER, &[("location", to)], "")
}

fn plain(status: StatusCode, text: &'static str) -> Response {
    respond(status, &[("content-type", "text/plain; charset=utf-8")], text)
}

fn respond(
    status: StatusCode,
    headers: &[(&'static str, &str)],
    body: impl Into<Body>,
) -> Response {
    let mut response = Response::new(body.into());
    *response.status_mut() = status;
    let map = response.headers_mut();
    map.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    for (name, value) in headers {
        if let Ok(value) = HeaderValue::from_str(value) {
            map.insert(HeaderName::from_static(name), value);
        }
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_tells_the_run() {
        assert_eq!(number("www-7.localhost:80"), Some(7));
        assert_eq!(number("www-7.localhost"), Some(7));
        assert_eq!(number("127.0.0.1:80"), None);
        assert_eq!(number("www.localhost:80"), None);
    }
}
