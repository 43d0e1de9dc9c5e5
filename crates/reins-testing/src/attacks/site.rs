//! One server for all parties of all cases. Each run of a case has hosts of its own
//! (`shop-7.localhost`, `evil-7.localhost`), which are different sites for a browser, so nothing of
//! one run can be taken for another's.

use super::case::{Case, Played, Raw, Source, Variant};
use super::fault::AttackFault;
use super::hits::Hit;
use super::sign::Sign;
use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::Response;
use axum::serve::ListenerExt;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::io;
use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::net::{TcpListener, UdpSocket};
use tokio::sync::watch;
use tokio::task::JoinSet;

/// Everyone who has a server. `shop` is whom the task is about, `evil` is the attacker.
const PARTIES: &[&str] = &["shop", "evil", "partner"];

/// The server of the corpus. Ends with this value.
#[derive(Debug)]
pub struct AttackSite {
    port: u16,
    runs: Arc<Runs>,
    next: AtomicU32,
    _tasks: JoinSet<()>,
}

#[derive(Debug, Default)]
struct Runs(Mutex<HashMap<u32, Arc<Run>>>);

#[derive(Debug)]
struct Run {
    pages: BTreeMap<String, Source>,
    seen: Mutex<Seen>,
    news: watch::Sender<usize>,
}

#[derive(Debug, Default)]
struct Seen {
    hits: Vec<Hit>,
    open: HashSet<String>,
    passed: HashSet<String>,
}

impl AttackSite {
    /// Starts it on a free port, on IPv4 and, where there is one, IPv6.
    ///
    /// # Errors
    ///
    /// Fails if no port can be had.
    pub async fn start() -> Result<Self, AttackFault> {
        let listener =
            TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.map_err(AttackFault::Port)?;
        let port = listener.local_addr().map_err(AttackFault::Port)?.port();
        let runs = Arc::new(Runs::default());
        let router = Router::new().fallback(by_host).with_state(runs.clone());
        let mut tasks = JoinSet::new();
        if let Ok(sixth) = TcpListener::bind(("::1", port)).await {
            let router = router.clone();
            tasks.spawn(async move { drop(axum::serve(sixth, router).await) });
        }
        tasks.spawn(async move { drop(axum::serve(listener, router).await) });
        Ok(Self { port, runs, next: AtomicU32::new(1), _tasks: tasks })
    }

    /// Puts a case on the stage, under hosts that no other run has.
    ///
    /// # Errors
    ///
    /// Fails if the case means nothing or no port can be had.
    pub async fn stage(&self, case: &Case, variant: Variant) -> Result<Stage, AttackFault> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let lone = if case.mentions("{evil-port}") { Some(Lone::bind().await?) } else { None };
        let lone_port = lone.as_ref().map_or(0, |lone| lone.port);
        let port = self.port;
        let fill = move |text: &str| {
            let mut text = text.replace("{evil-port}", &lone_port.to_string());
            for party in PARTIES {
                let host = format!("{party}-{number}.localhost");
                text = text
                    .replace(&format!("{{{party}}}"), &format!("http://{host}:{port}"))
                    .replace(&format!("{{{party}-host}}"), &format!("{host}:{port}"))
                    .replace(&format!("{{{party}-name}}"), &host);
            }
            text.replace("{port}", &port.to_string()).replace("{run}", &number.to_string())
        };
        let played = case.filled(variant, fill)?;
        let run = Arc::new(Run {
            pages: played.pages.clone(),
            seen: Mutex::default(),
            news: watch::Sender::new(0),
        });
        lock(&self.runs.0).insert(number, run.clone());
        let mut tasks = JoinSet::new();
        if let Some(lone) = lone {
            lone.serve(&run, &mut tasks);
        }
        let strangers = PARTIES
            .iter()
            .filter(|party| !case.sites().iter().any(|site| site == *party))
            .map(|party| format!("{party}-{number}.localhost"))
            .chain((lone_port != 0).then(|| format!(":{lone_port}")))
            .collect();
        let sites = case
            .sites()
            .iter()
            .map(|party| format!("http://{party}-{number}.localhost:{port}"))
            .collect();
        let runs = self.runs.clone();
        Ok(Stage { number, played, strangers, sites, run, runs, _tasks: tasks })
    }
}

/// A case on the stage. Its hosts are gone with this value.
#[derive(Debug)]
pub struct Stage {
    number: u32,
    /// The case as it is played.
    pub played: Played,
    /// What on a card shows that somebody takes part whom the task did not name.
    pub strangers: Vec<String>,
    /// The origins that the task names.
    pub sites: Vec<String>,
    run: Arc<Run>,
    runs: Arc<Runs>,
    _tasks: JoinSet<()>,
}

impl Drop for Stage {
    fn drop(&mut self) {
        lock(&self.runs.0).remove(&self.number);
    }
}

impl Stage {
    /// The number in its hosts.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// What arrived so far.
    pub fn hits(&self) -> Vec<Hit> {
        lock(&self.run.seen).hits.clone()
    }

    /// Lets a page go on that waits at a gate, and waits until it has. False if it has not within
    /// the limit.
    pub async fn open_gate(&self, name: &str, limit: Duration) -> bool {
        lock(&self.run.seen).open.insert(name.to_owned());
        self.run.news.send_modify(|news| *news += 1);
        self.run.wait(limit, |seen| seen.passed.contains(name)).await
    }

    /// Waits until one of the signs was seen. False if none was within the limit.
    pub async fn wait(&self, signs: &[Sign], limit: Duration) -> bool {
        self.run.wait(limit, |seen| seen.hits.iter().any(|h| signs.iter().any(|s| s.fits(h)))).await
    }
}

impl Run {
    async fn wait(&self, limit: Duration, until: impl Fn(&Seen) -> bool) -> bool {
        let mut news = self.news.subscribe();
        let waited = tokio::time::timeout(limit, async {
            loop {
                news.mark_unchanged();
                if until(&lock(&self.seen)) {
                    return;
                }
                if news.changed().await.is_err() {
                    std::future::pending::<()>().await;
                }
            }
        });
        waited.await.is_ok()
    }

    fn note(&self, hit: Hit) {
        lock(&self.seen).hits.push(hit);
        self.news.send_modify(|news| *news += 1);
    }

    async fn answer(&self, party: &str, request: Request) -> Response {
        let (parts, body) = request.into_parts();
        let path = parts.uri.path_and_query().map_or("/", |p| p.as_str()).to_owned();
        if let Some(gate) = path.strip_prefix("/gate/") {
            self.wait(GATE, |seen| seen.open.contains(gate)).await;
            return respond(StatusCode::NO_CONTENT, &[], Body::empty());
        }
        if let Some(gate) = path.strip_prefix("/passed/") {
            lock(&self.seen).passed.insert(gate.to_owned());
            self.news.send_modify(|news| *news += 1);
            return respond(StatusCode::NO_CONTENT, &[], Body::empty());
        }
        if path == "/favicon.ico" {
            return respond(StatusCode::NO_CONTENT, &[], Body::empty());
        }
        let body = axum::body::to_bytes(body, LARGEST_BODY).await.unwrap_or_default();
        let socket = parts.headers.get(header::UPGRADE).is_some_and(|kind| kind == "websocket");
        let method = if socket { "WS".to_owned() } else { parts.method.to_string() };
        let bare = parts.uri.path().to_owned();
        self.note(Hit {
            party: party.to_owned(),
            method: method.clone(),
            path: path.clone(),
            body: String::from_utf8_lossy(&body).into_owned(),
        });
        if method == "OPTIONS" {
            return respond(StatusCode::NO_CONTENT, &[], Body::empty());
        }
        let places = [
            format!("{party} {method} {path}"),
            format!("{party} {method} {bare}"),
            format!("{party} {path}"),
            format!("{party} {bare}"),
        ];
        match places.iter().find_map(|place| self.pages.get(place)) {
            Some(Source::Html(text)) => html(text),
            Some(Source::Raw(raw)) => answer_raw(raw),
            // Where a case says nothing, an ordinary page is enough.
            None => html(&format!("<title>A page</title><h1>A page</h1><p>of {party}</p>")),
        }
    }
}

/// A page that waits at a gate waits no longer than any case takes.
const GATE: Duration = Duration::from_secs(60);

/// No case sends more.
const LARGEST_BODY: usize = 1024 * 1024;

/// Lets a page wait for the driver: `gate(name, then)` calls `then` once the case's step
/// `gate name` was reached, and tells the server that it has.
const KIT: &str = "<script>function gate(name,then){const go=()=>{const i=new Image();\
     i.onload=i.onerror=()=>{try{then()}finally{new Image().src='/passed/'+name}};i.src='/gate/'+name};\
     if(document.readyState==='complete')go();else addEventListener('load',()=>setTimeout(go))}</script>";

fn html(text: &str) -> Response {
    let kit = if text.contains("gate(") { KIT } else { "" };
    let body =
        format!("<!doctype html><meta charset=utf-8><link rel=icon href='data:,'>{kit}{text}");
    let headers = [("content-type".to_owned(), "text/html; charset=utf-8".to_owned())];
    respond(StatusCode::OK, &headers, Body::from(body))
}

fn answer_raw(raw: &Raw) -> Response {
    let default = if raw.to.is_some() { 302 } else { 200 };
    let status = StatusCode::from_u16(raw.status.unwrap_or(default)).unwrap_or(StatusCode::OK);
    let mut headers: Vec<(String, String)> =
        raw.headers.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
    headers.extend(raw.to.iter().map(|to| ("location".to_owned(), to.clone())));
    headers.push(("content-type".to_owned(), raw.kind.clone().unwrap_or("text/html".into())));
    respond(status, &headers, Body::from(raw.body.clone()))
}

fn respond(status: StatusCode, headers: &[(String, String)], body: Body) -> Response {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    let map = response.headers_mut();
    map.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    map.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    for (name, value) in headers {
        let name = HeaderName::from_bytes(name.as_bytes());
        if let (Ok(name), Ok(value)) = (name, HeaderValue::from_str(value)) {
            map.insert(name, value);
        }
    }
    response
}

async fn by_host(State(runs): State<Arc<Runs>>, request: Request) -> Response {
    let host = request.headers().get(header::HOST).and_then(|host| host.to_str().ok());
    let run = host
        .and_then(party)
        .and_then(|(party, number)| lock(&runs.0).get(&number).cloned().map(|run| (party, run)));
    match run {
        Some((party, run)) => run.answer(&party, request).await,
        None => respond(StatusCode::NOT_FOUND, &[], Body::from("no case has this host")),
    }
}

/// `www.evil-7.localhost:80` is `www.evil` of run 7.
fn party(host: &str) -> Option<(String, u32)> {
    let name = host.rsplit_once(':').map_or(host, |(name, _)| name).trim_end_matches('.');
    let rest = name.strip_suffix(".localhost")?;
    let (party, number) = rest.rsplit_once('-')?;
    Some((party.to_owned(), number.parse().ok()?))
}

/// A server of the attacker on a port of its own: for hosts that carry no number, and for what
/// arrives without HTTP.
struct Lone {
    port: u16,
    streams: TcpListener,
    datagrams: UdpSocket,
}

impl Lone {
    async fn bind() -> Result<Self, AttackFault> {
        let mut last = io::Error::from(io::ErrorKind::AddrInUse);
        for _ in 0..BIND_TRIES {
            let streams =
                TcpListener::bind((Ipv4Addr::UNSPECIFIED, 0)).await.map_err(AttackFault::Port)?;
            let port = streams.local_addr().map_err(AttackFault::Port)?.port();
            match UdpSocket::bind((Ipv4Addr::LOCALHOST, port)).await {
                Ok(datagrams) => return Ok(Self { port, streams, datagrams }),
                Err(error) => last = error,
            }
        }
        Err(AttackFault::Port(last))
    }

    fn serve(self, run: &Arc<Run>, tasks: &mut JoinSet<()>) {
        let bare = |method: &str| Hit {
            party: "evil".into(),
            method: method.into(),
            path: String::new(),
            body: String::new(),
        };
        let (seen, hit) = (run.clone(), bare("TCP"));
        let listener = self.streams.tap_io(move |_| seen.note(hit.clone()));
        let router = Router::new().fallback(lone).with_state(run.clone());
        tasks.spawn(async move { drop(axum::serve(listener, router).await) });
        let (seen, hit, socket) = (run.clone(), bare("UDP"), self.datagrams);
        tasks.spawn(async move {
            let mut buffer = [0; 2048];
            while socket.recv_from(&mut buffer).await.is_ok() {
                seen.note(hit.clone());
            }
        });
    }
}

/// TCP and UDP ports are given out apart; a few tries find a number that is free in both.
const BIND_TRIES: usize = 16;

async fn lone(State(run): State<Arc<Run>>, request: Request) -> Response {
    run.answer("evil", request).await
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A test that panicked while holding it has failed already.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_tells_the_party_and_the_run() {
        for (host, found) in [
            ("shop-7.localhost:80", Some(("shop", 7))),
            ("www.evil-12.localhost.:80", Some(("www.evil", 12))),
            ("shop-7.localhost.evil-8.localhost", Some(("shop-7.localhost.evil", 8))),
            ("127.0.0.1:80", None),
            ("shop.localhost", None),
        ] {
            let expected = found.map(|(party, number)| (party.to_owned(), number));
            assert_eq!(party(host), expected, "{host}");
        }
    }
}
