//! What the documents and workers of a tab loaded and sent, bounded, without credentials.

use crate::body;
use crate::console::{innermost, shown};
use crate::protocol::inspect as wire;
use reins_cdp::Session;
use reins_page::{conceal, conceal_header};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::collections::{HashMap, VecDeque};
use std::time::{Duration, Instant};

/// One request, as far as it has come.
#[derive(Clone, Debug)]
pub struct NetworkRequest {
    /// Its number in this tab, never used again.
    pub number: u32,
    /// The method.
    pub method: String,
    /// The address, credentials in it redacted.
    pub url: String,
    /// What it loads: `document`, `fetch`, `script`, `websocket`, …
    pub kind: String,
    /// Who asked for it: `script`, `parser`, `preload`, `other`, …
    pub initiator: String,
    /// Where in the source that was.
    pub place: Option<String>,
    /// The status of the answer.
    pub status: Option<u32>,
    /// The type of what came.
    pub mime: String,
    /// The protocol, such as `h2`.
    pub protocol: String,
    /// Where the answer came from, if not from the network: `cache`, `service worker`.
    pub from: Option<&'static str>,
    /// Bytes that came over the network, headers included.
    pub bytes: Option<u64>,
    /// How long it took, or has taken so far.
    pub took: Duration,
    /// It has ended, one way or the other.
    pub ended: bool,
    /// Why it failed, in the browser's words.
    pub failure: Option<String>,
    /// Why Reins did not let it go on.
    pub refused: Option<String>,
    /// It waits until the person has answered.
    pub waits: bool,
    /// Names of the fields that it sent. Never their values.
    pub fields: Vec<String>,
    /// Bytes of the body that it sent.
    pub sent: usize,
    /// Headers of the request, credentials redacted.
    pub request_headers: Vec<(String, String)>,
    /// Headers of the answer, credentials redacted.
    pub response_headers: Vec<(String, String)>,
}

/// What a tab has loaded since its main document began.
#[derive(Clone, Debug, Default)]
pub struct NetworkLog {
    /// The requests, the newest last. Each answer of a redirect is one of its own.
    pub requests: Vec<NetworkRequest>,
    /// Requests that had to make room.
    pub dropped: u64,
    /// More came than could be read, so some are missing.
    pub gaps: bool,
}

/// Requests kept for one document. A page that makes more makes the same ones again and again.
const KEPT: usize = 500;

/// What is kept of all requests of a tab together stays below this, headers being most of it.
const KEPT_BYTES: usize = 2 << 20;

/// Addresses are cut in the middle beyond this many bytes.
const ADDRESS: usize = 2_000;

/// Headers kept of one message; a server sends no more that tell anything.
const HEADERS: usize = 64;

/// A header's value is cut in the middle beyond this many bytes.
const HEADER: usize = 500;

/// Headers of an answer come after its request was counted, so all is counted anew this often.
const RECOUNT: u32 = 32;

/// Headers that came before their request, by request.
const EARLY: usize = 64;

/// The requests of one tab.
#[derive(Debug, Default)]
pub(crate) struct Traffic {
    kept: VecDeque<Kept>,
    bytes: usize,
    dropped: u64,
    next: u32,
    /// Headers of requests that have not been told themselves.
    early: HashMap<String, Early>,
}

#[derive(Debug, Default)]
struct Early {
    request: Vec<(String, String)>,
    response: Vec<(String, String)>,
}

#[derive(Debug)]
struct Kept {
    id: String,
    /// Who told of it last: its body is asked for there.
    session: Session,
    loader: String,
    began: f64,
    since: Instant,
    /// The headers are those on the wire, not those the page asked for.
    exact: (bool, bool),
    shown: NetworkRequest,
}

impl Kept {
    fn cost(&self) -> usize {
        let headers = self.shown.request_headers.iter().chain(&self.shown.response_headers);
        let headers: usize = headers.map(|(name, value)| name.len() + value.len() + 48).sum();
        self.shown.url.len() + headers + std::mem::size_of::<Self>()
    }

    fn end(&mut self, timestamp: f64) {
        self.shown.ended = true;
        self.shown.took = Duration::try_from_secs_f64(timestamp - self.began)
            .unwrap_or_else(|_| self.since.elapsed());
    }

    fn answered(&mut self, answer: wire::Answered) {
        let shown = &mut self.shown;
        shown.status = Some(answer.status);
        shown.mime = answer.mime_type;
        shown.protocol = answer.protocol.unwrap_or_default();
        shown.from = match (answer.from_service_worker, answer.from_disk_cache) {
            (Some(true), _) => Some("service worker"),
            (_, Some(true)) => Some("cache"),
            _ if answer.from_prefetch_cache == Some(true) => Some("cache"),
            _ => shown.from,
        };
        if !self.exact.1 {
            shown.response_headers = headers(&answer.headers);
        }
    }
}

impl Traffic {
    /// A request begins, or goes on with another address.
    pub(crate) fn began(&mut self, event: wire::RequestBegan<'_>, session: &Session) {
        // They load nothing.
        if event.request.url.starts_with("data:") {
            return;
        }
        if let Some(answer) = event.redirect_response
            && let Some(hop) = self.find(&event.request_id)
        {
            let bytes = answer.encoded_data_length;
            hop.answered(answer);
            hop.shown.bytes = size(bytes);
            hop.end(event.timestamp);
        } else if let Some(known) = self.find(&event.request_id) {
            // Told of by another session already, or as one that was refused.
            known.loader.clone_from(&event.loader_id);
            return;
        }
        let initiator = event.initiator;
        let place = innermost(initiator.stack.as_ref()).or_else(|| {
            let url = initiator.url.as_deref().filter(|url| !url.is_empty())?;
            Some(match initiator.line_number {
                Some(line) => format!("{}:{}", shown(url), line + 1.0),
                None => shown(url),
            })
        });
        let content = event.request.headers.iter();
        let content = content.filter(|(name, _)| name.eq_ignore_ascii_case("content-type"));
        let content = content.filter_map(|(_, value)| value.as_str()).next().unwrap_or_default();
        let body = event.request.post_data.unwrap_or(Cow::Borrowed(""));
        let shown = NetworkRequest {
            url: address(&event.request.url),
            kind: event.r#type.unwrap_or_default().to_ascii_lowercase(),
            initiator: initiator.r#type,
            place,
            fields: body::names(content, &body),
            sent: body.len(),
            request_headers: headers(&event.request.headers),
            ..self.fresh(&event.request.method)
        };
        self.push(Kept {
            id: event.request_id,
            session: session.clone(),
            loader: event.loader_id,
            began: event.timestamp,
            since: Instant::now(),
            exact: (false, false),
            shown,
        });
    }

    pub(crate) fn socket_began(&mut self, event: wire::SocketBegan, session: &Session) {
        let initiator = event.initiator;
        let shown = NetworkRequest {
            url: address(&event.url),
            kind: "websocket".to_owned(),
            place: initiator.as_ref().and_then(|initiator| innermost(initiator.stack.as_ref())),
            initiator: initiator.map_or_else(|| "script".to_owned(), |initiator| initiator.r#type),
            ..self.fresh("GET")
        };
        self.push(Kept {
            id: event.request_id,
            session: session.clone(),
            loader: String::new(),
            // Sockets are told without a time.
            began: f64::NAN,
            since: Instant::now(),
            exact: (false, false),
            shown,
        });
    }

    pub(crate) fn socket_opened(&mut self, event: &wire::SocketOpened) {
        if let Some(kept) = self.find(&event.request_id) {
            kept.shown.status = Some(event.response.status);
        }
    }

    pub(crate) fn socket_closed(&mut self, event: &wire::SocketClosed) {
        if let Some(kept) = self.find(&event.request_id) {
            kept.end(event.timestamp);
        }
    }

    pub(crate) fn socket_failed(&mut self, event: &wire::SocketFailed) {
        if let Some(kept) = self.find(&event.request_id) {
            kept.shown.failure = Some(told(&event.error_message));
            kept.end(f64::NAN);
        }
    }

    /// The headers as they went out. They come by a way of their own, also before the request.
    pub(crate) fn request_headers(&mut self, event: &wire::RequestExtra) {
        let headers = headers(&event.headers);
        match self.hop(&event.request_id, |kept| !kept.exact.0) {
            Some(kept) => {
                kept.exact.0 = true;
                kept.shown.request_headers = headers;
            }
            None => self.early(&event.request_id).request = headers,
        }
    }

    /// The headers as they came in.
    pub(crate) fn response_headers(&mut self, event: &wire::ResponseExtra) {
        let headers = headers(&event.headers);
        match self.hop(&event.request_id, |kept| !kept.exact.1) {
            Some(kept) => {
                kept.exact.1 = true;
                kept.shown.response_headers = headers;
            }
            None => self.early(&event.request_id).response = headers,
        }
    }

    pub(crate) fn answered(&mut self, event: wire::ResponseBegan, session: &Session) {
        if let Some(kept) = self.find(&event.request_id) {
            kept.session = session.clone();
            kept.shown.kind = event.r#type.to_ascii_lowercase();
            kept.answered(event.response);
        }
    }

    pub(crate) fn cached(&mut self, id: &str) {
        if let Some(kept) = self.find(id) {
            kept.shown.from = Some("cache");
        }
    }

    pub(crate) fn finished(&mut self, event: &wire::RequestFinished, session: &Session) {
        if let Some(kept) = self.find(&event.request_id) {
            kept.session = session.clone();
            kept.shown.bytes = size(event.encoded_data_length);
            kept.end(event.timestamp);
        }
    }

    pub(crate) fn failed(&mut self, event: &wire::RequestFailed) {
        let Some(kept) = self.find(&event.request_id) else { return };
        let blocked = event.blocked_reason.as_deref();
        let cors = event.cors_error_status.as_ref().map(|status| status.cors_error.as_str());
        let mut why = event.error_text.clone();
        for (what, more) in [("blocked", blocked), ("CORS", cors)] {
            if let Some(more) = more {
                let space = if why.is_empty() { "" } else { " " };
                why.push_str(&format!("{space}({what}: {more})"));
            }
        }
        if why.is_empty() {
            let canceled = event.canceled == Some(true);
            why.push_str(if canceled { "canceled" } else { "failed" });
        }
        kept.shown.failure = Some(told(&why));
        kept.end(event.timestamp);
    }

    /// Reins did not let a request go on.
    pub(crate) fn refused(&mut self, request: &Refused<'_>, session: &Session) {
        if let Some(kept) = request.network.and_then(|id| self.find(id)) {
            kept.shown.refused = Some(request.why.to_owned());
            return;
        }
        let shown = NetworkRequest {
            url: address(request.url),
            kind: request.kind.to_ascii_lowercase(),
            initiator: "other".to_owned(),
            refused: Some(request.why.to_owned()),
            ended: true,
            ..self.fresh(request.method)
        };
        self.push(Kept {
            id: request.network.unwrap_or_default().to_owned(),
            session: session.clone(),
            loader: String::new(),
            began: f64::NAN,
            since: Instant::now(),
            exact: (false, false),
            shown,
        });
    }

    /// The main frame shows another document: what belongs to it stays.
    pub(crate) fn keep_only(&mut self, loader: &str) {
        self.kept.retain(|kept| kept.loader == loader);
        self.bytes = self.kept.iter().map(Kept::cost).sum();
        self.dropped = 0;
        self.early.clear();
    }

    /// All that is kept. `waits` says of a request, by its id, whether it waits for the person.
    pub(crate) fn log(&self, gaps: bool, waits: impl Fn(&str) -> bool) -> NetworkLog {
        let requests = self.kept.iter().map(|kept| {
            let mut shown = kept.shown.clone();
            if !shown.ended {
                shown.took = kept.since.elapsed();
                shown.waits = waits(&kept.id);
            }
            shown
        });
        NetworkLog { requests: requests.collect(), dropped: self.dropped, gaps }
    }

    /// Where the body of an answer can be asked for.
    pub(crate) fn body_of(&self, number: u32) -> Option<(Session, String)> {
        let at = self.kept.iter().position(|kept| kept.shown.number == number)?;
        let kept = &self.kept[at];
        // Only the last answer of a redirect has one.
        let last = self.kept.iter().skip(at + 1).all(|later| later.id != kept.id);
        last.then(|| (kept.session.clone(), kept.id.clone()))
    }

    fn fresh(&mut self, method: &str) -> NetworkRequest {
        self.next += 1;
        NetworkRequest {
            number: self.next,
            method: told(method),
            url: String::new(),
            kind: String::new(),
            initiator: String::new(),
            place: None,
            status: None,
            mime: String::new(),
            protocol: String::new(),
            from: None,
            bytes: None,
            took: Duration::ZERO,
            ended: false,
            failure: None,
            refused: None,
            waits: false,
            fields: Vec::new(),
            sent: 0,
            request_headers: Vec::new(),
            response_headers: Vec::new(),
        }
    }

    fn push(&mut self, mut kept: Kept) {
        if let Some(early) = self.early.remove(&kept.id) {
            if !early.request.is_empty() {
                kept.exact.0 = true;
                kept.shown.request_headers = early.request;
            }
            if !early.response.is_empty() {
                kept.exact.1 = true;
                kept.shown.response_headers = early.response;
            }
        }
        self.bytes += kept.cost();
        self.kept.push_back(kept);
        if self.next.is_multiple_of(RECOUNT) {
            self.bytes = self.kept.iter().map(Kept::cost).sum();
        }
        while self.kept.len() > KEPT || (self.bytes > KEPT_BYTES && self.kept.len() > 1) {
            let oldest = self.kept.pop_front();
            self.bytes = self.bytes.saturating_sub(oldest.map_or(0, |oldest| oldest.cost()));
            self.dropped += 1;
        }
    }

    fn find(&mut self, id: &str) -> Option<&mut Kept> {
        self.kept.iter_mut().rfind(|kept| kept.id == id)
    }

    /// The first of the answers of a request of which this is true.
    fn hop(&mut self, id: &str, is: impl Fn(&Kept) -> bool) -> Option<&mut Kept> {
        self.kept.iter_mut().find(|kept| kept.id == id && is(kept))
    }

    fn early(&mut self, id: &str) -> &mut Early {
        if self.early.len() >= EARLY && !self.early.contains_key(id) {
            self.early.clear();
        }
        self.early.entry(id.to_owned()).or_default()
    }
}

/// A request that Reins did not let go on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Refused<'a> {
    pub(crate) network: Option<&'a str>,
    pub(crate) method: &'a str,
    pub(crate) url: &'a str,
    pub(crate) kind: &'a str,
    pub(crate) why: &'a str,
}

fn size(bytes: f64) -> Option<u64> {
    // Whole and far below what a float holds exactly.
    (bytes >= 0.0).then_some(bytes as u64)
}

fn told(text: &str) -> String {
    reins_guard::clip_middle(&reins_guard::plain_text(text), HEADER)
}

fn address(url: &str) -> String {
    // Cut first: addresses can be as long as pages like.
    conceal(&reins_guard::plain_text(&reins_guard::clip_middle(url, ADDRESS)))
}

fn headers(all: &Map<String, Value>) -> Vec<(String, String)> {
    let header = |(name, value): (&String, &Value)| {
        let value = value.as_str().unwrap_or_default();
        let value = reins_guard::clip_middle(&conceal_header(name, value), HEADER);
        (told(name), value.lines().map(reins_guard::plain_text).collect::<Vec<_>>().join(" | "))
    };
    all.iter().take(HEADERS).map(header).collect()
}
