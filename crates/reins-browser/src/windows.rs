//! Windows that nobody approved: closed before they show anything, without a request getting out.

use crate::arm::{hold_documents, hold_everything, take_unheld};
use crate::browser::Inner;
use crate::interception::go_on;
use crate::protocol::page::{FailRequest, FetchEnable, RequestPaused, RunIfWaiting};
use crate::protocol::target::{CloseTarget, TargetInfo};
use crate::tab::ARMING;
use futures_util::future::join;
use reins_cdp::{Event, Session};
use reins_core::FrameId;
use std::collections::{HashMap, VecDeque};
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

/// Windows that are being closed, and the last ones that were.
#[derive(Debug, Default)]
pub(crate) struct ClosingWindows {
    /// Their frames by session, while they are there.
    there: HashMap<String, FrameId>,
    gone: VecDeque<FrameId>,
    /// Documents of the whole browser wait for our word.
    held: bool,
}

/// Closed windows that are remembered. What one of them had asked for comes at once or never.
const GONE: usize = 256;

impl ClosingWindows {
    fn begin(&mut self, session: &str, frame: FrameId) {
        self.there.insert(session.to_owned(), frame);
    }

    /// A session ended.
    pub(crate) fn gone(&mut self, session: &str) {
        let Some(frame) = self.there.remove(session) else { return };
        if self.gone.len() >= GONE {
            self.gone.pop_front();
        }
        self.gone.push_back(frame);
    }

    fn is_of_one(&self, frame: &FrameId) -> bool {
        self.gone.contains(frame) || self.there.values().any(|there| there == frame)
    }
}

/// Closes a window that waits. A page with a handle on it stands still until it runs, so it is let go
/// first, with every request refused. Chromium lets go of requests that are only held when it closes, so the
/// whole browser holds documents as well, from the first such window on.
pub(crate) fn close(browser: &Inner, session: &Session, info: &TargetInfo, loads: bool) {
    let (root, session, id) = (browser.root.clone(), session.clone(), info.target_id.clone());
    let mut requests = session.events(&[RequestPaused::METHOD]);
    // Whoever has a handle on it could speak by what it has.
    take_unheld(&session, browser.containment.unheld);
    let first = {
        let mut closing = browser.closing();
        closing.begin(session.id().unwrap_or_default(), FrameId::new(id.as_str()));
        !std::mem::replace(&mut closing.held, true)
    };
    // Both go out before the window runs.
    let whole = first.then(|| {
        let documents = FetchEnable { handle_auth_requests: false, ..hold_documents() };
        root.post(documents, ARMING)
    });
    let held = session.post(refuse_everything(), ARMING);
    tokio::spawn(async move {
        let whole = async {
            if let Some(whole) = whole {
                drop(whole.await)
            }
        };
        let (held, ()) = join(held, whole).await;
        if held.is_ok() {
            drop(session.post(RunIfWaiting {}, ARMING));
            let until = Instant::now() + if loads { FIRST_REQUEST } else { Duration::ZERO };
            if let Ok(Some(first)) = timeout_at(until, requests.next()).await {
                refuse_request(&session, &first);
            }
        }
        drop(root.post(CloseTarget { target_id: &id }, ARMING));
        while let Some(request) = requests.next().await {
            refuse_request(&session, &request);
        }
    });
}

/// Requests are judged here; who asks for a password is not answered here.
pub(crate) fn refuse_everything() -> FetchEnable<'static> {
    FetchEnable { handle_auth_requests: false, ..hold_everything() }
}

/// A window that is let go asks for its address at once.
const FIRST_REQUEST: Duration = Duration::from_secs(1);

pub(crate) fn refuse_request(session: &Session, event: &Event) {
    if let Ok(paused) = event.parse::<RequestPaused>() {
        refuse(session, &paused);
    }
}

fn refuse(session: &Session, paused: &RequestPaused) {
    let refuse = FailRequest { request_id: &paused.request_id, error_reason: "Aborted" };
    drop(session.post(refuse, ARMING));
}

/// A document request anywhere in the browser, after the tab that it belongs to has let it go on.
pub(crate) fn judge(browser: &Inner, paused: &RequestPaused) {
    let frame = FrameId::new(paused.frame_id.as_str());
    let refused = {
        let closing = browser.closing();
        // Frames inside such a window are known to no tab.
        let inside = || {
            let known =
                browser.all_tabs().iter().any(|tab| tab.state().frames.contains_key(&frame));
            !closing.there.is_empty() && !known && paused.request.url.starts_with("http")
        };
        closing.is_of_one(&frame) || inside()
    };
    if refused {
        refuse(&browser.root, paused);
    } else {
        go_on(&browser.root, &paused.request_id);
    }
}
