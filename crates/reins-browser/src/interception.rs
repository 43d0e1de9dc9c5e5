//! What a page sends waits here for our word: judged, told, refused or let go on.

use crate::arm::{hold_documents, hold_everything};
use crate::containment::TopLevel;
use crate::fence::{DocumentRequest, Verdict, shown};
use crate::held::keep;
use crate::journal;
use crate::markup;
use crate::protocol::page as wire;
use crate::reach::ResourceRequest;
use crate::sign_in;
use crate::tab::{ARMING, Tab};
use crate::tab_info::OpenedBy;
use crate::tab_state::TabState;
use crate::traffic::Refused;
use reins_cdp::Session;
use reins_core::{FrameId, Origin};
use std::sync::Arc;
use std::time::Duration;

/// A site asks for a name and a password by HTTP. Chromium's own window for them would hold the page
/// up, and only the person can answer it: where the agent works it does not come (W-625).
pub(crate) fn no_password(tab: &Tab, asked: &wire::AuthRequired, session: &Session) {
    if let Some(auth_challenge_response) = tab.logins.answer(&tab.containment.connections, asked) {
        let request_id = &asked.request_id;
        drop(session.post(wire::ContinueWithAuth { request_id, auth_challenge_response }, ARMING));
        return;
    }
    let mut state = tab.state();
    let persons = state.opened_by == OpenedBy::Person || state.fence.is_persons();
    if !persons {
        let wire::AuthChallenge { origin, realm, .. } = &asked.auth_challenge;
        state.tell_refused(format!(
            "{} asks for a name and a password (HTTP authentication, \"{}\"); it was given none",
            shown(origin),
            shown(realm)
        ));
    }
    drop(state);
    let response = if persons { "Default" } else { "CancelAuth" };
    let answer = wire::ContinueWithAuth {
        request_id: &asked.request_id,
        auth_challenge_response: wire::AuthAnswer { response, ..Default::default() },
    };
    drop(session.post(answer, ARMING));
    tab.changed();
}

/// Holds the top level to its app, and documents to what was approved. Frames inside an app are
/// its own affair.
pub(crate) fn judge(tab: &Arc<Tab>, paused: wire::RequestPaused, session: &Session) {
    if markup::is_answer(&paused) {
        markup::read(tab, session, paused);
        return;
    }
    if let Some(network) = &paused.network_id {
        tab.state().came(session.id().unwrap_or_default(), network);
    }
    let url = paused.request.url.as_str();
    let frame = FrameId::new(paused.frame_id.as_str());
    let main = paused.frame_id == tab.id.as_str();
    let document = paused.resource_type == "Document";
    if main && document && tab.state().stand_in.take_if(|stand_in| stand_in == url).is_some() {
        sign_in::stand_in(session, &paused.request_id);
        return;
    }
    let outside = match &tab.containment.top_level {
        TopLevel::Only(patterns) if main && document => {
            Origin::parse(url).map_or(true, |origin| !patterns.iter().any(|p| p.matches(&origin)))
        }
        TopLevel::Any | TopLevel::Only(_) => false,
    };
    if outside {
        let what = format!("{} is outside the app this browser is pinned to", shown(url));
        note_refused(tab, session, &paused, Some(&what));
        tab.state().tell_refused(what);
        refuse(session, &paused.request_id, "BlockedByClient");
        return;
    }
    let method = paused.request.method.as_str();
    let network = paused.network_id.as_deref();
    let redirected = paused.redirected_request_id.is_some();
    let request = DocumentRequest { frame: &frame, url, method, document: network, redirected };
    let (verdict, persons, heir) = if document {
        let related = tab.related_hold();
        let mut state = tab.state();
        let verdict = state.judge_document(request, related.as_ref());
        let alone = main && related.is_none() && !redirected;
        let heir = main && network.is_some_and(|id| state.fence.leads_to_heir(id));
        (verdict, alone && state.may_be_persons(network), heir)
    } else {
        let id = session.id().unwrap_or_default();
        let request = ResourceRequest { session: id, frame: &frame, network, url, method };
        (tab.state().judge_resource(request), false, false)
    };
    match verdict {
        Verdict::Pass => {
            let id = session.id().unwrap_or_default();
            let waits = tab.state().must_wait(id, &paused, document.then_some(request));
            match waits {
                Some(hold) => keep(tab, session, paused, &hold),
                None if heir => lead_on(tab, session, paused, persons),
                None => go_on(session, &paused.request_id),
            }
        }
        Verdict::Refuse(what) if persons => {
            let (tab, session) = (tab.clone(), session.clone());
            tokio::spawn(async move {
                if by_person(&tab, &paused.request.url).await {
                    tab.state().released_to(&paused);
                    go_on(&session, &paused.request_id);
                    return;
                }
                note_refused(&tab, &session, &paused, what.as_deref());
                told(&tab, what);
                refuse(&session, &paused.request_id, "Aborted");
            });
        }
        Verdict::Refuse(what) => {
            note_refused(tab, session, &paused, what.as_deref());
            told(tab, what);
            // The page stays as it is: an aborted navigation shows no error page.
            let reason = if document { "Aborted" } else { "BlockedByClient" };
            refuse(session, &paused.request_id, reason);
        }
    }
}

fn told(tab: &Tab, what: Option<String>) {
    if let Some(what) = what {
        tab.state().tell_refused(what);
        tab.changed();
    }
}

/// For who inspects the page. `None`: it was told before.
fn note_refused(tab: &Tab, session: &Session, paused: &wire::RequestPaused, why: Option<&str>) {
    let request = Refused {
        network: paused.network_id.as_deref(),
        method: &paused.request.method,
        url: &paused.request.url,
        kind: &paused.resource_type,
        why: why.unwrap_or("this page is held to the sites that were approved; refused"),
    };
    journal::refused(tab, session, &request);
}

pub(crate) fn go_on(session: &Session, request: &str) {
    let go_on = wire::ContinueRequest { request_id: request, ..Default::default() };
    drop(session.post(go_on, ARMING));
}

fn refuse(session: &Session, request: &str, error_reason: &str) {
    drop(session.post(wire::FailRequest { request_id: request, error_reason }, ARMING));
}

/// Lets a held document's tab go on to the next one, which inherits what it is held to, unless the person
/// leads it there.
fn lead_on(tab: &Arc<Tab>, session: &Session, paused: wire::RequestPaused, persons: bool) {
    let (tab, session) = (tab.clone(), session.clone());
    tokio::spawn(async move {
        if persons && by_person(&tab, &paused.request.url).await {
            tab.state().released_to(&paused);
            go_on(&session, &paused.request_id);
            return;
        }
        let id = session.id().unwrap_or_default();
        let limited = tab.browser.upgrade().is_some_and(|browser| browser.limits_workers());
        let (around, wide) = {
            let mut state = tab.state();
            let network = paused.network_id.as_deref().unwrap_or_default();
            let around = (!limited || state.fence.leads_to_held(network)) && state.goes_around(id);
            (around, state.is_widened(id))
        };
        if around {
            drop(session.post(wire::BypassServiceWorker { bypass: true }, ARMING));
        }
        if wide {
            drop(session.post(hold_everything(), ARMING));
        }
        // What its server names there, the next page knows.
        let request_id = &paused.request_id;
        let read = wire::ContinueRequest { request_id, intercept_response: Some(true) };
        drop(session.post(read, ARMING));
    });
}

/// How long the word that a page asked for a navigation may take longer than the navigation itself. Its
/// process says so first, but by another pipe. It cannot be asked: while a navigation is under way
/// Chromium holds back all commands for the page.
const WORD: Duration = Duration::from_millis(500);

/// Whether no page asked for the main frame's navigation under way.
async fn by_person(tab: &Tab, url: &str) -> bool {
    let asked = |state: &mut TabState| state.page_asked(url).then_some(());
    tab.until(tokio::time::Instant::now() + WORD, asked).await.is_none()
}

/// Lets sessions hold documents only, when nothing touched is shown any more.
/// What waits would be let go by that, so it is answered first.
pub(crate) fn narrow(tab: &Tab) {
    let sessions = {
        let mut state = tab.state();
        if state.held.any() {
            return;
        }
        state.narrow()
    };
    for session in sessions {
        drop(session.post(hold_documents(), ARMING));
        drop(session.post(wire::BypassServiceWorker { bypass: false }, ARMING));
    }
}
