//! What a page's developer would look at: messages, requests, and the page in other clothes. All of it
//! is the page's own words, so it leaves only inside the wrapper.

use crate::call::{Call, browser_error};
use crate::error::ControlError;
use crate::look::nonce;
use crate::reply::{PageText, Reply};
use crate::results::piece;
use reins_browser::{
    ConsoleEntry, ConsoleLevel, Effects, Emulation, NetworkBody, NetworkRequest, OpenedBy, WaitFor,
};
use reins_core::{Origin, Refusal, TabId};
use reins_page::wrap_untrusted;
use std::fmt::Write as _;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;

/// A list is cut here, the newest staying: what does not fit is better filtered than read.
const LIST_BYTES: usize = 12 * 1024;

/// The beginning of a body that is shown at once. It tells what kind of thing it is.
const BODY_BYTES: usize = 8 * 1024;

/// Addresses in lists are cut in the middle here; one request alone shows the whole.
const URL_BYTES: usize = 160;

/// Why a request was not sent or has failed, in lists.
const REASON_BYTES: usize = 160;

/// A page that is laid out anew is given this long to come to rest.
const LAYOUT: Duration = Duration::from_secs(1);

/// Which requests to list.
#[derive(Debug, Default)]
pub(crate) struct Filter {
    /// What they load.
    pub(crate) kind: Option<String>,
    /// Only those that failed, were refused or were answered with an error.
    pub(crate) failed: bool,
    /// What their address contains.
    pub(crate) text: Option<String>,
    /// Not those that only made the page look as it does, unless they failed.
    pub(crate) no_assets: bool,
}

impl Filter {
    fn lets(&self, request: &NetworkRequest) -> bool {
        let kind = self.kind.as_ref().is_none_or(|kind| {
            let kind = kind.trim().to_ascii_lowercase();
            kind == request.kind || (kind == "fetch" && request.kind == "xhr")
        });
        let text = self.text.as_ref().is_none_or(|text| {
            request.url.to_ascii_lowercase().contains(&text.to_ascii_lowercase())
        });
        let asset =
            matches!(request.kind.as_str(), "image" | "font" | "stylesheet" | "script" | "media");
        kind && text
            && (!self.failed || failed(request))
            && (!self.no_assets || !asset || failed(request))
    }
}

impl Call<'_> {
    /// What the page logged, of this level and worse.
    pub(crate) async fn console(&mut self, level: ConsoleLevel) -> Result<Reply, ControlError> {
        let (tab, home) = self.inspected().await?;
        let log = self.browser().await?.console(&tab).await.map_err(|e| browser_error(&e))?;
        let count = |level| -> u64 {
            let of = log.entries.iter().filter(|(entry, _)| entry.level == level);
            of.map(|(_, count)| u64::from(*count)).sum()
        };
        let (errors, warnings) = (count(ConsoleLevel::Error), count(ConsoleLevel::Warning));
        let listed: Vec<String> = log
            .entries
            .iter()
            .filter(|(entry, _)| entry.level >= level)
            .map(|(entry, count)| home.message(entry, *count))
            .collect();
        let mut reply = Reply::text(match listed.len() {
            0 if log.entries.is_empty() => "nothing was logged since this page began".to_owned(),
            0 => format!("nothing of this level was logged; {} other messages", log.entries.len()),
            many => {
                format!("{many} different messages; {errors} errors and {warnings} warnings in all")
            }
        })
        .with("errors", errors)
        .with("warnings", warnings);
        left_out(&mut reply, log.dropped, log.gaps, "messages");
        self.publish(&mut reply, &tab, &home, "older console messages", &listed);
        Ok(reply)
    }

    /// What the page loaded and sent.
    pub(crate) async fn network(&mut self, filter: &Filter) -> Result<Reply, ControlError> {
        let (tab, home) = self.inspected().await?;
        let log = self.browser().await?.network(&tab).await.map_err(|e| browser_error(&e))?;
        let listed: Vec<String> = log
            .requests
            .iter()
            .filter(|request| filter.lets(request))
            .map(|request| home.request(request))
            .collect();
        let all = log.requests.len();
        let bad = log.requests.iter().filter(|request| failed(request)).count();
        let mut reply = Reply::text(if listed.len() == all {
            format!("{all} requests, {bad} failed")
        } else {
            format!("{} of {all} requests, {bad} failed in all", listed.len())
        })
        .with("requests", all)
        .with("failed", bad);
        left_out(&mut reply, log.dropped, log.gaps, "requests");
        self.publish(&mut reply, &tab, &home, "older network requests", &listed);
        Ok(reply)
    }

    /// One request with its headers and the body of its answer.
    pub(crate) async fn network_request(&mut self, number: u32) -> Result<Reply, ControlError> {
        let (tab, home) = self.inspected().await?;
        let browser = self.browser().await?;
        let log = browser.network(&tab).await.map_err(|e| browser_error(&e))?;
        let found = log.requests.iter().find(|request| request.number == number);
        let Some(request) = found else {
            return Err(ControlError::Arguments {
                tool: "network_requests",
                reason: format!("no request of this page has the number {number}"),
                hint: "Call it without number for the list".into(),
            });
        };
        let mut text = home.details(request);
        let mut rest = None;
        if request.ended && request.refused.is_none() {
            let body = browser.network_body(&tab, number).await.map_err(|e| browser_error(&e))?;
            match body {
                NetworkBody::Text(body) if body.is_empty() => text.push_str("body: empty\n"),
                NetworkBody::Text(body) => {
                    let shown = piece(&body, 0, BODY_BYTES);
                    let _ = writeln!(text, "body, {} bytes:\n{shown}", body.len());
                    rest = Some(body[shown.len()..].to_owned()).filter(|rest| !rest.is_empty());
                }
                NetworkBody::Binary(bytes) => {
                    let _ = writeln!(text, "body: {bytes} bytes that are no text");
                }
                NetworkBody::Missing => text.push_str("body: none was kept\n"),
            }
        }
        let mut reply = Reply::default();
        if let Some(rest) = rest {
            self.store(&mut reply, &home, "rest of the body", &rest);
        }
        self.show(&mut reply, &tab, &home, text.trim_end());
        Ok(reply)
    }

    /// Makes this session's tab look otherwise to its page.
    pub(crate) async fn emulate(
        &mut self,
        change: Emulation,
        reset: bool,
    ) -> Result<Reply, ControlError> {
        let tab = self.tab()?;
        let info = self.tab_info(&tab).await.ok_or_else(|| ControlError::NoSuchTab(tab.clone()))?;
        if info.opened_by == OpenedBy::Person {
            return Err(Refusal::new(
                "user_tab",
                "this tab is the person's own, and they would see it change",
                "Open the page in a tab of your own with open_tab and use that.",
            )
            .into());
        }
        let browser = self.browser().await?;
        let now = browser.emulate(&tab, change, reset).await.map_err(|e| browser_error(&e))?;
        let mut reply = Reply::text(match now.to_string() {
            plain if plain.is_empty() => "this tab is as the browser has it".to_owned(),
            changed => format!("this tab until it is reset or closed: {changed}"),
        });
        if info.dialog.is_none() {
            // A page that does not come to rest is read as it is.
            drop(browser.wait(&tab, &WaitFor::Settled, LAYOUT).await);
            let effects = Effects { changed: true, ..Effects::default() };
            self.show_change(&mut reply, &tab, &effects).await;
            reply.changed = None;
        }
        Ok(reply)
    }

    async fn inspected(&self) -> Result<(TabId, Home), ControlError> {
        let tab = self.tab()?;
        let info = self.tab_info(&tab).await.ok_or_else(|| ControlError::NoSuchTab(tab.clone()))?;
        let origin = Origin::parse(&info.url).ok().map(|origin| format!("{origin}/"));
        Ok((tab, Home { url: info.url, origin }))
    }

    /// The newest lines that fit, the older ones kept for paging.
    fn publish(&self, reply: &mut Reply, tab: &TabId, home: &Home, name: &str, lines: &[String]) {
        let mut room = LIST_BYTES;
        let fitting = lines.iter().rev().take_while(|line| {
            let fits = line.len() < room;
            room = room.saturating_sub(line.len() + 1);
            fits
        });
        let (older, newest) = lines.split_at(lines.len() - fitting.count());
        if !older.is_empty() {
            self.store(reply, home, name, &older.join("\n"));
        }
        if !newest.is_empty() {
            self.show(reply, tab, home, &newest.join("\n"));
        }
    }

    fn store(&self, reply: &mut Reply, home: &Home, name: &str, text: &str) {
        let wrapped = wrap_untrusted(text, &home.url, "", &nonce());
        let number = self.number();
        let mut state = self.session.state();
        let stored = state.results.keep(number, name, "text/plain", wrapped.into());
        let space = if reply.text.is_empty() { "" } else { "\n" };
        let _ = write!(
            reply.text,
            "{space}({name}: {} bytes with read_more {})",
            stored.bytes, stored.uri
        );
        reply.stored.push(stored);
    }

    fn show(&self, reply: &mut Reply, tab: &TabId, home: &Home, text: &str) {
        let mut hasher = DefaultHasher::new();
        text.hash(&mut hasher);
        reply.facts.insert("tab".into(), tab.as_str().into());
        reply.page = Some(PageText {
            tab: tab.clone(),
            whole: false,
            text: wrap_untrusted(text, &home.url, "", &nonce()),
            state: format!("{:016x}", hasher.finish()),
        });
    }
}

fn left_out(reply: &mut Reply, dropped: u64, gaps: bool, what: &str) {
    if dropped > 0 {
        let _ = write!(reply.text, "; {dropped} older {what} were not kept");
    }
    if gaps {
        let _ = write!(reply.text, "; some {what} came faster than they could be read");
    }
}

fn failed(request: &NetworkRequest) -> bool {
    request.failure.is_some()
        || request.refused.is_some()
        || request.status.is_some_and(|status| status >= 400)
}

/// The page that is inspected: addresses of its own origin are told by their path.
struct Home {
    url: String,
    origin: Option<String>,
}

impl Home {
    fn short(&self, text: &str) -> String {
        match &self.origin {
            Some(origin) => text.replace(origin.as_str(), "/"),
            None => text.to_owned(),
        }
    }

    fn message(&self, entry: &ConsoleEntry, count: u32) -> String {
        let level = match entry.level {
            ConsoleLevel::Debug => "debug",
            ConsoleLevel::Info => "info",
            ConsoleLevel::Warning => "warning",
            ConsoleLevel::Error => "error",
        };
        let mut line = level.to_owned();
        if count > 1 {
            let _ = write!(line, " x{count}");
        }
        if let Some(from) = &entry.from {
            let _ = write!(line, " in {}", self.short(from));
        }
        let _ = write!(line, ": {}", entry.text.replace('\n', "\n  "));
        if let Some(place) = &entry.place {
            let _ = write!(line, " ({})", self.short(place));
        }
        for call in &entry.stack {
            let _ = write!(line, "\n  at {}", self.short(call));
        }
        line
    }

    fn request(&self, request: &NetworkRequest) -> String {
        let url = reins_guard::clip_middle(&self.short(&request.url), URL_BYTES);
        format!("#{} {} {url} {}", request.number, request.method, self.end(request, REASON_BYTES))
    }

    /// What came of it, in one line.
    fn end(&self, request: &NetworkRequest, reason: usize) -> String {
        let mut parts: Vec<String> = Vec::new();
        parts.extend(request.status.map(|status| status.to_string()));
        if let Some(why) = &request.refused {
            parts.push(format!("refused ({})", reins_guard::clip_middle(&self.short(why), reason)));
        } else if let Some(why) = &request.failure {
            parts.push(format!("failed ({})", reins_guard::clip_middle(why, reason)));
        } else if request.waits {
            parts.push("waits for the person's answer".to_owned());
        } else if !request.ended {
            parts.push("under way".to_owned());
        }
        parts.push(request.kind.clone());
        parts.push(request.mime.clone());
        match (request.from, request.bytes) {
            (Some(from), _) => parts.push(format!("from {from}")),
            (None, Some(bytes)) => parts.push(size(bytes)),
            (None, None) => {}
        }
        if request.refused.is_none() {
            parts.push(format!("{} ms", request.took.as_millis()));
        }
        parts.push(match &request.place {
            Some(place) => format!("by {} {}", request.initiator, self.short(place)),
            None => format!("by {}", request.initiator),
        });
        parts.retain(|part| !part.is_empty());
        parts.join(" ")
    }

    fn details(&self, request: &NetworkRequest) -> String {
        let mut text = format!("#{} {} {}\n", request.number, request.method, request.url);
        text.push_str(&self.end(request, usize::MAX));
        if !request.protocol.is_empty() {
            let _ = write!(text, " over {}", request.protocol);
        }
        text.push('\n');
        if request.sent > 0 {
            let _ = write!(text, "sent {}", size(request.sent as u64));
            if !request.fields.is_empty() {
                let _ = write!(text, " with the fields {}", request.fields.join(", "));
            }
            text.push('\n');
        }
        let lists = [("request", &request.request_headers), ("answer", &request.response_headers)];
        for (name, headers) in lists {
            if !headers.is_empty() {
                let _ = writeln!(text, "{name} headers:");
            }
            for (name, value) in headers {
                let _ = writeln!(text, "  {name}: {value}");
            }
        }
        text
    }
}

fn size(bytes: u64) -> String {
    match bytes {
        0..1_000 => format!("{bytes} B"),
        1_000..1_000_000 => format!("{}.{} kB", bytes / 1_000, bytes % 1_000 / 100),
        _ => format!("{}.{} MB", bytes / 1_000_000, bytes % 1_000_000 / 100_000),
    }
}
